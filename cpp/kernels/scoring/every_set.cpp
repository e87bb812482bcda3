#include "scoring/every_set.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>

#include "base/philox.hpp"
#include "special/lookup.hpp"

namespace bestdag {

namespace {

// The walk decides column after column, from the first place on, whether it is in the set. Where a
// column is left out, rows that no later column tells apart become one; where it is taken in, cells
// are split. A row that is alone in its cell stays alone whatever follows: its weight is a count of
// every set below, and it is not looked at again. So the rows that are left dwindle from both
// sides.

constexpr std::size_t kSmallCounts = 64;  // counts below this are tallied, the others listed
constexpr std::size_t kTaskColumns = 8;   // decided by the number of a task
constexpr std::size_t kTailColumns = 10;  // filled in one loop where no row is left
constexpr double kMaxShapes = 1u << 20;   // multisets of arities: each has a constant
constexpr double kMaxSizedShapes = 1u << 14;
constexpr std::size_t kMaxRemembered = std::size_t{1} << 22;  // doubles, for terms of larger counts
constexpr std::size_t kRowsAtOnce = 1u << 16;  // collapsed between two looks at the stop flag
constexpr int kPaths = 64;                     // walked through to estimate the work
constexpr double kSplitSteps = 3.0;            // splitting cells by more than two states, per row
constexpr double kLeafSteps = 20.0;            // what a set takes beside its rows, in rows
constexpr std::uint32_t kFirst = 255;          // "differs" of the first row of a cell
constexpr double kSlack = 1e-9;                // what rounding may do to a score, of its size
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class Weight>
struct Row {
    std::uint32_t number;   // among the distinct rows
    std::uint32_t differs;  // the last place at which it differs from the row before in its cell
    Weight weight;
};

// What is the same for all threads: the distinct rows, the places and the shapes.
template <class Weight>
struct Layout {
    const Table& table;
    std::size_t n;
    std::vector<std::size_t> column;  // at each place
    std::vector<std::vector<std::uint16_t>> codes;
    std::vector<Row<Weight>> rows;
    // The number of a shape is the sum of the strides of its columns; equal arities, equal strides.
    std::vector<std::size_t> stride;
    std::size_t n_shapes = 1;
    std::vector<double> n_cells;          // of each shape
    std::vector<std::size_t> tail_shape;  // of each set of the last places
    std::size_t n_tail;
    std::vector<std::size_t> arities;  // that occur, ascending

    Layout(const Table& table_, const StopFlag& stop) : table(table_), n(table_.n_columns()) {
        order_columns();
        collapse(stop);
        number_shapes();
    }

    std::size_t arity(std::size_t place) const { return table.column(column[place]).arity; }

private:
    // Columns that tell much come first: their cells are soon small. What is left at the end of a
    // walk, where most of the sets are, is then told apart by columns that tell little.
    void order_columns() {
        std::vector<double> entropy(n);
        for (std::size_t c = 0; c < n; ++c) entropy[c] = -table.marginal_n_log_n(c);
        column.resize(n);
        std::iota(column.begin(), column.end(), std::size_t{0});
        std::stable_sort(column.begin(), column.end(),
                         [&](std::size_t a, std::size_t b) { return entropy[a] > entropy[b]; });
    }

    double weight_of(std::size_t row) const {
        const Weights& weights = table.weights();
        if (weights.real) return weights.real[row];
        return weights.whole ? static_cast<double>(weights.whole[row]) : 1.0;
    }

    // Sort by the last place, then the one before and so on; equal rows become one.
    void collapse(const StopFlag& stop) {
        std::vector<std::uint32_t> order, sorted;
        for (std::size_t row = 0; row < table.n_rows(); ++row) {
            if (weight_of(row) > 0.0) order.push_back(static_cast<std::uint32_t>(row));
        }
        sorted.resize(order.size());
        std::vector<std::size_t> begin;
        for (std::size_t place = 0; place < n; ++place) {
            if (stop) return;
            const Column& codes_here = table.column(column[place]);
            begin.assign(codes_here.arity + 1, 0);
            for (const std::uint32_t row : order) ++begin[codes_here[row] + 1];
            std::partial_sum(begin.begin(), begin.end(), begin.begin());
            for (const std::uint32_t row : order) sorted[begin[codes_here[row]]++] = row;
            order.swap(sorted);
        }
        codes.resize(n);
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (i % kRowsAtOnce == 0 && stop) return;
            const std::uint32_t differs = i == 0 ? kFirst : last_difference(order[i - 1], order[i]);
            if (differs == kNone) {
                rows.back().weight += static_cast<Weight>(weight_of(order[i]));
                continue;
            }
            rows.push_back({static_cast<std::uint32_t>(rows.size()), differs,
                            static_cast<Weight>(weight_of(order[i]))});
            for (std::size_t place = 0; place < n; ++place) {
                codes[place].push_back(
                    static_cast<std::uint16_t>(table.column(column[place])[order[i]]));
            }
        }
    }

