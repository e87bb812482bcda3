// Logarithms of counts, looked up. One object per thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "kernels/log_gamma.hpp"

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

// ln [Gamma(a + n) / Gamma(a)] for one a; the table grows as larger counts come.
class LogRising {
public:
    explicit LogRising(double a) : a_(a), values_{0.0} {}

    template <class Count>
    double operator()(Count n) {
        if constexpr (std::is_integral_v<Count>) {
            const auto index = static_cast<std::size_t>(n);
            if (index < values_.size()) return values_[index];
            if (index < kMaxEntries) {
                grow(std::min(kMaxEntries, 2 * index + 16));
                return values_[index];
            }
        }
        return log_rising(a_, static_cast<double>(n));
    }

private:
    static constexpr std::size_t kMaxEntries = 4096;

    // A running sum of logarithms whose rounding errors are carried along (Neumaier 1974).
    void grow(std::size_t size) {
        while (values_.size() < size) {
            const double term = std::log(a_ + static_cast<double>(values_.size() - 1));
            const double next = sum_ + term;
            lost_ += std::abs(sum_) >= std::abs(term) ? (sum_ - next) + term : (term - next) + sum_;
            sum_ = next;
            values_.push_back(sum_ + lost_);
        }
    }

    double a_;
    double sum_ = 0.0;
    double lost_ = 0.0;
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
