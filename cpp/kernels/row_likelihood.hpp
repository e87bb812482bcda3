// Maximised log-likelihood of one row of whole counts, for one thread.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>

#include "kernels/count_memory.hpp"
#include "kernels/log_gamma.hpp"

namespace bestdag {

// n ln(n / total) for 0 < n <= total. The difference of two n ln n would lose what they share:
// three digits of a nat at n = 1e12.
inline double n_log_share(double n, double total) noexcept {
    return n * (2.0 * n > total ? std::log1p((n - total) / total) : std::log(n / total));
}

class RowLikelihood {
public:
    // sum_k N_jk ln(N_jk / N_j), and the row's total N_j; neither is a number when a count is not
    // whole.
    template <class Count>
    double operator()(std::span<const Count> cells, double& total) {
        total = 0.0;
        for (const Count count : cells) {
            if (!is_whole(count)) return total = std::numeric_limits<double>::quiet_NaN();
            total += static_cast<double>(count);
        }
        double sum = 0.0;
        if (total < static_cast<double>(CountMemory::kLimit)) {
            for (const Count count : cells) sum += n_log_n_of(static_cast<double>(count));
            return sum - n_log_n_of(total);
        }
        for (const Count count : cells) {
            if (count != Count{0}) sum += n_log_share(static_cast<double>(count), total);
        }
        return sum;
    }

private:
    template <class Count>
    static bool is_whole(Count count) noexcept {
        if constexpr (std::is_floating_point_v<Count>) return count == std::floor(count);
        return true;
    }

    double n_log_n_of(double n) { return memory_.get(n, n_log_n); }

    CountMemory memory_;
};

}  // namespace bestdag
