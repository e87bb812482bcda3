// Search over orders of the variables, among listed parent sets.
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "bindings/search/order_place.hpp"
#include "bindings/types.hpp"
#include "search/order_chains.hpp"

namespace {

class BoundOrderSearch {
public:
    BoundOrderSearch(const Int64s& begin, const Array1<const double>& costs, const Int64s& offsets,
                     const Int32s& members, std::uint64_t seed, std::size_t n_chains)
        : sets_(view(begin), view(costs), view(offsets), view(members)),
          chains_(sets_, seed, std::max<std::size_t>(1, n_chains)) {}

    bestdag::ChoiceSets sets_;
    bestdag::OrderChains chains_;
};

}  // namespace

void register_order_search(nb::module_& m) {
    nb::class_<BoundOrderSearch>(
        m, "OrderSearch",
        "Search over orders of the variables; see kernels/search/order_chains.hpp.")
        .def(nb::init<const Int64s&, const Array1<const double>&, const Int64s&, const Int32s&,
                      std::uint64_t, std::size_t>(),
             "begin"_a.noconvert(), "costs"_a.noconvert(), "offsets"_a.noconvert(),
             "members"_a.noconvert(), "seed"_a, "n_chains"_a)
        .def_prop_ro("is_feasible",
                     [](const BoundOrderSearch& s) { return s.chains_.is_feasible(); })
        .def_prop_ro("best_cost", [](const BoundOrderSearch& s) { return s.chains_.best_cost(); })
        .def(
            "best",
            [](const BoundOrderSearch& s, const Array1<std::int64_t>& out) {
                const auto choice = s.chains_.best_choice();
                if (out.size() != choice.size()) throw std::invalid_argument("one set per child");
                std::copy(choice.begin(), choice.end(), out.data());
            },
            "out"_a.noconvert(), "The best choice found: per child the number of its set.")
        .def(
            "places",
            [](const BoundOrderSearch& s) {
                std::vector<OrderPlaceTuple> found;
                for (const auto& place : s.chains_.places()) found.push_back(tuple_of(place));
                return found;
            },
            "Where each chain is, for `restore`.")
        .def(
            "restore",
            [](BoundOrderSearch& s, const std::vector<OrderPlaceTuple>& places) {
                if (places.size() != s.chains_.n_chains()) {
                    throw std::invalid_argument("a place for each chain");
                }
                std::vector<bestdag::OrderSearchPlace> made;
                for (const auto& place : places) made.push_back(place_of(place, s.sets_));
                s.chains_.restore(made);
            },
            "places"_a, "Go on from there.")
        .def(
            "descend_from",
            [](BoundOrderSearch& s, const std::vector<std::int32_t>& order, double seconds) {
                const double before = s.chains_.best_cost();
                run_for(seconds, 1, [&](const bestdag::Execution& execution) {
                    s.chains_.descend_from(order, execution);
                });
                return s.chains_.best_cost() < before;
            },
            "order"_a, "seconds"_a, "Local search from an order; True when the best improved.")
        .def(
            "scatter",
            [](BoundOrderSearch& s, int threads, double seconds) {
                const double before = s.chains_.best_cost();
                run_for(seconds, threads,
                        [&](const bestdag::Execution& execution) { s.chains_.scatter(execution); });
                return s.chains_.best_cost() < before;
            },
            "threads"_a, "seconds"_a, "Send every chain but the first to a random order.")
        .def(
            "improve",
            [](BoundOrderSearch& s, std::int64_t rounds, int threads, double seconds) {
                const double before = s.chains_.best_cost();
                run_for(seconds, threads, [&](const bestdag::Execution& execution) {
                    s.chains_.improve(rounds, execution);
                });
                return s.chains_.best_cost() < before;
            },
            "rounds"_a, "threads"_a, "seconds"_a,
            "Iterated local search; True when the best improved.");
}
