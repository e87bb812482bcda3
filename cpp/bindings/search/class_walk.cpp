// A walk over equivalence classes. A move is (x, y, others, gain).
#include "search/class_walk.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/scoring/local_scores.hpp"
#include "bindings/running.hpp"

namespace {

using bestdag::ClassWalk;
using Allowed = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Pairs = bestdag::ClassRules::Pairs;
using MoveTuple = std::tuple<std::int32_t, std::int32_t, bestdag::Nodes, double>;
// (children, offsets, parents, candidate_offsets, candidates)
using WantedTuple = nb::typed<nb::tuple, nb::any, nb::any, nb::any, nb::any, nb::any>;

MoveTuple tuple_of(const bestdag::ClassMove& move) {
    return {move.x, move.y, move.others, move.gain};
}

// Looks at the clock and for signals, about every 10 ms however often it is asked.
class Patience {
public:
    explicit Patience(const bestdag::Execution& execution) : execution_(execution) {}
    bool operator()() {
        const auto now = std::chrono::steady_clock::now();
        if (now < next_) return false;
        next_ = now + std::chrono::milliseconds(10);
        if (execution_.should_stop()) throw bestdag::Interrupted();
        return false;
    }

private:
    const bestdag::Execution& execution_;
    std::chrono::steady_clock::time_point next_;
};

}  // namespace

void register_class_walk(nb::module_& m) {
    nb::class_<ClassWalk>(m, "ClassWalk",
                          "An equivalence class, and what the moves to other classes gain.")
        .def(
            "__init__",
            [](ClassWalk* self, const bestdag::ParentLists& start, const Int32s& max_parents,
               const std::optional<Allowed>& allowed, Pairs required, Pairs edges, Pairs ancestors,
               Pairs non_ancestors) {
                const std::size_t n = max_parents.size();
                if (start.size() != n || (allowed && allowed->size() != n * n)) {
                    throw std::invalid_argument("parents and a limit for each node, n x n flags");
                }
                bestdag::ClassRules rules;
                if (allowed) {
                    rules.allowed.assign(allowed->data(), allowed->data() + allowed->size());
                }
                rules.required = std::move(required);
                rules.max_parents.assign(max_parents.data(), max_parents.data() + n);
                rules.edges = std::move(edges);
                rules.ancestors = std::move(ancestors);
                rules.non_ancestors = std::move(non_ancestors);
                new (self) ClassWalk(std::move(rules), start);
            },
            "start"_a, "max_parents"_a.noconvert(), "allowed"_a.noconvert().none(), "required"_a,
            "edges"_a, "ancestors"_a, "non_ancestors"_a)
        .def("member", &ClassWalk::member, "The parents of every node in a member of the class.")
        .def_prop_ro("n_taken", &ClassWalk::n_taken, "How many moves were taken.")
        .def(
            "begin",
            [](ClassWalk& self, int kind) {
                if (kind < 0 || kind > 2) throw std::invalid_argument("a kind is 0, 1 or 2");
                self.begin(static_cast<bestdag::ClassMoveKind>(kind));
            },
            "kind"_a, "Look for insertions (0), removals (1) or turns (2) from now on.")
        .def(
            "wanted",
            [](ClassWalk& self, std::size_t n_scores) -> std::optional<WantedTuple> {
                std::optional<bestdag::WantedScores> wanted = self.wanted(n_scores);
                if (!wanted) return std::nullopt;
                return WantedTuple(nb::make_tuple(to_numpy(std::move(wanted->children)),
                                                  to_numpy(std::move(wanted->offsets)),
                                                  to_numpy(std::move(wanted->parents)),
                                                  to_numpy(std::move(wanted->candidate_offsets)),
                                                  to_numpy(std::move(wanted->candidates))));
            },
            "n_scores"_a,
            "The changes of families whose scores moves wait for; None when there are no more.")
        .def(
            "set_scores",
            [](ClassWalk& self, const Array1<const double>& scores) {
                if (scores.size() != self.n_wanted()) {
                    throw std::invalid_argument("one score for each candidate that is wanted");
                }
                self.set_scores(view(scores));
            },
            "scores"_a.noconvert(), "The scores that were wanted.")
        .def(
            "best",
            [](ClassWalk& self, double unit, double seconds) -> std::optional<MoveTuple> {
                Watcher watcher(seconds, nb::none());
                std::optional<MoveTuple> found;
                run_watched(1, watcher, [&](const bestdag::Execution& execution) {
                    const auto& move = self.best(unit, Patience(execution));
                    if (move) found = tuple_of(*move);
                });
                return found;
            },
            "unit"_a, "seconds"_a,
            "The best move that gains more than a unit; None when there is none, or time is up.")
        .def(
            "best_member",
            [](const ClassWalk& self) {
                if (!self.has_best()) throw std::invalid_argument("no best move was found");
                return self.best_member();
            },
            "The parents of every node in a member of the class that the best move leads to.")
        .def(
            "moves",
            [](ClassWalk& self, double unit) {
                std::vector<MoveTuple> found;
                for (const bestdag::ClassMove& move : self.moves(unit)) {
                    found.push_back(tuple_of(move));
                }
                return found;
            },
            "unit"_a, "All moves that gain more than a unit, the best first.")
        .def(
            "take",
            [](ClassWalk& self) {
                if (!self.has_best()) throw std::invalid_argument("no best move was found");
                self.take();
            },
            "Take the best move.");
}
