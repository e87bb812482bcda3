// Entered only where the processor has AVX-512 with popcount; empty on other machines.
#include "base/bitwise.hpp"

#if defined(__AVX512VPOPCNTDQ__) && defined(__AVX512F__)

#include <immintrin.h>

namespace bestdag {

namespace {

__mmask8 tail_mask(std::size_t words) { return static_cast<__mmask8>((1u << (words & 7)) - 1u); }

void intersect(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* out,
               std::size_t words) {
    std::size_t i = 0;
    for (; i + 8 <= words; i += 8) {
        _mm512_storeu_si512(out + i,
                            _mm512_and_si512(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i)));
    }
    if (i < words) {
        const __mmask8 mask = tail_mask(words);
        _mm512_mask_storeu_epi64(out + i, mask,
                                 _mm512_and_si512(_mm512_maskz_loadu_epi64(mask, a + i),
                                                  _mm512_maskz_loadu_epi64(mask, b + i)));
    }
}

std::uint64_t count_common(const std::uint64_t* a, const std::uint64_t* b, std::size_t words) {
    __m512i even = _mm512_setzero_si512();
    __m512i odd = _mm512_setzero_si512();
    std::size_t i = 0;
    for (; i + 16 <= words; i += 16) {
        even = _mm512_add_epi64(even, _mm512_popcnt_epi64(_mm512_and_si512(
                                          _mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i))));
        odd = _mm512_add_epi64(
            odd, _mm512_popcnt_epi64(_mm512_and_si512(_mm512_loadu_si512(a + i + 8),
                                                      _mm512_loadu_si512(b + i + 8))));
    }
    for (; i < words; i += 8) {
        const __mmask8 mask = words - i >= 8 ? __mmask8{0xff} : tail_mask(words);
        even = _mm512_add_epi64(
            even, _mm512_popcnt_epi64(_mm512_and_si512(_mm512_maskz_loadu_epi64(mask, a + i),
                                                       _mm512_maskz_loadu_epi64(mask, b + i))));
    }
    return static_cast<std::uint64_t>(_mm512_reduce_add_epi64(_mm512_add_epi64(even, odd)));
}

__m512i load_some(const std::uint64_t* p, __mmask8 mask) {
    return _mm512_maskz_loadu_epi64(mask, p);
}

// Several states at once share the loads of the prefix.
template <std::size_t kStates>
void count_some_states(const std::uint64_t* prefix, const std::uint64_t* states, std::size_t stride,
                       std::size_t words, std::uint32_t* out) {
    __m512i sums[kStates];
    for (std::size_t s = 0; s < kStates; ++s) sums[s] = _mm512_setzero_si512();
    std::size_t i = 0;
    for (; i + 8 <= words; i += 8) {
        const __m512i p = _mm512_loadu_si512(prefix + i);
        for (std::size_t s = 0; s < kStates; ++s) {
            const __m512i both = _mm512_and_si512(p, _mm512_loadu_si512(states + s * stride + i));
            sums[s] = _mm512_add_epi64(sums[s], _mm512_popcnt_epi64(both));
        }
    }
    if (i < words) {
        const __mmask8 mask = tail_mask(words);
        const __m512i p = load_some(prefix + i, mask);
        for (std::size_t s = 0; s < kStates; ++s) {
            const __m512i both = _mm512_and_si512(p, load_some(states + s * stride + i, mask));
            sums[s] = _mm512_add_epi64(sums[s], _mm512_popcnt_epi64(both));
        }
    }
    for (std::size_t s = 0; s < kStates; ++s) {
        out[s] += static_cast<std::uint32_t>(_mm512_reduce_add_epi64(sums[s]));
    }
}

void count_states(const std::uint64_t* prefix, const std::uint64_t* states, std::size_t stride,
                  std::size_t n_states, std::size_t words, std::uint32_t* out) {
    std::size_t s = 0;
    for (; s + 4 <= n_states; s += 4) {
        count_some_states<4>(prefix, states + s * stride, stride, words, out + s);
    }
    const std::uint64_t* const rest = states + s * stride;
    switch (n_states - s) {
        case 3:
            return count_some_states<3>(prefix, rest, stride, words, out + s);
        case 2:
            return count_some_states<2>(prefix, rest, stride, words, out + s);
        case 1:
            return count_some_states<1>(prefix, rest, stride, words, out + s);
        default:
            return;
    }
}

void mark_equal(const std::uint8_t* codes, std::uint8_t code, std::size_t words,
                std::uint64_t* out) {
    const __m512i wanted = _mm512_set1_epi8(static_cast<char>(code));
    for (std::size_t w = 0; w < words; ++w) {
        out[w] = _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(codes + 64 * w), wanted);
    }
}

constexpr Bitwise kAvx512{"avx512", intersect, count_common, count_states, mark_equal, 16.0};

}  // namespace

namespace detail {
const Bitwise* bitwise_avx512() noexcept { return &kAvx512; }
}  // namespace detail

}  // namespace bestdag

#else

namespace bestdag::detail {
const Bitwise* bitwise_avx512() noexcept { return nullptr; }
}  // namespace bestdag::detail

#endif
