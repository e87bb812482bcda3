// Groups of missing cells together with the tables they are groups of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include "bindings/types.hpp"
#include "missing/row_groups.hpp"

// The time limit of a call is reached; nothing of it may be used.
class OutOfTime : public std::exception {
public:
    const char* what() const noexcept override { return "out of time"; }
};

// Run work(execution) for at most so many seconds; throws OutOfTime and what Ctrl-C raises.
template <class Work>
void run_within(double seconds, int threads, Work&& work) {
    if (!run_for(seconds, threads, std::forward<Work>(work))) throw OutOfTime();
}

class BoundGroups {
public:
    BoundGroups(const BoundTable& rows, std::vector<std::uint32_t> arities,
                std::vector<std::vector<std::uint32_t>> members, bool whole, bool with_rows,
                double seconds, int threads);
    BoundGroups(const BoundGroups&) = delete;
    BoundGroups& operator=(const BoundGroups&) = delete;

    void require_cells(std::size_t n) const;

    const bestdag::FamilyTables tables;
    bestdag::RowGroups groups;
};
