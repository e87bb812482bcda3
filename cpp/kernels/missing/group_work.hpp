// Working out one group of missing cells after the other: what they sum to, how probable their
// states are, their most probable states, draws. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "missing/family_tables.hpp"
#include "missing/row_groups.hpp"

namespace bestdag {

enum class Collect : std::uint8_t { kSum, kMax };

class GroupWork {
public:
    // `values` are the probabilities in the layout of the tables. Both must outlive this.
    GroupWork(const FamilyTables& tables, const double* values)
        : tables_(tables), values_(values) {}

    // Take up a kind; cases of it may follow. With `as_one`, one table over all its variables.
    void take(const GroupKind& kind, bool as_one = false);

    // Multiply the tables at these known codes, messages up. Returns the logarithm of the sum (or
    // the largest) of the products over all states of the group; minus infinity where it is zero,
    // and then nothing else may be asked.
    double collect(std::span<const std::uint16_t> known, Collect how = Collect::kSum);

    // After a sum: turn every table into the distribution of its variables.
    void distribute();

    // After that: add the weighted distribution of each family to its counts.
    void add_counts(double weight, double* counts) const;

    // The one table of a group taken as one: after `distribute`, the last variable fastest.
    std::span<const double> joint() const { return parts_[0].cells; }

    // After a sum: draw states; uniform(v) is a number in [0, 1) for the part whose first variable
    // is v (its number in the network). After a maximum: take the best, ties to the first states.
    template <class Uniform>
    void draw(const Uniform& uniform, std::span<std::uint16_t> states) {
        descend(states, [&](const Part& part, std::span<const double> cells) {
            double total = 0.0;
            for (const double cell : cells) total += cell;
            const double wanted = uniform(part.variable) * total;
            double passed = 0.0;
            std::size_t chosen = 0;
            for (std::size_t i = 0; i < cells.size(); ++i) {
                if (cells[i] == 0.0) continue;
                chosen = i;
                passed += cells[i];
                if (passed > wanted) break;
            }
            return chosen;
        });
    }
    void best(std::span<std::uint16_t> states);

private:
    struct Part {                            // a table of the tree
        std::vector<std::uint32_t> axes;     // positions in the group; the separator first
        std::vector<std::uint32_t> lengths;  // of the axes
        std::size_t n_cells = 1;
        std::size_t n_separator = 1;  // cells of the separator
        std::int32_t parent = -1;
        std::uint32_t variable = 0;           // number of the first variable not in the separator
        std::vector<std::uint32_t> families;  // positions in the group's families
        std::vector<std::vector<std::uint32_t>> offsets;  // of each cell in the family's table
        std::vector<std::uint32_t> up;  // separator cell of each cell of the parent
        std::vector<double> cells;
        std::vector<double> message;  // to the parent, one per separator cell
    };

    // Where the known members of a family lie: positions in `known` and their steps.
    struct Base {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> steps;
        std::size_t first_cell;
    };

    void set_parts(const GroupKind& kind, bool as_one);
    void place_families(const GroupKind& kind, bool as_one);
    bool multiply(Part& part, const std::vector<std::uint32_t>& offsets, const double* values);
    void keep_in_range(Part& part, double most);

    // From the roots down: choose(part, its cells beside the states chosen above) is a cell.
    template <class Choose>
    void descend(std::span<std::uint16_t> states, const Choose& choose) {
        for (std::size_t p = n_parts_; p-- > 0;) {
            const Part& part = parts_[p];
            const std::size_t inner = part.n_cells / part.n_separator;
            std::size_t above = 0;  // separator cell
            std::size_t size = 1, i = 0;
            for (; size < part.n_separator; ++i) {
                above = above * part.lengths[i] + states[part.axes[i]];
                size *= part.lengths[i];
            }
            std::size_t cell =
                choose(part, std::span<const double>(part.cells.data() + above * inner, inner));
            for (std::size_t a = part.axes.size(); a-- > i;) {
                states[part.axes[a]] = static_cast<std::uint16_t>(cell % part.lengths[a]);
                cell /= part.lengths[a];
            }
        }
    }

    const FamilyTables& tables_;
    const double* const values_;
    std::vector<Part> parts_;  // children before parents; more than needed are kept for later
    std::size_t n_parts_ = 0;
    std::vector<Base> bases_;              // of the families
    std::vector<std::size_t> base_cells_;  // of the families, for the case at hand
    double log_scale_ = 0.0;
    std::vector<double> beside_;  // of a separator
};

}  // namespace bestdag
