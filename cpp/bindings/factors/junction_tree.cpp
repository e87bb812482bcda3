#include "factors/junction_tree.hpp"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bindings/types.hpp"

namespace {

using Axes = Array1<const std::uint32_t>;
using Codes = Array1<const std::int32_t>;

std::vector<std::vector<bestdag::Axis>> scopes_of(const Axes& axes, const Int64s& ends,
                                                  std::size_t n_axes) {
    std::vector<std::vector<bestdag::Axis>> scopes(ends.size());
    std::size_t at = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
        const auto end = static_cast<std::size_t>(ends(i));
        if (end < at || end > axes.size()) throw std::invalid_argument("ends must fit the axes");
        for (; at < end; ++at) {
            if (axes(at) >= n_axes) throw std::invalid_argument("an axis has no length");
            scopes[i].push_back(axes(at));
        }
    }
    return scopes;
}

// A native tree together with the arrays it points into.
class BoundTree {
public:
    BoundTree(const bestdag::CliqueTree& structure, const Axes& axes, const Int64s& ends,
              std::vector<Array1<const double>> values, bool are_logs, int threads)
        : values_(std::move(values)) {
        std::vector<std::vector<bestdag::Axis>> scopes =
            scopes_of(axes, ends, structure.lengths().size());
        if (scopes.size() != values_.size()) {
            throw std::invalid_argument("one array per scope is needed");
        }
        std::vector<bestdag::TreeFactor> factors;
        for (std::size_t i = 0; i < scopes.size(); ++i) {
            std::size_t n_cells = 1;
            std::vector<bestdag::Axis> wide;
            for (const bestdag::Axis axis : scopes[i]) {
                n_cells *= structure.lengths()[axis];
                if (structure.lengths()[axis] > 1) wide.push_back(axis);
            }
            if (values_[i].size() != n_cells ||
                (!wide.empty() && structure.clique_of(wide) == bestdag::CliqueTree::kNowhere)) {
                throw std::invalid_argument("an array does not fit its scope, or that the tree");
            }
            factors.push_back({std::move(scopes[i]), view(values_[i])});
        }
        run_unlocked(threads, [&](const bestdag::Execution& execution) {
            tree_ = std::make_unique<bestdag::JunctionTree>(structure, std::move(factors), are_logs,
                                                            execution);
        });
    }

    bestdag::JunctionTree& tree() const { return *tree_; }
    std::size_t n_axes() const { return tree_->structure().lengths().size(); }

    bestdag::Evidence evidence(const Codes& codes, const Axes& soft,
                               const Array1<const double>& weights) const {
        const auto lengths = tree_->structure().lengths();
        if (codes.size() != lengths.size()) throw std::invalid_argument("one code per axis");
        for (std::size_t i = 0; i < codes.size(); ++i) {
            if (codes(i) >= static_cast<std::int32_t>(lengths[i])) {
                throw std::invalid_argument("a code is not below its length");
            }
        }
        std::size_t n_weights = 0;
        for (std::size_t i = 0; i < soft.size(); ++i) {
            if (soft(i) >= lengths.size()) throw std::invalid_argument("an axis has no length");
            n_weights += lengths[soft(i)];
        }
        if (weights.size() != n_weights) throw std::invalid_argument("one weight per state");
        return {view(codes), view(soft), view(weights)};
    }

    // States of these axes, added or multiplied.
    std::size_t n_states(const Axes& axes, bool is_joint) const {
        std::size_t n = is_joint ? 1 : 0;
        for (std::size_t i = 0; i < axes.size(); ++i) {
            if (axes(i) >= n_axes()) throw std::invalid_argument("an axis has no length");
            const std::size_t length = tree_->structure().lengths()[axes(i)];
            n = is_joint ? n * length : n + length;
        }
        return n;
    }

private:
    std::vector<Array1<const double>> values_;
    std::unique_ptr<bestdag::JunctionTree> tree_;
};

}  // namespace

