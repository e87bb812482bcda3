#include "search/branching.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <vector>

#include "base/parallel.hpp"

namespace bestdag {

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
constexpr std::int32_t kNobody = -1;

// Edmonds' algorithm as Tarjan (1977) arranged it for dense graphs: one path of best entering arcs
// is grown backwards; where it bites itself, the cycle becomes one node. Every node, contracted or
// not, has one row of entering arcs, indexed by the original node they come from. The rows of a
// cycle are merged, which happens n - 1 times at most.
class Edmonds {
public:
    Edmonds(std::span<const double> weights, std::span<const double> root_weights, bool spanning)
        : n_(root_weights.size()),
          spanning_(spanning),
          values_(n_ * n_),
          targets_(n_ * n_),
          row_(n_),
          members_(n_),
          holder_(n_),
          state_(n_, State::untouched),
          entering_(n_),
          above_(n_, 0) {
        std::iota(row_.begin(), row_.end(), std::size_t{0});
        std::iota(holder_.begin(), holder_.end(), std::size_t{0});
        for (std::size_t to = 0; to < n_; ++to) {
            const auto target = static_cast<std::int32_t>(to);
            for (std::size_t from = 0; from < n_; ++from) {
                values_[to * n_ + from] = from == to ? kNone : weights[from * n_ + to];
                targets_[to * n_ + from] = target;
            }
            roots_.push_back({root_weights[to], target});
            members_[to] = {target};
        }
    }

    bool solve(std::span<std::int32_t> parents, const StopFlag& stop) {
        for (std::size_t start = 0; start < n_; ++start) {
            if (state_[holder_[start]] != State::done && !grow(holder_[start], stop)) return false;
        }
        expand();
        for (std::size_t i = 0; i < n_; ++i) parents[i] = entering_[i].from;
        return true;
    }

private:
    enum class State : char { untouched, on_path, done };

    // What it is worth that a node's original node `target` has no parent.
    struct RootArc {
        double value;
        std::int32_t target;
    };
    // An arc into a node, from kNobody when its target is to be a root.
    struct Arc {
        double value = kNone;
        std::int32_t from = kNobody, target = kNobody;
    };

    Arc best_entering(std::size_t node) const {
        const std::size_t row = row_[node];
        const double* const values = values_.data() + row * n_;
        const auto best = static_cast<std::size_t>(std::max_element(values, values + n_) - values);
        const RootArc& root = roots_[row];
        const bool has_arc = values[best] != kNone;
        if (root.value != kNone && (!has_arc || (!spanning_ && root.value >= values[best]))) {
            return {root.value, kNobody, root.target};
        }
        if (!has_arc) return {};
        return {values[best], static_cast<std::int32_t>(best), targets_[row * n_ + best]};
    }

    // Grow a path backwards until it meets a root, or a path that has met one. False when some
    // node can neither have a parent nor be a root.
    bool grow(std::size_t node, const StopFlag& stop) {
        path_.clear();
        for (;;) {
            check(stop);
            path_.push_back(node);
            state_[node] = State::on_path;
            entering_[node] = best_entering(node);
            const Arc& arc = entering_[node];
            if (arc.target == kNobody) return false;
            if (arc.from == kNobody) break;
            const std::size_t source = holder_[static_cast<std::size_t>(arc.from)];
            if (state_[source] == State::done) break;
            node = state_[source] == State::on_path ? contract(source, stop) : source;
        }
        for (const std::size_t each : path_) state_[each] = State::done;
        return true;
    }

    // Make one node of the end of the path, from `first` on. An arc into it replaces the arc of
    // the cycle into the same node: it is worth the difference.
    std::size_t contract(std::size_t first, const StopFlag& stop) {
        const std::size_t made = row_.size();
        const std::size_t row = row_[path_.back()];
        std::vector<std::int32_t> inside;
        for (std::size_t node = made; node != first;) {
            check(stop);
            node = path_.back();
            path_.pop_back();
            above_[node] = made;
            inside.insert(inside.end(), members_[node].begin(), members_[node].end());
            members_[node] = {};
            merge(row_[node], row, entering_[node].value);
        }
        for (const std::int32_t member : inside) {
            holder_[static_cast<std::size_t>(member)] = made;
            values_[row * n_ + static_cast<std::size_t>(member)] = kNone;
        }
        row_.push_back(row);
        members_.push_back(std::move(inside));
        state_.push_back(State::untouched);
        entering_.emplace_back();
        above_.push_back(0);
        return made;
    }

