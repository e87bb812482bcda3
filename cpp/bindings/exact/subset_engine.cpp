// Cells of the dynamic program over subsets that are kept and computed by an object of Python, on
// another device for example.
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/exact/subset_answer.hpp"
#include "bindings/types.hpp"
#include "exact/cpu_cells.hpp"
#include "exact/subset_dp.hpp"
#include "exact/subset_program.hpp"

namespace {

using Program = bestdag::SubsetProgram<std::uint32_t>;

template <class T>
nb::object copied(const std::vector<T>& from) {
    auto* const kept = new std::vector<T>(from);
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

// What a device needs to know of a run: numbers, the candidate sets by bit, and the tasks by layer.
nb::dict described(const Program& program, std::size_t n_layers, std::size_t room) {
    std::vector<std::uint32_t> top, middle, low, cost;
    std::vector<std::int64_t> first{0};
    for (const auto& sets : program.sets) {
        for (const auto& set : sets) {
            top.push_back(set.top);
            middle.push_back(set.middle);
            low.push_back(set.low);
            cost.push_back(set.cost);
        }
        first.push_back(static_cast<std::int64_t>(top.size()));
    }
    std::vector<std::uint32_t> tops;
    std::vector<std::int64_t> layers{0};
    for (std::size_t k = 0; k < n_layers; ++k) {
        const auto layer = program.lattice.layer(k);
        tops.insert(tops.end(), layer.begin(), layer.end());
        layers.push_back(static_cast<std::int64_t>(tops.size()));
    }
    nb::dict run;
    run["n"] = program.division.n;
    run["within"] = program.division.within;
    run["middle"] = program.division.middle;
    run["n_top"] = program.division.top;
    run["limit"] = program.limit;
    run["room"] = room;
    run["first"] = copied(first);
    run["set_top"] = copied(top);
    run["set_middle"] = copied(middle);
    run["set_low"] = copied(low);
    run["set_cost"] = copied(cost);
    run["tops"] = copied(tops);
    run["layers"] = copied(layers);
    return run;
}

// engine.fill(run, watch) computes and returns False when `watch(share)` said to stop;
// engine.read(cells) returns values. Runs of up to engine.few_cells stay on the processor, which is
// faster then.
class PythonCells : public bestdag::CellEngine<std::uint32_t> {
public:
    PythonCells(nb::object engine, const bestdag::Execution& execution)
        : engine_(std::move(engine)), execution_(execution) {
        const nb::gil_scoped_acquire locked;
        few_cells_ = nb::cast<double>(engine_.attr("few_cells"));
    }

    void fill(const Program& program, std::size_t n_layers, std::size_t room,
              const bestdag::Watch& watch) override {
        const auto cells = static_cast<double>(room * program.division.task_cells());
        if (cells <= few_cells_ || program.division.within < bestdag::Division::kWithinBits) {
            near_ = std::make_unique<bestdag::CpuCells<std::uint32_t>>(
                static_cast<std::size_t>(cells), execution_);
            near_->fill(program, n_layers, room, watch);
            return;
        }
        near_.reset();
        const nb::gil_scoped_acquire locked;
        bool is_done = false;
        try {
            const nb::object asked = nb::cpp_function([&watch](double share) {
                const nb::gil_scoped_release unlocked;
                return watch && watch(share);
            });
            is_done =
                nb::cast<bool>(engine_.attr("fill")(described(program, n_layers, room), asked));
        } catch (nb::python_error& error) {
            if (!error.matches(PyExc_KeyboardInterrupt)) throw;
            error.restore();
        }
        if (!is_done) throw bestdag::Interrupted();
    }

    void read(std::span<const std::uint64_t> cells, std::span<double> values) const override {
        if (near_) return near_->read(cells, values);
        const nb::gil_scoped_acquire locked;
        const std::vector<std::uint64_t> wanted(cells.begin(), cells.end());
        const auto found =
            nb::cast<Array1<const std::uint32_t>>(engine_.attr("read")(copied(wanted)));
        if (found.size() != values.size()) throw std::invalid_argument("one value for each cell");
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = found(i);
    }

private:
    const nb::object engine_;
    const bestdag::Execution& execution_;
    double few_cells_;
    std::unique_ptr<bestdag::CpuCells<std::uint32_t>> near_;
};

}  // namespace

void register_subset_engine(nb::module_& m) {
    m.def(
        "best_by_engine",
        [](const Int64s& first, const Masks& members, const Costs& costs,
           const std::optional<Costs>& fine, double limit, const bestdag::SubsetPlan& plan,
           nb::object engine, int threads, double seconds, nb::object progress,
           const Chosen& chosen) {
            const auto problem = problem_of(first, members, costs, fine);
            Watcher watcher(seconds, std::move(progress));
            return answer(threads, watcher, chosen, [&](const bestdag::Execution& execution) {
                PythonCells cells(engine, execution);
                const bestdag::Watch asked = [&](double share) {
                    return watcher(share) || execution.should_stop();
                };
                return bestdag::best_by_subsets<std::uint32_t>(problem, limit, plan, cells, asked);
            });
        },
        "first"_a.noconvert(), "members"_a.noconvert(), "costs"_a.noconvert(),
        "fine"_a.noconvert().none(), "limit"_a, "plan"_a, "engine"_a, "threads"_a, "seconds"_a,
        "progress"_a.none(), "chosen"_a.noconvert(),
        "As best_by_subsets in 4 bytes, with cells that `engine` keeps: engine.fill(run, watch) "
        "computes them and returns False when watch(share) said to stop, engine.read(cells) "
        "returns some; runs of up to engine.few_cells stay here.");
}
