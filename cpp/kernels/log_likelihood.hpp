// The log-likelihood at its maximum: what LL, AIC and MIT have in common.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/family_counts.hpp"
#include "kernels/lookup.hpp"

namespace bestdag {

// Sum of N_jk ln(N_jk / N_j) over these rows.
template <class Count>
double log_likelihood(const CountRows<Count>& counts, const NLogN& n_log_n) {
    double sum = 0.0;
    for (std::size_t row = 0; row < counts.cells.size(); row += counts.arity) {
        Count row_total{0};  // N_j
        for (const Count count : counts.cells.subspan(row, counts.arity)) {
            row_total += count;
            sum += n_log_n(count);  // N_jk
        }
        sum -= n_log_n(row_total);
    }
    return sum;
}

// Sum of n ln n over these cells: the log-likelihood is its difference between two sets.
template <class Count>
double sum_n_log_n(std::span<const Count> cells, const NLogN& n_log_n) {
    double sum = 0.0;
    for (const Count count : cells) sum += n_log_n(count);
    return sum;
}

}  // namespace bestdag
