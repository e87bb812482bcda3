// Scores that are the maximised log-likelihood minus a penalty for each free parameter: LL, AIC,
// BIC and HQC, which differ in the penalty alone, and PNAL, a mean over the rows.
#pragma once

#include <functional>

#include "scores/kernel.hpp"

namespace bestdag {

// The penalty of one parameter, given the total weight N of the data.
using PenaltyPerParameter = std::function<double(double n)>;

Kernel penalised_likelihood(PenaltyPerParameter penalty);

// The same with the mean over the rows.
Kernel penalised_mean_likelihood(PenaltyPerParameter penalty);

}  // namespace bestdag
