// Insertions that a path makes invalid: put aside, and brought back when the path is gone.
#include <algorithm>
#include <utility>

#include "search/class_walk.hpp"

namespace bestdag {

namespace {

// Whether a link leads from one of its nodes to the other.
bool leads(const Link& link, std::int32_t a, std::int32_t b) noexcept {
    return link.kind == LinkKind::edge ||
           (link.kind == LinkKind::arc && link.a == a && link.b == b);
}

}  // namespace

// Whether a path makes an insertion invalid; its barrier is a clique.
bool ClassWalk::is_blocked(const ClassMove& move, Entry& entry) {
    if (kind_ != ClassMoveKind::insert) return false;
    Barrier& barrier = moves_[place(move.y)].sets[entry.set];
    const bool was_known = barrier.reach.is_known();
    if (!was_known || (!barrier.reach.has(move.x) && barrier.found_at != n_taken_)) {
        Reach reach(graph_, move.y, barrier.nodes);
        if (!was_known && n_reaches_ >= most_reaches_) return reach.has(move.x);
        barrier.reach = std::move(reach);
        barrier.found_at = n_taken_;
        if (!was_known) ++n_reaches_;
    }
    if (!barrier.reach.has(move.x)) return false;
    if (blocked_.empty() || blocked_.back() != move.y) blocked_.push_back(move.y);
    entry.is_blocked = true;
    return true;
}

// Do not look at blocked insertions again until the paths have changed.
void ClassWalk::put_blocked_aside() {
    for (const std::int32_t y : blocked_) {
        Moves& moves = moves_[place(y)];
        moves.n_sorted -= std::erase_if(moves.entries, [&](const Entry& entry) {
            if (entry.is_blocked) moves.sets[entry.set].blocked.push_back(entry);
            return entry.is_blocked;
        });
    }
    blocked_.clear();
}

// Look again at what was blocked by a path, where none is left; at everything when the paths take
// much memory.
void ClassWalk::bring_back_unblocked() {
    std::vector<ClassGraph::Arc> lost;
    for (const Link& before : last_changed_) {
        const Link after = graph_.link(before.a, before.b);
        for (const auto& [a, b] : {std::pair(before.a, before.b), std::pair(before.b, before.a)}) {
            if (leads(before, a, b) && !leads(after, a, b)) lost.emplace_back(a, b);
        }
    }
    const bool is_much = n_reaches_ >= most_reaches_;
    if (lost.empty() && !is_much) return;
    for (std::size_t y = 0; y < moves_.size(); ++y) {
        const std::size_t n_before = moves_[y].entries.size();
        for (Barrier& barrier : moves_[y].sets) {
            if (!barrier.reach.is_known()) continue;
            const bool is_cut = std::any_of(lost.begin(), lost.end(), [&](const auto& arc) {
                return barrier.reach.uses(arc.first, arc.second);
            });
            if (is_much || is_cut) bring_back(static_cast<std::int32_t>(y), barrier, is_much);
        }
        if (moves_[y].entries.size() > n_before) moves_[y].n_sorted = 0;
    }
}

void ClassWalk::bring_back(std::int32_t y, Barrier& barrier, bool is_all) {
    if (is_all || barrier.blocked.empty()) {
        barrier.reach = {};
        --n_reaches_;
    } else {
        barrier.reach = Reach(graph_, y, barrier.nodes);
        barrier.found_at = n_taken_ + 1;  // the step that is being taken is over by then
    }
    std::erase_if(barrier.blocked, [&](Entry& entry) {
        entry.is_blocked = barrier.reach.is_known() && barrier.reach.has(entry.x);
        if (!entry.is_blocked) moves_[place(y)].entries.push_back(entry);
        return !entry.is_blocked;
    });
}

}  // namespace bestdag
