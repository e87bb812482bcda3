#include "exact/whole_dp.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "base/cells.hpp"
#include "exact/subset_program.hpp"

namespace bestdag {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kWithinBits = 10;    // of a block: 8 KiB per variable
constexpr std::size_t kTopBits = 4;        // enough tasks for some threads
constexpr std::size_t kFewVariables = 14;  // one task below this
constexpr std::size_t kTaskBits = 22;      // at most so many bits in a task
constexpr double kNanosecondsPerCell = 60.0;
constexpr std::size_t kBlocksPerPiece = 64;

struct Bits {
    std::size_t within, middle, top;

    explicit Bits(std::size_t n) {
        top = n < kFewVariables ? 0 : std::max(kTopBits, n > kTaskBits ? n - kTaskBits : 0);
        within = std::min(n - top, kWithinBits);
        middle = n - top - within;
    }
    std::size_t block_cells() const { return std::size_t{1} << within; }
    std::size_t task_blocks() const { return std::size_t{1} << middle; }
};

std::uint64_t bit(std::size_t place) { return std::uint64_t{1} << place; }

}  // namespace

WholeProgram::WholeProgram(const Table& table, const Kernel& kernel, const SetValues& values,
                           std::vector<ParentRules> rules)
    : values_(values), n_(values.n()), within_(Bits(values.n()).within) {
    if (rules.size() != n_) throw std::invalid_argument("one rule for each column");
    bit_of_column_.resize(n_);
    for (std::size_t b = 0; b < n_; ++b) bit_of_column_[values.column_of_bit[b]] = b;
    const auto moved = [&](std::uint64_t columns) {
        std::uint64_t bits = 0;
        for (std::size_t c = 0; c < n_; ++c) {
            if (columns & bit(c)) bits |= bit(bit_of_column_[c]);
        }
        return bits;
    };
    for (std::size_t b = 0; b < n_; ++b) {
        const ParentRules& rule = rules[values.column_of_bit[b]];
        ParentRules own{moved(rule.required),
                        moved(rule.allowed | rule.required) & ~bit(b),
                        rule.max_parents,
                        rule.bonus,
                        {}};
        if (!rule.bonuses.empty()) {
            own.bonuses.resize(n_);
            for (std::size_t p = 0; p < n_; ++p) {
                own.bonuses[p] = rule.bonuses[values.column_of_bit[p]];
            }
        }
        rules_.push_back(std::move(own));
    }
    const std::size_t n_low = std::size_t{1} << within_;
    low_size_.resize(n_low);
    for (std::size_t s = 0; s < n_low; ++s) {
        low_size_[s] = static_cast<std::uint8_t>(std::popcount(s));
    }
    low_terms_.resize(n_);
    for (std::size_t b = 0; b < n_; ++b) {
        const ParentRules& rule = rules_[b];
        const std::uint64_t low = n_low - 1;
        if (rule.bonuses.empty() && (rule.required & low) == 0 && (~rule.allowed & low) == 0) {
            continue;
        }
        low_terms_[b].assign(n_low, 0.0);
        for (std::size_t s = 0; s < n_low; ++s) {
            double& term = low_terms_[b][s];
            if ((s & ~rule.allowed) != 0 || (rule.required & low & ~s) != 0) {
                term = -kInfinity;
                continue;
            }
            for (std::uint64_t left = rule.bonuses.empty() ? 0 : s; left != 0; left &= left - 1) {
                term += rule.bonuses[static_cast<std::size_t>(std::countr_zero(left))];
            }
        }
    }
    const StopFlag stop = false;
    const auto evaluator = kernel.evaluator(table, stop);
    if (!evaluator->has_beside()) return;
    number_shapes();
    std::vector<std::int32_t> parents;
    for (std::size_t b = 0; b < n_; ++b) {
        beside_.emplace_back(n_shapes_, 0.0);
        for (std::size_t shape = 0; shape < n_shapes_; ++shape) {
            if (!parents_of_shape(shape, b, parents)) continue;
            const Family family{values_.column_of_bit[b], parents};
            beside_[b][shape] = evaluator->beside_sets(shape_of(table, family));
        }
    }
}

