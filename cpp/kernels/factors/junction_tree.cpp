#include "factors/junction_tree.hpp"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <limits>
#include <utility>

#include "factors/propagation.hpp"

namespace bestdag {

namespace {

constexpr std::size_t kRowsPerTask = 64;
constexpr std::uint32_t kAbsent = CliqueTree::kNowhere;

// Long work is done by one thread while the calling one looks for Ctrl-C.
void run_one(double nanoseconds, const Execution& execution,
             const std::function<void(const StopFlag&)>& work) {
    parallel_for(1, nanoseconds, execution, [&](std::size_t, const StopFlag& stop) { work(stop); });
}

template <class Semiring>
void to_shares(std::span<double> values) {
    const double total = Projection::sum<Semiring>(values);
    for (double& value : values) {
        value = std::is_same_v<Semiring, SumProduct> ? value / total : std::exp(value - total);
    }
}

}  // namespace

JunctionTree::~JunctionTree() = default;

double JunctionTree::nanoseconds() const noexcept {
    return kNanosecondsPerCell * static_cast<double>(n_cells_);
}

double JunctionTree::log_probability(const Evidence& evidence, const Execution& execution) {
    return marginals(evidence, {}, {}, execution);
}

namespace {

// The cliques where these axes are at home, each once.
std::vector<std::uint32_t> homes_of(const CliqueTree& tree, std::span<const Axis> axes) {
    std::vector<std::uint32_t> homes;
    for (const Axis axis : axes) {
        if (tree.home(axis) != kAbsent) homes.push_back(tree.home(axis));
    }
    std::sort(homes.begin(), homes.end());
    homes.erase(std::unique(homes.begin(), homes.end()), homes.end());
    return homes;
}

}  // namespace

template <class Answer>
void JunctionTree::answer_one(const Execution& execution, const Answer& answer) {
    run_one(nanoseconds(), execution, [&](const StopFlag& stop) {
        answer(*state_, stop);
        if (!state_->is_lossy()) return;
        Propagation<LogSumProduct> logs(*this);
        answer(logs, stop);
    });
}

double JunctionTree::marginals(const Evidence& evidence, std::span<const Axis> axes,
                               std::span<double> out, const Execution& execution) {
    const std::lock_guard lock(mutex_);
    const std::span<const std::uint32_t> lengths = structure_.lengths();
    std::vector<std::size_t> places(lengths.size(), out.size());
    std::size_t n_out = 0;
    for (const Axis axis : axes) {
        places[axis] = n_out;
        n_out += lengths[axis];
        if (structure_.home(axis) == kAbsent) {  // one state, or in no factor
            std::fill_n(out.data() + places[axis], lengths[axis],
                        1.0 / static_cast<double>(lengths[axis]));
        }
    }
    const std::vector<std::uint32_t> homes = homes_of(structure_, axes);
    double found = 0.0;
    const auto answer = [&]<class Semiring>(Propagation<Semiring>& state, const StopFlag& stop) {
        state.set(evidence);
        found = state.collect(stop);
        if (found == -std::numeric_limits<double>::infinity()) return;
        state.beliefs(
            homes,
            [&](std::size_t c, const double* cells) {
                const Maps& maps = maps_[c];
                for (std::size_t k = 0; k < maps.at_home.size(); ++k) {
                    const Axis axis = maps.at_home[k];
                    if (places[axis] == out.size()) continue;
                    const std::span<double> here = out.subspan(places[axis], lengths[axis]);
                    std::fill(here.begin(), here.end(), Semiring::kZero);
                    maps.axes[k].template add<Semiring>(here.data(), cells, stop);
                    to_shares<Semiring>(here);
                }
            },
            stop);
    };
    answer_one(execution, answer);
    return found;
}

double JunctionTree::joint(const Evidence& evidence, std::span<const Axis> axes,
                           std::span<double> out, const Execution& execution) {
    const std::lock_guard lock(mutex_);
    const std::span<const std::uint32_t> lengths = structure_.lengths();
    std::vector<Axis> wide;
    for (const Axis axis : axes) {
        if (lengths[axis] > 1) wide.push_back(axis);
    }
    const std::uint32_t clique = structure_.clique_of(wide);
    double found = 0.0;
    const auto answer = [&]<class Semiring>(Propagation<Semiring>& state, const StopFlag& stop) {
        state.set(evidence);
        found = state.collect(stop);
        if (found == -std::numeric_limits<double>::infinity()) return;
        if (clique == kAbsent) {  // nothing with several states is asked for
            std::fill(out.begin(), out.end(), 1.0);
            return;
        }
        Projection map = projection(structure_.cliques()[clique].axes, wide, lengths);
        const std::span<const std::uint32_t> listed = maps_[clique].listed;
        if (!listed.empty()) map = map.listed(listed, stop);
        state.beliefs(
            {&clique, 1},
            [&](std::size_t, const double* cells) {
                std::fill(out.begin(), out.end(), Semiring::kZero);
                map.template add<Semiring>(out.data(), cells, stop);
                to_shares<Semiring>(out);
            },
            stop);
    };
    answer_one(execution, answer);
    return found;
}

void JunctionTree::rows(const EvidenceRows& rows, std::span<const Axis> axes,
                        std::span<double> logs, std::span<double> out,
                        const Execution& execution) const {
    const std::span<const std::uint32_t> lengths = structure_.lengths();
    const std::size_t n_axes = lengths.size();
    std::vector<std::size_t> places(n_axes, out.size());  // of the first row of each axis
    std::size_t n_out = 0;
    for (const Axis axis : axes) {
        places[axis] = n_out;
        n_out += lengths[axis] * rows.n_rows;
    }
    // A state for each thread that works, made when a task finds none.
    std::mutex mutex;
    std::vector<std::unique_ptr<Propagation<SumProduct>>> free_states;
    const auto answer_row = [&]<class Semiring>(Propagation<Semiring>& state, std::size_t row,
                                                std::vector<std::int32_t>& codes,
                                                const StopFlag& stop) {
        std::vector<Axis> asked;
        for (std::size_t axis = 0; axis < n_axes; ++axis) {
            const std::int32_t code = rows.codes[row * n_axes + axis];
            codes[axis] = code < static_cast<std::int32_t>(lengths[axis]) ? code : -1;
        }
        state.set({codes, {}, {}});
        logs[row] = state.collect(stop);
        const bool is_impossible = logs[row] == -std::numeric_limits<double>::infinity();
        for (const Axis axis : axes) {
            const std::span<double> here =
                out.subspan(places[axis] + row * lengths[axis], lengths[axis]);
            if (is_impossible) {
                std::fill(here.begin(), here.end(), std::numeric_limits<double>::quiet_NaN());
            } else if (codes[axis] >= 0) {
                std::fill(here.begin(), here.end(), 0.0);
                here[static_cast<std::size_t>(codes[axis])] = 1.0;
            } else if (structure_.home(axis) == kAbsent) {
                std::fill(here.begin(), here.end(), 1.0 / static_cast<double>(lengths[axis]));
            } else {
                asked.push_back(axis);
            }
        }
        if (is_impossible || asked.empty()) return;
        state.beliefs(
            homes_of(structure_, asked),
            [&](std::size_t c, const double* cells) {
                const Maps& maps = maps_[c];
                for (std::size_t k = 0; k < maps.at_home.size(); ++k) {
                    const Axis axis = maps.at_home[k];
                    if (places[axis] == out.size() || codes[axis] >= 0) continue;
                    const std::span<double> here =
                        out.subspan(places[axis] + row * lengths[axis], lengths[axis]);
                    std::fill(here.begin(), here.end(), Semiring::kZero);
                    maps.axes[k].template add<Semiring>(here.data(), cells, stop);
                    to_shares<Semiring>(here);
                }
            },
            stop);
    };
    const std::size_t n_tasks = (rows.n_rows + kRowsPerTask - 1) / kRowsPerTask;
    const double expected = nanoseconds() * static_cast<double>(rows.n_rows);
    parallel_for(n_tasks, expected, execution, [&](std::size_t task, const StopFlag& stop) {
        std::unique_ptr<Propagation<SumProduct>> state;
        {
            const std::lock_guard lock(mutex);
            if (!free_states.empty()) {
                state = std::move(free_states.back());
                free_states.pop_back();
            }
        }
        if (!state) state = std::make_unique<Propagation<SumProduct>>(*this);
        std::vector<std::int32_t> codes(n_axes);
        const std::size_t last = std::min(rows.n_rows, (task + 1) * kRowsPerTask);
        for (std::size_t row = task * kRowsPerTask; row < last; ++row) {
            check(stop);
            answer_row(*state, row, codes, stop);
            if (state->is_lossy()) {
                Propagation<LogSumProduct> in_logs(*this);
                answer_row(in_logs, row, codes, stop);
            }
        }
        const std::lock_guard lock(mutex);
        free_states.push_back(std::move(state));
    });
}

}  // namespace bestdag
