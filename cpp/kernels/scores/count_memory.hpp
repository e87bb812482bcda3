// Remembers a function of whole counts for one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace bestdag {

// Values are worked out on first use and kept for counts below kLimit. It grows with the largest
// count met, so a short job makes no large table.
class CountMemory {
public:
    static constexpr std::size_t kLimit = 1u << 16;  // half a megabyte

    // compute(n) must depend on n alone; n >= 0 and whole.
    template <class Compute>
    double get(double n, const Compute& compute) {
        if (n >= static_cast<double>(kLimit)) return compute(n);
        const auto index = static_cast<std::size_t>(n);
        if (index >= values_.size()) grow(index);
        double& value = values_[index];
        if (value != value) value = compute(n);
        return value;
    }

private:
    void grow(std::size_t index) {
        values_.resize(std::clamp<std::size_t>(2 * index, 64, kLimit),
                       std::numeric_limits<double>::quiet_NaN());
    }

    std::vector<double> values_;
};

}  // namespace bestdag
