// ln(e^a + e^b) for several pairs at once, written with plain arithmetic alone, so that every
// processor gives the same numbers. Included by files that are compiled for different processors.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bestdag::detail {

using AddLogs = void (*)(double*, const double*, std::size_t);
AddLogs add_logs_avx2() noexcept;    // nullptr where the file was compiled without
AddLogs add_logs_avx512() noexcept;  // nullptr as well

namespace {  // each file has its own

template <std::size_t Bytes>
struct LogLoop {
    typedef double Reals __attribute__((vector_size(Bytes)));
    typedef std::int64_t Words __attribute__((vector_size(Bytes)));
    static constexpr std::size_t kLanes = Bytes / sizeof(double);

    // e^x for -40 <= x <= 0: 2^k times the series of e^r, r at most ln(2) / 2 in size.
    static Reals exp_of(Reals x) {
        constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to whole
        const Reals shifted = x * 1.4426950408889634 + kRound;
        const Reals k = shifted - kRound;
        const Reals r = (x - k * 6.93145751953125e-1) - k * 1.42860682030941723212e-6;
        Reals sum = r * (1.0 / 6227020800.0) + 1.0 / 479001600.0;
        sum = sum * r + 1.0 / 39916800.0;
        sum = sum * r + 1.0 / 3628800.0;
        sum = sum * r + 1.0 / 362880.0;
        sum = sum * r + 1.0 / 40320.0;
        sum = sum * r + 1.0 / 5040.0;
        sum = sum * r + 1.0 / 720.0;
        sum = sum * r + 1.0 / 120.0;
        sum = sum * r + 1.0 / 24.0;
        sum = sum * r + 1.0 / 6.0;
        sum = sum * r + 0.5;
        sum = sum * r + 1.0;
        sum = sum * r + 1.0;
        const Words scale = ((Words)shifted + 1023) << 52;
        return sum * (Reals)scale;
    }

    // ln(1 + x) for 0 <= x <= 1: twice the series of artanh(s), s at most 0.172 in size.
    static Reals log1p_of(Reals x) {
        const Words is_large = x > 0.41421356237309503;
        const Reals s = (is_large ? x - 1.0 : x) / (is_large ? x + 3.0 : x + 2.0);
        const Reals z = s * s;
        Reals sum = z * (1.0 / 23.0) + 1.0 / 21.0;
        sum = sum * z + 1.0 / 19.0;
        sum = sum * z + 1.0 / 17.0;
        sum = sum * z + 1.0 / 15.0;
        sum = sum * z + 1.0 / 13.0;
        sum = sum * z + 1.0 / 11.0;
        sum = sum * z + 1.0 / 9.0;
        sum = sum * z + 1.0 / 7.0;
        sum = sum * z + 1.0 / 5.0;
        sum = sum * z + 1.0 / 3.0;
        const Reals zero{};
        const Reals rest = 2.0 * (s + s * z * sum);
        return rest + (is_large ? zero + 0.6931471805599453 : zero);
    }

    static Reals sum_of(Reals a, Reals b) {
        const Reals larger = a > b ? a : b, smaller = a > b ? b : a;
        const Reals apart = smaller - larger;  // not a number where both are minus infinity
        const Words counts = apart > -40.0;
        const Reals zero{};
        const Reals added = log1p_of(exp_of(counts ? apart : zero - 40.0));
        return larger + (counts ? added : zero);
    }

    static void add(double* into, const double* from, std::size_t count) {
        for (std::size_t i = 0; i < count; i += kLanes) {
            const std::size_t here = count - i < kLanes ? count - i : kLanes;
            Reals a{}, b{};
            std::memcpy(&a, into + i, here * sizeof(double));
            std::memcpy(&b, from + i, here * sizeof(double));
            const Reals sum = sum_of(a, b);
            std::memcpy(into + i, &sum, here * sizeof(double));
        }
    }
};

}  // namespace

}  // namespace bestdag::detail
