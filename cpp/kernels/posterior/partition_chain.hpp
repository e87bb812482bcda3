// Markov chains over orders (Friedman and Koller 2003) and over ordered partitions (Kuipers and
// Moffa 2017) of the variables, and a structure drawn from every state that is kept.
//
// A state is a list of elements, each a group of variables. The parents of a variable come from the
// elements before its own, and in chains over partitions at least one from the element just before:
// so each DAG belongs to one partition alone, and each counts once. In a chain over orders every
// element is one variable, and a DAG counts once for every order it follows. The weight of a state
// is the product over the variables of the sums of the weights of the parent sets it allows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "independence/random_tables.hpp"
#include "posterior/parent_weights.hpp"

namespace bestdag {

struct ChainPlan {
    bool over_partitions = true;
    std::uint64_t seed = 0;
    std::size_t n_before = 0;   // steps that are thrown away
    std::size_t n_kept = 1;     // structures drawn
    std::size_t n_between = 1;  // steps for each of them
};

class PartitionChain {
public:
    // Needs the sets of each variable by descending weight. Begins with a random order.
    PartitionChain(const ParentWeights& weights, RandomStream random);

    // Go on over partitions, from that of a structure drawn for the order.
    void turn_to_partitions();

    // Weights are taken to the power of one over the temperature; 1 is the posterior.
    void step(double temperature);
    double log_weight() const noexcept { return log_weight_; }
    std::size_t n_moved() const noexcept { return n_moved_; }

    // Draw a structure: n n_words words, the parents of each variable. Returns its log weight.
    double draw(std::span<std::uint64_t> parents);

private:
    using Elements = std::vector<std::vector<std::size_t>>;
    struct Known {  // a sum worked out before: for a variable, its room, and what goes before it
        std::uint64_t key = 0, check = 0;
        double log_sum = 0.0;
    };

    std::size_t below(std::size_t n) noexcept;  // uniform in 0 .. n - 1
    Elements random_order();
    Elements layers_of(const Elements& order);
    void relocate(double temperature);
    Elements with_placed(const Elements& others, std::size_t v, std::size_t place) const;
    bool swap_places(Elements& elements);
    double split_or_join(Elements& elements);  // returns ln of the ratio of the proposals
    void split(Elements& elements, std::size_t which);
    static double n_splits(const Elements& elements) noexcept;
    void accept_or_not(Elements&& proposed, double log_ratio, double temperature);
    double weigh(const Elements& elements);
    double log_sum(std::size_t v, SetWords among, SetWords hit);
    // Visit(v, among, hit) for each variable: whom its parents come from, and of whom one must be.
    template <class Visit>
    void each_room(const Elements& elements, const Visit& visit);

    const ParentWeights& weights_;
    bool over_partitions_ = false;
    RandomStream random_;
    Elements elements_;
    std::vector<std::uint64_t> among_, just_before_;  // room for each_room
    std::vector<Known> known_;
    double log_weight_ = kLogZero;
    std::size_t n_moved_ = 0;
};

// Run chains, each a function of the seed and its number. Structures: chain, kept one, variable,
// word; log_dags their log weights, log_states those of the states they were drawn from; moved the
// number of steps of each chain that led elsewhere. Every chain begins hot and over orders, the
// fastest way from wherever it began, for half of the steps thrown away. Throws Interrupted.
void run_chains(const ParentWeights& weights, const ChainPlan& plan, std::size_t n_chains,
                const Execution& execution, std::span<std::uint64_t> structures,
                std::span<double> log_dags, std::span<double> log_states,
                std::span<std::int64_t> moved);

}  // namespace bestdag
