#include "data/code_column.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

namespace bestdag {

namespace {

constexpr std::size_t kFewLabels = 255;
constexpr std::size_t kLeastBytes = 64;

std::size_t width_for(std::size_t n_labels) noexcept {
    return n_labels <= 0xff ? 1 : n_labels <= 0xffff ? 2 : 4;
}

void resize(Bytes& bytes, std::size_t n) {
    void* const moved = std::realloc(bytes.get(), std::max(n, kLeastBytes));
    if (!moved) throw std::bad_alloc();
    static_cast<void>(bytes.release());
    bytes.reset(moved);
}

// Call with a pointer to codes of this width.
template <class Call>
void with_width(std::size_t width, Call&& call) {
    if (width == 1) {
        call(std::uint8_t{});
    } else if (width == 2) {
        call(std::uint16_t{});
    } else {
        call(std::uint32_t{});
    }
}

// Memory that is read as codes of one width while it is written as codes of another.
template <class Code>
Code load(const std::byte* bytes, std::size_t i) noexcept {
    Code code;
    std::memcpy(&code, bytes + i * sizeof(Code), sizeof(Code));
    return code;
}

template <class Code>
void save(std::byte* bytes, std::size_t i, Code code) noexcept {
    std::memcpy(bytes + i * sizeof(Code), &code, sizeof(Code));
}

template <class From, class To>
void translate(const std::byte* from, std::byte* to, std::size_t size, const CodeMap& map) {
    From most = 0;
    for (std::size_t i = 0; i < size; ++i) most = std::max(most, load<From>(from, i));
    if (size != 0 && most >= map.size) {
        throw std::out_of_range("a code has no entry in the map");
    }
    const To* const entries = static_cast<const To*>(map.entries);
    for (std::size_t i = 0; i < size; ++i) save(to, i, entries[load<From>(from, i)]);
}

}  // namespace

void recode_in_place(void* codes, std::size_t size, const CodeMap& map) {
    auto* const at = static_cast<std::byte*>(codes);
    with_width(map.width, [&](auto code) {
        translate<decltype(code), decltype(code)>(at, at, size, map);
    });
}

Codes recoded(Codes codes, const CodeMap& map) {
    const std::size_t width = map.width;
    Codes result;
    const bool is_wider = width > codes.width;
    if (is_wider) resize(result.bytes, codes.size * width);
    const auto* const from = static_cast<const std::byte*>(codes.bytes.get());
    auto* const to = static_cast<std::byte*>(is_wider ? result.bytes.get() : codes.bytes.get());
    with_width(codes.width, [&](auto before) {
        with_width(width, [&](auto after) {
            translate<decltype(before), decltype(after)>(from, to, codes.size, map);
        });
    });
    if (!is_wider) {
        result.bytes = std::move(codes.bytes);
        if (width < codes.width) resize(result.bytes, codes.size * width);
    }
    result.size = codes.size;
    result.width = width;
    return result;
}

void CodeColumn::append(std::span<const std::uint32_t> codes) {
    // Labels that are new in these rows appear in the order of their codes.
    const auto row = static_cast<std::int64_t>(n_rows_);
    for (std::size_t i = 0; first_rows_.size() < n_labels_ && i < codes.size(); ++i) {
        if (codes[i] == first_rows_.size() + 1) {
            first_rows_.push_back(row + static_cast<std::int64_t>(i));
        }
    }
    if (is_over_) {
        codes_ = Codes{};
        counts_ = {};
        capacity_ = 0;
        n_missing_ += std::count(codes.begin(), codes.end(), kMissingCode);
    } else {
        count(codes);
        store(codes);
    }
    if (!first_missing_ && n_missing_ > 0) {
        const auto found = std::find(codes.begin(), codes.end(), kMissingCode);
        first_missing_ = row + (found - codes.begin());
    }
    n_rows_ += codes.size();
}

void CodeColumn::count(std::span<const std::uint32_t> codes) {
    counts_.resize(n_labels_ + 1);
    const std::int64_t before = counts_[0];
    if (n_labels_ <= kFewLabels) {
        // Four tables: runs of one label would wait for its count from row to row.
        std::array<std::uint32_t, 4 * (kFewLabels + 1)> tables;
        const std::size_t n = n_labels_ + 1;
        std::fill_n(tables.begin(), 4 * n, 0U);
        std::size_t i = 0;
        for (; i + 4 <= codes.size(); i += 4) {
            ++tables[codes[i]];
            ++tables[n + codes[i + 1]];
            ++tables[2 * n + codes[i + 2]];
            ++tables[3 * n + codes[i + 3]];
        }
        for (; i < codes.size(); ++i) ++tables[codes[i]];
        for (std::size_t k = 0; k < n; ++k) {
            counts_[k] += std::int64_t{tables[k]} + tables[n + k] + tables[2 * n + k] +
                          tables[3 * n + k];
        }
    } else {
        for (const std::uint32_t code : codes) ++counts_[code];
    }
    n_missing_ += counts_[0] - before;
}

void CodeColumn::store(std::span<const std::uint32_t> codes) {
    const std::size_t width = width_for(n_labels_);
    if (width > codes_.width) widen(width);
    reserve(codes_.size + codes.size(), codes_.width);
    with_width(codes_.width, [&](auto narrow) {
        using Code = decltype(narrow);
        Code* const to = static_cast<Code*>(codes_.bytes.get()) + codes_.size;
        for (std::size_t i = 0; i < codes.size(); ++i) to[i] = static_cast<Code>(codes[i]);
    });
    codes_.size += codes.size();
}

void CodeColumn::widen(std::size_t width) {
    reserve(codes_.size, width);
    with_width(codes_.width, [&](auto narrow) {
        with_width(width, [&](auto wide) {
            auto* const bytes = static_cast<std::byte*>(codes_.bytes.get());
            // From the end, where wider codes overwrite nothing that is still needed.
            for (std::size_t i = codes_.size; i-- > 0;) {
                save(bytes, i, static_cast<decltype(wide)>(load<decltype(narrow)>(bytes, i)));
            }
        });
    });
    codes_.width = width;
}

void CodeColumn::reserve(std::size_t size, std::size_t width) {
    if (size * width <= capacity_) return;
    // Pages that are not written yet take no memory.
    const std::size_t grown = std::max(size * width, capacity_ + capacity_ / 2);
    resize(codes_.bytes, grown);
    capacity_ = grown;
}

std::vector<std::int64_t> CodeColumn::counts() const {
    if (is_over_ || counts_.empty()) return {};
    return {counts_.begin() + 1, counts_.end()};
}

Codes CodeColumn::take() {
    if (codes_.bytes) resize(codes_.bytes, codes_.size * codes_.width);
    capacity_ = 0;
    Codes taken = std::exchange(codes_, Codes{});
    if (!taken.bytes) resize(taken.bytes, 0);
    return taken;
}

}  // namespace bestdag
