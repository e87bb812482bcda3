// The log-likelihood of each column given all others: no family of it fits better.
#pragma once

#include <chrono>
#include <span>

#include "kernels/parallel.hpp"
#include "kernels/table.hpp"

namespace bestdag {

// Writes one number <= 0 for each column, the maximised log-likelihood given all other columns
// together, or leaves it as it is where the deadline came first or memory is short: then false.
// Depends on neither the order of the rows nor the number of threads, unless time runs out.
bool likelihood_caps(const Table& table, std::chrono::steady_clock::time_point deadline,
                     const StopFlag& stop, std::span<double> caps);

}  // namespace bestdag
