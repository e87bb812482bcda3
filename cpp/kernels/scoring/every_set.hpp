// Functions of every set of columns: for all 2^n sets at once, each counted once for all families.
//
// A score of the form SetForm::difference or by_arity needs nothing else: the local score of v
// given P is g(P and v) - g(P), or g(P and v) - h_r(P), with g and h_r sums over the cells of a
// set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/cells.hpp"
#include "base/parallel.hpp"
#include "counting/table.hpp"
#include "scores/kernel.hpp"

namespace bestdag {

inline constexpr std::size_t kMaxEverySetColumns = 32;

// Sets are numbers of n bits; bit b is column column_of_bit[b].
struct SetValues {
    std::vector<std::size_t> column_of_bit;
    std::vector<std::size_t> arity_of_bit;
    bool by_arity = false;
    std::unique_ptr<Cells<double>> joint;  // g of each set
    // h_r of each set, one array for each arity a column has; none where g serves for parents too.
    std::vector<std::unique_ptr<Cells<double>>> given;
    std::vector<std::size_t> given_of_bit;  // which of them belongs to this column as a child

    std::size_t n() const noexcept { return column_of_bit.size(); }
    std::size_t n_sets() const noexcept { return std::size_t{1} << n(); }
    const double* of_parents(std::size_t child) const noexcept {
        return by_arity ? given[given_of_bit[child]]->data() : joint->data();
    }
};

// What it takes.
struct EverySetForecast {
    bool is_possible = false;  // the score has the form, and the table is not too wide
    double bytes = 0.0;        // of the result and of the work
    double row_steps = 0.0;    // rows looked at over all sets, estimated; a few nanoseconds each
};

// With `leave_out`, sets in which no family can score as much as a child without parents get minus
// infinity and are not counted: right where every child may be without parents and no prior adds to
// the scores.
EverySetForecast forecast_every_set(const Table& table, const Kernel& kernel, bool leave_out,
                                    const Execution& execution);

inline constexpr std::size_t kMaxScoresAtOnce = 31;

// Whether the score has the form, and the table is not too wide.
bool has_set_form(const Table& table, const Kernel& kernel);

// Values by each of some kernels, at most kMaxScoresAtOnce: each set is counted once for all. All
// must have the form. `progress` is told the share of the work done by the calling thread and
// returns true to stop. Throws Interrupted.
std::vector<SetValues> every_set_by(const Table& table, std::span<const Kernel> kernels,
                                    bool leave_out, const Execution& execution,
                                    const std::function<bool(double)>& progress);

// By one kernel.
SetValues every_set(const Table& table, const Kernel& kernel, bool leave_out,
                    const Execution& execution, const std::function<bool(double)>& progress);

}  // namespace bestdag
