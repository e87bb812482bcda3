#include "scoring/found_sets.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>

#include "base/parallel.hpp"
#include "base/subsets.hpp"
#include "scoring/all_families.hpp"

namespace bestdag {

namespace {

constexpr std::size_t kMaxSharedParents = 3;  // with more, bounds save more than sharing does
constexpr double kMaxSharedFamilies = 1u << 23;
constexpr double kNanosecondsPerFamily = 500.0;  // roughly, and half a nanosecond for each row
constexpr double kShareOfTime = 0.25;            // of a time limit that the forecast may take
constexpr double kBytesPerFamily = 40.0;         // its score, and the set if it is kept
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::size_t most_parents(std::span<const ParentLimits> limits) noexcept {
    std::size_t most = 0;
    for (const ParentLimits& limit : limits) most = std::max(most, limit.max_parents);
    return most;
}

// Goes through the scores of one child's families in the order of score_all_families and keeps
// what no subset dominates.
class Pruner {
public:
    Pruner(std::size_t n_columns, std::size_t max_parents)
        : others_(n_columns - 1, max_parents), best_(others_.n_up_to(max_parents)) {}

    FoundSets run(std::size_t child, const ParentLimits& limits, std::span<const double> scores,
                  const Pruning& pruning, const StopFlag& stop) {
        number(child, limits);
        FoundSets found;
        for (std::size_t size = 0; size <= limits.max_parents; ++size) {
            check(stop);
            set_.resize(size);
            std::iota(set_.begin(), set_.end(), 0);
            const std::size_t first = others_.offset(size);
            const std::size_t n_sets = others_.n_of_size(size);
            for (std::size_t rank = 0; rank < n_sets; ++rank, advance()) {
                const double bonus = bonus_of_set(limits);
                if (bonus == -kInfinity) {
                    best_[first + rank] = -kInfinity;  // not allowed
                    continue;
                }
                ++found.n_scored;
                const double score = scores[first + rank] + bonus;
                if (score != score) throw std::domain_error("a score is not a number");
                const double best = pruning.is_on ? best_subset() : -kInfinity;
                best_[first + rank] = std::max(best, score);
                if (pruning.keeps(score, best)) {
                    parents_.clear();
                    for (const std::int32_t other : set_) {
                        parents_.push_back(other + (static_cast<std::size_t>(other) >= child));
                    }
                    found.add(score, parents_);
                }
            }
        }
        return found;
    }

private:
    // Bonuses of all columns but the child; minus infinity for those that may not be parents.
    void number(std::size_t child, const ParentLimits& limits) {
        bonuses_.assign(others_.n_elements(), -kInfinity);
        required_.assign(others_.n_elements(), 0);
        n_required_ = limits.required.size();
        const auto position = [&](std::int32_t column) {
            const auto c = static_cast<std::size_t>(column);
            return c - (c > child);
        };
        for (std::size_t i = 0; i < limits.allowed.size(); ++i) {
            bonuses_[position(limits.allowed[i])] = limits.bonus_of(i);
        }
        for (const std::int32_t column : limits.required) {
            bonuses_[position(column)] = 0.0;
            required_[position(column)] = 1;
        }
    }

    double bonus_of_set(const ParentLimits& limits) const {
        double bonus = limits.bonus;
        std::size_t n_required = 0;
        for (const std::int32_t other : set_) {
            bonus += bonuses_[static_cast<std::size_t>(other)];
            n_required += required_[static_cast<std::size_t>(other)];
        }
        return n_required == n_required_ ? bonus : -kInfinity;
    }

    // Over the subsets with one parent less; one without a required parent has minus infinity.
    double best_subset() const {
        const std::size_t size = set_.size();
        double best = -kInfinity;
        for (std::size_t skipped = 0; skipped < size; ++skipped) {
            std::size_t rank = 0;
            for (std::size_t i = 0; i < size; ++i) {
                if (i == skipped) continue;
                rank += others_.choose(static_cast<std::size_t>(set_[i]), i + (i < skipped));
            }
            best = std::max(best, best_[others_.offset(size - 1) + rank]);
        }
        return best;
    }

    // The next set of the same size in colexicographic order.
    void advance() {
        for (std::size_t i = 0; i < set_.size(); ++i) {
            if (i + 1 == set_.size() || set_[i] + 1 < set_[i + 1]) {
                ++set_[i];
                std::iota(set_.begin(), set_.begin() + static_cast<std::ptrdiff_t>(i), 0);
                return;
            }
        }
    }

