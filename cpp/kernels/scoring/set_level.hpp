// The sets of one size that are still of interest while parent sets are enumerated by size.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bestdag {

class SetLevel {
public:
    static constexpr std::size_t kAbsent = ~std::size_t{0};

    explicit SetLevel(std::size_t set_size = 0) : set_size_(set_size) {}

    struct Values {
        double best;           // of the scores of the set and of all its subsets
        double bound;          // on the scores of all larger sets that contain it
        double n_log_n;        // sum of N_j ln N_j over its configurations
        std::uint32_t n_seen;  // configurations with N_j > 0
    };

    std::size_t size() const noexcept { return values_.size(); }
    std::size_t set_size() const noexcept { return set_size_; }
    std::size_t bytes() const noexcept {
        return members_.capacity() * sizeof(members_[0]) + values_.capacity() * sizeof(values_[0]) +
               slots_.capacity() * sizeof(slots_[0]);
    }

    std::span<const std::uint16_t> set(std::size_t i) const noexcept {
        return {members_.data() + i * set_size_, set_size_};
    }
    const Values& values(std::size_t i) const noexcept { return values_[i]; }

    // Sets come in lexicographic order, each ascending.
    void add(std::span<const std::uint16_t> set, const Values& values) {
        members_.insert(members_.end(), set.begin(), set.end());
        values_.push_back(values);
    }

    // To be called once, when all sets are there, before find.
    void index() {
        std::size_t n_slots = 16;
        while (n_slots < 2 * size()) n_slots *= 2;
        slots_.assign(n_slots, kFree);
        for (std::size_t i = 0; i < size(); ++i) {
            std::uint64_t code = 0;
            for (const std::uint16_t member : set(i)) code ^= code_of(member);
            std::size_t slot = code & (n_slots - 1);
            while (slots_[slot] != kFree) slot = (slot + 1) & (n_slots - 1);
            slots_[slot] = static_cast<std::uint32_t>(i);
        }
    }

    // The number of the set that is left of `larger` (one member more than the sets here) without
    // its member at `position`. The code of a set is that of its members combined by XOR.
    std::size_t find_without(std::span<const std::uint16_t> larger, std::uint64_t larger_code,
                             std::size_t position) const noexcept {
        const std::uint64_t code = larger_code ^ code_of(larger[position]);
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t slot = code & mask; slots_[slot] != kFree; slot = (slot + 1) & mask) {
            const std::uint16_t* const found = members_.data() + slots_[slot] * set_size_;
            if (std::equal(larger.begin(), larger.begin() + static_cast<std::ptrdiff_t>(position),
                           found) &&
                std::equal(larger.begin() + static_cast<std::ptrdiff_t>(position) + 1, larger.end(),
                           found + position)) {
                return slots_[slot];
            }
        }
        return kAbsent;
    }

    // Mixes well: the finaliser of splitmix64.
    static std::uint64_t code_of(std::uint16_t member) noexcept {
        std::uint64_t z = (member + std::uint64_t{1}) * 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }

private:
    static constexpr std::uint32_t kFree = ~std::uint32_t{0};

    std::size_t set_size_;
    std::vector<std::uint16_t> members_;
    std::vector<Values> values_;
    std::vector<std::uint32_t> slots_;
};

}  // namespace bestdag
