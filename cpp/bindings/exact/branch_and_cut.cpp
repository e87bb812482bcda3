#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/common.hpp"
#include "bindings/exact/order_cut.hpp"
#include "bindings/search/order_place.hpp"
#include "exact/cluster_separation.hpp"
#include "exact/cut_pool.hpp"
#include "exact/dual_ascent.hpp"
#include "exact/order_cuts.hpp"
#include "exact/zero_half_cuts.hpp"
#include "search/choice_sets.hpp"
#include "search/order_search.hpp"

namespace {

using Ids = Array1<const std::int64_t>;
using Term = std::pair<std::vector<std::int32_t>, int>;

void check_range(std::span<const std::int64_t> values, std::size_t below, const char* what) {
    for (const std::int64_t value : values) {
        if (value < 0 || static_cast<std::size_t>(value) >= below) throw std::out_of_range(what);
    }
}

bestdag::Cluster cluster(std::vector<std::int32_t> members, int k, std::size_t n) {
    std::sort(members.begin(), members.end());
    const bool distinct = std::adjacent_find(members.begin(), members.end()) == members.end();
    if (k < 1 || members.size() < static_cast<std::size_t>(k) || !distinct || members.front() < 0 ||
        static_cast<std::size_t>(members.back()) >= n) {
        throw std::invalid_argument("a cluster needs k >= 1 and at least k different variables");
    }
    return {std::move(members), k};
}

// Everything native about one problem. One thread works with it; any thread may call stop().
class Kernels {
public:
    Kernels(Ids begin, Array1<const double> costs, Ids offsets, Array1<const std::int32_t> members,
            std::uint64_t seed)
        : sets_(view(begin), view(costs), view(offsets), view(members)),
          pool_(sets_),
          search_(sets_, seed) {}

