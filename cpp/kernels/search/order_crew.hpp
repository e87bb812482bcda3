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

    std::size_t n_nodes() const noexcept { return rows_.rules().n_nodes(); }
    double total() const noexcept { return best_.total; }
    ParentLists parents() const;
    std::size_t n_attempts() const noexcept { return n_attempts_; }
    std::size_t n_bytes() const noexcept { return rows_.n_bytes(); }
    double nanoseconds() const noexcept { return rows_.nanoseconds(); }

private:
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
