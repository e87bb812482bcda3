// Node-average likelihood: the mean log-likelihood of a family over the rows that show all of it,
// minus a penalty for each free parameter.
#pragma once

#include <cstdint>
#include <vector>

#include "scores/kernel.hpp"

namespace bestdag {

// Where has_missing is set, by column, the last state stands for missing cells; a column has at
// least one other state. The penalty is that of one parameter.
Kernel make_node_average(double penalty, std::vector<std::uint8_t> has_missing);

}  // namespace bestdag
