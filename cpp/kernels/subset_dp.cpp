#include "kernels/subset_dp.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <stdexcept>

#include "kernels/bitwise.hpp"
#include "kernels/cells.hpp"

namespace bestdag {

namespace {

constexpr int kMinVariables = 6;     // fewer are padded: a block holds at least one register
constexpr int kWithinBits = 10;      // a block of 4 or 8 KiB per variable: all of them fit in L2
constexpr int kMaxMiddleBits = 9;    // a task: some milliseconds of work
constexpr double kNanosecondsPerCell = 10.0;  // one thread, to see whether threads are worth it

const BlockLoops<std::uint32_t>& loops_of(std::uint32_t) noexcept {
    static constexpr BlockLoops<std::uint32_t> portable =
        detail::Loops<std::uint32_t, 16>::table("portable");
    const char* const name = bitwise().name;
    for (const auto* set : {detail::narrow_loops_avx512(), detail::narrow_loops_avx2()}) {
        if (set && std::strcmp(set->name, name) == 0) return *set;
    }
    return portable;
}

const BlockLoops<double>& loops_of(double) noexcept {
    static constexpr BlockLoops<double> portable = detail::Loops<double, 16>::table("portable");
    const char* const name = bitwise().name;
    for (const auto* set : {detail::wide_loops_avx512(), detail::wide_loops_avx2()}) {
        if (set && std::strcmp(set->name, name) == 0) return *set;
    }
    return portable;
}

// How the n bits of a subset are divided.
struct Division {
    int n, within, middle, top;

    explicit Division(int variables) : n(std::max(variables, kMinVariables)) {
        within = std::min(n, kWithinBits);
        middle = std::min((n - within + 1) / 2 + 1, kMaxMiddleBits);
        middle = std::min(middle, n - within);
        top = n - within - middle;
    }

    std::size_t block_cells() const { return std::size_t{1} << within; }
    std::size_t task_blocks() const { return std::size_t{1} << middle; }
};

// A candidate set, its members divided as the bits are.
template <class T>
struct DividedSet {
    std::uint32_t top, middle, low;
    T cost;
};

template <class T>
struct PendingSet {
    std::uint32_t middle, low;
    T cost;
};

// Room for a list that is overwritten again and again and never read past what was written.
template <class Item>
class Room {
public:
    Item* at_least(std::size_t size) {
        if (size > size_) {
            size_ = std::max(size, 2 * size_);
            items_.reset(new Item[size_]);
        }
        return items_.get();
    }

private:
    std::unique_ptr<Item[]> items_;
    std::size_t size_ = 0;
};

template <class T>
struct Pending {
    Room<PendingSet<T>> room;
    PendingSet<T>* sets = nullptr;
    std::size_t count = 0;
};

// Everything best_by_subsets reads, with the variables in the order of their bits.
template <class T>
struct Program {
    const Division division;
    const T limit;
    const BlockLoops<T>& loops;
    std::vector<int> bit_of;                 // of each variable of the problem
    std::vector<std::vector<DividedSet<T>>> sets;  // of each bit
    std::vector<std::uint16_t> order;        // registers of a block, subsets first
    T* cells = nullptr;

