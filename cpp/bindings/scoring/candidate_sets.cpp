// Candidate parent sets of every child.
#include "scoring/candidate_sets.hpp"

#include <nanobind/stl/vector.h>

#include "bindings/scoring/local_scores.hpp"
#include "scoring/likelihood_caps.hpp"
#include "scoring/open_sets.hpp"

namespace {

using Values = Array1<const double>;
using Wanted = nb::typed<nb::tuple, nb::any, nb::any, nb::any, std::size_t>;
using Forecast = nb::typed<nb::tuple, double, double>;
using Result = nb::typed<nb::tuple, LocalScoresTuple, nb::any, nb::any, LocalScoresTuple, nb::any>;

template <class T>
std::span<const T> part(const Array1<const T>& array, std::int64_t first, std::int64_t last) {
    return view(array).subspan(static_cast<std::size_t>(first),
                               static_cast<std::size_t>(last - first));
}

std::vector<bestdag::ParentLimits> limits_of(const Int64s& required_ends, const Int32s& required,
                                             const Int64s& allowed_ends, const Int32s& allowed,
                                             const Values& bonuses, const Int64s& max_parents,
                                             const Values& base_bonuses) {
    std::vector<bestdag::ParentLimits> limits;
    for (std::size_t i = 0; i < max_parents.size(); ++i) {
        limits.push_back({part(required, required_ends(i), required_ends(i + 1)),
                          part(allowed, allowed_ends(i), allowed_ends(i + 1)),
                          static_cast<std::size_t>(max_parents(i)), base_bonuses(i),
                          bonuses.size() == 0
                              ? std::span<const double>()
                              : part(bonuses, allowed_ends(i), allowed_ends(i + 1))});
    }
    return limits;
}

// A listing together with the table and the kernel it works with.
class BoundListing {
public:
    BoundListing(nb::object table, nb::object kernel, const Int64s& required_ends,
                 const Int32s& required, const Int64s& allowed_ends, const Int32s& allowed,
                 const Values& bonuses, const Int64s& max_parents, const Values& base_bonuses,
                 bool prune, double margin)
        : table_(std::move(table)),
          kernel_(std::move(kernel)),
          listing(nb::cast<const BoundTable&>(table_).table,
                  nb::cast<const bestdag::Kernel&>(kernel_),
                  limits_of(required_ends, required, allowed_ends, allowed, bonuses, max_parents,
                            base_bonuses),
                  {prune, margin}) {}

    BoundListing(const Int64s& required_ends, const Int32s& required, const Int64s& allowed_ends,
                 const Int32s& allowed, const Values& bonuses, const Int64s& max_parents,
                 const Values& base_bonuses, bool prune, double margin, double slack)
        : listing(limits_of(required_ends, required, allowed_ends, allowed, bonuses, max_parents,
                            base_bonuses),
                  {prune, margin}, slack) {}

private:
    nb::object table_, kernel_;

public:
    bestdag::CandidateListing listing;
};

}  // namespace

