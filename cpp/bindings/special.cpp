// Functions of counts, over whole arrays.
#include "bindings/common.hpp"
#include "kernels/log_gamma.hpp"
#include "kernels/regret.hpp"

void register_special(nb::module_& m) {
    using In = Array1<const double>;
    using Out = Array1<double>;
    m.def(
        "log_gamma",
        [](const In& x, const Out& out) {
            for (std::size_t i = 0; i < out.size(); ++i) out(i) = bestdag::log_gamma(x(i));
        },
        "x"_a.noconvert(), "out"_a.noconvert(), "ln Gamma of each number > 0.");
    m.def(
        "log_rising",
        [](const In& a, const In& n, const Out& out) {
            for (std::size_t i = 0; i < out.size(); ++i) out(i) = bestdag::log_rising(a(i), n(i));
        },
        "a"_a.noconvert(), "n"_a.noconvert(), "out"_a.noconvert(),
        "ln [Gamma(a + n) / Gamma(a)] of each pair.");
    m.def(
        "regret",
        [](const In& n, const In& r, const Out& out) {
            for (std::size_t i = 0; i < out.size(); ++i) out(i) = bestdag::regret(n(i), r(i));
        },
        "n"_a.noconvert(), "r"_a.noconvert(), "out"_a.noconvert(), "ln C(r, n) of each pair.");
    m.def(
        "szpankowski_regret",
        [](const In& n, const In& r, const Out& out) {
            for (std::size_t i = 0; i < out.size(); ++i) {
                out(i) = bestdag::szpankowski_regret(n(i), r(i));
            }
        },
        "n"_a.noconvert(), "r"_a.noconvert(), "out"_a.noconvert(),
        "Approximate ln C(r, n) of each pair.");
}
