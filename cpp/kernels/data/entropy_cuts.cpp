#include "data/entropy_cuts.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace bestdag {

namespace {

// Costs closer than this share of n log2 n are equal: sums in another order differ by less.
constexpr double kEqual = 1e-12;
constexpr std::size_t kBlocksBetweenLooks = 1 << 14;
constexpr double kNanosecondsPerRow = 200.0;

// n log2 n, from a table when all weights are one. Counts then go up and down by ones, so that the
// table is read in order and its size does no harm.
class Terms {
public:
    explicit Terms(std::size_t n_whole) : values_(n_whole + 1) {
        for (std::size_t n = 0; n < values_.size(); ++n) values_[n] = term(static_cast<double>(n));
    }
    double operator()(double n) const noexcept {
        return values_.size() > 1 ? values_[static_cast<std::size_t>(n)] : term(n);
    }

private:
    static double term(double n) noexcept { return n > 0.0 ? n * std::log2(n) : 0.0; }

    std::vector<double> values_;
};

// A sum that keeps what rounding takes (Neumaier), so that a million updates do not drift.
class Sum {
public:
    void add(double term) noexcept {
        const double next = sum_ + term;
        rest_ += std::abs(sum_) >= std::abs(term) ? (sum_ - next) + term : (term - next) + sum_;
        sum_ = next;
    }
    double value() const noexcept { return sum_ + rest_; }

private:
    double sum_ = 0.0;
    double rest_ = 0.0;
};

struct Entry {
    std::uint32_t label;  // the class
    double weight;
};

// Runs of values with no useful cut inside: one value, or neighbours that all have one class. The
// best cut is always between two blocks (Fayyad and Irani 1992, theorem 1).
struct Blocks {
    std::vector<std::size_t> first_row;
    std::vector<std::size_t> first_entry;  // one more than there are blocks
    std::vector<Entry> entries;

    std::size_t size() const noexcept { return first_row.size(); }
    std::span<const Entry> of(std::size_t block) const noexcept {
        return std::span(entries).subspan(first_entry[block],
                                          first_entry[block + 1] - first_entry[block]);
    }
};

Blocks find_blocks(std::span<const double> values, std::span<const std::uint16_t> classes,
                   std::span<const double> weights, std::size_t n_classes, const StopFlag& stop) {
    Blocks blocks;
    std::vector<double> counts(n_classes, 0.0);
    std::vector<std::uint32_t> seen;
    std::size_t row = 0;
    while (row < values.size() && !stop.load(std::memory_order_relaxed)) {
        const std::size_t first = row;
        seen.clear();
        for (; row < values.size() && values[row] == values[first]; ++row) {
            const std::uint32_t label = classes[row];
            if (counts[label] == 0.0) seen.push_back(label);
            counts[label] += weights.empty() ? 1.0 : weights[row];
        }
        std::sort(seen.begin(), seen.end());
        const bool previous_is_pure =
            blocks.size() > 0 && blocks.entries.size() - blocks.first_entry.back() == 1;
        if (seen.size() == 1 && previous_is_pure && blocks.entries.back().label == seen[0]) {
            blocks.entries.back().weight += counts[seen[0]];
        } else {
            blocks.first_row.push_back(first);
            blocks.first_entry.push_back(blocks.entries.size());
            for (const std::uint32_t label : seen) blocks.entries.push_back({label, counts[label]});
        }
        for (const std::uint32_t label : seen) counts[label] = 0.0;
    }
    blocks.first_entry.push_back(blocks.entries.size());
    return blocks;
}

// The classes on one side of a cut.
class Side {
public:
    Side(std::size_t n_classes, const Terms& terms)
        : n_log_n_(terms),
          weight_(n_classes, 0.0),
          term_(n_classes, 0.0),
          n_entries_(n_classes, 0) {}

