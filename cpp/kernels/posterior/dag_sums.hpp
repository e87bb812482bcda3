// Exact posterior probabilities by summing over all DAGs, each counted once (Tian and He 2009).
// With a_v(S) as in order_sums.hpp, and T running over sets of variables that get parents in S
// alone,
//
//     H(S)   = sum over T in S, not empty, of (-1)^(|T|+1) H(S \ T) prod_T a_j(S \ T)
//     R(S)   = sum over T outside S, not empty, of (-1)^(|T|+1) R(S and T) prod_T a_j(S)
//     D_v(S) = sum over T outside S and v of (-1)^|T| R(S and v and T) prod_T a_j(S)
//     P(parents of v are P) = w_v(P) / H(all) * sum over S containing P, v not in S, of H(S) D_v(S)
//
// H(S) are the DAGs over S, R(S) the ways to give parents to all variables outside S, and D_v(S)
// those ways in which S and nobody else is no descendant of v. Time is O(n 3^n).
//
// The signs alternate. The terms of a sum are at most 2^n times its value, so that the sums lose
// some of the digits; `log_totals` tells how many: H(all) and R({}) are the same number.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "base/parallel.hpp"
#include "posterior/parent_weights.hpp"

namespace bestdag {

inline constexpr std::size_t kMaxDagVariables = 20;

// Probabilities of the parent sets in the order of the weights, and of the arcs: u -> v at u n + v.
// Returns the logarithms of H(all) and R({}). Requires at most kMaxDagVariables. Throws
// Interrupted.
std::pair<double, double> sum_over_dags(const ParentWeights& weights, const Execution& execution,
                                        std::span<double> sets, std::span<double> arcs);

double dag_sums_bytes(std::size_t n);

}  // namespace bestdag
