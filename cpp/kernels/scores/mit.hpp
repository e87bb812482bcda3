// Native twin of scores/mit.py.
#pragma once

#include "scores/kernel.hpp"

namespace bestdag {

Kernel make_mit(double confidence);  // requires 0 < confidence < 1

}  // namespace bestdag
