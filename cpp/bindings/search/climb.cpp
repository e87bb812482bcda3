// A structure under single-arc changes. A move is (kind, parent, child), kind 0 an addition, 1 a
// removal, 2 a reversal.
#include "search/climb.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "bindings/types.hpp"

namespace {

using Flags = Array1<const std::uint8_t>;
using Pairs = std::vector<std::tuple<std::size_t, std::size_t>>;
using MoveTuple = std::tuple<int, std::size_t, std::size_t, double>;

template <class T>
std::vector<T> copy_of(const Array1<const T>& array) {
    return {array.data(), array.data() + array.size()};
}

bestdag::NodePairs pairs_of(const Pairs& pairs) {
    bestdag::NodePairs found;
    for (const auto& [a, b] : pairs) found.emplace_back(a, b);
    return found;
}

std::optional<MoveTuple> tuple_of(const std::optional<bestdag::Move>& move) {
    if (!move) return std::nullopt;
    return MoveTuple{static_cast<int>(move->kind), move->parent, move->child, move->gain};
}

bestdag::MoveKind kind_of(int kind) {
    if (kind < 0 || kind > 2) throw std::invalid_argument("a kind of move is 0, 1 or 2");
    return static_cast<bestdag::MoveKind>(kind);
}

void require_node(const bestdag::Climb& climb, std::size_t node) {
    if (node >= climb.n_nodes()) throw std::invalid_argument("there is no such node");
}

}  // namespace

void register_climb(nb::module_& m) {
    using bestdag::Climb;
    nb::class_<Climb>(m, "Climb", "A structure under single-arc changes, and what each gains.")
        .def(
            "__init__",
            [](Climb* self, const Int64s& offsets, const Int32s& candidates, const Flags& required,
               const Int32s& max_parents, const Pairs& edges, const Pairs& ancestors,
               const Pairs& non_ancestors) {
                if (offsets.size() != max_parents.size() + 1 ||
                    required.size() != candidates.size()) {
                    throw std::invalid_argument("one limit per node, one flag per candidate");
                }
                new (self) Climb({copy_of(offsets), copy_of(candidates), copy_of(required),
                                  copy_of(max_parents), pairs_of(edges), pairs_of(ancestors),
                                  pairs_of(non_ancestors)});
            },
            "offsets"_a.noconvert(), "candidates"_a.noconvert(), "required"_a.noconvert(),
            "max_parents"_a.noconvert(), "edges"_a, "ancestors"_a, "non_ancestors"_a)
        .def(
            "reset",
            [](Climb& self, const bestdag::ParentLists& parents) {
                if (parents.size() != self.n_nodes() || !self.reset(parents)) {
                    throw std::invalid_argument("parents of every node, candidates, no cycle");
                }
            },
            "parents"_a, "Take another structure; rows of families that stay are kept.")
        .def("unscored", &Climb::unscored, "The families whose row is yet to be set.")
        .def("parents", &Climb::parents, "The parents of every node.")
        .def(
            "parents_of",
            [](const Climb& self, std::size_t child) {
                require_node(self, child);
                return self.parents()[child];
            },
            "child"_a)
        .def(
            "children_of",
            [](const Climb& self, std::size_t node) {
                require_node(self, node);
                return self.children(node);
            },
            "node"_a)
        .def("scores", &Climb::scores, "The score of every family.")
        .def("total", &Climb::total, "The exact sum of the scores, rounded once.")
        .def(
            "score",
            [](const Climb& self, std::size_t child) {
                require_node(self, child);
                return self.scores()[child];
            },
            "child"_a)
        .def(
            "set_row",
            [](Climb& self, std::size_t child, double score, const Array1<const double>& changed) {
                require_node(self, child);
                if (changed.size() != self.candidates(child).size()) {
                    throw std::invalid_argument("one score per candidate");
                }
                self.set_row(child, score, view(changed));
            },
            "child"_a, "score"_a, "changed"_a.noconvert(),
            "Scores of a family as it is and after each of its changes.")
        .def(
            "row",
            [](const Climb& self, std::size_t child) {
                require_node(self, child);
                const auto row = self.row(child);
                auto* const copy = new double[row.size()];
                std::copy(row.begin(), row.end(), copy);
                const nb::capsule owner(copy,
                                        [](void* p) noexcept { delete[] static_cast<double*>(p); });
                return nb::ndarray<nb::numpy, double, nb::ndim<1>>(copy, {row.size()}, owner);
            },
            "child"_a, "The scores of the family's changes, as they were set.")
        .def(
            "can",
            [](const Climb& self, int kind, std::size_t parent, std::size_t child) {
                require_node(self, parent);
                require_node(self, child);
                return self.can(kind_of(kind), parent, child);
            },
            "kind"_a, "parent"_a, "child"_a, "Whether the move is there and is legal.")
        .def(
            "gain",
            [](const Climb& self, int kind, std::size_t parent, std::size_t child) {
                require_node(self, parent);
                require_node(self, child);
                return self.gain(kind_of(kind), parent, child);
            },
            "kind"_a, "parent"_a, "child"_a, "What the move gains.")
        .def(
            "best",
            [](Climb& self, double tie, std::int64_t tenure, double aspiration) {
                return tuple_of(self.best(tie, tenure, aspiration));
            },
            "tie"_a, "tenure"_a = 0, "aspiration"_a = 0.0,
            "The legal move with the highest gain, and its gain.")
        .def(
            "best_addition",
            [](const Climb& self, std::size_t child, double tie, const Int32s& place) {
                require_node(self, child);
                if (place.size() != self.n_nodes()) {
                    throw std::invalid_argument("one place in the order for each node");
                }
                return tuple_of(self.best_addition(child, tie, view(place)));
            },
            "child"_a, "tie"_a, "place"_a.noconvert(),
            "The legal new parent from before the child that gains most.")
        .def(
            "propose",
            [](const Climb& self, double temperature, std::int64_t n_tries, bool only_add,
               std::uint64_t seed, std::uint64_t stream, std::uint64_t counter) {
                const auto move =
                    self.propose(temperature, n_tries, only_add, {seed, stream}, counter);
                return std::tuple(tuple_of(move), counter);
            },
            "temperature"_a, "n_tries"_a, "only_add"_a, "seed"_a, "stream"_a, "counter"_a,
            "The first random move that is accepted, and the counter after the draws.")
        .def("recent", &Climb::recent, "tenure"_a,
             "Places that the last moves changed, and how many moves ago.")
        .def(
            "set_recent",
            [](Climb& self, const std::vector<std::pair<std::size_t, std::int64_t>>& ages) {
                for (const auto& [place, age] : ages) {
                    if (place >= self.n_candidates() || age < 0) {
                        throw std::invalid_argument("places of candidates, and ages");
                    }
                }
                self.set_recent(ages);
            },
            "ages"_a, "Put back what `recent` gave, after a reset.")
        .def(
            "apply",
            [](Climb& self, int kind, std::size_t parent, std::size_t child) {
                require_node(self, parent);
                require_node(self, child);
                if (!self.can(kind_of(kind), parent, child)) {
                    throw std::invalid_argument("the move cannot be made");
                }
                self.apply(kind_of(kind), parent, child);
            },
            "kind"_a, "parent"_a, "child"_a, "Make a legal move.");
}
