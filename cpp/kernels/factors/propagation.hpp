// Messages in a junction tree, in any semiring; what is still true is kept between questions.
#pragma once

#include <cfenv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "base/cells.hpp"
#include "factors/junction_tree.hpp"

namespace bestdag {

// Messages go up to the roots and down again. A message down is the sum of the table above it,
// divided by the message up: where that is zero, so is all below. Messages of probabilities are
// scaled by powers of two, which loses nothing; where a product underflows all the same, is_lossy()
// says so, and logarithms must be used.
template <class Semiring>
class Propagation {
    static constexpr bool kIsScaled = std::is_same_v<Semiring, SumProduct>;
    // Tables with up to so many cells in all are kept with the messages (32 MiB).
    static constexpr std::size_t kMostKept = 1u << 22;

public:
    explicit Propagation(const JunctionTree& tree, bool keeps_tables = false)
        : tree_(tree),
          keeps_tables_(keeps_tables || tree.n_cells_ <= kMostKept),
          tables_(keeps_tables_ ? tree.n_cells_ : 0),
          work_(tree.n_largest_),
          up_(tree.n_separator_cells_),
          down_(tree.n_separator_cells_),
          scales_(tree.maps_.size(), 0),
          totals_(tree.maps_.size(), Semiring::kOne),
          is_up_(tree.maps_.size(), 0),
          is_down_(tree.maps_.size(), 0),
          is_up_lossy_(tree.maps_.size(), 0),
          is_wanted_(tree.maps_.size(), 0),
          weights_(tree.n_states_, Semiring::kOne),
          new_weights_(tree.n_states_, Semiring::kOne),
          has_weights_(tree.structure_.lengths().size(), 0),
          has_new_weights_(tree.structure_.lengths().size(), 0) {}

    // Take this evidence; forget the messages that it changes.
    void set(const Evidence& evidence) {
        const std::span<const std::uint32_t> lengths = tree_.structure_.lengths();
        constant_ = Semiring::kOne;
        std::fill(has_new_weights_.begin(), has_new_weights_.end(), std::uint8_t{0});
        for (std::size_t axis = 0; axis < lengths.size(); ++axis) {
            const std::int32_t code = evidence.codes[axis];
            if (code < 0 || lengths[axis] == 1) continue;
            double* const weights = new_weights_.data() + tree_.first_states_[axis];
            std::fill_n(weights, lengths[axis], Semiring::kZero);
            weights[code] = Semiring::kOne;
            has_new_weights_[axis] = 1;
        }
        const double* from = evidence.weights.data();
        for (const Axis axis : evidence.soft) {
            if (lengths[axis] == 1) {
                constant_ = Semiring::times(constant_, Semiring::from(*from));
            } else {
                double* const weights = new_weights_.data() + tree_.first_states_[axis];
                for (std::uint32_t k = 0; k < lengths[axis]; ++k) {
                    weights[k] = Semiring::from(from[k]);
                }
                has_new_weights_[axis] = 1;
            }
            from += lengths[axis];
        }
        for (Axis axis = 0; axis < lengths.size(); ++axis) change(axis, lengths[axis]);
    }

    // Work out what is missing of the messages up; return the logarithm of the sum of everything.
    double collect(const StopFlag& stop) {
        double log_sum = tree_.log_constant_ + Semiring::log(constant_);
        std::int64_t scale = 0;
        for (std::size_t c = 0; c < tree_.maps_.size(); ++c) {
            if (!is_up_[c]) send_up(c, stop);
            if (tree_.structure_.cliques()[c].parent < 0) log_sum += Semiring::log(totals_[c]);
            scale += scales_[c];
        }
        return log_sum + static_cast<double>(scale) * std::log(2.0);
    }

    // Call use(clique, table) for the cliques in which these axes are at home, once each, with the
    // product of everything. Requires a collect() since the last set(), not of probability zero.
    template <class Use>
    void beliefs(std::span<const std::uint32_t> cliques, const Use& use, const StopFlag& stop) {
        for (const std::uint32_t clique : cliques) {
            is_wanted_[clique] = kUsed;
            for (std::int32_t up = tree_.structure_.cliques()[clique].parent;
                 up >= 0 && !is_wanted_[static_cast<std::size_t>(up)];
                 up = tree_.structure_.cliques()[static_cast<std::size_t>(up)].parent) {
                is_wanted_[static_cast<std::size_t>(up)] = kPassed;
            }
        }
        for (std::size_t c = tree_.maps_.size(); c-- > 0;) {
            if (is_wanted_[c]) visit(c, use, stop);
        }
        std::fill(is_wanted_.begin(), is_wanted_.end(), std::uint8_t{0});
    }

