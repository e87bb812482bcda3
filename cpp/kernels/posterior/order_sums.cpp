#include "posterior/order_sums.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>

namespace bestdag {

namespace {

constexpr double kNanosecondsPerSum = 10.0;

std::uint64_t bit(std::size_t place) { return std::uint64_t{1} << place; }

// One step of the sums over subsets or supersets may be long: the flag is looked at between.
void sum_watched(double* cells, std::size_t n_bits, bool up, const StopFlag& stop) {
    constexpr std::size_t kWholeBits = 16;
    const std::size_t whole = std::min(n_bits, kWholeBits);
    const std::size_t n_cells = std::size_t{1} << n_bits, n_whole = std::size_t{1} << whole;
    for (std::size_t first = 0; first < n_cells; first += n_whole) {
        check(stop);
        (up ? sum_over_supersets : sum_over_subsets)(cells + first, whole);
    }
    for (std::size_t place = whole; place < n_bits; ++place) {
        for (std::size_t first = 0; first < n_cells; first += n_whole) {
            if ((first >> place & 1) != 0) continue;
            check(stop);
            double* const without = cells + first;
            double* const with = without + bit(place);
            add_logs(up ? without : with, up ? with : without, n_whole);
        }
    }
}

}  // namespace

OrderSums::OrderSums(const ParentWeights& weights, std::size_t top_bits, const Execution& execution,
                     const std::function<bool(double)>& progress)
    : weights_(weights),
      n_(weights.n()),
      top_bits_(top_bits),
      prefixes_(n_sets()),
      suffixes_(n_sets()),
      blocks_(n_) {
    if (n_ > kMaxOrderVariables || top_bits_ >= n_) {
        throw std::invalid_argument("sums over orders: too many variables or top bits");
    }
    double done = 0.0;
    const Execution watched{execution.threads, [&] {
                                return (progress && progress(done)) ||
                                       (execution.should_stop && execution.should_stop());
                            }};
    for (std::size_t v = 0; v < n_; ++v) {
        blocks_[v] = std::make_unique<Cells<double>>(std::size_t{1} << block_bits(v));
    }
    run_pass(true, watched);
    done = 0.5;
    run_pass(false, watched);
    if (top_bits_ > 0) blocks_.clear();
}

// Forwards each variable inside a set is the last one; backwards each outside it is the next one.
void OrderSums::run_pass(bool is_forward, const Execution& execution) {
    const std::size_t n_tops = std::size_t{1} << top_bits_;
    for (std::size_t i = 0; i < n_tops; ++i) {
        const std::uint64_t top = is_forward ? i : n_tops - 1 - i;
        if (is_forward || top_bits_ > 0) {
            std::vector<std::optional<std::uint64_t>> tops(n_, top);
            for (std::size_t v = low_bits(); v < n_; ++v) {
                const bool is_inside = (top & bit(v - low_bits())) != 0;
                if (is_inside != is_forward) tops[v].reset();
                if (is_inside && is_forward) tops[v] = top & ~bit(v - low_bits());
            }
            fill_blocks(tops, execution);
        }
        const double expected = kNanosecondsPerSum * static_cast<double>(n_ << low_bits());
        parallel_for(1, expected, execution, [&](std::size_t, const StopFlag& stop) {
            is_forward ? sum_prefixes(top, stop) : sum_suffixes(top, stop);
        });
        if (execution.should_stop && execution.should_stop()) throw Interrupted();
    }
}

void OrderSums::fill_blocks(const std::vector<std::optional<std::uint64_t>>& tops,
                            const Execution& execution) {
    const double expected = kNanosecondsPerSum * static_cast<double>(n_ * low_bits()) *
                            static_cast<double>(bit(low_bits()));
    parallel_for(n_, expected, execution, [&](std::size_t v, const StopFlag& stop) {
        if (tops[v]) fill_block(v, *tops[v], blocks_[v]->data(), stop);
    });
}

// a_v of the sets whose top bits are `top`, by their lower bits without that of v.
void OrderSums::fill_block(std::size_t v, std::uint64_t top, double* out,
                           const StopFlag& stop) const {
    const std::size_t n_bits = block_bits(v);
    std::fill_n(out, std::size_t{1} << n_bits, kLogZero);
    const std::uint64_t low = bit(low_bits()) - 1;
    for (std::size_t i = weights_.first(v); i < weights_.end(v); ++i) {
        if (i % kSetsBetweenLooks == 0) check(stop);
        const std::uint64_t set = *weights_.set(i);
        if ((set >> low_bits() & ~top) != 0) continue;
        double& cell = out[is_low(v) ? without_place(set & low, v) : set & low];
        cell = log_add(cell, weights_.log_weight(i));
    }
    sum_watched(out, n_bits, false, stop);
}

void OrderSums::sum_prefixes(std::uint64_t top, const StopFlag& stop) {
    std::array<double, kMaxOrderVariables> terms;
    for (std::uint64_t low = 0; low < bit(low_bits()); ++low) {
        if (low % kSetsBetweenLooks == 0) check(stop);
        const std::uint64_t set = top << low_bits() | low;
        if (set == 0) {
            prefixes_.data()[0] = 0.0;
            continue;
        }
        std::size_t n_terms = 0;
        for (std::uint64_t left = set; left != 0; left &= left - 1) {
            const auto v = static_cast<std::size_t>(std::countr_zero(left));
            const std::uint64_t inside = is_low(v) ? without_place(low, v) : low;
            terms[n_terms++] = blocks_[v]->data()[inside] + prefixes_.data()[set & ~bit(v)];
        }
        prefixes_.data()[set] = log_sum({terms.data(), n_terms});
    }
}

void OrderSums::sum_suffixes(std::uint64_t top, const StopFlag& stop) {
    std::array<double, kMaxOrderVariables> terms;
    for (std::uint64_t low = bit(low_bits()); low-- > 0;) {
        if (low % kSetsBetweenLooks == 0) check(stop);
        const std::uint64_t set = top << low_bits() | low;
        if (set == n_sets() - 1) {
            suffixes_.data()[set] = 0.0;
            continue;
        }
        std::size_t n_terms = 0;
        for (std::uint64_t left = ~set & (n_sets() - 1); left != 0; left &= left - 1) {
            const auto v = static_cast<std::size_t>(std::countr_zero(left));
            const std::uint64_t inside = is_low(v) ? without_place(low, v) : low;
            terms[n_terms++] = blocks_[v]->data()[inside] + suffixes_.data()[set | bit(v)];
        }
        suffixes_.data()[set] = log_sum({terms.data(), n_terms});
    }
}

void OrderSums::probabilities(const Execution& execution, std::span<double> sets,
                              std::span<double> arcs) {
    const double expected =
        kNanosecondsPerSum * static_cast<double>(n_ * n_) * static_cast<double>(n_sets() / 2);
    parallel_for(n_, expected, execution, [&](std::size_t v, const StopFlag& stop) {
        const Cells<double> around(n_sets() / 2);
        for (std::uint64_t s = 0; s < n_sets() / 2; ++s) {
            if (s % kSetsBetweenLooks == 0) check(stop);
            const std::uint64_t set = with_place(s, v);
            around.data()[s] = prefixes_.data()[set] + suffixes_.data()[set | bit(v)];
        }
        sum_watched(around.data(), n_ - 1, true, stop);
        add_families(weights_, v, around.data(), log_total(), sets, arcs, stop);
    });
}

double OrderSums::log_inside(std::size_t v, std::uint64_t set) const {
    if (top_bits_ == 0) return blocks_[v]->data()[without_place(set, v)];
    return weights_.log_sum_within(v, &set, nullptr);
}

double OrderSums::bytes(std::size_t n, std::size_t top_bits, int threads) {
    const double sets = std::exp2(static_cast<double>(n));
    const double blocks = static_cast<double>(n) * std::exp2(static_cast<double>(n - top_bits));
    const double around = std::min<double>(threads, static_cast<double>(n)) * sets / 2.0;
    // The blocks are gone when probabilities are worked out, unless all of them are kept.
    const double work = top_bits == 0 ? blocks / 2.0 + around : std::max(blocks, around);
    return sizeof(double) * (2.0 * sets + work);
}

}  // namespace bestdag
