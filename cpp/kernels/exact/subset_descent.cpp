#include "exact/subset_descent.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bestdag {

namespace {

constexpr std::size_t kSubsetsAtOnce = 256;  // well under 20 ms
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Subset {
    std::uint64_t members;
    double spent;        // units, on the variables outside
    double value = 0.0;  // R, when it was looked at
    double fine = kInfinity;
    std::size_t first_step = 0, end_step = 0, best_step = 0;
};

// From a subset to the one without its last variable.
struct Step {
    std::size_t last, set;
    std::uint64_t rest;
    double value;  // R of the rest
};

// Larger layers first, then larger subsets: nobody comes before a subset that leads to it.
struct Place {
    int layer, size;
    bool operator<(const Place& other) const {
        return layer != other.layer ? layer > other.layer : size > other.size;
    }
};

class Way {
public:
    Way(const SubsetProblem& problem, SubsetOracle& oracle, double most)
        : problem_(problem), oracle_(oracle), most_(most) {
        wait({(std::uint64_t{1} << problem.n) - 1, 0.0});
    }

    // False when there are too many, or it was told to stop.
    bool collect(std::size_t max_steps, const std::function<bool()>& should_stop) {
        while (!waiting_.empty()) {
            find_values();
            std::vector<Subset> group = std::move(waiting_.begin()->second);
            waiting_.erase(waiting_.begin());
            merge(group);
            for (std::size_t i = 0; i < group.size(); i += kSubsetsAtOnce) {
                if (should_stop() || steps_.size() > max_steps) {
                    for (std::size_t k = i; k < group.size(); ++k) wait(group[k]);
                    return false;
                }
                const std::size_t count = std::min(kSubsetsAtOnce, group.size() - i);
                step_down(std::span(group).subspan(i, count), false);
            }
        }
        return true;
    }

    // Leave the rivals; go on from where the best choice has come to.
    void go_alone() {
        std::unordered_map<std::uint64_t, const Subset*> done = index();
        Subset left = subsets_.empty() ? waiting_.begin()->second.front() : subsets_.front();
        for (auto at = done.find(left.members); at != done.end() && left.members != 0;
             at = done.find(left.members)) {
            const Step& step = *least_step(*at->second);
            left = {step.rest, left.spent + problem_.costs[step.set]};
        }
        waiting_.clear();
        if (left.members != 0) wait(left);
        while (!waiting_.empty()) {
            find_values();
            Subset one = waiting_.begin()->second.front();
            waiting_.clear();
            step_down(std::span(&one, 1), true);
        }
    }

    SubsetSolution least() const {
        return walk([this](const Subset& subset) { return least_step(subset); });
    }

    SubsetSolution finest() {
        const auto done = index();
        const auto fine_of = [&](std::uint64_t members) {
            return members == 0 ? 0.0 : done.at(members)->fine;
        };
        for (std::size_t i = subsets_.size(); i-- > 0;) {
            Subset& subset = subsets_[i];
            for (std::size_t s = subset.first_step; s < subset.end_step; ++s) {
                const double sum = fine_of(steps_[s].rest) + problem_.fine[steps_[s].set];
                if (sum < subset.fine) {
                    subset.fine = sum;
                    subset.best_step = s;
                }
            }
        }
        SubsetSolution found = walk([this](const Subset& s) { return &steps_[s.best_step]; });
        found.fine = subsets_.front().fine;
        return found;
    }

private:
    void wait(const Subset& subset) {
        waiting_[{oracle_.layer(subset.members), std::popcount(subset.members)}].push_back(subset);
    }

    // Have the values that the next group asks for.
    void find_values() {
        if (oracle_.is_known(waiting_.begin()->first.layer)) return;
        std::vector<Subset> all;
        for (auto& [place, group] : waiting_) {
            merge(group);
            all.insert(all.end(), group.begin(), group.end());
        }
        waiting_.clear();
        std::vector<std::uint64_t> members;
        for (const Subset& subset : all) members.push_back(subset.members);
        oracle_.find_again(members);
        for (const Subset& subset : all) wait(subset);
    }

