#include "exact/cpu_cells.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "exact/subset_program.hpp"
#include "exact/subset_walk.hpp"

namespace bestdag {

namespace {

constexpr double kNanosecondsPerCell = 10.0;  // one thread: to see whether threads are worth it

// Walks are lent to tasks and come back: at most one per thread is ever made.
template <class T>
class Walks {
public:
    Walks(const SubsetProgram<T>& program, T* arena, std::size_t room)
        : program_(program), arena_(arena), room_(room) {}

    std::unique_ptr<SubsetWalk<T>> take() {
        {
            const std::lock_guard lock(mutex_);
            if (!idle_.empty()) {
                auto walk = std::move(idle_.back());
                idle_.pop_back();
                return walk;
            }
        }
        return std::make_unique<SubsetWalk<T>>(program_, arena_, room_);
    }

    void give_back(std::unique_ptr<SubsetWalk<T>> walk) {
        const std::lock_guard lock(mutex_);
        idle_.push_back(std::move(walk));
    }

private:
    const SubsetProgram<T>& program_;
    T* const arena_;
    const std::size_t room_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<SubsetWalk<T>>> idle_;
};

}  // namespace

template <class T>
void CpuCells<T>::fill(const SubsetProgram<T>& program, std::size_t n_layers, std::size_t room,
                       const Watch& watch) {
    const Division& division = program.division;
    const SubsetLattice& lattice = program.lattice;
    const auto n_blocks =
        static_cast<double>(lattice.layer_begin(n_layers) * division.task_blocks());
    std::atomic<std::size_t> blocks_done = 0;
    const Execution watched{threads_, [&] {
                                const double done = static_cast<double>(blocks_done) / n_blocks;
                                return watch && watch(done);
                            }};
    Walks<T> walks(program, cells_.data(), room);
    const double task_nanoseconds =
        kNanosecondsPerCell * static_cast<double>(division.task_cells());
    for (std::size_t k = 0; k < n_layers; ++k) {
        if (k > 0 && watched.should_stop()) throw Interrupted();  // short layers do not ask
        const auto tops = lattice.layer(k);
        parallel_for(tops.size(), task_nanoseconds * static_cast<double>(tops.size()), watched,
                     [&](std::size_t i, const StopFlag& stop) {
                         auto walk = walks.take();
                         walk->run(tops[i], blocks_done, stop);
                         walks.give_back(std::move(walk));
                     });
    }
}

template <class T>
void CpuCells<T>::read(std::span<const std::uint64_t> cells, std::span<double> values) const {
    for (std::size_t i = 0; i < cells.size(); ++i) {
        values[i] = static_cast<double>(cells_.data()[cells[i]]);
    }
}

template class CpuCells<std::uint32_t>;
template class CpuCells<double>;

}  // namespace bestdag
