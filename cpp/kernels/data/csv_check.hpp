// Whether the bytes of a CSV file are plain: text, with the same number of cells in every row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bestdag {

// Whether bytes that come in pieces are UTF-8 (Unicode 15, table 3-7).
class Utf8Check {
public:
    // False once they are not.
    bool add(std::span<const unsigned char> bytes) noexcept;
    // Whether no character has begun and not ended.
    bool is_complete() const noexcept { return n_left_ == 0; }

private:
    unsigned n_left_ = 0;         // bytes to come of this character
    unsigned char least_ = 0x80;  // of the next of them
    unsigned char most_ = 0xbf;
};

// Plain files have UTF-8 without NUL, quotes only around whole cells (doubled inside them), and in
// every row that is not blank as many cells as there are columns. Others may be well, too: that is
// for slower checks to say.
class CsvCheck {
public:
    // Requires an ASCII separator that is neither a quote nor a line end.
    CsvCheck(char separator, std::size_t n_columns);

    // False once the file is not plain. Pieces come in order and may end anywhere.
    bool add(std::span<const unsigned char> bytes) noexcept;
    // The same for the file, whose bytes were all added.
    bool is_plain() noexcept;

private:
    enum class Place { kRowStart, kCellStart, kPlainCell, kQuoted, kQuoteInQuoted };

    void step(unsigned char byte) noexcept;
    bool skip_word(const unsigned char* bytes) noexcept;
    void end_row() noexcept;

    unsigned char separator_;
    std::size_t n_columns_;
    Utf8Check utf8_;
    bool is_plain_ = true;
    Place place_ = Place::kRowStart;  // of the next byte
    std::size_t n_separators_ = 0;  // in this row
};

}  // namespace bestdag
