// The inner loops of the dynamic program over subsets, for one block of 2^bits subsets and one
// width of register. Included by one file per instruction set; the widths differ, so do the types.
//
// Values are whole numbers of units in [0, limit]; `limit` means "no better than the incumbent".
// limit <= CellTraits<T>::kMaxLimit, so the sum of any two values is exact and cannot overflow.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bestdag {

template <class T>
struct CellTraits;

template <>
struct CellTraits<std::uint32_t> {
    using Index = std::uint32_t;
    static constexpr double kMaxLimit = 2147483647.0;  // 2^31 - 1
};

template <>
struct CellTraits<double> {
    using Index = std::uint64_t;
    static constexpr double kMaxLimit = 2251799813685247.0;  // 2^51 - 1: sums are exact integers
};

// A candidate parent set as one block sees it: its members among the block's own variables.
template <class T>
struct PlacedSet {
    std::uint32_t low;
    T cost;
};

// The loops over one block, in registers of one width. All arrays are aligned to 64 bytes.
template <class T>
struct BlockLoops {
    const char* name;  // as in bitwise.hpp
    int lane_bits;     // a register holds 2^lane_bits cells; a block has at least that many

    // scratch[s] = min(scratch[s], cost) for the cells s that contain `low` and differ from it in
    // the lowest lane_bits bits only.
    void (*place)(T* scratch, const PlacedSet<T>* sets, std::size_t n_sets);

    // out[s] = min(base[s], min over subsets r of s of what was placed in r); scratch is `limit`
    // everywhere afterwards.
    void (*close)(T* out, const T* base, T* scratch, int bits, T limit);

    // The recursion R(S) = min over v in S of R(S \ v) + best_v(S \ v), at most limit, for all S
    // of a block: before[i] and above[i] are R and best of the i-th variable above the block that
    // is in S; within[b] is best of the block's variable b. `order` lists the registers of a
    // block, subsets first.
    void (*advance)(T* block, const T* const* before, const T* const* above, std::size_t n_above,
                    const T* const* within, int bits, const std::uint16_t* order, T limit);

    // cells[s] = min over subsets r of s of cells[r], for the 2^bits cells of a block.
    void (*close_in_place)(T* cells, int bits);

    // out[i] = min(a[i], b[i]); n is a multiple of 2^lane_bits.
    void (*smaller)(T* out, const T* a, const T* b, std::size_t n);

    // out[i] = min(out[i], the cost of score i in whole units, at most limit): best - score, times
    // units per nat, rounded down. A score of minus infinity, or not a number, costs limit.
    void (*lower)(T* out, const double* scores, double best, double units, T limit, std::size_t n);
};

namespace detail {

// Orders in which to add the variables inside a register: every permutation of them is a
// subsequence, so one walk along it reaches the best of all orders (checked by kernel_checks).
inline constexpr int kLaneOrder1[] = {0};
inline constexpr int kLaneOrder2[] = {0, 1, 0};
inline constexpr int kLaneOrder3[] = {0, 1, 0, 2, 0, 1, 0};
inline constexpr int kLaneOrder4[] = {0, 1, 2, 3, 0, 1, 2, 0, 3, 1, 0, 2};

template <class T, int kBytes>
struct Loops {
    using Index = typename CellTraits<T>::Index;
    typedef T V __attribute__((vector_size(kBytes), may_alias));
    typedef Index I __attribute__((vector_size(kBytes), may_alias));

    static constexpr int kLanes = kBytes / static_cast<int>(sizeof(T));
    static constexpr int kLaneBits = kLanes == 2 ? 1 : kLanes == 4 ? 2 : kLanes == 8 ? 3 : 4;
    static_assert(kLanes == 1 << kLaneBits);

    static V smaller(V a, V b) { return a < b ? a : b; }

    static V all(T value) {
        V out;
        for (int i = 0; i < kLanes; ++i) out[i] = value;
        return out;
    }

    static I lanes() {
        I out;
        for (int i = 0; i < kLanes; ++i) out[i] = static_cast<Index>(i);
        return out;
    }

