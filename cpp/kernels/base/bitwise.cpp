#include "base/bitwise.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cstring>

namespace bestdag {

namespace {

void intersect(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* out,
               std::size_t words) {
    for (std::size_t i = 0; i < words; ++i) out[i] = a[i] & b[i];
}

std::uint64_t count_common(const std::uint64_t* a, const std::uint64_t* b, std::size_t words) {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < words; ++i) {
        total += static_cast<std::uint64_t>(std::popcount(a[i] & b[i]));
    }
    return total;
}

void count_states(const std::uint64_t* prefix, const std::uint64_t* states, std::size_t stride,
                  std::size_t n_states, std::size_t words, std::uint32_t* out) {
    for (std::size_t s = 0; s < n_states; ++s) {
        out[s] += static_cast<std::uint32_t>(count_common(prefix, states + s * stride, words));
    }
}

// Eight codes at a time: bytes that are equal become zero, zero bytes become single bits.
void mark_equal(const std::uint8_t* codes, std::uint8_t code, std::size_t words,
                std::uint64_t* out) {
    constexpr std::uint64_t kLow = 0x7f7f7f7f7f7f7f7fu;
    const std::uint64_t wanted = code * std::uint64_t{0x0101010101010101u};
    for (std::size_t w = 0; w < words; ++w) {
        std::uint64_t bits = 0;
        for (std::size_t k = 0; k < 8; ++k, codes += 8) {
            std::uint64_t some = 0;
            for (std::size_t i = 0; i < 8; ++i) some |= std::uint64_t{codes[i]} << 8 * i;
            const std::uint64_t other = some ^ wanted;
            const std::uint64_t equal = ~(((other & kLow) + kLow) | other | kLow) >> 7;
            bits |= (equal * 0x0102040810204080u >> 56) << 8 * k;
        }
        out[w] = bits;
    }
}

constexpr Bitwise kPortable{"portable", intersect, count_common, count_states, mark_equal, 2.5};

struct Sets {
    std::array<const Bitwise*, 3> sets{};
    std::size_t count = 0;

    Sets() noexcept {
        sets[count++] = &kPortable;
#if defined(__x86_64__)
        __builtin_cpu_init();
        const Bitwise* avx2 = detail::bitwise_avx2();
        if (avx2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) {
            sets[count++] = avx2;
        }
        const Bitwise* avx512 = detail::bitwise_avx512();
        if (avx512 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vpopcntdq")) {
            sets[count++] = avx512;
        }
#endif
    }
};

const Sets& available() noexcept {
    static const Sets sets;
    return sets;
}

std::atomic<const Bitwise*>& chosen() noexcept {
    static std::atomic<const Bitwise*> current{available().sets[available().count - 1]};
    return current;
}

}  // namespace

const Bitwise& bitwise() noexcept { return *chosen().load(std::memory_order_relaxed); }

const Bitwise* const* bitwise_sets(std::size_t& count) noexcept {
    count = available().count;
    return available().sets.data();
}

bool choose_bitwise(const char* name) noexcept {
    for (std::size_t i = 0; i < available().count; ++i) {
        if (std::strcmp(available().sets[i]->name, name) == 0) {
            chosen() = available().sets[i];
            return true;
        }
    }
    return false;
}

}  // namespace bestdag
