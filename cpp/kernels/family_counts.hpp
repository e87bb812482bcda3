// Counts of one family: how often each state of a child occurs with each parent configuration.
//
// Three ways, one result. Small tables: bitmaps of rows, AND and popcount. Middling ones: a
// histogram over all cells. Large products of arities: the rows are numbered by their parent
// configuration, parent by parent, so memory follows the rows and never the product.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernels/parallel.hpp"
#include "kernels/table.hpp"

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
    // Some row of the data with the i-th configuration; nullptr when every one of the q
    // configurations is there, in order, so that i is its number.
    const std::uint32_t* data_rows = nullptr;
};

// Buffers kept by one thread from family to family.
struct CountingSpace {
    std::vector<std::uint32_t> ids;        // configuration number of each row
    std::vector<std::uint32_t> marks;      // renumbering of configurations
    std::vector<std::uint32_t> order;      // rows by configuration
    std::vector<std::uint32_t> order2;     // the same, while sorting
    std::vector<std::uint32_t> starts;     // where each configuration's rows begin
    std::vector<std::uint32_t> cells32;    // counts, unweighted
    std::vector<std::int64_t> cells64;     // counts, whole weights
    std::vector<double> cells_real;        // counts, real weights
    std::vector<std::uint64_t> bit_levels; // prefix bitmaps, one per parent
};

// Gets consecutive pieces of the table of counts, in order. Count is std::uint32_t without
// weights, std::int64_t with whole and double with real ones.
template <class Count>
using CountVisitor = std::function<void(const CountRows<Count>&)>;

template <class Count>
void visit_family_counts(const Table& table, const Family& family, CountingSpace& space,
                         bool may_build_bitmaps, const StopFlag& stop,
                         const CountVisitor<Count>& visit);

}  // namespace bestdag
