// The E step of EM: expected counts of a network's own families, and the log-likelihood.
#pragma once

#include <span>

#include "base/parallel.hpp"
#include "missing/family_tables.hpp"
#include "missing/row_groups.hpp"

namespace bestdag {

// Fill `counts` (the layout of the tables) with the expected counts of the rows behind `groups`
// under the probabilities `values`, and return the logarithm of the probability of what the rows
// show; minus infinity where some row is impossible, and then the counts mean nothing. The numbers
// are the same for any number of threads. Throws Interrupted.
double expected_counts(const RowGroups& groups, const FamilyTables& tables,
                       std::span<const double> values, std::span<double> counts,
                       const Execution& execution);

}  // namespace bestdag
