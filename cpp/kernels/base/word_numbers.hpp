// Words numbered in the order they come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace bestdag {

// Keeps the views it is given: their text must outlive it.
class WordNumbers {
public:
    // False if the word is there already.
    bool add(std::string_view word) {
        if (2 * (words_.size() + 1) > slots_.size()) grow();
        std::int32_t& slot = slot_of(word);
        if (slot >= 0) return false;
        slot = static_cast<std::int32_t>(words_.size());
        words_.push_back(word);
        return true;
    }

    // -1 if it was never added.
    std::int32_t find(std::string_view word) { return slot_of(word); }

private:
    // Eight bytes at a time; the length tells words apart that end in zero bytes.
    static std::uint64_t hash(std::string_view word) noexcept {
        std::uint64_t value = word.size();
        for (std::size_t at = 0; at < word.size(); at += 8) {
            std::uint64_t piece = 0;
            std::memcpy(&piece, word.data() + at, word.size() - at < 8 ? word.size() - at : 8);
            value = (value ^ piece) * 0x9E3779B97F4A7C15u;
            value ^= value >> 32;
        }
        return value;
    }

    std::int32_t& slot_of(std::string_view word) {
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t i = hash(word) & mask;; i = (i + 1) & mask) {
            if (slots_[i] < 0 || words_[static_cast<std::size_t>(slots_[i])] == word) {
                return slots_[i];
            }
        }
    }

    void grow() {
        slots_.assign(2 * slots_.size(), -1);
        for (std::size_t i = 0; i < words_.size(); ++i) {
            slot_of(words_[i]) = static_cast<std::int32_t>(i);
        }
    }

    std::vector<std::string_view> words_;
    std::vector<std::int32_t> slots_ = std::vector<std::int32_t>(64, -1);
};

}  // namespace bestdag
