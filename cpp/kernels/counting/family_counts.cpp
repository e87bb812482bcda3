#include "counting/family_counts.hpp"

#include <algorithm>
#include <type_traits>

#include "counting/count_type.hpp"

namespace bestdag {

namespace {

constexpr std::size_t kStopEvery = 1u << 16;  // rows between two looks at the stop flag

// Run work(first, last) over pieces of 0 .. n, looking at the stop flag before each.
template <class Work>
void in_stretches(std::size_t n, const StopFlag& stop, const Work& work) {
    for (std::size_t first = 0; first < n; first += kStopEvery) {
        check(stop);
        work(first, std::min(n, first + kStopEvery));
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

// Rows in order of their id: starts_[g] .. starts_[g + 1] are those of id g. The rows are taken in
// the order of `rows`, or as they come when that is empty.
template <class Count>
void FamilyCounter<Count>::sort_rows(std::span<const std::uint32_t> ids, std::size_t n_ids,
                                     std::span<const std::uint32_t> rows,
                                     std::vector<std::uint32_t>& out, const StopFlag& stop) {
    starts_.assign(n_ids + 1, 0);
    in_stretches(ids.size(), stop, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) ++starts_[ids[i] + 1];
    });
    in_stretches(n_ids, stop, [&](std::size_t first, std::size_t last) {
        for (std::size_t g = first; g < last; ++g) starts_[g + 1] += starts_[g];
    });
    out.resize(ids.size());
    // Place each row, then shift the starts back.
    in_stretches(ids.size(), stop, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            const std::uint32_t row = rows.empty() ? static_cast<std::uint32_t>(i) : rows[i];
            out[starts_[ids[row]]++] = row;
        }
    });
    std::copy_backward(starts_.begin(), starts_.end() - 1, starts_.end());
    starts_[0] = 0;
}

// Split every group of rows by the codes of one more column, where few pairs (id, code) are
// possible: mark those that occur and number them in order.
template <class Count>
std::size_t FamilyCounter<Count>::refine_by_marks(const Column& column, std::size_t n_slots,
                                                  const StopFlag& stop) {
    marks_.assign(n_slots, 0);
    in_stretches(table_.n_rows(), stop, [&](std::size_t first, std::size_t last) {
        append_codes<std::uint32_t>(column, first, {ids_.data() + first, last - first});
        for (std::size_t i = first; i < last; ++i) marks_[ids_[i]] = 1;
    });
    std::uint32_t next = 0;
    in_stretches(n_slots, stop, [&](std::size_t first, std::size_t last) {
        for (std::size_t slot = first; slot < last; ++slot) {
            if (marks_[slot]) marks_[slot] = next++;
        }
    });
    in_stretches(table_.n_rows(), stop, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) ids_[i] = marks_[ids_[i]];
    });
    return next;
}

// The same by two counting sorts, by code and then by id, and one walk over the sorted rows.
template <class Count>
std::size_t FamilyCounter<Count>::refine_by_sorting(const Column& column, std::size_t n_ids,
                                                    const StopFlag& stop) {
    std::vector<std::uint32_t>& codes = marks_;
    codes.resize(table_.n_rows());
    in_stretches(table_.n_rows(), stop, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) codes[i] = column[i];
    });
    sort_rows(codes, column.arity, {}, order2_, stop);
    sort_rows(ids_, n_ids, order2_, order_, stop);
    std::uint32_t next = 0;
    std::uint32_t previous_id = ids_[order_[0]];
    std::uint32_t previous_code = codes[order_[0]];
    in_stretches(table_.n_rows(), stop, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            const std::uint32_t row = order_[i];
            if (ids_[row] != previous_id || codes[row] != previous_code) {
                previous_id = ids_[row];
                previous_code = codes[row];
                ++next;
            }
            ids_[row] = next;
        }
    });
    return next + std::size_t{1};
}

// Split every group of rows by one more column; ids stay in lexicographic order. Returns the new
// number of groups.
template <class Count>
std::size_t FamilyCounter<Count>::refine(const Column& column, std::size_t n_ids,
                                         const StopFlag& stop) {
    const std::size_t n_slots = n_ids * column.arity;
    if (n_slots <= std::max<std::size_t>(1u << 16, 2 * table_.n_rows())) {
        return refine_by_marks(column, n_slots, stop);
    }
    return refine_by_sorting(column, n_ids, stop);
}

// Show the table of counts piece by piece: configurations in order, as many as fit a piece.
template <class Count>
void FamilyCounter<Count>::visit_sorted(const Column& child, std::size_t n_ids,
                                        const StopFlag& stop, const Visitor& visit) {
    sort_rows(ids_, n_ids, {}, order_, stop);
    const std::size_t arity = child.arity;
    const std::size_t per_piece = std::max<std::size_t>(1, kPieceCells / arity);
    std::vector<std::uint32_t> first_rows;
    for (std::size_t id = 0; id < n_ids;) {
        check(stop);
        cells_.clear();
        first_rows.clear();
        for (; id < n_ids && first_rows.size() < per_piece; ++id) {
            const std::size_t begin = cells_.size();
            cells_.resize(begin + arity, Count{0});
            Count total{0};
            for (std::size_t k = starts_[id]; k < starts_[id + 1]; ++k) {
                const std::uint32_t row = order_[k];
                const Count weight = weight_of<Count>(table_, row);
                cells_[begin + child[row]] += weight;
                total += weight;
            }
            if (total == Count{0}) {  // rows that weigh nothing are not seen
                cells_.resize(begin);
            } else {
                first_rows.push_back(order_[starts_[id]]);
            }
        }
        if (!first_rows.empty()) visit({cells_, arity, nullptr, first_rows.data(), &table_});
    }
}

template <class Count>
void FamilyCounter<Count>::visit(const Family& family, const StopFlag& stop, const Visitor& visit) {
    const Column& child = table_.column(family.child);
    if (is_dense(table_, n_configurations(table_, family) * child.arity)) {
        const auto candidate = static_cast<std::int32_t>(family.child);
        joint_.visit(
            family.parents, {&candidate, 1}, stop, [&](std::size_t, std::span<const Count> cells) {
                in_pieces(CountRows<Count>{cells, child.arity}, family.parents.size(), visit);
            });
        return;
    }
    ids_.assign(table_.n_rows(), 0);
    std::size_t n_ids = 1;
    for (const std::int32_t parent : family.parents) {
        n_ids = refine(table_.column(static_cast<std::size_t>(parent)), n_ids, stop);
    }
    visit_sorted(child, n_ids, stop, visit);
}

template class FamilyCounter<std::uint32_t>;
template class FamilyCounter<std::int64_t>;
template class FamilyCounter<double>;

}  // namespace bestdag
