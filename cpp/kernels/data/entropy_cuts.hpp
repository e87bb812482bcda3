// Where to cut a sorted number column so that the pieces tell the classes apart: recursive binary
// splits of least class entropy, each kept only if it shortens the description (Fayyad and Irani
// 1993).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"

namespace bestdag {

// Rows in ascending order of value, no NaN; classes below n_classes; weights > 0, one per row, or
// empty when each row counts once. Returns ascending positions p, 0 < p < n: a cut goes between
// the values of rows p - 1 and p, which differ. Equal costs go to the lowest cut.
// Throws Interrupted when execution says so.
std::vector<std::size_t> entropy_cuts(std::span<const double> values,
                                      std::span<const std::uint16_t> classes,
                                      std::span<const double> weights, std::size_t n_classes,
                                      const Execution& execution);

}  // namespace bestdag
