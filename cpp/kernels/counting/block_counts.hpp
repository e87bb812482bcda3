// Counts of families over rows that may be more than memory holds, block of rows after block.
#pragma once

#include <cstddef>
#include <vector>

#include "base/parallel.hpp"
#include "counting/family_list.hpp"
#include "counting/observed_counts.hpp"
#include "counting/table.hpp"

namespace bestdag {

// Columns as arrays, mapped files for instance; nothing is kept for each row.
struct RowArrays {
    std::size_t n_rows;
    std::vector<Column> columns;
    Weights weights;

    // Some of the rows as a table.
    Table block(std::size_t first, std::size_t count) const;
    Table block(std::size_t first, std::size_t count, const Weights& own) const;
};

struct BlockSettings {
    std::size_t block_rows;  // at least 1
    double max_cells;        // of the observed counts of one family; more is TooManyCells
    double max_bytes;        // for the counts of families that share a pass
    // Real weights are counted as whole numbers, so that sums depend neither on the order of the
    // rows nor on the blocks: weight * weight_scale, rounded. The scale is a power of 2, and the
    // sum of all scaled weights is below 2^62.
    double weight_scale = 1.0;
};

struct BlockCounts {
    std::vector<ObservedCounts> counts;
    std::size_t n_passes = 0;  // how often all rows were read
};

// Every set of columns is counted once for all families that it is, and all of them in one pass
// if their counts fit. Sums have 64 bits. Does not depend on the number of threads, nor on the
// blocks.
BlockCounts count_in_blocks(const RowArrays& rows, const FamilyList& families,
                            const BlockSettings& settings, const Execution& execution);

}  // namespace bestdag
