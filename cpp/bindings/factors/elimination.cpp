#include "factors/elimination.hpp"

#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bindings/types.hpp"

namespace {

using Axes = Array1<const std::uint32_t>;
using Values = std::vector<Array1<const double>>;

// Scopes one after the other, with where each ends.
std::vector<bestdag::Factor> scopes_of(const Axes& axes, const Int64s& ends, std::size_t n_axes) {
    std::vector<bestdag::Factor> factors(ends.size());
    std::size_t at = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
        const auto end = static_cast<std::size_t>(ends(i));
        if (end < at || end > axes.size()) throw std::invalid_argument("ends must fit the axes");
        for (; at < end; ++at) {
            if (axes(at) >= n_axes) throw std::invalid_argument("an axis has no length");
            factors[i].axes.push_back(axes(at));
        }
    }
    return factors;
}

std::vector<bestdag::Factor> factors_of(const Axes& lengths, const Axes& axes, const Int64s& ends,
                                        const Values& values) {
    std::vector<bestdag::Factor> factors = scopes_of(axes, ends, lengths.size());
    if (factors.size() != values.size()) throw std::invalid_argument("one array per scope");
    for (std::size_t i = 0; i < factors.size(); ++i) {
        std::size_t n_cells = 1;
        for (const bestdag::Axis axis : factors[i].axes) n_cells *= lengths(axis);
        if (values[i].size() != n_cells) throw std::invalid_argument("an array must fit its scope");
        factors[i].values = values[i].data();
    }
    return factors;
}

std::size_t n_cells_of(const Axes& axes, const Axes& lengths) {
    std::size_t n_cells = 1;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        if (axes(i) >= lengths.size()) throw std::invalid_argument("an axis has no length");
        n_cells *= lengths(axes(i));
    }
    return n_cells;
}

void require_axes(const Axes& axes, const Axes& lengths) { n_cells_of(axes, lengths); }

// Long work is done by one thread while the calling one looks for Ctrl-C.
template <class Work>
void run_one(double nanoseconds, const Work& work) {
    run_unlocked(1, [&](const bestdag::Execution& execution) {
        bestdag::parallel_for(1, nanoseconds, execution,
                              [&](std::size_t, const bestdag::StopFlag& stop) { work(stop); });
    });
}

}  // namespace

void register_elimination(nb::module_& m) {
    m.def(
        "plan_elimination",
        [](Axes lengths, Axes axes, Int64s ends, Axes keep, double cheap) {
            const std::vector<bestdag::Factor> scopes = scopes_of(axes, ends, lengths.size());
            require_axes(keep, lengths);
            std::vector<double> bits;
            for (std::size_t i = 0; i < lengths.size(); ++i) bits.push_back(std::log2(lengths(i)));
            bestdag::EliminationPlan plan;
            run_one(bestdag::plan_nanoseconds(bits.size()), [&](const bestdag::StopFlag& stop) {
                plan = bestdag::plan_elimination(scopes, view(keep), bits, bits, cheap, 0, &stop);
            });
            return nb::make_tuple(plan.order, plan.log2_cells, plan.work);
        },
        "lengths"_a.noconvert(), "axes"_a.noconvert(), "ends"_a.noconvert(), "keep"_a.noconvert(),
        "cheap"_a,
        nb::sig("def plan_elimination(lengths: NDArray[numpy.uint32], axes: NDArray[numpy.uint32], "
                "ends: NDArray[numpy.int64], keep: NDArray[numpy.uint32], cheap: "
                "float) -> tuple[list[int], float, float]"),
        "In which order to sum axes out: the order, log2 of the largest product's cells, and the "
        "cells of all products.");
    m.def(
        "sum_product",
        [](Axes lengths, Axes axes, Int64s ends, Values values, Axes order, Axes keep,
           Array1<double> out, double work) {
            std::vector<bestdag::Factor> factors = factors_of(lengths, axes, ends, values);
            require_axes(order, lengths);
            if (n_cells_of(keep, lengths) != out.size()) {
                throw std::invalid_argument("out must fit the axes that are kept");
            }
            const bestdag::EliminationPlan plan{{order.data(), order.data() + order.size()}, 0, 0};
            run_one(work, [&](const bestdag::StopFlag& stop) {
                const bestdag::Factor found =
                    bestdag::sum_product(std::move(factors), plan, view(keep), view(lengths), stop);
                std::copy_n(found.values, out.size(), out.data());
            });
        },
        "lengths"_a.noconvert(), "axes"_a.noconvert(), "ends"_a.noconvert(), "values"_a.noconvert(),
        "order"_a.noconvert(), "keep"_a.noconvert(), "out"_a.noconvert(), "work"_a,
        "Multiply factors and sum axes out.");
    m.def(
        "log_sum_product",
        [](Axes lengths, Axes axes, Int64s ends, Values logs, Axes order, Axes keep,
           Array1<double> out, double work) {
            const std::vector<bestdag::Factor> factors = factors_of(lengths, axes, ends, logs);
            require_axes(order, lengths);
            if (n_cells_of(keep, lengths) != out.size()) {
                throw std::invalid_argument("out must fit the axes that are kept");
            }
            run_one(work, [&](const bestdag::StopFlag& stop) {
                bestdag::log_sum_product(factors, view(order), view(keep), view(lengths), view(out),
                                         stop);
            });
        },
        "lengths"_a.noconvert(), "axes"_a.noconvert(), "ends"_a.noconvert(), "logs"_a.noconvert(),
        "order"_a.noconvert(), "keep"_a.noconvert(), "out"_a.noconvert(), "work"_a,
        "The same with logarithms in and out; axis 0, where it is kept, is one of rows.");
    m.def(
        "sum_out",
        [](Axes lengths, Axes axes, Int64s ends, Values logs, Axes order, double work) {
            const std::vector<bestdag::Factor> factors = factors_of(lengths, axes, ends, logs);
            require_axes(order, lengths);
            std::vector<bestdag::Factor> left;
            run_one(work, [&](const bestdag::StopFlag& stop) {
                left = bestdag::sum_out(factors, view(order), view(lengths), stop);
            });
            nb::list found;
            for (const bestdag::Factor& factor : left) {
                std::size_t n_cells = 1;
                for (const bestdag::Axis axis : factor.axes) n_cells *= lengths(axis);
                found.append(nb::make_tuple(
                    factor.axes,
                    to_numpy(std::vector<double>(factor.values, factor.values + n_cells))));
            }
            return found;
        },
        "lengths"_a.noconvert(), "axes"_a.noconvert(), "ends"_a.noconvert(), "logs"_a.noconvert(),
        "order"_a.noconvert(), "work"_a,
        nb::sig("def sum_out(lengths: NDArray[numpy.uint32], axes: NDArray[numpy.uint32], ends: "
                "NDArray[numpy.int64], logs: Sequence[NDArray[numpy.float64]], order: "
                "NDArray[numpy.uint32], work: float) -> "
                "list[tuple[list[int], NDArray[numpy.float64]]]"),
        "Sum axes out: what is left over the others, as logarithms.");
}
