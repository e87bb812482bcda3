#include "kernels/family_counts.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels/bitwise.hpp"

namespace bestdag {

namespace {

constexpr std::size_t kChunk = 4096;            // rows whose cell numbers are made at a time
constexpr std::size_t kStopEvery = 1u << 18;    // rows between two looks at the stop flag
constexpr std::size_t kBitWords = 512;          // words of a bitmap handled at a time (L1)
constexpr std::size_t kMaxBitNodes = 256;       // more AND operations than this: histogram wins
constexpr std::size_t kPieceCells = 1u << 16;   // cells shown to the visitor at a time
constexpr double kMaxDenseCells = 1u << 26;

void check(const StopFlag& stop) {
    if (stop.load(std::memory_order_relaxed)) throw Interrupted();
}

// Run work(first, last) over pieces of 0 .. n, looking at the stop flag before each.
template <class Work>
void in_pieces(std::size_t n, const StopFlag& stop, const Work& work) {
    for (std::size_t first = 0; first < n; first += kStopEvery) {
        check(stop);
        work(first, std::min(n, first + kStopEvery));
    }
}

// cells[i] = cells[i] * arity + code of row (first + i).
void append_column(const Column& column, std::size_t first, std::size_t count,
                   std::uint32_t* cells) {
    const std::uint32_t arity = column.arity;
    if (column.narrow) {
        const std::uint8_t* codes = column.narrow + first;
        for (std::size_t i = 0; i < count; ++i) cells[i] = cells[i] * arity + codes[i];
    } else {
        const std::uint16_t* codes = column.wide + first;
        for (std::size_t i = 0; i < count; ++i) cells[i] = cells[i] * arity + codes[i];
    }
}

template <class Count>
Count weight_of(const Table& table, std::size_t row) {
    if constexpr (std::is_same_v<Count, std::int64_t>) return table.weights().whole[row];
    if constexpr (std::is_same_v<Count, double>) return table.weights().real[row];
    return Count{1};
}

template <class Count>
std::vector<Count>& cells_of(CountingSpace& space) {
    if constexpr (std::is_same_v<Count, std::int64_t>) {
        return space.cells64;
    } else if constexpr (std::is_same_v<Count, double>) {
        return space.cells_real;
    } else {
        return space.cells32;
    }
}

// ---- bitmaps -----------------------------------------------------------------------------------

// Number of AND operations per word; a large number when bitmaps are out of the question.
std::size_t bit_nodes(const Table& table, const Family& family) {
    std::size_t product = 1;
    std::size_t nodes = 0;
    for (const std::int32_t parent : family.parents) {
        product *= table.column(static_cast<std::size_t>(parent)).arity;
        nodes += product;
        if (nodes > kMaxBitNodes) return nodes;
    }
    return nodes + product * table.column(family.child).arity;
}

struct BitCounter {
    const Table& table;
    const Family& family;
    const Bitwise& ops;
    std::uint64_t* levels;
    std::size_t offset = 0;  // first word of the current piece
    std::size_t words = 0;   // its length

