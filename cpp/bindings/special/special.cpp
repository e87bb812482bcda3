// Functions of counts, over whole arrays.
#include "bindings/common.hpp"
#include "special/chi_square.hpp"
#include "special/digamma.hpp"
#include "special/log_gamma.hpp"
#include "special/regret.hpp"

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
    m.def("chi_square_quantile", &bestdag::chi_square_quantile, "df"_a, "confidence"_a,
          "The number a chi-square variable stays below with this probability.");
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
    m.def(
        "log_rising_slopes",
        [](const In& a, const In& n, const Out& first, const Out& second) {
            for (std::size_t i = 0; i < first.size(); ++i) {
                const bestdag::RisingSlopes slopes = bestdag::rising_slopes(a(i), n(i));
                first(i) = slopes.first;
                second(i) = 0.0 - slopes.second;  // no minus zero
            }
        },
        "a"_a.noconvert(), "n"_a.noconvert(), "first"_a.noconvert(), "second"_a.noconvert(),
        "First and second derivative by a of ln [Gamma(a + n) / Gamma(a)] of each pair.");
}
