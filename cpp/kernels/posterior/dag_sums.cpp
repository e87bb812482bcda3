#include "posterior/dag_sums.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "posterior/inside_sums.hpp"

namespace bestdag {

namespace {

constexpr double kNanosecondsPerTerm = 12.0;

std::uint64_t bit(std::size_t place) { return std::uint64_t{1} << place; }

// A sum of terms with signs, given by the logarithms of their sizes.
class SignedSum {
public:
    void add(double log_size, bool is_negative) {
        if (log_size == kLogZero) return;
        if (log_size > reference_) {
            sum_ *= std::exp(reference_ - log_size);
            reference_ = log_size;
        }
        const double term = std::exp(log_size - reference_);
        sum_ += is_negative ? -term : term;
    }
    // Zero where rounding makes the sum negative.
    double log() const { return sum_ > 0.0 ? reference_ + std::log(sum_) : kLogZero; }

private:
    double reference_ = kLogZero, sum_ = 0.0;
};

// All sets T of the variables outside S, with the logarithms of prod_T a_j(S).
struct Outside {
    std::vector<std::size_t> members;
    std::vector<std::uint64_t> sets;
    std::vector<double> logs;

    Outside(const InsideSums& inside, std::uint64_t set) {
        const double* const row = inside.row(set);
        for (std::uint64_t left = ~set & (inside.n_sets() - 1); left != 0; left &= left - 1) {
            members.push_back(static_cast<std::size_t>(std::countr_zero(left)));
        }
        sets.assign(bit(members.size()), 0);
        logs.assign(bit(members.size()), 0.0);
        for (std::size_t k = 0; k < members.size(); ++k) {
            for (std::uint64_t c = 0; c < bit(k); ++c) {
                sets[c | bit(k)] = sets[c] | bit(members[k]);
                logs[c | bit(k)] = logs[c] + row[members[k]];
            }
        }
    }
};

bool is_odd(std::uint64_t set) { return std::popcount(set) % 2 != 0; }

class Sums {
public:
    Sums(const ParentWeights& weights, const Execution& execution)
        : weights_(weights),
          execution_(execution),
          inside_(weights, execution),
          n_(weights.n()),
          prefixes_(inside_.n_sets()),
          suffixes_(inside_.n_sets()),
          around_(n_ * inside_.n_sets() / 2) {
        for (std::size_t size = 0; size <= n_; ++size) {
            each_of_size(size, [&](std::uint64_t set) { prefixes_.data()[set] = prefix(set); });
        }
        for (std::size_t size = n_ + 1; size-- > 0;) {
            each_of_size(size, [&](std::uint64_t set) { suffixes_.data()[set] = suffix(set); });
        }
        for (std::size_t size = 0; size < n_; ++size) {
            each_of_size(size, [&](std::uint64_t set) { fill_around(set); });
        }
    }

    std::pair<double, double> log_totals() const {
        return {prefixes_.data()[inside_.n_sets() - 1], suffixes_.data()[0]};
    }

    void probabilities(std::span<double> sets, std::span<double> arcs) const {
        const double expected = kNanosecondsPerTerm * static_cast<double>(n_ * n_ * bit(n_));
        parallel_for(n_, expected, execution_, [&](std::size_t v, const StopFlag& stop) {
            double* const mine = around_.data() + v * bit(n_ - 1);
            sum_over_supersets(mine, n_ - 1);
            add_families(weights_, v, mine, log_totals().first, sets, arcs, stop);
        });
    }

private:
    template <class Visit>
    void each_of_size(std::size_t size, const Visit& visit) const {
        constexpr std::uint64_t kPerTask = 16;
        std::vector<std::uint64_t> sets;
        for (std::uint64_t set = 0; set < inside_.n_sets(); ++set) {
            if (static_cast<std::size_t>(std::popcount(set)) == size) sets.push_back(set);
        }
        const double per_set = kNanosecondsPerTerm * static_cast<double>(n_) *
                               std::exp2(static_cast<double>(std::max(size, n_ - size)));
        parallel_for(
            (sets.size() + kPerTask - 1) / kPerTask, per_set * static_cast<double>(sets.size()),
            execution_, [&](std::size_t task, const StopFlag& stop) {
                const std::size_t end = std::min<std::size_t>(sets.size(), (task + 1) * kPerTask);
                for (std::size_t i = task * kPerTask; i < end && !stop; ++i) {
                    visit(sets[i]);
                }
            });
    }

    double prefix(std::uint64_t set) const {  // H
        if (set == 0) return 0.0;
        SignedSum sum;
        for (std::uint64_t before = (set - 1) & set;; before = (before - 1) & set) {
            const double* const row = inside_.row(before);
            double term = prefixes_.data()[before];
            for (std::uint64_t left = set & ~before; left != 0; left &= left - 1) {
                term += row[std::countr_zero(left)];
            }
            sum.add(term, !is_odd(set & ~before));
            if (before == 0) break;
        }
        return sum.log();
    }

    double suffix(std::uint64_t set) const {  // R
        if (set == inside_.n_sets() - 1) return 0.0;
        const Outside outside(inside_, set);
        SignedSum sum;
        for (std::uint64_t c = 1; c < outside.sets.size(); ++c) {
            sum.add(outside.logs[c] + suffixes_.data()[set | outside.sets[c]], !is_odd(c));
        }
        return sum.log();
    }

    void fill_around(std::uint64_t set) {  // H(S) D_v(S)
        const Outside outside(inside_, set);
        for (std::size_t k = 0; k < outside.members.size(); ++k) {
            const std::size_t v = outside.members[k];
            const double reference = suffixes_.data()[set | bit(v)];  // no term is larger
            double sum = 0.0;
            for (std::uint64_t c = 0; c < outside.sets.size() && reference > kLogZero; ++c) {
                if ((c & bit(k)) != 0) continue;
                const double log_size =
                    outside.logs[c] + suffixes_.data()[set | bit(v) | outside.sets[c]];
                const double term = std::exp(log_size - reference);
                sum += is_odd(c) ? -term : term;
            }
            around_.data()[v * bit(n_ - 1) + without_place(set, v)] =
                sum > 0.0 ? prefixes_.data()[set] + reference + std::log(sum) : kLogZero;
        }
    }

    const ParentWeights& weights_;
    const Execution& execution_;
    const InsideSums inside_;
    const std::size_t n_;
    const Cells<double> prefixes_, suffixes_, around_;
};

}  // namespace

std::pair<double, double> sum_over_dags(const ParentWeights& weights, const Execution& execution,
                                        std::span<double> sets, std::span<double> arcs) {
    if (weights.n() > kMaxDagVariables) {
        throw std::invalid_argument("sums over DAGs: too many variables");
    }
    const Sums sums(weights, execution);
    sums.probabilities(sets, arcs);
    return sums.log_totals();
}

double dag_sums_bytes(std::size_t n) {
    return sizeof(double) * std::exp2(static_cast<double>(n)) *
           (1.5 * static_cast<double>(n) + 6.0);
}

}  // namespace bestdag
