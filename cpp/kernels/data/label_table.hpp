// Distinct values in order of first appearance, found by open addressing: texts and 64-bit words.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace bestdag {

inline constexpr std::uint32_t kMissingCode = 0;
// The code of a value that is not kept: its column has more of them than it may.
inline constexpr std::uint32_t kOtherCode = 0xffffffff;

// Mixes two words: the halves of their 128-bit product (Wang Yi's wyhash).
inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) noexcept {
    __extension__ using Product = unsigned __int128;
    const Product product = static_cast<Product>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline constexpr std::uint64_t kMix0 = 0xa0761d6478bd642f;
inline constexpr std::uint64_t kMix1 = 0xe7037ed1a0b428db;

// How many different hashes were added: exact while they are few, then estimated from those that
// end in ever more zeros (Wegman's adaptive sampling). The order does not matter.
class DistinctCounter {
public:
    // Requires room >= 1: this many hashes are kept.
    explicit DistinctCounter(std::size_t room);

    void add(std::uint64_t hash) {
        if ((hash & mask_) == 0) insert(hash);
    }

    std::uint64_t count() const noexcept { return n_kept_ << std::popcount(mask_); }
    bool is_exact() const noexcept { return mask_ == 0; }

private:
    void insert(std::uint64_t hash);
    void grow();

    std::size_t room_;
    std::size_t n_kept_ = 0;
    std::uint64_t mask_ = 0;
    bool has_zero_ = false;
    std::vector<std::uint64_t> slots_;  // 0: empty
};

// A text with its first and last eight bytes as numbers, which tell apart all texts of up to 16.
struct TextKey {
    // Requires that the bytes up to `end` may be read, bytes + n <= end.
    TextKey(const char* bytes, std::size_t n, const char* end) noexcept : text(bytes), length(n) {
        if (length <= 8) {
            first = little(text, length, end);
        } else {
            first = word(text);
            last = word(text + length - 8);
        }
        hash = mixed(first ^ kMix0 ^ length, last ^ kMix1);
        if (length > 16) add_middle();
    }

    const char* text;
    std::size_t length;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint64_t hash = 0;

private:
    static std::uint64_t word(const char* bytes) noexcept {
        std::uint64_t value;
        std::memcpy(&value, bytes, 8);
        return value;
    }

    static std::uint64_t little(const char* bytes, std::size_t n, const char* end) noexcept {
        if constexpr (std::endian::native == std::endian::little) {
            if (end - bytes >= 8) {
                static constexpr std::uint64_t kMasks[] = {0,
                                                           0xff,
                                                           0xffff,
                                                           0xffffff,
                                                           0xffffffff,
                                                           0xffffffffff,
                                                           0xffffffffffff,
                                                           0xffffffffffffff,
                                                           0xffffffffffffffff};
                return word(bytes) & kMasks[n];
            }
        }
        std::uint64_t value = 0;
        if (n != 0) std::memcpy(&value, bytes, n);
        return value;
    }

    void add_middle() noexcept {
        for (std::size_t i = 8; i + 8 < length; i += 8) hash = mixed(hash ^ word(text + i), kMix1);
    }
};

// Codes of texts. The first text gets code 1; marks of missing values have code 0.
class TextTable {
public:
    TextTable();

    // The code of a text, or kOtherCode where it has none.
    std::uint32_t find(const TextKey& key) const noexcept {
        for (std::size_t i = key.hash & mask_;; i = (i + 1) & mask_) {
            const Slot& slot = slots_[i];
            if (slot.code == kOtherCode) return kOtherCode;
            if (slot.first == key.first && slot.last == key.last && slot.length == key.length &&
                (key.length <= 16 || is_same(slot, key))) {
                return slot.code;
            }
        }
    }

    void add_mark(std::string_view text);
    // The code of a text that `find` does not know.
    std::uint32_t add(const TextKey& key);

    std::size_t size() const noexcept { return texts_.size() - n_marks_; }
    // Texts without marks, in order.
    std::vector<std::string> labels() const;
    // Add the hash of each text that is no mark.
    void count_in(DistinctCounter& counter) const;

private:
    struct Slot {
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        std::uint64_t length = 0;
        std::uint32_t code = kOtherCode;  // this one: empty
        std::uint32_t text = 0;
    };

    bool is_same(const Slot& slot, const TextKey& key) const noexcept {
        return std::memcmp(texts_[slot.text].data(), key.text, key.length) == 0;
    }
    void insert(const TextKey& key, std::uint32_t code, std::uint32_t text);
    void store(const TextKey& key, std::uint32_t code);

    std::size_t mask_;
    std::size_t n_marks_ = 0;  // these come first
    std::vector<Slot> slots_;
    std::vector<std::string> texts_;
};

// Codes of 64-bit words; the first gets code 1.
class WordTable {
public:
    WordTable();

    static std::uint64_t hash(std::uint64_t word) noexcept { return mixed(word ^ kMix0, kMix1); }

    std::uint32_t find(std::uint64_t word, std::uint64_t hash) const noexcept {
        for (std::size_t i = hash & mask_;; i = (i + 1) & mask_) {
            const Slot& slot = slots_[i];
            if (slot.code == kOtherCode) return kOtherCode;
            if (slot.word == word) return slot.code;
        }
    }

    std::uint32_t add(std::uint64_t word, std::uint64_t hash);

    const std::vector<std::uint64_t>& words() const noexcept { return words_; }
    void count_in(DistinctCounter& counter) const;

private:
    struct Slot {
        std::uint64_t word = 0;
        std::uint32_t code = kOtherCode;
    };

    void insert(std::uint64_t word, std::uint64_t hash, std::uint32_t code);

    std::size_t mask_;
    std::vector<Slot> slots_;
    std::vector<std::uint64_t> words_;
};

}  // namespace bestdag
