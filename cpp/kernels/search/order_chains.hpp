// Several order searches over the same sets, each with random numbers of its own, on any number of
// threads; the result does not depend on how many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "search/choice_sets.hpp"
#include "search/order_search.hpp"

namespace bestdag {

class OrderChains {
public:
    // Keeps a reference to `sets`; n_chains >= 1.
    OrderChains(const ChoiceSets& sets, std::uint64_t seed, std::size_t n_chains);

    std::size_t n_chains() const noexcept { return chains_.size(); }
    bool is_feasible() const noexcept { return chains_.front().is_feasible(); }
    double best_cost() const noexcept { return best().best_cost(); }
    // The best choice so far: per child the number of its set.
    std::span<const std::size_t> best_choice() const noexcept { return best().best_choice(); }

    // Descend from this order and go on from there in every chain.
    void descend_from(std::span<const std::int32_t> order, const Execution& execution);
    // Go on from another random order in every chain but the first.
    void scatter(const Execution& execution);
    // `rounds` rounds of iterated local search in every chain, after the chain that is worst off
    // has joined the one that is best off. Asked to stop, all three
    // throw Interrupted; what was found until then is kept.
    void improve(std::int64_t rounds, const Execution& execution);

    std::vector<OrderSearchPlace> places() const;
    // One for each chain; see OrderSearch::restore.
    void restore(std::span<const OrderSearchPlace> places);

private:
    const OrderSearch& best() const noexcept;

    std::vector<OrderSearch> chains_;
};

}  // namespace bestdag
