// Native twin of scores/bdeu.py.
#pragma once

#include <memory>

#include "kernels/kernel.hpp"

namespace bestdag {

std::unique_ptr<Kernel> make_bdeu(double ess);  // requires ess > 0

}  // namespace bestdag
