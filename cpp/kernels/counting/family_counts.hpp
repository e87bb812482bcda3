// Counts of one family: how often each state of a child occurs with each parent configuration.
//
// Where all cells fit, they come from JointCounter (bitmaps or a histogram). Large products of
// arities: the rows are numbered by their parent configuration, parent by parent, and sorted, so
// memory follows the rows and never the product.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "counting/joint_counts.hpp"
#include "counting/table.hpp"

namespace bestdag {

struct Family {
    std::size_t child;
    std::span<const std::int32_t> parents;  // ascending column numbers, without the child
};

// Number of parent configurations, seen or not; a double because it may exceed 2^64.
double n_configurations(const Table& table, const Family& family) noexcept;

// Some rows of a family's table of counts: row-major, `arity` cells per parent configuration, in
// lexicographic order of the parents' codes. Rows of zeros may occur.
template <class Count>
struct CountRows {
    std::span<const Count> cells;
    std::size_t arity;
    // Where the parents' codes are: those of the i-th row are `n_parents` in a row here,
    const std::uint16_t* codes = nullptr;
    // or those of this row of the data,
    const std::uint32_t* data_rows = nullptr;
    const Table* data = nullptr;
    // or, without either, every one of the q configurations is there, in order, from this one on.
    std::size_t first = 0;

    // Some of the rows.
    CountRows part(std::size_t begin, std::size_t count, std::size_t n_parents) const noexcept {
        return {cells.subspan(begin * arity, count * arity),
                arity,
                codes ? codes + begin * n_parents : nullptr,
                data_rows ? data_rows + begin : nullptr,
                data,
                first + begin};
    }
};

// Scores are sums over pieces of so many cells of rows that are not all zero: how the rows were
// counted then has no influence on the sum.
inline constexpr std::size_t kPieceCells = 1u << 16;

// Run use(piece) over such pieces of a whole table of counts.
template <class Count, class Use>
void in_pieces(const CountRows<Count>& counts, std::size_t n_parents, const Use& use) {
    if (counts.cells.size() <= kPieceCells) {
        use(counts);
        return;
    }
    const std::size_t n_rows = counts.cells.size() / counts.arity;
    const std::size_t per_piece = std::max<std::size_t>(1, kPieceCells / counts.arity);
    std::size_t begin = 0;
    std::size_t n_seen = 0;
    for (std::size_t row = 0; row < n_rows; ++row) {
        const auto cells = counts.cells.subspan(row * counts.arity, counts.arity);
        if (std::all_of(cells.begin(), cells.end(), [](Count n) { return n == Count{0}; })) {
            continue;
        }
        if (n_seen == per_piece) {
            use(counts.part(begin, row - begin, n_parents));
            begin = row;
            n_seen = 0;
        }
        ++n_seen;
    }
    use(counts.part(begin, n_rows - begin, n_parents));
}

// One thread's counter. Count is the table's: std::uint32_t without weights, std::int64_t with
// whole and double with real ones.
template <class Count>
class FamilyCounter {
public:
    // Gets consecutive pieces of the table of counts, in order.
    using Visitor = std::function<void(const CountRows<Count>&)>;

    FamilyCounter(const Table& table, bool use_bitmaps)
        : table_(table), joint_(table, use_bitmaps) {}

    void visit(const Family& family, const StopFlag& stop, const Visitor& visit);

private:
    std::size_t refine(const Column& column, std::size_t n_ids, const StopFlag& stop);
    std::size_t refine_by_marks(const Column& column, std::size_t n_slots, const StopFlag& stop);
    std::size_t refine_by_sorting(const Column& column, std::size_t n_ids, const StopFlag& stop);
    void sort_rows(std::span<const std::uint32_t> ids, std::size_t n_ids,
                   std::span<const std::uint32_t> rows, std::vector<std::uint32_t>& out,
                   const StopFlag& stop);
    void visit_sorted(const Column& child, std::size_t n_ids, const StopFlag& stop,
                      const Visitor& visit);

    const Table& table_;
    JointCounter<Count> joint_;
    std::vector<std::uint32_t> ids_;     // configuration number of each row
    std::vector<std::uint32_t> marks_;   // renumbering of configurations, or codes while sorting
    std::vector<std::uint32_t> order_;   // rows by configuration
    std::vector<std::uint32_t> order2_;  // the same, while sorting
    std::vector<std::uint32_t> starts_;  // where each configuration's rows begin
    std::vector<Count> cells_;
};

}  // namespace bestdag
