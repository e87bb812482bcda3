// Native twin of scores/aic.py.
#pragma once

#include "scores/kernel.hpp"

namespace bestdag {

Kernel make_aic();

}  // namespace bestdag