    Program(const SubsetProblem& problem, double limit_);
    T* block(std::uint64_t high) const { return cells + (high << division.within); }
};

// Variables that are often parents go where they cost least: inside a block, where a candidate set
// without members above is placed once per task; then to the top; the rarest at the lowest middle
// bit, which changes from block to block.
std::vector<int> assign_bits(const SubsetProblem& problem, double limit, const Division& division) {
    std::vector<std::int64_t> uses(static_cast<std::size_t>(problem.n), 0);
    for (std::size_t k = 0; k < problem.members.size(); ++k) {
        if (problem.costs[k] >= limit) continue;
        for (std::uint64_t left = problem.members[k]; left != 0; left &= left - 1) {
            ++uses[static_cast<std::size_t>(std::countr_zero(left))];
        }
    }
    std::vector<int> ranked(uses.size());
    std::iota(ranked.begin(), ranked.end(), 0);
    std::stable_sort(ranked.begin(), ranked.end(), [&uses](int a, int b) {
        return uses[static_cast<std::size_t>(a)] > uses[static_cast<std::size_t>(b)];
    });
    std::vector<int> bits(uses.size());
    for (int rank = 0; rank < problem.n; ++rank) {
        const int bit = rank < division.within ? rank : division.n - 1 - (rank - division.within);
        bits[static_cast<std::size_t>(ranked[static_cast<std::size_t>(rank)])] = bit;
    }
    return bits;
}

std::uint64_t move_bits(std::uint64_t members, const std::vector<int>& bit_of) {
    std::uint64_t moved = 0;
    for (; members != 0; members &= members - 1) {
        moved |= std::uint64_t{1} << bit_of[static_cast<std::size_t>(std::countr_zero(members))];
    }
    return moved;
}

template <class T>
Program<T>::Program(const SubsetProblem& problem, double limit_)
    : division(problem.n), limit(static_cast<T>(limit_)), loops(loops_of(T{})) {
    bit_of = assign_bits(problem, limit_, division);
    sets.resize(static_cast<std::size_t>(division.n));
    const auto cut = [](std::uint64_t bits, int from, int count) {
        return static_cast<std::uint32_t>((bits >> from) & ((std::uint64_t{1} << count) - 1));
    };
    for (int v = 0; v < problem.n; ++v) {
        auto& mine = sets[static_cast<std::size_t>(bit_of[static_cast<std::size_t>(v)])];
        const auto begin = static_cast<std::size_t>(problem.first[static_cast<std::size_t>(v)]);
        const auto end = static_cast<std::size_t>(problem.first[static_cast<std::size_t>(v) + 1]);
        for (std::size_t k = begin; k < end && problem.costs[k] < limit_; ++k) {
            const std::uint64_t m = move_bits(problem.members[k], bit_of);
            mine.push_back({cut(m, division.within + division.middle, division.top),
                            cut(m, division.within, division.middle), cut(m, 0, division.within),
                            static_cast<T>(problem.costs[k])});
        }
    }
    for (int bit = problem.n; bit < division.n; ++bit) {  // the padding costs nothing
        sets[static_cast<std::size_t>(bit)].push_back({0, 0, 0, T{0}});
    }
    order.resize(division.block_cells() >> loops.lane_bits);
    std::iota(order.begin(), order.end(), std::uint16_t{0});
    std::stable_sort(order.begin(), order.end(), [](std::uint16_t a, std::uint16_t b) {
        return std::popcount(a) < std::popcount(b);
    });
}

// The walk of one thread through the blocks of a task. Level b holds, for the current high part H
// whose lowest middle bit is b, each variable's best costs inside a block and the candidate sets
// that fit H so far but have members below b. H - without its lowest bit - is on a higher level
// and stays valid until H is done, so a level is its parent's plus the sets whose lowest middle
// member is b: each such set is placed once, no list is ever scanned from the start.
template <class T>
class Walk {
public:
    explicit Walk(const Program<T>& program)
        : p_(program),
          n_(static_cast<std::size_t>(program.division.n)),
          levels_(static_cast<std::size_t>(program.division.middle) + 1),
          best_((levels_ * n_ + 2) * program.division.block_cells()),
          pointers_(levels_ * n_),
          pending_(levels_ * n_) {
        scratch_ = best_.data() + levels_ * n_ * p_.division.block_cells();
        nothing_ = scratch_ + p_.division.block_cells();
        std::fill_n(scratch_, 2 * p_.division.block_cells(), p_.limit);
    }

    void run(std::uint32_t top, std::atomic<std::size_t>& blocks_done, const StopFlag& stop) {
        top_ = top;
        start();
        advance(0);
        for (std::uint32_t middle = 1; middle < p_.division.task_blocks() && !stop; ++middle) {
            descend(middle);
            advance(middle);
            blocks_done.fetch_add(1, std::memory_order_relaxed);
        }
        blocks_done.fetch_add(1, std::memory_order_relaxed);
    }

private:
    std::size_t base_level() const { return levels_ - 1; }
    std::size_t slot(std::size_t level, std::size_t v) const { return level * n_ + v; }
    T* storage(std::size_t level, std::size_t v) {
        return best_.data() + slot(level, v) * p_.division.block_cells();
    }

