// The rows that matter while a walk decides, column after column, which of them are in a set.
//
// Where a column is left out, rows that no later column tells apart become one; where it is taken
// in, cells are split. A row that is alone in its cell stays alone whatever follows: its weight is
// a count of every set below, and it is not looked at again. So fewer and fewer rows are left.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "scoring/count_spectrum.hpp"
#include "scoring/set_layout.hpp"

namespace bestdag {

// Rows in memory that is kept and not cleared.
template <class Weight>
class RowBuffer {
public:
    void reserve(std::size_t size) {
        if (size <= capacity_) return;
        capacity_ = std::max(size, 2 * capacity_);
        data_.reset(new DistinctRow<Weight>[capacity_]);
    }
    void set_size(std::size_t size) noexcept { size_ = size; }
    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    DistinctRow<Weight>* data() const noexcept { return data_.get(); }
    const DistinctRow<Weight>& operator[](std::size_t i) const noexcept { return data_[i]; }
    const DistinctRow<Weight>* begin() const noexcept { return data_.get(); }
    const DistinctRow<Weight>* end() const noexcept { return data_.get() + size_; }

private:
    std::unique_ptr<DistinctRow<Weight>[]> data_;
    std::size_t size_ = 0, capacity_ = 0;
};

// One thread's rows at every place of its walk.
template <class Weight>
class RowLevels {
public:
    struct Level {
        RowBuffer<Weight> rows;        // of cells that hold two or more
        CountSpectrum<Weight> counts;  // of the other cells
    };

    explicit RowLevels(const SetLayout<Weight>& layout) : layout_(layout), levels_(layout.n + 1) {
        take(layout.rows, levels_[0]);
    }

    // What is left when the places before this one are decided.
    const Level& operator[](std::size_t place) const noexcept { return levels_[place]; }

    // Leave the column at this place out.
    void exclude(std::size_t place) {
        Level& next = start_level(place);
        Stream stream(next.rows.data());
        for (const DistinctRow<Weight>& row : levels_[place].rows) {
            stream.take(row, row.differs == place, next.counts);
        }
        next.rows.set_size(stream.end(next.counts));
    }

    // Take the column at this place in.
    void include(std::size_t place) {
        Level& next = start_level(place);
        if (layout_.arity(place) == 2) {
            split_in_two(levels_[place].rows, layout_.codes[place].data(), next);
            return;
        }
        const RowBuffer<Weight>& rows = levels_[place].rows;
        DistinctRow<Weight>* out = next.rows.data();
        for (std::size_t begin = 0; begin < rows.size();) {
            std::size_t end = begin + 1;
            while (end < rows.size() && rows[end].differs != kFirst) ++end;
            out = split({rows.data() + begin, end - begin}, layout_.codes[place].data(),
                        layout_.arity(place), next.counts, out);
            begin = end;
        }
        next.rows.set_size(static_cast<std::size_t>(out - next.rows.data()));
    }

    // As if the column had been decided on where no row is left.
    void pass(std::size_t place) {
        Level& next = levels_[place + 1];
        next.rows.set_size(0);
        next.counts.copy(levels_[place].counts);
    }

private:
    void take(const std::vector<DistinctRow<Weight>>& rows, Level& level) {
        if (rows.size() > 1) {
            level.rows.reserve(rows.size());
            std::copy(rows.begin(), rows.end(), level.rows.data());
            level.rows.set_size(rows.size());
        } else {
            for (const DistinctRow<Weight>& row : rows) level.counts.add(row.weight);
        }
    }

    // The level after this place, with room for as many rows.
    Level& start_level(std::size_t place) {
        Level& next = levels_[place + 1];
        next.counts.copy(levels_[place].counts);
        next.rows.reserve(levels_[place].rows.size() + 1);
        return next;
    }

    // Rows written one after the other; those that turn out to be alone in their cell are counted
    // instead. The last one is held back until what follows is known.
    class Stream {
    public:
        explicit Stream(DistinctRow<Weight>* out) : out_(out), begin_(out) {}

        // `joins`: the row becomes one with the one before.
        [[gnu::always_inline]] void take(const DistinctRow<Weight>& row, bool joins,
                                         CountSpectrum<Weight>& counts) {
            const bool was_alone = row.differs == kFirst && last_.differs == kFirst;
            *out_ = last_;
            counts.add_if(was_alone, last_.weight);
            out_ += !(joins | was_alone);
            last_.weight = row.weight + (joins ? last_.weight : Weight{0});
            last_.number = joins ? last_.number : row.number;
            last_.differs = joins ? last_.differs : row.differs;
        }