    // Lower a row by what the cycle's arc is worth; where better, put it over another row.
    void merge(std::size_t row, std::size_t into, double value) {
        double* const values = values_.data() + row * n_;
        for (std::size_t from = 0; from < n_; ++from) values[from] -= value;
        roots_[row].value -= value;
        if (row == into) return;
        double* const kept = values_.data() + into * n_;
        const std::int32_t* const targets = targets_.data() + row * n_;
        std::int32_t* const kept_targets = targets_.data() + into * n_;
        for (std::size_t from = 0; from < n_; ++from) {
            const bool is_better =
                values[from] > kept[from] ||
                (values[from] == kept[from] && targets[from] < kept_targets[from]);
            kept[from] = is_better ? values[from] : kept[from];
            kept_targets[from] = is_better ? targets[from] : kept_targets[from];
        }
        const RootArc &mine = roots_[row], &other = roots_[into];
        if (std::tuple(-mine.value, mine.target) < std::tuple(-other.value, other.target)) {
            roots_[into] = mine;
        }
    }

    // Open the contracted nodes, last made first: the arc into one enters one node of its cycle,
    // and the others of the cycle keep theirs.
    void expand() {
        for (std::size_t node = row_.size(); node-- > n_;) {
            auto inner = static_cast<std::size_t>(entering_[node].target);
            while (above_[inner] != node) inner = above_[inner];
            entering_[inner] = entering_[node];
        }
    }

    std::size_t n_;
    bool spanning_;
    std::vector<double> values_;         // n rows of entering arcs
    std::vector<std::int32_t> targets_;  // the original nodes those arcs enter
    std::vector<RootArc> roots_;         // by row
    // By node: the n original ones, then those made of cycles.
    std::vector<std::size_t> row_;
    std::vector<std::vector<std::int32_t>> members_;
    std::vector<std::size_t> holder_;  // of each original node: the outermost node it is in
    std::vector<State> state_;
    std::vector<Arc> entering_;
    std::vector<std::size_t> above_;  // the contracted node that took this one in
    std::vector<std::size_t> path_;
};

// An edge between an outside node and the tree, or none.
struct Edge {
    double weight = kNone;
    std::size_t inside = 0, outside = 0;

    auto key() const {
        return std::tuple(-weight, std::min(inside, outside), std::max(inside, outside));
    }
};

}  // namespace

void maximum_spanning_tree(std::span<const double> weights, std::size_t root,
                           std::span<std::int32_t> parents, const StopFlag& stop) {
    const std::size_t n = parents.size();
    std::vector<Edge> best(n);  // of each outside node
    std::vector<char> is_inside(n, 0);
    std::fill(parents.begin(), parents.end(), kNobody);
    std::size_t added = root, first = 0;
    for (std::size_t k = 0; k < n; ++k) {
        check(stop);
        is_inside[added] = 1;
        Edge next;
        for (std::size_t node = 0; node < n; ++node) {
            if (is_inside[node]) continue;
            const Edge edge{weights[added * n + node], added, node};
            if (edge.key() < best[node].key()) best[node] = edge;
            if (best[node].weight != kNone && best[node].key() < next.key()) next = best[node];
        }
        if (next.weight != kNone) {
            added = next.outside;
            parents[added] = static_cast<std::int32_t>(next.inside);
        } else {
            while (first < n && is_inside[first]) ++first;
            added = first;  // the smallest node of another component, if there is one
        }
    }
}

bool maximum_branching(std::span<const double> weights, std::span<const double> root_weights,
                       bool spanning, std::span<std::int32_t> parents, const StopFlag& stop) {
    return Edmonds(weights, root_weights, spanning).solve(parents, stop);
}

}  // namespace bestdag
