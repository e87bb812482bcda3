// Philox4x64-10: a random number generator without state. The numbers are a function of a key and
// a counter alone, so any part of a stream can be had without the parts before it.
//
// Salmon, Moraes, Dror and Shaw (2011). "Parallel random numbers: as easy as 1, 2, 3." SC '11.
#pragma once

#include <array>
#include <cstdint>

namespace bestdag {

using PhiloxKey = std::array<std::uint64_t, 2>;
using PhiloxBlock = std::array<std::uint64_t, 4>;

// The four numbers that belong to the counter (low, 0, 0, 0).
inline PhiloxBlock philox4x64(PhiloxKey key, std::uint64_t low) noexcept {
    __extension__ using Wide = unsigned __int128;
    constexpr std::uint64_t kMultiplier0 = 0xD2E7470EE14C6C93;
    constexpr std::uint64_t kMultiplier1 = 0xCA5A826395121157;
    constexpr std::uint64_t kWeyl0 = 0x9E3779B97F4A7C15;
    constexpr std::uint64_t kWeyl1 = 0xBB67AE8584CAA73B;

    PhiloxBlock x{low, 0, 0, 0};
    for (int round = 0; round < 10; ++round) {
        const Wide product0 = static_cast<Wide>(kMultiplier0) * x[0];
        const Wide product1 = static_cast<Wide>(kMultiplier1) * x[2];
        x = {static_cast<std::uint64_t>(product1 >> 64) ^ x[1] ^ key[0],
             static_cast<std::uint64_t>(product1),
             static_cast<std::uint64_t>(product0 >> 64) ^ x[3] ^ key[1],
             static_cast<std::uint64_t>(product0)};
        key[0] += kWeyl0;
        key[1] += kWeyl1;
    }
    return x;
}

}  // namespace bestdag
