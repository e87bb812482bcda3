// What is known about the order of the variables before the dynamic program begins, and the pairs
// whose order it tries both ways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "exact/subset_dp.hpp"

namespace bestdag {

// Of each variable, those that come before it in every order.
using Precedence = std::vector<std::uint64_t>;

// From the candidate sets below `limit`: what is in all sets of a variable comes before it, and
// what comes before that. A variable before itself: no choice is acyclic.
Precedence forced_order(const SubsetProblem& problem, double limit);

bool is_possible(const Precedence& before);

// Disjoint pairs of variables; those with an order already first, for they cost one run and not
// two, then those that are parents most often.
std::vector<std::pair<int, int>> choose_pairs(const SubsetProblem& problem, double limit,
                                              const Precedence& before, int count);

// With the first of each pair before the second, or the other way round where `way` has its bit.
Precedence with_pairs(Precedence before, const std::vector<std::pair<int, int>>& pairs,
                      std::uint64_t way);

}  // namespace bestdag
