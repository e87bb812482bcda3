// The missing cells of rows in groups: two of a row belong together when they meet in a table of
// the network. Equal groups of different rows, with equal known cells beside them, are one case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "counting/table.hpp"
#include "factors/clique_tree.hpp"
#include "missing/family_tables.hpp"

namespace bestdag {

// Missing variables that meet, and the tables they meet in.
struct GroupKind {
    std::vector<std::uint32_t> variables;  // ascending
    std::vector<std::uint32_t> families;   // ascending
    std::vector<std::uint32_t> known;      // the other members of the families, ascending
    std::unique_ptr<CliqueTree> tree;      // over positions in `variables`; none: one table for all
    double n_cells = 1.0;                  // of all tables of the group
    double joint_cells = 1.0;              // of one table over all variables
};

enum class GroupScope : std::uint8_t {
    // Only what the known cells depend on: a missing variable without a known descendant sums to
    // one and is left out, and so is its table.
    kAncestral,
    kWhole,  // every missing cell
};

struct RowGroups {
    std::vector<GroupKind> kinds;            // in lexicographic order
    std::vector<std::size_t> first_case;     // of each kind, and one more
    std::vector<std::size_t> first_code;     // the same, of `codes`
    std::vector<std::uint16_t> codes;        // of the known variables of each case
    std::vector<double> weights;             // of each case
    std::vector<std::size_t> first_of_row;   // of each row in `case_of_row`, and one more
    std::vector<std::uint32_t> case_of_row;  // the cases that a row has
    std::vector<double> complete;            // counts of the families without missing cells

    std::size_t n_cases() const noexcept { return weights.size(); }
    std::span<const std::uint16_t> codes_of(std::size_t kind, std::size_t number) const noexcept {
        const std::size_t n_known = kinds[kind].known.size();
        return {codes.data() + first_code[kind] + (number - first_case[kind]) * n_known, n_known};
    }
    std::size_t kind_of(std::size_t number) const noexcept;
};

// `rows` has the columns of the network's variables; a code equal to the arity is a missing cell,
// unless the variable has one state, which is then known. Cases are in lexicographic order, so
// that nothing depends on the order of the rows. Without `with_rows` it is not kept which rows have
// a case. Throws Interrupted.
RowGroups find_row_groups(const Table& rows, const FamilyTables& tables, GroupScope scope,
                          bool with_rows, const Execution& execution);

}  // namespace bestdag
