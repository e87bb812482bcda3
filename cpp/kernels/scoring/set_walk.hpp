// The walk over all sets of columns that works out the values of every_set.hpp.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/philox.hpp"
#include "scores/kernel.hpp"
#include "scoring/count_spectrum.hpp"
#include "scoring/every_set.hpp"
#include "scoring/row_levels.hpp"
#include "scoring/set_layout.hpp"
#include "scoring/set_terms.hpp"

namespace bestdag {

// One thread's walk, for one score or several: each set is counted once for all of them.
template <class Weight>
class SetWalk {
public:
    // As many values as kernels.
    SetWalk(const SetLayout<Weight>& layout, std::span<const Kernel> kernels,
            std::span<SetValues> values, bool leave_out, const StopFlag& stop)
        : layout_(layout), stop_(stop), levels_(layout), every_((Scores{1} << kernels.size()) - 1) {
        terms_.reserve(kernels.size());
        for (std::size_t k = 0; k < kernels.size(); ++k) {
            terms_.emplace_back(layout, kernels[k], values[k], leave_out, stop);
            has_limit_ |= terms_.back().has_limit();
        }
    }

    // All sets whose first n_fixed places are as the bits of `task` say, the first place highest.
    void run(std::size_t task, std::size_t n_fixed) {
        std::size_t shape = 0;
        for (std::size_t place = 0; place < n_fixed; ++place) {
            if ((task >> (n_fixed - 1 - place)) & 1u) {
                levels_.include(place);
                shape += layout_.shapes.stride(place);
            } else {
                levels_.exclude(place);
            }
        }
        visit(n_fixed, task, shape, every_);
    }

    // Rows looked at on a random path, each level counted as often as there are such levels.
    double random_path(PhiloxKey key, std::uint64_t number) {
        double steps = 0.0;
        std::size_t shape = 0, set = 0;
        for (std::size_t place = 0; place < layout_.n; ++place) {
            const auto n_rows = static_cast<double>(levels_[place].rows.size());
            const double splitting = layout_.arity(place) == 2 ? 1.0 : kSplitSteps;
            steps +=
                std::exp2(static_cast<double>(place)) * ((1.0 + splitting) * n_rows + kLeafSteps);
            if (place + 1 == layout_.n) break;
            const bool is_in = philox4x64(key, number * layout_.n + place)[0] & 1u;
            is_in ? levels_.include(place) : levels_.exclude(place);
            shape += is_in ? layout_.shapes.stride(place) : 0;
            set = 2 * set + is_in;
            if (levels_[place + 1].rows.empty() || wanted(place + 1, set, shape, every_) == 0)
                break;
        }
        return steps;
    }

private:
    static constexpr double kSplitSteps = 3.0;  // splitting cells by more than two states, per row
    static constexpr double kLeafSteps = 20.0;  // what a set takes beside its rows, in rows

    // Which of the scores, by bits.
    using Scores = std::uint32_t;

    template <class Use>
    void each(Scores scores, const Use& use) {
        for (Scores left = scores; left != 0; left &= left - 1) {
            use(terms_[static_cast<std::size_t>(std::countr_zero(left))]);
        }
    }

    // Those of the scores that do not leave out the sets that begin with this one: for their shape,
    // or because its columns already take too many values.
    Scores wanted(std::size_t place, std::size_t set, std::size_t shape, Scores scores) const {
        const bool may_be_beyond = has_limit_ && (set & (set - 1)) != 0;
        const std::size_t n_cells = may_be_beyond ? n_cells_at(place) : 0;
        Scores found = 0;
        for (Scores left = scores; left != 0; left &= left - 1) {
            const auto k = static_cast<std::size_t>(std::countr_zero(left));
            const bool is_out =
                terms_[k].is_excluded(shape) || (may_be_beyond && terms_[k].is_beyond(n_cells));
            if (!is_out) found |= Scores{1} << k;
        }
        return found;
    }

    // Cells that the columns taken in so far make; rows of a cell come together.
    std::size_t n_cells_at(std::size_t place) const {
        const auto& level = levels_[place];
        std::size_t n = level.counts.n_cells();
        for (const DistinctRow<Weight>& row : level.rows) n += row.differs == kFirst;
        return n;
    }

