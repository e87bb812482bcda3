// The best acyclic choice of one candidate parent set per variable, by dynamic programming over
// the subsets of the variables (Silander and Myllymaki 2006), in one array of cells:
//
//     R(S) = min over v in S of R(S \ v) + best_v(S \ v),   R({}) = 0,
//     best_v(S) = least cost of a candidate set of v inside S.
//
// No other table is kept: the sinks and sets of an optimum are found again on the way down from the
// full set (subset_descent.hpp). With memory for all 2^n cells each is computed once. With less,
// two layers of blocks are in memory at a time (subset_lattice.hpp); the last layers, which are
// there at the end, give the last sinks, and what is left is solved again without them. With still
// less, some pairs of variables are ordered, each way in turn (Parviainen and Koivisto 2013): for p
// pairs, 2^p runs over (3/4)^p of the subsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "exact/subset_block.hpp"
#include "exact/subset_lattice.hpp"

namespace bestdag {

inline constexpr int kMaxSubsetVariables = 40;

// Candidate sets of variable v are first[v] .. first[v + 1] - 1, in ascending order of cost.
// A cost is a whole number of units; sets that cost `limit` or more are never used.
struct SubsetProblem {
    int n = 0;
    std::span<const std::int64_t> first;
    std::span<const std::uint64_t> members;  // bit u: variable u is in the set
    std::span<const double> costs;
    std::span<const double> fine = {};  // the same in smaller units, or nothing
};

struct SubsetSolution {
    bool is_feasible = false;  // some choice costs less than limit
    bool is_complete = true;   // whether all was looked at, or time ran out between runs
    double cost = 0.0;         // units
    std::optional<double> fine;
    std::vector<std::int64_t> chosen;
    std::vector<int> last;  // the variables, the last one first
    double visited = 0.0;   // subsets whose value was computed
};

// How a problem is solved.
struct SubsetPlan {
    int within = 0, middle = 0;  // bits of a block, and of the middle; 0 for what is best when flat
    int pairs = 0;               // that are ordered each way in turn
    double cells = 0.0;          // in the arena
    double bytes = 0.0;          // in all
    double visited = 0.0;        // subsets, over all runs
    int most_middle = Division::kMaxMiddleBits;  // when flat

    Division flat(int n) const;
    double runs() const { return static_cast<double>(std::uint64_t{1} << pairs); }
};

// The fastest plan that takes at most so many bytes; the smallest there is when none does.
SubsetPlan plan_subsets(int n, std::size_t n_sets, int threads, std::size_t bytes_per_cell,
                        double room, int most_middle = Division::kMaxMiddleBits);

// Told the share of the work done, now and then, by the calling thread; returns true to stop.
using Watch = std::function<bool(double)>;

template <class T>
struct SubsetProgram;

// Where cells are kept and computed.
template <class T>
class CellEngine {
public:
    virtual ~CellEngine() = default;

    // Compute the cells of the first n_layers layers of the program's lattice; the cells of a task
    // are at its position modulo `room`, which is at least lattice.least_room(). `watch` is told
    // the share. Throws Interrupted.
    virtual void fill(const SubsetProgram<T>& program, std::size_t n_layers, std::size_t room,
                      const Watch& watch) = 0;

    // Read single cells.
    virtual void read(std::span<const std::uint64_t> cells, std::span<double> values) const = 0;
};

// A choice of least cost. With fine costs, one of least fine cost among all that cost at most
// n + 1 units more than that, when these are few enough to be looked at and time allows; then
// `fine` is set. A limit above the incumbent by n + 2 lets all of them count. Of equals, the one
// whose last variables have the smallest numbers, whatever the plan.
//
// T is uint32_t or double: cells of 4 or 8 bytes, limit at most CellTraits<T>::kMaxLimit.
// Throws Interrupted when execution or `watch` said to stop before the first run was done,
// std::bad_alloc when the cells do not fit, std::invalid_argument for a malformed problem.
template <class T>
SubsetSolution best_by_subsets(const SubsetProblem& problem, double limit, const SubsetPlan& plan,
                               CellEngine<T>& engine, const Watch& watch);

// The same on the processor, in memory that this takes.
template <class T>
SubsetSolution best_by_subsets(const SubsetProblem& problem, double limit, const SubsetPlan& plan,
                               const Execution& execution, const Watch& watch);

namespace detail {
const BlockLoops<std::uint32_t>* narrow_loops_avx2() noexcept;  // nullptr where not compiled in
const BlockLoops<std::uint32_t>* narrow_loops_avx512() noexcept;
const BlockLoops<double>* wide_loops_avx2() noexcept;
const BlockLoops<double>* wide_loops_avx512() noexcept;
}  // namespace detail

}  // namespace bestdag
