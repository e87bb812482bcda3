// Native twin of scores/qnml.py.
#pragma once

#include "scores/kernel.hpp"

namespace bestdag {

// The regret is exact, or Szpankowski and Weinberger's approximation. The score is not a number
// for counts that are not whole.
Kernel make_qnml(bool is_exact);

}  // namespace bestdag
