// A walk over equivalence classes: the moves of one kind that gain, kept up to date from class to
// class, and the best of them. The scores come from outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "search/class_change.hpp"
#include "search/class_graph.hpp"
#include "search/class_members.hpp"
#include "search/class_moves.hpp"
#include "search/class_scores.hpp"

namespace bestdag {

class ClassWalk {
public:
    using ShouldStop = std::function<bool()>;

    static constexpr std::size_t kMostBytes = std::size_t{1} << 28;

    // Requires `start` to be without cycles and to obey the rules. Scores are forgotten when they
    // take about `most_bytes`.
    ClassWalk(ClassRules rules, ParentLists start, std::size_t most_bytes = kMostBytes);

    const ClassGraph& graph() const noexcept { return graph_; }
    // A member of the class that obeys the rules.
    ParentLists member() const;
    std::size_t n_taken() const noexcept { return n_taken_; }

    // Look for moves of one kind from now on.
    void begin(ClassMoveKind kind);

    // The scores that the next moves to be listed wait for, perhaps none: all of them, or some when
    // they are more than `n_scores`. set_scores answers; then ask again. Nothing at all when the
    // moves are up to date.
    std::optional<WantedScores> wanted(std::size_t n_scores);
    void set_scores(std::span<const double> scores);
    std::size_t n_wanted() const noexcept { return scores_.wanted().candidates.size(); }

    // Requires moves that are up to date. The move with the highest gain above `unit` that is valid
    // and leads to a class with a member that obeys the rules. Gains count in units: of those that
    // are the same then, the first by x, y and others is the best. `should_stop` is asked now and
    // then; there is no answer once it says yes.
    const std::optional<ClassMove>& best(double unit, const ShouldStop& should_stop);
    // All such moves, the best first.
    std::vector<ClassMove> moves(double unit);

    bool has_best() const noexcept { return next_.has_value(); }
    // A member of that class that obeys the rules.
    ParentLists best_member() const;
    // Go to the class that the best move leads to. Then moves are out of date where they saw a
    // change.
    void take();

private:
    // Moves of pairs with one y.
    struct Entry {
        double gain;
        std::int32_t x;
        std::uint32_t set;  // the clique of neighbours of y that it came from
        bool is_blocked;    // found just now
    };
    // A clique, and the insertions that are invalid for as long as the paths from y past it that
    // were found are there. What was out of reach may be within it after the next step.
    struct Barrier {
        Nodes nodes;
        Reach reach;
        std::size_t found_at = 0;  // how many moves were taken by then
        std::vector<Entry> blocked;
    };
    struct Moves {
        std::vector<Entry> entries;  // without those that are blocked
        std::size_t n_sorted = 0;    // so many come first, the best first
        std::vector<Barrier> sets;

        const Entry* at(std::size_t place, double unit);
    };
    // A clique whose moves are listed when their scores are known; all x for insertions.
    struct Waiting {
        std::int32_t x, y;
        Nodes set;
    };
    struct Head;
    // Where a move leads. Without rules, which member is shown is worked out when it is asked for.
    struct Next {
        std::vector<Link> changes;
        std::optional<ParentLists> member;
    };

    bool list_next();
    bool open_next();
    bool want(const Waiting& item);
    void list_moves(const Waiting& item);
    void list_insertions(const Waiting& item);
    void add(const Waiting& item, std::int32_t x, double gain);
    void find_near(std::int32_t y);

    ClassMove move_of(std::int32_t y, const Entry& entry) const;
    // Calls use(move) for the moves that lead to a class, best first, until it returns true.
    template <class Use>
    void visit(double unit, const ShouldStop& should_stop, Use&& use);
    bool is_blocked(const ClassMove& move, Entry& entry);
    void put_blocked_aside();
    void bring_back_unblocked();
    void bring_back(std::int32_t y, Barrier& barrier, bool is_all);
    void drop_moves(std::int32_t y);
    std::optional<Next> follow(const ClassMove& move);
    std::vector<Link> change(const std::vector<Link>& links);
    ClassGraph graph_before() const;

    ClassRules rules_;
    ClassGraph graph_;
    ClassChanger changer_;
    std::optional<ParentLists> member_;  // if it is known
    std::size_t n_taken_ = 0;
    std::optional<ClassMove> last_;   // the move that led here,
    std::vector<Link> last_changed_;  // and the links it changed as they were before
    ClassScores scores_;
    ClassMoveKind kind_ = ClassMoveKind::insert;
    std::vector<Moves> moves_;  // by y
    Nodes todo_;                // y whose moves are to be listed

    // Where listing stands: y, x (-1 for insertions), the x to come, and the cliques to come.
    std::int32_t y_ = -1, x_ = -1;
    Nodes partners_;
    Cliques cliques_;
    std::vector<Waiting> waiting_;

    // near_[x]: the neighbours of near_y_ that are adjacent to x; near_to_ are those x that have
    // any.
    std::int32_t near_y_ = -1;
    std::vector<Nodes> near_;
    Nodes near_to_;

    Nodes blocked_;  // y with entries that were found to be blocked
    std::size_t n_reaches_ = 0, most_reaches_;
    std::optional<ClassMove> best_;
    std::optional<Next> next_;
};

}  // namespace bestdag
