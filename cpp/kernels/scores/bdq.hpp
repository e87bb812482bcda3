// Native twin of scores/bdq.py.
#pragma once

#include "scores/kernel.hpp"

namespace bestdag {

Kernel make_bdq(double pseudo_count);

}  // namespace bestdag
