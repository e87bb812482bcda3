// Which move comes next: the best one, the best new parent of one child, or one drawn at random.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "search/climb.hpp"

namespace bestdag {

namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// Of moves with equal gains the first is taken.
bool comes_before(const Move& a, const Move& b) {
    return std::tuple(a.kind, a.parent, a.child) < std::tuple(b.kind, b.parent, b.child);
}

}  // namespace

Climb::RowBest Climb::at_place(std::size_t place) const {
    if (place == kNone) return {.is_known = true};
    return {true, kind_at(place), place, node_at(place), changed_[place]};
}

// The best legal change of one family, and the first of equals.
Climb::RowBest Climb::best_of_row(std::size_t child, std::int64_t tenure, double aspiration) const {
    std::size_t found = kNone;
    double highest = kMinusInfinity;
    for (std::size_t place = first(child); place < first(child + 1); ++place) {
        if (!(changed_[place] > highest)) continue;
        const double gain = changed_[place] - scores_[child];
        if (tenure > 0 && is_tabu(place, gain, tenure, aspiration)) continue;
        if (!is_legal(kind_at(place), node_at(place), child)) continue;
        found = place;
        highest = changed_[place];
    }
    return at_place(found);
}

template <class Visit>
void Climb::each_reversal(const Visit& visit) {
    for (std::size_t child = 0; child < n_nodes(); ++child) {
        for (std::size_t i = 0; i < parents_[child].size(); ++i) {
            const auto parent = static_cast<std::size_t>(parents_[child][i]);
            Reversal& known = reversals_[child][i];
            if (known.at < std::max(changed_at_[child], changed_at_[parent])) {
                known = {gain(MoveKind::reverse, parent, child), n_changes_};
            }
            visit(parent, child, known.gain);
        }
    }
}

std::optional<Move> Climb::best(double tie, std::int64_t tenure, double aspiration) {
    std::optional<Move> found;
    const auto is_open = [&](const Move& move) {
        return (tenure == 0 ||
                !is_tabu(place_of(move.parent, move.child), move.gain, tenure, aspiration)) &&
               is_legal(move.kind, move.parent, move.child);
    };
    for (std::size_t child = 0; child < n_nodes(); ++child) {
        RowBest& known = row_best_[child];
        // What was best still is if it may be: changes that became legal since are in it.
        if (!known.is_known || (known.place != kNone && !is_legal(known.kind, known.node, child))) {
            known = best_of_row(child, 0, 0.0);
        }
        RowBest open = known;
        const auto is_higher = [&] {
            return open.place != kNone && (!found || open.score - scores_[child] > found->gain);
        };
        if (!is_higher()) continue;
        if (tenure > 0 && is_tabu(open.place, open.score - scores_[child], tenure, aspiration)) {
            open = best_of_row(child, tenure, aspiration);
            if (!is_higher()) continue;
        }
        found = Move{open.kind, open.node, child, open.score - scores_[child]};
    }
    each_reversal([&](std::size_t parent, std::size_t child, double gain) {
        if (found && !(gain > found->gain)) return;
        if (!(gain > kMinusInfinity)) return;
        const Move move{MoveKind::reverse, parent, child, gain};
        if (is_open(move)) found = move;
    });
    if (!found) return found;

    const double enough = found->gain - tie;
    const auto offer = [&](const Move& move) {
        if (move.gain >= enough && comes_before(move, *found) && is_open(move)) found = move;
    };
    for (std::size_t child = 0; child < n_nodes(); ++child) {
        const RowBest& known = row_best_[child];
        if (known.place == kNone || !(known.score - scores_[child] >= enough)) continue;
        for (std::size_t place = first(child); place < first(child + 1); ++place) {
            offer({kind_at(place), node_at(place), child, changed_[place] - scores_[child]});
        }
    }
    if (found->kind == MoveKind::reverse) {
        each_reversal([&](std::size_t parent, std::size_t child, double gain) {
            offer({MoveKind::reverse, parent, child, gain});
        });
    }
    return found;
}

std::optional<Move> Climb::best_addition(std::size_t child, double tie,
                                         std::span<const std::int32_t> place_in_order) const {
    std::optional<Move> found;
    const auto is_open = [&](std::size_t place) {
        return !is_parent_[place] && place_in_order[node_at(place)] < place_in_order[child] &&
               is_legal(MoveKind::add, node_at(place), child);
    };
    for (std::size_t place = first(child); place < first(child + 1); ++place) {
        const double gain = changed_[place] - scores_[child];
        if (!(gain > (found ? found->gain : kMinusInfinity)) || !is_open(place)) continue;
        found = Move{MoveKind::add, node_at(place), child, gain};
    }
    if (!found) return found;
    for (std::size_t place = first(child);; ++place) {  // ends at the one found
        const double gain = changed_[place] - scores_[child];
        if (gain >= found->gain - tie && is_open(place)) {
            return Move{MoveKind::add, node_at(place), child, gain};
        }
    }
}

std::optional<Move> Climb::propose(double temperature, std::int64_t n_tries, bool only_add,
                                   PhiloxKey key, std::uint64_t& counter) const {
    __extension__ using Wide = unsigned __int128;
    const std::size_t n_places = changed_.size();
    if (n_places == 0) {
        counter += static_cast<std::uint64_t>(n_tries);
        return std::nullopt;
    }
    for (std::int64_t i = 0; i < n_tries; ++i) {
        const PhiloxBlock drawn = philox4x64(key, counter++);
        const auto place = static_cast<std::size_t>(Wide{drawn[0]} * n_places >> 64);
        const auto child =
            static_cast<std::size_t>(std::upper_bound(rules_.offsets.begin(), rules_.offsets.end(),
                                                      static_cast<std::int64_t>(place)) -
                                     rules_.offsets.begin() - 1);
        if (is_parent_[place] && only_add) continue;
        const bool turns = is_parent_[place] && (drawn[1] & 1);
        const MoveKind kind = turns ? MoveKind::reverse : kind_at(place);
        const std::size_t parent = node_at(place);
        double won = 0.0;
        if (!std::isinf(temperature)) {
            won = gain(kind, parent, child);
            const double drawn_share = static_cast<double>((drawn[2] >> 11) + 1) * 0x1p-53;
            // Not a number, too: a change of unknown score.
            if (!(won >= temperature * std::log(drawn_share))) continue;
        }
        if (is_legal(kind, parent, child)) return Move{kind, parent, child, won};
    }
    return std::nullopt;
}

}  // namespace bestdag
