// Node-average likelihood: the mean log-likelihood of a family over the rows that show all of it,
// minus a penalty for each free parameter.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "scores/kernel.hpp"

namespace bestdag {

// Where has_missing is set, the last state of a column stands for its missing cells; columns past
// the end of the list have none. The penalty of one parameter is given the total weight N.
Kernel make_node_average(std::function<double(double n)> penalty,
                         std::vector<std::uint8_t> has_missing);

}  // namespace bestdag