    // Adds to cells the counts of the rows in `prefix`, whose first `level` parents are fixed.
    void count(const std::uint64_t* prefix, std::size_t level, std::uint32_t*& cells) const {
        const std::size_t column = level < family.parents.size()
                                       ? static_cast<std::size_t>(family.parents[level])
                                       : family.child;
        const std::uint32_t arity = table.column(column).arity;
        const std::uint64_t* states = table.bitmaps(column) + offset;
        const std::size_t stride = table.n_words();
        if (level == family.parents.size()) {
            // The last state gets what the others leave.
            auto left = static_cast<std::uint32_t>(ops.count_common(prefix, prefix, words));
            for (std::uint32_t state = 0; state + 1 < arity; ++state) {
                const auto n = static_cast<std::uint32_t>(
                    ops.count_common(prefix, states + state * stride, words));
                *cells++ += n;
                left -= n;
            }
            *cells++ += left;
            return;
        }
        std::uint64_t* const next = levels + level * kBitWords;
        for (std::uint32_t state = 0; state < arity; ++state) {
            ops.intersect(prefix, states + state * stride, next, words);
            count(next, level + 1, cells);
        }
    }
};

void count_with_bitmaps(const Table& table, const Family& family, CountingSpace& space,
                        const StopFlag& stop, std::vector<std::uint32_t>& cells) {
    space.bit_levels.resize(std::max<std::size_t>(1, family.parents.size()) * kBitWords);
    BitCounter counter{table, family, bitwise(), space.bit_levels.data()};
    for (std::size_t offset = 0; offset < table.n_words(); offset += kBitWords) {
        if (offset % (kBitWords * 64) == 0) check(stop);
        counter.offset = offset;
        counter.words = std::min(kBitWords, table.n_words() - offset);
        std::uint32_t* out = cells.data();
        counter.count(table.all_rows() + offset, 0, out);
    }
}

// ---- histogram ---------------------------------------------------------------------------------

template <class Count>
void count_with_histogram(const Table& table, const Family& family, const StopFlag& stop,
                          std::vector<Count>& cells) {
    std::uint32_t numbers[kChunk];
    for (std::size_t first = 0; first < table.n_rows(); first += kChunk) {
        if (first % kStopEvery == 0) check(stop);
        const std::size_t count = std::min(kChunk, table.n_rows() - first);
        std::fill_n(numbers, count, 0u);
        for (const std::int32_t parent : family.parents) {
            append_column(table.column(static_cast<std::size_t>(parent)), first, count, numbers);
        }
        append_column(table.column(family.child), first, count, numbers);
        for (std::size_t i = 0; i < count; ++i) {
            cells[numbers[i]] += weight_of<Count>(table, first + i);
        }
    }
}

// ---- numbering of configurations ---------------------------------------------------------------

// Rows in order of their id: starts[g] .. starts[g + 1] are those of id g. The rows are taken in
// the order of `rows`, or as they come when that is empty.
void sort_rows_by_id(std::span<const std::uint32_t> ids, std::size_t n_ids, CountingSpace& space,
                     std::span<const std::uint32_t> rows, std::vector<std::uint32_t>& out,
                     const StopFlag& stop) {
    std::vector<std::uint32_t>& starts = space.starts;
    starts.assign(n_ids + 1, 0);
    in_pieces(ids.size(), stop, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) ++starts[ids[i] + 1];
    });
    for (std::size_t g = 0; g < n_ids; ++g) starts[g + 1] += starts[g];
    out.resize(ids.size());
    // Place each row, then shift the starts back.
    in_pieces(ids.size(), stop, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            const std::uint32_t row = rows.empty() ? static_cast<std::uint32_t>(i) : rows[i];
            out[starts[ids[row]]++] = row;
        }
    });
    for (std::size_t g = n_ids; g > 0; --g) starts[g] = starts[g - 1];
    starts[0] = 0;
}

// Split every group of rows by the codes of one more column, where few pairs (id, code) are
// possible: mark those that occur and number them in order.
std::size_t refine_by_marks(const Table& table, const Column& column, std::size_t n_slots,
                            CountingSpace& space, const StopFlag& stop) {
    std::vector<std::uint32_t>& ids = space.ids;
    std::vector<std::uint32_t>& marks = space.marks;
    marks.assign(n_slots, 0);
    in_pieces(table.n_rows(), stop, [&](std::size_t first, std::size_t last) {
        append_column(column, first, last - first, ids.data() + first);
        for (std::size_t i = first; i < last; ++i) marks[ids[i]] = 1;
    });
    std::uint32_t next = 0;
    for (std::uint32_t& mark : marks) {
        if (mark) mark = next++;
    }
    in_pieces(table.n_rows(), stop, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) ids[i] = marks[ids[i]];
    });
    return next;
}

// The same by two counting sorts, by code and then by id, and one walk over the sorted rows.
std::size_t refine_by_sorting(const Table& table, const Column& column, std::size_t n_ids,
                              CountingSpace& space, const StopFlag& stop) {
    std::vector<std::uint32_t>& ids = space.ids;
    std::vector<std::uint32_t>& codes = space.marks;
    codes.resize(table.n_rows());
    in_pieces(table.n_rows(), stop, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) codes[i] = column[i];
    });
    sort_rows_by_id(codes, column.arity, space, {}, space.order2, stop);
    sort_rows_by_id(ids, n_ids, space, space.order2, space.order, stop);
    std::uint32_t next = 0;
    std::uint32_t previous_id = ids[space.order[0]];
    std::uint32_t previous_code = codes[space.order[0]];
    in_pieces(table.n_rows(), stop, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            const std::uint32_t row = space.order[i];
            if (ids[row] != previous_id || codes[row] != previous_code) {
                previous_id = ids[row];
                previous_code = codes[row];
                ++next;
            }
            ids[row] = next;
        }
    });
    return next + std::size_t{1};
}

