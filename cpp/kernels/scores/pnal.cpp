// Native twin of scores/pnal.py.
#include <cmath>

#include "scores/list.hpp"
#include "scores/node_average.hpp"

namespace bestdag {

Kernel make_pnal(double scale, double exponent) {
    return make_node_average(
        [scale, exponent](double n) { return n > 0.0 ? scale * std::pow(n, -exponent) : 0.0; }, {});
}

}  // namespace bestdag
