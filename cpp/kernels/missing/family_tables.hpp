// The families of a network, with the tables of all of them one after the other in one array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bestdag {

// Probabilities and counts of a network have the same layout: the table of variable v begins at
// first_cells[v], its parents are the axes in the order of `members[v]`, and its own states vary
// fastest.
struct FamilyTables {
    // members[v]: the parents of v, then v itself. Requires an acyclic graph and every table below
    // 2^32 cells.
    FamilyTables(std::vector<std::uint32_t> arities_,
                 std::vector<std::vector<std::uint32_t>> members_);

    std::size_t size() const noexcept { return arities.size(); }
    std::size_t n_cells() const noexcept { return first_cells.back(); }

    std::vector<std::uint32_t> arities;
    std::vector<std::vector<std::uint32_t>> members;
    std::vector<std::vector<std::uint32_t>> strides;  // of the members
    std::vector<std::size_t> first_cells;             // one more than there are variables
    std::vector<std::vector<std::uint32_t>> children;
    std::vector<std::uint32_t> order;  // parents before children
};

}  // namespace bestdag
