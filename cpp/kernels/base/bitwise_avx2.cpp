// Entered only where the processor has AVX2; empty on other machines.
#include "base/bitwise.hpp"

#if defined(__AVX2__)

#include <immintrin.h>

#include <bit>

namespace bestdag {

namespace {

__m256i load(const std::uint64_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

void intersect(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* out,
               std::size_t words) {
    std::size_t i = 0;
    for (; i + 4 <= words; i += 4) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                            _mm256_and_si256(load(a + i), load(b + i)));
    }
    for (; i < words; ++i) out[i] = a[i] & b[i];
}

// Bits per 64-bit lane by a table of 16 nibbles (Mula, Kurz and Lemire 2018, section 3.1).
__m256i lane_counts(__m256i v) {
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                                           0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i nibble = _mm256_set1_epi8(0x0f);
    const __m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256(v, nibble));
    const __m256i high =
        _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble));
    return _mm256_sad_epu8(_mm256_add_epi8(low, high), _mm256_setzero_si256());
}

std::uint64_t count_common(const std::uint64_t* a, const std::uint64_t* b, std::size_t words) {
    __m256i sums = _mm256_setzero_si256();
    std::size_t i = 0;
    for (; i + 4 <= words; i += 4) {
        sums = _mm256_add_epi64(sums, lane_counts(_mm256_and_si256(load(a + i), load(b + i))));
    }
    alignas(32) std::uint64_t lanes[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), sums);
    std::uint64_t total = lanes[0] + lanes[1] + lanes[2] + lanes[3];
    for (; i < words; ++i) total += static_cast<std::uint64_t>(std::popcount(a[i] & b[i]));
    return total;
}

void count_states(const std::uint64_t* prefix, const std::uint64_t* states, std::size_t stride,
                  std::size_t n_states, std::size_t words, std::uint32_t* out) {
    for (std::size_t s = 0; s < n_states; ++s) {
        out[s] += static_cast<std::uint32_t>(count_common(prefix, states + s * stride, words));
    }
}

void mark_equal(const std::uint8_t* codes, std::uint8_t code, std::size_t words,
                std::uint64_t* out) {
    const __m256i wanted = _mm256_set1_epi8(static_cast<char>(code));
    const auto half = [&](const std::uint8_t* at) {
        const __m256i some = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
        const __m256i equal = _mm256_cmpeq_epi8(some, wanted);
        return static_cast<std::uint32_t>(_mm256_movemask_epi8(equal));
    };
    for (std::size_t w = 0; w < words; ++w, codes += 64) {
        out[w] = half(codes) | static_cast<std::uint64_t>(half(codes + 32)) << 32;
    }
}

constexpr Bitwise kAvx2{"avx2", intersect, count_common, count_states, mark_equal, 6.0};

}  // namespace

namespace detail {
const Bitwise* bitwise_avx2() noexcept { return &kAvx2; }
}  // namespace detail

}  // namespace bestdag

#else

namespace bestdag::detail {
const Bitwise* bitwise_avx2() noexcept { return nullptr; }
}  // namespace bestdag::detail

#endif
