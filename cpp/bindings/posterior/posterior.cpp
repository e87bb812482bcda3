// Posterior probabilities of structures: exact sums over orders and over DAGs, draws, and chains.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "bindings/types.hpp"
#include "posterior/ancestor_sums.hpp"
#include "posterior/dag_draws.hpp"
#include "posterior/dag_sums.hpp"
#include "posterior/order_sums.hpp"
#include "posterior/parent_weights.hpp"
#include "posterior/partition_chain.hpp"

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
    m.def(
        "run_chains",
        [](const BoundWeights& weights, bool over_partitions, std::uint64_t seed,
           std::size_t n_before, std::size_t n_between, int threads, double seconds,
           const Array1<std::uint64_t>& structures, const Array2<double>& log_dags,
           const Array2<double>& log_states, const Array1<std::int64_t>& accepted) {
            const std::size_t n_chains = accepted.size();
            require_sizes(n_chains > 0 && log_dags.size() == log_states.size() &&
                          log_dags.size() % n_chains == 0 &&
                          structures.size() ==
                              log_dags.size() * weights.weights.n() * weights.weights.n_words());
            const bestdag::ChainPlan plan{over_partitions, seed, n_before,
                                          log_dags.size() / n_chains, n_between};
            return run_for(seconds, threads, [&](const auto& execution) {
                bestdag::run_chains(weights.weights, plan, n_chains, execution, view(structures),
                                    view(log_dags), view(log_states), view(accepted));
            });
        },
        "weights"_a, "over_partitions"_a, "seed"_a, "n_before"_a, "n_between"_a, "threads"_a,
        "seconds"_a, "structures"_a.noconvert(), "log_dags"_a.noconvert(),
        "log_states"_a.noconvert(), "accepted"_a.noconvert(),
        "Run Markov chains over orders or partitions; False when out of time.");
}
