// Native twin of scores/hqc.py.
#include <cmath>

#include "scores/list.hpp"
#include "scores/penalised_likelihood.hpp"

namespace bestdag {

Kernel make_hqc() {
    // ln ln N, and 0 up to N = e, where having a parameter would be rewarded.
    return penalised_likelihood([](double n) {
        const double log_n = std::log(n);
        return log_n > 1.0 ? std::log(log_n) : 0.0;
    });
}

}  // namespace bestdag
