// The kind of counts a table has, and what a row adds to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "counting/table.hpp"

namespace bestdag {

// Call use(Count{}): uint32 without weights, int64 with whole and double with real ones.
template <class Use>
void with_count_type(const Table& table, const Use& use) {
    if (table.weights().real) {
        use(double{});
    } else if (table.weights().whole) {
        use(std::int64_t{});
    } else {
        use(std::uint32_t{});
    }
}

// What a row adds to counts of this kind.
template <class Count>
Count weight_of(const Table& table, std::size_t row) {
    if constexpr (std::is_same_v<Count, std::int64_t>) return table.weights().whole[row];
    if constexpr (std::is_same_v<Count, double>) return table.weights().real[row];
    return Count{1};
}

}  // namespace bestdag
