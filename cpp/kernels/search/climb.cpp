#include "search/climb.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace bestdag {

namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
// A structure is near when at most one family in so many is another.
constexpr std::size_t kNear = 8;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min() / 2;

}  // namespace

Climb::Climb(ClimbRules rules)
    : rules_(std::move(rules)),
      parents_(rules_.n_nodes()),
      ancestry_(rules_.n_nodes()),
      scores_(rules_.n_nodes()),
      is_scored_(rules_.n_nodes()),
      changed_(rules_.candidates.size(), kMinusInfinity),
      is_parent_(rules_.candidates.size()),
      is_fixed_(rules_.required),
      stamps_(rules_.candidates.size(), kNever),
      reversals_(rules_.n_nodes()),
      changed_at_(rules_.n_nodes()),
      row_best_(rules_.n_nodes()) {
    for (const auto& [a, b] : rules_.edges) {
        for (const std::size_t place : {place_of(a, b), place_of(b, a)}) {
            if (place != kNone) is_fixed_[place] = 1;
        }
    }
}

std::span<const std::int32_t> Climb::candidates(std::size_t child) const noexcept {
    return {rules_.candidates.data() + first(child), first(child + 1) - first(child)};
}

std::size_t Climb::place_of(std::size_t parent, std::size_t child) const noexcept {
    const auto row = candidates(child);
    if (row.size() + 1 == n_nodes()) {  // all others
        return parent == child ? kNone : first(child) + parent - (parent > child ? 1 : 0);
    }
    const auto found = std::lower_bound(row.begin(), row.end(), static_cast<std::int32_t>(parent));
    if (found == row.end() || static_cast<std::size_t>(*found) != parent) return kNone;
    return first(child) + static_cast<std::size_t>(found - row.begin());
}

bool Climb::reset(const ParentLists& parents) {
    reset_at_ = n_moves_;
    std::vector<std::size_t> changed;
    for (std::size_t child = 0; child < n_nodes(); ++child) {
        if (parents_[child] != parents[child]) changed.push_back(child);
    }
    const bool is_near = changed.size() * kNear <= n_nodes() && !has_path_rules();
    return is_near ? reset_some(parents, changed) : reset_all(parents);
}

bool Climb::reset_all(const ParentLists& parents) {
    forget_rows();
    for (std::size_t child = 0; child < n_nodes(); ++child) {
        if (parents_[child] == parents[child]) continue;
        for (const std::int32_t parent : parents_[child]) {
            is_parent_[place_of(static_cast<std::size_t>(parent), child)] = 0;
        }
        parents_[child].clear();
        for (const std::int32_t parent : parents[child]) {
            const std::size_t place = place_of(static_cast<std::size_t>(parent), child);
            if (place == kNone) return false;
            is_parent_[place] = 1;
        }
        parents_[child] = parents[child];
        unscore(child);
    }
    return ancestry_.reset(parents_);
}

// Arc by arc: what is known of the rows of other families stays. No structure in between has a
// cycle when the last one has none, because arcs go before others come.
bool Climb::reset_some(const ParentLists& parents, std::span<const std::size_t> changed) {
    std::vector<std::int32_t> arcs;
    for (const std::size_t child : changed) {
        arcs.clear();
        std::set_difference(parents_[child].begin(), parents_[child].end(), parents[child].begin(),
                            parents[child].end(), std::back_inserter(arcs));
        for (const std::int32_t parent : arcs) take(static_cast<std::size_t>(parent), child);
    }
    for (const std::size_t child : changed) {
        arcs.clear();
        std::set_difference(parents[child].begin(), parents[child].end(), parents_[child].begin(),
                            parents_[child].end(), std::back_inserter(arcs));
        for (const std::int32_t number : arcs) {
            const auto parent = static_cast<std::size_t>(number);
            if (place_of(parent, child) == kNone || ancestry_.reaches(child, parent)) return false;
            put(parent, child);
        }
    }
    return true;
}

std::vector<std::size_t> Climb::unscored() const {
    std::vector<std::size_t> found;
    for (std::size_t child = 0; child < n_nodes(); ++child) {
        if (!is_scored_[child]) found.push_back(child);
    }
    return found;
}

void Climb::set_row(std::size_t child, double score, std::span<const double> changed) {
    scores_[child] = score;
    std::copy(changed.begin(), changed.end(),
              changed_.begin() + static_cast<std::ptrdiff_t>(first(child)));
    row_best_[child].is_known = false;
    changed_at_[child] = ++n_changes_;
    is_scored_[child] = 1;
}

bool Climb::can(MoveKind kind, std::size_t parent, std::size_t child) const {
    const std::size_t place = place_of(parent, child);
    return place != kNone && (kind == MoveKind::add) != (is_parent_[place] != 0) &&
           is_legal(kind, parent, child);
}

bool Climb::is_legal(MoveKind kind, std::size_t parent, std::size_t child) const {
    if (kind == MoveKind::add) {
        return !is_full(child) && !ancestry_.reaches(child, parent) &&
               obeys_paths(kind, parent, child);
    }
    const std::size_t place = place_of(parent, child);
    if (kind == MoveKind::remove) return !is_fixed_[place] && obeys_paths(kind, parent, child);
    if (rules_.required[place] || is_full(parent) || place_of(child, parent) == kNone) return false;
    for (const std::int32_t other : parents_[child]) {
        if (ancestry_.reaches(parent, static_cast<std::size_t>(other))) return false;
    }
    return obeys_paths(kind, parent, child);
}