// Parents of equal arities are alike: each multiset of arities has a number.
void WholeProgram::number_shapes() {
    std::vector<std::size_t> arities(values_.arity_of_bit);
    std::sort(arities.begin(), arities.end());
    arities.erase(std::unique(arities.begin(), arities.end()), arities.end());
    shape_stride_.assign(n_, 0);
    n_shapes_ = 1;
    for (const std::size_t arity : arities) {
        std::size_t alike = 0;
        for (std::size_t b = 0; b < n_; ++b) {
            if (values_.arity_of_bit[b] != arity) continue;
            shape_stride_[b] = static_cast<std::uint32_t>(n_shapes_);
            ++alike;
        }
        n_shapes_ *= alike + 1;
    }
    low_shape_.assign(std::size_t{1} << within_, 0);
    for (std::size_t s = 1; s < low_shape_.size(); ++s) {
        low_shape_[s] =
            low_shape_[s & (s - 1)] + shape_stride_[static_cast<std::size_t>(std::countr_zero(s))];
    }
}

// Some columns other than the child that make up a shape, ascending; false when there are none.
bool WholeProgram::parents_of_shape(std::size_t shape, std::size_t child,
                                    std::vector<std::int32_t>& parents) const {
    std::vector<std::size_t> by_stride(n_);
    std::iota(by_stride.begin(), by_stride.end(), std::size_t{0});
    std::stable_sort(by_stride.begin(), by_stride.end(), [&](std::size_t a, std::size_t b) {
        return shape_stride_[a] > shape_stride_[b];
    });
    parents.clear();
    for (const std::size_t b : by_stride) {
        if (b == child || shape < shape_stride_[b]) continue;
        shape -= shape_stride_[b];
        parents.push_back(static_cast<std::int32_t>(values_.column_of_bit[b]));
    }
    std::sort(parents.begin(), parents.end());
    return shape == 0;
}

double WholeProgram::score(std::size_t column, std::uint64_t parents) const {
    const std::size_t child = bit_of_column_.at(column);
    std::uint64_t set = 0;
    for (std::size_t c = 0; c < n_; ++c) {
        if (parents & bit(c)) set |= bit(bit_of_column_[c]);
    }
    std::vector<double> block(std::size_t{1} << within_);
    if (!block_scores(child, set >> within_, block.data())) return -kInfinity;
    return block[set & (block.size() - 1)];
}

// The scores of a child for all sets with these higher bits; false when none is allowed.
bool WholeProgram::block_scores(std::size_t child, std::uint64_t high, double* out) const {
    const ParentRules& rule = rules_[child];
    const std::size_t n_low = std::size_t{1} << within_;
    const auto n_high = static_cast<std::size_t>(std::popcount(high));
    if ((high & ~(rule.allowed >> within_)) != 0 || ((rule.required >> within_) & ~high) != 0 ||
        n_high > rule.max_parents) {
        return false;
    }
    const double* const given = values_.of_parents(child) + (high << within_);
    double base = rule.bonus;
    std::size_t shape = 0;
    for (std::uint64_t left = high; left != 0; left &= left - 1) {
        const std::size_t parent = within_ + static_cast<std::size_t>(std::countr_zero(left));
        if (!rule.bonuses.empty()) base += rule.bonuses[parent];
        if (!beside_.empty()) shape += shape_stride_[parent];
    }
    if (child >= within_) {
        const double* const joint =
            values_.joint->data() + ((high | bit(child - within_)) << within_);
        for (std::size_t s = 0; s < n_low; ++s) out[s] = joint[s] - given[s];
    } else {
        const double* const joint = values_.joint->data() + (high << within_);
        const std::size_t own = std::size_t{1} << child;
        for (std::size_t first = 0; first < n_low; first += 2 * own) {
            for (std::size_t s = first; s < first + own; ++s) {
                out[s] = joint[s + own] - given[s];
                out[s + own] = 0.0;  // not allowed, see low_terms_
            }
        }
    }
    if (base != 0.0) {
        for (std::size_t s = 0; s < n_low; ++s) out[s] += base;
    }
    if (!beside_.empty()) {
        const double* const beside = beside_[child].data() + shape;
        for (std::size_t s = 0; s < n_low; ++s) out[s] += beside[low_shape_[s]];
    }
    if (!low_terms_[child].empty()) {
        const double* const terms = low_terms_[child].data();
        for (std::size_t s = 0; s < n_low; ++s) out[s] += terms[s];
    }
    if (n_high + within_ > rule.max_parents) {
        for (std::size_t s = 0; s < n_low; ++s) {
            if (n_high + low_size_[s] > rule.max_parents) out[s] = -kInfinity;
        }
    }
    return true;
}

