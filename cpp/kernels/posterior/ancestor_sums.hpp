// Exact posterior probabilities that one variable is an ancestor of another, under the prior that
// is modular in the order (Parviainen and Koivisto 2011).
//
// For a source s, g(S, T) sums over all orders of S and all structures over it in which T are the
// descendants of s within S, s among them. The last of S is v:
//
//     v = s:              L(S \ s) a_s(S \ s), where T is s alone
//     v not in T:         g(S \ v, T) a_v(S \ v \ T)
//     v in T, not s:      g(S \ v, T \ v) (a_v(S \ v) - a_v(S \ v \ T))
//
// with L and a_v as in order_sums.hpp. There are 3^(n-1) pairs for each source: a digit for each
// other variable tells whether it is outside S, in S but not in T, or in T.
#pragma once

#include <cstddef>
#include <span>

#include "base/parallel.hpp"
#include "posterior/parent_weights.hpp"

namespace bestdag {

inline constexpr std::size_t kMaxAncestorVariables = 20;

// out[s n + t] is the probability of a path from s to t. Requires at most kMaxAncestorVariables.
// Throws Interrupted.
void ancestor_probabilities(const ParentWeights& weights, const Execution& execution,
                            std::span<double> out);

double ancestor_bytes(std::size_t n, int threads);

}  // namespace bestdag
