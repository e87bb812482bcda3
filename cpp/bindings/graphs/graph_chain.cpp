#include "graphs/graph_chain.hpp"

#include <nanobind/stl/optional.h>

#include <cstddef>
#include <optional>
#include <stdexcept>

#include "bindings/types.hpp"

namespace {

std::size_t limit(const std::optional<std::size_t>& given) {
    return given.value_or(bestdag::GraphLimits::kNoLimit);
}

}  // namespace

void register_graph_chain(nb::module_& m) {
    nb::class_<bestdag::GraphChain>(m, "GraphChain",
                                    "A Markov chain over connected DAGs; see "
                                    "kernels/graphs/graph_chain.hpp.")
        .def(
            "__init__",
            [](bestdag::GraphChain* self, std::size_t n, std::optional<std::size_t> max_degree,
               std::optional<std::size_t> max_parents, std::optional<std::size_t> max_width,
               Array1<const std::uint64_t> key) {
                const bestdag::GraphLimits limits{limit(max_degree), limit(max_parents),
                                                  limit(max_width)};
                if (n == 0 || key.size() != 2 || (n > 1 && limits.parents < 1) ||
                    (n > 1 && limits.width < 1) || limits.degree < (n > 2 ? 2 : n - 1)) {
                    throw std::invalid_argument("a chain of arcs must obey the limits");
                }
                new (self) bestdag::GraphChain(n, limits, {key(0), key(1)});
            },
            "n"_a, "max_degree"_a.none(), "max_parents"_a.none(), "max_width"_a.none(),
            "key"_a.noconvert())
        .def(
            "run",
            [](bestdag::GraphChain& self, std::uint64_t steps) {
                run_unlocked(1, [&](const bestdag::Execution& execution) {
                    bestdag::parallel_for(
                        1, static_cast<double>(steps) * 1e4, execution,
                        [&](std::size_t, const bestdag::StopFlag& stop) { self.run(steps, stop); });
                });
            },
            "steps"_a, "Take steps.")
        .def(
            "arcs",
            [](const bestdag::GraphChain& self) {
                std::vector<std::int32_t> found = self.arcs();
                const std::size_t n_arcs = found.size() / 2;
                return to_numpy(std::move(found), {n_arcs, 2});
            },
            "Parent and child of each arc.")
        .def_prop_ro("n_undecided", &bestdag::GraphChain::n_undecided,
                     "Graphs left aside because their width was not decided.");
}