    // Lane i of the result is lane i xor 2^kBit.
    template <int kBit>
    static V exchange(V v) {
        constexpr int x = 1 << kBit;
#if defined(__clang__)
        if constexpr (kLanes == 2) {
            return __builtin_shufflevector(v, v, 1, 0);
        } else if constexpr (kLanes == 4) {
            return __builtin_shufflevector(v, v, 0 ^ x, 1 ^ x, 2 ^ x, 3 ^ x);
        } else if constexpr (kLanes == 8) {
            return __builtin_shufflevector(v, v, 0 ^ x, 1 ^ x, 2 ^ x, 3 ^ x, 4 ^ x, 5 ^ x, 6 ^ x,
                                           7 ^ x);
        } else {
            return __builtin_shufflevector(v, v, 0 ^ x, 1 ^ x, 2 ^ x, 3 ^ x, 4 ^ x, 5 ^ x, 6 ^ x,
                                           7 ^ x, 8 ^ x, 9 ^ x, 10 ^ x, 11 ^ x, 12 ^ x, 13 ^ x,
                                           14 ^ x, 15 ^ x);
        }
#else
        return __builtin_shuffle(v, lanes() ^ static_cast<Index>(x));
#endif
    }

    static V* registers(T* p) { return reinterpret_cast<V*>(p); }
    static const V* registers(const T* p) { return reinterpret_cast<const V*>(p); }

    static void place(T* scratch, const PlacedSet<T>* sets, std::size_t n_sets) {
        const I numbers = lanes();
        const V never = all(static_cast<T>(2.0 * CellTraits<T>::kMaxLimit));
        for (std::size_t i = 0; i < n_sets; ++i) {
            const Index within = sets[i].low & (kLanes - 1);
            V& cells = registers(scratch)[sets[i].low >> kLaneBits];
            cells = smaller(cells, (~numbers & within) == 0 ? all(sets[i].cost) : never);
        }
    }

    // kLevels rounds of the transform at once, on registers `stride` apart.
    template <int kLevels, bool kLast>
    static void pass(V* scratch, V* out, const V* base, std::size_t stride, std::size_t n,
                     V limit) {
        constexpr std::size_t kSize = std::size_t{1} << kLevels;
        for (std::size_t start = 0; start < n; start += stride * kSize) {
            for (std::size_t i = start; i < start + stride; ++i) {
                V r[kSize];
                for (std::size_t k = 0; k < kSize; ++k) r[k] = scratch[i + k * stride];
                for (std::size_t bit = 1; bit < kSize; bit *= 2) {
                    for (std::size_t k = 0; k < kSize; ++k) {
                        if (k & bit) r[k] = smaller(r[k], r[k ^ bit]);
                    }
                }
                for (std::size_t k = 0; k < kSize; ++k) {
                    const std::size_t at = i + k * stride;
                    if constexpr (kLast) {
                        out[at] = smaller(base[at], r[k]);
                        scratch[at] = limit;
                    } else {
                        scratch[at] = r[k];
                    }
                }
            }
        }
    }

    static void close(T* out, const T* base, T* scratch, int bits, T limit) {
        const std::size_t n = std::size_t{1} << (bits - kLaneBits);
        V* const s = registers(scratch);
        V* const o = registers(out);
        const V* const b = registers(base);
        const V worst = all(limit);
        std::size_t stride = 1;
        int levels = bits - kLaneBits;
        for (; levels > 3; levels -= 3, stride *= 8) pass<3, false>(s, o, b, stride, n, worst);
        switch (levels) {
            case 3:
                return pass<3, true>(s, o, b, stride, n, worst);
            case 2:
                return pass<2, true>(s, o, b, stride, n, worst);
            case 1:
                return pass<1, true>(s, o, b, stride, n, worst);
            default:
                return pass<0, true>(s, o, b, stride, n, worst);
        }
    }

    template <std::size_t kCount, bool kFirst>
    static void from_above(V* block, const T* const* before, const T* const* above, std::size_t n,
                           V limit) {
        for (std::size_t i = 0; i < n; ++i) {
            V cells = kFirst ? limit : block[i];
            for (std::size_t k = 0; k < kCount; ++k) {
                cells = smaller(cells, registers(before[k])[i] + registers(above[k])[i]);
            }
            block[i] = cells;
        }
    }

    // One step inside a register: the subsets with variable kBit from those without.
    template <int kBit>
    static V add_variable(V cells, const V* steps) {
        return smaller(cells, exchange<kBit>(cells) + steps[kBit]);
    }

    template <int kBit>
    static V step(V best, V limit) {
        const I numbers = lanes();
        return (numbers & static_cast<Index>(1 << kBit)) != 0 ? exchange<kBit>(best) : limit;
    }

