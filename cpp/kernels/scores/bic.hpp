// Native twin of scores/bic.py.
#pragma once

#include "scores/kernel.hpp"

namespace bestdag {

Kernel make_bic();

}  // namespace bestdag