    // Whether best_v matters in the block of `middle`, whose lowest bit is `lowest`, or in a
    // block below it in the walk: v is inside blocks, or in the subset, or may come into it.
    bool is_needed(std::size_t v, std::uint32_t middle, std::size_t lowest) const {
        const auto within = static_cast<std::size_t>(p_.division.within);
        if (v < within) return true;
        const std::size_t above = v - within;
        const auto n_middle = static_cast<std::size_t>(p_.division.middle);
        if (above >= n_middle) return (top_ >> (above - n_middle)) & 1u;
        return above < lowest || ((middle >> above) & 1u);
    }

    void start() {
        for (std::size_t v = 0; v < n_; ++v) {
            if (!is_needed(v, 0, base_level())) continue;
            const auto& all = p_.sets[v];
            PlacedSet<T>* const placed = placed_.at_least(all.size());
            Pending<T>& pending = pending_[slot(base_level(), v)];
            PendingSet<T>* const kept = pending.room.at_least(all.size());
            std::size_t n_placed = 0, n_kept = 0;
            for (const DividedSet<T>& set : all) {
                const bool fits = (set.top & ~top_) == 0;
                placed[n_placed] = {set.low, set.cost};
                kept[n_kept] = {set.middle, set.low, set.cost};
                n_placed += fits && set.middle == 0;
                n_kept += fits && set.middle != 0;
            }
            pending.sets = kept;
            pending.count = n_kept;
            settle(base_level(), v, nothing_, placed, n_placed);
            drop_beaten(pending, pointers_[slot(base_level(), v)]);
        }
    }

    void descend(std::uint32_t middle) {
        const auto level = static_cast<std::size_t>(std::countr_zero(middle));
        const std::uint32_t rest = middle & (middle - 1);
        const std::size_t parent =
            rest == 0 ? base_level() : static_cast<std::size_t>(std::countr_zero(rest));
        const std::uint32_t below = (1u << level) - 1;
        const std::uint32_t skipped = ((1u << parent) - 1) & ~(below | (1u << level));
        for (std::size_t v = 0; v < n_; ++v) {
            if (!is_needed(v, middle, level)) continue;
            const Pending<T>& from = pending_[slot(parent, v)];
            PlacedSet<T>* const placed = placed_.at_least(from.count);
            const T* const base = pointers_[slot(parent, v)];
            if (level == 0) {
                settle(level, v, base, placed, choose_last(from, skipped, placed));
                continue;
            }
            Pending<T>& pending = pending_[slot(level, v)];
            const std::size_t n_placed = choose(from, skipped, below, placed, pending);
            settle(level, v, base, placed, n_placed);
            if (n_placed > 0) drop_beaten(pending, pointers_[slot(level, v)]);
        }
    }

    // Sets without skipped bits go on; those with nothing below are complete.
    std::size_t choose(const Pending<T>& from, std::uint32_t skipped, std::uint32_t below,
                       PlacedSet<T>* placed, Pending<T>& to) {
        PendingSet<T>* const kept = to.room.at_least(from.count);
        std::size_t n_placed = 0, n_kept = 0;
        for (std::size_t i = 0; i < from.count; ++i) {
            const PendingSet<T>& set = from.sets[i];
            const bool fits = (set.middle & skipped) == 0;
            placed[n_placed] = {set.low, set.cost};
            kept[n_kept] = set;
            n_placed += fits && (set.middle & below) == 0;
            n_kept += fits && (set.middle & below) != 0;
        }
        to.sets = kept;
        to.count = n_kept;
        return n_placed;
    }

    // A set that is no better than one that fits already cannot matter further down the walk,
    // where still more sets fit. This is what keeps the lists short.
    void drop_beaten(Pending<T>& pending, const T* best) {
        PendingSet<T>* const sets = pending.sets;
        std::size_t n_kept = 0;
        for (std::size_t i = 0; i < pending.count; ++i) {
            const PendingSet<T> set = sets[i];
            sets[n_kept] = set;
            n_kept += set.cost < best[set.low];
        }
        pending.count = n_kept;
    }