    void visit(std::size_t place, std::size_t set, std::size_t shape, Scores scores) {
        const Scores here = wanted(place, set, shape, scores);
        if (here != scores) {
            const std::size_t n_left = layout_.n - place;
            each(scores & ~here, [&](SetTerms<Weight>& terms) {
                terms.leave_out(set << n_left, std::size_t{1} << n_left);
            });
            if (here == 0) return;
        }
        if (levels_[place].rows.empty()) {
            fill(place, set, shape, here);
            return;
        }
        if (place + 2 == layout_.n && layout_.arity(place) == 2) {
            finish_two(set, shape, here);
            return;
        }
        if (place + 1 == layout_.n) {
            finish_one(set, shape, here);
            return;
        }
        if (place + 6 <= layout_.n && stop_) return;
        levels_.exclude(place);
        visit(place + 1, 2 * set, shape, here);
        levels_.include(place);
        visit(place + 1, 2 * set + 1, shape + layout_.shapes.stride(place), here);
    }

    // The last place: without it each cell is one, with it each row is.
    void finish_one(std::size_t set, std::size_t shape, Scores scores) {
        const auto& level = levels_[layout_.n - 1];
        CountSpectrum<Weight>&without = ends_[0], &with = ends_[1];
        without.copy(level.counts);
        with.copy(level.counts);
        const DistinctRow<Weight>* const rows = level.rows.data();
        const std::size_t n_rows = level.rows.size();
        for (std::size_t i = 0; i < n_rows;) {
            Weight total = rows[i].weight;
            with.add(rows[i].weight);
            for (++i; i < n_rows && rows[i].differs != kFirst; ++i) {
                total += rows[i].weight;
                with.add(rows[i].weight);
            }
            without.add(total);
        }
        put(2 * set, shape, without, scores);
        put(2 * set + 1, shape + layout_.shapes.stride(layout_.n - 1), with, scores);
    }

    // The last two places at once, where most of the time goes; the first of them has two states.
    // Rows of a cell come in runs with the same code at the last place.
    void finish_two(std::size_t set, std::size_t shape, Scores scores) {
        const std::size_t place = layout_.n - 2;
        const auto& level = levels_[place];
        for (CountSpectrum<Weight>& end : ends_) end.copy(level.counts);
        CountSpectrum<Weight>&neither = ends_[0], &last = ends_[1], &first = ends_[2],
        &both = ends_[3];
        const std::uint16_t* const codes = layout_.codes[place].data();
        Weight total{0}, run{0}, zeros{0}, ones{0};  // of the cell, of the run, of either code
        for (const DistinctRow<Weight>& row : level.rows) {
            const bool is_new = row.differs == kFirst;
            const bool joins = row.differs == place;
            both.add(row.weight);
            neither.add_if(is_new, total);
            first.add_if(is_new, zeros);
            first.add_if(is_new, ones);
            last.add_if(!joins, run);
            total = row.weight + (is_new ? Weight{0} : total);
            run = row.weight + (joins ? run : Weight{0});
            const bool code = codes[row.number] != 0;
            zeros = (is_new ? Weight{0} : zeros) + (code ? Weight{0} : row.weight);
            ones = (is_new ? Weight{0} : ones) + (code ? row.weight : Weight{0});
        }
        neither.add(total);
        first.add(zeros);
        first.add(ones);
        last.add(run);
        const std::size_t of_first = shape + layout_.shapes.stride(place);
        put(4 * set, shape, neither, scores);
        put(4 * set + 1, shape + layout_.shapes.stride(place + 1), last, scores);
        put(4 * set + 2, of_first, first, scores);
        put(4 * set + 3, of_first + layout_.shapes.stride(place + 1), both, scores);
    }

    void put(std::size_t set, std::size_t shape, const CountSpectrum<Weight>& counts,
             Scores scores) {
        each(scores, [&](SetTerms<Weight>& terms) { terms.put(set, shape, counts); });
    }

    // No row is left: the places that follow change the number of cells only.
    void fill(std::size_t place, std::size_t set, std::size_t shape, Scores scores) {
        const std::size_t n_left = layout_.n - place;
        if (n_left > layout_.n_tail) {
            if (stop_) return;
            levels_.pass(place);
            fill(place + 1, 2 * set, shape, scores);
            levels_.pass(place);
            fill(place + 1, 2 * set + 1, shape + layout_.shapes.stride(place), scores);
            return;
        }
        const CountSpectrum<Weight>& counts = levels_[place].counts;
        each(scores, [&](SetTerms<Weight>& terms) {
            terms.fill_tail(set << n_left, std::size_t{1} << n_left, shape, counts);
        });
    }

    const SetLayout<Weight>& layout_;
    const StopFlag& stop_;
    RowLevels<Weight> levels_;
    Scores every_;
    bool has_limit_ = false;  // of the values that the columns of a set may take
    std::vector<SetTerms<Weight>> terms_;
    std::array<CountSpectrum<Weight>, 4> ends_;  // of the sets that end a walk
};

}  // namespace bestdag
