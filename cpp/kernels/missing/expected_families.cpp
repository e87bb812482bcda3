#include "missing/expected_families.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace bestdag {

namespace {

constexpr std::size_t kBlockRows = 4096;
// Cells of a family that are written out (8 MiB).
constexpr double kMostCells = 1u << 20;
constexpr double kNanosecondsPerRow = 20.0;

double weight_of(const Weights& weights, std::size_t row) noexcept {
    if (weights.real) return weights.real[row];
    return weights.whole ? static_cast<double>(weights.whole[row]) : 1.0;
}

double cells_of(const Table& rows, const Family& family) noexcept {
    return n_configurations(rows, family) * rows.column(family.child).arity;
}

double nanoseconds(const Table& rows, const FamilyList& families) noexcept {
    return kNanosecondsPerRow * static_cast<double>(rows.n_rows()) *
           static_cast<double>(families.size());
}

// Tasks of few families: each thread makes its counter once and takes the next.
template <class Make>
void for_families(std::size_t n, double expected, const Execution& execution, const Make& make) {
    std::atomic<std::size_t> next = 0;
    const auto n_workers = std::min<std::size_t>(
        n, expected < 3e6 ? 1 : static_cast<std::size_t>(std::max(1, execution.threads)));
    parallel_for(n_workers, expected, execution, [&](std::size_t, const StopFlag& stop) {
        auto work = make(stop);
        for (std::size_t i; (i = next++) < n;) {
            check(stop);
            work(i);
        }
    });
}

}  // namespace

void ExpectedCounter::set(const Family& family) {
    members_.clear();
    std::uint64_t stride = rows_.column(family.child).arity;
    for (std::size_t p = family.parents.size(); p-- > 0;) {
        const auto column = static_cast<std::uint32_t>(family.parents[p]);
        members_.push_back({column, rows_.column(column).arity, stride});
        stride *= rows_.column(column).arity;
    }
    const auto child = static_cast<std::uint32_t>(family.child);
    members_.push_back({child, rows_.column(child).arity, 1});
}

std::size_t ExpectedCounter::find_states(std::size_t row) {
    met_.clear();
    for (const Posterior::Hole& hole : posterior_.holes(row)) {
        for (const Member& member : members_) {
            if (member.column == hole.variable) met_.emplace_back(hole, &member);
        }
    }
    std::stable_sort(met_.begin(), met_.end(),
                     [](const auto& a, const auto& b) { return a.first.number < b.first.number; });
    std::size_t n = 0;
    for (std::size_t i = 0; i < met_.size();) {
        const std::uint32_t number = met_[i].first.number;
        positions_.clear();
        of_case_.clear();
        const std::size_t first = i;
        for (; i < met_.size() && met_[i].first.number == number; ++i) {
            positions_.push_back(met_[i].first.position);
            of_case_.push_back(met_[i].second);
        }
        if (states_.size() <= n) states_.emplace_back();
        States& states = states_[n];
        states.offsets.clear();
        states.shares.clear();
        if (i - first == 1) {
            const std::span<const double> shares = posterior_.marginal(met_[first].first);
            for (std::size_t k = 0; k < shares.size(); ++k) {
                if (shares[k] == 0.0) continue;
                states.offsets.push_back(k * of_case_[0]->stride);
                states.shares.push_back(shares[k]);
            }
        } else {
            add_states(n, number);
        }
        ++n;
    }
    return n;
}

void ExpectedCounter::add_states(std::size_t n, std::uint32_t number) {
    posterior_.joint(number, positions_, joint_);
    for (std::size_t c = 0; c < joint_.size(); ++c) {
        if (joint_[c] == 0.0) continue;
        std::uint64_t offset = 0;
        std::size_t rest = c;
        for (std::size_t m = of_case_.size(); m-- > 0;) {
            offset += rest % of_case_[m]->arity * of_case_[m]->stride;
            rest /= of_case_[m]->arity;
        }
        states_[n].offsets.push_back(offset);
        states_[n].shares.push_back(joint_[c]);
    }
}

