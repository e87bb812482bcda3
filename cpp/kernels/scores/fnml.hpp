// Native twin of scores/fnml.py.
#pragma once

#include "scores/kernel.hpp"

namespace bestdag {

Kernel make_fnml();  // not a number for counts that are not whole

}  // namespace bestdag
