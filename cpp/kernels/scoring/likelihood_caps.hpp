// Limits of likelihoods: of each column given all others, and of all columns together.
#pragma once

#include <chrono>
#include <span>

#include "base/parallel.hpp"
#include "counting/table.hpp"
#include "scores/kernel.hpp"

namespace bestdag {

// Writes one number <= 0 for each column, the maximised log-likelihood given all other columns
// together, or leaves it as it is where the deadline came first or memory is short: then false.
// Depends on neither the order of the rows nor the number of threads, unless time runs out.
bool likelihood_caps(const Table& table, std::chrono::steady_clock::time_point deadline,
                     const StopFlag& stop, std::span<double> caps);

// An upper bound on the sum of the scores of all families of any acyclic graph, or infinity. Such a
// graph stands for a distribution, and none fits better than the one in which every row is as
// likely as it is frequent. Proof: docs/guide/bounds.md.
double total_cap(const Table& table, const Kernel& kernel, const StopFlag& stop);

}  // namespace bestdag
