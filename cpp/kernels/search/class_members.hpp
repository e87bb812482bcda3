// Members of an equivalence class that obey what the user knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "search/class_graph.hpp"

namespace bestdag {

struct ClassRules {
    using Pairs = std::vector<std::pair<std::int32_t, std::int32_t>>;

    // Of every pair, at parent * n + child: whether the arc may be there. Empty when nothing is
    // known: every class will do, and any member of it.
    std::vector<std::uint8_t> allowed;
    Pairs required;                         // arcs that must be there, ascending
    std::vector<std::int32_t> max_parents;  // of every node, always given
    Pairs edges;                            // joined in either direction
    Pairs ancestors;                        // (a, b): a path leads from a to b
    Pairs non_ancestors;                    // (a, b): none does

    bool is_free() const noexcept { return allowed.empty(); }
    bool allows(std::int32_t parent, std::int32_t child) const noexcept {
        return is_free() || allowed[place(parent) * max_parents.size() + place(child)];
    }
    // Whether an arc one way or the other may join them.
    bool allows_pair(std::int32_t a, std::int32_t b) const noexcept {
        return allows(a, b) || allows(b, a);
    }
    // Whether no member of a class with this link can obey.
    bool forbids(const Link& link) const noexcept;
    // Whether a structure without cycles satisfies all of it.
    bool obeyed_by(const ParentLists& dag) const;
};

// Whether the edges around these nodes can be directed as the rules about arcs say: each connected
// piece of the undirected part of a CPDAG is directed for itself (Andersson, Madigan and Perlman
// 1997). No link may be forbidden.
bool can_obey(const ClassGraph& graph, const ClassRules& rules, const Nodes& nodes);

// A member of the class of this CPDAG that obeys the rules, if one is found. None of its links may
// be forbidden. It is the one that comes from directing edges as the rules about arcs say, or else,
// where there are at most `most` members, the first of them by its arcs.
std::optional<ParentLists> obeying_member(const ClassGraph& graph, const ClassRules& rules,
                                          std::size_t most);

}  // namespace bestdag
