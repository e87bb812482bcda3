// Exact posterior probabilities by summing over all orders of the variables and all structures
// that follow each (Koivisto and Sood 2004; Koivisto 2006). A structure counts once for every order
// that it follows: the prior is modular in the order.
//
//     a_v(S) = sum of the weights of the parent sets of v inside S
//     L(S)   = sum over v in S of a_v(S \ v) L(S \ v),                    L({}) = 1
//     R(S)   = sum over v outside S of a_v(S) R(S and v),                 R(all) = 1
//     P(parents of v are P) = w_v(P) / L(all) * sum over S containing P, v not in S, of
//                             L(S) R(S and v)
//
// All of it in logarithms. The sums a_v are kept for all S where there is memory: n 2^(n-1)
// numbers; otherwise they are worked out twice, for one choice of the highest `top_bits` variables
// after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/cells.hpp"
#include "base/parallel.hpp"
#include "posterior/parent_weights.hpp"

namespace bestdag {

inline constexpr std::size_t kMaxOrderVariables = 30;

class OrderSums {
public:
    // Requires at most kMaxOrderVariables variables and top_bits < n; 0 keeps all a_v. `progress`
    // is told the share of the work done by the calling thread and returns true to stop. Throws
    // Interrupted.
    OrderSums(const ParentWeights& weights, std::size_t top_bits, const Execution& execution,
              const std::function<bool(double)>& progress);

    std::size_t n() const noexcept { return n_; }
    double log_total() const noexcept { return prefixes_.data()[n_sets() - 1]; }

    // The probability of each parent set, in the order of the weights, and of each arc: the arc
    // from u to v at u n + v. Throws Interrupted.
    void probabilities(const Execution& execution, std::span<double> sets, std::span<double> arcs);

    double log_prefixes(std::uint64_t set) const { return prefixes_.data()[set]; }  // L
    // a_v of a set without v; looked up or summed.
    double log_inside(std::size_t v, std::uint64_t set) const;

    static double bytes(std::size_t n, std::size_t top_bits, int threads);

private:
    std::size_t n_sets() const noexcept { return std::size_t{1} << n_; }
    std::size_t low_bits() const noexcept { return n_ - top_bits_; }
    bool is_low(std::size_t v) const noexcept { return v < low_bits(); }
    std::size_t block_bits(std::size_t v) const noexcept {
        return low_bits() - (is_low(v) ? 1 : 0);
    }
    void fill_block(std::size_t v, std::uint64_t top, double* out, const StopFlag& stop) const;
    void fill_blocks(const std::vector<std::optional<std::uint64_t>>& tops,
                     const Execution& execution);
    void sum_prefixes(std::uint64_t top, const StopFlag& stop);
    void sum_suffixes(std::uint64_t top, const StopFlag& stop);
    void run_pass(bool is_forward, const Execution& execution);

    const ParentWeights& weights_;
    const std::size_t n_, top_bits_;
    Cells<double> prefixes_, suffixes_;                   // L and R
    std::vector<std::unique_ptr<Cells<double>>> blocks_;  // a_v for the current top bits
};

}  // namespace bestdag
