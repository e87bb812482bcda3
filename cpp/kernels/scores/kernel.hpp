// What a score's native twin is: a sum over rows of counts plus a part known from the shape of the
// family alone. All scores here have this form, so no family's whole table need be in memory.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "counting/family_counts.hpp"

namespace bestdag {

// A score is a function of counts, arities and N: an evaluator sees no rows.
struct FamilyShape {
    const TableShape& table;
    const Family& family;
    double n_configurations;  // q: parent configurations, seen or not
    std::size_t arity;        // r: states of the child
    double total_weight;      // N
    const Marginals& marginals;
};

FamilyShape shape_of(const TableShape& table, const Marginals& marginals,
                     const Family& family) noexcept;
FamilyShape shape_of(const Table& table, const Family& family) noexcept;

// A set of columns, all but the last ascending, for scores that are differences of a set function.
struct SetShape {
    const TableShape& table;
    std::span<const std::int32_t> columns;
    double n_cells;  // the product of the arities
};

// Whether every local score of a child v given parents P comes from functions of sets of columns
// that are sums over the cells of a set of a function of their counts (every_set.hpp).
enum class SetForm : std::uint8_t {
    none,
    difference,  // g(P and v) - g(P) + what `beside_sets` says
    by_arity,    // g(P and v) - h_r(P), with r the arity of v
};

// A family that a score cannot be worked out for: its settings say nothing about it (n_bytes is
// 0), or it would need more memory than there is.
class RefusedFamily : public std::runtime_error {
public:
    RefusedFamily(const Family& family, double n_bytes_)
        : std::runtime_error("a family is refused"),
          child(family.child),
          parents(family.parents.begin(), family.parents.end()),
          n_bytes(n_bytes_) {}
    std::size_t child;
    std::vector<std::int32_t> parents;
    double n_bytes;
};

// Works for one thread: it may keep tables of logarithms and other memory between families.
class Evaluator {
public:
    virtual ~Evaluator() = default;

    // Sum over these rows of counts (uint32 without weights, int64 whole, double real weights).
    // Rows may come in several pieces; a row of zeros adds exactly zero.
    virtual double rows(const CountRows<std::uint32_t>& counts, const FamilyShape& shape) = 0;
    virtual double rows(const CountRows<std::int64_t>& counts, const FamilyShape& shape) = 0;
    virtual double rows(const CountRows<double>& counts, const FamilyShape& shape) = 0;

    // The rest of the family's score. It is asked for first: rows that follow are of this family.
    virtual double constant(const FamilyShape& shape) = 0;

    // Whether the family at hand scores minus infinity because its columns, together, take more
    // different values than `max_cells`, so that every larger family does. See support.hpp.
    virtual bool lacks_support() const noexcept { return false; }
    virtual double max_cells() const noexcept { return std::numeric_limits<double>::infinity(); }

    // A score-equivalent score may be the difference of a function of sets of variables,
    // g(parents and child) - g(parents): then each set is counted once instead of each family.
    virtual bool has_set_function() const noexcept { return false; }

    // g is a sum over the cells of the set's joint counts plus a constant. The cells come as rows
    // of counts of the last column given the others, may come in pieces, and empty ones add
    // exactly zero. g may be minus infinity; then it is for all larger sets. `set_constant` is asked
    // for first: cells that follow are of this set.
    virtual double set_cells(const CountRows<std::uint32_t>&, const SetShape&) { return 0.0; }
    virtual double set_cells(const CountRows<std::int64_t>&, const SetShape&) { return 0.0; }
    virtual double set_cells(const CountRows<double>&, const SetShape&) { return 0.0; }
    virtual double set_constant(double /*n_cells*/) { return 0.0; }

    // The same for scores in which a cell's term depends on its count alone, and perhaps on the
    // number of cells; see SetForm. `set_constant` belongs to g.
    virtual SetForm set_form() const noexcept { return SetForm::none; }
    virtual double cell_term(double /*count*/, double /*n_cells*/) { return 0.0; }  // of g
    virtual bool has_sized_terms() const noexcept { return false; }  // they depend on n_cells
    virtual double row_term(double /*count*/, std::size_t /*arity*/) { return 0.0; }  // of h_r
    // An upper bound on the score of a family that is known from its shape alone and falls, or
    // stays, with every further parent.
    virtual double most(const FamilyShape&) { return std::numeric_limits<double>::infinity(); }
    // What a family has beside the difference: depends on the child and its parents' arities.
    virtual bool has_beside() const noexcept { return false; }
    virtual double beside_sets(const FamilyShape&) { return 0.0; }

    // An upper bound on the score of every family of this child that has these parents and at
    // least one more, the others' arities being at least `growth` (>= 1): a constant plus a sum
    // over the rows. Infinite where nothing is known. Proofs: docs/guide/bounds.md.
    virtual double bound_constant(const FamilyShape&, double /*growth*/) {
        return std::numeric_limits<double>::infinity();
    }
    virtual double bound_rows(const CountRows<std::uint32_t>&, const FamilyShape&) { return 0.0; }
    virtual double bound_rows(const CountRows<std::int64_t>&, const FamilyShape&) { return 0.0; }
    virtual double bound_rows(const CountRows<double>&, const FamilyShape&) { return 0.0; }

    // That bound takes the maximised log-likelihood of the larger family for 0: the score is this
    // many times the log-likelihood minus a penalty, and a lower limit of the likelihood lowers it.
    // 0 for scores of another kind.
    virtual double likelihood_weight() const noexcept { return 0.0; }