    // Whether something underflowed on the way to the last answers.
    bool is_lossy() const {
        bool is_lossy = tree_.is_lossy_ || is_down_lossy_;
        for (const std::uint8_t each : is_up_lossy_) is_lossy = is_lossy || each;
        return kIsScaled && is_lossy;
    }

    // The product of a clique's factors, its evidence and the messages from below; kept tables
    // only.
    std::span<const double> table(std::size_t clique) const {
        const JunctionTree::Maps& maps = tree_.maps_[clique];
        return {tables_.data() + maps.first_cell, maps.n_cells};
    }

    // Which cells of the clique these are; empty where they are all.
    std::span<const std::uint32_t> listed(std::size_t clique) const {
        return tree_.maps_[clique].listed;
    }

private:
    static constexpr std::uint8_t kUsed = 2;
    static constexpr std::uint8_t kPassed = 1;

    void change(Axis axis, std::uint32_t length) {
        if (!has_weights_[axis] && !has_new_weights_[axis]) return;
        double* const old = weights_.data() + tree_.first_states_[axis];
        const double* const now = new_weights_.data() + tree_.first_states_[axis];
        if (has_weights_[axis] == has_new_weights_[axis] && std::equal(old, old + length, now)) {
            return;
        }
        std::copy_n(now, length, old);
        has_weights_[axis] = has_new_weights_[axis];
        forget_from(tree_.structure_.home(axis));
    }

    void forget_from(std::uint32_t clique) {
        std::fill(is_down_.begin(), is_down_.end(), std::uint8_t{0});
        is_down_lossy_ = false;
        for (std::int64_t c = clique; c >= 0 && c != CliqueTree::kNowhere;
             c = tree_.structure_.cliques()[static_cast<std::size_t>(c)].parent) {
            is_up_[static_cast<std::size_t>(c)] = 0;
        }
    }

    // The clique's factors, evidence and messages from below.
    double* fill(std::size_t c, const StopFlag& stop) {
        const JunctionTree::Maps& maps = tree_.maps_[c];
        double* const cells = keeps_tables_ ? tables_.data() + maps.first_cell : work_.data();
        bool is_filled = false;
        const auto multiply = [&](const Projection& map, const double* by) {
            if (!is_filled && kIsScaled) {
                map.template multiply_into<Semiring>(
                    cells, tree_.potentials_->data() + maps.first_cell, by, stop);
            } else {
                map.template multiply<Semiring>(cells, by, stop);
            }
            is_filled = true;
        };
        if constexpr (!kIsScaled) fill_logs(c, cells, stop);
        const Clique& clique = tree_.structure_.cliques()[c];
        for (std::size_t k = 0; k < clique.children.size(); ++k) {
            multiply(maps.children[k],
                     up_.data() + tree_.maps_[clique.children[k]].first_separator_cell);
        }
        for (std::size_t k = 0; k < maps.at_home.size(); ++k) {
            const Axis axis = maps.at_home[k];
            if (has_weights_[axis]) {
                multiply(maps.axes[k], weights_.data() + tree_.first_states_[axis]);
            }
        }
        if (!is_filled && kIsScaled) {
            const double* const from = tree_.potentials_->data() + maps.first_cell;
            for_pieces(maps.n_cells, stop, [&](std::size_t first, std::size_t n) {
                std::copy_n(from + first, n, cells + first);
            });
        }
        return cells;
    }

    void fill_logs(std::size_t c, double* cells, const StopFlag& stop) {
        const JunctionTree::Maps& maps = tree_.maps_[c];
        const double* const potential = tree_.potentials_->data() + maps.first_cell;
        const bool is_listed = !maps.listed.empty();  // then nothing underflowed
        for_pieces(maps.n_cells, stop, [&](std::size_t first, std::size_t n) {
            for (std::size_t i = first; i < first + n; ++i) {
                cells[i] = is_listed ? Semiring::from(potential[i]) : Semiring::kOne;
            }
        });
        if (is_listed) return;
        std::vector<double> logs;
        for (std::size_t k = 0; k < maps.factors.size(); ++k) {
            const std::span<const double> values = tree_.factors_[maps.factors[k]].values;
            logs.resize(values.size());
            for (std::size_t i = 0; i < values.size(); ++i) {
                if (i % (1u << 15) == 0) check(stop);
                logs[i] = tree_.are_logs_ ? values[i] : Semiring::from(values[i]);
            }
            maps.factor_maps[k].template multiply<Semiring>(cells, logs.data(), stop);
        }
    }

