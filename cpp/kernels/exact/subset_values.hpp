// The values of subsets in the cells of an engine: those that are there, and those that are
// computed again because others took their place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "exact/subset_descent.hpp"
#include "exact/subset_dp.hpp"
#include "exact/subset_program.hpp"

namespace bestdag {

// The most steps between subsets that a descent may look at: some microseconds each, and a small
// part of what the cells take.
double most_steps(int n);

template <class T>
class SubsetValues : public SubsetOracle {
public:
    SubsetValues(const SubsetProblem& problem, const SubsetPlan& plan, CellEngine<T>& engine)
        : problem_(problem), plan_(plan), engine_(engine) {}

    // The value of all variables of a scope. Throws Interrupted.
    double run(SubsetScope scope, double limit, const Watch& watch);

    int layer(std::uint64_t subset) const override;
    bool is_known(int layer) const override;
    void find_again(std::span<const std::uint64_t> subsets) override;
    void read(std::span<const std::uint64_t> subsets, std::span<double> values) const override;

    double visited() const { return visited_; }

private:
    void lay_out();
    void fill(std::size_t n_layers, const Watch& watch);

    const SubsetProblem& problem_;
    const SubsetPlan plan_;
    CellEngine<T>& engine_;
    SubsetScope scope_;
    double limit_ = 0.0;
    Watch watch_;
    std::optional<SubsetProgram<T>> program_;
    std::size_t room_ = 0;     // tasks in the arena
    std::size_t written_ = 0;  // tasks that were written
    double visited_ = 0.0;
};

}  // namespace bestdag