    // No family scores more than its maximised log-likelihood plus the sum of cap_rows over the
    // rows of any family that has some of its parents.
    virtual bool is_capped_by_likelihood() const noexcept { return false; }
    virtual double cap_rows(const CountRows<std::uint32_t>&, const FamilyShape&) { return 0.0; }
    virtual double cap_rows(const CountRows<std::int64_t>&, const FamilyShape&) { return 0.0; }
    virtual double cap_rows(const CountRows<double>&, const FamilyShape&) { return 0.0; }

    // A parent that is a function of the others, in the data, never raises the score.
    virtual bool is_regular() const noexcept { return false; }

    // A parent with one state never changes the score, nor does any parent of a child with one.
    virtual bool is_blind_to_single_states() const noexcept { return true; }

    // For a score that is the maximised log-likelihood minus a penalty: by how much the penalty
    // falls at least when a parent of this arity leaves this family, or any that has more parents.
    virtual double least_saving(const FamilyShape&, double /*arity*/) {
        return -std::numeric_limits<double>::infinity();
    }
};

// The score of a family from all its counts.
template <class Count>
double score_of(Evaluator& evaluator, const FamilyShape& shape, const CountRows<Count>& counts) {
    double score = evaluator.constant(shape);
    in_pieces(counts, shape.family.parents.size(),
              [&](const CountRows<Count>& piece) { score += evaluator.rows(piece, shape); });
    return score;
}

// Derive from this and write one template `sum_rows(counts, shape)` for all kinds of counts.
template <class Derived>
class EvaluatorOf : public Evaluator {
public:
    double rows(const CountRows<std::uint32_t>& counts, const FamilyShape& shape) final {
        return self().sum_rows(counts, shape);
    }
    double rows(const CountRows<std::int64_t>& counts, const FamilyShape& shape) final {
        return self().sum_rows(counts, shape);
    }
    double rows(const CountRows<double>& counts, const FamilyShape& shape) final {
        return self().sum_rows(counts, shape);
    }

protected:
    Derived& self() { return static_cast<Derived&>(*this); }
};

// For a score that is a difference of a set function: also write `sum_cells(cells, n_cells)`.
template <class Derived>
class SetEvaluatorOf : public EvaluatorOf<Derived> {
public:
    bool has_set_function() const noexcept final { return true; }
    double set_cells(const CountRows<std::uint32_t>& counts, const SetShape& shape) final {
        return this->self().sum_cells(counts.cells, shape.n_cells);
    }
    double set_cells(const CountRows<std::int64_t>& counts, const SetShape& shape) final {
        return this->self().sum_cells(counts.cells, shape.n_cells);
    }
    double set_cells(const CountRows<double>& counts, const SetShape& shape) final {
        return this->self().sum_cells(counts.cells, shape.n_cells);
    }
    SetForm set_form() const noexcept final { return SetForm::difference; }
    double cell_term(double count, double n_cells) final {
        return this->self().sum_cells(std::span<const double>(&count, 1), n_cells);
    }
};

// Bounds by purity: U = sum over cells of what a row with only that cell would score, where that is
// an upper bound (docs/guide/bounds.md), and the maximised log-likelihood is one too. Base is
// EvaluatorOf<Derived> or SetEvaluatorOf<Derived>; Derived writes one template
// `sum_pure(counts, shape)`.
template <class Derived, template <class> class Base>
class PureBoundOf : public Base<Derived> {
public:
    double bound_constant(const FamilyShape&, double) final { return 0.0; }
    bool is_capped_by_likelihood() const noexcept final { return true; }
    double bound_rows(const CountRows<std::uint32_t>& counts, const FamilyShape& shape) final {
        return this->self().sum_pure(counts, shape);
    }
    double bound_rows(const CountRows<std::int64_t>& counts, const FamilyShape& shape) final {
        return this->self().sum_pure(counts, shape);
    }
    double bound_rows(const CountRows<double>& counts, const FamilyShape& shape) final {
        return this->self().sum_pure(counts, shape);
    }
};

// What a row scores at most when no cell's first case has a larger probability than `share`: so
// much for each cell that is not empty (fractions matter for real weights only).
template <class Count>
double first_cases(const CountRows<Count>& counts, double share) {
    double cases = 0.0;
    for (const Count count : counts.cells) {
        cases += count < Count{1} ? static_cast<double>(count) : 1.0;
    }
    return cases * std::log(share);
}

// What a score costs and allows beyond the rule.
struct KernelTraits {
    // Time for a family besides counting. Where it is not 0, a single family may take any time.
    double nanoseconds_per_family = 0.0;
    bool may_refuse = false;  // some families by themselves: score only those that were asked for
};

// A score with its settings, shared by threads: makes each of them an evaluator.
class Kernel {
public:
    using Factory = std::function<std::unique_ptr<Evaluator>(const TableShape&, const StopFlag&)>;

    // The factory gets the shape of the table and, if it takes it, a flag to be looked at in long
    // work.
    template <class Make>
    explicit Kernel(Make make, KernelTraits traits = {}) : traits_(traits) {
        if constexpr (std::is_invocable_v<Make, const TableShape&, const StopFlag&>) {
            factory_ = std::move(make);
        } else {
            factory_ = [make](const TableShape& table, const StopFlag&) { return make(table); };
        }
    }

    std::unique_ptr<Evaluator> evaluator(const TableShape& table, const StopFlag& stop) const {
        return factory_(table, stop);
    }
    std::unique_ptr<Evaluator> evaluator(const Table& table, const StopFlag& stop) const {
        return factory_(table.shape(), stop);
    }
    const KernelTraits& traits() const noexcept { return traits_; }

    // What to tell parallel_for about work that takes so long to count.
    double expected(double nanoseconds) const noexcept {
        return traits_.nanoseconds_per_family > 0.0 ? std::numeric_limits<double>::infinity()
                                                    : nanoseconds;
    }

private:
    Factory factory_;
    KernelTraits traits_;
};

}  // namespace bestdag
