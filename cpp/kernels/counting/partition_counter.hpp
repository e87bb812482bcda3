// Counts of families that share most of their parents, from one partition of the rows: for sets
// with so many configurations that most never occur.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "counting/family_counts.hpp"
#include "counting/table.hpp"

namespace bestdag {

// One thread's counter.
template <class Count>
class PartitionCounter {
public:
    explicit PartitionCounter(const Table& table) : table_(table) {}

    // Number the rows by their configuration of these columns, in lexicographic order. Fast when
    // the columns begin like those of the call before.
    void split(std::span<const std::int32_t> columns, const StopFlag& stop);

    // Configurations that occur.
    std::size_t n_parts() const noexcept { return depth_ == 0 ? 1 : steps_[depth_ - 1].n_parts; }

    // The counts of the child given (columns..., last), of the configurations that occur; valid
    // until the next call. Needs memory for n_parts() * (arity of last) * (arity of child) cells.
    CountRows<Count> count(std::int32_t last, std::size_t child, const StopFlag& stop);

private:
    struct Step {
        std::int32_t column;
        std::size_t n_parts;
        std::vector<std::uint32_t> parts;  // of each row
    };

    const Table& table_;
    std::vector<Step> steps_;  // after each column
    std::size_t depth_ = 0;    // how many of them hold
    std::vector<std::uint32_t> slots_, marks_, data_rows_;
    std::vector<Count> cells_;
};

}  // namespace bestdag
