// Native twin of scores/max_bdeu.py.
#pragma once

#include "scores/kernel.hpp"

namespace bestdag {

Kernel make_max_bdeu(double ess, double epsilon);  // requires ess > 0, 0 <= epsilon <= 1

}  // namespace bestdag
