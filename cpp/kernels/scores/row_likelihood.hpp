// Maximised log-likelihood of one row of counts, for one thread.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>

#include "counting/table.hpp"
#include "special/lookup.hpp"

namespace bestdag {

// n ln(n / total) for 0 < n <= total. The difference of two n ln n would lose what they share:
// three digits of a nat at n = 1e12.
inline double n_log_share(double n, double total) noexcept {
    return n * (2.0 * n > total ? std::log1p((n - total) / total) : std::log(n / total));
}

// What a score that is defined for whole counts only adds to every family: nothing, or not a number
// where weights are real.
inline double only_whole_counts(const TableShape& table) noexcept {
    return table.has_real_weights ? std::numeric_limits<double>::quiet_NaN() : 0.0;
}

class RowLikelihood {
public:
    explicit RowLikelihood(const TableShape& table) : n_log_n_(table.total_weight) {}

    // sum_k N_jk ln(N_jk / N_j); `total` receives N_j.
    template <class Count>
    double operator()(std::span<const Count> cells, Count& total) const {
        total = Count{0};
        double sum = 0.0;
        if constexpr (std::is_integral_v<Count>) {
            for (const Count count : cells) {
                total += count;
                sum += n_log_n_(count);
            }
            if (n_log_n_.holds(total)) return sum - n_log_n_(total);
            sum = 0.0;
        } else {
            for (const Count count : cells) total += count;
        }
        for (const Count count : cells) {
            if (count != Count{0}) {
                sum += n_log_share(static_cast<double>(count), static_cast<double>(total));
            }
        }
        return sum;
    }

    // The sum over rows of a table of counts.
    template <class Count>
    double rows(std::span<const Count> cells, std::size_t arity) const {
        double sum = 0.0;
        Count total;
        for (std::size_t row = 0; row < cells.size(); row += arity) {
            sum += (*this)(cells.subspan(row, arity), total);
        }
        return sum;
    }

    // Sum of n ln n, the part of a likelihood that belongs to a set of variables.
    template <class Count>
    double cells(std::span<const Count> cells) const {
        double sum = 0.0;
        for (const Count count : cells) sum += n_log_n_(count);
        return sum;
    }

private:
    NLogN n_log_n_;
};

}  // namespace bestdag
