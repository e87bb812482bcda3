#include "exact/every_set_dp.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "base/cells.hpp"
#include "exact/subset_block.hpp"
#include "exact/subset_program.hpp"

namespace bestdag {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kWithinBits = 10;    // of a block: 8 KiB per variable
constexpr std::size_t kTopBits = 4;        // enough tasks for some threads
constexpr std::size_t kFewVariables = 14;  // one task below this
constexpr std::size_t kTaskBits = 22;      // at most so many bits in a task
constexpr double kNanosecondsPerCell = 60.0;

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

// From scores to costs: units times (best - score), clipped at the limit.
struct Pricing {
    std::span<const double> best;
    const BlockLoops<double>& loops;
    double units, limit;
};

// One thread's way through the blocks of a task.
class BlockWalk {
public:
    BlockWalk(const BlockScores& scores, const Pricing& pricing,
              const std::vector<std::uint16_t>& order, double* cells)
        : family_scores_(scores),
          n_(scores.n()),
          bits_(n_),
          loops_(pricing.loops),
          order_(order),
          best_(pricing.best),
          units_(pricing.units),
          limit_(pricing.limit),
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
        const double best = best_[family_scores_.column_of_bit(v)];
        for (std::uint64_t middle = 0; middle < bits_.task_blocks() && !*stop_; ++middle) {
            double* const block = all + (middle << bits_.within);
            std::fill_n(block, n_low, limit_);
            bool any = false;
            for (std::uint64_t part = from;; part = (part - 1) & from) {
                if (family_scores_.block(v, part << bits_.middle | middle, scratch_.data())) {
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

    const BlockScores& family_scores_;
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

// Walks are lent to tasks and come back: at most one per thread is ever made.
class WalkPool {
public:
    explicit WalkPool(std::function<std::unique_ptr<BlockWalk>()> make) : make_(std::move(make)) {}

    std::unique_ptr<BlockWalk> take() {
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

    void give_back(std::unique_ptr<BlockWalk> walk) {
        const std::lock_guard lock(mutex_);
        idle_.push_back(std::move(walk));
    }

private:
    std::function<std::unique_ptr<BlockWalk>()> make_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<BlockWalk>> idle_;
};

struct Inside {
    double cost;
    std::uint64_t parents;  // in columns
};

bool comes_first(std::uint64_t a, std::uint64_t b) {
    const int size_a = std::popcount(a), size_b = std::popcount(b);
    return size_a != size_b ? size_a < size_b : a < b;
}

// The least cost of a parent set of a child inside `rest`; of equals the smallest, then the first
// by the columns' numbers.
Inside best_inside(const BlockScores& family_scores, std::size_t child, std::uint64_t rest,
                   const Pricing& pricing, const StopFlag& stop) {
    const std::size_t within = family_scores.within(), n_low = std::size_t{1} << within;
    const std::uint64_t low = rest & (n_low - 1), high = rest >> within;
    std::vector<double> scores(n_low), costs(n_low);
    Inside found{pricing.limit, 0};
    const double best = pricing.best[family_scores.column_of_bit(child)];
    for (std::uint64_t part = high; !stop; part = (part - 1) & high) {
        if (family_scores.block(child, part, scores.data())) {
            std::fill(costs.begin(), costs.end(), pricing.limit);
            pricing.loops.lower(costs.data(), scores.data(), best, pricing.units, pricing.limit,
                                n_low);
            for (std::uint64_t s = low;; s = (s - 1) & low) {
                if (costs[s] <= found.cost && costs[s] < pricing.limit) {
                    const std::uint64_t set = family_scores.in_columns(part << within | s);
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

}  // namespace

EverySetProgram::EverySetProgram(const Table& table, const Kernel& kernel, const SetValues& values,
                                 std::vector<ParentRules> rules)
    : scores_(table, kernel, values, std::move(rules), Bits(values.n()).within) {}

double EverySetProgram::score(std::size_t column, std::uint64_t parents) const {
    const std::uint64_t set = scores_.in_bits(parents);
    const std::size_t within = scores_.within();
    std::vector<double> block(std::size_t{1} << within);
    if (!scores_.block(scores_.bit_of_column(column), set >> within, block.data())) {
        return -kInfinity;
    }
    return block[set & (block.size() - 1)];
}

void EverySetProgram::all_scores(std::size_t column, const Execution& execution,
                                 std::span<double> out) const {
    const std::size_t n = scores_.n(), within = scores_.within(), n_low = std::size_t{1} << within;
    if (out.size() != std::size_t{1} << (n - 1)) {
        throw std::invalid_argument("program over every set: one score for each set of the others");
    }
    const std::size_t own = scores_.bit_of_column(column);
    const std::uint64_t below = bit(column) - 1;
    const auto number = [&](std::uint64_t bits) {
        const std::uint64_t set = scores_.in_columns(bits);
        return (set & below) | (set >> 1 & ~below);
    };
    std::vector<std::uint64_t> low_number(n_low);
    for (std::uint64_t low = 0; low < n_low; ++low) low_number[low] = number(low);
    const std::size_t n_blocks = std::size_t{1} << (n - within);
    const double expected = 4.0 * static_cast<double>(n_blocks * n_low);
    parallel_for(n_blocks, expected, execution, [&](std::size_t high, const StopFlag&) {
        if (own >= within && (high & bit(own - within)) != 0) return;
        std::vector<double> block(n_low);
        const bool is_any = scores_.block(own, high, block.data());
        const std::uint64_t high_number = number(high << within);
        for (std::uint64_t low = 0; low < n_low; ++low) {
            if (own < within && (low & bit(own)) != 0) continue;
            out[high_number | low_number[low]] = is_any ? block[low] : -kInfinity;
        }
    });
}

std::vector<double> EverySetProgram::best_scores(const Execution& execution) const {
    return scores_.best(execution);
}

std::optional<EverySetSolution> EverySetProgram::solve(
    std::span<const double> best, double unit, double limit, const Execution& execution,
    const std::function<bool(double)>& progress) const {
    const std::size_t n = scores_.n();
    const Bits bits(n);
    const BlockLoops<double>& loops = loops_of(double{});
    if (best.size() != n || !(unit > 0.0) || !(limit >= 1.0) ||
        limit > CellTraits<double>::kMaxLimit ||
        bits.within < static_cast<std::size_t>(loops.lane_bits)) {
        throw std::invalid_argument("program over every set: malformed");
    }
    const Pricing pricing{best, loops, 1.0 / unit, limit};
    const auto order = subsets_first(static_cast<int>(bits.within), loops.lane_bits);
    const Cells<double> cells(std::size_t{1} << n);
    const std::size_t n_tasks = std::size_t{1} << bits.top;
    const auto n_blocks = static_cast<double>(n_tasks * bits.task_blocks());
    std::atomic<std::size_t> blocks_done = 0;
    const Execution watched{execution.threads, [&] {
                                const double share = static_cast<double>(blocks_done) / n_blocks;
                                return (progress && progress(share)) ||
                                       (execution.should_stop && execution.should_stop());
                            }};
    WalkPool walks(
        [&] { return std::make_unique<BlockWalk>(scores_, pricing, order, cells.data()); });
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
    std::uint64_t left = (std::uint64_t{1} << n) - 1;
    if (cells.data()[left] >= limit) return std::nullopt;
    EverySetSolution solution{cells.data()[left], std::vector<std::uint64_t>(n, 0)};
    while (left != 0) {
        std::vector<std::size_t> sinks;  // in the order of the columns
        for (std::size_t c = 0; c < n; ++c) {
            if (left & bit(scores_.bit_of_column(c))) sinks.push_back(scores_.bit_of_column(c));
        }
        std::vector<Inside> inside(sinks.size());
        const double expected = static_cast<double>(sinks.size()) * static_cast<double>(left + 1);
        parallel_for(sinks.size(), expected, watched, [&](std::size_t i, const StopFlag& stop) {
            inside[i] = best_inside(scores_, sinks[i], left & ~bit(sinks[i]), pricing, stop);
        });
        const std::uint64_t before = left;
        for (std::size_t i = 0; i < sinks.size() && left == before; ++i) {
            const std::uint64_t rest = left & ~bit(sinks[i]);
            if (inside[i].cost < limit &&
                cells.data()[rest] + inside[i].cost == cells.data()[left]) {
                solution.parents[scores_.column_of_bit(sinks[i])] = inside[i].parents;
                left = rest;
            }
        }
        if (left == before)
            throw std::logic_error("program over every set: no sink explains a cell");
    }
    return solution;
}

double every_set_program_bytes(std::size_t n, int threads) {
    const Bits bits(n);
    const double task = 2.0 * static_cast<double>(n) *
                        std::exp2(static_cast<double>(bits.within + bits.middle)) * sizeof(double);
    const double n_tasks = std::exp2(static_cast<double>(bits.top));
    return std::exp2(static_cast<double>(n)) * sizeof(double) +
           std::min<double>(threads, n_tasks) * task;
}

}  // namespace bestdag