    static constexpr std::uint32_t kNone = 254;

    std::uint32_t last_difference(std::size_t a, std::size_t b) const {
        for (std::size_t place = n; place-- > 0;) {
            const Column& codes_here = table.column(column[place]);
            if (codes_here[a] != codes_here[b]) return static_cast<std::uint32_t>(place);
        }
        return kNone;
    }

    void number_shapes() {
        for (std::size_t place = 0; place < n; ++place) arities.push_back(arity(place));
        std::sort(arities.begin(), arities.end());
        std::vector<std::size_t> strides;
        std::vector<std::size_t> distinct;
        for (std::size_t i = 0; i < n;) {
            std::size_t j = i;
            while (j < n && arities[j] == arities[i]) ++j;
            distinct.push_back(arities[i]);
            strides.push_back(n_shapes);
            n_shapes *= j - i + 1;
            i = j;
        }
        arities = distinct;
        stride.resize(n);
        for (std::size_t place = 0; place < n; ++place) {
            const auto at = std::lower_bound(arities.begin(), arities.end(), arity(place));
            stride[place] = strides[static_cast<std::size_t>(at - arities.begin())];
        }
        n_cells.resize(n_shapes);
        for (std::size_t shape = 0; shape < n_shapes; ++shape) {
            double product = 1.0;
            std::size_t left = shape;
            for (std::size_t a = strides.size(); a-- > 0;) {
                for (std::size_t k = left / strides[a]; k > 0; --k) {
                    product *= static_cast<double>(arities[a]);
                }
                left %= strides[a];
            }
            n_cells[shape] = product;
        }
        n_tail = std::min(n, kTailColumns);
        tail_shape.assign(std::size_t{1} << n_tail, 0);
        for (std::size_t set = 1; set < tail_shape.size(); ++set) {
            const auto bit = static_cast<std::size_t>(std::countr_zero(set));
            tail_shape[set] = tail_shape[set & (set - 1)] + stride[n - 1 - bit];
        }
    }
};

double n_shapes_of(const Table& table) {
    std::vector<std::uint32_t> arities;
    for (std::size_t c = 0; c < table.n_columns(); ++c) arities.push_back(table.column(c).arity);
    std::sort(arities.begin(), arities.end());
    double shapes = 1.0;
    for (std::size_t i = 0; i < arities.size();) {
        std::size_t j = i;
        while (j < arities.size() && arities[j] == arities[i]) ++j;
        shapes *= static_cast<double>(j - i + 1);
        i = j;
    }
    return shapes;
}

// How often each count occurs among the cells of a set. Cells without rows count for nothing, so
// what need not be added may be added as 0: the loops below have no branches that are hard to
// guess.
template <class Weight>
struct Spectrum {
    std::array<std::int32_t, kSmallCounts> small{};
    std::vector<Weight> large;

    [[gnu::always_inline]] void add(Weight weight) {
        if constexpr (std::is_integral_v<Weight>) {
            if (weight < kSmallCounts) [[likely]] {
                ++small[weight];
                return;
            }
        }
        add_large(weight);
    }
    [[gnu::always_inline]] void add_if(bool flag, Weight weight) { add(flag ? weight : Weight{0}); }

    void copy(const Spectrum& other) {
        small = other.small;
        large.assign(other.large.begin(), other.large.end());
    }

private:
    [[gnu::noinline]] void add_large(Weight weight) {
        if (weight > Weight{0}) large.push_back(weight);
    }
};

// The terms of one function of counts, those of larger counts as they come.
class Terms {
public:
    template <class Compute>
    Terms(std::size_t n_remembered, const Compute& compute)
        : large_(n_remembered > kSmallCounts ? n_remembered - kSmallCounts : 0, kNaN) {
        small_[0] = 0.0;
        for (std::size_t count = 1; count < kSmallCounts; ++count) {
            small_[count] = compute(static_cast<double>(count));
        }
    }

