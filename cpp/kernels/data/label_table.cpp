#include "data/label_table.hpp"

#include <utility>

namespace bestdag {

namespace {

constexpr std::size_t kFewSlots = 16;

TextKey key_of(const std::string& text) noexcept {
    return {text.data(), text.size(), text.data() + text.size()};
}

}  // namespace

DistinctCounter::DistinctCounter(std::size_t room) : room_(room), slots_(kFewSlots) {}

void DistinctCounter::insert(std::uint64_t hash) {
    if (hash == 0) {
        if (!has_zero_) ++n_kept_;
        has_zero_ = true;
    } else {
        // The low bits are zero in a sample, so the place is taken from the high ones.
        const std::size_t last = slots_.size() - 1;
        std::size_t i = (hash >> 32) & last;
        while (slots_[i] != 0 && slots_[i] != hash) i = (i + 1) & last;
        if (slots_[i] == hash) return;
        slots_[i] = hash;
        ++n_kept_;
    }
    if (n_kept_ > room_ || 2 * n_kept_ > slots_.size()) grow();
}

void DistinctCounter::grow() {
    const bool is_full = n_kept_ > room_;
    if (is_full) mask_ = 2 * mask_ + 1;
    const std::size_t size = is_full ? slots_.size() : 2 * slots_.size();
    const std::vector<std::uint64_t> old =
        std::exchange(slots_, std::vector<std::uint64_t>(size));
    n_kept_ = has_zero_ ? 1 : 0;
    const std::size_t last = slots_.size() - 1;
    for (const std::uint64_t hash : old) {
        if (hash == 0 || (hash & mask_) != 0) continue;
        std::size_t i = (hash >> 32) & last;
        while (slots_[i] != 0) i = (i + 1) & last;
        slots_[i] = hash;
        ++n_kept_;
    }
}

TextTable::TextTable() : mask_(kFewSlots - 1), slots_(kFewSlots) {}

void TextTable::add_mark(std::string_view text) {
    const TextKey key(text.data(), text.size(), text.data() + text.size());
    if (find(key) != kOtherCode) return;
    ++n_marks_;
    store(key, kMissingCode);
}

std::uint32_t TextTable::add(const TextKey& key) {
    const auto code = static_cast<std::uint32_t>(size() + 1);
    store(key, code);
    return code;
}

void TextTable::store(const TextKey& key, std::uint32_t code) {
    texts_.emplace_back(key.length == 0 ? "" : key.text, key.length);
    if (2 * texts_.size() > slots_.size()) {
        const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
        mask_ = slots_.size() - 1;
        for (const Slot& slot : old) {
            if (slot.code != kOtherCode) insert(key_of(texts_[slot.text]), slot.code, slot.text);
        }
    }
    insert(key, code, static_cast<std::uint32_t>(texts_.size() - 1));
}

void TextTable::insert(const TextKey& key, std::uint32_t code, std::uint32_t text) {
    std::size_t i = key.hash & mask_;
    while (slots_[i].code != kOtherCode) i = (i + 1) & mask_;
    slots_[i] = {key.first, key.last, key.length, code, text};
}

std::vector<std::string> TextTable::labels() const {
    return {texts_.begin() + static_cast<std::ptrdiff_t>(n_marks_), texts_.end()};
}

void TextTable::count_in(DistinctCounter& counter) const {
    for (std::size_t i = n_marks_; i < texts_.size(); ++i) counter.add(key_of(texts_[i]).hash);
}

WordTable::WordTable() : mask_(kFewSlots - 1), slots_(kFewSlots) {}

std::uint32_t WordTable::add(std::uint64_t word, std::uint64_t hash) {
    words_.push_back(word);
    if (2 * words_.size() > slots_.size()) {
        const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
        mask_ = slots_.size() - 1;
        for (const Slot& slot : old) {
            if (slot.code != kOtherCode) insert(slot.word, WordTable::hash(slot.word), slot.code);
        }
    }
    const auto code = static_cast<std::uint32_t>(words_.size());
    insert(word, hash, code);
    return code;
}

void WordTable::insert(std::uint64_t word, std::uint64_t hash, std::uint32_t code) {
    std::size_t i = hash & mask_;
    while (slots_[i].code != kOtherCode) i = (i + 1) & mask_;
    slots_[i] = {word, code};
}

void WordTable::count_in(DistinctCounter& counter) const {
    for (const std::uint64_t word : words_) counter.add(hash(word));
}

}  // namespace bestdag
