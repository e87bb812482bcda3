#include "search/class_walk.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

namespace bestdag {

namespace {

constexpr std::size_t kMostMembers = 200;                   // looked at for one that obeys
constexpr std::size_t kMostWaiting = std::size_t{1} << 14;  // cliques listed between two questions
constexpr std::size_t kMovesPerQuestion = 16;               // tried between two looks at the clock
constexpr std::size_t kShareOfReaches = 4;                  // of the bytes, one in so many
constexpr std::size_t kSortedAtOnce = 16;                   // at least

}  // namespace

ClassWalk::ClassWalk(ClassRules rules, ParentLists start, std::size_t most_bytes)
    : rules_(std::move(rules)),
      graph_(class_of(start)),
      changer_(start),
      member_(std::move(start)),
      scores_(graph_.n_nodes(), most_bytes),
      moves_(graph_.n_nodes()),
      near_(graph_.n_nodes()),
      most_reaches_(most_bytes / kShareOfReaches /
                    (sizeof(std::int32_t) * std::max<std::size_t>(graph_.n_nodes(), 1))) {}

void ClassWalk::begin(ClassMoveKind kind) {
    kind_ = kind;
    todo_ = all_nodes(graph_.n_nodes());
}

std::optional<WantedScores> ClassWalk::wanted(std::size_t n_scores) {
    scores_.forget_much();
    while (waiting_.size() < kMostWaiting && scores_.wanted().candidates.size() < n_scores &&
           list_next()) {
    }
    if (!waiting_.empty()) return scores_.wanted();
    return std::nullopt;
}

void ClassWalk::set_scores(std::span<const double> scores) {
    scores_.set(scores);
    for (const Waiting& item : waiting_) list_moves(item);
    waiting_.clear();
    near_y_ = -1;  // the graph may change before it is asked for again
}

// Put one more clique on the list; false when there are no more.
bool ClassWalk::list_next() {
    Waiting item;
    for (;;) {
        while (cliques_.next(graph_, item.set)) {
            item.x = x_;
            item.y = y_;
            if (!want(item)) continue;
            waiting_.push_back(std::move(item));
            return true;
        }
        if (!open_next()) return false;
    }
}

// Go on to the next pair, or the next y for insertions.
bool ClassWalk::open_next() {
    const std::size_t n = graph_.n_nodes();
    while (partners_.empty()) {
        if (todo_.empty()) return false;
        y_ = todo_.back();
        todo_.pop_back();
        drop_moves(y_);
        const std::size_t y = place(y_);
        const Nodes& neighbours = graph_.neighbours[y];
        if (kind_ == ClassMoveKind::insert) {
            const std::size_t n_parents = graph_.parents[y].size();
            const auto most = static_cast<std::size_t>(rules_.max_parents[y]);
            if (n_parents >= most) continue;
            x_ = -1;
            cliques_ = Cliques(neighbours, most - n_parents - 1);
            return true;
        }
        const bool is_removal = kind_ == ClassMoveKind::remove;
        partners_ = united(is_removal ? graph_.parents[y] : graph_.children[y], neighbours);
    }
    x_ = partners_.back();
    partners_.pop_back();
    cliques_ = Cliques(kind_ == ClassMoveKind::remove ? shared_neighbours(graph_, x_, y_)
                                                      : without(graph_.neighbours[place(y_)], x_),
                       n);
    return true;
}

// Ask for the scores of the moves of a clique; false when it has none.
bool ClassWalk::want(const Waiting& item) {
    const auto& [x, y, set] = item;
    const auto fits = [&](std::size_t n_parents, std::int32_t child) {
        return n_parents <= static_cast<std::size_t>(rules_.max_parents[place(child)]);
    };
    const Nodes base = united(graph_.parents[place(y)], set);
    if (kind_ == ClassMoveKind::insert) {
        scores_.want_gains(y, base, rules_);
        return true;
    }
    if (kind_ == ClassMoveKind::remove) {
        const Nodes left = without(base, x);
        if (!fits(left.size(), y)) return false;
        scores_.want_change(y, left, x);
        return true;
    }
    // All others adjacent to x: the arc of an edge is covered, turning it changes nothing.
    if (graph_.has_edge(x, y) && std::all_of(set.begin(), set.end(), [&](std::int32_t v) {
            return graph_.is_adjacent(x, v);
        })) {
        return false;
    }
    const Nodes of_x = parents_before_turn(graph_, x, y, set);
    if (!fits(base.size() + 1, y) || !fits(of_x.size(), x)) return false;
    scores_.want_change(y, base, x);
    scores_.want_change(x, of_x, y);
    return true;
}

void ClassWalk::list_moves(const Waiting& item) {
    const auto& [x, y, set] = item;
    if (kind_ == ClassMoveKind::insert) return list_insertions(item);
    const Nodes base = united(graph_.parents[place(y)], set);
    if (kind_ == ClassMoveKind::remove) {
        const auto [without_x, with_x] = scores_.change(y, without(base, x), x);
        return add(item, x, without_x - with_x);
    }
    const auto of_y = scores_.change(y, base, x);
    const auto of_x = scores_.change(x, parents_before_turn(graph_, x, y, set), y);
    add(item, x, (of_y.with + of_x.without) - (of_y.without + of_x.with));
}

// Insert(x, y, others) for the x whose shared neighbours with y are in the set; the rest of the set
// are the others.
void ClassWalk::list_insertions(const Waiting& item) {
    const auto& [x, y, set] = item;
    if (near_y_ != y) find_near(y);
    const Nodes joined = graph_.adjacent(y);
    const Nodes base = united(graph_.parents[place(y)], set);
    for (const auto& [gain, node] : scores_.gains(y, base)) {
        if (!contains(joined, node) && is_subset(near_[place(node)], set)) add(item, node, gain);
    }
}

void ClassWalk::add(const Waiting& item, std::int32_t x, double gain) {
    if (!(gain > 0.0)) return;
    Moves& moves = moves_[place(item.y)];
    const bool is_kept = !moves.sets.empty() && moves.sets.back().nodes == item.set;
    if (!is_kept) moves.sets.push_back({item.set, {}, 0, {}});
    moves.entries.push_back({gain, x, static_cast<std::uint32_t>(moves.sets.size() - 1), false});
}

void ClassWalk::find_near(std::int32_t y) {
    for (const std::int32_t x : near_to_) near_[place(x)].clear();
    near_to_.clear();
    for (const std::int32_t v : graph_.neighbours[place(y)]) {
        for (const std::int32_t x : graph_.adjacent(v)) {
            if (near_[place(x)].empty()) near_to_.push_back(x);
            near_[place(x)].push_back(v);
        }
    }
    near_y_ = y;
}

ClassMove ClassWalk::move_of(std::int32_t y, const Entry& entry) const {
    const Nodes& set = moves_[place(y)].sets[entry.set].nodes;
    ClassMove move{kind_, entry.x, y, {}, entry.gain};
    if (kind_ == ClassMoveKind::turn) {
        move.others = set;
    } else if (kind_ == ClassMoveKind::remove) {
        const Nodes shared = shared_neighbours(graph_, entry.x, y);
        std::set_difference(shared.begin(), shared.end(), set.begin(), set.end(),
                            std::back_inserter(move.others));
    } else {
        std::copy_if(set.begin(), set.end(), std::back_inserter(move.others),
                     [&](std::int32_t v) { return !graph_.is_adjacent(entry.x, v); });
    }
    return move;
}

// The move with this place, by gain; none where it gains no more than a unit. Few of many moves are
// looked at, so the others are not sorted.
const ClassWalk::Entry* ClassWalk::Moves::at(std::size_t place, double unit) {
    if (place >= entries.size()) return nullptr;
    if (place >= n_sorted) {
        const auto is_before = [](const Entry& one, const Entry& other) {
            return std::tie(other.gain, one.set, one.x) < std::tie(one.gain, other.set, other.x);
        };
        const auto at = [&](std::size_t i) {
            return entries.begin() + static_cast<std::ptrdiff_t>(i);
        };
        const std::size_t end = std::min(entries.size(), place + std::max(kSortedAtOnce, place));
        std::nth_element(at(n_sorted), at(end - 1), entries.end(), is_before);
        std::sort(at(n_sorted), at(end), is_before);
        n_sorted = end;
    }
    return entries[place].gain > unit ? &entries[place] : nullptr;
}

// The first move of one y that has not been looked at.
struct ClassWalk::Head {
    double gain;
    std::int32_t y;
    std::size_t at;

