// Many families in flat arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "counting/family_counts.hpp"

namespace bestdag {

// Family i is children[i] with parents[offsets[i] .. offsets[i + 1]), ascending. offsets has one
// entry more than children.
struct FamilyList {
    std::span<const std::int32_t> children;
    std::span<const std::int64_t> offsets;
    std::span<const std::int32_t> parents;

    std::size_t size() const noexcept { return children.size(); }
    Family operator[](std::size_t i) const noexcept {
        const auto first = static_cast<std::size_t>(offsets[i]);
        const auto last = static_cast<std::size_t>(offsets[i + 1]);
        return {static_cast<std::size_t>(children[i]), parents.subspan(first, last - first)};
    }
};

}  // namespace bestdag