    std::size_t choose_last(const Pending<T>& from, std::uint32_t skipped, PlacedSet<T>* placed) {
        std::size_t n_placed = 0;
        for (std::size_t i = 0; i < from.count; ++i) {
            placed[n_placed] = {from.sets[i].low, from.sets[i].cost};
            n_placed += (from.sets[i].middle & skipped) == 0;
        }
        return n_placed;
    }

    void settle(std::size_t level, std::size_t v, const T* base, const PlacedSet<T>* placed,
                std::size_t n_placed) {
        const T*& result = pointers_[slot(level, v)];
        if (n_placed == 0) {
            result = base;
            return;
        }
        p_.loops.place(scratch_, placed, n_placed);
        T* const out = storage(level, v);
        p_.loops.close(out, base, scratch_, p_.division.within, p_.limit);
        result = out;
    }

    void advance(std::uint32_t middle) {
        const std::size_t level =
            middle == 0 ? base_level() : static_cast<std::size_t>(std::countr_zero(middle));
        const std::uint64_t high = std::uint64_t{top_} << p_.division.middle | middle;
        const auto within = static_cast<std::size_t>(p_.division.within);
        std::array<const T*, kMaxSubsetVariables> before, above;
        std::size_t n_above = 0;
        for (std::uint64_t left = high; left != 0; left &= left - 1) {
            const auto bit = static_cast<std::size_t>(std::countr_zero(left));
            before[n_above] = p_.block(high ^ (std::uint64_t{1} << bit));
            above[n_above++] = pointers_[slot(level, within + bit)];
        }
        p_.loops.advance(p_.block(high), before.data(), above.data(), n_above,
                         &pointers_[slot(level, 0)], p_.division.within, p_.order.data(), p_.limit);
    }

    const Program<T>& p_;
    const std::size_t n_;
    const std::size_t levels_;
    Cells<T> best_;
    std::vector<const T*> pointers_;
    std::vector<Pending<T>> pending_;
    Room<PlacedSet<T>> placed_;
    T* scratch_;
    T* nothing_;
    std::uint32_t top_ = 0;
};

// Walks are lent to tasks and come back: at most one per thread is ever made.
template <class T>
class Walks {
public:
    explicit Walks(const Program<T>& program) : program_(program) {}

    std::unique_ptr<Walk<T>> take() {
        {
            const std::lock_guard lock(mutex_);
            if (!idle_.empty()) {
                auto walk = std::move(idle_.back());
                idle_.pop_back();
                return walk;
            }
        }
        return std::make_unique<Walk<T>>(program_);
    }

