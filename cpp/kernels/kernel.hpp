// What a score's native twin is: a sum over rows of counts plus a part known from the shape of the
// family alone. Every score of ours has this form, so no family's table need be held whole.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/family_counts.hpp"

namespace bestdag {

struct FamilyShape {
    double n_configurations;  // q: parent configurations, seen or not
    std::size_t arity;        // r: states of the child
    double total_weight;      // N
};

class Kernel {
public:
    virtual ~Kernel() = default;

    // Sum over these rows of counts (uint32 without weights, int64 whole, double real weights).
    virtual double rows(const CountRows<std::uint32_t>& counts, const FamilyShape& shape) const = 0;
    virtual double rows(const CountRows<std::int64_t>& counts, const FamilyShape& shape) const = 0;
    virtual double rows(const CountRows<double>& counts, const FamilyShape& shape) const = 0;

    // The rest of the family's score.
    virtual double constant(const FamilyShape& shape) const = 0;
};

// Derive from this and write one template `sum_rows` for all three kinds of counts.
template <class Derived>
class KernelOf : public Kernel {
public:
    double rows(const CountRows<std::uint32_t>& counts, const FamilyShape& shape) const final {
        return self().sum_rows(counts, shape);
    }
    double rows(const CountRows<std::int64_t>& counts, const FamilyShape& shape) const final {
        return self().sum_rows(counts, shape);
    }
    double rows(const CountRows<double>& counts, const FamilyShape& shape) const final {
        return self().sum_rows(counts, shape);
    }

private:
    const Derived& self() const { return static_cast<const Derived&>(*this); }
};

}  // namespace bestdag
