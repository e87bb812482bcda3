// Search over orders with parent sets that grow and shrink.
#include "search/order_crew.hpp"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "bindings/types.hpp"
#include "scoring/changes.hpp"

namespace {

using Pairs = std::vector<std::tuple<std::size_t, std::size_t>>;
using Flags = Array1<const std::uint8_t>;
using Values = Array1<const double>;
using bestdag::OrderCrew;

template <class T>
std::vector<T> copy_of(const Array1<const T>& array) {
    return {array.data(), array.data() + array.size()};
}

// Scores from Python: called with a child, its parents and candidates, returns an array.
class PythonWorker final : public bestdag::ChangeScorers::Worker {
public:
    explicit PythonWorker(nb::callable score) : score_(std::move(score)) {}
    ~PythonWorker() override {
        const nb::gil_scoped_acquire locked;
        score_.reset();
    }

    void score(const bestdag::Family& family, std::span<const std::int32_t> candidates,
               const bestdag::StopFlag& stop, double* scores) override {
        const nb::gil_scoped_acquire locked;
        const Stopped by(stop);
        Values found;
        try {
            found = nb::cast<Values>(
                score_(family.child,
                       std::vector<std::int32_t>(family.parents.begin(), family.parents.end()),
                       std::vector<std::int32_t>(candidates.begin(), candidates.end())));
        } catch (const nb::python_error&) {
            bestdag::check(stop);  // native work within was stopped
            throw;
        }
        if (found.size() != candidates.size()) throw std::invalid_argument("a score for each");
        std::copy_n(found.data(), found.size(), scores);
    }

private:
    // Native work that this thread waits for stops with this flag.
    class Stopped {
    public:
        explicit Stopped(const bestdag::StopFlag& stop) { own_stop = &stop; }
        ~Stopped() { own_stop = nullptr; }
    };

    nb::object score_;
};

using PlaceTuple = std::tuple<std::vector<std::int32_t>, bestdag::ParentLists, double>;
using LaneTuple = std::tuple<std::uint64_t, PlaceTuple, PlaceTuple>;
using CrewTuple = std::tuple<PlaceTuple, std::vector<LaneTuple>, std::size_t, bool,
                             std::vector<std::int32_t>, std::size_t, double, std::size_t>;

PlaceTuple tuple_of(const bestdag::OrderPlace& place) {
    return {place.order, place.parents, place.total};
}

bestdag::OrderPlace place_of(const PlaceTuple& tuple) {
    return {std::get<0>(tuple), std::get<1>(tuple), std::get<2>(tuple)};
}

// Every family has a place, and every node once in the order, if there is one yet.
void require_place(const OrderCrew& crew, const bestdag::OrderPlace& place, bool may_be_empty) {
    const std::size_t n = crew.n_nodes();
    std::vector<std::int32_t> sorted(place.order);
    std::sort(sorted.begin(), sorted.end());
    bool is_good = place.parents.size() == n && sorted.size() == n;
    for (std::size_t v = 0; is_good && v < n; ++v) {
        is_good = sorted[v] == static_cast<std::int32_t>(v);
    }
    if (!is_good && !(may_be_empty && sorted.empty())) {
        throw std::invalid_argument("an order of all nodes, and parents of every node");
    }
}

bestdag::CrewPlace crew_place(const OrderCrew& crew, const CrewTuple& tuple,
                              const Array1<const std::uint64_t>& known) {
    bestdag::CrewPlace place;
    place.best = place_of(std::get<0>(tuple));
    for (const auto& [counter, home, best] : std::get<1>(tuple)) {
        place.lanes.push_back({counter, place_of(home), place_of(best)});
    }
    std::tie(std::ignore, std::ignore, place.n_idle, place.is_settled, place.to_sweep,
             place.n_attempts, place.nanoseconds, place.n_bytes) = tuple;
    place.known.assign(known.data(), known.data() + known.size());
    if (place.lanes.size() != crew.n_lanes()) throw std::invalid_argument("a place for each lane");
    require_place(crew, place.best, false);
    for (const auto& lane : place.lanes) {
        require_place(crew, lane.home, !place.is_settled);
        require_place(crew, lane.best, !place.is_settled);
    }
    return place;
}

OrderCrew::MakeWorker maker_of(nb::handle source) {
    if (nb::isinstance<bestdag::ChangeScorers>(source)) {
        const auto* scorers = nb::cast<const bestdag::ChangeScorers*>(source);
        return [scorers](const bestdag::StopFlag& stop) { return scorers->make_worker(stop); };
    }
    const auto callable = nb::cast<nb::callable>(source);
    return
        [callable](const bestdag::StopFlag&) { return std::make_unique<PythonWorker>(callable); };
}

}  // namespace