template <class Add>
void ExpectedCounter::count(const Family& family, const StopFlag& stop, const Add& add) {
    set(family);
    cells_.resize(kBlockRows);
    missing_.resize(kBlockRows);
    for (std::size_t first = 0; first < rows_.n_rows(); first += kBlockRows) {
        check(stop);
        const std::size_t n_rows = std::min(kBlockRows, rows_.n_rows() - first);
        std::fill_n(cells_.begin(), n_rows, std::uint64_t{0});
        std::fill_n(missing_.begin(), n_rows, std::uint8_t{0});
        for (const Member& member : members_) {
            if (member.arity == 1) continue;  // its only state, seen or not
            const Column& column = rows_.column(member.column);
            const auto visit = [&](const auto* codes) {
                for (std::size_t i = 0; i < n_rows; ++i) {
                    const bool is_missing = codes[first + i] == member.arity;
                    missing_[i] |= static_cast<std::uint8_t>(is_missing);
                    cells_[i] += is_missing ? 0 : member.stride * codes[first + i];
                }
            };
            column.narrow ? visit(column.narrow) : visit(column.wide);
        }
        for (std::size_t i = 0; i < n_rows; ++i) {
            const double weight = weight_of(rows_.weights(), first + i);
            if (!missing_[i]) {
                add(cells_[i], weight);
                continue;
            }
            const std::size_t n = find_states(first + i);
            const auto spread = [&](const auto& self, std::size_t s, std::uint64_t cell,
                                    double share) -> void {
                if (s == n) {
                    add(cell, share);
                    return;
                }
                for (std::size_t k = 0; k < states_[s].shares.size(); ++k) {
                    self(self, s + 1, cell + states_[s].offsets[k], share * states_[s].shares[k]);
                }
            };
            spread(spread, 0, cells_[i], weight);
        }
    }
}

std::vector<ExpectedCells> count_expected(const Table& rows, const Posterior& posterior,
                                          const FamilyList& families, const Execution& execution) {
    std::vector<ExpectedCells> found(families.size());
    for_families(
        families.size(), nanoseconds(rows, families), execution, [&](const StopFlag& stop) {
            return [&, counter = ExpectedCounter(rows, posterior)](std::size_t i) mutable {
                std::unordered_map<std::uint64_t, double> counts;
                counter.count(families[i], stop,
                              [&](std::uint64_t cell, double weight) { counts[cell] += weight; });
                std::vector<std::pair<std::uint64_t, double>> sorted(counts.begin(), counts.end());
                std::sort(sorted.begin(), sorted.end());
                for (const auto& [cell, weight] : sorted) {
                    found[i].cells.push_back(cell);
                    found[i].counts.push_back(weight);
                }
            };
        });
    return found;
}

void score_expected(const Table& rows, const Posterior& posterior, const Table& shown,
                    const Kernel& kernel, const FamilyList& families, Wanted wanted, double growth,
                    std::span<double> scores, const Execution& execution) {
    for_families(families.size(), kernel.expected(nanoseconds(rows, families)), execution,
                 [&](const StopFlag& stop) {
                     return [&, counter = ExpectedCounter(rows, posterior),
                             evaluator = kernel.evaluator(shown, stop),
                             cells = std::vector<double>()](std::size_t i) mutable {
                         const Family family = families[i];
                         const double n_cells = cells_of(rows, family);
                         scores[i] = std::numeric_limits<double>::quiet_NaN();
                         if (n_cells > kMostCells) return;
                         cells.assign(static_cast<std::size_t>(n_cells), 0.0);
                         counter.count(family, stop, [&](std::uint64_t cell, double weight) {
                             cells[cell] += weight;
                         });
                         const FamilyShape shape = shape_of(shown, family);
                         const CountRows<double> counts{cells, rows.column(family.child).arity};
                         if (wanted == Wanted::kScore) {
                             scores[i] = score_of(*evaluator, shape, counts);
                         } else {
                             scores[i] = evaluator->bound_constant(shape, growth) +
                                         evaluator->bound_rows(counts, shape);
                         }
                     };
                 });
}

}  // namespace bestdag
