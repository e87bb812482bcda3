// Good networks quickly: iterated local search over orders of the variables, where each child takes
// its best set among its predecessors and one variable at a time moves to its best position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "search/choice_sets.hpp"

namespace bestdag {

// Where a search is, for one that goes on elsewhere over the same sets.
struct OrderSearchPlace {
    std::vector<std::size_t> order;  // of home
    double home_cost = 0.0;
    std::vector<std::size_t> best_choice;
    double best_cost = 0.0;
    std::uint64_t random = 0;
};

class OrderSearch {
public:
    // Keeps a reference to `sets`. Starts from an order found by adding, again and again, the first
    // child one of whose sets fits the variables already placed. That finds an order with a set for
    // every child exactly when there is one, because placing more variables never hurts.
    OrderSearch(const ChoiceSets& sets, std::uint64_t seed);

    // Whether any acyclic choice of sets exists.
    bool is_feasible() const noexcept { return feasible_; }
    double best_cost() const noexcept { return best_cost_; }
    // The best choice so far: per child the number of its set.
    std::span<const std::size_t> best_choice() const noexcept { return best_choice_; }

    // Cost of the network the next rounds start from.
    double home_cost() const noexcept { return home_.cost; }
    // Go on from where another search over the same sets is.
    void adopt(const OrderSearch& other);

    OrderSearchPlace place() const;
    // Requires an order of all variables, and a set of each of them.
    void restore(const OrderSearchPlace& place);

    // Descend from this order to a local optimum. True when the best improved. Throws when the
    // order does not name every variable once.
    bool descend_from(std::span<const std::int32_t> order, const StopFlag& stop);
    // Descend from an order drawn at random, and go on from there. True when the best improved.
    bool descend_from_random(const StopFlag& stop);
    // `rounds` times: disturb the order, descend, keep what is not worse. True when the best
    // improved.
    bool improve(std::int64_t rounds, const StopFlag& stop);

private:
    struct State {
        std::vector<std::size_t> order, position;
        std::vector<Word> before;  // per child: its candidates that come before it
        std::vector<std::size_t>
            choice;  // per child: best set that fits; last(child) when none does
        double cost = 0.0;
    };

    double cost_of(std::size_t child, std::size_t set) const noexcept {
        return set == sets_.last(child) ? penalty_ : sets_.cost(set);
    }
    std::size_t first_fit(std::size_t child, const Word* before, std::size_t from,
                          std::size_t until) const noexcept;
    bool uses(std::size_t child, std::size_t set, std::size_t parent) const noexcept;
    void load(std::span<const std::size_t> order);
    void move(std::size_t variable, std::size_t to);
    bool move_to_best_position(std::size_t variable);
    void descend(std::vector<std::size_t>& dirty, const StopFlag& stop);
    bool keep_best();
    std::uint64_t draw(std::uint64_t below) noexcept;

    const ChoiceSets& sets_;
    std::vector<std::size_t> before_start_;
    std::vector<std::vector<std::size_t>> neighbours_;  // candidate parents and children of each
    std::vector<std::uint8_t> is_dirty_;
    std::vector<Word> scratch_;
    std::vector<std::size_t> places_;
    bool feasible_ = false;
    double penalty_ = 0.0;  // more than any acyclic choice costs
    State state_, home_;
    double best_cost_ = 0.0;
    std::vector<std::size_t> best_choice_;
    std::uint64_t random_;
};

}  // namespace bestdag
