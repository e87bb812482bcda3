#include "posterior/inside_sums.hpp"

#include <algorithm>

namespace bestdag {

InsideSums::InsideSums(const ParentWeights& weights, const Execution& execution)
    : n_(weights.n()), cells_(n_ * n_sets()) {
    const double expected = 10.0 * static_cast<double>(n_ * n_ * n_sets());
    parallel_for(n_, expected, execution, [&](std::size_t v, const StopFlag& stop) {
        const Cells<double> inside(n_sets() / 2);
        std::fill_n(inside.data(), n_sets() / 2, kLogZero);
        for (std::size_t i = weights.first(v); i < weights.end(v); ++i) {
            double& cell = inside.data()[without_place(*weights.set(i), v)];
            cell = log_add(cell, weights.log_weight(i));
        }
        check(stop);
        sum_over_subsets(inside.data(), n_ - 1);
        check(stop);
        for (std::uint64_t s = 0; s < n_sets() / 2; ++s) {
            const std::uint64_t set = with_place(s, v);
            cells_.data()[set * n_ + v] = inside.data()[s];
            cells_.data()[(set | std::uint64_t{1} << v) * n_ + v] = kLogZero;
        }
    });
}

}  // namespace bestdag