    bool operator<(const Head& other) const noexcept { return gain < other.gain; }
};

template <class Use>
void ClassWalk::visit(double unit, const ShouldStop& should_stop, Use&& use) {
    std::vector<Head> heads;
    for (std::size_t y = 0; y < moves_.size(); ++y) {
        const Entry* first = moves_[y].at(0, unit);
        if (first) heads.push_back({first->gain, static_cast<std::int32_t>(y), 0});
    }
    std::make_heap(heads.begin(), heads.end());
    std::size_t n_tried = 0;
    std::vector<std::pair<ClassMove, Entry*>> equal;
    while (!heads.empty()) {
        const double level = std::nearbyint(heads.front().gain / unit);
        equal.clear();
        while (!heads.empty() && std::nearbyint(heads.front().gain / unit) == level) {
            std::pop_heap(heads.begin(), heads.end());
            auto& [gain, y, at] = heads.back();
            Moves& moves = moves_[place(y)];
            equal.emplace_back(move_of(y, moves.entries[at]), &moves.entries[at]);
            if (const Entry* entry = moves.at(++at, unit)) {
                gain = entry->gain;
                std::push_heap(heads.begin(), heads.end());
            } else {
                heads.pop_back();
            }
        }
        std::sort(equal.begin(), equal.end(), [](const auto& one, const auto& other) {
            const ClassMove &a = one.first, &b = other.first;
            return std::tie(a.x, a.y, a.others) < std::tie(b.x, b.y, b.others);
        });
        for (auto& [move, entry] : equal) {
            const bool asks = !rules_.is_free() || ++n_tried % kMovesPerQuestion == 0;
            if (asks && should_stop && should_stop()) return;
            if (is_blocked(move, *entry)) continue;
            std::optional<Next> next = follow(move);
            if (next && use(move, std::move(*next))) return;
        }
    }
}

void ClassWalk::drop_moves(std::int32_t y) {
    Moves& moves = moves_[place(y)];
    for (const Barrier& barrier : moves.sets) n_reaches_ -= barrier.reach.is_known() ? 1 : 0;
    moves = {};
}

std::optional<ClassWalk::Next> ClassWalk::follow(const ClassMove& move) {
    Next next;
    if (kind_ == ClassMoveKind::turn) {
        next.member = structure_after(graph_, move);
        if (!next.member) return std::nullopt;
        next.changes = changed_links(graph_, class_of(*next.member));
    } else {
        next.changes = changer_.changes(graph_, move);
    }
    if (rules_.is_free()) return next;
    if (std::any_of(next.changes.begin(), next.changes.end(),
                    [&](const Link& link) { return rules_.forbids(link); })) {
        return std::nullopt;
    }
    const std::vector<Link> before = change(next.changes);
    Nodes touched;
    for (const Link& link : next.changes) {
        insert_node(touched, link.a);
        insert_node(touched, link.b);
    }
    next.member = can_obey(graph_, rules_, touched) ? obeying_member(graph_, rules_, kMostMembers)
                                                    : std::nullopt;
    change(before);
    if (!next.member) return std::nullopt;
    return next;
}

// Change links of the class; returns what they were.
std::vector<Link> ClassWalk::change(const std::vector<Link>& links) {
    std::vector<Link> before;
    for (const Link& link : links) before.push_back(graph_.link(link.a, link.b));
    for (const Link& link : links) graph_.set_link(link);
    return before;
}

ParentLists ClassWalk::member() const {
    return member_ ? *member_ : *structure_after(graph_before(), *last_);
}

ParentLists ClassWalk::best_member() const {
    return next_->member ? *next_->member : *structure_after(graph_, *best_);
}

ClassGraph ClassWalk::graph_before() const {
    ClassGraph graph = graph_;
    for (const Link& link : last_changed_) graph.set_link(link);
    return graph;
}

const std::optional<ClassMove>& ClassWalk::best(double unit, const ShouldStop& should_stop) {
    best_.reset();
    next_.reset();
    visit(unit, should_stop, [&](const ClassMove& move, Next next) {
        best_ = move;
        next_ = std::move(next);
        return true;
    });
    put_blocked_aside();
    return best_;
}

std::vector<ClassMove> ClassWalk::moves(double unit) {
    best_.reset();
    next_.reset();
    std::vector<ClassMove> found;
    visit(unit, {}, [&](const ClassMove& move, const Next&) {
        found.push_back(move);
        return false;
    });
    put_blocked_aside();
    return found;
}

void ClassWalk::take() {
    if (best_->kind == ClassMoveKind::turn) {
        changer_.reset(*structure_after(graph_, *best_));
    } else {
        changer_.follow(graph_, *best_);
    }
    last_changed_ = change(next_->changes);
    bring_back_unblocked();
    Nodes stale;
    for (const Link& link : next_->changes) {
        insert_node(stale, link.a);
        insert_node(stale, link.b);
    }
    for (const std::int32_t v : Nodes(stale)) {
        for (const std::int32_t w : graph_.adjacent(v)) insert_node(stale, w);
    }
    member_ = std::move(next_->member);
    last_ = std::move(best_);
    best_.reset();
    next_.reset();
    ++n_taken_;
    todo_ = std::move(stale);
}

}  // namespace bestdag
