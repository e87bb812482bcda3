// The cheapest acyclic choices, one after the other.
#include "exact/near_best.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "bindings/exact/order_cut.hpp"
#include "bindings/types.hpp"

namespace {

using Costs = Array1<const double>;
using Members = std::vector<std::int32_t>;
using Terms = std::vector<std::pair<Members, int>>;

std::vector<bestdag::CutWord> words_of(const Members& members, std::size_t n_words) {
    std::vector<bestdag::CutWord> words(n_words, 0);
    for (const std::int32_t member : members) {
        const auto i = static_cast<std::size_t>(member);
        if (member < 0 || i >= n_words * bestdag::kCutWordBits) {
            throw std::invalid_argument("a member that is no variable");
        }
        bestdag::set_bit(words.data(), i);
    }
    return words;
}

template <class T, class Array>
std::vector<T> copied(const Array& array) {
    return std::vector<T>(array.data(), array.data() + array.size());
}

}  // namespace

void register_near_best(nb::module_& m) {
    using bestdag::NearBest;
    nb::class_<NearBest>(m, "NearBest",
                         "The cheapest acyclic choices of one set per variable, each once.")
        .def(
            "__init__",
            [](NearBest* self, const Int64s& first, const Costs& costs, const Int64s& offsets,
               const Int32s& members, double window, std::size_t wanted, bool takes_all,
               bool per_class, bool has_whole_classes, int max_component, double max_bytes) {
                bestdag::NearBestSets sets{copied<std::int64_t>(first),
                                           copied<double>(costs),
                                           copied<std::int64_t>(offsets),
                                           copied<std::int32_t>(members),
                                           {},
                                           0,
                                           {}};
                new (self) NearBest(std::move(sets), {window, wanted, takes_all, per_class,
                                                      has_whole_classes, max_component, max_bytes});
            },
            "first"_a.noconvert(), "costs"_a.noconvert(), "offsets"_a.noconvert(),
            "members"_a.noconvert(), "window"_a, "wanted"_a, "takes_all"_a, "per_class"_a,
            "has_whole_classes"_a, "max_component"_a, "max_bytes"_a)
        .def(
            "add_cut",
            [](NearBest& self, const Terms& terms, const Members& equations, bool is_halved) {
                bestdag::NearBestCut cut;
                for (const auto& [members, k] : terms) {
                    cut.terms.push_back({words_of(members, self.n_words()), k});
                }
                cut.equations = words_of(equations, self.n_words());
                cut.is_halved = is_halved;
                return self.add_cut(std::move(cut));
            },
            "terms"_a, "equations"_a, "is_halved"_a, "Take in a valid cut; returns its number.")
        .def(
            "add_order_cut",
            [](NearBest& self, std::vector<std::int32_t> members, std::vector<std::int32_t> gains,
               std::int32_t most) {
                bestdag::NearBestCut cut;
                cut.order = order_cut_of(std::move(members), std::move(gains), most,
                                         self.n_words() * bestdag::kCutWordBits);
                return self.add_cut(std::move(cut));
            },
            "members"_a, "gains"_a, "most"_a, "Take in a valid order cut; returns its number.")
        .def(
            "add_part",
            [](NearBest& self, const Int64s& ends, const Int32s& sets, const Int32s& cuts,
               const Costs& multipliers) {
                bestdag::NearBestPart part;
                std::int64_t begin = 0;
                for (std::size_t v = 0; v < ends.size(); ++v) {
                    auto& mine = part.listed.emplace_back();
                    if (ends(v) < begin || static_cast<std::size_t>(ends(v)) > sets.size()) {
                        throw std::invalid_argument("where the sets of each variable end");
                    }
                    for (; begin < ends(v); ++begin) {
                        mine.push_back(sets(static_cast<std::size_t>(begin)));
                    }
                }
                if (cuts.size() != multipliers.size()) {
                    throw std::invalid_argument("one multiplier per cut");
                }
                for (std::size_t c = 0; c < cuts.size(); ++c) {
                    part.cuts.push_back({cuts(c), multipliers(c)});
                }
                self.add_part(std::move(part));
            },
            "ends"_a.noconvert(), "sets"_a.noconvert(), "cuts"_a.noconvert(),
            "multipliers"_a.noconvert(),
            "Look in this part of all choices; parts have none in common.")
        .def(
            "run",
            [](NearBest& self, std::size_t count, double seconds, int threads) {
                return run_for(seconds, threads, [&](const bestdag::Execution& execution) {
                    self.run(count, execution);
                });
            },
            "count"_a, "seconds"_a, "threads"_a, "Look for so many more; False when time ran out.")
        .def(
            "chosen",
            [](const NearBest& self, std::size_t from) {
                const auto all = self.chosen();
                const std::size_t n = self.n_found();
                const std::size_t width = n == 0 ? 0 : all.size() / n;
                if (from > n) throw std::invalid_argument("fewer were found");
                std::vector<std::int32_t> some(
                    all.begin() + static_cast<std::ptrdiff_t>(from * width), all.end());
                return to_numpy(std::move(some), {n - from, width});
            },
            "start"_a, "What was found from this number on: a set for each variable, per row.")
        .def_prop_ro("n_found", &NearBest::n_found)
        .def_prop_ro("rest", &NearBest::rest, "Nothing that was not found costs less.")
        .def_prop_ro("is_over", &NearBest::is_over)
        .def_prop_ro("is_full", &NearBest::is_full)
        .def_prop_ro("n_nodes", &NearBest::n_nodes);
    m.def("subset_marginal_bytes", &bestdag::subset_marginal_bytes, "n"_a,
          "Memory for the marginals of a component of n variables.");
}
