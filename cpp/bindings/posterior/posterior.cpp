// Posterior probabilities of structures: exact sums over orders and over DAGs, draws, and chains.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/types.hpp"
#include "posterior/ancestor_sums.hpp"
#include "posterior/chains.hpp"
#include "posterior/dag_draws.hpp"
#include "posterior/dag_sums.hpp"
#include "posterior/order_sums.hpp"
#include "posterior/parent_weights.hpp"

namespace {

using Masks = Array1<const std::uint64_t>;
using Logs = Array1<const double>;

// Weights of parent sets together with the arrays they lie in.
class BoundWeights {
public:
    BoundWeights(Int64s begin, Masks sets, Logs logs)
        : begin_(std::move(begin)),
          sets_(std::move(sets)),
          logs_(std::move(logs)),
          weights(view(begin_), view(sets_), view(logs_)) {}

private:
    Int64s begin_;
    Masks sets_;
    Logs logs_;

public:
    const bestdag::ParentWeights weights;
};

void require_sizes(bool are_right) {
    if (!are_right) throw std::invalid_argument("posterior: an array of the wrong size");
}

class BoundOrderSums {
public:
    explicit BoundOrderSums(const BoundWeights& weights) : weights_(weights.weights) {}

    bool compute(std::size_t top_bits, int threads, double seconds, nb::object progress) {
        Watcher watcher(seconds, std::move(progress));
        return run_watched(threads, watcher, [&](const bestdag::Execution& execution) {
            sums_ = std::make_unique<bestdag::OrderSums>(
                weights_, top_bits, execution, [&](double share) { return watcher(share); });
        });
    }

    double log_total() const { return sums().log_total(); }

    bool probabilities(int threads, double seconds, const Doubles& sets, const Doubles& arcs) {
        const std::size_t n = weights_.n();
        require_sizes(sets.size() == weights_.end(n - 1) && arcs.size() == n * n);
        return run_for(seconds, threads, [&](const bestdag::Execution& execution) {
            sums().probabilities(execution, view(sets), view(arcs));
        });
    }

    bool draw(std::uint64_t seed, int threads, double seconds, const Array1<std::uint64_t>& dags,
              const Doubles& log_weights) const {
        require_sizes(dags.size() == log_weights.size() * weights_.n());
        return run_for(seconds, threads, [&](const bestdag::Execution& execution) {
            bestdag::draw_dags(sums(), weights_, seed, execution, view(dags), view(log_weights));
        });
    }

private:
    bestdag::OrderSums& sums() const {
        if (!sums_) throw std::invalid_argument("posterior: the sums are not worked out");
        return *sums_;
    }

    const bestdag::ParentWeights& weights_;
    std::unique_ptr<bestdag::OrderSums> sums_;
};

class BoundChains {
public:
    BoundChains(const BoundWeights& weights, bool over_partitions, std::uint64_t seed,
                std::size_t n_chains, std::uint64_t first)
        : chains_(weights.weights, over_partitions, seed, n_chains, first) {}

    bool settle(std::size_t n_steps, std::size_t first, std::size_t last, int threads,
                double seconds) {
        require_sizes(first <= last && last <= n_steps);
        return run_for(seconds, threads, [&](const bestdag::Execution& execution) {
            chains_.settle(n_steps, first, last, execution);
        });
    }

    // Elements, whether over partitions, log weight, steps that moved, numbers drawn, steps.
    using Place = std::tuple<bestdag::PartitionChain::Elements, bool, double, std::size_t,
                             std::uint64_t, std::size_t>;

    std::vector<Place> places() const {
        std::vector<Place> found;
        for (const auto& [at, n_steps] : chains_.places()) {
            found.emplace_back(at.elements, at.over_partitions, at.log_weight, at.n_moved,
                               at.n_drawn, n_steps);
        }
        return found;
    }

    void restore(const std::vector<Place>& places) {
        require_sizes(places.size() == chains_.n_chains());
        bestdag::Chains::Places made;
        for (const auto& [elements, over_partitions, log_weight, n_moved, n_drawn, n_steps] :
             places) {
            std::vector<std::size_t> sorted;
            for (const auto& group : elements)
                sorted.insert(sorted.end(), group.begin(), group.end());
            std::sort(sorted.begin(), sorted.end());
            require_sizes(sorted.size() == chains_.n());
            for (std::size_t v = 0; v < sorted.size(); ++v) require_sizes(sorted[v] == v);
            made.emplace_back(bestdag::PartitionChain::Place{elements, over_partitions, log_weight,
                                                             n_moved, n_drawn},
                              n_steps);
        }
        chains_.restore(made);
    }

    bool run(std::size_t n_between, int threads, double seconds,
             const Array1<std::uint64_t>& structures, const Array1<std::int64_t>& n_drawn) {
        const std::size_t n_all = chains_.n_chains() * chains_.n() * chains_.n_words();
        require_sizes(n_drawn.size() == chains_.n_chains() && structures.size() % n_all == 0 &&
                      n_between > 0);
        return run_for(seconds, threads, [&](const bestdag::Execution& execution) {
            chains_.run(structures.size() / n_all, n_between, execution, view(structures),
                        view(n_drawn));
        });
    }

