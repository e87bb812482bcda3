#include "missing/posterior.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "missing/group_work.hpp"

namespace bestdag {

namespace {

constexpr std::size_t kCasesPerTask = 256;

}  // namespace

double Posterior::n_numbers(const RowGroups& groups, const FamilyTables& tables,
                            const PosteriorLimits& limits) noexcept {
    double total = 3.0 * static_cast<double>(groups.case_of_row.size());
    for (std::size_t k = 0; k < groups.kinds.size(); ++k) {
        const GroupKind& kind = groups.kinds[k];
        double each = 4.0;
        for (const std::uint32_t v : kind.variables) each += tables.arities[v];
        const auto width = static_cast<double>(kind.variables.size());
        each += kind.joint_cells > limits.max_cells
                    ? width * static_cast<double>(limits.n_draws) / 4.0
                    : kind.joint_cells;
        total += each * static_cast<double>(groups.first_case[k + 1] - groups.first_case[k]);
    }
    return total;
}

Posterior::Posterior(const RowGroups& groups, const FamilyTables& tables,
                     std::span<const double> values, const PosteriorLimits& limits, PhiloxKey key,
                     const Execution& execution)
    : groups_(groups), tables_(tables), n_draws_(limits.n_draws), cases_(groups.n_cases()) {
    std::size_t n_marginals = 0, n_cells = 0, n_codes = 0;
    for (std::size_t k = 0; k < groups.kinds.size(); ++k) {
        const GroupKind& kind = groups.kinds[k];
        std::vector<std::uint32_t>& starts = marginal_starts_.emplace_back(1, 0);
        for (const std::uint32_t v : kind.variables)
            starts.push_back(starts.back() + tables.arities[v]);
        const bool is_drawn = kind.joint_cells > limits.max_cells;
        for (std::size_t i = groups.first_case[k]; i < groups.first_case[k + 1]; ++i) {
            cases_[i] = {static_cast<std::uint32_t>(k), is_drawn, n_marginals,
                         is_drawn ? n_codes : n_cells};
            n_marginals += starts.back();
            n_drawn_ += is_drawn ? 1 : 0;
            (is_drawn ? n_codes : n_cells) += is_drawn ? kind.variables.size() * n_draws_
                                                       : static_cast<std::size_t>(kind.joint_cells);
        }
    }
    marginals_.assign(n_marginals, 0.0);
    cells_.resize(n_cells);
    draws_.resize(n_codes);

    std::atomic<bool> all_possible = true;
    const std::size_t n_tasks = (groups.n_cases() + kCasesPerTask - 1) / kCasesPerTask;
    const double expected = 1000.0 * static_cast<double>(groups.n_cases());
    parallel_for(n_tasks, expected, execution, [&](std::size_t task, const StopFlag& stop) {
        GroupWork work(tables, values.data());
        const std::size_t last = std::min(groups.n_cases(), (task + 1) * kCasesPerTask);
        for (std::size_t i = task * kCasesPerTask, k = groups.kind_of(i); i < last; ++k) {
            const GroupKind& kind = groups.kinds[k];
            const std::vector<std::uint32_t>& starts = marginal_starts_[k];
            const std::size_t width = kind.variables.size();
            const std::size_t end = std::min(last, groups.first_case[k + 1]);
            if (i < end) work.take(kind, !cases_[i].is_drawn);
            for (; i < end; ++i) {
                check(stop);
                if (work.collect(groups.codes_of(k, i)) ==
                    -std::numeric_limits<double>::infinity()) {
                    all_possible = false;
                    continue;
                }
                double* const marginals = marginals_.data() + cases_[i].first_marginal;
                if (!cases_[i].is_drawn) {
                    work.distribute();
                    const std::span<const double> joint = work.joint();
                    std::copy(joint.begin(), joint.end(),
                              cells_.begin() + static_cast<std::ptrdiff_t>(cases_[i].first));
                    std::size_t inner = 1;
                    for (std::size_t v = width; v-- > 0;) {
                        const std::size_t arity = tables.arities[kind.variables[v]];
                        for (std::size_t c = 0; c < joint.size(); ++c) {
                            marginals[starts[v] + c / inner % arity] += joint[c];
                        }
                        inner *= arity;
                    }
                    continue;
                }
                for (std::size_t d = 0; d < n_draws_; ++d) {
                    if ((d & 0x3f) == 0) check(stop);
                    const std::span<std::uint16_t> states{
                        draws_.data() + cases_[i].first + d * width, width};
                    const std::uint64_t row = i * n_draws_ + d;
                    work.draw(
                        [&](std::uint32_t variable) {
                            const std::uint64_t counter = row * tables.size() + variable + 1;
                            return static_cast<double>(philox4x64(key, counter)[0] >> 11) * 0x1p-53;
                        },
                        states);
                    for (std::size_t v = 0; v < width; ++v) {
                        marginals[starts[v] + states[v]] += 1.0 / static_cast<double>(n_draws_);
                    }
                }
            }
        }
    });
    is_possible_ = all_possible.load();

    first_hole_.push_back(0);
    for (std::size_t row = 0; row + 1 < groups.first_of_row.size(); ++row) {
        const std::size_t begin = holes_.size();
        for (std::size_t i = groups.first_of_row[row]; i < groups.first_of_row[row + 1]; ++i) {
            const std::uint32_t number = groups.case_of_row[i];
            const std::vector<std::uint32_t>& variables =
                groups.kinds[cases_[number].kind].variables;
            for (std::uint32_t p = 0; p < variables.size(); ++p) {
                holes_.push_back({variables[p], number, p});
            }
        }
        std::sort(holes_.begin() + static_cast<std::ptrdiff_t>(begin), holes_.end(),
                  [](const Hole& a, const Hole& b) { return a.variable < b.variable; });
        first_hole_.push_back(holes_.size());
    }
}

std::span<const double> Posterior::marginal(const Hole& hole) const noexcept {
    const Case& found = cases_[hole.number];
    const std::vector<std::uint32_t>& starts = marginal_starts_[found.kind];
    return {marginals_.data() + found.first_marginal + starts[hole.position],
            starts[hole.position + 1] - starts[hole.position]};
}

void Posterior::joint(std::uint32_t number, std::span<const std::uint32_t> positions,
                      std::vector<double>& out) const {
    const Case& found = cases_[number];
    const std::vector<std::uint32_t>& variables = groups_.kinds[found.kind].variables;
    std::size_t size = 1;
    for (const std::uint32_t p : positions) size *= tables_.arities[variables[p]];
    out.assign(size, 0.0);
    if (found.is_drawn) {
        const double each = 1.0 / static_cast<double>(n_draws_);
        for (std::size_t d = 0; d < n_draws_; ++d) {
            const std::uint16_t* const states = draws_.data() + found.first + d * variables.size();
            std::size_t cell = 0;
            for (const std::uint32_t p : positions) {
                cell = cell * tables_.arities[variables[p]] + states[p];
            }
            out[cell] += each;
        }
        return;
    }
    // For each variable asked for: its arity, how fast it varies in the table, and in the result.
    struct Step {
        std::size_t arity, inner, stride;
    };
    std::vector<Step> steps;
    std::size_t stride = size;
    for (const std::uint32_t p : positions) {
        std::size_t inner = 1;
        for (std::size_t v = p + 1; v < variables.size(); ++v) {
            inner *= tables_.arities[variables[v]];
        }
        const std::size_t arity = tables_.arities[variables[p]];
        stride /= arity;
        steps.push_back({arity, inner, stride});
    }
    const auto n_cells = static_cast<std::size_t>(groups_.kinds[found.kind].joint_cells);
    const double* const cells = cells_.data() + found.first;
    for (std::size_t c = 0; c < n_cells; ++c) {
        std::size_t cell = 0;
        for (const Step& step : steps) cell += c / step.inner % step.arity * step.stride;
        out[cell] += cells[c];
    }
}

}  // namespace bestdag
