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

}  // namespace

Projection JunctionTree::projection(std::span<const Axis> inside, std::span<const Axis> axes,
                                    std::span<const std::uint32_t> lengths) {
    std::vector<std::uint32_t> large;
    for (const Axis axis : inside) large.push_back(lengths[axis]);
    std::vector<std::size_t> strides(inside.size(), 0);  // 0 where the small table has no such axis
    std::size_t step = 1;
    for (std::size_t i = axes.size(); i-- > 0;) {
        const auto place = std::find(inside.begin(), inside.end(), axes[i]);
        if (place != inside.end()) strides[static_cast<std::size_t>(place - inside.begin())] = step;
        step *= lengths[axes[i]];
    }
    return Projection(large, strides);
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
    double* const cells = potentials_->data() + maps.first_cell;
    bool is_filled = false;
    const auto multiply = [&](const Projection& map, const double* by) {
        if (is_filled) {
            map.multiply<SumProduct>(cells, by, stop);
        } else {
            map.spread(cells, by, stop);
        }
        is_filled = true;
    };
    std::feclearexcept(FE_UNDERFLOW);
    std::vector<double> shares;
    bool has_zeros = false;
    for (std::size_t k = 0; k < maps.factors.size(); ++k) {
        std::span<const double> values = factors_[maps.factors[k]].values;
        if (are_logs_) {
            shares.assign(values.begin(), values.end());
            for (double& value : shares) value = std::exp(value);
            values = shares;
        }
        has_zeros = has_zeros || std::find(values.begin(), values.end(), 0.0) != values.end();
        multiply(maps.factor_maps[k], values.data());
    }
    for (std::size_t k = 0; k < clique.children.size(); ++k) {
        const std::uint32_t child = clique.children[k];
        if (!zeros.in_message[child]) continue;
        has_zeros = true;
        multiply(maps.children[k], zeros.possible.data() + maps_[child].first_separator_cell);
    }
    if (!is_filled) {
        for_pieces(maps.n_cells, stop,
                   [&](std::size_t first, std::size_t n) { std::fill_n(cells + first, n, 1.0); });
    }
    // What underflowed is no zero. Logarithms are kept as they are.
    zeros.can_list[c] = !are_logs_ && std::fetestexcept(FE_UNDERFLOW) == 0;
    is_lossy_ = is_lossy_ || std::fetestexcept(FE_UNDERFLOW) != 0;
    zeros.in_clique[c] = has_zeros && zeros.can_list[c];
    if (zeros.in_clique[c]) list_cells(c, stop);
    zeros.in_message[c] = zeros.in_clique[c] && clique.parent >= 0 &&
                          find_possible(maps, maps.separator, c, zeros, stop);
    n_cells_ += maps.n_cells;
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
    const std::span<double> possible =
        std::span(zeros.possible).subspan(below.first_separator_cell, below.n_separator_cells);
    std::fill(possible.begin(), possible.end(), 0.0);
    map.add<SumProduct>(possible.data(), potentials_->data() + maps.first_cell, stop);
    bool has_zeros = false;
    for (double& value : possible) {
        has_zeros = has_zeros || value == 0.0;
        value = value == 0.0 ? 0.0 : 1.0;
    }
    return has_zeros;
}

// Where few cells are above zero, keep these alone, and where they lie in the tables around.
void JunctionTree::list_cells(std::size_t c, const StopFlag& stop) {
    Maps& maps = maps_[c];
    double* const cells = potentials_->data() + maps.first_cell;
    std::size_t n_above = 0;
    for_pieces(maps.n_cells, stop, [&](std::size_t first, std::size_t n) {
        n_above += n - static_cast<std::size_t>(std::count(cells + first, cells + first + n, 0.0));
    });
    // A listed cell takes 8 bytes and 4 for each map; memory must not grow.
    const std::size_t n_maps = 2 + maps.children.size() + maps.axes.size();
    const std::size_t cost = std::max(kListedCost, 1 + n_maps / 2);
    const double n_all = structure_.cells(c);
    if (n_above == 0 || n_above == maps.n_cells || n_all > 0xffffffff ||
        static_cast<double>(n_above * cost) > n_all) {
        return;
    }
    std::vector<std::uint32_t> kept;
    kept.reserve(n_above);
    for_pieces(maps.n_cells, stop, [&](std::size_t first, std::size_t n) {
        for (std::size_t i = first; i < first + n; ++i) {
            if (cells[i] == 0.0) continue;
            cells[kept.size()] = cells[i];
            kept.push_back(static_cast<std::uint32_t>(i));
        }
    });
    maps.separator = maps.separator.listed(kept, stop);
    for (Projection& map : maps.children) map = map.listed(kept, stop);
    for (Projection& map : maps.axes) map = map.listed(kept, stop);
    maps.factor_maps.clear();
    maps.n_cells = n_above;
    if (!maps.listed.empty()) {
        for (std::uint32_t& cell : kept) cell = maps.listed[cell];
    }
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
