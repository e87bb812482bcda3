// Cuts with multipliers, which bound acyclic choices from below: for multipliers m_c >= 0 on valid
// cuts "sum a_cf x_f >= b_c", an acyclic choice x costs at least
//
//     sum_c m_c b_c + sum_f (cost_f - sum_c m_c a_cf) x_f.
//
// The cuts are those of branch and cut (see cut_pool.hpp): a term (C, k) has the coefficient 1 for
// each set of a member of C with fewer than k members in C; a halved cut is a sum of terms less
// some equations, halved and rounded up; an order cut counts the gains that are forgone.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "exact/order_cuts.hpp"

namespace bestdag {

using CutWord = std::uint64_t;
inline constexpr std::size_t kCutWordBits = 64;

inline bool has_bit(const CutWord* words, std::size_t i) noexcept {
    return (words[i / kCutWordBits] >> (i % kCutWordBits) & 1u) != 0;
}

inline void set_bit(CutWord* words, std::size_t i) noexcept {
    words[i / kCutWordBits] |= CutWord{1} << (i % kCutWordBits);
}

struct NearBestCut {
    struct Term {
        std::vector<CutWord> members;
        int k;
    };
    std::vector<Term> terms;
    std::vector<CutWord> equations;
    bool is_halved = false;
    std::optional<OrderCut> order;  // instead of the others

    int right_side() const noexcept {
        if (order) return order->right_side();
        int total = 0;
        for (const Term& term : terms) total += term.k;
        for (const CutWord word : equations) total -= std::popcount(word);
        return is_halved ? half_up(total) : total;
    }

    bool concerns(std::size_t child) const noexcept {
        if (order) {
            return std::binary_search(order->members.begin(), order->members.end(),
                                      static_cast<std::int32_t>(child));
        }
        if (has_bit(equations.data(), child)) return true;
        for (const Term& term : terms) {
            if (has_bit(term.members.data(), child)) return true;
        }
        return false;
    }

    // Of the set with these parents; all words have as many bits as there are variables, or more.
    int coefficient(std::size_t child, const CutWord* parents) const noexcept {
        if (order) return forgone(child, parents);
        int total = -static_cast<int>(has_bit(equations.data(), child));
        for (const Term& term : terms) {
            if (!has_bit(term.members.data(), child)) continue;
            int inside = 0;
            for (std::size_t w = 0; w < term.members.size(); ++w) {
                inside += std::popcount(term.members[w] & parents[w]);
            }
            total += inside < term.k;
        }
        return is_halved ? half_up(total) : total;
    }

private:
    int forgone(std::size_t child, const CutWord* parents) const noexcept {
        std::size_t own = order->members.size(), inside = 0;
        for (std::size_t i = 0; i < order->members.size(); ++i) {
            const auto member = static_cast<std::size_t>(order->members[i]);
            if (member == child) own = i;
            if (has_bit(parents, member)) inside |= std::size_t{1} << i;
        }
        if (own == order->members.size()) return 0;
        return order->largest_of(own) - order->gains_of(own)[inside];
    }
    static int half_up(int value) noexcept { return (value + (value > 0)) / 2; }
};

struct PricedCut {
    std::int32_t cut;
    double multiplier;
};

}  // namespace bestdag