    void send_up(std::size_t c, const StopFlag& stop) {
        if (kIsScaled) std::feclearexcept(FE_UNDERFLOW);
        const JunctionTree::Maps& maps = tree_.maps_[c];
        const double* const cells = fill(c, stop);
        if (tree_.structure_.cliques()[c].parent < 0) {
            double total = Semiring::kZero;
            maps.separator.template add<Semiring>(&total, cells, stop);
            totals_[c] = total;
            scales_[c] = 0;
        } else {
            const std::span<double> message(up_.data() + maps.first_separator_cell,
                                            maps.n_separator_cells);
            fill_pieces(message.data(), message.size(), Semiring::kZero, stop);
            maps.separator.template add<Semiring>(message.data(), cells, stop);
            scales_[c] = scaled(message, stop);
        }
        is_up_lossy_[c] = kIsScaled && std::fetestexcept(FE_UNDERFLOW) ? 1 : 0;
        is_up_[c] = 1;
    }

    // Divide by the power of two below the largest, and return its exponent.
    static std::int64_t scaled(std::span<double> message, const StopFlag& stop) {
        if constexpr (!kIsScaled) {
            return 0;
        } else {
            double most = 0.0;
            for_pieces(message.size(), stop, [&](std::size_t first, std::size_t n) {
                for (const double value : message.subspan(first, n)) most = std::max(most, value);
            });
            if (most == 0.0 || (most >= 0.5 && most < 2.0)) return 0;
            const int exponent = std::max(std::ilogb(most), -1000);
            const double by = std::ldexp(1.0, -exponent);
            for_pieces(message.size(), stop, [&](std::size_t first, std::size_t n) {
                for (double& value : message.subspan(first, n)) value *= by;
            });
            return exponent;
        }
    }

    template <class Use>
    void visit(std::size_t c, const Use& use, const StopFlag& stop) {
        const Clique& clique = tree_.structure_.cliques()[c];
        bool is_asked = is_wanted_[c] == kUsed;
        for (const std::uint32_t child : clique.children) {
            is_asked = is_asked || (is_wanted_[child] && !is_down_[child]);
        }
        if (!is_asked) return;
        if (kIsScaled) std::feclearexcept(FE_UNDERFLOW);
        const JunctionTree::Maps& maps = tree_.maps_[c];
        const double* cells = keeps_tables_ ? table(c).data() : fill(c, stop);
        if (clique.parent >= 0) {
            maps.separator.template multiply_into<Semiring>(
                work_.data(), cells, down_.data() + maps.first_separator_cell, stop);
            cells = work_.data();
        }
        for (std::size_t k = 0; k < clique.children.size(); ++k) {
            const std::uint32_t child = clique.children[k];
            if (!is_wanted_[child] || is_down_[child]) continue;
            const JunctionTree::Maps& below = tree_.maps_[child];
            const std::span<double> message(down_.data() + below.first_separator_cell,
                                            below.n_separator_cells);
            fill_pieces(message.data(), message.size(), Semiring::kZero, stop);
            maps.children[k].template add<Semiring>(message.data(), cells, stop);
            const double* const up = up_.data() + below.first_separator_cell;
            for_pieces(message.size(), stop, [&](std::size_t first, std::size_t n) {
                for (std::size_t i = first; i < first + n; ++i) {
                    message[i] = Semiring::over(message[i], up[i]);
                }
            });
            scaled(message, stop);
            is_down_[child] = 1;
        }
        if (is_wanted_[c] == kUsed) use(c, cells);
        if (kIsScaled && std::fetestexcept(FE_UNDERFLOW)) is_down_lossy_ = true;
    }

    const JunctionTree& tree_;
    const bool keeps_tables_;
    Cells<double> tables_;
    Cells<double> work_;
    Cells<double> up_;
    Cells<double> down_;
    std::vector<std::int64_t> scales_;  // of the messages up
    std::vector<double> totals_;        // of roots
    std::vector<std::uint8_t> is_up_;
    std::vector<std::uint8_t> is_down_;
    std::vector<std::uint8_t> is_up_lossy_;
    std::vector<std::uint8_t> is_wanted_;
    std::vector<double> weights_;  // of the states of every axis
    std::vector<double> new_weights_;
    std::vector<std::uint8_t> has_weights_;
    std::vector<std::uint8_t> has_new_weights_;
    double constant_ = Semiring::kOne;
    bool is_down_lossy_ = false;
};

}  // namespace bestdag
