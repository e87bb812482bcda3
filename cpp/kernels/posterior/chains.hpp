// Several Markov chains over orders or partitions that go on step by step: what was drawn until a
// time limit or Ctrl-C can be used, and more can be drawn where they do not agree yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "posterior/partition_chain.hpp"

namespace bestdag {

class Chains {
public:
    // Needs the sets of each variable by descending weight; weights outlive this. Each chain is a
    // function of the seed and its number, which is that of the first and on.
    Chains(const ParentWeights& weights, bool over_partitions, std::uint64_t seed,
           std::size_t n_chains, std::uint64_t first = 0);

    std::size_t n() const noexcept { return rooms_.weights().n(); }
    std::size_t n_words() const noexcept { return rooms_.weights().n_words(); }
    std::size_t n_chains() const noexcept { return chains_.size(); }

    // The first steps of each chain: from a random order, hot and cooling down, the fastest way
    // from wherever it began. Of `n_steps` these are first .. last - 1. Throws Interrupted.
    void settle(std::size_t n_steps, std::size_t first, std::size_t last,
                const Execution& execution);

    // So many draws of each chain, each after so many steps. Structures: chain, draw, variable,
    // word; n_drawn: for each chain how many there are, also after Interrupted was thrown, which
    // comes when chains are about equally far. The first call goes over to partitions.
    void run(std::size_t n_draws, std::size_t n_between, const Execution& execution,
             std::span<std::uint64_t> structures, std::span<std::int64_t> n_drawn);

    // Where each chain is, with its number of steps; and going on from there.
    using Places = std::vector<std::pair<PartitionChain::Place, std::size_t>>;
    Places places() const;
    void restore(const Places& places);

    std::size_t n_steps() const noexcept;  // of all chains together
    std::size_t n_moved() const noexcept;  // those that led elsewhere

private:
    struct Walker {
        PartitionChain chain;
        std::size_t n_steps = 0;
    };
    void go(Walker& walker, double temperature);

    const RoomSums rooms_;
    const bool over_partitions_;
    std::vector<Walker> chains_;
    bool is_over_orders_ = true;
};

}  // namespace bestdag
