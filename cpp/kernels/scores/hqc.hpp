// Native twin of scores/hqc.py.
#pragma once

#include "scores/kernel.hpp"

namespace bestdag {

Kernel make_hqc();

}  // namespace bestdag
