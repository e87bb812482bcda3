// Joint counts of one set of columns with each of many others, from one partition of the rows.
// Everything that scores families in bulk is built on this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "counting/table.hpp"

namespace bestdag {

// True when the counts of this many cells are kept in one dense array rather than by sorting rows.
bool is_dense(std::size_t n_rows, double n_cells) noexcept;
inline bool is_dense(const Table& table, double n_cells) noexcept {
    return is_dense(table.n_rows(), n_cells);
}

// One thread's counter. Count is the table's: uint32 without weights, int64 whole, double real.
template <class Count>
class JointCounter {
public:
    // Gets the number of a candidate and the counts of (prefix..., candidate), the candidate's
    // code varying fastest; no cells when there would be too many (see is_dense).
    using Visitor = std::function<void(std::size_t candidate, std::span<const Count> cells)>;

    // Bitmaps of a column cost a pass over it: worth it when columns are used again and again.
    JointCounter(const Table& table, bool use_bitmaps)
        : JointCounter(table, use_bitmaps, table.n_rows()) {}

    // For a part of a table: what is dense follows the usual number of rows of a part.
    JointCounter(const Table& table, bool use_bitmaps, std::size_t usual_rows)
        : table_(table), use_bitmaps_(use_bitmaps), usual_rows_(usual_rows) {}

    // Visits every candidate once, in order. Requires the candidates not in the prefix.
    void visit(std::span<const std::int32_t> prefix, std::span<const std::int32_t> candidates,
               const StopFlag& stop, const Visitor& visit);

private:
    void count_with_bitmaps(std::span<const std::int32_t> prefix, std::size_t n_configurations,
                            const StopFlag& stop);
    void count_with_histograms(std::span<const std::int32_t> prefix, const StopFlag& stop);
    void count_with_small_histograms(std::span<const std::int32_t> prefix, const StopFlag& stop);
    void fill_prefix_bitmaps(std::span<const std::int32_t> prefix, std::size_t first_word,
                             std::size_t words);

    struct Candidate {
        std::size_t number;
        std::int32_t column;
        std::size_t first_cell;
    };

    const Table& table_;
    bool use_bitmaps_;
    std::size_t usual_rows_;
    std::vector<Candidate> by_bitmap_, by_small_histogram_, by_histogram_;
    std::vector<Count> cells_;
    AlignedWords prefix_bits_, spare_bits_;
    std::vector<std::uint32_t> prefix_totals_;
    std::vector<std::uint32_t> numbers_;
    std::vector<std::uint16_t> short_numbers_, cell_numbers_;
    std::vector<Count> lanes_;
};

}  // namespace bestdag
