// Operations on bitmaps of rows, in the widest vectors this processor has.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bestdag {

struct Bitwise {
    const char* name;  // "portable", "avx2" or "avx512"
    // out = a AND b over `words` words; out may be a or b.
    void (*intersect)(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* out,
                      std::size_t words);
    // Number of bits set in a AND b.
    std::uint64_t (*count_common)(const std::uint64_t* a, const std::uint64_t* b,
                                  std::size_t words);
    // out[s] += number of bits set in prefix AND state s, for n_states bitmaps `stride` apart.
    void (*count_states)(const std::uint64_t* prefix, const std::uint64_t* states,
                         std::size_t stride, std::size_t n_states, std::size_t words,
                         std::uint32_t* out);
    // out: bit t of word w tells whether codes[64 w + t] is `code`, over `words` words.
    void (*mark_equal)(const std::uint8_t* codes, std::uint8_t code, std::size_t words,
                       std::uint64_t* out);
    // AND operations on words per nanosecond, roughly: what a bitmap costs against a histogram.
    double words_per_nanosecond;
};

// The best set for this processor, chosen on first use.
const Bitwise& bitwise() noexcept;

// Every set this processor can run, slowest first; `count` receives how many.
const Bitwise* const* bitwise_sets(std::size_t& count) noexcept;

// Use the set of this name until the process ends (tests and measurements); false if unknown here.
bool choose_bitwise(const char* name) noexcept;

namespace detail {
const Bitwise* bitwise_avx2() noexcept;    // nullptr where not compiled in
const Bitwise* bitwise_avx512() noexcept;  // nullptr where not compiled in
}  // namespace detail

}  // namespace bestdag
