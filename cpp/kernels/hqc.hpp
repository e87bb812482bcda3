// Native twin of scores/hqc.py.
#pragma once

#include "kernels/kernel.hpp"

namespace bestdag {

Kernel make_hqc();

}  // namespace bestdag
