#include "posterior/log_sums.hpp"

#include <array>

#include "posterior/log_loops.hpp"

namespace bestdag {

namespace {

detail::AddLogs chosen_loop() noexcept {
#if defined(__x86_64__) || defined(__amd64__)
    __builtin_cpu_init();
    if (const auto loop = detail::add_logs_avx512();
        loop && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vpopcntdq")) {
        return loop;
    }
    if (const auto loop = detail::add_logs_avx2();
        loop && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) {
        return loop;
    }
#endif
    return &detail::LogLoop<16>::add;
}

// Bits whose cells lie too near each other for a loop over several.
constexpr std::size_t kNearBits = 3;

// The lowest bits, eight such groups of cells at a time, turned so that a loop serves them.
template <bool Up>
void sum_near(double* cells, std::size_t n_cells, std::size_t n_bits) noexcept {
    constexpr std::size_t kGroup = 8, kAtOnce = 16;
    const std::size_t width = std::size_t{1} << n_bits;
    std::array<double, kGroup * kAtOnce> turned;
    for (std::size_t first = 0; first < n_cells; first += width * kAtOnce) {
        const std::size_t groups = std::min(kAtOnce, (n_cells - first) / width);
        for (std::size_t g = 0; g < groups; ++g) {
            for (std::size_t i = 0; i < width; ++i) {
                turned[i * kAtOnce + g] = cells[first + g * width + i];
            }
        }
        for (std::size_t bit = 0; bit < n_bits; ++bit) {
            for (std::size_t i = 0; i < width; ++i) {
                if ((i >> bit & 1) != 0) continue;
                double* const without = turned.data() + i * kAtOnce;
                double* const with = without + (kAtOnce << bit);
                add_logs(Up ? without : with, Up ? with : without, groups);
            }
        }
        for (std::size_t g = 0; g < groups; ++g) {
            for (std::size_t i = 0; i < width; ++i) {
                cells[first + g * width + i] = turned[i * kAtOnce + g];
            }
        }
    }
}

template <bool Up>
void sum_cells(double* cells, std::size_t n_bits) noexcept {
    const std::size_t n_cells = std::size_t{1} << n_bits;
    sum_near<Up>(cells, n_cells, std::min(n_bits, kNearBits));
    for (std::size_t bit = kNearBits; bit < n_bits; ++bit) {
        const std::size_t half = std::size_t{1} << bit;
        for (std::size_t first = 0; first < n_cells; first += 2 * half) {
            double* const without = cells + first;
            double* const with = without + half;
            add_logs(Up ? without : with, Up ? with : without, half);
        }
    }
}

}  // namespace

void add_logs(double* into, const double* from, std::size_t count) noexcept {
    static const detail::AddLogs loop = chosen_loop();
    loop(into, from, count);
}

void sum_over_subsets(double* cells, std::size_t n_bits) noexcept {
    sum_cells<false>(cells, n_bits);
}

void sum_over_supersets(double* cells, std::size_t n_bits) noexcept {
    sum_cells<true>(cells, n_bits);
}

}  // namespace bestdag
