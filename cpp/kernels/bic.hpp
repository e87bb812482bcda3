// Native twin of scores/bic.py.
#pragma once

#include <memory>

#include "kernels/kernel.hpp"

namespace bestdag {

std::unique_ptr<Kernel> make_bic();

}  // namespace bestdag
