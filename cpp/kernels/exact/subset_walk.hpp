// The walk of one thread through the blocks of a task of the dynamic program over subsets.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/cells.hpp"
#include "base/parallel.hpp"
#include "exact/subset_program.hpp"

namespace bestdag {

// A candidate set that fits the task's top bits and waits for middle bits.
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

// Level b holds, for the current high part H whose lowest middle bit is b, each variable's best
// costs inside a block, and the candidate sets that fit H so far but have members below b. H
// without its lowest bit is on a higher level, which stays valid until H is done. So a level is
// its parent's plus the sets whose lowest middle member is b: no list is scanned from the start.
template <class T>
class SubsetWalk {
public:
    // The arena has room for `room` tasks.
    SubsetWalk(const SubsetProgram<T>& program, T* arena, std::size_t room)
        : p_(program),
          arena_(arena),
          room_(room),
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
        last_ = p_.lattice.last_bits(top);
        here_ = task(top);
        for (std::uint32_t left = last_; left != 0; left &= left - 1) {
            from_[static_cast<std::size_t>(std::countr_zero(left))] = task(top ^ (left & -left));
        }
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
    T* task(std::uint32_t top) const {
        return arena_ + p_.lattice.position(top) % room_ * p_.division.task_cells();
    }
    std::size_t base_level() const { return levels_ - 1; }
    std::size_t slot(std::size_t level, std::size_t v) const { return level * n_ + v; }
    T* storage(std::size_t level, std::size_t v) {
        return best_.data() + slot(level, v) * p_.division.block_cells();
    }

    // Whether best_v matters in the block of `middle`, whose lowest bit is `lowest`, or in a
    // block below it in the walk: v is inside blocks, or may be last in the subset, or may come
    // into it.
    bool is_needed(std::size_t v, std::uint32_t middle, std::size_t lowest) const {
        const auto within = static_cast<std::size_t>(p_.division.within);
        if (v < within) return true;
        const std::size_t above = v - within;
        const auto n_middle = static_cast<std::size_t>(p_.division.middle);
        if (above >= n_middle) return (last_ >> (above - n_middle)) & 1u;
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
        const auto within = static_cast<std::size_t>(p_.division.within);
        const auto n_middle = static_cast<std::size_t>(p_.division.middle);
        const std::size_t offset = std::size_t{middle} << within;
        std::array<const T*, kMaxSubsetVariables> before, above;
        std::size_t n_above = 0;
        for (std::uint32_t left = middle; left != 0; left &= left - 1) {
            const auto bit = static_cast<std::size_t>(std::countr_zero(left));
            before[n_above] = here_ + (offset ^ (std::size_t{1} << (within + bit)));
            above[n_above++] = pointers_[slot(level, within + bit)];
        }
        for (std::uint32_t left = last_; left != 0; left &= left - 1) {
            const auto bit = static_cast<std::size_t>(std::countr_zero(left));
            before[n_above] = from_[bit] + offset;
            above[n_above++] = pointers_[slot(level, within + n_middle + bit)];
        }
        p_.loops.advance(here_ + offset, before.data(), above.data(), n_above,
                         &pointers_[slot(level, 0)], p_.division.within, p_.order.data(), p_.limit);
    }

    const SubsetProgram<T>& p_;
    T* const arena_;
    const std::size_t room_;
    const std::size_t n_;
    const std::size_t levels_;
    Cells<T> best_;
    std::vector<const T*> pointers_;
    std::vector<Pending<T>> pending_;
    Room<PlacedSet<T>> placed_;
    T* scratch_;
    T* nothing_;
    std::uint32_t top_ = 0;
    std::uint32_t last_ = 0;  // of the top bits, those that may be last
    T* here_ = nullptr;       // the task's cells, and those of the tasks without one of these bits
    std::array<const T*, 32> from_ = {};
};

}  // namespace bestdag
