// Native twin of scores/ll.py.
#pragma once

#include "scores/kernel.hpp"

namespace bestdag {

Kernel make_ll();

}  // namespace bestdag
