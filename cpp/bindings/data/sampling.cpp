#include "data/sampling.hpp"

#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <stdexcept>
#include <variant>
#include <vector>

#include "bindings/types.hpp"

namespace {

using Column = std::variant<Array1<std::uint8_t>, Array1<std::uint16_t>>;

bestdag::CodeColumn code_column(const Column& column, std::size_t n_rows) {
    return std::visit(
        [n_rows](const auto& array) -> bestdag::CodeColumn {
            if (array.size() != n_rows) throw std::invalid_argument("columns differ in length");
            return array.data();
        },
        column);
}

}  // namespace

void register_sampling(nb::module_& m) {
    m.def(
        "sample_network",
        [](Array2<const std::uint64_t> keys, std::vector<Array2<const std::uint64_t>> thresholds,
           std::vector<Array1<const std::uint32_t>> parents,
           std::vector<Array1<const std::uint64_t>> strides, Finders finders,
           std::vector<Column> columns, std::uint64_t first, int threads) {
            if (first % 4 != 0) throw std::invalid_argument("first must be a multiple of 4");
            const std::size_t n_nodes = columns.size();
            if (keys.shape(0) != n_nodes || keys.shape(1) != 2 || thresholds.size() != n_nodes ||
                parents.size() != n_nodes || strides.size() != n_nodes ||
                finders.size() != n_nodes) {
                throw std::invalid_argument("one key, table and parent list per column is needed");
            }
            const std::size_t n_rows =
                n_nodes == 0 ? 0 : std::visit([](const auto& a) { return a.size(); }, columns[0]);
            std::vector<bestdag::SampledNode> nodes;
            nodes.reserve(n_nodes);
            for (std::size_t i = 0; i < n_nodes; ++i) {
                const bestdag::RowFinder* finder = finder_at(finders, i);
                if (finder && (finder->n_parents() != parents[i].size() ||
                               finder->n_listed() + 1 != thresholds[i].shape(0))) {
                    throw std::invalid_argument("a finder must fit its table and its parents");
                }
                nodes.push_back({{keys(i, 0), keys(i, 1)},
                                 view(thresholds[i]),
                                 thresholds[i].shape(1),
                                 view(parents[i]),
                                 view(strides[i]),
                                 code_column(columns[i], n_rows),
                                 finder});
            }
            run_unlocked(threads, [&](const bestdag::Execution& execution) {
                bestdag::sample_network(nodes, n_rows, execution, first);
            });
        },
        "keys"_a.noconvert(), "thresholds"_a.noconvert(), "parents"_a.noconvert(),
        "strides"_a.noconvert(), "finders"_a, "columns"_a.noconvert(), "first"_a,
        "threads"_a,
        "Draw rows of a network from row `first` on, parents first, into the columns; see "
        "kernels/data/sampling.hpp.");
}
