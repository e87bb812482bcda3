// A score within support: families whose columns take too many different joint values are out.
//
// A family is admissible when its columns, child and parents together, take at most `max_cells`
// different joint values in the data. That depends on the set of columns alone and only falls as
// columns are added: every subset of an admissible set is admissible, and equivalent structures are
// admissible together. A child without parents always is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scores/kernel.hpp"

namespace bestdag {

// A family that is admissible whatever its support: the user requires these parents.
struct ExemptFamily {
    std::size_t child;
    std::vector<std::int32_t> parents;  // ascending
};

// The score of an admissible family is that of the kernel, of any other minus infinity. Bounds stay
// bounds. With exempt families the score is no function of sets any more.
Kernel within_support(const Kernel& kernel, double max_cells, std::vector<ExemptFamily> exempt);

}  // namespace bestdag
