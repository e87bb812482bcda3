// A structure under single-arc changes: which may be made, and what each gains. The scores come
// from outside, a row of them for each family that changed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/exact_sum.hpp"
#include "base/philox.hpp"
#include "search/ancestry.hpp"

namespace bestdag {

enum class MoveKind : std::uint8_t { add, remove, reverse };

// The arc is parent -> child before a removal or a reversal, and after an addition.
struct Move {
    MoveKind kind;
    std::size_t parent, child;
    double gain;
};

using NodePairs = std::vector<std::pair<std::size_t, std::size_t>>;

// What every structure must obey.
struct ClimbRules {
    // Who may be a parent: candidates[offsets[c] .. offsets[c + 1]) of child c, ascending, and
    // for each of these whether the arc must be there.
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> candidates;
    std::vector<std::uint8_t> required;
    std::vector<std::int32_t> max_parents;
    NodePairs edges;          // joined in either direction
    NodePairs ancestors;      // (a, b): a path leads from a to b
    NodePairs non_ancestors;  // (a, b): none does

    std::size_t n_nodes() const noexcept { return max_parents.size(); }
};

class Climb {
public:
    // Requires offsets to begin with 0 and to end with the number of candidates; candidates below
    // n_nodes, ascending for each child, never the child itself.
    explicit Climb(ClimbRules rules);

    std::size_t n_nodes() const noexcept { return parents_.size(); }
    std::span<const std::int32_t> candidates(std::size_t child) const noexcept;
    std::size_t n_candidates() const noexcept { return stamps_.size(); }
    const ParentLists& parents() const noexcept { return parents_; }
    std::vector<std::size_t> children(std::size_t node) const;

    // Take another structure. False when it has a cycle or an arc that is no candidate, and then
    // nothing else may be asked; the rules are not checked. Rows of families that stay are kept.
    bool reset(const ParentLists& parents);

    // The families that have no row of scores, or whose row belongs to other parents.
    std::vector<std::size_t> unscored() const;

    // The score of the family as it is, and after adding each candidate or, where it is a parent,
    // dropping it. Changes with a score that is not a number are never made.
    void set_row(std::size_t child, double score, std::span<const double> changed);

    std::span<const double> row(std::size_t child) const noexcept {
        return {changed_.data() + first(child), first(child + 1) - first(child)};
    }

    // Of every family; right after a move whose score was known.
    const std::vector<double>& scores() const noexcept { return scores_; }
    // Their sum, rounded once.
    double total() const { return exact_sum(scores_); }
    bool is_full(std::size_t child) const noexcept {
        return parents_[child].size() >= static_cast<std::size_t>(rules_.max_parents[child]);
    }

    // Whether there is such a move, and it gives a structure that has no cycle and obeys the rules,
    // as this one does.
    bool can(MoveKind kind, std::size_t parent, std::size_t child) const;
    // What it gains, as far as the rows are known.
    double gain(MoveKind kind, std::size_t parent, std::size_t child) const;

    // The legal move with the highest gain. Of those within `tie` of it the first is taken, by
    // kind, parent and child. With `tenure`, pairs of nodes that one of the last `tenure` moves
    // changed are left alone, unless the gain exceeds `aspiration`.
    std::optional<Move> best(double tie, std::int64_t tenure = 0, double aspiration = 0.0);

    // The legal new parent of one child with the highest gain, among those with a lower `place`
    // than the child; of those within `tie` of it, the first.
    std::optional<Move> best_addition(std::size_t child, double tie,
                                      std::span<const std::int32_t> place) const;

    // The first of at most `n_tries` random moves that is legal and is accepted: with probability
    // exp(gain / temperature), as Metropolis does. Draws depend on key and counter alone; the
    // counter is moved on. `only_add`: no removals and reversals.
    std::optional<Move> propose(double temperature, std::int64_t n_tries, bool only_add,
                                PhiloxKey key, std::uint64_t& counter) const;

    // What the last `tenure` moves changed, as places among the candidates, and how many moves ago;
    // and the same put back, after a `reset`.
    std::vector<std::pair<std::size_t, std::int64_t>> recent(std::int64_t tenure) const;
    void set_recent(std::span<const std::pair<std::size_t, std::int64_t>> ages);

    // Make a legal move. The rows of the families it changed have to be set again: the child's,
    // and after a reversal the parent's; their scores are those that the old rows gave.
    void apply(MoveKind kind, std::size_t parent, std::size_t child);

private:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    // What a reversal gains, worked out after so many changes of rows and scores.
    struct Reversal {
        double gain = 0.0;
        std::int64_t at = -1;
    };

    // What is known of a row without asking again: its best legal change.
    struct RowBest {
        bool is_known = false;
        MoveKind kind = MoveKind::add;
        std::size_t place = kNone;  // none is legal
        std::size_t node = 0;
        double score = 0.0;  // after the change
    };

    std::size_t first(std::size_t child) const noexcept {
        return static_cast<std::size_t>(rules_.offsets[child]);
    }
    std::size_t place_of(std::size_t parent, std::size_t child) const noexcept;
    std::size_t node_at(std::size_t place) const noexcept {
        return static_cast<std::size_t>(rules_.candidates[place]);
    }
    MoveKind kind_at(std::size_t place) const noexcept {
        return is_parent_[place] ? MoveKind::remove : MoveKind::add;
    }
    bool is_tabu(std::size_t place, double gain, std::int64_t tenure, double aspiration) const {
        return stamps_[place] > std::max(n_moves_ - tenure, reset_at_) && !(gain > aspiration);
    }
    // The rest of `can`, for an arc known to be there, or to be a candidate and not there.
    bool is_legal(MoveKind kind, std::size_t parent, std::size_t child) const;
    bool obeys_paths(MoveKind kind, std::size_t parent, std::size_t child) const;
    bool has_path_after(MoveKind kind, std::size_t parent, std::size_t child, std::size_t from,
                        std::size_t to) const;
    RowBest at_place(std::size_t place) const;
    RowBest best_of_row(std::size_t child, std::int64_t tenure, double aspiration) const;
    template <class Visit>
    void each_reversal(const Visit& visit);
    bool reset_all(const ParentLists& parents);
    bool reset_some(const ParentLists& parents, std::span<const std::size_t> changed);
    void put(std::size_t parent, std::size_t child);
    void take(std::size_t parent, std::size_t child);
    void unscore(std::size_t child);
    void became_legal(std::size_t parent, std::size_t child);
    void forget_rows();
    bool has_path_rules() const noexcept {
        return !rules_.ancestors.empty() || !rules_.non_ancestors.empty();
    }

    ClimbRules rules_;
    ParentLists parents_;
    Ancestry ancestry_;
    std::vector<double> scores_;           // of the families
    std::vector<std::uint8_t> is_scored_;  // whether the family's row belongs to its parents
    std::vector<double> changed_;          // after each change, aligned with the candidates
    std::vector<std::uint8_t> is_parent_;  // aligned with the candidates
    std::vector<std::uint8_t> is_fixed_;   // arcs that no removal may take
    std::vector<std::int64_t> stamps_;     // the last move that changed this pair
    std::int64_t n_moves_ = 0, reset_at_ = 0;
    std::vector<std::vector<Reversal>> reversals_;  // of the arcs to each node's parents
    std::vector<std::int64_t> changed_at_;          // the last change of a row or score, by node
    std::int64_t n_changes_ = 0;
    std::vector<RowBest> row_best_;
};

}  // namespace bestdag
