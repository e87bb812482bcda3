// How often each count occurs in a table of counts, and sums over them: enough for a score that is
// a sum of terms that depend on one count each.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace bestdag {

inline constexpr std::size_t kSmallCounts = 64;  // counts below this are tallied, the others listed

// How often each count occurs among the cells of a set. Cells without rows count for nothing, so
// what need not be added may be added as 0: the loops below have no branches that are hard to
// guess.
template <class Weight>
struct CountSpectrum {
    std::array<std::int32_t, kSmallCounts> small{};
    std::vector<Weight> large;

    [[gnu::always_inline]] void add(Weight weight) {
        if constexpr (std::is_integral_v<Weight>) {
            if (weight < kSmallCounts) [[likely]] {
                ++small[weight];
                return;
            }
        }
        add_large(weight);
    }
    [[gnu::always_inline]] void add_if(bool flag, Weight weight) { add(flag ? weight : Weight{0}); }

    // Cells that hold rows.
    std::size_t n_cells() const noexcept {
        std::size_t n = large.size();
        for (std::size_t count = 1; count < kSmallCounts; ++count) {
            n += static_cast<std::size_t>(small[count]);
        }
        return n;
    }

    void copy(const CountSpectrum& other) {
        small = other.small;
        large.assign(other.large.begin(), other.large.end());
    }

private:
    [[gnu::noinline]] void add_large(Weight weight) {
        if (weight > Weight{0}) large.push_back(weight);
    }
};

// The terms of one function of counts, those of larger counts as they come.
class CountTerms {
public:
    template <class Compute>
    CountTerms(std::size_t n_remembered, const Compute& compute)
        : large_(n_remembered > kSmallCounts ? n_remembered - kSmallCounts : 0,
                 std::numeric_limits<double>::quiet_NaN()) {
        small_[0] = 0.0;
        for (std::size_t count = 1; count < kSmallCounts; ++count) {
            small_[count] = compute(static_cast<double>(count));
        }
    }

    template <class Weight, class Compute>
    double sum(const CountSpectrum<Weight>& spectrum, const Compute& compute) {
        std::array<double, 4> parts{};  // additions that do not wait for each other
        for (std::size_t count = 0; count < kSmallCounts; count += parts.size()) {
            for (std::size_t k = 0; k < parts.size(); ++k) {
                parts[k] += static_cast<double>(spectrum.small[count + k]) * small_[count + k];
            }
        }
        double total = (parts[0] + parts[1]) + (parts[2] + parts[3]);
        for (const Weight count : spectrum.large) total += large(count, compute);
        return total;
    }

private:
    template <class Weight, class Compute>
    double large(Weight count, const Compute& compute) {
        if constexpr (std::is_integral_v<Weight>) {
            const std::size_t place = count - kSmallCounts;
            if (place < large_.size()) {
                if (std::isnan(large_[place])) large_[place] = compute(static_cast<double>(count));
                return large_[place];
            }
        }
        return compute(static_cast<double>(count));
    }

    std::array<double, kSmallCounts> small_;
    std::vector<double> large_;
};

}  // namespace bestdag