    template <class Weight, class Compute>
    double sum(const Spectrum<Weight>& spectrum, const Compute& compute) {
        std::array<double, 4> parts{};  // additions that do not wait for each other
        for (std::size_t count = 0; count < kSmallCounts; count += parts.size()) {
            for (std::size_t k = 0; k < parts.size(); ++k) {
                parts[k] += static_cast<double>(spectrum.small[count + k]) * small_[count + k];
            }
        }
        double total = (parts[0] + parts[1]) + (parts[2] + parts[3]);
        for (const Weight count : spectrum.large) total += large(count, compute);
        return total;
    }

private:
    template <class Weight, class Compute>
    double large(Weight count, const Compute& compute) {
        if constexpr (std::is_integral_v<Weight>) {
            const std::size_t place = count - kSmallCounts;
            if (place < large_.size()) {
                if (std::isnan(large_[place])) large_[place] = compute(static_cast<double>(count));
                return large_[place];
            }
        }
        return compute(static_cast<double>(count));
    }

    std::array<double, kSmallCounts> small_;
    std::vector<double> large_;
};

// Rows in memory that is kept and not cleared.
template <class Weight>
class Rows {
public:
    void reserve(std::size_t size) {
        if (size <= capacity_) return;
        capacity_ = std::max(size, 2 * capacity_);
        data_.reset(new Row<Weight>[capacity_]);
    }
    void set_size(std::size_t size) noexcept { size_ = size; }
    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    Row<Weight>* data() const noexcept { return data_.get(); }
    const Row<Weight>& operator[](std::size_t i) const noexcept { return data_[i]; }
    const Row<Weight>* begin() const noexcept { return data_.get(); }
    const Row<Weight>* end() const noexcept { return data_.get() + size_; }

private:
    std::unique_ptr<Row<Weight>[]> data_;
    std::size_t size_ = 0, capacity_ = 0;
};

// One thread's walk.
template <class Weight>
class Walk {
public:
    Walk(const Layout<Weight>& layout, const Kernel& kernel, SetValues& values, bool leave_out,
         const StopFlag& stop)
        : layout_(layout),
          values_(values),
          stop_(stop),
          evaluator_(kernel.evaluator(layout.table, stop)),
          is_sized_(evaluator_->has_sized_terms()),
          levels_(layout.n + 1),
          constants_(layout.n_shapes, kNaN),
          filled_(layout.n_shapes, 0),
          fill_values_(layout.n_shapes) {
        const double most = layout.table.total_weight() + 1.0;
        const std::size_t n_tables = is_sized_ ? layout.n_shapes : 1;
        const double each = static_cast<double>(kMaxRemembered / n_tables);
        n_remembered_ = static_cast<std::size_t>(std::min(most, each));
        joint_terms_.resize(n_tables);
        if (values.by_arity) {
            for (const std::size_t arity : layout.arities) {
                row_terms_.emplace_back(n_remembered_, [&](double count) {
                    return evaluator_->row_term(count, arity);
                });
            }
        }
        take(layout_.rows, levels_[0]);
        if (leave_out && !values.by_arity) find_hopeless();
    }

    // All sets whose first n_fixed places are as the bits of `task` say, the first place highest.
    void run(std::size_t task, std::size_t n_fixed) {
        std::size_t shape = 0;
        for (std::size_t place = 0; place < n_fixed; ++place) {
            if ((task >> (n_fixed - 1 - place)) & 1u) {
                include(place);
                shape += layout_.stride[place];
            } else {
                exclude(place);
            }
        }
        visit(n_fixed, task, shape);
    }

    // Rows looked at on a random path, each level counted as often as there are such levels.
    double random_path(PhiloxKey key, std::uint64_t number) {
        double steps = 0.0;
        std::size_t shape = 0;
        for (std::size_t place = 0; place < layout_.n; ++place) {
            const auto n_rows = static_cast<double>(levels_[place].rows.size());
            const double splitting = layout_.arity(place) == 2 ? 1.0 : kSplitSteps;
            steps +=
                std::exp2(static_cast<double>(place)) * ((1.0 + splitting) * n_rows + kLeafSteps);
            if (place + 1 == layout_.n) break;
            const bool is_in = philox4x64(key, number * layout_.n + place)[0] & 1u;
            is_in ? include(place) : exclude(place);
            shape += is_in ? layout_.stride[place] : 0;
            if (levels_[place + 1].rows.empty() || is_hopeless(shape)) break;
        }
        return steps;
    }

private:
    struct Level {
        Rows<Weight> rows;        // of cells that hold two or more
        Spectrum<Weight> counts;  // of the other cells
    };

