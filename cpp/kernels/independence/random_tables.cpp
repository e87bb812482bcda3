#include "independence/random_tables.hpp"

#include <algorithm>
#include <cmath>

#include "special/log_gamma.hpp"

namespace bestdag {

namespace {

double log_factorial(std::int64_t n) noexcept { return log_gamma(static_cast<double>(n) + 1.0); }

double log_choices(std::int64_t n, std::int64_t k) noexcept {
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

}  // namespace

// By inversion, from the most probable number outwards: about as many steps as the standard
// deviation is wide.
std::int64_t hypergeometric(std::int64_t marked, std::int64_t plain, std::int64_t chosen,
                            double choice) noexcept {
    const std::int64_t least = std::max<std::int64_t>(0, chosen - plain);
    const std::int64_t most = std::min(chosen, marked);
    if (least == most) return least;
    const double share = static_cast<double>(marked + 1) / static_cast<double>(marked + plain + 2);
    const auto peak = static_cast<std::int64_t>(static_cast<double>(chosen + 1) * share);
    const std::int64_t mode = std::clamp(peak, least, most);
    const double at_mode = std::exp(log_choices(marked, mode) + log_choices(plain, chosen - mode) -
                                    log_choices(marked + plain, chosen));
    double left = choice - at_mode;
    if (left <= 0.0) return mode;
    double up = at_mode, down = at_mode;
    std::int64_t high = mode, low = mode;
    while (high < most || low > least) {
        if (high < most) {
            const double fits =
                static_cast<double>(marked - high) * static_cast<double>(chosen - high);
            ++high;
            up *= fits / (static_cast<double>(high) * static_cast<double>(plain - chosen + high));
            left -= up;
            if (left <= 0.0) return high;
        }
        if (low > least) {
            const double fits =
                static_cast<double>(low) * static_cast<double>(plain - chosen + low);
            --low;
            down *= fits / (static_cast<double>(marked - low) * static_cast<double>(chosen - low));
            left -= down;
            if (left <= 0.0) return low;
        }
        if (up < 1e-18 && down < 1e-18) break;  // rounding left a little over
    }
    return mode;
}

void draw_table(std::span<const std::int64_t> row_sums, std::span<const std::int64_t> column_sums,
                RandomStream& random, std::span<std::int64_t> left,
                std::span<std::int64_t> table) noexcept {
    const std::size_t n_columns = column_sums.size();
    std::copy(column_sums.begin(), column_sums.end(), left.begin());
    std::int64_t all_left = 0;
    for (const std::int64_t sum : column_sums) all_left += sum;
    for (std::size_t r = 0; r + 1 < row_sums.size(); ++r) {
        std::int64_t to_place = row_sums[r];
        std::int64_t beyond = all_left;
        for (std::size_t c = 0; c < n_columns; ++c) {
            beyond -= left[c];
            const std::int64_t drawn =
                to_place == 0 ? 0
                : beyond == 0 ? to_place
                              : hypergeometric(left[c], beyond, to_place, random.uniform());
            table[r * n_columns + c] = drawn;
            left[c] -= drawn;
            to_place -= drawn;
        }
        all_left -= row_sums[r];
    }
    std::copy_n(left.begin(), n_columns,
                table.begin() + static_cast<std::ptrdiff_t>((row_sums.size() - 1) * n_columns));
}

}  // namespace bestdag
