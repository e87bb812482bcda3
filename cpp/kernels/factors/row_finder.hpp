// Which of the listed parent configurations a row has, where too many are possible to number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bestdag {

// Finds configurations in a sorted list. The parents are taken in runs whose configurations can be
// numbered in 64 bits beside the number of what was found for the runs before; most tables are one
// run. So any number of parents with any number of states will do, and the memory is that of the
// list.
class RowFinder {
public:
    // `configurations` is row-major, one row of codes per configuration, ascending (the first
    // parent slowest) and without repetition. Requires every code below its arity.
    RowFinder(std::span<const std::uint16_t> configurations,
              std::span<const std::uint32_t> arities);

    std::size_t n_listed() const noexcept { return n_listed_; }
    std::size_t n_parents() const noexcept { return n_parents_; }

    // found[i] = position of row i's configuration in the list, or n_listed() where it is not
    // there. add(parent, stride, found) must do found[i] += stride * code for every i; the codes
    // of missing cells may be anything, and what is found then is a position or n_listed() too.
    template <class AddParent>
    void find(std::span<std::uint64_t> found, const AddParent& add) const {
        std::fill(found.begin(), found.end(), std::uint64_t{0});
        for (const Run& run : runs_) {
            for (std::uint64_t& key : found) key *= run.size;
            for (std::size_t p = 0; p < run.strides.size(); ++p) {
                add(run.first_parent + p, run.strides[p], found);
            }
            for (std::uint64_t& key : found) key = position(run.keys, key);
        }
    }

private:
    struct Run {
        std::size_t first_parent;
        std::vector<std::uint64_t> strides;  // one per parent
        std::uint64_t size;                  // configurations of these parents
        std::vector<std::uint64_t> keys;     // ascending: position before * size + number
    };

    // Where a key is, or how many there are: halving without a branch to mispredict.
    static std::uint64_t position(std::span<const std::uint64_t> keys, std::uint64_t key) noexcept {
        if (keys.empty()) return 0;
        const std::uint64_t* base = keys.data();
        for (std::size_t left = keys.size(); left > 1;) {
            const std::size_t half = left / 2;
            base += base[half - 1] < key ? half : 0;
            left -= half;
        }
        return *base == key ? static_cast<std::uint64_t>(base - keys.data()) : keys.size();
    }

    std::size_t n_listed_;
    std::size_t n_parents_;
    std::vector<Run> runs_;
};

}  // namespace bestdag