        // How many rows there are in the end.
        std::size_t end(CountSpectrum<Weight>& counts) {
            const bool is_alone = last_.differs == kFirst;
            *out_ = last_;
            counts.add_if(is_alone, last_.weight);
            out_ += !is_alone;
            return static_cast<std::size_t>(out_ - begin_);
        }

    private:
        DistinctRow<Weight>* out_;
        DistinctRow<Weight>* begin_;
        DistinctRow<Weight> last_{0, kFirst, Weight{0}};
    };

    // The parts keep their order; a row's `differs` becomes the largest of those passed since the
    // row before it in its part, and kFirst for the first of a part. Cells may change their order:
    // the second parts come after all the first ones.
    void split_in_two(const RowBuffer<Weight>& rows, const std::uint16_t* codes, Level& next) {
        second_parts_.reserve(rows.size() + 1);
        DistinctRow<Weight>* const outs[2] = {next.rows.data(), second_parts_.data()};
        std::size_t n_out[2] = {0, 0};
        DistinctRow<Weight> last[2] = {{0, kFirst, Weight{0}}, {0, kFirst, Weight{0}}};
        std::uint32_t passed0 = kFirst, passed1 = kFirst;
        for (const DistinctRow<Weight>& row : rows) {
            const std::uint32_t code = codes[row.number];
            // kFirst is the largest: it stays until the part has a row.
            passed0 = std::max(passed0, row.differs);
            passed1 = std::max(passed1, row.differs);
            const std::uint32_t differs = code ? passed1 : passed0;
            passed1 = code ? 0 : passed1;
            passed0 = code ? passed0 : 0;
            const bool was_alone = differs == kFirst && last[code].differs == kFirst;
            outs[code][n_out[code]] = last[code];
            next.counts.add_if(was_alone, last[code].weight);
            n_out[code] += !was_alone;
            last[code] = {row.number, differs, row.weight};
        }
        for (std::size_t code = 0; code < 2; ++code) {
            const bool is_alone = last[code].differs == kFirst;
            outs[code][n_out[code]] = last[code];
            next.counts.add_if(is_alone, last[code].weight);
            n_out[code] += !is_alone;
        }
        next.rows.set_size(n_out[0] + n_out[1]);
        std::copy(outs[1], outs[1] + n_out[1], next.rows.data() + n_out[0]);
    }

    DistinctRow<Weight>* split(std::span<const DistinctRow<Weight>> cell,
                               const std::uint16_t* codes, std::size_t arity,
                               CountSpectrum<Weight>& counts, DistinctRow<Weight>* out) {
        if (parts_.size() < arity) parts_.resize(arity);
        seen_.clear();
        for (const DistinctRow<Weight>& row : cell) {
            Part& part = parts_[codes[row.number]];
            if (part.size++ == 0) seen_.push_back(codes[row.number]);
        }
        for (const std::uint16_t code : seen_) {
            Part& part = parts_[code];
            part.out = out;
            part.passed = kFirst;
            out += part.size > 1 ? part.size : 0;
        }
        for (const DistinctRow<Weight>& row : cell) {
            const std::uint32_t differs = row.differs == kFirst ? 0 : row.differs;
            for (const std::uint16_t code : seen_) {
                Part& part = parts_[code];
                part.passed = std::max(part.passed, differs);  // kFirst until it has a row
            }
            Part& part = parts_[codes[row.number]];
            if (part.size > 1) {
                *part.out++ = {row.number, part.passed, row.weight};
            } else {
                counts.add(row.weight);
            }
            part.passed = 0;
        }
        for (const std::uint16_t code : seen_) parts_[code].size = 0;
        return out;
    }

    struct Part {
        std::size_t size = 0;
        DistinctRow<Weight>* out = nullptr;
        std::uint32_t passed = 0;
    };

    const SetLayout<Weight>& layout_;
    std::vector<Level> levels_;
    RowBuffer<Weight> second_parts_;
    std::vector<Part> parts_;
    std::vector<std::uint16_t> seen_;
};

}  // namespace bestdag
