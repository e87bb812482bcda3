#include "data/csv_check.hpp"

#include <bit>
#include <cstring>

namespace bestdag {

namespace {

constexpr std::size_t kWord = 8;
constexpr std::uint64_t kOnes = 0x0101010101010101;
constexpr std::uint64_t kHighs = 0x8080808080808080;

std::uint64_t word_at(const unsigned char* bytes) noexcept {
    std::uint64_t word;
    std::memcpy(&word, bytes, kWord);
    // The first byte is the lowest.
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    return word;
}

// The high bit of each byte that is equal to another; requires bytes below 128.
std::uint64_t equal_bytes(std::uint64_t word, unsigned char byte) noexcept {
    return ~((word ^ kOnes * byte) + (kHighs - kOnes)) & kHighs;
}

}  // namespace

bool Utf8Check::add(std::span<const unsigned char> bytes) noexcept {
    for (std::size_t i = 0; i < bytes.size();) {
        if (n_left_ == 0) {
            while (i + kWord <= bytes.size() && (word_at(&bytes[i]) & kHighs) == 0) i += kWord;
            if (i == bytes.size()) break;
        }
        const unsigned char byte = bytes[i++];
        if (n_left_ > 0) {
            if (byte < least_ || byte > most_) return false;
            --n_left_;
            least_ = 0x80;
            most_ = 0xbf;
        } else if (byte >= 0x80) {
            if (byte < 0xc2 || byte > 0xf4) return false;
            n_left_ = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
            // No longer form than needed, no half of a pair, nothing beyond U+10FFFF.
            if (byte == 0xe0) least_ = 0xa0;
            if (byte == 0xed) most_ = 0x9f;
            if (byte == 0xf0) least_ = 0x90;
            if (byte == 0xf4) most_ = 0x8f;
        }
    }
    return true;
}

CsvCheck::CsvCheck(char separator, std::size_t n_columns)
    : separator_(static_cast<unsigned char>(separator)), n_columns_(n_columns) {}

bool CsvCheck::add(std::span<const unsigned char> bytes) noexcept {
    is_plain_ = is_plain_ && utf8_.add(bytes);
    for (std::size_t i = 0; is_plain_ && i < bytes.size();) {
        if (bytes.size() - i >= kWord && skip_word(&bytes[i])) {
            i += kWord;
        } else {
            step(bytes[i++]);
        }
    }
    return is_plain_;
}

bool CsvCheck::is_plain() noexcept {
    if (place_ == Place::kQuoted || !utf8_.is_complete()) is_plain_ = false;
    if (place_ != Place::kRowStart) end_row();
    place_ = Place::kRowStart;
    return is_plain_;
}

// Eight bytes at once, where they are in no quotes: only separators and line ends count.
bool CsvCheck::skip_word(const unsigned char* bytes) noexcept {
    if (place_ == Place::kQuoted || place_ == Place::kQuoteInQuoted) return false;
    const std::uint64_t word = word_at(bytes);
    const std::uint64_t ascii = ~word & kHighs;
    const std::uint64_t low = word & ~kHighs;
    if (((equal_bytes(low, '"') | equal_bytes(low, 0)) & ascii) != 0) return false;
    std::uint64_t separators = equal_bytes(low, separator_) & ascii;
    std::uint64_t ends = (equal_bytes(low, '\n') | equal_bytes(low, '\r')) & ascii;
    const std::uint64_t last = (separators | ends) >> 63;
    const bool is_end = ends >> 63 != 0;
    // Between an end and the one before is a row, unless there is nothing.
    const std::uint64_t blank = ends << 8 | (place_ == Place::kRowStart ? 0x80 : 0);
    for (; ends != 0; ends &= ends - 1) {
        const std::uint64_t end = ends & -ends;
        n_separators_ += static_cast<std::size_t>(std::popcount(separators & (end - 1)));
        separators &= ~(end - 1);
        if ((blank & end) == 0) end_row();
    }
    n_separators_ += static_cast<std::size_t>(std::popcount(separators));
    place_ = is_end ? Place::kRowStart : last != 0 ? Place::kCellStart : Place::kPlainCell;
    return true;
}

void CsvCheck::step(unsigned char byte) noexcept {
    if (place_ == Place::kQuoted) {
        if (byte == '"') place_ = Place::kQuoteInQuoted;
        if (byte == 0) is_plain_ = false;
    } else if (byte == separator_) {
        ++n_separators_;
        place_ = Place::kCellStart;
    } else if (byte == '\n' || byte == '\r') {
        if (place_ != Place::kRowStart) end_row();
        place_ = Place::kRowStart;
    } else if (byte == '"' && place_ != Place::kPlainCell) {
        place_ = Place::kQuoted;  // where one is doubled, too
    } else {
        // A quote inside a cell, or more after the one that ends it.
        if (byte == '"' || byte == 0 || place_ == Place::kQuoteInQuoted) is_plain_ = false;
        place_ = Place::kPlainCell;
    }
}

void CsvCheck::end_row() noexcept {
    if (n_separators_ + 1 != n_columns_) is_plain_ = false;
    n_separators_ = 0;
}

}  // namespace bestdag
