// Making a junction tree: where each factor goes, and the products of the factors in each clique.
//
// Cells that are zero whatever becomes known are left out where they are many. Jensen and Andersen
// (1990). "Approximations in Bayesian belief universes for knowledge-based systems." UAI 6.
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <utility>

#include "factors/junction_tree.hpp"
#include "factors/propagation.hpp"

namespace bestdag {

namespace {

// A listed cell takes about as much time as this many others.
constexpr std::size_t kListedCost = 3;
// Cells of a block that stays in the cache while tables are multiplied into it.
constexpr std::size_t kBlockCells = 1u << 15;

// Strides of a table over `axes`, in the order of `inside`'s axes; 0 where it has none.
std::vector<std::size_t> strides_in(std::span<const Axis> inside, std::span<const Axis> axes,
                                    std::span<const std::uint32_t> lengths) {
    std::vector<std::size_t> strides(inside.size(), 0);
    std::size_t step = 1;
    for (std::size_t i = axes.size(); i-- > 0;) {
        const auto place = std::find(inside.begin(), inside.end(), axes[i]);
        if (place != inside.end()) strides[static_cast<std::size_t>(place - inside.begin())] = step;
        step *= lengths[axes[i]];
    }
    return strides;
}

}  // namespace

Projection JunctionTree::projection(std::span<const Axis> inside, std::span<const Axis> axes,
                                    std::span<const std::uint32_t> lengths) {
    std::vector<std::uint32_t> large;
    for (const Axis axis : inside) large.push_back(lengths[axis]);
    return Projection(large, strides_in(inside, axes, lengths));
}

JunctionTree::JunctionTree(CliqueTree structure, std::vector<TreeFactor> factors, bool are_logs,
                           const Execution& execution)
    : structure_(std::move(structure)), factors_(std::move(factors)), are_logs_(are_logs) {
    map_cliques();
    map_factors();
    const double n_cells = structure_.total_cells();
    parallel_for(
        1, kNanosecondsPerCell * n_cells, execution, [&](std::size_t, const StopFlag& stop) {
            // Pages that are not reached take no memory.
            potentials_ = std::make_unique<Cells<double>>(static_cast<std::size_t>(n_cells));
            Zeros zeros(maps_.size(), n_separator_cells_);
            for (std::size_t c = 0; c < maps_.size(); ++c) fill_potential(c, zeros, stop);
            for (std::size_t c = maps_.size(); c-- > 0;) narrow_potential(c, zeros, stop);
            close_gaps(stop);
        });
    state_ = std::make_unique<Propagation<SumProduct>>(*this);
}

void JunctionTree::map_cliques() {
    const std::span<const std::uint32_t> lengths = structure_.lengths();
    const std::span<const Clique> cliques = structure_.cliques();
    for (const std::uint32_t length : lengths) {
        first_states_.push_back(n_states_);
        n_states_ += length;
    }
    for (std::size_t c = 0; c < cliques.size(); ++c) {
        const Clique& clique = cliques[c];
        const std::span<const Axis> axes(clique.axes);
        Maps& maps = maps_.emplace_back(projection(axes, axes.first(clique.n_separator), lengths));
        maps.first_separator_cell = n_separator_cells_;
        maps.n_separator_cells = static_cast<std::size_t>(structure_.separator_cells(c));
        for (const std::uint32_t child : clique.children) {
            const std::span<const Axis> shared(cliques[child].axes);
            maps.children.push_back(
                projection(axes, shared.first(cliques[child].n_separator), lengths));
        }
        for (const Axis axis : axes) {
            if (structure_.home(axis) != c) continue;
            maps.at_home.push_back(axis);
            maps.axes.push_back(projection(axes, {&axis, 1}, lengths));
        }
        n_separator_cells_ += maps.n_separator_cells;
    }
}

void JunctionTree::map_factors() {
    const std::span<const std::uint32_t> lengths = structure_.lengths();
    for (std::size_t f = 0; f < factors_.size(); ++f) {
        TreeFactor& factor = factors_[f];
        std::erase_if(factor.axes, [&](Axis axis) { return lengths[axis] == 1; });
        if (factor.axes.empty()) {
            log_constant_ += are_logs_ ? factor.values[0] : std::log(factor.values[0]);
            continue;
        }
        const std::uint32_t c = structure_.clique_of(factor.axes);
        maps_[c].factors.push_back(f);
        maps_[c].factor_maps.push_back(
            projection(structure_.cliques()[c].axes, factor.axes, lengths));
    }
}

void JunctionTree::fill_potential(std::size_t c, Zeros& zeros, const StopFlag& stop) {
    Maps& maps = maps_[c];
    const Clique& clique = structure_.cliques()[c];
    maps.first_cell = n_cells_;
    maps.n_cells = static_cast<std::size_t>(structure_.cells(c));
    std::vector<std::vector<double>> shares;  // where the factors are logarithms
    std::vector<Operand> operands;
    bool has_zeros = false;
    for (std::size_t k = 0; k < maps.factors.size(); ++k) {
        const TreeFactor& factor = factors_[maps.factors[k]];
        std::span<const double> values = factor.values;
        if (are_logs_) {
            shares.emplace_back(values.begin(), values.end());
            for (double& value : shares.back()) value = std::exp(value);
            values = shares.back();
        }
        has_zeros = has_zeros || std::find(values.begin(), values.end(), 0.0) != values.end();
        operands.push_back({factor.axes, values.data(), &maps.factor_maps[k]});
    }
    for (std::size_t k = 0; k < clique.children.size(); ++k) {
        const std::uint32_t child = clique.children[k];
        if (!zeros.in_message[child]) continue;
        has_zeros = true;
        const Clique& below = structure_.cliques()[child];
        operands.push_back({std::span(below.axes).first(below.n_separator),
                            zeros.possible.data() + maps_[child].first_separator_cell,
                            &maps.children[k]});
    }
    // What underflowed is no zero. Logarithms are kept as they are.
    std::vector<std::uint32_t> kept;
    std::feclearexcept(FE_UNDERFLOW);
    const std::size_t n_most = has_zeros && !are_logs_ ? most_listed(c) : 0;
    if (n_most > 0 && multiply_blocks(c, operands, n_most, kept, stop) && !kept.empty() &&
        std::fetestexcept(FE_UNDERFLOW) == 0) {
        keep_cells(c, std::move(kept), stop);
    } else {
        multiply_blocks(c, operands, 0, kept, stop);
    }
    zeros.can_list[c] = !are_logs_ && std::fetestexcept(FE_UNDERFLOW) == 0;
    is_lossy_ = is_lossy_ || std::fetestexcept(FE_UNDERFLOW) != 0;
    zeros.in_clique[c] = has_zeros && zeros.can_list[c];
    zeros.in_message[c] = zeros.in_clique[c] && clique.parent >= 0 &&
                          find_possible(maps, maps.separator, c, zeros, stop);
    n_cells_ += maps.n_cells;
}

// Multiply tables into that of a clique, block by block: each is finished while it is near. Cells
// above zero alone are kept if up to `n_most` of them may be, else all; false if there are more.
bool JunctionTree::multiply_blocks(std::size_t c, std::span<const Operand> operands,
                                   std::size_t n_most, std::vector<std::uint32_t>& kept,
                                   const StopFlag& stop) const {
    const std::span<const std::uint32_t> lengths = structure_.lengths();
    const std::span<const Axis> axes(structure_.cliques()[c].axes);
    const auto n_all = static_cast<std::size_t>(structure_.cells(c));
    std::size_t n_block = n_all;
    std::size_t n_outer = 0;  // axes that are the same all over a block
    while (n_block > kBlockCells) n_block /= lengths[axes[n_outer++]];
    std::vector<Projection> inner;
    std::vector<std::vector<std::size_t>> strides;  // of the outer axes in each table
    for (const Operand& operand : operands) {
        if (n_outer == 0) break;
        inner.push_back(projection(axes.subspan(n_outer), operand.axes, lengths));
        strides.push_back(strides_in(axes.first(n_outer), operand.axes, lengths));
    }
    double* const first_cell = potentials_->data() + maps_[c].first_cell;
    std::vector<std::uint32_t> above(n_most > 0 ? n_block : 0);  // cells of a block
    std::vector<std::uint32_t> codes(n_outer, 0);
    for (std::size_t at = 0; at < n_all; at += n_block) {
        check(stop);
        double* const cells = first_cell + (n_most > 0 ? kept.size() : at);
        if (operands.empty()) std::fill_n(cells, n_block, 1.0);
        for (std::size_t k = 0; k < operands.size(); ++k) {
            const double* by = operands[k].values;
            for (std::size_t i = 0; i < n_outer; ++i) by += codes[i] * strides[k][i];
            const Projection& map = n_outer == 0 ? *operands[k].map : inner[k];
            if (k == 0) {
                map.spread(cells, by, stop);
            } else {
                map.multiply<SumProduct>(cells, by, stop);
            }
        }
        if (n_most > 0) {
            std::size_t n_above = 0;
            for (std::size_t i = 0; i < n_block; ++i) {
                const double value = cells[i];
                cells[n_above] = value;
                above[n_above] = static_cast<std::uint32_t>(at + i);
                n_above += value != 0.0 ? 1 : 0;
            }
            kept.insert(kept.end(), above.begin(),
                        above.begin() + static_cast<std::ptrdiff_t>(n_above));
            if (kept.size() > n_most) {
                kept.clear();
                return false;
            }
        }
        for (std::size_t i = n_outer; i-- > 0;) {
            if (++codes[i] < lengths[axes[i]]) break;
            codes[i] = 0;
        }
    }
    return true;
}

// Leave out what is impossible because of the cliques above, and tell those below.
void JunctionTree::narrow_potential(std::size_t c, Zeros& zeros, const StopFlag& stop) {
    Maps& maps = maps_[c];
    const Clique& clique = structure_.cliques()[c];
    if (clique.parent >= 0 && zeros.in_message[c] && zeros.can_list[c]) {
        const double* const from = zeros.possible.data() + maps.first_separator_cell;
        maps.separator.multiply<SumProduct>(potentials_->data() + maps.first_cell, from, stop);
        zeros.in_clique[c] = 1;
        list_cells(c, stop);
    }
    for (std::size_t k = 0; k < clique.children.size(); ++k) {
        const std::uint32_t child = clique.children[k];
        zeros.in_message[child] =
            zeros.in_clique[c] && find_possible(maps, maps.children[k], child, zeros, stop);
    }
}

// Sum a clique's table into a separator, one for all that is above zero; whether there are zeros.
bool JunctionTree::find_possible(const Maps& maps, const Projection& map, std::size_t child,
                                 Zeros& zeros, const StopFlag& stop) const {
    const Maps& below = maps_[child];
    double* const possible = zeros.possible.data() + below.first_separator_cell;
    fill_pieces(possible, below.n_separator_cells, 0.0, stop);
    map.add<SumProduct>(possible, potentials_->data() + maps.first_cell, stop);
    bool has_zeros = false;
    for_pieces(below.n_separator_cells, stop, [&](std::size_t first, std::size_t n) {
        for (std::size_t i = first; i < first + n; ++i) {
            has_zeros = has_zeros || possible[i] == 0.0;
            possible[i] = possible[i] == 0.0 ? 0.0 : 1.0;
        }
    });
    return has_zeros;
}

// With up to so many cells above zero a table holds these alone; 0 where it never does.
std::size_t JunctionTree::most_listed(std::size_t c) const {
    if (structure_.cells(c) > 0xffffffff) return 0;
    // A listed cell takes 8 bytes and 4 for each map; memory must not grow.
    const std::size_t n_maps = 2 + maps_[c].children.size() + maps_[c].axes.size();
    const std::size_t cost = std::max(kListedCost, 1 + (n_maps + 1) / 2);
    return static_cast<std::size_t>(structure_.cells(c)) / cost;
}

// Where few cells are above zero, keep these alone.
void JunctionTree::list_cells(std::size_t c, const StopFlag& stop) {
    const Maps& maps = maps_[c];
    double* const cells = potentials_->data() + maps.first_cell;
    std::size_t n_above = 0;
    for_pieces(maps.n_cells, stop, [&](std::size_t first, std::size_t n) {
        n_above += n - static_cast<std::size_t>(std::count(cells + first, cells + first + n, 0.0));
    });
    if (n_above == 0 || n_above == maps.n_cells || n_above > most_listed(c)) return;
    std::vector<std::uint32_t> kept;
    kept.reserve(n_above);
    for_pieces(maps.n_cells, stop, [&](std::size_t first, std::size_t n) {
        for (std::size_t i = first; i < first + n; ++i) {
            if (cells[i] == 0.0) continue;
            cells[kept.size()] = cells[i];
            kept.push_back(static_cast<std::uint32_t>(i));
        }
    });
    keep_cells(c, std::move(kept), stop);
}

// These cells of a clique's table are left, side by side: find them in the tables around.
void JunctionTree::keep_cells(std::size_t c, std::vector<std::uint32_t> kept,
                              const StopFlag& stop) {
    Maps& maps = maps_[c];
    maps.separator = maps.separator.listed(kept, stop);
    for (Projection& map : maps.children) map = map.listed(kept, stop);
    for (Projection& map : maps.axes) map = map.listed(kept, stop);
    maps.factor_maps.clear();
    maps.n_cells = kept.size();
    if (!maps.listed.empty()) {
        for_pieces(kept.size(), stop, [&](std::size_t first, std::size_t n) {
            for (std::size_t i = first; i < first + n; ++i) kept[i] = maps.listed[kept[i]];
        });
    }
    kept.shrink_to_fit();
    maps.listed = std::move(kept);
}

void JunctionTree::close_gaps(const StopFlag& stop) {
    n_cells_ = 0;
    for (Maps& maps : maps_) {
        const double* const from = potentials_->data() + maps.first_cell;
        double* const to = potentials_->data() + n_cells_;
        if (from != to) {
            for_pieces(maps.n_cells, stop, [&](std::size_t first, std::size_t n) {
                std::copy_n(from + first, n, to + first);
            });
        }
        maps.first_cell = n_cells_;
        n_cells_ += maps.n_cells;
        n_largest_ = std::max(n_largest_, maps.n_cells);
    }
}

}  // namespace bestdag
