#include "exact/subset_rivals.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

namespace bestdag {

namespace {

constexpr std::size_t kSubsetsBetweenLooks = 256;  // well under 20 ms

struct Subset {
    std::uint64_t members;
    double spent;  // units, on the variables outside
    double fine = std::numeric_limits<double>::infinity();
    std::size_t step = 0;  // the first one of the best
};

// From a subset to the one without its last variable.
struct Step {
    std::size_t from;  // position in the layer
    std::size_t last, set;
    std::uint64_t rest;
};

// The subsets of one size, ascending, and the steps down from them.
struct Layer {
    std::vector<Subset> subsets;
    std::vector<Step> steps;

    Subset& at(std::uint64_t members) {
        return *std::lower_bound(subsets.begin(), subsets.end(), members,
                                 [](const Subset& s, std::uint64_t m) { return s.members < m; });
    }
};

// Keep of each subset the one on which least was spent.
void merge(std::vector<Subset>& subsets) {
    std::sort(subsets.begin(), subsets.end(), [](const Subset& a, const Subset& b) {
        return a.members != b.members ? a.members < b.members : a.spent < b.spent;
    });
    const auto same = [](const Subset& a, const Subset& b) { return a.members == b.members; };
    subsets.erase(std::unique(subsets.begin(), subsets.end(), same), subsets.end());
}

class Rivals {
public:
    Rivals(const SubsetProblem& problem, const std::function<double(std::uint64_t)>& value,
           double most, const std::function<bool()>& should_stop)
        : problem_(problem),
          value_(value),
          most_(most),
          should_stop_(should_stop),
          layers_(static_cast<std::size_t>(problem.n) + 1) {}

    // False when there are too many.
    bool collect(std::size_t max_steps) {
        layers_[0].subsets.push_back({(std::uint64_t{1} << problem_.n) - 1, 0.0});
        std::size_t n_steps = 0;
        for (std::size_t i = 0; i + 1 < layers_.size(); ++i) {
            for (std::size_t from = 0; from < layers_[i].subsets.size(); ++from) {
                if (from % kSubsetsBetweenLooks == 0 && should_stop_()) throw Interrupted();
                step_down(layers_[i], from, layers_[i + 1]);
                if (n_steps + layers_[i].steps.size() > max_steps) return false;
            }
            n_steps += layers_[i].steps.size();
            merge(layers_[i + 1].subsets);
        }
        return true;
    }

    SubsetSolution best() {
        layers_.back().subsets.front().fine = 0.0;
        for (std::size_t i = layers_.size() - 1; i-- > 0;) {
            for (std::size_t s = 0; s < layers_[i].steps.size(); ++s) {
                const Step& step = layers_[i].steps[s];
                Subset& from = layers_[i].subsets[step.from];
                const double sum = layers_[i + 1].at(step.rest).fine + problem_.fine[step.set];
                if (sum < from.fine) {
                    from.fine = sum;
                    from.step = s;
                }
            }
        }
        return walk_back();
    }

private:
    void step_down(Layer& layer, std::size_t from, Layer& below) const {
        const Subset subset = layer.subsets[from];
        for (std::uint64_t left = subset.members; left != 0; left &= left - 1) {
            const auto last = static_cast<std::size_t>(std::countr_zero(left));
            const std::uint64_t rest = subset.members & ~(std::uint64_t{1} << last);
            const double room = most_ - subset.spent - value_(rest);
            const auto end = static_cast<std::size_t>(problem_.first[last + 1]);
            for (auto k = static_cast<std::size_t>(problem_.first[last]);
                 k < end && problem_.costs[k] <= room; ++k) {
                if ((problem_.members[k] & ~rest) != 0) continue;
                layer.steps.push_back({from, last, k, rest});
                below.subsets.push_back({rest, subset.spent + problem_.costs[k]});
                break;
            }
        }
    }

    SubsetSolution walk_back() {
        const Subset* subset = &layers_[0].subsets.front();
        SubsetSolution solution{true, 0.0, subset->fine,
                                std::vector<std::int64_t>(layers_.size() - 1)};
        for (std::size_t i = 0; i + 1 < layers_.size(); ++i) {
            const Step& step = layers_[i].steps[subset->step];
            solution.chosen[step.last] =
                static_cast<std::int64_t>(step.set) - problem_.first[step.last];
            solution.cost += problem_.costs[step.set];
            subset = &layers_[i + 1].at(step.rest);
        }
        return solution;
    }

    const SubsetProblem& problem_;
    const std::function<double(std::uint64_t)>& value_;
    const double most_;
    const std::function<bool()>& should_stop_;
    std::vector<Layer> layers_;  // by the number of variables outside
};

}  // namespace

std::optional<SubsetSolution> best_of_rivals(const SubsetProblem& problem,
                                             const std::function<double(std::uint64_t)>& value,
                                             double most, std::size_t max_steps,
                                             const std::function<bool()>& should_stop) {
    Rivals rivals(problem, value, most, should_stop);
    if (!rivals.collect(max_steps)) return std::nullopt;
    return rivals.best();
}

}  // namespace bestdag
