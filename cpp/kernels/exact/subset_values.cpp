#include "exact/subset_values.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <new>
#include <utility>
#include <vector>

namespace bestdag {

namespace {

int in_order(const SubsetScope& scope) {
    std::uint64_t found = 0;
    for (std::size_t v = 0; v < scope.before.size(); ++v) {
        const std::uint64_t before = scope.before[v] & scope.variables;
        if ((scope.variables >> v & 1u) && before != 0) found |= before | std::uint64_t{1} << v;
    }
    return std::popcount(found);
}

}  // namespace

template <class T>
double SubsetValues<T>::run(SubsetScope scope, double limit, const Watch& watch) {
    scope_ = std::move(scope);
    limit_ = limit;
    watch_ = watch;
    lay_out();
    fill(program_->lattice.n_layers(), watch);
    double value;
    read(std::span(&scope_.variables, 1), std::span(&value, 1));
    return value;
}

template <class T>
void SubsetValues<T>::lay_out() {
    const int n = scope_.size();
    Division division = plan_.flat(n);
    const bool is_flat = plan_.within == 0 || std::exp2(division.n) <= plan_.cells;
    if (!is_flat) division = Division(n, plan_.within, plan_.middle);
    // Where an order is known, there is a top bit for each variable that has one.
    const int most_middle = std::max(0, n - division.within - in_order(scope_));
    if (is_flat) division = Division(n, division.within, std::min(division.middle, most_middle));
    program_.emplace(problem_, limit_, scope_, division);
    const double tasks = std::floor(plan_.cells / static_cast<double>(division.task_cells()));
    room_ = std::min(static_cast<std::size_t>(tasks), program_->lattice.n_tops());
    if (room_ < program_->lattice.least_room()) throw std::bad_alloc();
}

template <class T>
void SubsetValues<T>::fill(std::size_t n_layers, const Watch& watch) {
    written_ = 0;
    engine_.fill(*program_, n_layers, room_, watch);
    written_ = program_->lattice.layer_begin(n_layers);
    visited_ += static_cast<double>(written_) *
                static_cast<double>(program_->division.task_cells()) /
                std::exp2(std::popcount(program_->padding));
}

template <class T>
int SubsetValues<T>::layer(std::uint64_t subset) const {
    return std::popcount(program_->top_of(program_->bits_of(subset)));
}

template <class T>
bool SubsetValues<T>::is_known(int layer) const {
    const auto below = static_cast<std::size_t>(std::max(layer - 1, 0));
    const SubsetLattice& lattice = program_->lattice;
    return lattice.layer_begin(static_cast<std::size_t>(layer) + 1) <= written_ &&
           lattice.layer_begin(below) + room_ >= written_;
}

template <class T>
void SubsetValues<T>::find_again(std::span<const std::uint64_t> subsets) {
    scope_.variables = 0;
    for (const std::uint64_t subset : subsets) scope_.variables |= subset;
    lay_out();
    int highest = 0;
    for (const std::uint64_t subset : subsets) highest = std::max(highest, layer(subset));
    fill(static_cast<std::size_t>(highest) + 1,
         watch_ ? Watch([this](double) { return watch_(1.0); }) : Watch());
}

template <class T>
void SubsetValues<T>::read(std::span<const std::uint64_t> subsets, std::span<double> values) const {
    const SubsetLattice& lattice = program_->lattice;
    const int task_bits = program_->division.within + program_->division.middle;
    std::vector<std::uint64_t> cells;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < subsets.size(); ++i) {
        const std::uint64_t bits = program_->bits_of(subsets[i]);
        const std::uint32_t top = program_->top_of(bits);
        values[i] = std::numeric_limits<double>::infinity();
        if (!lattice.is_allowed(top)) continue;
        cells.push_back((std::uint64_t{lattice.position(top) % room_} << task_bits) |
                        (bits & ((std::uint64_t{1} << task_bits) - 1)));
        places.push_back(i);
    }
    std::vector<double> read(cells.size());
    engine_.read(cells, read);
    for (std::size_t i = 0; i < places.size(); ++i) values[places[i]] = read[i];
}

template class SubsetValues<std::uint32_t>;
template class SubsetValues<double>;

}  // namespace bestdag
