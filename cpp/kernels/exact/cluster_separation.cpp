#include "exact/cluster_separation.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace bestdag {
namespace {

constexpr double kNoise = 1e-9;
constexpr int kPatience = 2;  // steps that may raise the left-hand side before a walk ends

// The cluster being changed, and the left-hand side of its cut.
class Walk {
public:
    Walk(const ChoiceSets& sets, std::span<const std::int64_t> support, std::span<const double> x,
         int k)
        : sets_(sets), support_(support), x_(x), k_(k), n_(sets.n_variables()) {
        containing_.resize(n_);
        of_child_.resize(n_);
        for (std::size_t j = 0; j < support.size(); ++j) {
            const auto f = static_cast<std::size_t>(support[j]);
            of_child_[sets.child_of(f)].push_back(j);
            for (const std::int32_t u : sets.members(f)) {
                containing_[static_cast<std::size_t>(u)].push_back(j);
            }
        }
        inside_.assign(n_, 0);
        count_.assign(support.size(), 0);
        own_.assign(n_, 0.0);
        lost_.assign(n_, 0.0);
        is_near_.assign(n_, 0);
        for (std::size_t j = 0; j < support.size(); ++j) own_[child(j)] += x[j];
    }

    void clear() {
        const std::vector<std::size_t> members = members_;
        for (const std::size_t w : members) remove(w);
        for (const std::size_t u : near_) is_near_[u] = 0;
        near_.clear();
    }
    void load(std::span<const std::int32_t> members) {
        clear();
        for (const std::int32_t w : members) add(static_cast<std::size_t>(w));
    }
    double value() const noexcept { return value_; }
    bool contains(std::size_t w) const noexcept { return inside_[w] != 0; }
    // Candidate parents, in the support, of present and former members.
    const std::vector<std::size_t>& near() const noexcept { return near_; }
    const std::vector<std::size_t>& members() const noexcept { return members_; }
    double change_by_adding(std::size_t w) const noexcept { return own_[w] - lost_[w]; }
    double change_by_removing(std::size_t w) const noexcept {
        double change = -own_[w];
        for (const std::size_t j : containing_[w]) {
            if (count_[j] == k_ && inside_[child(j)]) change += x_[j];
        }
        return change;
    }

    void add(std::size_t w) {
        if (inside_[w]) return;
        for (const std::size_t j : containing_[w]) {
            const int old = count_[j]++;
            const bool member = inside_[child(j)] != 0;
            if (old == k_ - 1) {
                own_[child(j)] -= x_[j];
                if (member) {
                    value_ -= x_[j];
                    spread(j, -x_[j]);
                }
            } else if (old == k_ - 2 && member) {
                spread(j, x_[j]);
            }
        }
        inside_[w] = 1;
        members_.push_back(w);
        value_ += own_[w];
        for (const std::size_t j : of_child_[w]) {
            if (count_[j] == k_ - 1) spread(j, x_[j]);
        }
    }
    void remove(std::size_t w) {
        if (!inside_[w]) return;
        for (const std::size_t j : of_child_[w]) {
            if (count_[j] == k_ - 1) spread(j, -x_[j]);
        }
        value_ -= own_[w];
        inside_[w] = 0;
        members_.erase(std::find(members_.begin(), members_.end(), w));
        for (const std::size_t j : containing_[w]) {
            const int now = --count_[j];
            const bool member = inside_[child(j)] != 0;
            if (now == k_ - 1) {
                own_[child(j)] += x_[j];
                if (member) {
                    value_ += x_[j];
                    spread(j, x_[j]);
                }
            } else if (now == k_ - 2 && member) {
                spread(j, -x_[j]);
            }
        }
        if (members_.empty()) value_ = 0.0;
    }

private:
    std::size_t child(std::size_t j) const noexcept {
        return sets_.child_of(static_cast<std::size_t>(support_[j]));
    }
    void spread(std::size_t j, double amount) noexcept {
        for (const std::int32_t u : sets_.members(static_cast<std::size_t>(support_[j]))) {
            const auto w = static_cast<std::size_t>(u);
            lost_[w] += amount;
            if (!is_near_[w]) {
                is_near_[w] = 1;
                near_.push_back(w);
            }
        }
    }

    const ChoiceSets& sets_;
    std::span<const std::int64_t> support_;
    std::span<const double> x_;
    int k_;
    std::size_t n_;
    std::vector<std::vector<std::size_t>> containing_, of_child_;
    std::vector<std::uint8_t> inside_;
    std::vector<std::size_t> members_;
    std::vector<int> count_;    // per set of the support: its parents inside the cluster
    std::vector<double> own_;   // per variable: weight of its sets with fewer than k parents inside
    std::vector<double> lost_;  // per variable u: weight of members' sets that u would take to k
    std::vector<std::uint8_t> is_near_;
    std::vector<std::size_t> near_;
    double value_ = 0.0;
};

struct Collector {
    int k;
    double min_violation;
    std::map<std::vector<std::int32_t>, double> found;

