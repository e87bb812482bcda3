// Scores of every single-parent change of a family.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "scores/kernel.hpp"
#include "scoring/families.hpp"

namespace bestdag {

// The candidates of family i are members[offsets[i] .. offsets[i + 1]).
struct CandidateLists {
    std::span<const std::int64_t> offsets;
    std::span<const std::int32_t> members;
};

// Scores changes of one table's families, call after call. What each thread has worked out (tables
// of logarithms, say) is kept between calls.
class ChangeScorers {
public:
    // Table and kernel must live as long.
    ChangeScorers(const Table& table, const Kernel& kernel);
    ~ChangeScorers();

    // scores[k]: the score of the family that members[k] is a candidate of after adding it to its
    // parents, or dropping it when it is one of them, or as it is when it is the child itself.
    // Equal to the last bit to what score_families gives for the changed family.
    //
    // Additions to a family come from one partition of the rows, or, where families are few and
    // threads many, from one for each thread. Several threads may call.
    void score(const FamilyList& families, const CandidateLists& candidates,
               std::span<double> scores, const Execution& execution);

    // One caller's work: the changes of one family.
    class Worker {
    public:
        virtual ~Worker() = default;
        virtual void score(const Family& family, std::span<const std::int32_t> candidates,
                           const StopFlag& stop, double* scores) = 0;
        // From now on use so many threads, where that is possible.
        virtual void share(int) {}
    };

    // The flag must live as long as the worker: evaluators that do long work look at it.
    std::unique_ptr<Worker> make_worker(const StopFlag& stop) const;

private:
    std::unique_ptr<Worker> make_single(const StopFlag& stop) const;
    double expected_nanoseconds(const FamilyList& families, const CandidateLists& candidates) const;
    bool has_long_evaluators() const { return kernel_.traits().nanoseconds_per_family > 0.0; }

    const Table& table_;
    const Kernel& kernel_;
    std::mutex mutex_;                              // held by the call that uses the workers
    std::vector<std::unique_ptr<Worker>> workers_;  // for one thread each
};

}  // namespace bestdag
