#include "base/exact_sum.hpp"

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace bestdag {

namespace {

struct Sum {
    double rounded, rest;  // together exactly a + b
};

Sum add(double a, double b) {
    if (std::abs(a) < std::abs(b)) std::swap(a, b);
    const double rounded = a + b;
    return {rounded, b - (rounded - a)};
}

}  // namespace

// The sum so far is that of a few parts that do not overlap, smallest first (Shewchuk 1997,
// "Adaptive precision floating-point arithmetic and fast robust geometric predicates").
double exact_sum(std::span<const double> values) {
    std::vector<double> parts;
    double plain = 0.0;
    for (double value : values) {
        plain += value;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const Sum sum = add(value, parts[i]);
            if (sum.rest != 0.0) parts[kept++] = sum.rest;
            value = sum.rounded;
        }
        parts.resize(kept);
        parts.push_back(value);
    }
    if (parts.empty() || !std::isfinite(plain)) return plain;
    double total = parts.back(), rest = 0.0;
    std::size_t left = parts.size() - 1;
    while (left > 0 && rest == 0.0) {
        const Sum sum = add(total, parts[--left]);
        total = sum.rounded;
        rest = sum.rest;
    }
    // Halfway between two numbers: what is left says which is nearer.
    if (left > 0 &&
        ((rest < 0.0 && parts[left - 1] < 0.0) || (rest > 0.0 && parts[left - 1] > 0.0))) {
        const double twice = 2.0 * rest;
        const double next = total + twice;
        if (twice == next - total) total = next;
    }
    return total;
}

}  // namespace bestdag
