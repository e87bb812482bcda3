// Valid inequalities of the acyclic choices of parent sets, and what multipliers on them prove.
//
// A cluster cut (C, k) with |C| >= k: at least k members of C choose a set with fewer than k
// parents inside C (the first k of C in any order that puts parents first do). A halved cut adds up
// cluster cuts, takes away the equations "child v chooses one set" for some v, halves and rounds
// up: with x >= 0 and integer both sides may be rounded up (Chvatal 1973), so
//     sum_f ceil(a_f / 2) x_f >= ceil(b / 2),  a_f = sum_t [|P_f and C_t| < k_t, v in C_t] - e_v.
// An order cut (see order_cuts.hpp) says that of the largest gains of its members so much at least
// is forgone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "exact/order_cuts.hpp"
#include "search/choice_sets.hpp"

namespace bestdag {

struct Cluster {
    std::vector<std::int32_t> members;  // ascending
    int k = 1;
};

class CutPool {
public:
    static constexpr std::int64_t kNotAllowed = std::int64_t{1} << 60;

    explicit CutPool(const ChoiceSets& sets) : sets_(sets), by_child_(sets.n_variables()) {}

    std::size_t size() const noexcept { return n_cuts_; }
    // Both return the number of the new cut.
    std::size_t add(const Cluster& cluster);
    std::size_t add_halved(std::span<const Cluster> terms, std::span<const std::int32_t> equations);
    std::size_t add(const OrderCut& cut);

    // Coefficient of each set in each cut: out[i * sets.size() + j].
    void coefficients(std::span<const std::int64_t> cuts, std::span<const std::int64_t> sets,
                      std::span<std::int8_t> out) const;

    // reduced[f] = costs[f] - sum_c multipliers[c] * coefficient(c, f) for every set f that is
    // allowed, in whole units, exactly; kNotAllowed for the others, which cost no time. Requires
    // multipliers >= 0, one per cut, and sums below 2^62.
    void reduce(std::span<const std::int64_t> costs, std::span<const std::int64_t> multipliers,
                std::span<const bool> allowed, std::span<std::int64_t> reduced) const;

private:
    struct Entry {  // what one cut says about one child
        std::size_t cut;
        std::size_t first_term, n_terms;  // in terms_
        int equation;                     // e_v
        bool halved;
        // Of an order cut: its coefficients for the child's sets, in listed_, instead of terms.
        std::size_t listed = kNone;
    };
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    struct Term {
        std::size_t mask;  // in masks_
        int k;
    };

    void add_entry(std::size_t child, std::span<const Cluster> terms, int equation, bool halved);
    int coefficient(const Entry& entry, std::size_t set) const noexcept;

    const ChoiceSets& sets_;
    std::size_t n_cuts_ = 0;
    std::vector<std::vector<Entry>> by_child_;
    std::vector<Term> terms_;
    std::vector<Word> masks_;
    std::vector<std::int8_t> listed_;
};

}  // namespace bestdag
