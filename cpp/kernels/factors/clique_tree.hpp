// A junction tree as a structure: which variables meet in a table, and how the tables hang
// together. Nothing is multiplied here, so sizes are known before anything is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "factors/elimination.hpp"

namespace bestdag {

struct Clique {
    // The variables shared with the parent come first; those summed out last come before those
    // summed out earlier, in every clique.
    std::vector<Axis> axes;
    std::size_t n_separator;  // how many are shared with the parent
    std::int32_t parent;      // its number, above the own; -1 for a root
    std::vector<std::uint32_t> children;
};

class CliqueTree {
public:
    static constexpr std::uint32_t kNowhere = 0xffffffff;

    // A tree in which every scope lies inside a clique. Axes of length 1 say nothing and are in no
    // clique. The order of elimination is the better one of several greedy rules, ties by number.
    // Looks at the flag, if there is one, while it looks for that order.
    CliqueTree(std::span<const std::uint32_t> lengths, std::span<const std::vector<Axis>> scopes,
               const StopFlag* stop = nullptr);

    std::span<const std::uint32_t> lengths() const noexcept { return lengths_; }
    std::span<const Clique> cliques() const noexcept { return cliques_; }

    // The smallest clique with this axis; kNowhere for axes of length 1 and those in no scope.
    std::uint32_t home(Axis axis) const noexcept { return homes_[axis]; }

    // A clique with all these axes, which have several states; kNowhere where there is none.
    std::uint32_t clique_of(std::span<const Axis> axes) const;

    // Cells of a clique, of its separator, of all cliques and of all separators; as doubles, since
    // they may exceed any whole number.
    double cells(std::size_t clique) const noexcept { return cells_[clique]; }
    double separator_cells(std::size_t clique) const noexcept { return separator_cells_[clique]; }
    double total_cells() const noexcept { return total_cells_; }
    double total_separator_cells() const noexcept { return total_separator_cells_; }
    std::size_t largest() const noexcept { return largest_; }  // 0 where there are no cliques

private:
    std::vector<std::uint32_t> lengths_;
    std::vector<Clique> cliques_;
    std::vector<std::uint32_t> homes_;
    std::vector<std::uint32_t> eliminated_in_;  // the clique in which each axis is summed out
    std::vector<std::uint32_t> positions_;      // of each axis in the order of elimination
    std::vector<double> cells_;
    std::vector<double> separator_cells_;
    double total_cells_ = 0.0;
    double total_separator_cells_ = 0.0;
    std::size_t largest_ = 0;
};

}  // namespace bestdag
