// For each candidate set of a few variables, the least cost of an acyclic choice that has it, by
// dynamic programming over the 2^n subsets in both directions:
//
//     F(S) = min over v in S of F(S \ v) + best_v(S \ v),          F({}) = 0,
//     B(S) = min over v not in S of best_v(S) + B(S + v),          B(all) = 0,
//     least(v, P) = cost(v, P) + min over S with P inside and v outside of F(S) + B(S + v),
//
// where best_v(S) is the least cost of a candidate set of v inside S. F(S) is the least cost of the
// variables S among themselves and B(S) that of all others, who may have parents in S.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/parallel.hpp"

namespace bestdag {

inline constexpr int kMaxMarginalVariables = 26;

// A candidate set; bit u of members: variable u is in it.
struct MarginalSet {
    std::uint32_t members;
    std::uint32_t cost;  // whole units, at most kMarginalLimit
};

// Costs at or above count as never.
inline constexpr std::uint32_t kMarginalLimit = std::uint32_t{1} << 30;

// sets[v] are those of variable v, in any order. The result has a number for each of them:
// kMarginalLimit where no acyclic choice has the set. Requires at most kMaxMarginalVariables
// variables. Throws Interrupted when execution said to stop.
std::vector<std::vector<std::uint32_t>> subset_marginals(
    const std::vector<std::vector<MarginalSet>>& sets, const Execution& execution);

// What that takes at its height.
double subset_marginal_bytes(int n);

}  // namespace bestdag
