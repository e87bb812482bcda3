#include "exact/frontier_search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

namespace bestdag {
namespace {

using Mask = std::uint64_t;
constexpr std::size_t kPollEvery = 256;  // subsets between two looks at the flag
constexpr std::size_t kFirstSlots = 64;
constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

std::size_t lowest(Mask mask) noexcept { return static_cast<std::size_t>(std::countr_zero(mask)); }
Mask bit(std::size_t v) noexcept { return Mask{1} << v; }

// A subset that was reached: its least cost so far, and from where.
struct Reached {
    Mask subset = 0;
    std::int64_t cost = 0;
    std::uint32_t from = kNowhere;  // position in the trail
    std::uint8_t step = 0;          // the variable that was added; others may have followed
    bool is_used = false;
};

// The subsets of one size, by open addressing.
class Layer {
public:
    std::size_t size() const noexcept { return size_; }
    std::size_t n_bytes() const noexcept { return slots_.size() * sizeof(Reached); }

    void offer(const Reached& reached) {
        if (10 * (size_ + 1) > 6 * slots_.size()) grow();
        put(reached);
    }

    std::vector<Reached> take() {
        std::erase_if(slots_, [](const Reached& slot) { return !slot.is_used; });
        std::vector<Reached> all;
        all.swap(slots_);
        size_ = 0;
        return all;
    }

private:
    static std::size_t hash(Mask mask) noexcept {
        mask ^= mask >> 29;
        mask *= 0xBF58476D1CE4E5B9ULL;
        mask ^= mask >> 32;
        mask *= 0x9E3779B97F4A7C15ULL;
        return static_cast<std::size_t>(mask ^ (mask >> 31));
    }
    void put(const Reached& reached) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t i = hash(reached.subset) & mask;
        while (slots_[i].is_used && slots_[i].subset != reached.subset) i = (i + 1) & mask;
        if (!slots_[i].is_used) {
            ++size_;
        } else if (slots_[i].cost <= reached.cost) {
            return;
        }
        slots_[i] = reached;
    }
    void grow() {
        std::vector<Reached> old(std::max(kFirstSlots, 2 * slots_.size()));
        old.swap(slots_);
        size_ = 0;
        for (const Reached& slot : old) {
            if (slot.is_used) put(slot);
        }
    }

    std::vector<Reached> slots_;
    std::size_t size_ = 0;
};

class Search {
public:
    Search(const FrontierProblem& problem, std::int64_t cutoff, std::size_t width,
           const StopFlag& stop)
        : problem_(problem),
          n_(problem.first.size() - 1),
          full_(n_ == 64 ? ~Mask{0} : bit(n_) - 1),
          cutoff_(cutoff),
          width_(width),
          stop_(stop),
          layers_(n_ + 1) {}

    FrontierResult run() {
        FrontierResult result;
        result.bound = std::numeric_limits<std::int64_t>::max();
        arrive({0, 0, kNowhere, 0, true});
        for (std::size_t size = 0; size < n_; ++size) {
            check(stop_);
            std::vector<Reached> layer = layers_[size].take();
            if (layer.size() > width_) result.bound = std::min(result.bound, truncate(layer));
            for (const Reached& reached : layer) {
                if (++result.expanded % kPollEvery == 0) check(stop_);
                expand(reached);
            }
            std::size_t n_bytes = trail_.size() * sizeof(Reached);
            for (const Layer& other : layers_) n_bytes += other.n_bytes();
            result.n_bytes = std::max(result.n_bytes, n_bytes);
        }
        result.is_complete = result.bound >= cutoff_;
        result.bound = std::min(result.bound, cutoff_);
        const std::vector<Reached> last = layers_[n_].take();
        if (!last.empty()) {
            result.cost = last.front().cost;
            result.chosen = walk_back(last.front());
        }
        return result;
    }

private:
    // What a cluster's cut still needs of the variables outside a subset, at least.
    static int missing(const GuideCluster& cluster, Mask subset) noexcept {
        return std::max(0, cluster.k - std::popcount(cluster.members & subset));
    }

    // What the variables outside a subset cost at least.
    std::int64_t rest_of(Mask subset) const noexcept {
        std::int64_t rest = 0;
        for (Mask left = full_ & ~subset; left; left &= left - 1) {
            rest += problem_.least[lowest(left)];
        }
        for (const GuideCluster& cluster : problem_.clusters) {
            rest += cluster.multiplier * missing(cluster, subset);
        }
        return rest;
    }