void register_junction_tree(nb::module_& m) {
    nb::class_<bestdag::CliqueTree>(m, "CliqueTree",
                                    "Which variables meet in the tables of a junction tree.")
        .def(
            "__init__",
            [](bestdag::CliqueTree* self, Axes lengths, Axes axes, Int64s ends) {
                const auto scopes = scopes_of(axes, ends, lengths.size());
                std::unique_ptr<bestdag::CliqueTree> made;
                run_unlocked(1, [&](const bestdag::Execution& execution) {
                    bestdag::parallel_for(1, bestdag::plan_nanoseconds(lengths.size()), execution,
                                          [&](std::size_t, const bestdag::StopFlag& stop) {
                                              made = std::make_unique<bestdag::CliqueTree>(
                                                  view(lengths), scopes, &stop);
                                          });
                });
                new (self) bestdag::CliqueTree(std::move(*made));
            },
            "lengths"_a.noconvert(), "axes"_a.noconvert(), "ends"_a.noconvert())
        .def_prop_ro("n_cliques",
                     [](const bestdag::CliqueTree& self) { return self.cliques().size(); })
        .def_prop_ro("total_cells", &bestdag::CliqueTree::total_cells)
        .def_prop_ro("total_separator_cells", &bestdag::CliqueTree::total_separator_cells)
        .def(
            "cells",
            [](const bestdag::CliqueTree& self, std::size_t clique) {
                if (clique >= self.cliques().size()) throw std::invalid_argument("no such clique");
                return self.cells(clique);
            },
            "clique"_a)
        .def(
            "axes",
            [](const bestdag::CliqueTree& self, std::size_t clique) {
                if (clique >= self.cliques().size()) throw std::invalid_argument("no such clique");
                return self.cliques()[clique].axes;
            },
            "clique"_a)
        .def_prop_ro("largest", &bestdag::CliqueTree::largest)
        .def(
            "holds",
            [](const bestdag::CliqueTree& self, Axes axes) {
                std::vector<bestdag::Axis> wide;
                for (std::size_t i = 0; i < axes.size(); ++i) {
                    if (axes(i) >= self.lengths().size())
                        throw std::invalid_argument("no such axis");
                    if (self.lengths()[axes(i)] > 1) wide.push_back(axes(i));
                }
                return wide.empty() || self.clique_of(wide) != bestdag::CliqueTree::kNowhere;
            },
            "axes"_a.noconvert(), "Whether these axes share a clique.");
    nb::class_<BoundTree>(m, "JunctionTree", "Exact answers by messages between cliques.")
        .def(nb::init<const bestdag::CliqueTree&, const Axes&, const Int64s&,
                      std::vector<Array1<const double>>, bool, int>(),
             "structure"_a, "axes"_a.noconvert(), "ends"_a.noconvert(), "values"_a.noconvert(),
             "are_logs"_a, "threads"_a)
        .def_prop_ro(
            "held_cells", [](const BoundTree& self) { return self.tree().held_cells(); },
            "Cells that are held: those that can be other than zero, where these are few.")
        .def(
            "marginals",
            [](const BoundTree& self, Codes codes, Axes soft, Array1<const double> weights,
               Axes axes, Array1<double> out) {
                const bestdag::Evidence evidence = self.evidence(codes, soft, weights);
                if (self.n_states(axes, false) != out.size()) {
                    throw std::invalid_argument("out must have a place for each state");
                }
                double found = 0.0;
                run_unlocked(1, [&](const bestdag::Execution& execution) {
                    found = self.tree().marginals(evidence, view(axes), view(out), execution);
                });
                return found;
            },
            "codes"_a.noconvert(), "soft"_a.noconvert(), "weights"_a.noconvert(),
            "axes"_a.noconvert(), "out"_a.noconvert(),
            "Distributions of axes; returns the logarithm of the probability of the evidence.")
        .def(
            "joint",
            [](const BoundTree& self, Codes codes, Axes soft, Array1<const double> weights,
               Axes axes, Array1<double> out) {
                const bestdag::Evidence evidence = self.evidence(codes, soft, weights);
                if (self.n_states(axes, true) != out.size()) {
                    throw std::invalid_argument("out must have a place for each state");
                }
                double found = 0.0;
                run_unlocked(1, [&](const bestdag::Execution& execution) {
                    found = self.tree().joint(evidence, view(axes), view(out), execution);
                });
                return found;
            },
            "codes"_a.noconvert(), "soft"_a.noconvert(), "weights"_a.noconvert(),
            "axes"_a.noconvert(), "out"_a.noconvert(),
            "Joint distribution of axes that share a clique.")
        .def(
            "most_probable",
            [](const BoundTree& self, Codes codes, Axes soft, Array1<const double> weights,
               std::size_t n) {
                const bestdag::Evidence evidence = self.evidence(codes, soft, weights);
                std::vector<bestdag::Explanation> found;
                run_unlocked(1, [&](const bestdag::Execution& execution) {
                    found = self.tree().most_probable(evidence, n, execution);
                });
                std::vector<std::int32_t> states;
                std::vector<double> logs;
                for (const bestdag::Explanation& each : found) {
                    states.insert(states.end(), each.codes.begin(), each.codes.end());
                    logs.push_back(each.log_probability);
                }
                return nb::make_tuple(to_numpy(std::move(states), {found.size(), self.n_axes()}),
                                      to_numpy(std::move(logs)));
            },
            "codes"_a.noconvert(), "soft"_a.noconvert(), "weights"_a.noconvert(), "n"_a,
            nb::sig("def most_probable(self, codes: NDArray[numpy.int32], soft: "
                    "NDArray[numpy.uint32], weights: NDArray[numpy.float64], n: int) -> "
                    "tuple[NDArray[numpy.int32], NDArray[numpy.float64]]"),
            "Codes of the most probable configurations, and logarithms of probabilities.")
        .def(
            "rows",
            [](const BoundTree& self, Array2<const std::int32_t> codes, Axes axes,
               Array1<double> logs, Array1<double> out, int threads) {
                if (codes.shape(1) != self.n_axes() || logs.size() != codes.shape(0) ||
                    out.size() != self.n_states(axes, false) * codes.shape(0)) {
                    throw std::invalid_argument("logs and out must fit the rows");
                }
                run_unlocked(threads, [&](const bestdag::Execution& execution) {
                    self.tree().rows({codes.shape(0), view(codes)}, view(axes), view(logs),
                                     view(out), execution);
                });
            },
            "codes"_a.noconvert(), "axes"_a.noconvert(), "logs"_a.noconvert(), "out"_a.noconvert(),
            "threads"_a, "Answers for many rows of evidence.");
}
