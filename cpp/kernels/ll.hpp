// Native twin of scores/ll.py.
#pragma once

#include "kernels/kernel.hpp"

namespace bestdag {

Kernel make_ll();

}  // namespace bestdag
