// Observed counts added up, list after list: for sets with so many configurations that most never
// occur.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "counting/observed_counts.hpp"

namespace bestdag {

// The rows of both lists in lexicographic order, those of one configuration added.
inline ObservedCounts merged(const ObservedCounts& a, const ObservedCounts& b,
                             std::size_t n_parents, std::size_t arity) {
    ObservedCounts out;
    const auto append = [&](const ObservedCounts& from, std::size_t row) {
        const auto codes =
            from.configurations.begin() + static_cast<std::ptrdiff_t>(row * n_parents);
        out.configurations.insert(out.configurations.end(), codes,
                                  codes + static_cast<std::ptrdiff_t>(n_parents));
        const auto copy = [&](const auto& cells, auto& sums) {
            if (cells.empty()) return;
            const auto first = cells.begin() + static_cast<std::ptrdiff_t>(row * arity);
            sums.insert(sums.end(), first, first + static_cast<std::ptrdiff_t>(arity));
        };
        copy(from.whole, out.whole);
        copy(from.real, out.real);
        ++out.n_rows;
    };
    const auto add = [&](std::size_t row) {
        for (std::size_t k = 0; k < arity; ++k) {
            const std::size_t last = (out.n_rows - 1) * arity + k;
            if (!b.whole.empty()) out.whole[last] += b.whole[row * arity + k];
            if (!b.real.empty()) out.real[last] += b.real[row * arity + k];
        }
    };
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.n_rows || j < b.n_rows) {
        int order = i >= a.n_rows ? 1 : j >= b.n_rows ? -1 : 0;
        for (std::size_t k = 0; order == 0 && k < n_parents; ++k) {
            const int one = a.configurations[i * n_parents + k];
            const int other = b.configurations[j * n_parents + k];
            order = one < other ? -1 : one > other ? 1 : 0;
        }
        if (order <= 0) append(a, i++);
        if (order > 0) append(b, j++);
        if (order == 0) add(j++);
    }
    return out;
}

// Lists of similar length are merged, so that a row is copied a logarithmic number of times.
class ObservedSums {
public:
    void add(ObservedCounts&& list, std::size_t n_parents, std::size_t arity, double max_cells) {
        lists_.push_back(std::move(list));
        while (lists_.size() > 1 && 2 * lists_.back().n_rows >= lists_[lists_.size() - 2].n_rows) {
            merge_last(n_parents, arity, max_cells);
        }
    }

    // What another thread added up.
    void add(ObservedSums&& other) {
        for (ObservedCounts& list : other.lists_) lists_.push_back(std::move(list));
    }

    ObservedCounts take(std::size_t n_parents, std::size_t arity, double max_cells) {
        while (lists_.size() > 1) merge_last(n_parents, arity, max_cells);
        ObservedCounts all = lists_.empty() ? ObservedCounts() : std::move(lists_[0]);
        require(all, arity, max_cells);
        lists_.clear();
        return all;
    }

private:
    void merge_last(std::size_t n_parents, std::size_t arity, double max_cells) {
        const ObservedCounts last = std::move(lists_.back());
        lists_.pop_back();
        lists_.back() = merged(lists_.back(), last, n_parents, arity);
        require(lists_.back(), arity, max_cells);
    }

    static void require(const ObservedCounts& list, std::size_t arity, double max_cells) {
        if (static_cast<double>(list.n_rows) * static_cast<double>(arity) > max_cells) {
            throw TooManyCells("too many cells");
        }
    }

    std::vector<ObservedCounts> lists_;
};

}  // namespace bestdag