    void take(const std::vector<Row<Weight>>& rows, Level& level) {
        if (rows.size() > 1) {
            level.rows.reserve(rows.size());
            std::copy(rows.begin(), rows.end(), level.rows.data());
            level.rows.set_size(rows.size());
        } else {
            for (const Row<Weight>& row : rows) level.counts.add(row.weight);
        }
    }

    // Shapes of sets in which no family reaches the score of its child without parents, nor in any
    // larger set: whichever member is the child, or none of them.
    void find_hopeless() {
        const std::size_t n = layout_.n;
        std::vector<double> alone(n);
        for (std::size_t place = 0; place < n; ++place) {
            std::vector<Weight> counts(layout_.arity(place), Weight{0});
            for (const Row<Weight>& row : layout_.rows) {
                counts[layout_.codes[place][row.number]] += row.weight;
            }
            const auto states = static_cast<double>(layout_.arity(place));
            double value = evaluator_->set_constant(states);
            for (const Weight count : counts) {
                value += evaluator_->cell_term(static_cast<double>(count), states);
            }
            alone[place] = value - evaluator_->set_constant(1.0) -
                           evaluator_->cell_term(layout_.table.total_weight(), 1.0);
        }
        hopeless_.resize(layout_.n_shapes);
        for (std::size_t shape = 0; shape < layout_.n_shapes; ++shape) {
            bool has_hope = false;
            for (std::size_t place = 0; place < n && !has_hope; ++place) {
                const std::size_t arity = layout_.arity(place);
                const Family family{layout_.column[place], {}};
                const FamilyShape of{layout_.table, family,
                                     layout_.n_cells[shape] / static_cast<double>(arity), arity,
                                     layout_.table.total_weight()};
                has_hope = !(evaluator_->most(of) < alone[place] - kSlack * std::abs(alone[place]));
            }
            hopeless_[shape] = !has_hope;
        }
    }

    bool is_hopeless(std::size_t shape) const { return !hopeless_.empty() && hopeless_[shape]; }

    void exclude(std::size_t place) {
        Level& next = start_level(place);
        Stream stream(next.rows.data());
        for (const Row<Weight>& row : levels_[place].rows) {
            stream.take(row, row.differs == place, next.counts);
        }
        next.rows.set_size(stream.end(next.counts));
    }

    void include(std::size_t place) {
        Level& next = start_level(place);
        if (layout_.arity(place) == 2) {
            split_in_two(levels_[place].rows, layout_.codes[place].data(), next);
            return;
        }
        const Rows<Weight>& rows = levels_[place].rows;
        Row<Weight>* out = next.rows.data();
        for (std::size_t begin = 0; begin < rows.size();) {
            std::size_t end = begin + 1;
            while (end < rows.size() && rows[end].differs != kFirst) ++end;
            out = split({rows.data() + begin, end - begin}, layout_.codes[place].data(),
                        layout_.arity(place), next.counts, out);
            begin = end;
        }
        next.rows.set_size(static_cast<std::size_t>(out - next.rows.data()));
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
        explicit Stream(Row<Weight>* out) : out_(out), begin_(out) {}

        // `joins`: the row becomes one with the one before.
        [[gnu::always_inline]] void take(const Row<Weight>& row, bool joins,
                                         Spectrum<Weight>& counts) {
            const bool was_alone = row.differs == kFirst && last_.differs == kFirst;
            *out_ = last_;
            counts.add_if(was_alone, last_.weight);
            out_ += !(joins | was_alone);
            last_.weight = row.weight + (joins ? last_.weight : Weight{0});
            last_.number = joins ? last_.number : row.number;
            last_.differs = joins ? last_.differs : row.differs;
        }

        // How many rows there are in the end.
        std::size_t end(Spectrum<Weight>& counts) {
            const bool is_alone = last_.differs == kFirst;
            *out_ = last_;
            counts.add_if(is_alone, last_.weight);
            out_ += !is_alone;
            return static_cast<std::size_t>(out_ - begin_);
        }

    private:
        Row<Weight>* out_;
        Row<Weight>* begin_;
        Row<Weight> last_{0, kFirst, Weight{0}};
    };

