#include "missing/distinct_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace bestdag {

namespace {

constexpr std::size_t kBlockRows = 1u << 14;
constexpr std::uint32_t kEmpty = 0xffffffff;

double weight_of(const Weights& weights, std::size_t row) noexcept {
    if (weights.real) return weights.real[row];
    return weights.whole ? static_cast<double>(weights.whole[row]) : 1.0;
}

bool equal(const Table& table, std::size_t a, std::size_t b) noexcept {
    for (std::size_t c = 0; c < table.n_columns(); ++c) {
        if (table.column(c)[a] != table.column(c)[b]) return false;
    }
    return true;
}

bool less(const Table& table, std::size_t a, std::size_t b) noexcept {
    for (std::size_t c = 0; c < table.n_columns(); ++c) {
        const std::uint32_t x = table.column(c)[a], y = table.column(c)[b];
        if (x != y) return x < y;
    }
    return false;
}

void hash_rows(const Table& table, std::size_t first, std::span<std::uint64_t> hashes) noexcept {
    std::fill(hashes.begin(), hashes.end(), 0x9e3779b97f4a7c15u);
    for (std::size_t c = 0; c < table.n_columns(); ++c) {
        const Column& column = table.column(c);
        const auto visit = [&](const auto* codes) {
            for (std::size_t i = 0; i < hashes.size(); ++i) {
                std::uint64_t h = (hashes[i] ^ codes[first + i]) * 0xff51afd7ed558ccdu;
                hashes[i] = h ^ (h >> 32);
            }
        };
        column.narrow ? visit(column.narrow) : visit(column.wide);
    }
}

// Kinds by the hash of their rows: open addressing, at most half full.
class Kinds {
public:
    Kinds() : slots_(1024, kEmpty) {}

    std::uint32_t number_of(const Table& table, std::size_t row, std::uint64_t hash) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t place = hash & mask;
        for (; slots_[place] != kEmpty; place = (place + 1) & mask) {
            const std::uint32_t kind = slots_[place];
            if (hashes[kind] == hash && equal(table, rows[kind], row)) return kind;
        }
        const auto kind = static_cast<std::uint32_t>(rows.size());
        slots_[place] = kind;
        rows.push_back(static_cast<std::uint32_t>(row));
        hashes.push_back(hash);
        if (2 * rows.size() > slots_.size()) grow();
        return kind;
    }

    std::vector<std::uint32_t> rows;
    std::vector<std::uint64_t> hashes;

private:
    void grow() {
        slots_.assign(2 * slots_.size(), kEmpty);
        const std::size_t mask = slots_.size() - 1;
        for (std::uint32_t kind = 0; kind < rows.size(); ++kind) {
            std::size_t place = hashes[kind] & mask;
            while (slots_[place] != kEmpty) place = (place + 1) & mask;
            slots_[place] = kind;
        }
    }

    std::vector<std::uint32_t> slots_;
};

}  // namespace

DistinctRows distinct_rows(const Table& table, const Execution& execution) {
    const std::size_t n_rows = table.n_rows();
    DistinctRows found;
    found.number.resize(n_rows);
    // One task: that the calling thread looks for Ctrl-C meanwhile is all that is wanted.
    const double expected = 4.0 * static_cast<double>(n_rows * table.n_columns());
    parallel_for(1, expected, execution, [&](std::size_t, const StopFlag& stop) {
        Kinds kinds;
        std::vector<double> weights;
        std::vector<std::uint64_t> hashes(std::min(n_rows, kBlockRows));
        for (std::size_t first = 0; first < n_rows; first += kBlockRows) {
            check(stop);
            const std::size_t n = std::min(kBlockRows, n_rows - first);
            hash_rows(table, first, std::span(hashes).first(n));
            for (std::size_t i = 0; i < n; ++i) {
                const std::uint32_t kind = kinds.number_of(table, first + i, hashes[i]);
                if (kind == weights.size()) weights.push_back(0.0);
                weights[kind] += weight_of(table.weights(), first + i);
                found.number[first + i] = kind;
            }
        }
        std::vector<std::uint32_t> order(kinds.rows.size());
        std::iota(order.begin(), order.end(), 0u);
        std::size_t compared = 0;
        std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            if ((++compared & 0xfff) == 0) check(stop);
            return less(table, kinds.rows[a], kinds.rows[b]);
        });
        std::vector<std::uint32_t> place(order.size());
        found.rows.reserve(order.size());
        found.weights.reserve(order.size());
        for (std::uint32_t i = 0; i < order.size(); ++i) {
            place[order[i]] = i;
            found.rows.push_back(kinds.rows[order[i]]);
            found.weights.push_back(weights[order[i]]);
        }
        for (std::uint32_t& number : found.number) number = place[number];
    });
    return found;
}

}  // namespace bestdag
