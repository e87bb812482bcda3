// Expected counts and scores of any families, from the posterior of the missing cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "counting/family_list.hpp"
#include "counting/table.hpp"
#include "missing/posterior.hpp"
#include "scores/kernel.hpp"

namespace bestdag {

// One thread's counter of expected counts: of a row with missing cells in the family, each state
// of them counts as much as it is probable. Cells of different groups are independent.
class ExpectedCounter {
public:
    ExpectedCounter(const Table& rows, const Posterior& posterior)
        : rows_(rows), posterior_(posterior) {}

    // Calls add(cell, weight) for every row and state; the cell is the number of the parents'
    // configuration, the last parent fastest, times the arity of the child, plus its code.
    // Requires fewer than 2^63 cells. Rows come in order.
    template <class Add>
    void count(const Family& family, const StopFlag& stop, const Add& add);

private:
    struct Member {
        std::uint32_t column;
        std::uint32_t arity;
        std::uint64_t stride;
    };
    // The states of the missing cells of one case: where they lead, how probable they are.
    struct States {
        std::vector<std::uint64_t> offsets;
        std::vector<double> shares;
    };

    void set(const Family& family);
    // Fill the states of all cases that a row's missing cells belong to; return how many.
    std::size_t find_states(std::size_t row);
    void add_states(std::size_t n, std::uint32_t number);

    const Table& rows_;
    const Posterior& posterior_;
    std::vector<Member> members_;
    std::vector<std::uint64_t> cells_;
    std::vector<std::uint8_t> missing_;
    std::vector<States> states_;
    std::vector<std::pair<Posterior::Hole, const Member*>> met_;
    std::vector<std::uint32_t> positions_;
    std::vector<const Member*> of_case_;
    std::vector<double> joint_;
};

// The cells that are not zero, by number, ascending.
struct ExpectedCells {
    std::vector<std::uint64_t> cells;
    std::vector<double> counts;
};

std::vector<ExpectedCells> count_expected(const Table& rows, const Posterior& posterior,
                                          const FamilyList& families, const Execution& execution);

enum class Wanted : std::uint8_t { kScore, kBound };

// Scores of families, or bounds on all larger ones (other parents having at least `growth` states),
// by expected counts; NaN for a family with more cells than may be written out. `shown` has the
// variables and the weights as the evaluators are to see them; its codes are not looked at.
void score_expected(const Table& rows, const Posterior& posterior, const Table& shown,
                    const Kernel& kernel, const FamilyList& families, Wanted wanted, double growth,
                    std::span<double> scores, const Execution& execution);

}  // namespace bestdag
