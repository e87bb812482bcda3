// A sum of floating-point numbers that is rounded once.
#pragma once

#include <span>

namespace bestdag {

// The exact sum of finite values, rounded to the nearest number and to an even one of two that are
// as near: it does not depend on their order. Values that are not finite give what adding does.
double exact_sum(std::span<const double> values);

}  // namespace bestdag