    std::pair<std::size_t, std::size_t> counts() const {
        return {chains_.n_steps(), chains_.n_moved()};
    }

private:
    bestdag::Chains chains_;
};

}  // namespace

void register_posterior(nb::module_& m) {
    nb::class_<BoundWeights>(m, "ParentWeights")
        .def(nb::init<Int64s, Masks, Logs>(), "begin"_a.noconvert(), "sets"_a.noconvert(),
             "logs"_a.noconvert());
    nb::class_<BoundOrderSums>(m, "OrderSums")
        .def(nb::init<const BoundWeights&>(), "weights"_a, nb::keep_alive<1, 2>())
        .def("compute", &BoundOrderSums::compute, "top_bits"_a, "threads"_a, "seconds"_a,
             "progress"_a.none(), "Sum over all orders; False when out of time.")
        .def("log_total", &BoundOrderSums::log_total, "Logarithm of the sum over all orders.")
        .def("probabilities", &BoundOrderSums::probabilities, "threads"_a, "seconds"_a,
             "sets"_a.noconvert(), "arcs"_a.noconvert(),
             "Probabilities of parent sets and arcs; False when out of time.")
        .def("draw", &BoundOrderSums::draw, "seed"_a, "threads"_a, "seconds"_a,
             "dags"_a.noconvert(), "log_weights"_a.noconvert(),
             "Draw structures; False when out of time.");
    m.def("order_sums_bytes", &bestdag::OrderSums::bytes, "n"_a, "top_bits"_a, "threads"_a);
    m.def("dag_sums_bytes", &bestdag::dag_sums_bytes, "n"_a);
    m.def("ancestor_bytes", &bestdag::ancestor_bytes, "n"_a, "threads"_a);
    m.def(
        "sum_over_dags",
        [](const BoundWeights& weights, int threads, double seconds, const Doubles& sets,
           const Doubles& arcs) -> std::optional<std::pair<double, double>> {
            const std::size_t n = weights.weights.n();
            require_sizes(sets.size() == weights.weights.end(n - 1) && arcs.size() == n * n);
            std::pair<double, double> totals;
            const bool is_done = run_for(seconds, threads, [&](const auto& execution) {
                totals = bestdag::sum_over_dags(weights.weights, execution, view(sets), view(arcs));
            });
            if (!is_done) return std::nullopt;
            return totals;
        },
        "weights"_a, "threads"_a, "seconds"_a, "sets"_a.noconvert(), "arcs"_a.noconvert(),
        "Probabilities under the uniform prior over DAGs; the total twice, None out of time.");
    m.def(
        "ancestor_probabilities",
        [](const BoundWeights& weights, int threads, double seconds, const Doubles& out) {
            require_sizes(out.size() == weights.weights.n() * weights.weights.n());
            return run_for(seconds, threads, [&](const auto& execution) {
                bestdag::ancestor_probabilities(weights.weights, execution, view(out));
            });
        },
        "weights"_a, "threads"_a, "seconds"_a, "out"_a.noconvert(),
        "Probabilities of paths, modular in the order; False when out of time.");
    m.def(
        "log_linear_extensions",
        [](const Masks& parents, std::size_t n, int threads, double seconds, const Doubles& out) {
            require_sizes(parents.size() == out.size() * n && n <= 63);
            return run_for(seconds, threads, [&](const auto& execution) {
                bestdag::log_linear_extensions(view(parents), n, execution, view(out));
            });
        },
        "parents"_a.noconvert(), "n"_a, "threads"_a, "seconds"_a, "out"_a.noconvert(),
        "Logarithms of the numbers of orders that structures follow; False when out of time.");
    nb::class_<BoundChains>(m, "Chains")
        .def(nb::init<const BoundWeights&, bool, std::uint64_t, std::size_t, std::uint64_t>(),
             "weights"_a, "over_partitions"_a, "seed"_a, "n_chains"_a, "first"_a = 0,
             nb::keep_alive<1, 2>())
        .def("settle", &BoundChains::settle, "n_steps"_a, "first"_a, "last"_a, "threads"_a,
             "seconds"_a,
             "The first steps, or some of them, hot and cooling down; False when out of time.")
        .def("run", &BoundChains::run, "n_between"_a, "threads"_a, "seconds"_a,
             "structures"_a.noconvert(), "n_drawn"_a.noconvert(),
             "Draw structures from each chain; False when out of time.")
        .def("places", &BoundChains::places, "Where each chain is, for `restore`.")
        .def("restore", &BoundChains::restore, "places"_a, "Go on from there.")
        .def("counts", &BoundChains::counts, "Steps of all chains, and those that led elsewhere.");
}