    // Keep the subsets with the least f; returns the least f of the others.
    std::int64_t truncate(std::vector<Reached>& layer) const {
        std::vector<std::pair<std::int64_t, std::size_t>> order;  // f, place
        order.reserve(layer.size());
        for (std::size_t i = 0; i < layer.size(); ++i) {
            order.emplace_back(layer[i].cost + rest_of(layer[i].subset), i);
        }
        const auto less = [&](const auto& a, const auto& b) {
            return a.first != b.first ? a.first < b.first
                                      : layer[a.second].subset < layer[b.second].subset;
        };
        const auto cut = order.begin() + static_cast<std::ptrdiff_t>(width_);
        std::nth_element(order.begin(), cut, order.end(), less);
        const std::int64_t bound = cut->first;
        std::vector<Reached> followed;
        followed.reserve(width_);
        for (auto it = order.begin(); it != cut; ++it) followed.push_back(layer[it->second]);
        layer.swap(followed);
        return bound;
    }

    void expand(const Reached& reached) {
        const Mask subset = reached.subset, outside = full_ & ~subset;
        // gain_[v]: what the estimate of the rest loses when v comes next.
        std::int64_t rest = 0;
        for (Mask left = outside; left; left &= left - 1) {
            const std::size_t v = lowest(left);
            gain_[v] = problem_.least[v];
            rest += problem_.least[v];
        }
        for (const GuideCluster& cluster : problem_.clusters) {
            const int needed = missing(cluster, subset);
            if (needed == 0) continue;
            rest += cluster.multiplier * needed;
            for (Mask left = cluster.members & outside; left; left &= left - 1) {
                gain_[lowest(left)] += cluster.multiplier;
            }
        }
        const std::int64_t slack = cutoff_ - reached.cost - rest;
        if (slack <= 0) return;
        const auto from = static_cast<std::uint32_t>(trail_.size());
        trail_.push_back(reached);
        for (Mask left = outside; left; left &= left - 1) {
            const std::size_t v = lowest(left);
            const std::size_t set = best_inside(v, subset, slack + gain_[v]);
            if (set == problem_.first[v + 1]) continue;
            arrive({subset | bit(v), reached.cost + problem_.costs[set], from,
                    static_cast<std::uint8_t>(v), true});
        }
    }

    // The cheapest set of v inside a subset that costs less than so much; or none, last + 1.
    std::size_t best_inside(std::size_t v, Mask subset, std::int64_t below) const noexcept {
        const std::size_t last = problem_.first[v + 1];
        for (std::size_t set = problem_.first[v]; set < last; ++set) {
            if (problem_.costs[set] >= below) break;
            if (!(problem_.masks[set] & ~subset)) return set;
        }
        return last;
    }

    // A subset with what follows at once.
    void arrive(Reached reached) {
        Mask before = 0;
        while (before != reached.subset) {
            before = reached.subset;
            for (Mask left = full_ & ~before; left; left &= left - 1) {
                const std::size_t v = lowest(left), set = problem_.first[v];
                if (problem_.masks[set] & ~reached.subset) continue;
                reached.subset |= bit(v);
                reached.cost += problem_.costs[set];
            }
        }
        if (reached.subset == full_) {
            if (reached.cost >= cutoff_) return;
            cutoff_ = reached.cost;
        }
        layers_[static_cast<std::size_t>(std::popcount(reached.subset))].offer(reached);
    }

    // The choice that leads to the full set: for each variable the cheapest set among those before.
    std::vector<std::size_t> walk_back(const Reached& last) const {
        std::vector<Reached> way{last};
        while (way.back().from != kNowhere) way.push_back(trail_[way.back().from]);
        std::vector<std::size_t> chosen(n_);
        Mask placed = 0;
        const auto place = [&](std::size_t v) {
            chosen[v] = best_inside(v, placed, std::numeric_limits<std::int64_t>::max());
            placed |= bit(v);
        };
        for (auto reached = way.rbegin(); reached != way.rend(); ++reached) {
            if (reached->from != kNowhere) place(reached->step);
            while (placed != reached->subset) {
                for (Mask left = reached->subset & ~placed; left; left &= left - 1) {
                    const std::size_t v = lowest(left);
                    if (!(problem_.masks[problem_.first[v]] & ~placed)) place(v);
                }
            }
        }
        return chosen;
    }

    const FrontierProblem& problem_;
    std::size_t n_;
    Mask full_;
    std::int64_t cutoff_;
    std::size_t width_;
    const StopFlag& stop_;
    std::vector<Layer> layers_;
    std::vector<Reached> trail_;  // the subsets from which steps were taken
    std::array<std::int64_t, 64> gain_{};
};

}  // namespace

FrontierResult search_frontier(const FrontierProblem& problem, std::int64_t cutoff,
                               std::size_t width, const StopFlag& stop) {
    return Search(problem, cutoff, width, stop).run();
}

}  // namespace bestdag
