// Native twin of scores/bic.py.
#pragma once

#include "kernels/kernel.hpp"

namespace bestdag {

Kernel make_bic();

}  // namespace bestdag