    void give_back(std::unique_ptr<Walk<T>> walk) {
        const std::lock_guard lock(mutex_);
        idle_.push_back(std::move(walk));
    }

private:
    const Program<T>& program_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Walk<T>>> idle_;
};

template <class T>
void fill_cells(const Program<T>& program, const Execution& execution, const Watch& watch) {
    const Division& division = program.division;
    const std::size_t n_tasks = std::size_t{1} << division.top;
    const std::size_t n_blocks = n_tasks * division.task_blocks();
    std::atomic<std::size_t> blocks_done = 0;
    const Execution watched{
        execution.threads, [&] {
            const double share = static_cast<double>(blocks_done) / static_cast<double>(n_blocks);
            return (watch && watch(share)) || (execution.should_stop && execution.should_stop());
        }};
    std::vector<std::uint32_t> tops(n_tasks);
    std::iota(tops.begin(), tops.end(), 0u);
    std::stable_sort(tops.begin(), tops.end(), [](std::uint32_t a, std::uint32_t b) {
        return std::popcount(a) < std::popcount(b);
    });
    Walks<T> walks(program);
    const double task_nanoseconds = kNanosecondsPerCell * static_cast<double>(
                                        division.block_cells() * division.task_blocks());
    for (std::size_t begin = 0; begin < n_tasks;) {
        std::size_t end = begin;
        while (end < n_tasks && std::popcount(tops[end]) == std::popcount(tops[begin])) ++end;
        parallel_for(end - begin, task_nanoseconds * static_cast<double>(end - begin), watched,
                     [&](std::size_t i, const StopFlag& stop) {
                         auto walk = walks.take();
                         walk->run(tops[begin + i], blocks_done, stop);
                         walks.give_back(std::move(walk));
                     });
        begin = end;
    }
}

template <class T>
SubsetSolution walk_back(const SubsetProblem& problem, const Program<T>& program) {
    const auto n = static_cast<std::size_t>(problem.n);
    std::uint64_t padding = 0;
    for (int bit = problem.n; bit < program.division.n; ++bit) padding |= std::uint64_t{1} << bit;
    SubsetSolution solution;
    std::uint64_t left = (std::uint64_t{1} << problem.n) - 1;  // in the problem's numbering
    const auto value = [&](std::uint64_t subset) {
        return program.cells[move_bits(subset, program.bit_of) | padding];
    };
    if (value(left) >= program.limit) return solution;
    solution.feasible = true;
    solution.cost = static_cast<double>(value(left));
    solution.chosen.assign(n, -1);
    while (left != 0) {
        const std::uint64_t before = left;
        for (std::uint64_t sinks = left; sinks != 0 && left == before; sinks &= sinks - 1) {
            const auto v = static_cast<std::size_t>(std::countr_zero(sinks));
            const std::uint64_t rest = left & ~(std::uint64_t{1} << v);
            for (auto k = static_cast<std::size_t>(problem.first[v]);
                 k < static_cast<std::size_t>(problem.first[v + 1]); ++k) {
                if ((problem.members[k] & ~rest) != 0) continue;
                const auto cost = std::min(problem.costs[k], static_cast<double>(program.limit));
                if (static_cast<double>(value(rest)) + cost == static_cast<double>(value(left))) {
                    solution.chosen[v] = static_cast<std::int64_t>(k) - problem.first[v];
                    left = rest;
                }
                break;  // costs ascend: the first set inside is the best one
            }
        }
        if (left == before) throw std::logic_error("subset recursion: no sink explains a cell");
    }
    return solution;
}

void check(const SubsetProblem& problem, double limit, double max_limit) {
    const auto n = static_cast<std::size_t>(problem.n);
    bool fine = problem.n >= 1 && problem.n <= kMaxSubsetVariables &&
                problem.first.size() == n + 1 && problem.first[0] == 0 &&
                problem.first[n] == static_cast<std::int64_t>(problem.members.size()) &&
                problem.members.size() == problem.costs.size() && limit >= 1 && limit <= max_limit;
    for (std::size_t v = 0; fine && v < n; ++v) {
        fine = problem.first[v] <= problem.first[v + 1];
        for (auto k = static_cast<std::size_t>(problem.first[v]);
             fine && k < static_cast<std::size_t>(problem.first[v + 1]); ++k) {
            fine = problem.members[k] >> n == 0 && (problem.members[k] >> v & 1u) == 0 &&
                   problem.costs[k] >= 0 &&
                   (k == static_cast<std::size_t>(problem.first[v]) ||
                    problem.costs[k] >= problem.costs[k - 1]);
        }
    }
    if (!fine) throw std::invalid_argument("subset recursion: malformed problem");
}

}  // namespace

template <class T>
SubsetSolution best_by_subsets(const SubsetProblem& problem, double limit,
                               const Execution& execution, const Watch& watch) {
    check(problem, limit, CellTraits<T>::kMaxLimit);
    Program<T> program(problem, limit);
    Cells<T> cells(std::size_t{1} << program.division.n);
    program.cells = cells.data();
    fill_cells(program, execution, watch);
    return walk_back(problem, program);
}

template SubsetSolution best_by_subsets<std::uint32_t>(const SubsetProblem&, double,
                                                       const Execution&, const Watch&);
template SubsetSolution best_by_subsets<double>(const SubsetProblem&, double, const Execution&,
                                                const Watch&);

double subset_bytes(int n, std::size_t n_sets, int threads, std::size_t bytes_per_cell) {
    const Division division(n);
    const auto cell = static_cast<double>(bytes_per_cell);
    const auto levels = static_cast<double>(division.middle + 1);
    const double walk = levels * division.n * static_cast<double>(division.block_cells()) * cell +
                        (levels + 2) * static_cast<double>(n_sets) * 16.0;
    const double tasks = std::exp2(division.top);
    return std::exp2(division.n) * cell + std::min<double>(threads, tasks) * walk +
           static_cast<double>(n_sets) * 24.0;
}

}  // namespace bestdag
