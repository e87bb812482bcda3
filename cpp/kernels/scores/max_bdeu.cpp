// Native twin of scores/max_bdeu.py.
#include <algorithm>
#include <cmath>
#include <vector>

#include "scores/contaminated_prior.hpp"
#include "scores/list.hpp"

namespace bestdag {

namespace {

// Remembers by prior and counts: small counts come again and again, within a family and from
// family to family. Each key has one place, and the newest stays; the key is exact.
class Memory {
public:
    Memory() : entries_(std::size_t{1} << kBits) {}

    // A key for these counts, largest first; 0 when they cannot be remembered. 48 bits hold four
    // counts of 12 bits, six of 8 or twelve of 4; a count is never zero.
    static std::uint64_t key_of(const std::vector<double>& counts,
                                std::uint32_t prior_id) noexcept {
        const std::uint32_t kind = counts.size() <= 4 ? 0 : counts.size() <= 6 ? 1 : 2;
        const std::uint32_t n_bits = 12 - 4 * kind;
        if (counts.size() > 12 || counts[0] >= static_cast<double>(1u << n_bits)) return 0;
        std::uint64_t key = 0;
        for (const double n : counts) {
            const auto whole = static_cast<std::uint64_t>(n);
            if (static_cast<double>(whole) != n) return 0;
            key = key << n_bits | whole;
        }
        return key | static_cast<std::uint64_t>(4 * prior_id + kind) << 48;
    }

    struct Entry {
        std::uint64_t key = 0;
        double value = 0.0;
    };

    Entry& operator[](std::uint64_t key) noexcept {
        return entries_[(key * 0x9E3779B97F4A7C15u) >> (64 - kBits)];
    }

    void forget() { std::fill(entries_.begin(), entries_.end(), Entry{}); }

private:
    static constexpr int kBits = 14;  // 256 kB

    std::vector<Entry> entries_;
};

class MaxBdeu final : public PureBoundOf<MaxBdeu, EvaluatorOf> {
public:
    MaxBdeu(double ess, double epsilon) : epsilon_(epsilon), priors_(ess, epsilon) {}

    template <class Count>
    double sum_rows(const CountRows<Count>& counts, const FamilyShape& shape) {
        bool forgot = false;
        PriorLookup& prior = priors_.of(shape, forgot);
        if (forgot) memory_.forget();
        double score = 0.0;
        for (std::size_t row = 0; row < counts.cells.size(); row += counts.arity) {
            Count row_total{0};  // N_j
            seen_.clear();
            for (const Count n : counts.cells.subspan(row, counts.arity)) {
                if (n == Count{0}) continue;
                row_total += n;
                seen_.push_back(static_cast<double>(n));
            }
            if (seen_.empty()) continue;
            score += cells(prior) - prior.total(row_total);
        }
        return score;
    }

    double constant(const FamilyShape&) override { return 0.0; }

    // No prior of the set gives a state a larger share.
    template <class Count>
    double sum_pure(const CountRows<Count>& counts, const FamilyShape& shape) {
        const auto r = static_cast<double>(shape.arity);
        return first_cases(counts, std::min(1.0, epsilon_ + (1.0 - epsilon_) / r));
    }

private:
    // What the cells of the row in seen_ contribute.
    double cells(PriorLookup& prior) {
        if (seen_.size() == 1) return prior.top(seen_[0]);
        std::sort(seen_.begin(), seen_.end(), std::greater<>());
        const std::uint64_t key = Memory::key_of(seen_, prior.id);
        if (key == 0) return solve(prior.prior);
        Memory::Entry& entry = memory_[key];
        if (entry.key != key) entry = {key, solve(prior.prior)};
        return entry.value;
    }

    double solve(const ContaminatedPrior& prior) {
        alpha_.resize(seen_.size());
        maximiser_.solve(seen_, prior, PriorMaximiser::kForScores, alpha_);
        double sum = 0.0;
        for (std::size_t k = 0; k < seen_.size(); ++k) sum += log_rising(alpha_[k], seen_[k]);
        return sum;
    }

    double epsilon_;
    PriorLookups priors_;
    PriorMaximiser maximiser_;
    Memory memory_;
    std::vector<double> seen_;  // the counts > 0 of a row
    std::vector<double> alpha_;
};

}  // namespace

// Requires ess > 0, 0 <= epsilon <= 1.
Kernel make_max_bdeu(double ess, double epsilon) {
    return Kernel([=](const TableShape&) { return std::make_unique<MaxBdeu>(ess, epsilon); });
}

}  // namespace bestdag
