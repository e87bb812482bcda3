// Rows whose missing cells are filled in: with their most probable states together, or drawn.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/philox.hpp"
#include "missing/family_tables.hpp"
#include "missing/row_groups.hpp"

namespace bestdag {

// A column that codes are written to: exactly one pointer is set.
struct OpenColumn {
    std::uint8_t* narrow = nullptr;
    std::uint16_t* wide = nullptr;
};

// The rows of a table that are one distinct row: rows[starts[d] .. starts[d + 1]).
struct RowsByKind {
    std::span<const std::uint64_t> starts;
    std::span<const std::uint32_t> rows;
};

constexpr std::uint64_t kNoRow = ~std::uint64_t{0};

// Fill in the missing cells of `columns`. `groups` are the whole groups, with rows, of the distinct
// rows. With a key the states are drawn: those of row i depend on the key, on i and on the row
// alone. Without one they are the most probable, ties to the first states. Returns the first row
// whose group is impossible, or kNoRow. Throws Interrupted; the columns then hold anything.
std::uint64_t complete_rows(const RowGroups& groups, const FamilyTables& tables,
                            std::span<const double> values, const RowsByKind& rows,
                            const PhiloxKey* key, std::span<const OpenColumn> columns,
                            const Execution& execution);

}  // namespace bestdag