void register_candidate_sets(nb::module_& m) {
    // Its arguments are the child's number and the number of parents.
    static PyObject* const too_many =
        PyErr_NewException("bestdag._core.TooManySetsError", nullptr, nullptr);
    m.attr("TooManySetsError") = nb::handle(too_many);
    nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
        try {
            std::rethrow_exception(pointer);
        } catch (const bestdag::TooManySets& error) {
            PyErr_SetObject(too_many, nb::make_tuple(error.child, error.size).ptr());
        }
    });
    nb::class_<BoundListing>(m, "CandidateListing",
                             "Candidate parent sets of every child, listed bit by bit (see "
                             "kernels/scoring/candidate_sets.hpp).")
        .def(nb::init<nb::object, nb::object, const Int64s&, const Int32s&, const Int64s&,
                      const Int32s&, const Values&, const Int64s&, const Values&, bool, double>(),
             "table"_a, "kernel"_a, "required_ends"_a.noconvert(), "required"_a.noconvert(),
             "allowed_ends"_a.noconvert(), "allowed"_a.noconvert(), "bonuses"_a.noconvert(),
             "max_parents"_a.noconvert(), "base_bonuses"_a.noconvert(), "prune"_a, "margin"_a)
        .def(nb::init<const Int64s&, const Int32s&, const Int64s&, const Int32s&, const Values&,
                      const Int64s&, const Values&, bool, double, double>(),
             "required_ends"_a.noconvert(), "required"_a.noconvert(), "allowed_ends"_a.noconvert(),
             "allowed"_a.noconvert(), "bonuses"_a.noconvert(), "max_parents"_a.noconvert(),
             "base_bonuses"_a.noconvert(), "prune"_a, "margin"_a, "slack"_a,
             "A listing that is fed: by `wanted` and `take` instead of `run`.")
        .def(
            "wanted",
            [](BoundListing& self, std::size_t most) {
                bestdag::WantedSets wanted = self.listing.wanted(most);
                return Wanted(nb::make_tuple(to_numpy(std::move(wanted.children)),
                                             to_numpy(std::move(wanted.offsets)),
                                             to_numpy(std::move(wanted.parents)), wanted.size));
            },
            "most"_a,
            "The next families, at most so many, by number, and how many parents they have that "
            "are not required.")
        .def(
            "take",
            [](BoundListing& self, const Values& scores, const Values& bounds) {
                self.listing.take(view(scores), view(bounds));
            },
            "scores"_a.noconvert(), "bounds"_a.noconvert(),
            "Scores of the first of the families that are wanted, and what none that contains "
            "one of them exceeds.")
        .def(
            "stop", [](BoundListing& self) { self.listing.stop(); }, "List no more.")
        .def(
            "run",
            [](BoundListing& self, double seconds, double max_bytes, bool stops_at_memory,
               std::size_t max_parents, int threads) {
                run_unlocked(threads, [&](const bestdag::Execution& execution) {
                    self.listing.run(seconds, max_bytes, stops_at_memory, max_parents, execution);
                });
            },
            "seconds"_a, "max_bytes"_a, "stops_at_memory"_a, "max_parents"_a, "threads"_a,
            "List for so many seconds at most, sets of at most so many parents.")
        .def(
            "is_complete_within",
            [](const BoundListing& self, std::size_t max_parents) {
                return self.listing.is_complete_within(max_parents);
            },
            "max_parents"_a, "Whether all sets of at most so many parents are listed.")
        .def(
            "forecast",
            [](const BoundListing& self, std::size_t max_parents) {
                const auto forecast = self.listing.forecast(max_parents);
                return Forecast(nb::make_tuple(forecast.seconds, forecast.bytes));
            },
            "max_parents"_a,
            "Seconds of one thread and bytes to go on to sets of so many parents; zero where "
            "nothing is known.")
        .def_prop_ro("is_over", [](const BoundListing& self) { return self.listing.is_over(); })
        .def_prop_ro("is_full", [](const BoundListing& self) { return self.listing.is_full(); })
        .def_prop_ro("n_bytes", [](const BoundListing& self) { return self.listing.n_bytes(); })
        .def(
            "result",
            [](BoundListing& self, std::size_t most_open, bool finish, std::size_t max_parents,
               int threads) {
                bestdag::CandidateSets result;
                run_unlocked(threads, [&](const bestdag::Execution& execution) {
                    result = self.listing.result(most_open, finish, max_parents, execution);
                });
                return Result(nb::make_tuple(
                    to_python(std::move(result.sets)), to_numpy(std::move(result.n_scored)),
                    to_numpy(std::move(result.is_complete)), to_python(std::move(result.open_sets)),
                    to_numpy(std::move(result.is_bounded))));
            },
            "most_open"_a, "finish"_a, "max_parents"_a, "threads"_a,
            "The sets of at most so many parents, how many families were scored for each child, "
            "whether all were; open sets that cover the rest, and for which children they do. "
            "`finish` empties the listing.");
    m.def(
        "total_cap",
        [](const BoundTable& table, const bestdag::Kernel& kernel) {
            double cap = 0.0;
            run_unlocked(1, [&](const bestdag::Execution& execution) {
                bestdag::parallel_for(1, 1e9, execution,
                                      [&](std::size_t, const bestdag::StopFlag& stop) {
                                          cap = bestdag::total_cap(table.table, kernel, stop);
                                      });
            });
            return cap;
        },
        "table"_a, "kernel"_a,
        "No network scores more (see kernels/scoring/likelihood_caps.hpp); infinite where nothing "
        "is "
        "known.");
    m.def(
        "optimistic_sets",
        [](const Int64s& first_sets, const Values& scores, const Int64s& offsets,
           const Int32s& members, std::size_t most, int threads) {
            std::vector<bestdag::FoundSets> lists(first_sets.size() - 1);
            for (std::size_t i = 0; i < lists.size(); ++i) {
                for (auto k = first_sets(i); k < first_sets(i + 1); ++k) {
                    const auto set = static_cast<std::size_t>(k);
                    lists[i].add(scores(set), part(members, offsets(set), offsets(set + 1)));
                }
            }
            bestdag::LocalScores sets;
            run_unlocked(threads, [&](const bestdag::Execution& execution) {
                bestdag::make_optimistic(lists, most, execution);
                sets = bestdag::join(lists);
            });
            return to_python(std::move(sets));
        },
        "first_sets"_a.noconvert(), "scores"_a.noconvert(), "offsets"_a.noconvert(),
        "members"_a.noconvert(), "most"_a, "threads"_a,
        "At most so many sets for each child, with bounds that are no lower (see "
        "kernels/scoring/open_sets.hpp).");
}
