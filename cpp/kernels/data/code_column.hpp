// Codes of one column in as few bytes as they need, growing row by row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "data/label_table.hpp"

namespace bestdag {

// Memory from malloc, so that it can grow where it is and be handed on.
using Bytes = std::unique_ptr<void, decltype(&std::free)>;

// Codes of 1, 2 or 4 bytes.
struct Codes {
    Bytes bytes{nullptr, &std::free};
    std::size_t size = 0;
    std::size_t width = 1;
};

// A new code for each code, of `width` bytes; a width of 0 stands for no map.
struct CodeMap {
    const void* entries = nullptr;
    std::size_t size = 0;
    std::size_t width = 0;
};

// Replace each code by its entry; in place unless the entries are wider. Throws std::out_of_range
// where a code has no entry.
Codes recoded(Codes codes, const CodeMap& map);
// The same for codes of the same width that stay where they are.
void recode_in_place(void* codes, std::size_t size, const CodeMap& map);

// The codes of a column, and what is known of its labels: 0 is a missing value, 1 + i label i.
class CodeColumn {
public:
    // A column with more labels than `limit` loses its codes.
    explicit CodeColumn(std::uint32_t limit) : limit_(limit) {}

    // Rows whose new labels, if there are any, are numbered in order. At most 2^16 at once.
    void append(std::span<const std::uint32_t> codes);

    // Whether one more label may have a code: the one beyond the limit gets its own, too.
    bool may_add() const noexcept { return !is_over_; }
    // Say that a label was added.
    void added() noexcept { is_over_ = ++n_labels_ > limit_; }

    std::size_t n_rows() const noexcept { return n_rows_; }
    bool is_over() const noexcept { return is_over_; }
    std::size_t n_labels() const noexcept { return n_labels_; }
    std::int64_t n_missing() const noexcept { return n_missing_; }
    std::optional<std::int64_t> first_missing() const noexcept { return first_missing_; }
    std::span<const std::int64_t> first_rows() const noexcept { return first_rows_; }
    // How many rows have each label; empty for a column without codes.
    std::vector<std::int64_t> counts() const;

    // Move the codes of the rows since the last time out.
    Codes take();

private:
    void count(std::span<const std::uint32_t> codes);
    void store(std::span<const std::uint32_t> codes);
    void widen(std::size_t width);
    void reserve(std::size_t size, std::size_t width);

    std::uint32_t limit_;
    std::size_t n_rows_ = 0;
    std::size_t n_labels_ = 0;
    bool is_over_ = false;
    std::int64_t n_missing_ = 0;
    std::optional<std::int64_t> first_missing_;
    std::vector<std::int64_t> first_rows_;
    std::vector<std::int64_t> counts_;  // the first is that of missing values
    Codes codes_;
    std::size_t capacity_ = 0;  // in bytes
};

}  // namespace bestdag
