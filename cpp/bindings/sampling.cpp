#include "kernels/sampling.hpp"

#include <nanobind/stl/vector.h>

#include <cstddef>
#include <stdexcept>
#include <vector>

#include "bindings/common.hpp"

namespace {

using Columns = std::vector<nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu>>;

bestdag::CodeColumn code_column(const Columns::value_type& column, std::size_t n_rows) {
    if (column.size() != n_rows) throw std::invalid_argument("columns differ in length");
    if (column.dtype() == nb::dtype<std::uint8_t>()) {
        return static_cast<std::uint8_t*>(column.data());
    }
    if (column.dtype() == nb::dtype<std::uint16_t>()) {
        return static_cast<std::uint16_t*>(column.data());
    }
    throw std::invalid_argument("columns must be uint8 or uint16");
}

}  // namespace

void register_sampling(nb::module_& m) {
    m.def(
        "sample_network",
        [](Array2<const std::uint64_t> keys, std::vector<Array2<const std::uint64_t>> thresholds,
           std::vector<Array1<const std::uint32_t>> parents,
           std::vector<Array1<const std::uint64_t>> strides, Columns columns, int threads) {
            const std::size_t n_nodes = columns.size();
            if (keys.shape(0) != n_nodes || keys.shape(1) != 2 || thresholds.size() != n_nodes ||
                parents.size() != n_nodes || strides.size() != n_nodes) {
                throw std::invalid_argument("one key, table and parent list per column is needed");
            }
            const std::size_t n_rows = n_nodes == 0 ? 0 : columns.front().size();
            std::vector<bestdag::SampledNode> nodes;
            nodes.reserve(n_nodes);
            for (std::size_t i = 0; i < n_nodes; ++i) {
                nodes.push_back({{keys(i, 0), keys(i, 1)},
                                 view(thresholds[i]),
                                 thresholds[i].shape(1),
                                 view(parents[i]),
                                 view(strides[i]),
                                 code_column(columns[i], n_rows)});
            }
            run_unlocked(threads, [&](const bestdag::Execution& execution) {
                bestdag::sample_network(nodes, n_rows, execution);
            });
        },
        "keys"_a.noconvert(), "thresholds"_a.noconvert(), "parents"_a.noconvert(),
        "strides"_a.noconvert(), "columns"_a.noconvert(), "threads"_a,
        "Draw all rows of a network, parents first, into the columns; see kernels/sampling.hpp.");
}
