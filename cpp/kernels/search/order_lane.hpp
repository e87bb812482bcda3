// Search over orders in which each variable has parents that grew and shrank step by step among
// those before it: no list of parent sets, no limit on their size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/philox.hpp"
#include "search/ancestry.hpp"
#include "search/change_rows.hpp"

namespace bestdag {

// An order and a structure that fits it.
struct OrderState {
    struct Family {
        NodeSet parents;
        const ChangeRow* row = nullptr;

        double score() const noexcept { return row->score; }
    };

    std::vector<std::int32_t> order;     // variables, first to last
    std::vector<std::int32_t> position;  // of each variable
    std::vector<Family> families;
    double total = 0.0;  // of the scores
};

// Pairs (first, later) that every order keeps.
struct Precedences {
    explicit Precedences(std::size_t n_nodes) : before(n_nodes), after(n_nodes) {}
    void add(std::size_t first, std::size_t later) {
        before[later].push_back(static_cast<std::int32_t>(first));
        after[first].push_back(static_cast<std::int32_t>(later));
    }

    ParentLists before, after;
};

// One searcher with random numbers of its own. Rows are shared with others.
class OrderLane {
public:
    OrderLane(RowReader reader, const Precedences& precedences, double tie, PhiloxKey key);

    // Work out missing rows on so many threads.
    void share(int threads) { reader_.share(threads); }

    // Where attempts begin.
    const OrderState& home() const noexcept { return home_; }
    // The best home since the last `adopt`.
    const OrderState& best() const noexcept { return best_state_; }
    void adopt(const OrderState& state) {
        home_ = state;
        best_state_ = state;
    }

    std::uint64_t counter() const noexcept { return counter_; }
    // Be where another lane was: its draws, and its states with their rows.
    void restore(std::uint64_t counter, const OrderState& home, const OrderState& best) {
        counter_ = counter;
        home_ = home;
        best_state_ = best;
    }

    // Find the row of a family by its parents.
    void look_up(std::size_t child, OrderState::Family& family, const StopFlag& stop);

    // Give a state an order that fits its families and the precedences; false when there is none.
    bool sort_order(OrderState& state, bool at_random);
    bool fits(const std::vector<OrderState::Family>& families);

    // Move each of these variables to its best place, then those that the moves touched, until
    // none gains; home becomes what was found. Interrupted, home stays as it was.
    void sweep(std::span<const std::int32_t> variables, const StopFlag& stop);

    // Disturb home, sweep what was disturbed, and keep the result when it is no worse; one that is
    // so many nats worse with probability exp(-nats / temperature).
    void attempt(double temperature, const StopFlag& stop);

    // Grow and shrink a family from here on among the variables that `is_open`.
    template <class IsOpen>
    void climb(std::size_t child, OrderState::Family& family, const IsOpen& is_open,
               const StopFlag& stop);

    template <class IsOpen>
    bool take_listed(std::size_t child, OrderState::Family& family, const IsOpen& is_open,
                     const StopFlag& stop);
    template <class IsOpen>
    void climb_by_swaps(std::size_t child, OrderState::Family& family, const IsOpen& is_open,
                        const StopFlag& stop);

private:
    using Family = OrderState::Family;

    std::size_t n_nodes() const noexcept { return home_.families.size(); }
    std::int32_t place(std::size_t v) const noexcept { return state_.position[v]; }
    std::pair<std::int32_t, std::int32_t> range_of(std::size_t v) const;
    void toggle(std::size_t child, Family& family, std::int32_t node, double score,
                const StopFlag& stop);
    void rethink(std::size_t child, const StopFlag& stop);
    bool insert_best(std::size_t v, const StopFlag& stop);
    void move(std::size_t v, std::int32_t to, const Family* family, const StopFlag& stop);
    void descend(const StopFlag& stop);
    void touch(std::size_t v);
    void shift(std::size_t v, std::int32_t to);
    void kick(const StopFlag& stop);
    void gather_neighbours(std::size_t v);
    void cut_loose(std::size_t v, const StopFlag& stop);
    void shuffle_order();
    void sum_up() noexcept;
    std::uint64_t draw(std::uint64_t below) noexcept;

    RowReader reader_;
    const Precedences& precedences_;
    double tie_;
    PhiloxKey key_;
    std::uint64_t counter_ = 0;
    OrderState home_, state_, best_state_;
    std::vector<std::int32_t> dirty_;
    std::vector<std::uint8_t> is_dirty_;
    Family mine_, theirs_, best_, swapped_;
    std::vector<double> gains_;
    std::vector<std::int32_t> neighbours_;
    std::vector<std::int32_t> ready_, n_waiting_;
    ParentLists children_;
};

}  // namespace bestdag