std::vector<double> WholeProgram::best_scores(const Execution& execution) const {
    const std::size_t n_high = std::size_t{1} << (n_ - within_);
    const std::size_t n_low = std::size_t{1} << within_;
    const std::size_t n_pieces = (n_high + kBlocksPerPiece - 1) / kBlocksPerPiece;
    std::vector<double> best(n_, -kInfinity);
    std::mutex mutex;
    const double expected = static_cast<double>(n_ * n_high * n_low);
    parallel_for(n_pieces, expected, execution, [&](std::size_t piece, const StopFlag& stop) {
        std::vector<double> block(n_low), own(n_, -kInfinity);
        const std::size_t end = std::min(n_high, (piece + 1) * kBlocksPerPiece);
        for (std::size_t high = piece * kBlocksPerPiece; high < end && !stop; ++high) {
            for (std::size_t child = 0; child < n_; ++child) {
                if (!block_scores(child, high, block.data())) continue;
                double most = own[child];
                for (const double score : block) most = score > most ? score : most;
                own[child] = most;
            }
        }
        const std::lock_guard lock(mutex);
        for (std::size_t child = 0; child < n_; ++child) {
            double& column = best[values_.column_of_bit[child]];
            column = std::max(column, own[child]);
        }
    });
    return best;
}

// One thread's way through the blocks of a task.
class WholeWalk {
public:
    WholeWalk(const WholeProgram& program, const BlockLoops<double>& loops,
              const std::vector<std::uint16_t>& order, std::span<const double> best, double units,
              double limit, double* cells)
        : p_(program),
          n_(program.n_),
          bits_(program.n_),
          loops_(loops),
          order_(order),
          best_(best),
          units_(units),
          limit_(limit),
          cells_(cells),
          gathered_(n_ << (bits_.within + bits_.middle)),
          halves_(n_ << (bits_.within + bits_.middle)),
          scratch_(bits_.block_cells()),
          here_((bits_.middle + 1) * n_, nullptr) {}

    void run(std::uint64_t top, std::atomic<std::size_t>& blocks_done, const StopFlag& stop) {
        top_ = top;
        blocks_done_ = &blocks_done;
        stop_ = &stop;
        for (std::size_t v = 0; v < n_ && !stop; ++v) {
            if (!is_needed(v, 0, bits_.middle)) continue;
            gather(v);
            pointers(bits_.middle)[v] = storage(gathered_, v, bits_.middle);
        }
        descend(bits_.middle, 0);
    }

private:
    const double** pointers(std::size_t level) { return here_.data() + level * n_; }

    static double* at(const Cells<double>& cells, std::size_t offset) {
        return cells.data() + offset;
    }
    double* storage(const Cells<double>& cells, std::size_t v, std::size_t level) const {
        return at(cells, v << (bits_.within + level));
    }
    // The arrays of level b have 2^(within + b) cells for each variable; smaller ones come first.
    double* half(std::size_t v, std::size_t level) const {
        return at(halves_, (n_ << bits_.within) * ((std::size_t{1} << level) - 1) +
                               (v << (bits_.within + level)));
    }

    // Whether v matters where the middle bits from `level` on are those of `middle`.
    bool is_needed(std::size_t v, std::uint64_t middle, std::size_t level) const {
        if (v < bits_.within) return true;
        const std::size_t above = v - bits_.within;
        if (above >= bits_.middle) return (top_ & bit(above - bits_.middle)) != 0;
        return above < level || (middle & bit(above)) != 0;
    }

    // For each choice of the other bits, the least cost over subsets of the top bits; and then over
    // subsets within each block.
    void gather(std::size_t v) {
        double* const all = storage(gathered_, v, bits_.middle);
        const std::size_t n_low = bits_.block_cells();
        const std::size_t top_place = bits_.within + bits_.middle;
        const std::uint64_t own = v >= top_place ? bit(v - top_place) : 0;
        const std::uint64_t from = top_ & ~own;
        const double best = best_[p_.values_.column_of_bit[v]];
        for (std::uint64_t middle = 0; middle < bits_.task_blocks() && !*stop_; ++middle) {
            double* const block = all + (middle << bits_.within);
            std::fill_n(block, n_low, limit_);
            bool any = false;
            for (std::uint64_t part = from;; part = (part - 1) & from) {
                if (p_.block_scores(v, part << bits_.middle | middle, scratch_.data())) {
                    loops_.lower(block, scratch_.data(), best, units_, limit_, n_low);
                    any = true;
                }
                if (part == 0) break;
            }
            if (any) loops_.close_in_place(block, static_cast<int>(bits_.within));
        }
    }

