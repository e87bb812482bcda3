// Local score tables: read, written.
#include "scoring/local_scores.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "bindings/scoring/local_scores.hpp"
#include "scoring/jkl.hpp"

LocalScoresTuple to_python(bestdag::LocalScores&& scores) {
    return nb::make_tuple(to_numpy(std::move(scores.first_sets)),
                          to_numpy(std::move(scores.scores)), to_numpy(std::move(scores.offsets)),
                          to_numpy(std::move(scores.members)));
}

void register_local_scores(nb::module_& m) {
    nb::exception<bestdag::JklError>(m, "JklError", PyExc_ValueError);
    m.def(
        "parse_jkl",
        [](const nb::bytes& text, int threads) {
            bestdag::NamedScores result;
            run_unlocked(threads, [&](const bestdag::Execution& execution) {
                result = bestdag::parse_jkl({text.c_str(), text.size()}, execution);
            });
            return nb::typed<nb::tuple, std::vector<std::string>, LocalScoresTuple>(
                nb::make_tuple(std::move(result.names), to_python(std::move(result.scores))));
        },
        "text"_a, "threads"_a, "Names and flat arrays of a file of local scores.");
    m.def(
        "format_jkl",
        [](const std::vector<std::string>& names, const Int64s& first_sets,
           const Array1<const double>& scores, const Int64s& offsets, const Int32s& members) {
            const std::string text = bestdag::format_jkl(
                names, {view(first_sets), view(scores), view(offsets), view(members)});
            return nb::bytes(text.data(), text.size());
        },
        "names"_a, "first_sets"_a.noconvert(), "scores"_a.noconvert(), "offsets"_a.noconvert(),
        "members"_a.noconvert(), "The text of a file of local scores.");
}
