// The most probable configurations, best first.
//
// Nilsson (1998). "An efficient algorithm for finding the M most probable configurations in
// probabilistic expert systems." Statistics and Computing 8. The configurations that are left are
// taken apart by the first clique, from the root on, in which they differ from one that is listed
// already. Within a part the best is read off the tables of the messages up: below a clique whose
// states are chosen, the best continuation is known.
#include <algorithm>
#include <limits>
#include <queue>
#include <vector>

#include "factors/junction_tree.hpp"
#include "factors/propagation.hpp"

namespace bestdag {

namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

// A part: configurations that agree with a listed one in the cliques before `clique`, and whose
// states there are none of those excluded. Its best has the states `choice` there.
struct Part {
    double log_probability;
    std::size_t number;  // in order of making, for ties
    std::size_t like;    // the listed configuration
    std::size_t clique;  // counted from the root
    std::size_t choice;
    std::vector<std::size_t> excluded;

    bool operator<(const Part& other) const {  // the queue gives the largest first
        if (log_probability != other.log_probability) {
            return log_probability < other.log_probability;
        }
        return number > other.number;
    }
};

class Listing {
public:
    Listing(const CliqueTree& tree, const Propagation<MaxProduct>& state, const StopFlag& stop)
        : tree_(tree), state_(state), stop_(stop), n_cliques_(tree.cliques().size()) {}

    std::vector<Explanation> best(std::size_t n, double log_best, std::vector<std::int32_t> codes) {
        std::vector<Explanation> listed;
        complete(codes, 0);
        listed.push_back({log_best, std::move(codes)});
        split(listed, 0, 0, {});
        while (listed.size() < n && !parts_.empty()) {
            const Part part = parts_.top();
            parts_.pop();
            std::vector<std::int32_t> next = listed[part.like].codes;
            choose(next, part.clique, part.choice);
            complete(next, part.clique + 1);
            listed.push_back({part.log_probability, std::move(next)});
            split(listed, listed.size() - 1, part.clique, part.excluded);
        }
        return listed;
    }

private:
    std::size_t at(std::size_t step) const { return n_cliques_ - 1 - step; }

    // The cells that belong to the states of the separator: they lie side by side. The choice that
    // a cell stands for is its number among all of them, of which impossible ones may be left out.
    struct Block {
        std::span<const double> cells;
        std::span<const std::uint32_t> listed;  // empty where no cell is left out
        std::size_t first;

        std::size_t choice(std::size_t i) const { return listed.empty() ? i : listed[i] - first; }
        double at(std::size_t choice) const {
            if (listed.empty()) return cells[choice];
            const auto found = std::lower_bound(listed.begin(), listed.end(), first + choice);
            return cells[static_cast<std::size_t>(found - listed.begin())];
        }
    };

    Block block(std::span<const std::int32_t> codes, std::size_t step) const {
        const Clique& clique = tree_.cliques()[at(step)];
        std::size_t first = 0;
        std::size_t size = 1;
        for (std::size_t i = 0; i < clique.axes.size(); ++i) {
            const std::uint32_t length = tree_.lengths()[clique.axes[i]];
            if (i < clique.n_separator) {
                first = first * length + static_cast<std::size_t>(codes[clique.axes[i]]);
            } else {
                size *= length;
            }
        }
        first *= size;
        const std::span<const double> cells = state_.table(at(step));
        const std::span<const std::uint32_t> listed = state_.listed(at(step));
        if (listed.empty()) return {cells.subspan(first, size), {}, first};
        const auto from = std::lower_bound(listed.begin(), listed.end(), first);
        const auto to = std::lower_bound(from, listed.end(), first + size);
        const auto skipped = static_cast<std::size_t>(from - listed.begin());
        const auto n = static_cast<std::size_t>(to - from);
        return {cells.subspan(skipped, n), listed.subspan(skipped, n), first};
    }

    // Give the clique's own axes the states with this number.
    void choose(std::span<std::int32_t> codes, std::size_t step, std::size_t choice) const {
        const Clique& clique = tree_.cliques()[at(step)];
        for (std::size_t i = clique.axes.size(); i-- > clique.n_separator;) {
            const std::uint32_t length = tree_.lengths()[clique.axes[i]];
            codes[clique.axes[i]] = static_cast<std::int32_t>(choice % length);
            choice /= length;
        }
    }

    std::size_t chosen(std::span<const std::int32_t> codes, std::size_t step) const {
        const Clique& clique = tree_.cliques()[at(step)];
        std::size_t choice = 0;
        for (std::size_t i = clique.n_separator; i < clique.axes.size(); ++i) {
            choice = choice * tree_.lengths()[clique.axes[i]] +
                     static_cast<std::size_t>(codes[clique.axes[i]]);
        }
        return choice;
    }

    // The best states of this clique and of those after it.
    void complete(std::span<std::int32_t> codes, std::size_t step) const {
        for (; step < n_cliques_; ++step) {
            const Block here = block(codes, step);
            const auto most = std::max_element(here.cells.begin(), here.cells.end());
            choose(codes, step, here.choice(static_cast<std::size_t>(most - here.cells.begin())));
        }
    }

    // Take apart what agrees with the listed configuration before this clique.
    void split(const std::vector<Explanation>& listed, std::size_t like, std::size_t step,
               std::vector<std::size_t> excluded) {
        const Explanation& known = listed[like];
        for (; step < n_cliques_; ++step, excluded.clear()) {
            check(stop_);
            const Block here = block(known.codes, step);
            const std::span<const double> cells = here.cells;
            const std::size_t own = chosen(known.codes, step);
            excluded.push_back(own);
            std::size_t best = cells.size();
            for (std::size_t i = 0; i < cells.size(); ++i) {
                if (cells[i] == kImpossible || (best < cells.size() && cells[i] <= cells[best])) {
                    continue;
                }
                if (std::find(excluded.begin(), excluded.end(), here.choice(i)) == excluded.end()) {
                    best = i;
                }
            }
            if (best == cells.size()) continue;
            parts_.push({known.log_probability - here.at(own) + cells[best], n_parts_++, like, step,
                         here.choice(best), excluded});
        }
    }

    const CliqueTree& tree_;
    const Propagation<MaxProduct>& state_;
    const StopFlag& stop_;
    const std::size_t n_cliques_;
    std::priority_queue<Part> parts_;
    std::size_t n_parts_ = 0;
};

}  // namespace

std::vector<Explanation> JunctionTree::most_probable(const Evidence& evidence, std::size_t n,
                                                     const Execution& execution) const {
    std::vector<Explanation> found;
    parallel_for(1, nanoseconds(), execution, [&](std::size_t, const StopFlag& stop) {
        Propagation<MaxProduct> state(*this, true);
        state.set(evidence);
        const double log_best = state.collect(stop);
        if (log_best == kImpossible) return;
        std::vector<std::int32_t> codes(structure_.lengths().size(), 0);
        found = Listing(structure_, state, stop).best(n, log_best, std::move(codes));
    });
    return found;
}

}  // namespace bestdag
