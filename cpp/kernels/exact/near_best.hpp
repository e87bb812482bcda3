// The cheapest acyclic choices of one candidate set per variable, one after the other, each once.
//
// A node of the search has the sets of some variables; NearBestCase says what the cheapest choice
// with each set of the others costs, so that the nodes below differ in the set of one variable, and
// the queue gives them by the cost of their best choice. Where that is exact, as many nodes as are
// wanted promise as many choices, and what costs more than all of them is left out: the queue stays
// short, and no list of choices is kept for any subset of the variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/parallel.hpp"
#include "exact/near_best_case.hpp"

namespace bestdag {

struct NearBestSettings {
    double window = 0.0;     // choices that cost more are not looked for
    std::size_t wanted = 0;  // so many are enough; 0: all within the window
    bool takes_all = true;   // whether each one counts; if not, more are looked for than wanted
    bool per_class = false;  // one for each class of equivalent structures (Verma and Pearl 1990)
    bool has_whole_classes = false;  // all members of a class cost the same, and none is left out
    int max_component = 20;          // see CaseSettings
    double max_bytes = std::numeric_limits<double>::infinity();  // of the queue and what was found
};

class NearBest {
public:
    NearBest(NearBestSets sets, const NearBestSettings& settings);
    NearBest(const NearBest&) = delete;
    NearBest& operator=(const NearBest&) = delete;

    // A valid cut for the multipliers of parts, with words of n bits or more; returns its number.
    std::int32_t add_cut(NearBestCut cut);

    // Look in this part of all choices too; parts must have no choice in common.
    void add_part(NearBestPart part);

    // Look for so many more. Throws Interrupted when execution said to stop; what was found stays
    // found, and the search may be continued.
    void run(std::size_t count, const Execution& execution);

    // What was found, cheapest first: numbers of sets, n for each choice.
    std::span<const std::int32_t> chosen() const { return found_; }
    std::size_t n_found() const { return found_.size() / sets_.n(); }

    // No choice (no class) that was not found costs less.
    double rest() const;
    bool is_over() const;  // nothing is left within the window, or enough was found
    bool is_full() const { return is_full_; }  // memory ended it
    std::size_t n_nodes() const { return n_nodes_; }
    std::size_t n_words() const { return sets_.n_words; }  // of a set of variables

private:
    struct Node {
        double bound;     // the cost of the best choice below, or less
        double promised;  // what one below costs at most; infinite where none is promised
        std::uint64_t number;
        std::size_t part;
        std::size_t n_chosen;
        std::size_t slot = 0;  // where its sets are
    };
    using Chosen = std::vector<std::int32_t>;
    struct ComesLater {  // deeper nodes first, so that choices are complete early
        bool operator()(const Node& a, const Node& b) const {
            if (a.bound != b.bound) return a.bound > b.bound;
            if (a.n_chosen != b.n_chosen) return a.n_chosen < b.n_chosen;
            return a.number > b.number;
        }
    };

    void expand(const Node& node, const Chosen& chosen, const Execution& execution);
    void branch(const Node& node, const Chosen& chosen, NearBestCase& found);
    void push(Node node, const Chosen& chosen);
    void take(const Chosen& chosen);
    std::int32_t* sets_of(std::size_t slot) const;
    void promise(double cost);
    void forget(double cost);
    double cost_of(std::span<const std::int32_t> chosen) const;
    bool is_acyclic(std::span<const std::int32_t> chosen) const;
    std::vector<std::uint32_t> class_of(std::span<const std::int32_t> chosen) const;

    struct HashOfClass {
        std::size_t operator()(const std::vector<std::uint32_t>& key) const noexcept;
    };

    NearBestSets sets_;
    const NearBestSettings settings_;
    CaseSettings limits_;  // the limit falls when enough choices are promised below it
    std::vector<NearBestPart> parts_;
    std::vector<Node> queue_;
    // The sets of the nodes, in large pieces: a long queue is gone at once.
    std::vector<std::unique_ptr<std::int32_t[]>> slots_;
    std::vector<std::size_t> free_slots_;
    std::size_t n_slots_ = 0;
    std::multiset<double> promised_;
    std::vector<std::int32_t> found_;
    std::unordered_set<std::vector<std::uint32_t>, HashOfClass> classes_;
    std::uint64_t n_pushed_ = 0;
    std::size_t n_nodes_ = 0;
    bool is_full_ = false;
};

}  // namespace bestdag