    void offer(std::vector<std::size_t> members, double value) {
        const double violation = static_cast<double>(k) - value;
        if (violation < min_violation || members.size() < static_cast<std::size_t>(k)) return;
        std::vector<std::int32_t> key(members.begin(), members.end());
        std::sort(key.begin(), key.end());
        found.emplace(std::move(key), violation);
    }
};

// Steepest descent from the walk's cluster; the best cluster on the way is offered.
void descend(Walk& walk, std::size_t n, int k, Collector& collector) {
    double best = walk.value();
    std::vector<std::size_t> best_members = walk.members();
    int patience = kPatience;
    std::size_t last = n;  // not to be undone at once
    for (std::size_t step = 0; step < 4 * n; ++step) {
        double change = 1e9;
        std::size_t choice = n;
        const auto consider = [&](std::size_t u, double c) {
            if (u != last && c < change - kNoise) {
                change = c;
                choice = u;
            }
        };
        for (const std::size_t u : walk.near()) {
            if (!walk.contains(u)) consider(u, walk.change_by_adding(u));
        }
        if (walk.members().size() > static_cast<std::size_t>(k) + 1) {
            for (const std::size_t u : walk.members()) consider(u, walk.change_by_removing(u));
        }
        if (choice == n) break;
        if (change > -kNoise && --patience < 0) break;
        if (walk.contains(choice)) {
            walk.remove(choice);
        } else {
            walk.add(choice);
        }
        last = choice;
        if (walk.value() < best - kNoise) {
            best = walk.value();
            best_members = walk.members();
            patience = kPatience;
        }
    }
    collector.offer(best_members, best);
}

// For each variable a shortest cycle through it, where the arc u -> v is as long as 1 minus the
// weight of v's sets with u in them; cycles of length 1 or more violate nothing by themselves.
std::vector<std::vector<std::int32_t>> short_cycles(const ChoiceSets& sets,
                                                    std::span<const std::int64_t> support,
                                                    std::span<const double> x) {
    const std::size_t n = sets.n_variables();
    std::vector<std::map<std::size_t, double>> weight(n);  // per child: parent -> weight
    for (std::size_t j = 0; j < support.size(); ++j) {
        const auto f = static_cast<std::size_t>(support[j]);
        for (const std::int32_t u : sets.members(f)) {
            weight[sets.child_of(f)][static_cast<std::size_t>(u)] += x[j];
        }
    }
    std::vector<std::vector<std::int32_t>> cycles;
    std::vector<double> distance(n);
    std::vector<std::size_t> next(n);
    for (std::size_t root = 0; root < n; ++root) {
        std::fill(distance.begin(), distance.end(), 1.0);
        std::set<std::pair<double, std::size_t>> queue{{0.0, root}};
        double closed = 1.0;  // length of the best cycle so far, closed by closer -> root's child
        std::size_t closer = n;
        while (!queue.empty()) {
            const auto [length, v] = *queue.begin();
            queue.erase(queue.begin());
            if (length >= closed) break;
            for (const auto& [u, w] : weight[v]) {
                const double through = length + std::max(0.0, 1.0 - w);
                if (u == root) {
                    if (through < closed - kNoise) {
                        closed = through;
                        closer = v;
                    }
                } else if (through < distance[u] - kNoise) {
                    queue.erase({distance[u], u});
                    distance[u] = through;
                    next[u] = v;
                    queue.insert({through, u});
                }
            }
        }
        if (closer == n) continue;
        std::vector<std::int32_t> cycle;
        for (std::size_t v = closer; v != root; v = next[v]) {
            cycle.push_back(static_cast<std::int32_t>(v));
        }
        cycle.push_back(static_cast<std::int32_t>(root));
        std::sort(cycle.begin(), cycle.end());
        cycles.push_back(std::move(cycle));
    }
    return cycles;
}

}  // namespace

std::vector<ViolatedCluster> separate_clusters(
    const ChoiceSets& sets, std::span<const std::int64_t> support, std::span<const double> x, int k,
    std::span<const Cluster> starts, double min_violation, std::size_t most, const StopFlag& stop) {
    const std::size_t n = sets.n_variables();
    Walk walk(sets, support, x, k);
    Collector collector{k, min_violation, {}};
    std::set<std::vector<std::int32_t>> seeds;
    for (std::size_t j = 0; j < support.size(); ++j) {
        if (x[j] < 1e-4) continue;
        const auto f = static_cast<std::size_t>(support[j]);
        const auto v = static_cast<std::int32_t>(sets.child_of(f));
        const auto members = sets.members(f);
        for (std::size_t a = 0; a < members.size(); ++a) {
            std::vector<std::int32_t> seed{v, members[a]};
            if (k == 1) {
                std::sort(seed.begin(), seed.end());
                seeds.insert(std::move(seed));
                continue;
            }
            for (std::size_t b = a + 1; b < members.size(); ++b) {
                std::vector<std::int32_t> triple{v, members[a], members[b]};
                std::sort(triple.begin(), triple.end());
                seeds.insert(std::move(triple));
            }
        }
    }
    if (k == 1) {
        for (auto& cycle : short_cycles(sets, support, x)) {
            walk.load(cycle);
            collector.offer(walk.members(), walk.value());
            seeds.insert(std::move(cycle));
        }
    }
    for (const auto& seed : seeds) {
        if (stop.load(std::memory_order_relaxed)) break;
        walk.load(seed);
        descend(walk, n, k, collector);
    }
    for (const Cluster& start : starts) {
        if (stop.load(std::memory_order_relaxed)) break;
        if (start.members.size() < static_cast<std::size_t>(k)) continue;
        walk.load(start.members);
        descend(walk, n, k, collector);
    }
    std::vector<ViolatedCluster> result;
    for (auto& [members, violation] : collector.found) {
        result.push_back({Cluster{members, k}, violation});
    }
    std::stable_sort(result.begin(), result.end(),
                     [](const auto& a, const auto& b) { return a.violation > b.violation; });
    if (result.size() > most) result.resize(most);
    return result;
}

}  // namespace bestdag
