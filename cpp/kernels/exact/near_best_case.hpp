// What is left of a problem when some variables have their parent sets: which sets the others may
// still have, and what the cheapest acyclic choice with each of them costs.
//
// A variable that has its set needs no place of its own in an order: it comes as soon as its
// parents are there. So a candidate set of a free variable is as good as the free variables among
// the ancestors of its members, and what is left is a smaller problem of the same kind. It falls
// into strongly connected components, and each is solved by subset_marginals. A component that is
// too large is cut into groups, cycles across which only cost what the multipliers on cuts say:
// then costs are lower bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "exact/near_best_cuts.hpp"
#include "exact/subset_marginals.hpp"

namespace bestdag {

// Candidate sets of variable v are first[v] .. first[v + 1] - 1, costs >= 0 ascending; set k has
// the members from offsets[k] on.
struct NearBestSets {
    std::vector<std::int64_t> first;
    std::vector<double> costs;
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> members;
    std::vector<NearBestCut> cuts;
    std::size_t n_words = 0;     // of a set of variables
    std::vector<CutWord> masks;  // the members of each set once more

    void make_masks();
    const CutWord* mask(std::size_t k) const { return masks.data() + k * n_words; }
    std::size_t n() const { return first.size() - 1; }
    std::span<const std::int32_t> parents(std::size_t k) const {
        const auto begin = static_cast<std::size_t>(offsets[k]);
        return std::span(members).subspan(begin, static_cast<std::size_t>(offsets[k + 1]) - begin);
    }
};

// The sets that one part of all choices has, and the multipliers of linear programs over that part.
struct NearBestPart {
    std::vector<std::vector<std::int32_t>> listed;  // of each variable, ascending
    std::vector<PricedCut> cuts;
};

inline constexpr std::int32_t kFree = -1;

// One set that a free variable may have.
struct CaseOption {
    std::int32_t set;
    double least;  // no acyclic choice with the set costs less
    double most;   // one with the set costs no more; infinite where that is not known
};

struct CaseSettings {
    double limit = 0.0;          // what costs more does not matter
    int max_component = 20;      // variables of a component that is solved as a whole
    bool one_per_class = false;  // leave out choices with a covered arc to an earlier variable
};

class NearBestCase {
public:
    // chosen[v] is a set or kFree, the chosen ones without a cycle. All must outlive the case.
    NearBestCase(const NearBestSets& sets, const NearBestPart& part,
                 std::span<const std::int32_t> chosen, const CaseSettings& settings);

    // False when nothing within the limit is left.
    bool solve(const Execution& execution);

    const std::vector<std::int32_t>& free() const { return free_; }
    // The sets of free()[i] within the limit, in the order of the list.
    const std::vector<CaseOption>& options(std::size_t i) const { return options_[i]; }
    std::size_t component_size(std::size_t i) const { return component_size_[i]; }

private:
    using Word = std::uint64_t;
    struct Open {
        std::int32_t set;
        double cost, reduced;  // reduced by the cuts at hand
        double least, most;
        std::size_t needs;  // where its words begin
    };

    void find_needs();
    bool list_open();
    bool needs_of(std::size_t v, std::size_t set, Word* needs) const;
    bool is_reversed_member(std::size_t v, std::size_t set) const;
    double reduce(std::span<const PricedCut> cuts);
    bool drop_by_cuts();
    std::vector<PricedCut> crossing(std::span<const std::size_t> group_of,
                                    std::span<const std::size_t> component_of) const;
    std::vector<std::vector<std::size_t>> components() const;
    std::vector<std::vector<std::size_t>> groups(const std::vector<std::size_t>& component) const;
    double least_of(const std::vector<std::size_t>& group) const;
    double solve_group(const std::vector<std::size_t>& group, double room, double& error,
                       const Execution& execution);
    bool drop(std::size_t& n_dropped);
    bool solve_once(bool& is_exact, std::size_t& n_dropped, const Execution& execution);
    std::span<const Word> words(const Open& open) const {
        return std::span(needs_).subspan(open.needs, n_words_);
    }

    const NearBestSets& sets_;
    const NearBestPart& part_;
    std::span<const std::int32_t> chosen_;
    const CaseSettings& settings_;

    double fixed_ = 0.0;               // the cost of the chosen sets
    std::vector<std::int32_t> free_;   // the variables that have none
    std::vector<std::int32_t> place_;  // of each variable in free_, or -1
    std::size_t n_words_ = 0;
    std::vector<Word> of_chosen_;  // for each variable with a set, the free ones it needs
    std::vector<Word> needs_;
    std::vector<std::vector<Open>> open_;
    std::vector<std::vector<CaseOption>> options_;
    std::vector<std::size_t> component_size_;
};

}  // namespace bestdag
