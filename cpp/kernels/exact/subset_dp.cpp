#include "exact/subset_dp.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "base/cells.hpp"
#include "exact/subset_program.hpp"
#include "exact/subset_rivals.hpp"
#include "exact/subset_walk.hpp"

namespace bestdag {

namespace {

// Steps between the subsets of rivals, some microseconds each: they may take a small part of what
// the cells take.
constexpr double kStepsPerCell = 1.0 / 4096;
constexpr double kStepsAlways = 1 << 14;
constexpr double kBytesPerStep = 160;  // a step and the subset it leads to, in vectors that grow

double most_steps(int n) { return std::max(kStepsAlways, kStepsPerCell * std::exp2(n)); }

constexpr double kNanosecondsPerCell = 10.0;  // one thread: to see whether threads are worth it

// Walks are lent to tasks and come back: at most one per thread is ever made.
template <class T>
class Walks {
public:
    explicit Walks(const SubsetProgram<T>& program) : program_(program) {}

    std::unique_ptr<SubsetWalk<T>> take() {
        {
            const std::lock_guard lock(mutex_);
            if (!idle_.empty()) {
                auto walk = std::move(idle_.back());
                idle_.pop_back();
                return walk;
            }
        }
        return std::make_unique<SubsetWalk<T>>(program_);
    }

    void give_back(std::unique_ptr<SubsetWalk<T>> walk) {
        const std::lock_guard lock(mutex_);
        idle_.push_back(std::move(walk));
    }

private:
    const SubsetProgram<T>& program_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<SubsetWalk<T>>> idle_;
};

template <class T>
void fill_cells(const SubsetProgram<T>& program, const Execution& execution, const Watch& watch) {
    const Division& division = program.division;
    const std::size_t n_tasks = std::size_t{1} << division.top;
    const std::size_t n_blocks = n_tasks * division.task_blocks();
    std::atomic<std::size_t> blocks_done = 0;
    const Execution watched{
        execution.threads, [&] {
            const double share = static_cast<double>(blocks_done) / static_cast<double>(n_blocks);
            return (watch && watch(share)) || (execution.should_stop && execution.should_stop());
        }};
    std::vector<std::uint32_t> tops(n_tasks);
    std::iota(tops.begin(), tops.end(), 0u);
    std::stable_sort(tops.begin(), tops.end(), [](std::uint32_t a, std::uint32_t b) {
        return std::popcount(a) < std::popcount(b);
    });
    Walks<T> walks(program);
    const double task_nanoseconds =
        kNanosecondsPerCell * static_cast<double>(division.block_cells() * division.task_blocks());
    for (std::size_t begin = 0; begin < n_tasks;) {
        if (begin > 0 && watched.should_stop()) throw Interrupted();  // short layers do not ask
        std::size_t end = begin;
        while (end < n_tasks && std::popcount(tops[end]) == std::popcount(tops[begin])) ++end;
        parallel_for(end - begin, task_nanoseconds * static_cast<double>(end - begin), watched,
                     [&](std::size_t i, const StopFlag& stop) {
                         auto walk = walks.take();
                         walk->run(tops[begin + i], blocks_done, stop);
                         walks.give_back(std::move(walk));
                     });
        begin = end;
    }
}

// The cells, asked for subsets in the problem's numbering.
template <class T>
class Values {
public:
    Values(const SubsetProblem& problem, const SubsetProgram<T>& program) : program_(program) {
        for (int bit = problem.n; bit < program.division.n; ++bit) {
            padding_ |= std::uint64_t{1} << bit;
        }
    }

    T operator()(std::uint64_t subset) const {
        return program_.cells[move_bits(subset, program_.bit_of) | padding_];
    }

private:
    const SubsetProgram<T>& program_;
    std::uint64_t padding_ = 0;
};

template <class T>
SubsetSolution walk_back(const SubsetProblem& problem, const SubsetProgram<T>& program) {
    const auto n = static_cast<std::size_t>(problem.n);
    const Values<T> value(problem, program);
    SubsetSolution solution;
    std::uint64_t left = (std::uint64_t{1} << problem.n) - 1;
    if (value(left) >= program.limit) return solution;
    solution.feasible = true;
    solution.cost = static_cast<double>(value(left));
    solution.chosen.assign(n, -1);
    while (left != 0) {
        const std::uint64_t before = left;
        for (std::uint64_t sinks = left; sinks != 0 && left == before; sinks &= sinks - 1) {
            const auto v = static_cast<std::size_t>(std::countr_zero(sinks));
            const std::uint64_t rest = left & ~(std::uint64_t{1} << v);
            for (auto k = static_cast<std::size_t>(problem.first[v]);
                 k < static_cast<std::size_t>(problem.first[v + 1]); ++k) {
                if ((problem.members[k] & ~rest) != 0) continue;
                const auto cost = std::min(problem.costs[k], static_cast<double>(program.limit));
                if (static_cast<double>(value(rest)) + cost == static_cast<double>(value(left))) {
                    solution.chosen[v] = static_cast<std::int64_t>(k) - problem.first[v];
                    left = rest;
                }
                break;  // costs ascend: the first set inside is the best one
            }
        }
        if (left == before) throw std::logic_error("subset recursion: no sink explains a cell");
    }
    return solution;
}

// Out of time, the choice of least cost must do.
template <class T>
std::optional<SubsetSolution> decide(const SubsetProblem& problem, const SubsetProgram<T>& program,
                                     double cost, const Execution& execution, const Watch& watch) {
    const auto should_stop = [&] {
        return (watch && watch(1.0)) || (execution.should_stop && execution.should_stop());
    };
    try {
        return best_of_rivals(problem, Values<T>(problem, program), cost + problem.n + 1,
                              static_cast<std::size_t>(most_steps(problem.n)), should_stop);
    } catch (const Interrupted&) {
        return std::nullopt;
    }
}

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

}  // namespace

template <class T>
SubsetSolution best_by_subsets(const SubsetProblem& problem, double limit,
                               const Execution& execution, const Watch& watch) {
    check(problem, limit, CellTraits<T>::kMaxLimit);
    SubsetProgram<T> program(problem, limit);
    Cells<T> cells(std::size_t{1} << program.division.n);
    program.cells = cells.data();
    fill_cells(program, execution, watch);
    const SubsetSolution solution = walk_back(problem, program);
    if (problem.fine.empty() || !solution.feasible) return solution;
    return decide(problem, program, solution.cost, execution, watch).value_or(solution);
}

template SubsetSolution best_by_subsets<std::uint32_t>(const SubsetProblem&, double,
                                                       const Execution&, const Watch&);
template SubsetSolution best_by_subsets<double>(const SubsetProblem&, double, const Execution&,
                                                const Watch&);

double subset_bytes(int n, std::size_t n_sets, int threads, std::size_t bytes_per_cell) {
    const Division division(n);
    const auto cell = static_cast<double>(bytes_per_cell);
    const auto levels = static_cast<double>(division.middle + 1);
    const double walk = levels * division.n * static_cast<double>(division.block_cells()) * cell +
                        (levels + 2) * static_cast<double>(n_sets) * 16.0;
    const double tasks = std::exp2(division.top);
    return std::exp2(division.n) * cell + std::min<double>(threads, tasks) * walk +
           static_cast<double>(n_sets) * 32.0 + most_steps(n) * kBytesPerStep;
}

}  // namespace bestdag