    void clear() {
        std::fill(weight_.begin(), weight_.end(), 0.0);
        std::fill(term_.begin(), term_.end(), 0.0);
        std::fill(n_entries_.begin(), n_entries_.end(), 0);
        terms_ = Sum();
        total_ = Sum();
        n_present_ = 0;
    }
    void add(const Entry& entry) noexcept {
        if (n_entries_[entry.label]++ == 0) ++n_present_;
        change(entry.label, weight_[entry.label] + entry.weight, entry.weight);
    }
    void remove(const Entry& entry) noexcept {
        const bool is_last = --n_entries_[entry.label] == 0;
        if (is_last) --n_present_;
        // What fractional weights leave behind is no class.
        change(entry.label, is_last ? 0.0 : weight_[entry.label] - entry.weight, -entry.weight);
    }
    double total() const noexcept { return total_.value(); }
    double n_present() const noexcept { return static_cast<double>(n_present_); }
    double cost() const noexcept {  // total times entropy, in bits
        return n_present_ < 2 ? 0.0 : n_log_n_(total()) - terms_.value();
    }
    double mean_cost() const noexcept { return n_present_ < 2 ? 0.0 : cost() / total(); }

private:
    void change(std::uint32_t label, double weight, double by) noexcept {
        const double term = n_log_n_(weight);
        terms_.add(term - term_[label]);
        total_.add(by);
        weight_[label] = weight;
        term_[label] = term;
    }

    const Terms& n_log_n_;
    std::vector<double> weight_;
    std::vector<double> term_;  // n log2 n of each weight
    std::vector<std::size_t> n_entries_;
    std::size_t n_present_ = 0;
    Sum terms_;
    Sum total_;
};

// log2(3^k - 2), also for very many classes.
double log_partitions(double k) noexcept {
    return k * std::log2(3.0) + std::log2(1.0 - 2.0 * std::pow(3.0, -k));
}

class Splitter {
public:
    Splitter(const Blocks& blocks, std::size_t n_classes, const Terms& terms, const StopFlag& stop)
        : blocks_(blocks), stop_(stop), left_(n_classes, terms), right_(n_classes, terms) {}

    // The first block of the right part, or begin when no cut is worth its cost.
    std::size_t split(std::size_t begin, std::size_t end) {
        left_.clear();
        right_.clear();
        for (std::size_t block = begin; block < end; ++block) {
            for (const Entry& entry : blocks_.of(block)) right_.add(entry);
        }
        const double n = right_.total();
        const double whole = right_.cost();
        const double present = right_.n_present();         // k
        const double mean = present * right_.mean_cost();  // k Ent(S)
        const double equal = kEqual * n * std::max(1.0, std::log2(n));
        double best = whole, parts = 0.0;
        std::size_t where = begin;
        for (std::size_t block = begin; block + 1 < end; ++block) {
            if (block % kBlocksBetweenLooks == 0 && stop_.load(std::memory_order_relaxed)) break;
            for (const Entry& entry : blocks_.of(block)) {
                left_.add(entry);
                right_.remove(entry);
            }
            const double cost = left_.cost() + right_.cost();
            if (cost < best - equal) {
                best = cost;
                where = block + 1;
                // k1 Ent(S1) + k2 Ent(S2)
                parts =
                    left_.n_present() * left_.mean_cost() + right_.n_present() * right_.mean_cost();
            }
        }
        // Equation 9 of the paper, times n. Fewer than two cases have no choice of cut to encode.
        const double cost_of_cut =
            std::log2(std::max(1.0, n - 1.0)) + log_partitions(present) - (mean - parts);
        return whole - best > cost_of_cut + equal ? where : begin;
    }

private:
    const Blocks& blocks_;
    const StopFlag& stop_;
    Side left_;
    Side right_;
};

}  // namespace

std::vector<std::size_t> entropy_cuts(std::span<const double> values,
                                      std::span<const std::uint16_t> classes,
                                      std::span<const double> weights, std::size_t n_classes,
                                      const Execution& execution) {
    std::vector<std::size_t> rows;
    const double expected = kNanosecondsPerRow * static_cast<double>(values.size());
    parallel_for(1, expected, execution, [&](std::size_t, const StopFlag& stop) {
        const Blocks blocks = find_blocks(values, classes, weights, n_classes, stop);
        const Terms terms(weights.empty() ? values.size() : 0);
        Splitter splitter(blocks, n_classes, terms, stop);
        std::vector<std::pair<std::size_t, std::size_t>> open{{0, blocks.size()}};
        while (!open.empty() && !stop.load(std::memory_order_relaxed)) {
            const auto [begin, end] = open.back();
            open.pop_back();
            if (end - begin < 2) continue;
            const std::size_t middle = splitter.split(begin, end);
            if (middle == begin) continue;
            rows.push_back(blocks.first_row[middle]);
            open.emplace_back(begin, middle);
            open.emplace_back(middle, end);
        }
    });
    std::sort(rows.begin(), rows.end());
    return rows;
}

}  // namespace bestdag
