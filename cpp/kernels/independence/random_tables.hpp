// Random tables of counts with given row and column sums, as shuffling one column gives them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/philox.hpp"

namespace bestdag {

// Random numbers that are a function of a key alone.
class RandomStream {
public:
    explicit RandomStream(PhiloxKey key) : key_(key) {}

    double uniform() noexcept {  // in (0, 1)
        if (place_ == 4) {
            block_ = philox4x64(key_, counter_++);
            place_ = 0;
        }
        return (static_cast<double>(block_[place_++] >> 11) + 0.5) * 0x1p-53;
    }

    // How many numbers were drawn; and going on after so many.
    std::uint64_t n_drawn() const noexcept { return 4 * counter_ + place_ - 4; }
    void skip_to(std::uint64_t n_drawn) noexcept {
        counter_ = (n_drawn + 3) / 4;
        place_ = static_cast<std::size_t>(n_drawn + 4 - 4 * counter_);
        if (counter_ > 0) block_ = philox4x64(key_, counter_ - 1);
    }

private:
    PhiloxKey key_;
    PhiloxBlock block_{};
    std::uint64_t counter_ = 0;
    std::size_t place_ = 4;
};

// How many of `marked` among `marked + plain` things are in a random choice of `chosen` of them.
// `choice` in (0, 1) decides. Requires chosen <= marked + plain.
std::int64_t hypergeometric(std::int64_t marked, std::int64_t plain, std::int64_t chosen,
                            double choice) noexcept;

// Draw a table, row-major, with these sums (Patefield 1981); the sums of both are equal. `left` is
// room for as many numbers as there are columns.
void draw_table(std::span<const std::int64_t> row_sums, std::span<const std::int64_t> column_sums,
                RandomStream& random, std::span<std::int64_t> left,
                std::span<std::int64_t> table) noexcept;

}  // namespace bestdag
