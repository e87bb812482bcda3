// Steps from DAG to DAG that turn an arc around and give both of its ends new parents, drawn by
// their weights (Grzegorczyk and Husmeier 2008): the way from one group of good structures to
// another that single arcs, and places in an order, take a long time to find.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "independence/random_tables.hpp"
#include "posterior/room_sums.hpp"

namespace bestdag {

class ArcReversal {
public:
    // `rooms` outlive this.
    explicit ArcReversal(const RoomSums& rooms);

    // One step; `parents` are n n_words words, the parents of each variable, changed in place. Each
    // DAG comes up by its weight in the long run. Returns whether the step was taken.
    bool step(std::vector<std::uint64_t>& parents, RandomStream& random);

private:
    std::pair<std::size_t, std::size_t> arc(const std::vector<std::uint64_t>& parents,
                                            std::size_t which) const;
    // into others_: everybody but v and its descendants
    void leave_out_descendants(const std::vector<std::uint64_t>& parents, std::size_t v);

    const RoomSums& rooms_;
    const ParentWeights& weights_;
    std::vector<std::uint64_t> without_, back_;  // both ends without parents; the way back
    std::vector<std::uint64_t> others_, one_;
};

}  // namespace bestdag