// Statements about paths, after the move.
bool Climb::obeys_paths(MoveKind kind, std::size_t parent, std::size_t child) const {
    if (kind != MoveKind::add) {
        for (const auto& [a, b] : rules_.ancestors) {
            const bool is_on_path = (a == parent || ancestry_.reaches(a, parent)) &&
                                    (b == child || ancestry_.reaches(child, b));
            if (is_on_path && !has_path_after(kind, parent, child, a, b)) return false;
        }
    }
    if (kind != MoveKind::remove) {
        for (const auto& [a, b] : rules_.non_ancestors) {
            if (has_path_after(kind, parent, child, a, b)) return false;
        }
    }
    return true;
}

bool Climb::has_path_after(MoveKind kind, std::size_t parent, std::size_t child, std::size_t from,
                           std::size_t to) const {
    if (kind == MoveKind::add) {
        return ancestry_.reaches(from, to) ||
               ((from == parent || ancestry_.reaches(from, parent)) &&
                (to == child || ancestry_.reaches(child, to)));
    }
    std::vector<std::uint8_t> is_seen(n_nodes());
    std::vector<std::size_t> waiting{to};
    const auto meet = [&](std::size_t node) {
        if (!is_seen[node]) waiting.push_back(node);
        is_seen[node] = 1;
    };
    while (!waiting.empty()) {
        const std::size_t node = waiting.back();
        waiting.pop_back();
        for (const std::int32_t number : parents_[node]) {
            const auto above = static_cast<std::size_t>(number);
            if (node != child || above != parent) meet(above);
        }
        if (kind == MoveKind::reverse && node == parent) meet(child);
        if (is_seen[from]) return true;
    }
    return false;
}

double Climb::gain(MoveKind kind, std::size_t parent, std::size_t child) const {
    const double there = changed_[place_of(parent, child)] - scores_[child];
    if (kind != MoveKind::reverse) return there;
    const std::size_t back = place_of(child, parent);
    return back == kNone ? kMinusInfinity : there + (changed_[back] - scores_[parent]);
}

std::vector<std::size_t> Climb::children(std::size_t node) const {
    std::vector<std::size_t> found;
    const auto number = static_cast<std::int32_t>(node);
    for (std::size_t child = 0; child < n_nodes(); ++child) {
        if (std::binary_search(parents_[child].begin(), parents_[child].end(), number)) {
            found.push_back(child);
        }
    }
    return found;
}

std::vector<std::pair<std::size_t, std::int64_t>> Climb::recent(std::int64_t tenure) const {
    std::vector<std::pair<std::size_t, std::int64_t>> found;
    for (std::size_t place = 0; place < stamps_.size(); ++place) {
        if (stamps_[place] > std::max(n_moves_ - tenure, reset_at_)) {
            found.emplace_back(place, n_moves_ - stamps_[place]);
        }
    }
    return found;
}

void Climb::set_recent(std::span<const std::pair<std::size_t, std::int64_t>> ages) {
    std::fill(stamps_.begin(), stamps_.end(), kNever);
    reset_at_ = kNever;
    for (const auto& [place, age] : ages) stamps_[place] = n_moves_ - age;
}

void Climb::apply(MoveKind kind, std::size_t parent, std::size_t child) {
    ++n_moves_;
    for (const std::size_t place : {place_of(parent, child), place_of(child, parent)}) {
        if (place != kNone) stamps_[place] = n_moves_;
    }
    scores_[child] = changed_[place_of(parent, child)];
    if (kind == MoveKind::reverse) scores_[parent] = changed_[place_of(child, parent)];
    if (kind != MoveKind::add) take(parent, child);
    if (kind == MoveKind::add) put(parent, child);
    if (kind == MoveKind::reverse) put(child, parent);
    // A path that is opened or closed may free an arc that a statement held.
    if (has_path_rules()) forget_rows();
}

void Climb::put(std::size_t parent, std::size_t child) {
    const auto number = static_cast<std::int32_t>(parent);
    auto& group = parents_[child];
    group.insert(std::lower_bound(group.begin(), group.end(), number), number);
    is_parent_[place_of(parent, child)] = 1;
    ancestry_.added(parent, child);
    unscore(child);
}

void Climb::take(std::size_t parent, std::size_t child) {
    std::erase(parents_[child], static_cast<std::int32_t>(parent));
    is_parent_[place_of(parent, child)] = 0;
    ancestry_.removed(child, parents_,
                      [this](std::size_t above, std::size_t below) { became_legal(below, above); });
    unscore(child);
}

void Climb::unscore(std::size_t child) {
    reversals_[child].assign(parents_[child].size(), Reversal{});
    changed_at_[child] = ++n_changes_;
    row_best_[child].is_known = false;
    is_scored_[child] = 0;
}

// A new parent that would have closed a cycle may be the best change now.
void Climb::became_legal(std::size_t parent, std::size_t child) {
    RowBest& known = row_best_[child];
    if (!known.is_known || is_full(child)) return;
    const std::size_t place = place_of(parent, child);
    if (place == kNone) return;
    const double highest = known.place == kNone ? kMinusInfinity : known.score;
    const bool is_first = changed_[place] == highest && place < known.place;
    if (changed_[place] > highest || (is_first && known.place != kNone)) known = at_place(place);
}

void Climb::forget_rows() { std::fill(row_best_.begin(), row_best_.end(), RowBest{}); }

}  // namespace bestdag