void register_order_crew(nb::module_& m) {
    nb::class_<OrderCrew>(m, "OrderCrew",
                          "Search over orders with parent sets that grow and shrink; see "
                          "kernels/search/order_crew.hpp.")
        .def(
            "__init__",
            [](OrderCrew* self, nb::object source, const Int64s& offsets, const Int32s& candidates,
               const Flags& required, const Values& bonuses, const Values& bases,
               const Int32s& max_parents, const Pairs& before, double tie, double n_rows,
               std::uint64_t seed, std::size_t n_lanes, double max_bytes) {
                const std::size_t n = max_parents.size();
                if (offsets.size() != n + 1 || bases.size() != n ||
                    required.size() != candidates.size() || bonuses.size() != candidates.size()) {
                    throw std::invalid_argument("one limit per node, one flag per candidate");
                }
                bestdag::Precedences precedences(n);
                for (const auto& [first, later] : before) precedences.add(first, later);
                new (self) OrderCrew({copy_of(offsets), copy_of(candidates), copy_of(required),
                                      copy_of(bonuses), copy_of(bases), copy_of(max_parents)},
                                     std::move(precedences), tie, n_rows, maker_of(source), seed,
                                     std::max<std::size_t>(1, n_lanes), max_bytes);
            },
            "source"_a, "offsets"_a.noconvert(), "candidates"_a.noconvert(),
            "required"_a.noconvert(), "bonuses"_a.noconvert(), "bases"_a.noconvert(),
            "max_parents"_a.noconvert(), "before"_a, "tie"_a, "n_rows"_a, "seed"_a, "n_lanes"_a,
            "max_bytes"_a, nb::keep_alive<1, 2>())
        .def(
            "begin",
            [](OrderCrew& self, const bestdag::ParentLists& parents) {
                if (parents.size() != self.n_nodes()) {
                    throw std::invalid_argument("parents of every node");
                }
                return self.begin(parents);
            },
            "parents"_a, "Go on from this structure; False when no order has it.")
        .def(
            "add_sets",
            [](OrderCrew& self, std::size_t child, const Values& scores, const Int64s& offsets,
               const Int32s& members) {
                if (child >= self.n_nodes() || offsets.size() != scores.size() + 1) {
                    throw std::invalid_argument("a child, and sets with a score each");
                }
                self.list(child, {copy_of(scores), copy_of(offsets), copy_of(members)});
            },
            "child"_a, "scores"_a.noconvert(), "offsets"_a.noconvert(), "members"_a.noconvert(),
            "Let parent sets of a child be tried too, best first.")
        .def(
            "improve",
            [](OrderCrew& self, double nanoseconds, int threads, double seconds) {
                bool improved = false;
                const double before = self.total();
                run_for(seconds, threads, [&](const bestdag::Execution& execution) {
                    improved = self.improve(nanoseconds, execution);
                });
                return improved || (std::isfinite(before) && self.total() > before);
            },
            "nanoseconds"_a, "threads"_a, "seconds"_a,
            "Work about so long, at most these seconds; True when the structure is better.")
        .def(
            "place",
            [](const OrderCrew& self) {
                bestdag::CrewPlace place = self.place();
                std::vector<LaneTuple> lanes;
                for (const auto& lane : place.lanes) {
                    lanes.emplace_back(lane.counter, tuple_of(lane.home), tuple_of(lane.best));
                }
                auto* const known = new std::vector<std::uint64_t>(std::move(place.known));
                const nb::capsule owner(known, [](void* p) noexcept {
                    delete static_cast<std::vector<std::uint64_t>*>(p);
                });
                return std::tuple(CrewTuple(tuple_of(place.best), std::move(lanes), place.n_idle,
                                            place.is_settled, place.to_sweep, place.n_attempts,
                                            place.nanoseconds, place.n_bytes),
                                  nb::ndarray<nb::numpy, std::uint64_t, nb::ndim<1>>(
                                      known->data(), {known->size()}, owner));
            },
            "Where it is, for `restore`: a tuple of plain values, and the rows it has.")
        .def(
            "restore",
            [](OrderCrew& self, const CrewTuple& where, const Array1<const std::uint64_t>& known,
               int threads, double seconds) {
                const bestdag::CrewPlace place = crew_place(self, where, known);
                bool is_done = false;
                run_for(seconds, threads, [&](const bestdag::Execution& execution) {
                    self.restore(place, execution);
                    is_done = true;
                });
                return is_done;
            },
            "where"_a, "known"_a.noconvert(), "threads"_a, "seconds"_a,
            "Go on from a place, with the same sets added; False when time was up before.")
        .def_prop_ro("total", &OrderCrew::total)
        .def("parents", &OrderCrew::parents, "The parents of every node.")
        .def_prop_ro("n_attempts", &OrderCrew::n_attempts)
        .def_prop_ro("n_bytes", &OrderCrew::n_bytes)
        .def_prop_ro("nanoseconds", &OrderCrew::nanoseconds);
}
