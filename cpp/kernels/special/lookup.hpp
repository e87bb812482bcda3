// Logarithms of counts, looked up. One object per thread.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "special/log_gamma.hpp"

namespace bestdag {

// n ln n; small whole counts come from a table.
class NLogN {
public:
    explicit NLogN(double largest_count)
        : values_(static_cast<std::size_t>(std::min(largest_count, kMaxEntries - 1.0)) + 1) {
        for (std::size_t n = 0; n < values_.size(); ++n) {
            values_[n] = n_log_n(static_cast<double>(n));
        }
    }

    // Whether n ln n comes from the table.
    template <class Count>
    bool holds(Count n) const noexcept {
        return static_cast<std::size_t>(n) < values_.size();
    }

    template <class Count>
    double operator()(Count n) const noexcept {
        if constexpr (std::is_integral_v<Count>) {
            const auto index = static_cast<std::size_t>(n);
            if (index < values_.size()) return values_[index];
        }
        return n_log_n(static_cast<double>(n));
    }

private:
    static constexpr double kMaxEntries = 16384.0;  // 128 KiB: half of a level-2 cache
    std::vector<double> values_;
};

// ln [Gamma(a + n) / Gamma(a)] for one a; small whole counts are remembered as they come, which
// changes no bit of any value.
class LogRising {
public:
    explicit LogRising(double a) : a_(a) {}

    double a() const noexcept { return a_; }

    template <class Count>
    double operator()(Count n) {
        if (n < static_cast<Count>(values_.size())) [[likely]] {
            const auto index = static_cast<std::size_t>(n);
            if (static_cast<Count>(index) == n && !std::isnan(values_[index]))
                return values_[index];
        }
        return compute(static_cast<double>(n));
    }

private:
    static constexpr std::size_t kMaxEntries = 4096;  // 32 KiB: larger counts are rare by nature

    [[gnu::noinline]] double compute(double n) {
        const double value = log_rising(a_, n);
        if (n < static_cast<double>(kMaxEntries) && n == std::floor(n)) {
            const auto index = static_cast<std::size_t>(n);
            if (index >= values_.size()) {
                values_.resize(std::max<std::size_t>(64, std::bit_ceil(index + 1)),
                               std::numeric_limits<double>::quiet_NaN());
            }
            values_[index] = value;
        }
        return value;
    }

    double a_;
    std::vector<double> values_;
};

// LogRising for every a that comes along.
class LogRisings {
public:
    LogRising& operator[](double a) {
        if (tables_.size() > kMaxTables) tables_.clear();
        return tables_.try_emplace(a, a).first->second;
    }

    // Two at once: neither is lost to make room for the other.
    std::pair<LogRising&, LogRising&> pair(double a, double b) {
        if (tables_.size() + 1 > kMaxTables) tables_.clear();
        LogRising& first = tables_.try_emplace(a, a).first->second;
        return {first, tables_.try_emplace(b, b).first->second};
    }

private:
    static constexpr std::size_t kMaxTables = 2048;  // 64 MiB when all are full
    std::unordered_map<double, LogRising> tables_;
};

}  // namespace bestdag
