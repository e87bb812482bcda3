// Native twin of scores/bdeu.py.
#pragma once

#include "scores/kernel.hpp"

namespace bestdag {

Kernel make_bdeu(double ess);  // requires ess > 0

}  // namespace bestdag
