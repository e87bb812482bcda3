// How probable the states of missing cells are, given what their rows show: one distribution for
// each case of a group, exact where it is small and else by draws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/philox.hpp"
#include "missing/family_tables.hpp"
#include "missing/row_groups.hpp"

namespace bestdag {

struct PosteriorLimits {
    double max_cells;     // a group with more states together is drawn from
    std::size_t n_draws;  // so often
};

class Posterior {
public:
    // A missing cell of a row, and which variable of which case it is.
    struct Hole {
        std::uint32_t variable;
        std::uint32_t number;  // of the case
        std::uint32_t position;
    };

    // Requires whole groups with rows; they must outlive this. Draws depend on the key and the
    // place of the case in its order alone. Throws Interrupted.
    Posterior(const RowGroups& groups, const FamilyTables& tables, std::span<const double> values,
              const PosteriorLimits& limits, PhiloxKey key, const Execution& execution);

    // Numbers that it keeps, about: what it takes is 8 bytes each.
    static double n_numbers(const RowGroups& groups, const FamilyTables& tables,
                            const PosteriorLimits& limits) noexcept;

    // Whether every case is possible; else nothing may be asked.
    bool is_possible() const noexcept { return is_possible_; }
    std::size_t n_drawn() const noexcept { return n_drawn_; }  // cases

    std::span<const Hole> holes(std::size_t row) const noexcept {
        return {holes_.data() + first_hole_[row], first_hole_[row + 1] - first_hole_[row]};
    }

    // The distribution of one variable of a case.
    std::span<const double> marginal(const Hole& hole) const noexcept;

    // The joint distribution of several variables of a case, the last fastest; `out` has a cell
    // for each of their states together.
    void joint(std::uint32_t number, std::span<const std::uint32_t> positions,
               std::vector<double>& out) const;

private:
    struct Case {
        std::uint32_t kind;
        bool is_drawn;
        std::size_t first_marginal;
        std::size_t first;  // of its cells, or of its draws
    };

    const RowGroups& groups_;
    const FamilyTables& tables_;
    const std::size_t n_draws_;
    std::vector<Case> cases_;
    std::vector<std::vector<std::uint32_t>> marginal_starts_;  // of each kind's variables
    std::vector<double> marginals_;
    std::vector<double> cells_;
    std::vector<std::uint16_t> draws_;
    std::vector<std::size_t> first_hole_;
    std::vector<Hole> holes_;
    std::size_t n_drawn_ = 0;
    bool is_possible_ = true;
};

}  // namespace bestdag