    static V inside(V cells, const T* const* within, std::size_t at, V limit) {
        V steps[kLaneBits];
        steps[0] = step<0>(registers(within[0])[at], limit);
        if constexpr (kLaneBits > 1) steps[1] = step<1>(registers(within[1])[at], limit);
        if constexpr (kLaneBits > 2) steps[2] = step<2>(registers(within[2])[at], limit);
        if constexpr (kLaneBits > 3) steps[3] = step<3>(registers(within[3])[at], limit);
        if constexpr (kLaneBits == 1) return walk<kLaneOrder1>(cells, steps);
        if constexpr (kLaneBits == 2) return walk<kLaneOrder2>(cells, steps);
        if constexpr (kLaneBits == 3) return walk<kLaneOrder3>(cells, steps);
        if constexpr (kLaneBits == 4) return walk<kLaneOrder4>(cells, steps);
    }

    template <const auto& kOrder, std::size_t kAt = 0>
    static V walk(V cells, const V* steps) {
        if constexpr (kAt == sizeof(kOrder) / sizeof(int)) {
            return cells;
        } else {
            return walk<kOrder, kAt + 1>(add_variable<kOrder[kAt]>(cells, steps), steps);
        }
    }

    static void advance(T* block, const T* const* before, const T* const* above,
                        std::size_t n_above, const T* const* within, int bits,
                        const std::uint16_t* order, T limit) {
        const std::size_t n = std::size_t{1} << (bits - kLaneBits);
        V* const cells = registers(block);
        const V worst = all(limit);
        const std::size_t odd = n_above % 4;
        if (odd == 0) from_above<0, true>(cells, before, above, n, worst);
        if (odd == 1) from_above<1, true>(cells, before, above, n, worst);
        if (odd == 2) from_above<2, true>(cells, before, above, n, worst);
        if (odd == 3) from_above<3, true>(cells, before, above, n, worst);
        for (std::size_t k = odd; k < n_above; k += 4) {
            from_above<4, false>(cells, before + k, above + k, n, worst);
        }
        if (n_above == 0) block[0] = 0;  // nothing above: this block begins with the empty set
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t at = order[i];
            V value = cells[at];
            for (std::size_t left = at; left != 0; left &= left - 1) {
                const int bit = __builtin_ctzll(left);
                const std::size_t from = at ^ (std::size_t{1} << bit);
                value = smaller(value, cells[from] + registers(within[kLaneBits + bit])[from]);
            }
            cells[at] = inside(value, within, at, worst);
        }
    }

    // Cells with variable kBit take the smaller of themselves and the cell without it.
    template <int kBit>
    static V spread(V cells) {
        const I numbers = lanes();
        const V other = exchange<kBit>(cells);
        return smaller(cells, (numbers & static_cast<Index>(1 << kBit)) != 0 ? other : cells);
    }

    static void close_in_place(T* cells, int bits) {
        const std::size_t n = std::size_t{1} << (bits - kLaneBits);
        V* const c = registers(cells);
        for (std::size_t i = 0; i < n; ++i) {
            V value = spread<0>(c[i]);
            if constexpr (kLaneBits > 1) value = spread<1>(value);
            if constexpr (kLaneBits > 2) value = spread<2>(value);
            if constexpr (kLaneBits > 3) value = spread<3>(value);
            c[i] = value;
        }
        for (std::size_t stride = 1; stride < n; stride *= 2) {
            for (std::size_t start = 0; start < n; start += 2 * stride) {
                for (std::size_t i = start; i < start + stride; ++i) {
                    c[i + stride] = smaller(c[i + stride], c[i]);
                }
            }
        }
    }

    static void smaller_cells(T* out, const T* a, const T* b, std::size_t n) {
        const std::size_t n_registers = n >> kLaneBits;
        for (std::size_t i = 0; i < n_registers; ++i) {
            registers(out)[i] = smaller(registers(a)[i], registers(b)[i]);
        }
    }

    static void lower(T* out, const double* scores, double best, double units, T limit,
                      std::size_t n) {
        constexpr double kWhole = 4503599627370496.0;  // 2^52: sums with it are whole numbers
        for (std::size_t i = 0; i < n; ++i) {
            const double cost = (best - scores[i]) * units;
            const double clipped =
                cost < static_cast<double>(limit) ? cost : static_cast<double>(limit);
            const double near = (clipped + kWhole) - kWhole;
            const double whole = near > clipped ? near - 1.0 : near;
            const T value = static_cast<T>(whole > 0.0 ? whole : 0.0);
            out[i] = value < out[i] ? value : out[i];
        }
    }

    static constexpr BlockLoops<T> table(const char* name) {
        return {name, kLaneBits, place, close, advance, close_in_place, smaller_cells, lower};
    }
};

}  // namespace detail

}  // namespace bestdag
