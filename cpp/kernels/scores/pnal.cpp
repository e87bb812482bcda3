// Native twin of scores/pnal.py.
#include <cmath>

#include "scores/list.hpp"
#include "scores/penalised_likelihood.hpp"

namespace bestdag {

Kernel make_pnal(double scale, double exponent) {
    return penalised_mean_likelihood(
        [scale, exponent](double n) { return scale * std::pow(n, -exponent); });
}

}  // namespace bestdag