    // Keep of each subset the one on which least was spent.
    static void merge(std::vector<Subset>& subsets) {
        std::sort(subsets.begin(), subsets.end(), [](const Subset& a, const Subset& b) {
            return a.members != b.members ? a.members < b.members : a.spent < b.spent;
        });
        const auto same = [](const Subset& a, const Subset& b) { return a.members == b.members; };
        subsets.erase(std::unique(subsets.begin(), subsets.end(), same), subsets.end());
    }

    void step_down(std::span<Subset> group, bool alone) {
        rests_.clear();
        for (const Subset& subset : group) {
            rests_.push_back(subset.members);  // values of another order may have been larger
            for (std::uint64_t left = subset.members; left != 0; left &= left - 1) {
                rests_.push_back(subset.members & ~(left & -left));
            }
        }
        values_.resize(rests_.size());
        oracle_.read(rests_, values_);
        std::size_t at = 0;
        for (Subset& subset : group) {
            subset.first_step = steps_.size();
            subset.value = values_[at++];
            for (std::uint64_t left = subset.members; left != 0; left &= left - 1, ++at) {
                const auto last = static_cast<std::size_t>(std::countr_zero(left));
                try_step(subset, last, rests_[at], values_[at], alone);
            }
            subset.end_step = steps_.size();
            if (alone && subset.end_step == subset.first_step) fail();
            subsets_.push_back(subset);
        }
    }

    void try_step(const Subset& subset, std::size_t last, std::uint64_t rest, double value,
                  bool alone) {
        if (alone && steps_.size() > subset.first_step) return;
        const double room = alone ? subset.value - value : most_ - subset.spent - value;
        const auto end = static_cast<std::size_t>(problem_.first[last + 1]);
        for (auto k = static_cast<std::size_t>(problem_.first[last]);
             k < end && problem_.costs[k] <= room; ++k) {
            if ((problem_.members[k] & ~rest) != 0) continue;
            steps_.push_back({last, k, rest, value});
            if (rest != 0) wait({rest, subset.spent + problem_.costs[k]});
            return;  // costs ascend: the first set inside is the best one
        }
    }

    const Step* least_step(const Subset& subset) const {
        for (std::size_t s = subset.first_step; s < subset.end_step; ++s) {
            if (steps_[s].value + problem_.costs[steps_[s].set] == subset.value) return &steps_[s];
        }
        fail();
    }

    std::unordered_map<std::uint64_t, const Subset*> index() const {
        std::unordered_map<std::uint64_t, const Subset*> found;
        found.reserve(subsets_.size());
        for (const Subset& subset : subsets_) found.emplace(subset.members, &subset);
        return found;
    }

    template <class Choose>
    SubsetSolution walk(const Choose& choose) const {
        const auto done = index();
        SubsetSolution solution;
        solution.is_feasible = true;
        solution.chosen.assign(static_cast<std::size_t>(problem_.n), -1);
        std::uint64_t left = (std::uint64_t{1} << problem_.n) - 1;
        while (left != 0) {
            const Step& step = *choose(*done.at(left));
            solution.chosen[step.last] =
                static_cast<std::int64_t>(step.set) - problem_.first[step.last];
            solution.cost += problem_.costs[step.set];
            solution.last.push_back(static_cast<int>(step.last));
            left = step.rest;
        }
        return solution;
    }

    [[noreturn]] static void fail() {
        throw std::logic_error("subset recursion: no sink explains a cell");
    }

    const SubsetProblem& problem_;
    SubsetOracle& oracle_;
    const double most_;
    std::map<Place, std::vector<Subset>> waiting_;
    std::vector<Subset> subsets_;  // in the order in which they were looked at
    std::vector<Step> steps_;
    std::vector<std::uint64_t> rests_;
    std::vector<double> values_;
};

}  // namespace

Descent descend(const SubsetProblem& problem, SubsetOracle& oracle, double most,
                std::size_t max_steps, const std::function<bool()>& should_stop) {
    Way way(problem, oracle, most);
    const bool wants_finest = !problem.fine.empty();
    const bool has_all = wants_finest && way.collect(max_steps, should_stop);
    if (!has_all) way.go_alone();
    Descent found{way.least(), std::nullopt};
    if (has_all) found.finest = way.finest();
    return found;
}

}  // namespace bestdag
