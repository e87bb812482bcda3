// Scores that are the maximised log-likelihood minus a penalty for each free parameter: LL, AIC,
// BIC and HQC, which differ in the penalty alone.
#pragma once

#include "scores/kernel.hpp"

namespace bestdag {

// The penalty of one parameter, given the total weight N of the data.
using PenaltyPerParameter = double (*)(double n);

Kernel penalised_likelihood(PenaltyPerParameter penalty);

}  // namespace bestdag
