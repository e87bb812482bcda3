// Native twin of scores/bd.py with given tables of pseudo-counts.
#pragma once

#include <span>

#include "counting/family_list.hpp"
#include "scores/kernel.hpp"

namespace bestdag {

// values holds one table after the other, each with a row per configuration of the parents, the
// last parent's code varying fastest, and a column per state of the child. Requires tables of the
// right shape for the data, all numbers > 0. A family that is not listed is refused.
Kernel make_bd_tables(const FamilyList& families, std::span<const std::int64_t> first_values,
                      std::span<const double> values);

}  // namespace bestdag
