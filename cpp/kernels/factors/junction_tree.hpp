// Exact answers from factors over discrete variables, by messages in a tree of cliques.
//
// Lauritzen and Spiegelhalter (1988). "Local computations with probabilities on graphical
// structures and their application to expert systems." JRSS B 50. Jensen, Lauritzen and Olesen
// (1990). "Bayesian updating in causal probabilistic networks by local computations."
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/cells.hpp"
#include "base/parallel.hpp"
#include "factors/clique_tree.hpp"
#include "factors/projection.hpp"

namespace bestdag {

// What is known: the state of some axes, and weights of the states of others.
struct Evidence {
    std::span<const std::int32_t> codes;  // one per axis; -1 where it is not known
    std::span<const Axis> soft;           // none of them known, none twice
    std::span<const double> weights;      // of the states of these, one axis after the other
};

// A table that is multiplied, over axes in its own order, the last varying fastest.
struct TreeFactor {
    std::vector<Axis> axes;
    std::span<const double> values;
};

// One of the most probable configurations.
struct Explanation {
    double log_probability;  // together with the evidence
    std::vector<std::int32_t> codes;
};

template <class Semiring>
class Propagation;

// Rows of evidence: the code of each axis in each row; a code of at least the length is unknown.
struct EvidenceRows {
    std::size_t n_rows;
    std::span<const std::int32_t> codes;  // row-major
};

class JunctionTree {
public:
    // Every factor lies inside a clique of the tree; its values, probabilities or logarithms of
    // such, must outlive this.
    JunctionTree(CliqueTree structure, std::vector<TreeFactor> factors, bool are_logs,
                 const Execution& execution);
    ~JunctionTree();
    JunctionTree(const JunctionTree&) = delete;
    JunctionTree& operator=(const JunctionTree&) = delete;

    const CliqueTree& structure() const noexcept { return structure_; }
    // Cells of the cliques' tables, without those that are left out because they are always zero.
    std::size_t held_cells() const noexcept { return n_cells_; }

    // Each answer returns the logarithm of the probability of the evidence; minus infinity where
    // that is zero, and then the answer is not filled in. The answers depend on the evidence
    // alone, not on earlier questions: what did not change since the last one is not worked out
    // again. One thread at a time is answered.

    double log_probability(const Evidence& evidence, const Execution& execution);

    // The distributions of these axes, one after the other.
    double marginals(const Evidence& evidence, std::span<const Axis> axes, std::span<double> out,
                     const Execution& execution);

    // The joint distribution of axes that share a clique, in this order, the last fastest.
    double joint(const Evidence& evidence, std::span<const Axis> axes, std::span<double> out,
                 const Execution& execution);

    // The n most probable configurations of all axes, the best first; fewer where fewer are
    // possible. Ties go to the first states, the last summed out counting most.
    std::vector<Explanation> most_probable(const Evidence& evidence, std::size_t n,
                                           const Execution& execution) const;

    // For many rows: the logarithms of their probabilities, and the distributions of these axes,
    // axis after axis, each with a row of states for every row of evidence. Axes that are known in
    // a row have all their probability there. Rows of probability zero are NaN.
    void rows(const EvidenceRows& rows, std::span<const Axis> axes, std::span<double> logs,
              std::span<double> out, const Execution& execution) const;

private:
    template <class Semiring>
    friend class Propagation;

    // How the neighbours of a clique, and the axes at home in it, lie over its table.
    struct Maps {
        explicit Maps(Projection to_parent) : separator(std::move(to_parent)) {}

        Projection separator;              // shared with the parent
        std::vector<Projection> children;  // separators of the children
        std::vector<Axis> at_home;
        std::vector<Projection> axes;      // of those at home
        std::vector<std::size_t> factors;  // multiplied here
        std::vector<Projection> factor_maps;
        // The cells that can be other than zero, in ascending order, where few can: the tables of
        // the clique hold these alone. Empty where they hold all.
        std::vector<std::uint32_t> listed;
        std::size_t first_cell = 0;  // of the clique among all tables
        std::size_t n_cells = 0;     // that are held
        std::size_t first_separator_cell = 0;
        std::size_t n_separator_cells = 0;
    };

    static constexpr double kNanosecondsPerCell = 6.0;  // of a question to the whole tree

    // How a table over `axes` lies over one over `inside`.
    static Projection projection(std::span<const Axis> inside, std::span<const Axis> axes,
                                 std::span<const std::uint32_t> lengths);
    void map_cliques();
    void map_factors();
    // What is known about cells that are zero whatever becomes known, while a tree is made.
    struct Zeros {
        Zeros(std::size_t n_cliques, std::size_t n_separator_cells)
            : possible(n_separator_cells),
              in_message(n_cliques, 0),
              in_clique(n_cliques, 0),
              can_list(n_cliques, 0) {}

        // Of each separator: 1 where it can be above zero. Written only where there are zeros.
        Cells<double> possible;
        std::vector<std::uint8_t> in_message;  // whether a separator has zeros
        std::vector<std::uint8_t> in_clique;   // whether the table of a clique has
        std::vector<std::uint8_t> can_list;    // whether its zeros are known
    };

    // A table that is multiplied into that of a clique, and how it lies there.
    struct Operand {
        std::span<const Axis> axes;
        const double* values;
        const Projection* map;
    };

    void fill_potential(std::size_t clique, Zeros& zeros, const StopFlag& stop);
    void narrow_potential(std::size_t clique, Zeros& zeros, const StopFlag& stop);
    bool find_possible(const Maps& maps, const Projection& map, std::size_t child, Zeros& zeros,
                       const StopFlag& stop) const;
    bool multiply_blocks(std::size_t clique, std::span<const Operand> operands, std::size_t n_most,
                         std::vector<std::uint32_t>& kept, const StopFlag& stop) const;
    std::size_t most_listed(std::size_t clique) const;
    void list_cells(std::size_t clique, const StopFlag& stop);
    void keep_cells(std::size_t clique, std::vector<std::uint32_t> kept, const StopFlag& stop);
    void close_gaps(const StopFlag& stop);
    double nanoseconds() const noexcept;
    // Calls answer(propagation, stop), and again with logarithms where doubles underflowed.
    template <class Answer>
    void answer_one(const Execution& execution, const Answer& answer);

    CliqueTree structure_;
    std::vector<TreeFactor> factors_;
    const bool are_logs_;  // the values of the factors
    std::vector<Maps> maps_;
    std::unique_ptr<Cells<double>> potentials_;  // products of the factors, clique after clique
    std::vector<std::size_t> first_states_;      // of each axis, among the states of all
    std::size_t n_states_ = 0;
    std::size_t n_cells_ = 0;
    std::size_t n_separator_cells_ = 0;
    std::size_t n_largest_ = 1;
    double log_constant_ = 0.0;  // of the factors without axes
    bool is_lossy_ = false;      // a product of factors underflowed
    std::unique_ptr<Propagation<SumProduct>> state_;
    std::mutex mutex_;  // of the state
};

}  // namespace bestdag