    // The parts keep their order; a row's `differs` becomes the largest of those passed since the
    // row before it in its part, and kFirst for the first of a part. Cells may change their order:
    // the second parts come after all the first ones.
    void split_in_two(const Rows<Weight>& rows, const std::uint16_t* codes, Level& next) {
        aside_.reserve(rows.size() + 1);
        Row<Weight>* const outs[2] = {next.rows.data(), aside_.data()};
        std::size_t n_out[2] = {0, 0};
        Row<Weight> last[2] = {{0, kFirst, Weight{0}}, {0, kFirst, Weight{0}}};
        std::uint32_t passed0 = kFirst, passed1 = kFirst;
        for (const Row<Weight>& row : rows) {
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

    Row<Weight>* split(std::span<const Row<Weight>> cell, const std::uint16_t* codes,
                       std::size_t arity, Spectrum<Weight>& counts, Row<Weight>* out) {
        if (parts_.size() < arity) parts_.resize(arity);
        seen_.clear();
        for (const Row<Weight>& row : cell) {
            Part& part = parts_[codes[row.number]];
            if (part.size++ == 0) seen_.push_back(codes[row.number]);
        }
        for (const std::uint16_t code : seen_) {
            Part& part = parts_[code];
            part.out = out;
            part.passed = kFirst;
            out += part.size > 1 ? part.size : 0;
        }
        for (const Row<Weight>& row : cell) {
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

    void visit(std::size_t place, std::size_t set, std::size_t shape) {
        if (is_hopeless(shape)) {
            const std::size_t n_left = layout_.n - place;
            std::fill_n(values_.joint->data() + (set << n_left), std::size_t{1} << n_left,
                        -std::numeric_limits<double>::infinity());
            return;
        }
        if (levels_[place].rows.empty()) {
            fill(place, set, shape);
            return;
        }
        if (place + 2 == layout_.n && layout_.arity(place) == 2) {
            finish_two(set, shape);
            return;
        }
        if (place + 1 == layout_.n) {
            finish_one(set, shape);
            return;
        }
        if (place + 6 <= layout_.n && stop_) return;
        exclude(place);
        visit(place + 1, 2 * set, shape);
        include(place);
        visit(place + 1, 2 * set + 1, shape + layout_.stride[place]);
    }

    // The last place: without it each cell is one, with it each row is.
    void finish_one(std::size_t set, std::size_t shape) {
        const Level& level = levels_[layout_.n - 1];
        Spectrum<Weight>&without = ends_[0], &with = ends_[1];
        without.copy(level.counts);
        with.copy(level.counts);
        const Row<Weight>* const rows = level.rows.data();
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
        put(2 * set, shape, without);
        put(2 * set + 1, shape + layout_.stride[layout_.n - 1], with);
    }

    // The last two places at once, where most of the time goes; the first of them has two states.
    // Rows of a cell come in runs with the same code at the last place.
    void finish_two(std::size_t set, std::size_t shape) {
        const std::size_t place = layout_.n - 2;
        const Level& level = levels_[place];
        for (Spectrum<Weight>& end : ends_) end.copy(level.counts);
        Spectrum<Weight>&neither = ends_[0], &last = ends_[1], &first = ends_[2], &both = ends_[3];
        const std::uint16_t* const codes = layout_.codes[place].data();
        Weight total{0}, run{0}, zeros{0}, ones{0};  // of the cell, of the run, of either code
        for (const Row<Weight>& row : level.rows) {
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
        const std::size_t of_first = shape + layout_.stride[place];
        put(4 * set, shape, neither);
        put(4 * set + 1, shape + layout_.stride[place + 1], last);
        put(4 * set + 2, of_first, first);
        put(4 * set + 3, of_first + layout_.stride[place + 1], both);
    }

    void put(std::size_t set, std::size_t shape, const Spectrum<Weight>& counts) {
        values_.joint->data()[set] = joint_sum(shape, counts) + constant(shape);
        for (std::size_t a = 0; a < row_terms_.size(); ++a) {
            values_.given[a]->data()[set] = row_sum(a, counts);
        }
    }

    // No row is left: the places that follow change the number of cells only.
    void fill(std::size_t place, std::size_t set, std::size_t shape) {
        const std::size_t n_left = layout_.n - place;
        if (n_left > layout_.n_tail) {
            if (stop_) return;
            Level& next = levels_[place + 1];
            next.rows.set_size(0);
            next.counts.copy(levels_[place].counts);
            fill(place + 1, 2 * set, shape);
            next.counts.copy(levels_[place].counts);
            fill(place + 1, 2 * set + 1, shape + layout_.stride[place]);
            return;
        }
        const Spectrum<Weight>& counts = levels_[place].counts;
        const std::size_t n_sets = std::size_t{1} << n_left;
        const std::size_t first = set << n_left;
        double* const joint = values_.joint->data() + first;
        const double common = is_sized_ ? 0.0 : joint_sum(shape, counts);
        ++fill_;
        for (std::size_t k = 0; k < n_sets; ++k) {
            const std::size_t here = shape + layout_.tail_shape[k];
            if (filled_[here] != fill_) {
                filled_[here] = fill_;
                fill_values_[here] =
                    (is_sized_ ? joint_sum(here, counts) : common) + constant(here);
            }
            joint[k] = fill_values_[here];
        }
        for (std::size_t a = 0; a < row_terms_.size(); ++a) {
            std::fill_n(values_.given[a]->data() + first, n_sets, row_sum(a, counts));
        }
    }

    double joint_sum(std::size_t shape, const Spectrum<Weight>& counts) {
        std::unique_ptr<Terms>& terms = joint_terms_[is_sized_ ? shape : 0];
        const auto compute = [&](double count) {
            return evaluator_->cell_term(count, layout_.n_cells[shape]);
        };
        if (!terms) terms = std::make_unique<Terms>(n_remembered_, compute);
        return terms->sum(counts, compute);
    }

    double row_sum(std::size_t a, const Spectrum<Weight>& counts) {
        return row_terms_[a].sum(
            counts, [&](double count) { return evaluator_->row_term(count, layout_.arities[a]); });
    }

    double constant(std::size_t shape) {
        double& value = constants_[shape];
        if (std::isnan(value)) value = evaluator_->set_constant(layout_.n_cells[shape]);
        return value;
    }

    struct Part {
        std::size_t size = 0;
        Row<Weight>* out = nullptr;
        std::uint32_t passed = 0;
    };

    const Layout<Weight>& layout_;
    SetValues& values_;
    const StopFlag& stop_;
    std::unique_ptr<Evaluator> evaluator_;
    const bool is_sized_;
    std::vector<std::uint8_t> hopeless_;  // by shape; empty where all sets are counted
    std::vector<Level> levels_;
    std::vector<double> constants_;
    std::vector<std::uint64_t> filled_;  // the fill that last worked out each shape
    std::vector<double> fill_values_;
    std::uint64_t fill_ = 0;
    std::size_t n_remembered_ = 0;
    std::vector<std::unique_ptr<Terms>> joint_terms_;  // by shape, or one for all
    std::vector<Terms> row_terms_;                     // by arity
    std::array<Spectrum<Weight>, 4> ends_;             // of the sets that end a walk
    Rows<Weight> aside_;
    std::vector<Part> parts_;
    std::vector<std::uint16_t> seen_;
};

// Call use(Weight{}): whole numbers of 32 bits where counts fit, else double.
template <class Use>
void with_weight_type(const Table& table, const Use& use) {
    if (!table.weights().real && table.total_weight() < 4294967295.0) {
        use(std::uint32_t{});
    } else {
        use(double{});
    }
}

// Work for the calling thread to wait for, so that it hears when to stop.
void aside(const Table& table, const Execution& execution,
           const std::function<void(const StopFlag&)>& work) {
    const double expected = 50.0 * static_cast<double>(table.n_rows() * table.n_columns());
    parallel_for(1, expected, execution, [&](std::size_t, const StopFlag& stop) { work(stop); });
}

bool has_set_form(const Table& table, const Kernel& kernel) {
    const std::size_t n = table.n_columns();
    if (n < 1 || n > kMaxEverySetColumns || kernel.traits().may_refuse) return false;
    const StopFlag stop = false;
    const auto evaluator = kernel.evaluator(table, stop);
    const double most = evaluator->has_sized_terms() ? kMaxSizedShapes : kMaxShapes;
    return evaluator->set_form() != SetForm::none && n_shapes_of(table) <= most;
}

std::size_t n_arrays(const SetValues& values) { return 1 + values.given.size(); }

// Everything but the values.
template <class Weight>
SetValues outline(const Layout<Weight>& layout, bool by_arity) {
    SetValues values;
    values.by_arity = by_arity;
    for (std::size_t bit = 0; bit < layout.n; ++bit) {
        const std::size_t place = layout.n - 1 - bit;
        values.column_of_bit.push_back(layout.column[place]);
        values.arity_of_bit.push_back(layout.arity(place));
        const auto at =
            std::lower_bound(layout.arities.begin(), layout.arities.end(), layout.arity(place));
        values.given_of_bit.push_back(static_cast<std::size_t>(at - layout.arities.begin()));
    }
    if (by_arity) values.given.resize(layout.arities.size());
    return values;
}

bool is_by_arity(const Table& table, const Kernel& kernel) {
    const StopFlag stop = false;
    return kernel.evaluator(table, stop)->set_form() == SetForm::by_arity;
}

}  // namespace

EverySetForecast forecast_every_set(const Table& table, const Kernel& kernel, bool leave_out,
                                    const Execution& execution) {
    EverySetForecast forecast;
    if (!has_set_form(table, kernel)) return forecast;
    forecast.is_possible = true;
    with_weight_type(table, [&](auto zero) {
        using Weight = decltype(zero);
        aside(table, execution, [&](const StopFlag& stop) {
            const Layout<Weight> layout(table, stop);
            SetValues values = outline(layout, is_by_arity(table, kernel));
            Walk<Weight> walk(layout, kernel, values, leave_out, stop);
            for (int path = 0; path < kPaths && !stop; ++path) {
                forecast.row_steps +=
                    walk.random_path({2006, 445}, static_cast<std::uint64_t>(path)) / kPaths;
            }
            const auto n = static_cast<double>(layout.n);
            const double rows = n * static_cast<double>(layout.rows.size() * sizeof(Row<Weight>));
            const double counts = static_cast<double>(kSmallCounts) + table.total_weight();
            const double terms = static_cast<double>(sizeof(double) * (1 + values.given.size())) *
                                 std::min(static_cast<double>(kMaxRemembered),
                                          static_cast<double>(layout.n_shapes) * counts);
            forecast.bytes = static_cast<double>(n_arrays(values)) * std::exp2(n) * sizeof(double) +
                             execution.threads * (rows + terms);
        });
    });
    return forecast;
}

SetValues every_set(const Table& table, const Kernel& kernel, bool leave_out,
                    const Execution& execution, const std::function<bool(double)>& progress) {
    SetValues values;
    with_weight_type(table, [&](auto zero) {
        using Weight = decltype(zero);
        std::optional<Layout<Weight>> made;
        aside(table, execution, [&](const StopFlag& stop) { made.emplace(table, stop); });
        const Layout<Weight>& layout = *made;
        values = outline(layout, is_by_arity(table, kernel));
        values.joint = std::make_unique<Cells<double>>(values.n_sets());
        for (auto& given : values.given) given = std::make_unique<Cells<double>>(values.n_sets());
        const std::size_t n_fixed = std::min(layout.n - 1, kTaskColumns);
        const std::size_t n_tasks = std::size_t{1} << n_fixed;
        std::atomic<std::size_t> next = 0;
        const Execution watched{
            execution.threads, [&] {
                const double done = static_cast<double>(std::min<std::size_t>(next, n_tasks));
                return (progress && progress(done / static_cast<double>(n_tasks))) ||
                       (execution.should_stop && execution.should_stop());
            }};
        const double expected = 20.0 * static_cast<double>(values.n_sets()) *
                                std::min(100.0, static_cast<double>(layout.rows.size()));
        const auto n_workers =
            std::min(n_tasks, static_cast<std::size_t>(std::max(1, execution.threads)));
        parallel_for(n_workers, expected, watched, [&](std::size_t, const StopFlag& stop) {
            Walk<Weight> walk(layout, kernel, values, leave_out, stop);
            for (std::size_t task; !stop && (task = next++) < n_tasks;) walk.run(task, n_fixed);
        });
    });
    return values;
}

}  // namespace bestdag