    Subsets others_;
    std::vector<double> best_;  // of each set and its subsets
    std::vector<double> bonuses_;
    std::vector<std::uint8_t> required_;
    std::size_t n_required_ = 0;
    std::vector<std::int32_t> set_, parents_;
};

}  // namespace

FoundSets up_to(FoundSets sets, std::size_t max_parents) {
    bool has_larger = false;
    for (std::size_t i = 0; i < sets.scores.size() && !has_larger; ++i) {
        has_larger = sets.parents(i).size() > max_parents;
    }
    if (!has_larger) return sets;
    FoundSets smaller;
    for (std::size_t i = 0; i < sets.scores.size(); ++i) {
        if (sets.parents(i).size() <= max_parents) smaller.add(sets.scores[i], sets.parents(i));
    }
    smaller.n_scored = sets.n_scored;
    smaller.is_complete = sets.is_complete;
    return smaller;
}

void order_by_score(FoundSets& sets) {
    const auto before = [&](std::size_t a, std::size_t b) { return comes_before(sets, a, b); };
    std::vector<std::size_t> order(sets.scores.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (std::is_sorted(order.begin(), order.end(), before)) return;
    std::sort(order.begin(), order.end(), before);
    FoundSets ordered;
    ordered.scores.reserve(sets.scores.size());
    ordered.ends.reserve(sets.ends.size());
    ordered.members.reserve(sets.members.size());
    for (const std::size_t i : order) ordered.add(sets.scores[i], sets.parents(i));
    ordered.n_scored = sets.n_scored;
    ordered.is_complete = sets.is_complete;
    sets = std::move(ordered);
}

LocalScores join(std::span<FoundSets> lists) {
    LocalScores sets;
    std::size_t n_sets = 0, n_members = 0;
    for (const FoundSets& list : lists) {
        n_sets += list.scores.size();
        n_members += list.members.size();
    }
    sets.scores.reserve(n_sets);
    sets.offsets.reserve(n_sets + 1);
    sets.members.reserve(n_members);
    for (FoundSets& list : lists) {
        const auto offset = static_cast<std::int64_t>(sets.members.size());
        sets.scores.insert(sets.scores.end(), list.scores.begin(), list.scores.end());
        sets.members.insert(sets.members.end(), list.members.begin(), list.members.end());
        for (const std::int64_t end : list.ends) sets.offsets.push_back(offset + end);
        sets.first_sets.push_back(static_cast<std::int64_t>(sets.scores.size()));
        list = {};
    }
    return sets;
}

bool shares_counts(const Table& table, const Kernel& kernel, std::span<const ParentLimits> limits,
                   double seconds, double max_bytes) noexcept {
    if (kernel.traits().may_refuse) return false;
    const std::size_t max_parents = most_parents(limits);
    if (max_parents > kMaxSharedParents) return false;
    double n_sets = 1.0;
    double n_families = 1.0;
    double n_allowed = 0.0;
    for (std::size_t k = 1; k <= max_parents; ++k) {
        n_sets *= static_cast<double>(table.n_columns() - k) / static_cast<double>(k);
        n_families += n_sets;
    }
    n_families *= static_cast<double>(table.n_columns());
    for (const ParentLimits& limit : limits) {
        n_allowed += static_cast<double>(limit.allowed.size());
    }
    const bool is_limited =  // knowledge leaves little to share
        2.0 * n_allowed < static_cast<double>(table.n_columns() * (table.n_columns() - 1));
    const double nanoseconds =
        n_families * (kNanosecondsPerFamily + kernel.traits().nanoseconds_per_family +
                      0.5 * static_cast<double>(table.n_rows()));
    return !is_limited && n_families <= kMaxSharedFamilies &&
           n_families * kBytesPerFamily <= max_bytes && nanoseconds <= kShareOfTime * 1e9 * seconds;
}

std::vector<FoundSets> find_by_sharing(const Table& table, const Kernel& kernel,
                                       std::span<const ParentLimits> limits, const Pruning& pruning,
                                       const Execution& execution) {
    const std::size_t max_parents = most_parents(limits);
    const std::size_t n_sets = Subsets(table.n_columns() - 1, max_parents).n_up_to(max_parents);
    std::vector<double> scores(limits.size() * n_sets);
    score_all_families(table, kernel, max_parents, scores, execution);
    std::vector<FoundSets> found(limits.size());
    std::atomic<std::size_t> next = 0;
    const auto n_workers =
        std::min(limits.size(), static_cast<std::size_t>(std::max(1, execution.threads)));
    parallel_for(n_workers, 20.0 * static_cast<double>(scores.size()), execution,
                 [&](std::size_t, const StopFlag& stop) {
                     Pruner pruner(table.n_columns(), max_parents);
                     for (std::size_t child; !stop && (child = next++) < limits.size();) {
                         found[child] = pruner.run(
                             child, limits[child],
                             std::span(scores).subspan(child * n_sets, n_sets), pruning, stop);
                     }
                 });
    return found;
}

}  // namespace bestdag
