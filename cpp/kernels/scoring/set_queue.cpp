#include "scoring/set_queue.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace bestdag {

SetQueue::SetQueue(std::vector<ChildListing>& children, const Pruning& pruning, double slack)
    : SetGrowth(pruning, slack),
      children_(children),
      n_waiting_(children.size(), 0),
      all_wait_(children.size(), 0) {
    for (ChildListing& c : children_) begin(c);
}

WantedSets SetQueue::wanted(std::size_t most) {
    while (waiting_.size() < most && fill()) {
    }
    WantedSets wanted;
    const std::size_t n = std::min(most, waiting_.size());
    for (std::size_t i = 0; i < n; ++i) {
        const ChildListing& c = children_[waiting_[i].child];
        wanted.children.push_back(static_cast<std::int32_t>(waiting_[i].child));
        const auto first = static_cast<std::ptrdiff_t>(wanted.parents.size());
        wanted.parents.insert(wanted.parents.end(), c.limits.required.begin(),
                              c.limits.required.end());
        for (const std::uint16_t member : waiting_[i].set) {
            wanted.parents.push_back(c.chosen[member]);
        }
        std::sort(wanted.parents.begin() + first, wanted.parents.end());
        wanted.offsets.push_back(static_cast<std::int64_t>(wanted.parents.size()));
    }
    wanted.size = size_;
    return wanted;
}

void SetQueue::take(std::span<const double> scores, std::span<const double> bounds) {
    for (std::size_t i = 0; i < scores.size(); ++i) {
        if (scores[i] != scores[i]) throw std::domain_error("a score is not a number");
        const Waiting waiting = std::move(waiting_.front());
        waiting_.pop_front();
        ChildListing& c = children_[waiting.child];
        add(c, waiting, scores[i], bounds[i]);
        c.has_begun = true;
        c.place = waiting.place + (waiting.is_last && size_ > 0);
        --n_waiting_[waiting.child];
        grow_if_done(c);
    }
}

// Puts what extends one set into the queue; false when that must wait for what is in it, or all is
// done.
bool SetQueue::fill() {
    for (;;) {
        for (; child_ < children_.size(); ++child_, next_place_ = group_end_ = 0) {
            if (extend(children_[child_])) return true;
        }
        const bool is_over = std::all_of(children_.begin(), children_.end(),
                                         [](const ChildListing& c) { return c.is_done; });
        if (!waiting_.empty() || is_over) return false;
        ++size_;
        child_ = 0;
        std::fill(all_wait_.begin(), all_wait_.end(), std::uint8_t{0});
    }
}

bool SetQueue::extend(ChildListing& c) {
    if (c.is_done || all_wait_[c.child]) return false;
    if (size_ == 0) {
        waiting_.push_back({c.child, 0, true, -kInfinity, kInfinity, {}});
        ++n_waiting_[c.child];
        all_wait_[c.child] = 1;
        return true;
    }
    while (next_place_ < c.level.size()) {
        const std::size_t place = next_place_++;
        list_candidates(c, place, group_end_);
        for (const Candidate& candidate : candidates_) {
            set_.back() = candidate.member;
            const bool is_last = &candidate == &candidates_.back();
            waiting_.push_back({c.child, place, is_last, candidate.best, candidate.bound, set_});
        }
        n_waiting_[c.child] += candidates_.size();
        if (!candidates_.empty()) return true;
    }
    all_wait_[c.child] = 1;
    grow_if_done(c);
    return false;
}

void SetQueue::begin(ChildListing& c) {
    c.chosen.assign(c.limits.allowed.begin(), c.limits.allowed.end());
    c.bonuses.assign(c.limits.bonuses.begin(), c.limits.bonuses.end());
    for (const double bonus : c.bonuses) c.positive_bonus += std::max(0.0, bonus);
    c.max_chosen = std::min(c.chosen.size(), c.limits.max_parents - c.limits.required.size());
    if (c.chosen.size() > std::numeric_limits<std::uint16_t>::max()) {
        throw TooManySets(c.child, c.limits.required.size() + 1);
    }
}

void SetQueue::add(ChildListing& c, const Waiting& waiting, double score, double bound) {
    double bonus = c.limits.bonus;
    double bonus_left = c.positive_bonus;
    parents_.assign(c.limits.required.begin(), c.limits.required.end());
    for (const std::uint16_t member : waiting.set) {
        parents_.push_back(c.chosen[member]);
        bonus += c.bonus_of(member);
        bonus_left -= std::max(0.0, c.bonus_of(member));
    }
    if (!c.limits.required.empty()) std::sort(parents_.begin(), parents_.end());
    score += bonus;
    ++c.found.n_scored;
    if (!pruning_.is_on ? score > -kInfinity : pruning_.keeps(score, waiting.best)) {
        c.found.add(score, parents_);
    }
    if (waiting.set.size() >= c.max_chosen) return;
    const double best = std::max(score, waiting.best);
    if (!pruning_.is_on && bound > -kInfinity) bound = kInfinity;
    bound = std::min(bound + bonus + std::max(0.0, bonus_left), waiting.bound);
    if (bound + slack_ <= best) return;
    c.next.add(waiting.set, {best, bound, 0.0, 0});
}

// Goes on to the next size of a child once every set of this one is scored.
void SetQueue::grow_if_done(ChildListing& c) {
    if (!all_wait_[c.child] || n_waiting_[c.child] > 0) return;
    c.level = std::move(c.next);
    c.next = SetLevel(size_ + 1);
    c.place = 0;
    c.is_done = c.level.size() == 0 || size_ >= c.max_chosen;
    if (c.is_done) {
        c.level = SetLevel();
    } else if (pruning_.is_on) {
        c.level.index();
    }
}

}  // namespace bestdag
