// The kind of counts a table has.
#pragma once

#include <cstdint>

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

}  // namespace bestdag