    void descend(std::size_t level, std::uint64_t middle) {
        if (level == 0) {
            advance(middle);
            return;
        }
        if (*stop_) return;
        const std::size_t next = level - 1;
        for (std::size_t v = 0; v < n_; ++v) pointers(next)[v] = pointers(level)[v];
        descend(next, middle);
        const std::size_t n_cells = std::size_t{1} << (bits_.within + next);
        const std::uint64_t with = middle | bit(next);
        for (std::size_t v = 0; v < n_; ++v) {
            if (!is_needed(v, with, next)) continue;
            const double* const both = pointers(level)[v];
            double* const out = half(v, next);
            loops_.smaller(out, both, both + n_cells, n_cells);
            pointers(next)[v] = out;
        }
        descend(next, with);
    }

    void advance(std::uint64_t middle) {
        const std::uint64_t high = top_ << bits_.middle | middle;
        std::array<const double*, kMaxEverySetColumns> before, above;
        std::size_t n_above = 0;
        for (std::uint64_t left = high; left != 0; left &= left - 1) {
            const auto place = static_cast<std::size_t>(std::countr_zero(left));
            before[n_above] = cells_ + ((high ^ bit(place)) << bits_.within);
            above[n_above++] = pointers(0)[bits_.within + place];
        }
        loops_.advance(cells_ + (high << bits_.within), before.data(), above.data(), n_above,
                       pointers(0), static_cast<int>(bits_.within), order_.data(), limit_);
        blocks_done_->fetch_add(1, std::memory_order_relaxed);
    }

    const WholeProgram& p_;
    const std::size_t n_;
    const Bits bits_;
    const BlockLoops<double>& loops_;
    const std::vector<std::uint16_t>& order_;
    const std::span<const double> best_;
    const double units_, limit_;
    double* const cells_;
    const Cells<double> gathered_, halves_, scratch_;
    std::vector<const double*> here_;  // by level and variable
    std::uint64_t top_ = 0;
    std::atomic<std::size_t>* blocks_done_ = nullptr;
    const StopFlag* stop_ = nullptr;
};

namespace {

// Walks are lent to tasks and come back: at most one per thread is ever made.
class WalkPool {
public:
    explicit WalkPool(std::function<std::unique_ptr<WholeWalk>()> make) : make_(std::move(make)) {}

    std::unique_ptr<WholeWalk> take() {
        {
            const std::lock_guard lock(mutex_);
            if (!idle_.empty()) {
                auto walk = std::move(idle_.back());
                idle_.pop_back();
                return walk;
            }
        }
        return make_();
    }

    void give_back(std::unique_ptr<WholeWalk> walk) {
        const std::lock_guard lock(mutex_);
        idle_.push_back(std::move(walk));
    }

private:
    std::function<std::unique_ptr<WholeWalk>()> make_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<WholeWalk>> idle_;
};

}  // namespace

// The least cost of a parent set of a child inside `rest`; of equals the smallest, then the first
// by the columns' numbers.
WholeProgram::Inside WholeProgram::best_inside(std::size_t child, std::uint64_t rest,
                                               const Pricing& pricing, const StopFlag& stop) const {
    const std::size_t n_low = std::size_t{1} << within_;
    const std::uint64_t low = rest & (n_low - 1), high = rest >> within_;
    std::vector<double> scores(n_low), costs(n_low);
    Inside found{pricing.limit, 0};
    const double best = pricing.best[values_.column_of_bit[child]];
    for (std::uint64_t part = high; !stop; part = (part - 1) & high) {
        if (block_scores(child, part, scores.data())) {
            std::fill(costs.begin(), costs.end(), pricing.limit);
            pricing.loops.lower(costs.data(), scores.data(), best, pricing.units, pricing.limit,
                                n_low);
            for (std::uint64_t s = low;; s = (s - 1) & low) {
                if (costs[s] <= found.cost && costs[s] < pricing.limit) {
                    const std::uint64_t set = in_columns(part << within_ | s);
                    if (costs[s] < found.cost || comes_first(set, found.parents)) {
                        found = {costs[s], set};
                    }
                }
                if (s == 0) break;
            }
        }
        if (part == 0) break;
    }
    return found;
}

bool WholeProgram::comes_first(std::uint64_t a, std::uint64_t b) {
    const int size_a = std::popcount(a), size_b = std::popcount(b);
    return size_a != size_b ? size_a < size_b : a < b;
}

