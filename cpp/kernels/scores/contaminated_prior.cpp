#include "scores/contaminated_prior.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "special/digamma.hpp"

namespace bestdag {

namespace {

// At most 18 steps were seen in millions of random cases, counts below 1 among them; a limit all
// the same, so that nothing can hang. Every point on the way is a valid prior.
constexpr int kMaxSteps = 200;
// Counts from which on the rough slopes are faster and good enough to begin with, when to leave
// them, and when at the latest.
constexpr double kRoughFrom = 5.0;
constexpr double kRoughly = 3e-2;
constexpr int kMaxRoughSteps = 8;
// Below this h(a) = a to the last digit, and f'' would overflow.
constexpr double kTiny = 1e-140;

}  // namespace

ContaminatedPrior::ContaminatedPrior(double beta, std::size_t arity, double epsilon) noexcept
    : total(beta) {
    if (arity == 1) epsilon = 0.0;
    floor = beta * (1.0 - epsilon) / static_cast<double>(arity);
    free = beta * epsilon;
}

PriorLookup& PriorLookups::of(const FamilyShape& shape, bool& forgot) {
    // Arities are at most 65,535, so adding them to the bits of q keeps nearby shapes apart; the
    // entry is compared in full below.
    const double total = ess_ / shape.n_configurations;
    const std::uint64_t key = std::bit_cast<std::uint64_t>(shape.n_configurations) ^
                              (static_cast<std::uint64_t>(shape.arity) << 1);
    const ContaminatedPrior prior(total, shape.arity, epsilon_);
    PriorLookup*& known = by_shape_[key];
    if (known && known->prior.total == prior.total && known->prior.floor == prior.floor) {
        return *known;
    }
    if (priors_.size() == kMaxPriors) {
        priors_.clear();
        by_shape_.clear();
        forgot = true;
    }
    priors_.push_back(
        std::make_unique<PriorLookup>(prior, static_cast<std::uint32_t>(priors_.size())));
    by_shape_[key] = priors_.back().get();
    return *priors_.back();
}

// The mu at which the tangents, cut off at the floor, share out `free` exactly. Begin with no
// cut; cutting off states below the floor lowers mu, so they stay cut off.
double PriorMaximiser::height_with_cuts(double free) {
    above_.resize(tangents_.size());
    std::iota(above_.begin(), above_.end(), std::size_t{0});
    for (;;) {
        double at_zero = 0.0;
        double per_mu = 0.0;
        for (const std::size_t k : above_) {
            at_zero += tangents_[k].at_zero;
            per_mu += tangents_[k].per_mu;
        }
        const double mu = (free + at_zero) / per_mu;
        const auto end = std::remove_if(above_.begin(), above_.end(), [&](std::size_t k) {
            return mu * tangents_[k].per_mu < tangents_[k].at_zero;
        });
        // Rounding must not cut off the last one.
        if (end == above_.end() || end == above_.begin()) return mu;
        above_.erase(end, above_.end());
    }
}

bool PriorMaximiser::step(std::span<const double> counts, const ContaminatedPrior& prior,
                          bool rough, double tolerance, std::span<double> alpha) {
    double at_zero = 0.0;
    double per_mu = 0.0;
    for (std::size_t k = 0; k < counts.size(); ++k) {
        if (k == 0 || counts[k] != counts[k - 1]) {
            const double a = alpha[k];
            if (a < kTiny) {
                tangents_[k] = {1.0, a - extra_[k]};
            } else {
                const RisingSlopes f = rough && counts[k] >= kRoughFrom
                                           ? rough_rising_slopes(a, counts[k])
                                           : rising_slopes(a, counts[k]);
                // h = 1 / f' and h' = f'' / f'^2 (with the sign of f'' turned).
                const double ratio = f.first / f.second;
                tangents_[k] = {f.first * ratio, ratio - extra_[k]};
            }
        } else {
            tangents_[k] = tangents_[k - 1];
        }
        at_zero += tangents_[k].at_zero;
        per_mu += tangents_[k].per_mu;
    }
    double mu = (prior.free + at_zero) / per_mu;
    const bool needs_cuts = std::any_of(tangents_.begin(), tangents_.end(), [&](const Tangent& t) {
        return mu * t.per_mu < t.at_zero;
    });
    if (needs_cuts) mu = height_with_cuts(prior.free);
    bool is_settled = true;
    for (std::size_t k = 0; k < counts.size(); ++k) {
        extra_[k] = std::max(0.0, mu * tangents_[k].per_mu - tangents_[k].at_zero);
        const double before = alpha[k];
        alpha[k] = prior.floor + extra_[k];
        is_settled &= std::abs(alpha[k] - before) <= tolerance * std::min(alpha[k], before);
    }
    return is_settled;
}

void PriorMaximiser::solve(std::span<const double> counts, const ContaminatedPrior& prior,
                           double tolerance, std::span<double> alpha) {
    const double share = prior.free / static_cast<double>(counts.size());
    std::fill(alpha.begin(), alpha.end(), prior.floor + share);
    const bool all_equal =
        std::all_of(counts.begin(), counts.end(), [&](double n) { return n == counts[0]; });
    if (prior.free == 0.0 || all_equal) return;

    extra_.assign(counts.size(), share);
    tangents_.resize(counts.size());
    bool rough =
        std::any_of(counts.begin(), counts.end(), [](double n) { return n >= kRoughFrom; });
    for (int i = 0; i < kMaxSteps; ++i) {
        const bool is_settled = step(counts, prior, rough, rough ? kRoughly : tolerance, alpha);
        if (is_settled && !rough) return;
        rough = rough && !is_settled && i < kMaxRoughSteps;
    }
}

void PriorMaximiser::solve_row(std::span<const double> counts, const ContaminatedPrior& prior,
                               double tolerance, std::span<double> alpha) {
    seen_.clear();
    for (std::size_t k = 0; k < counts.size(); ++k) {
        if (counts[k] > 0.0) seen_.push_back(k);
    }
    if (seen_.empty()) {
        std::fill(alpha.begin(), alpha.end(), prior.total / static_cast<double>(counts.size()));
        return;
    }
    std::sort(seen_.begin(), seen_.end(),
              [&](std::size_t i, std::size_t k) { return counts[i] > counts[k]; });
    positive_.clear();
    for (const std::size_t k : seen_) positive_.push_back(counts[k]);
    found_.resize(seen_.size());
    solve(positive_, prior, tolerance, found_);
    std::fill(alpha.begin(), alpha.end(), prior.floor);
    for (std::size_t i = 0; i < seen_.size(); ++i) alpha[seen_[i]] = found_[i];
}

}  // namespace bestdag
