// Trees of greatest weight, and the pair scores they are made from.
#include "search/branching.hpp"

#include <stdexcept>

#include "bindings/types.hpp"
#include "scoring/pair_scores.hpp"

namespace {

using Matrix = Array2<const double>;
using Values = Array1<const double>;
using Parents = Array1<std::int32_t>;

constexpr double kNanosecondsPerArc = 10.0;  // enough to decide whether to watch for Ctrl-C

void require_square(const Matrix& weights, std::size_t n) {
    if (weights.shape(0) != n || weights.shape(1) != n) {
        throw std::invalid_argument("one row and one column per node");
    }
}

// One task on a thread of its own, so that the calling thread can watch for Ctrl-C.
template <class Work>
void run_alone(std::size_t n, const Work& work) {
    run_unlocked(1, [&](const bestdag::Execution& execution) {
        const double expected = kNanosecondsPerArc * static_cast<double>(n * n);
        bestdag::parallel_for(1, expected, execution,
                              [&](std::size_t, const bestdag::StopFlag& stop) { work(stop); });
    });
}

}  // namespace

void register_branching(nb::module_& m) {
    m.def(
        "maximum_spanning_tree",
        [](const Matrix& weights, std::size_t root, const Parents& parents) {
            require_square(weights, parents.size());
            if (root >= parents.size()) throw std::invalid_argument("the root is not a node");
            run_alone(parents.size(), [&](const bestdag::StopFlag& stop) {
                bestdag::maximum_spanning_tree(view(weights), root, view(parents), stop);
            });
        },
        "weights"_a.noconvert(), "root"_a, "parents"_a.noconvert(),
        "Parents in the maximum spanning tree of a symmetric matrix, -1 for roots.");
    m.def(
        "maximum_branching",
        [](const Matrix& weights, const Values& root_weights, bool spanning,
           const Parents& parents) {
            require_square(weights, parents.size());
            if (root_weights.size() != parents.size()) {
                throw std::invalid_argument("one root weight per node");
            }
            bool found = false;
            run_alone(parents.size(), [&](const bestdag::StopFlag& stop) {
                found = bestdag::maximum_branching(view(weights), view(root_weights), spanning,
                                                   view(parents), stop);
            });
            return found;
        },
        "weights"_a.noconvert(), "root_weights"_a.noconvert(), "spanning"_a,
        "parents"_a.noconvert(),
        "Parents in the maximum branching (see kernels/search/branching.hpp); False when there is "
        "none.");
    m.def(
        "score_pairs",
        [](const BoundTable& table, const bestdag::Kernel& kernel, const Int32s& given,
           const Int32s& columns, double seconds, const Array2<double>& out, int threads) {
            if (out.shape(0) != columns.size() || out.shape(1) != columns.size()) {
                throw std::invalid_argument("one row and one column per variable");
            }
            bool is_complete = false;
            run_unlocked(threads, [&](const bestdag::Execution& execution) {
                is_complete = bestdag::score_pairs(table.table, kernel, view(given), view(columns),
                                                   seconds, view(out), execution);
            });
            return is_complete;
        },
        "table"_a, "kernel"_a, "given"_a.noconvert(), "columns"_a.noconvert(), "seconds"_a,
        "out"_a.noconvert(), "threads"_a,
        "Scores of every column given each other (see kernels/scoring/pair_scores.hpp); whether "
        "all.");
}