    bestdag::ChoiceSets sets_;
    bestdag::CutPool pool_;
    bestdag::OrderSearch search_;
    bestdag::StopFlag stop_{false};
};

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> own(std::vector<T> values) {
    auto* heap = new std::vector<T>(std::move(values));
    const nb::capsule owner(heap, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(heap->data(), {heap->size()}, owner);
}

}  // namespace

void register_branch_and_cut(nb::module_& m) {
    nb::class_<Kernels>(
        m, "BranchAndCutKernels",
        "Order search, cuts and pricing of one table; see kernels/exact/cut_pool.hpp.")
        .def(nb::init<Ids, Array1<const double>, Ids, Array1<const std::int32_t>, std::uint64_t>(),
             "begin"_a.noconvert(), "costs"_a.noconvert(), "offsets"_a.noconvert(),
             "members"_a.noconvert(), "seed"_a)
        .def(
            "stop", [](Kernels& k) { k.stop_.store(true); },
            "Make running and later searches return at once.")
        .def_prop_ro("is_feasible", [](const Kernels& k) { return k.search_.is_feasible(); })
        .def_prop_ro("n_cuts", [](const Kernels& k) { return k.pool_.size(); })
        .def(
            "best",
            [](const Kernels& k) {
                const auto choice = k.search_.best_choice();
                return own(std::vector<std::int64_t>(choice.begin(), choice.end()));
            },
            "The best choice found: per child the number of its set.")
        .def(
            "place", [](const Kernels& k) { return tuple_of(k.search_.place()); },
            "Where the local search is, for `restore`.")
        .def(
            "restore",
            [](Kernels& k, const OrderPlaceTuple& place) {
                k.search_.restore(place_of(place, k.sets_));
            },
            "place"_a, "Let the local search go on from there; cuts are added again one by one.")
        .def(
            "descend_from",
            [](Kernels& k, const std::vector<std::int32_t>& order) {
                const nb::gil_scoped_release unlocked;
                return k.search_.descend_from(order, k.stop_);
            },
            "order"_a, "Local search from an order; True when the best improved.")
        .def(
            "improve",
            [](Kernels& k, std::int64_t rounds) {
                const nb::gil_scoped_release unlocked;
                return k.search_.improve(rounds, k.stop_);
            },
            "rounds"_a, "Iterated local search; True when the best improved.")
        .def(
            "add_cluster",
            [](Kernels& k, std::vector<std::int32_t> members, int size) {
                return k.pool_.add(cluster(std::move(members), size, k.sets_.n_variables()));
            },
            "members"_a, "k"_a, "Number of the new cut.")
        .def(
            "add_halved",
            [](Kernels& k, const std::vector<Term>& terms,
               const std::vector<std::int32_t>& equations) {
                std::vector<bestdag::Cluster> clusters;
                for (const auto& [members, size] : terms) {
                    clusters.push_back(cluster(members, size, k.sets_.n_variables()));
                }
                for (const std::int32_t v : equations) {
                    if (v < 0 || static_cast<std::size_t>(v) >= k.sets_.n_variables()) {
                        throw std::out_of_range("no such variable");
                    }
                }
                return k.pool_.add_halved(clusters, equations);
            },
            "terms"_a, "equations"_a, "Number of the new cut.")
        .def(
            "add_order_cut",
            [](Kernels& k, std::vector<std::int32_t> members, std::vector<std::int32_t> gains,
               std::int32_t most) {
                return k.pool_.add(order_cut_of(std::move(members), std::move(gains), most,
                                                k.sets_.n_variables()));
            },
            "members"_a, "gains"_a, "most"_a, "Number of the new cut.")
        .def(
            "coefficients",
            [](const Kernels& k, Ids cuts, Ids sets, Array2<std::int8_t> out) {
                check_range(view(cuts), k.pool_.size(), "no such cut");
                check_range(view(sets), k.sets_.n_sets(), "no such parent set");
                if (out.shape(0) != cuts.size() || out.shape(1) != sets.size()) {
                    throw std::invalid_argument("out must have one row per cut");
                }
                k.pool_.coefficients(view(cuts), view(sets), view(out));
            },
            "cuts"_a.noconvert(), "sets"_a.noconvert(), "out"_a.noconvert(),
            "Coefficient of each set (column) in each cut (row).")
        .def(
            "reduce",
            [](const Kernels& k, Ids costs, Ids multipliers, Array1<const bool> allowed,
               Array1<std::int64_t> out) {
                if (costs.size() != k.sets_.n_sets() || out.size() != k.sets_.n_sets() ||
                    allowed.size() != k.sets_.n_sets() ||
                    multipliers.size() != k.pool_.size()) {
                    throw std::invalid_argument("one cost per set and one multiplier per cut");
                }
                const nb::gil_scoped_release unlocked;
                k.pool_.reduce(view(costs), view(multipliers), view(allowed), view(out));
            },
            "costs"_a.noconvert(), "multipliers"_a.noconvert(), "allowed"_a.noconvert(),
            "out"_a.noconvert(),
            "Reduced costs of the allowed sets for these multipliers; 2^60 for the others.")
        .def(
            "ascend",
            [](const Kernels& k, Ids reduced, std::int64_t enough) {
                if (reduced.size() != k.sets_.n_sets()) {
                    throw std::invalid_argument("one reduced cost per set");
                }
                bestdag::AscentResult result;
                {
                    const nb::gil_scoped_release unlocked;
                    result = bestdag::ascend(k.sets_, view(reduced), enough, k.stop_);
                }
                std::vector<std::pair<std::vector<std::int32_t>, std::int64_t>> clusters;
                for (auto& raised : result.clusters) {
                    clusters.emplace_back(std::move(raised.members), raised.multiplier);
                }
                return std::make_pair(result.bound, std::move(clusters));
            },
            "reduced"_a.noconvert(), "enough"_a,
            "Bound, and clusters with multipliers that prove it from these reduced costs; see "
            "kernels/exact/dual_ascent.hpp.")
        .def(
            "separate",
            [](const Kernels& k, Ids support, Array1<const double> x, int size,
               const std::vector<std::vector<std::int32_t>>& starts, double min_violation,
               std::size_t most) {
                check_range(view(support), k.sets_.n_sets(), "no such parent set");
                if (support.size() != x.size()) throw std::invalid_argument("one x per set");
                std::vector<bestdag::Cluster> clusters;
                for (const auto& members : starts) {
                    clusters.push_back(cluster(members, 1, k.sets_.n_variables()));
                }
                std::vector<bestdag::ViolatedCluster> found;
                {
                    const nb::gil_scoped_release unlocked;
                    found = bestdag::separate_clusters(k.sets_, view(support), view(x), size,
                                                       clusters, min_violation, most, k.stop_);
                }
                std::vector<std::pair<std::vector<std::int32_t>, double>> result;
                for (auto& item : found) {
                    result.emplace_back(std::move(item.cluster.members), item.violation);
                }
                return result;
            },
            "support"_a.noconvert(), "x"_a.noconvert(), "k"_a, "starts"_a, "min_violation"_a,
            "most"_a, "Violated cluster cuts (members, violation), most violated first.")
        .def(
            "separate_halves",
            [](const Kernels& k, Ids support, Array1<const double> x,
               const std::vector<Term>& terms, double min_violation, std::size_t most) {
                check_range(view(support), k.sets_.n_sets(), "no such parent set");
                if (support.size() != x.size()) throw std::invalid_argument("one x per set");
                std::vector<bestdag::Cluster> clusters;
                for (const auto& [members, size] : terms) {
                    clusters.push_back(cluster(members, size, k.sets_.n_variables()));
                }
                std::vector<bestdag::ViolatedHalf> found;
                {
                    const nb::gil_scoped_release unlocked;
                    found = bestdag::separate_halves(k.sets_, view(support), view(x), clusters,
                                                     min_violation, most, k.stop_);
                }
                std::vector<std::tuple<std::vector<std::size_t>, std::vector<std::int32_t>, double>>
                    result;
                for (auto& half : found) {
                    result.emplace_back(std::move(half.terms), std::move(half.equations),
                                        half.violation);
                }
                return result;
            },
            "support"_a.noconvert(), "x"_a.noconvert(), "terms"_a, "min_violation"_a, "most"_a,
            "Violated halved cuts (positions in terms, equations, violation).")
        .def(
            "separate_order_cuts",
            [](const Kernels& k, Ids support, Array1<const double> x, std::size_t n_members,
               double min_violation, std::size_t most) {
                check_range(view(support), k.sets_.n_sets(), "no such parent set");
                if (support.size() != x.size()) throw std::invalid_argument("one x per set");
                if (n_members > bestdag::kMostOrderCutMembers) {
                    throw std::invalid_argument("too many members");
                }
                std::vector<bestdag::ViolatedOrderCut> cuts;
                {
                    const nb::gil_scoped_release unlocked;
                    cuts = bestdag::separate_order_cuts(k.sets_, view(support), view(x), n_members,
                                                        min_violation, most, k.stop_);
                }
                std::vector<std::tuple<std::vector<std::int32_t>, std::vector<std::int32_t>,
                                       std::int32_t, double>>
                    result;
                for (auto& item : cuts) {
                    result.emplace_back(std::move(item.cut.members), std::move(item.cut.gains),
                                        item.cut.most, item.violation);
                }
                return result;
            },
            "support"_a.noconvert(), "x"_a.noconvert(), "n_members"_a, "min_violation"_a, "most"_a,
            "Violated cuts on few variables (members, gains, most, violation).");
}
