#include "counting/partition_counter.hpp"

#include <algorithm>
#include <type_traits>

#include "counting/count_type.hpp"

namespace bestdag {

namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

// Call use(codes) with the codes of a column, of whichever width.
template <class Use>
void with_codes(const Column& column, const Use& use) {
    column.narrow ? use(column.narrow) : use(column.wide);
}

}  // namespace

template <class Count>
void PartitionCounter<Count>::split(std::span<const std::int32_t> columns, const StopFlag& stop) {
    std::size_t shared = 0;
    while (shared < std::min(depth_, columns.size()) && steps_[shared].column == columns[shared]) {
        ++shared;
    }
    depth_ = shared;
    if (steps_.size() < columns.size()) steps_.resize(columns.size());
    for (; depth_ < columns.size(); ++depth_) {
        check(stop);
        Step& step = steps_[depth_];
        const Column& column = table_.column(static_cast<std::size_t>(columns[depth_]));
        if (depth_ == 0) {
            step.parts.assign(table_.n_rows(), 0);
        } else {
            step.parts = steps_[depth_ - 1].parts;
        }
        const std::size_t n_slots = n_parts() * column.arity;
        append_codes<std::uint32_t>(column, 0, step.parts);
        marks_.assign(n_slots, 0);
        for (const std::uint32_t part : step.parts) marks_[part] = 1;
        std::uint32_t next = 0;
        for (std::uint32_t& mark : marks_) {
            if (mark) mark = next++;
        }
        for (std::uint32_t& part : step.parts) part = marks_[part];
        step.column = columns[depth_];
        step.n_parts = next;
    }
}

template <class Count>
CountRows<Count> PartitionCounter<Count>::count(std::int32_t last, std::size_t child,
                                                const StopFlag& stop) {
    check(stop);
    const Column& column = table_.column(static_cast<std::size_t>(last));
    const Column& child_column = table_.column(child);
    const std::size_t arity = child_column.arity;
    const std::size_t n_slots = n_parts() * column.arity;
    if (depth_ == 0) {
        slots_.assign(table_.n_rows(), 0);
    } else {
        slots_ = steps_[depth_ - 1].parts;
    }
    append_codes<std::uint32_t>(column, 0, slots_);
    cells_.assign(n_slots * arity, Count{0});
    data_rows_.assign(n_slots, kNone);
    with_codes(child_column, [&](const auto* codes) {
        for (std::size_t row = 0; row < slots_.size(); ++row) {
            data_rows_[slots_[row]] = static_cast<std::uint32_t>(row);
            cells_[slots_[row] * arity + codes[row]] += weight_of<Count>(table_, row);
        }
    });
    std::size_t n_seen = 0;
    for (std::size_t slot = 0; slot < n_slots; ++slot) {
        if (data_rows_[slot] == kNone) continue;
        if (slot != n_seen) {
            data_rows_[n_seen] = data_rows_[slot];
            std::copy_n(cells_.begin() + static_cast<std::ptrdiff_t>(slot * arity), arity,
                        cells_.begin() + static_cast<std::ptrdiff_t>(n_seen * arity));
        }
        ++n_seen;
    }
    return {{cells_.data(), n_seen * arity}, arity, nullptr, data_rows_.data(), &table_};
}

template class PartitionCounter<std::uint32_t>;
template class PartitionCounter<std::int64_t>;
template class PartitionCounter<double>;

}  // namespace bestdag
