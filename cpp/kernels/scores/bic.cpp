// Native twin of scores/bic.py.
#include <cmath>

#include "scores/list.hpp"
#include "scores/penalised_likelihood.hpp"

namespace bestdag {

Kernel make_bic() {
    return penalised_likelihood([](double n) { return 0.5 * std::log(n); });
}

}  // namespace bestdag
