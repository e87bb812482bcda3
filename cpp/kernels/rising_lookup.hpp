// Logarithms of rising factorials of one a, remembered for whole n as they are asked for.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "kernels/log_gamma.hpp"

namespace bestdag {

// For one thread. Remembering changes no bit of any value.
class RisingLookup {
public:
    explicit RisingLookup(double a) : a_(a) {}

    double a() const noexcept { return a_; }

    // ln [ Gamma(a + n) / Gamma(a) ].
    template <class Count>
    double operator()(Count n) {
        if (n < static_cast<Count>(values_.size())) [[likely]] {
            const auto i = static_cast<std::size_t>(n);
            if (static_cast<Count>(i) == n && !std::isnan(values_[i])) return values_[i];
        }
        return compute(static_cast<double>(n));
    }

private:
    static constexpr std::size_t kMaxSize = 4096;  // 32 kB: larger counts are rare by their nature

    [[gnu::noinline]] double compute(double n) {
        const double value = log_rising(a_, n);
        if (n < static_cast<double>(kMaxSize) && n == std::floor(n)) {
            const auto i = static_cast<std::size_t>(n);
            if (i >= values_.size()) {
                values_.resize(std::max<std::size_t>(64, std::bit_ceil(i + 1)),
                               std::numeric_limits<double>::quiet_NaN());
            }
            values_[i] = value;
        }
        return value;
    }

    double a_;
    std::vector<double> values_;
};

}  // namespace bestdag
