#include "kernels/order_climb.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <utility>

namespace bestdag {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-12;  // of a sum of a few hundred costs, generously

class Climb {
public:
    explicit Climb(const SubsetProblem& problem)
        : p_(problem), n_(static_cast<std::size_t>(problem.n)) {
        for (std::size_t v = 0; v < n_; ++v) {
            const auto last = static_cast<std::size_t>(p_.first[v + 1]) - 1;
            if (p_.first[v] < p_.first[v + 1]) least_gain_ += kRounding * p_.costs[last];
        }
    }

    // Repeatedly take the variable that loses least by coming next. Taking one never takes a
    // choice from another, so this fails only when no order gives every variable a set.
    bool start() {
        std::uint64_t before = 0;
        order_.clear();
        while (order_.size() < n_) {
            std::size_t best = n_;
            double least = kNever;
            for (std::size_t v = 0; v < n_; ++v) {
                if (before >> v & 1u) continue;
                const double loss = cost(v, before);
                if (loss < least) {
                    least = loss;
                    best = v;
                }
            }
            if (best == n_) return false;
            order_.push_back(best);
            before |= std::uint64_t{1} << best;
        }
        return true;
    }

    // Move variables to their best places until no move gains.
    void climb() {
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t v = 0; v < n_; ++v) moved = move_best(v) || moved;
        }
    }

    double total() const {
        double sum = 0;
        std::uint64_t before = 0;
        for (const std::size_t v : order_) {
            sum += cost(v, before);
            before |= std::uint64_t{1} << v;
        }
        return sum;
    }

    std::vector<std::int64_t> chosen() const {
        std::vector<std::int64_t> sets(n_);
        std::uint64_t before = 0;
        for (const std::size_t v : order_) {
            sets[v] = static_cast<std::int64_t>(best_set(v, before)) - p_.first[v];
            before |= std::uint64_t{1} << v;
        }
        return sets;
    }

    std::vector<std::size_t>& order() { return order_; }

private:
    std::size_t best_set(std::size_t v, std::uint64_t before) const {
        auto k = static_cast<std::size_t>(p_.first[v]);
        const auto end = static_cast<std::size_t>(p_.first[v + 1]);
        while (k < end && (p_.members[k] & ~before) != 0) ++k;
        return k;
    }

    double cost(std::size_t v, std::uint64_t before) const {
        const std::size_t k = best_set(v, before);
        return k < static_cast<std::size_t>(p_.first[v + 1]) ? p_.costs[k] : kNever;
    }

    bool move_best(std::size_t v) {
        const auto at =
            static_cast<std::size_t>(std::find(order_.begin(), order_.end(), v) - order_.begin());
        std::uint64_t before = 0;
        for (std::size_t i = 0; i < at; ++i) before |= std::uint64_t{1} << order_[i];
        const double here = cost(v, before);
        double best = least_gain_;
        std::size_t target = at;
        const auto consider = [&](double others, std::uint64_t now, std::size_t place) {
            const double gain = others + here - cost(v, now);
            if (gain > best) {
                best = gain;
                target = place;
            }
        };
        const std::uint64_t self = std::uint64_t{1} << v;
        double others = 0;
        std::uint64_t now = before;
        for (std::size_t i = at; i-- > 0;) {  // v comes before order_[i]
            const std::size_t u = order_[i];
            now &= ~(std::uint64_t{1} << u);
            others += cost(u, now) - cost(u, now | self);
            consider(others, now, i);
        }
        others = 0;
        now = before;
        for (std::size_t i = at + 1; i < n_; ++i) {  // v comes after order_[i]
            const std::size_t u = order_[i];
            others += cost(u, now | self) - cost(u, now);
            if (others == -kNever) break;  // u needs v before it
            now |= std::uint64_t{1} << u;
            consider(others, now, i);
        }
        if (target == at) return false;
        const auto from = order_.begin() + static_cast<std::ptrdiff_t>(at);
        const auto to = order_.begin() + static_cast<std::ptrdiff_t>(target);
        if (target < at) {
            std::rotate(to, from, from + 1);
        } else {
            std::rotate(from, from + 1, to + 1);
        }
        return true;
    }

    const SubsetProblem& p_;
    const std::size_t n_;
    std::vector<std::size_t> order_;
    double least_gain_ = 0;  // more than rounding can feign, so no two moves undo each other
};

}  // namespace

std::vector<std::int64_t> climb_orders(const SubsetProblem& problem, int rounds,
                                       const Execution& execution) {
    if (problem.n < 1 || problem.n > 64)
        throw std::invalid_argument("climb_orders: 1 to 64 variables");
    Climb climb(problem);
    if (!climb.start()) return {};
    climb.climb();
    double least = climb.total();
    std::vector<std::size_t> best = climb.order();
    std::uint64_t state = 1;  // any stream will do: it only has to be the same each time
    const auto draw = [&state](std::size_t n) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::size_t>(state >> 33) % n;
    };
    for (int round = 0; round < rounds && least > 0; ++round) {
        if (execution.should_stop && execution.should_stop()) throw Interrupted();
        climb.order() = best;
        for (int k = 0; k < 3 + problem.n / 8; ++k) {
            std::swap(climb.order()[draw(best.size())], climb.order()[draw(best.size())]);
        }
        if (climb.total() == kNever) continue;
        climb.climb();
        if (climb.total() < least) {
            least = climb.total();
            best = climb.order();
        }
    }
    climb.order() = best;
    return climb.chosen();
}

}  // namespace bestdag
