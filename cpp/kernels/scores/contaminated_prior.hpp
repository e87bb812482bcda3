// The Dirichlet priors of one parent configuration that an epsilon-contamination of the uniform one
// allows: alpha_k >= floor, sum of alpha = total. (That alpha_k <= top follows.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "scores/kernel.hpp"
#include "special/lookup.hpp"

namespace bestdag {

struct ContaminatedPrior {
    double total;  // beta = ess / q
    double floor;  // beta (1 - epsilon) / r
    double free;   // beta epsilon: to be shared out among the states

    // Requires total > 0, arity >= 1, 0 <= epsilon <= 1. One state leaves no choice.
    ContaminatedPrior(double total, std::size_t arity, double epsilon) noexcept;

    double top() const noexcept { return floor + free; }
};

// The prior of the families with one number of configurations and one arity, with logarithms.
struct PriorLookup {
    PriorLookup(const ContaminatedPrior& p, std::uint32_t number)
        : prior(p), id(number), total(p.total), floor(p.floor), top(p.top()) {}

    ContaminatedPrior prior;
    std::uint32_t id;  // below PriorLookups::kMaxPriors
    LogRising total, floor, top;
};

// For one thread: the priors met so far; when they are too many, all are forgotten.
class PriorLookups {
public:
    static constexpr std::size_t kMaxPriors = 256;

    PriorLookups(double ess, double epsilon) : ess_(ess), epsilon_(epsilon) {}

    // Valid until the next call. `forgot` becomes true when ids start again from 0.
    PriorLookup& of(const FamilyShape& shape, bool& forgot);

private:
    double ess_;
    double epsilon_;
    std::vector<std::unique_ptr<PriorLookup>> priors_;
    std::unordered_map<std::uint64_t, PriorLookup*> by_shape_;
};

// The prior that maximises the probability of the counts; for one thread.
//
// With f_k(a) = ln [Gamma(a + n_k) / Gamma(a)] and h_k = 1 / f_k', the maximum has h_k(alpha_k) =
// mu for the states above the floor and h_k(floor) >= mu for those on it. h_k increases; for n_k >=
// 1 it is concave with slopes between 1/n_k and 1, so replacing each h_k by its tangent and solving
// for mu and all alpha_k at once gives a mu that is too large but decreases from step to step.
class PriorMaximiser {
public:
    // Stop when a step changes no alpha by more than this share. The error left is of the order
    // of its square in alpha, and of its fourth power in the score.
    static constexpr double kForScores = 1e-4;
    static constexpr double kForPriors = 1e-7;

    // Requires counts > 0, not necessarily whole; equal counts side by side are worked out once.
    // States without counts sit on the floor and are left out by the caller.
    void solve(std::span<const double> counts, const ContaminatedPrior& prior, double tolerance,
               std::span<double> alpha);

    // The maximising prior of a whole row of counts >= 0. Without any count every prior is as good
    // as another, and the uniform one is given.
    void solve_row(std::span<const double> counts, const ContaminatedPrior& prior, double tolerance,
                   std::span<double> alpha);

private:
    // The inverse of a tangent to h_k: alpha_k - floor = mu * per_mu - at_zero.
    struct Tangent {
        double per_mu;
        double at_zero;
    };

    // One step from the present alpha, with tangents of a few digits where that saves time if
    // `rough`. Returns whether each alpha moved by at most the share `tolerance`.
    bool step(std::span<const double> counts, const ContaminatedPrior& prior, bool rough,
              double tolerance, std::span<double> alpha);
    double height_with_cuts(double free);

    std::vector<double> extra_;  // alpha_k - floor
    std::vector<Tangent> tangents_;
    std::vector<std::size_t> above_;  // states that the tangents put above the floor
    std::vector<std::size_t> seen_;   // states with counts, largest first
    std::vector<double> positive_;    // their counts
    std::vector<double> found_;       // their alpha
};

}  // namespace bestdag
