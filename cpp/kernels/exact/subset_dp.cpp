#include "exact/subset_dp.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "exact/cpu_cells.hpp"
#include "exact/subset_descent.hpp"
#include "exact/subset_order.hpp"
#include "exact/subset_program.hpp"
#include "exact/subset_values.hpp"

namespace bestdag {

namespace {

void check(const SubsetProblem& problem, double limit, double max_limit) {
    const auto n = static_cast<std::size_t>(problem.n);
    bool fine = problem.n >= 1 && problem.n <= kMaxSubsetVariables &&
                problem.first.size() == n + 1 && problem.first[0] == 0 &&
                problem.first[n] == static_cast<std::int64_t>(problem.members.size()) &&
                problem.members.size() == problem.costs.size() &&
                (problem.fine.empty() || problem.fine.size() == problem.costs.size()) &&
                limit >= 1 && limit <= max_limit;
    for (std::size_t v = 0; fine && v < n; ++v) {
        fine = problem.first[v] <= problem.first[v + 1];
        for (auto k = static_cast<std::size_t>(problem.first[v]);
             fine && k < static_cast<std::size_t>(problem.first[v + 1]); ++k) {
            fine = problem.members[k] >> n == 0 && (problem.members[k] >> v & 1u) == 0 &&
                   problem.costs[k] >= 0 &&
                   (k == static_cast<std::size_t>(problem.first[v]) ||
                    problem.costs[k] >= problem.costs[k - 1]);
        }
    }
    if (!fine) throw std::invalid_argument("subset recursion: malformed problem");
}

bool comes_first(const SubsetSolution& a, const SubsetSolution& b) { return a.last < b.last; }

// The best of several runs, in units and in fine units.
struct Best {
    SubsetSolution least;
    std::optional<SubsetSolution> finest;
    bool is_decided = true;  // no run had too many rivals

    void take(Descent found) {
        SubsetSolution& one = found.least;
        if (!least.is_feasible || one.cost < least.cost ||
            (one.cost == least.cost && comes_first(one, least))) {
            least = std::move(one);
        }
        if (!found.finest) {
            is_decided = false;
        } else if (!finest || found.finest->fine < finest->fine ||
                   (found.finest->fine == finest->fine && comes_first(*found.finest, *finest))) {
            finest = std::move(found.finest);
        }
    }
    const SubsetSolution& answer() const { return is_decided && finest ? *finest : least; }
};

}  // namespace

template <class T>
SubsetSolution best_by_subsets(const SubsetProblem& problem, double limit, const SubsetPlan& plan,
                               CellEngine<T>& engine, const Watch& watch) {
    check(problem, limit, CellTraits<T>::kMaxLimit);
    const Precedence known = forced_order(problem, limit);
    if (!is_possible(known)) return {};
    const auto pairs = choose_pairs(problem, limit, known, plan.pairs);
    std::vector<int> paired;
    for (const auto& [a, b] : pairs) paired.insert(paired.end(), {a, b});
    const std::uint64_t n_runs = std::uint64_t{1} << pairs.size();
    SubsetValues<T> values(problem, plan, engine);
    Best best;
    bool is_complete = true;
    for (std::uint64_t way = 0; way < n_runs; ++way) {
        Precedence before = with_pairs(known, pairs, way);
        if (!is_possible(before)) continue;
        const auto share = [&](double mine) {
            return (static_cast<double>(way) + mine) / static_cast<double>(n_runs);
        };
        const Watch watched = [&](double mine) { return watch && watch(share(mine)); };
        if (best.least.is_feasible) limit = std::min(limit, best.least.cost + problem.n + 2);
        try {
            const double cost = values.run(
                {(std::uint64_t{1} << problem.n) - 1, std::move(before), paired}, limit, watched);
            if (cost >= limit) continue;
            const double least = best.least.is_feasible ? std::min(cost, best.least.cost) : cost;
            if (problem.fine.empty() && cost > least) continue;
            best.take(descend(problem, values, least + problem.n + 1,
                              static_cast<std::size_t>(most_steps(problem.n)),
                              [&] { return watched(1.0); }));
        } catch (const Interrupted&) {
            if (!best.least.is_feasible) throw;
            is_complete = false;
            break;
        }
    }
    SubsetSolution answer = is_complete ? best.answer() : best.least;
    answer.is_complete = is_complete;
    answer.visited = values.visited();
    return answer;
}

template <class T>
SubsetSolution best_by_subsets(const SubsetProblem& problem, double limit, const SubsetPlan& plan,
                               const Execution& execution, const Watch& watch) {
    CpuCells<T> engine(static_cast<std::size_t>(plan.cells), execution);
    const Watch asked = [&](double share) {
        return (watch && watch(share)) || (execution.should_stop && execution.should_stop());
    };
    return best_by_subsets<T>(problem, limit, plan, engine, asked);
}

template SubsetSolution best_by_subsets<std::uint32_t>(const SubsetProblem&, double,
                                                       const SubsetPlan&,
                                                       CellEngine<std::uint32_t>&, const Watch&);
template SubsetSolution best_by_subsets<double>(const SubsetProblem&, double, const SubsetPlan&,
                                                CellEngine<double>&, const Watch&);
template SubsetSolution best_by_subsets<std::uint32_t>(const SubsetProblem&, double,
                                                       const SubsetPlan&, const Execution&,
                                                       const Watch&);
template SubsetSolution best_by_subsets<double>(const SubsetProblem&, double, const SubsetPlan&,
                                                const Execution&, const Watch&);

}  // namespace bestdag
