// Native twin of scores/bd.py with one pseudo-count for all cells; with 1, that of scores/k2.py.
#pragma once

#include "scores/kernel.hpp"

namespace bestdag {

Kernel make_bd(double pseudo_count);  // requires pseudo_count > 0

}  // namespace bestdag
