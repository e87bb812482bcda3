// Cells in the memory of the processor, computed by its threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/cells.hpp"
#include "base/parallel.hpp"
#include "exact/subset_dp.hpp"

namespace bestdag {

template <class T>
class CpuCells : public CellEngine<T> {
public:
    CpuCells(std::size_t n_cells, const Execution& execution)
        : cells_(n_cells), threads_(execution.threads) {}

    void fill(const SubsetProgram<T>& program, std::size_t n_layers, std::size_t room,
              const Watch& watch) override;
    void read(std::span<const std::uint64_t> cells, std::span<double> values) const override;

private:
    const Cells<T> cells_;
    const int threads_;
};

}  // namespace bestdag