std::uint64_t WholeProgram::in_columns(std::uint64_t bits) const {
    std::uint64_t columns = 0;
    for (; bits != 0; bits &= bits - 1) {
        columns |= bit(values_.column_of_bit[static_cast<std::size_t>(std::countr_zero(bits))]);
    }
    return columns;
}

std::optional<WholeSolution> WholeProgram::solve(
    std::span<const double> best, double unit, double limit, const Execution& execution,
    const std::function<bool(double)>& progress) const {
    const Bits bits(n_);
    const BlockLoops<double>& loops = loops_of(double{});
    if (best.size() != n_ || !(unit > 0.0) || !(limit >= 1.0) ||
        limit > CellTraits<double>::kMaxLimit ||
        bits.within < static_cast<std::size_t>(loops.lane_bits)) {
        throw std::invalid_argument("whole program: malformed");
    }
    const auto order = subsets_first(static_cast<int>(bits.within), loops.lane_bits);
    const Cells<double> cells(std::size_t{1} << n_);
    const std::size_t n_tasks = std::size_t{1} << bits.top;
    const auto n_blocks = static_cast<double>(n_tasks * bits.task_blocks());
    std::atomic<std::size_t> blocks_done = 0;
    const Execution watched{execution.threads, [&] {
                                const double share = static_cast<double>(blocks_done) / n_blocks;
                                return (progress && progress(share)) ||
                                       (execution.should_stop && execution.should_stop());
                            }};
    WalkPool walks([&] {
        return std::make_unique<WholeWalk>(*this, loops, order, best, 1.0 / unit, limit,
                                           cells.data());
    });
    const double task_nanoseconds =
        kNanosecondsPerCell * static_cast<double>(bits.block_cells() * bits.task_blocks());
    for (std::size_t n_in = 0; n_in <= bits.top; ++n_in) {  // tops with equally many bits
        std::vector<std::uint64_t> tops;
        for (std::uint64_t top = 0; top < n_tasks; ++top) {
            if (static_cast<std::size_t>(std::popcount(top)) == n_in) tops.push_back(top);
        }
        if (n_in > 0 && watched.should_stop()) throw Interrupted();
        parallel_for(tops.size(), task_nanoseconds * static_cast<double>(tops.size()), watched,
                     [&](std::size_t i, const StopFlag& stop) {
                         auto walk = walks.take();
                         walk->run(tops[i], blocks_done, stop);
                         walks.give_back(std::move(walk));
                     });
    }
    const Pricing pricing{best, loops, 1.0 / unit, limit};
    std::uint64_t left = (std::uint64_t{1} << n_) - 1;
    if (cells.data()[left] >= limit) return std::nullopt;
    WholeSolution solution{cells.data()[left], std::vector<std::uint64_t>(n_, 0)};
    while (left != 0) {
        std::vector<std::size_t> sinks;  // in the order of the columns
        for (std::size_t c = 0; c < n_; ++c) {
            if (left & bit(bit_of_column_[c])) sinks.push_back(bit_of_column_[c]);
        }
        std::vector<Inside> inside(sinks.size());
        const double expected = static_cast<double>(sinks.size()) * static_cast<double>(left + 1);
        parallel_for(sinks.size(), expected, watched, [&](std::size_t i, const StopFlag& stop) {
            inside[i] = best_inside(sinks[i], left & ~bit(sinks[i]), pricing, stop);
        });
        const std::uint64_t before = left;
        for (std::size_t i = 0; i < sinks.size() && left == before; ++i) {
            const std::uint64_t rest = left & ~bit(sinks[i]);
            if (inside[i].cost < limit &&
                cells.data()[rest] + inside[i].cost == cells.data()[left]) {
                solution.parents[values_.column_of_bit[sinks[i]]] = inside[i].parents;
                left = rest;
            }
        }
        if (left == before) throw std::logic_error("whole program: no sink explains a cell");
    }
    return solution;
}

double whole_program_bytes(std::size_t n, int threads) {
    const Bits bits(n);
    const double task = 2.0 * static_cast<double>(n) *
                        std::exp2(static_cast<double>(bits.within + bits.middle)) * sizeof(double);
    const double n_tasks = std::exp2(static_cast<double>(bits.top));
    return std::exp2(static_cast<double>(n)) * sizeof(double) +
           std::min<double>(threads, n_tasks) * task;
}

}  // namespace bestdag
