// Making a junction tree: where each factor goes, and the products of the factors in each clique.
//
// Cells that are zero whatever becomes known are left out where they are many. Jensen and Andersen
// (1990). "Approximations in Bayesian belief universes for knowledge-based systems." UAI 6.
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>
#include <utility>

#include "factors/junction_tree.hpp"
#include "factors/propagation.hpp"

namespace bestdag {

namespace {

// A listed cell takes about as much time as this many others.
constexpr std::size_t kListedCost = 4;

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
            std::vector<double> possible(n_separator_cells_);
            std::vector<std::uint8_t> has_zeros(maps_.size(), 0);
            for (std::size_t c = 0; c < maps_.size(); ++c) {
                fill_potential(c, possible, has_zeros, stop);
            }
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

void JunctionTree::fill_potential(std::size_t c, std::span<double> possible,
                                  std::vector<std::uint8_t>& has_zeros, const StopFlag& stop) {
    Maps& maps = maps_[c];
    const Clique& clique = structure_.cliques()[c];
    const auto n_all = static_cast<std::size_t>(structure_.cells(c));
    maps.first_cell = n_cells_;
    double* const cells = potentials_->data() + n_cells_;
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
    bool can_be_zero = false;
    for (std::size_t k = 0; k < maps.factors.size(); ++k) {
        std::span<const double> values = factors_[maps.factors[k]].values;
        if (are_logs_) {
            shares.assign(values.begin(), values.end());
            for (double& value : shares) value = std::exp(value);
            values = shares;
        }
        can_be_zero = can_be_zero || std::find(values.begin(), values.end(), 0.0) != values.end();
        multiply(maps.factor_maps[k], values.data());
    }
    for (std::size_t k = 0; k < clique.children.size(); ++k) {
        const std::uint32_t child = clique.children[k];
        if (!has_zeros[child]) continue;
        can_be_zero = true;
        multiply(maps.children[k], possible.data() + maps_[child].first_separator_cell);
    }
    if (!is_filled) {
        for_pieces(n_all, stop,
                   [&](std::size_t first, std::size_t n) { std::fill_n(cells + first, n, 1.0); });
    }
    maps.n_cells = n_all;
    const bool is_lossy = std::fetestexcept(FE_UNDERFLOW) != 0;
    is_lossy_ = is_lossy_ || is_lossy;
    // What underflowed is no zero.
    if (can_be_zero && !is_lossy && !are_logs_) {
        std::size_t n_above = 0;
        for_pieces(n_all, stop, [&](std::size_t first, std::size_t n) {
            n_above +=
                n - static_cast<std::size_t>(std::count(cells + first, cells + first + n, 0.0));
        });
        // A listed cell takes 8 bytes and 4 for each map; memory must not grow.
        const std::size_t n_maps = 2 + maps.children.size() + maps.axes.size();
        const bool is_small = n_above * std::max(kListedCost, 1 + n_maps / 2) <= n_all;
        if (is_small && n_above > 0 && n_all <= std::numeric_limits<std::uint32_t>::max()) {
            list_cells(c, n_above, stop);
        }
        if (n_above < n_all && clique.parent >= 0) {
            const std::span<double> up =
                possible.subspan(maps.first_separator_cell, maps.n_separator_cells);
            std::fill(up.begin(), up.end(), 0.0);
            maps.separator.add<SumProduct>(up.data(), cells, stop);
            for (double& value : up) {
                if (value == 0.0) has_zeros[c] = 1;
                value = value == 0.0 ? 0.0 : 1.0;
            }
        }
    }
    n_cells_ += maps.n_cells;
    n_largest_ = std::max(n_largest_, maps.n_cells);
}

// Keep the cells above zero alone, and where they lie in the tables around.
void JunctionTree::list_cells(std::size_t c, std::size_t n_listed, const StopFlag& stop) {
    Maps& maps = maps_[c];
    double* const cells = potentials_->data() + maps.first_cell;
    maps.listed.reserve(n_listed);
    for_pieces(maps.n_cells, stop, [&](std::size_t first, std::size_t n) {
        for (std::size_t i = first; i < first + n; ++i) {
            if (cells[i] == 0.0) continue;
            cells[maps.listed.size()] = cells[i];
            maps.listed.push_back(static_cast<std::uint32_t>(i));
        }
    });
    maps.n_cells = n_listed;
    maps.separator = maps.separator.listed(maps.listed, stop);
    for (Projection& map : maps.children) map = map.listed(maps.listed, stop);
    for (Projection& map : maps.axes) map = map.listed(maps.listed, stop);
    maps.factor_maps.clear();
}

}  // namespace bestdag
