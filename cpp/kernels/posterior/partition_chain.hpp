// Markov chains over orders (Friedman and Koller 2003) and over ordered partitions (Kuipers and
// Moffa 2017) of the variables, and a structure drawn from every state that is kept.
//
// A state is a list of elements, each a group of variables. The parents of a variable come from the
// elements before its own, and in chains over partitions at least one from the element just before:
// so each DAG belongs to one partition alone, and each counts once. In a chain over orders every
// element is one variable, and a DAG counts once for every order it follows. The weight of a state
// is the product over the variables of the sums of the weights of the parent sets it allows.
// Chains over partitions now and then draw a structure, change it by steps of their own
// (arc_reversal.hpp, parent_blocks.hpp), and go on from its partition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "independence/random_tables.hpp"
#include "posterior/arc_reversal.hpp"
#include "posterior/parent_blocks.hpp"
#include "posterior/room_sums.hpp"

namespace bestdag {

class PartitionChain {
public:
    // Begins with a random order; `rooms` outlive this.
    PartitionChain(const RoomSums& rooms, RandomStream random);

    // Go on over partitions, from that of a structure drawn for the order.
    void turn_to_partitions();

    // Weights are taken to the power of one over the temperature; 1 is the posterior.
    void step(double temperature);
    double log_weight() const noexcept { return log_weight_; }
    std::size_t n_moved() const noexcept { return n_moved_; }

    // Draw a structure: n n_words words, the parents of each variable. Returns its log weight.
    double draw(std::span<std::uint64_t> parents);

    using Elements = std::vector<std::vector<std::size_t>>;
    // Where it is, for a chain of the same weights and random stream that goes on elsewhere.
    struct Place {
        Elements elements;
        bool over_partitions = false;
        double log_weight = 0.0;
        std::size_t n_moved = 0;
        std::uint64_t n_drawn = 0;  // random numbers
    };
    Place place() const {
        return {elements_, over_partitions_, log_weight_, n_moved_, random_.n_drawn()};
    }
    // Requires each variable in one element.
    void restore(const Place& place);

private:
    struct Known {  // a sum worked out before: for a variable, its room, and what goes before it
        std::uint64_t key = 0, check = 0;
        double log_sum = 0.0;
    };

    std::size_t below(std::size_t n) noexcept;  // uniform in 0 .. n - 1
    Elements random_order();
    Elements layers_of(const std::vector<std::uint64_t>& parents) const;
    void relocate(double temperature);
    std::vector<double> weigh_places(const Elements& others, std::size_t v);
    Elements with_placed(Elements&& others, std::size_t v, std::size_t place) const;
    bool swap_places(Elements& elements);
    double split_or_join(Elements& elements);  // returns ln of the ratio of the proposals
    void change_structure();
    void split(Elements& elements, std::size_t which);
    static double n_splits(const Elements& elements) noexcept;
    void accept_or_not(Elements&& proposed, double log_ratio, double temperature);
    double weigh(const Elements& elements);
    double log_sum(std::size_t v, SetWords among, SetWords hit);
    // Visit(v, among, hit) for each variable: whom its parents come from, and of whom one must be.
    template <class Visit>
    void each_room(const Elements& elements, const Visit& visit);

    const RoomSums& rooms_;
    const ParentWeights& weights_;
    bool over_partitions_ = false;
    RandomStream random_;
    Elements elements_;
    std::vector<std::uint64_t> among_, just_before_, only_;  // room for sums
    std::vector<std::uint64_t> structure_;
    ArcReversal arc_reversal_;
    ParentBlocks parent_blocks_;
    std::vector<Known> known_;
    double log_weight_ = kLogZero;
    std::size_t n_moved_ = 0;
};

}  // namespace bestdag