// Split every group of rows by one more column; ids stay in lexicographic order. Returns the new
// number of groups.
std::size_t refine(const Table& table, const Column& column, std::size_t n_ids,
                   CountingSpace& space, const StopFlag& stop) {
    const std::size_t n_slots = n_ids * column.arity;
    if (n_slots <= std::max<std::size_t>(1u << 16, 2 * table.n_rows())) {
        return refine_by_marks(table, column, n_slots, space, stop);
    }
    return refine_by_sorting(table, column, n_ids, space, stop);
}

// Show the table of counts piece by piece: configurations in order, as many as fit a piece.
template <class Count>
void visit_sorted(const Table& table, const Column& child, std::size_t n_ids, CountingSpace& space,
                  const StopFlag& stop, const CountVisitor<Count>& visit) {
    sort_rows_by_id(space.ids, n_ids, space, {}, space.order, stop);
    const std::size_t arity = child.arity;
    const std::size_t per_piece = std::max<std::size_t>(1, kPieceCells / arity);
    std::vector<Count>& cells = cells_of<Count>(space);
    std::vector<std::uint32_t> first_rows;
    for (std::size_t begin = 0; begin < n_ids; begin += per_piece) {
        check(stop);
        const std::size_t end = std::min(n_ids, begin + per_piece);
        cells.assign((end - begin) * arity, Count{0});
        first_rows.clear();
        for (std::size_t id = begin; id < end; ++id) {
            Count* const row_cells = cells.data() + (id - begin) * arity;
            first_rows.push_back(space.order[space.starts[id]]);
            for (std::size_t k = space.starts[id]; k < space.starts[id + 1]; ++k) {
                const std::uint32_t row = space.order[k];
                row_cells[child[row]] += weight_of<Count>(table, row);
            }
        }
        visit({cells, arity, first_rows.data()});
    }
}

}  // namespace

double n_configurations(const Table& table, const Family& family) noexcept {
    double q = 1.0;
    for (const std::int32_t parent : family.parents) {
        q *= table.column(static_cast<std::size_t>(parent)).arity;
    }
    return q;
}

template <class Count>
void visit_family_counts(const Table& table, const Family& family, CountingSpace& space,
                         bool may_build_bitmaps, const StopFlag& stop,
                         const CountVisitor<Count>& visit) {
    const Column& child = table.column(family.child);
    const double n_cells = n_configurations(table, family) * child.arity;
    const double n_rows = static_cast<double>(table.n_rows());
    if (n_cells <= std::min(std::max(4096.0, 2.0 * n_rows), kMaxDenseCells)) {
        std::vector<Count>& cells = cells_of<Count>(space);
        cells.assign(static_cast<std::size_t>(n_cells), Count{0});
        if constexpr (std::is_same_v<Count, std::uint32_t>) {
            if (may_build_bitmaps && bit_nodes(table, family) <= kMaxBitNodes) {
                count_with_bitmaps(table, family, space, stop, cells);
                visit({cells, child.arity});
                return;
            }
        }
        count_with_histogram<Count>(table, family, stop, cells);
        visit({cells, child.arity});
        return;
    }
    space.ids.assign(table.n_rows(), 0);
    std::size_t n_ids = 1;
    for (const std::int32_t parent : family.parents) {
        n_ids = refine(table, table.column(static_cast<std::size_t>(parent)), n_ids, space, stop);
    }
    visit_sorted<Count>(table, child, n_ids, space, stop, visit);
}

template void visit_family_counts<std::uint32_t>(const Table&, const Family&, CountingSpace&, bool,
                                                 const StopFlag&,
                                                 const CountVisitor<std::uint32_t>&);
template void visit_family_counts<std::int64_t>(const Table&, const Family&, CountingSpace&, bool,
                                                const StopFlag&,
                                                const CountVisitor<std::int64_t>&);
template void visit_family_counts<double>(const Table&, const Family&, CountingSpace&, bool,
                                          const StopFlag&, const CountVisitor<double>&);

}  // namespace bestdag
