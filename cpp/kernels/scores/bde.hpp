// Native twin of scores/bde.py with a prior network.
#pragma once

#include "scores/kernel.hpp"
#include "scores/prior_marginals.hpp"

namespace bestdag {

// Requires ess > 0 and arrays that are a network over the columns of the data it is used with.
Kernel make_bde(double ess, const NetworkArrays& network, double max_bytes);

}  // namespace bestdag
