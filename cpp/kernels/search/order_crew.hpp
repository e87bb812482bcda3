// Several order lanes that work from the same structure and put together what they find. The result
// does not depend on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/parallel.hpp"
#include "search/change_rows.hpp"
#include "search/order_lane.hpp"

namespace bestdag {

// Where a lane or the crew is, for a crew that goes on elsewhere.
struct OrderPlace {
    std::vector<std::int32_t> order;
    ParentLists parents;
    double total = 0.0;
};

// A lane: how many numbers it has drawn, where attempts begin, and the best since all were there.
struct LanePlace {
    std::uint64_t counter = 0;
    OrderPlace home, best;
};

struct CrewPlace {
    OrderPlace best;
    std::vector<LanePlace> lanes;
    std::size_t n_idle = 0;
    bool is_settled = false;
    std::vector<std::int32_t> to_sweep;
    std::size_t n_attempts = 0;
    double nanoseconds = 0.0;
    std::size_t n_bytes = 0;
    std::vector<std::uint64_t> known;
};

class OrderCrew {
public:
    using MakeWorker = std::function<std::unique_ptr<ChangeScorers::Worker>(const StopFlag&)>;

    // n_rows: of the data, for an idea of how long scoring takes. n_lanes >= 1.
    OrderCrew(FamilyRules rules, Precedences precedences, double tie, double n_rows,
              const MakeWorker& make_worker, std::uint64_t seed, std::size_t n_lanes,
              double max_bytes);

    // Go on from this structure, within the rules; false, and nothing happens, when no order has
    // it.
    bool begin(const ParentLists& parents);

    // Let these sets be tried too, and move the child to its best place with them.
    void list(std::size_t child, ListedSets sets);

    // Work about so long. First every variable is moved to its best place, then attempts begin.
    // True when the structure is a better one. Asked to stop, throws Interrupted; what was found
    // until then is kept.
    bool improve(double nanoseconds, const Execution& execution);

    // Where it is, between two calls of `improve`; and going on from there, with the same listed
    // sets. Rows are worked out again when they are asked for, which counts for nothing.
    CrewPlace place() const;
    void restore(const CrewPlace& place, const Execution& execution);

    std::size_t n_nodes() const noexcept { return rows_.rules().n_nodes(); }
    std::size_t n_lanes() const noexcept { return lanes_.size(); }
    double total() const noexcept { return best_.total; }
    ParentLists parents() const;
    std::size_t n_attempts() const noexcept { return n_attempts_; }
    std::size_t n_bytes() const noexcept { return rows_.n_bytes(); }
    double nanoseconds() const noexcept { return rows_.nanoseconds(); }

private:
    OrderState state_at(const OrderPlace& place) const;
    void look_up(OrderState& state, OrderLane& lane, const StopFlag& stop);
    void settle(const Execution& execution);
    void run(const Execution& execution,
             const std::function<void(std::size_t, OrderLane&, const StopFlag&)>& work);
    void merge();
    void batch(const Execution& execution);

    ChangeRows rows_;
    Precedences precedences_;
    StopFlag stop_ = false;
    std::vector<OrderLane> lanes_;
    OrderState best_;          // where all lanes began
    std::size_t n_idle_ = 0;   // batches since
    bool is_settled_ = false;  // whether all lanes are there
    std::vector<std::int32_t> to_sweep_;
    double max_bytes_;
    std::size_t n_attempts_ = 0;
};

}  // namespace bestdag
