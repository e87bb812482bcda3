// Groups of missing cells together with the tables they are groups of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bindings/types.hpp"
#include "missing/row_groups.hpp"

class BoundGroups {
public:
    BoundGroups(const BoundTable& rows, std::vector<std::uint32_t> arities,
                std::vector<std::vector<std::uint32_t>> members, bool whole, bool with_rows,
                int threads);
    BoundGroups(const BoundGroups&) = delete;
    BoundGroups& operator=(const BoundGroups&) = delete;

    void require_cells(std::size_t n) const;

    const bestdag::FamilyTables tables;
    bestdag::RowGroups groups;
};
