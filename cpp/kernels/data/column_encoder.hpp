// From the values of a table to codes and labels, column by column: what every source of rows
// goes through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/parallel.hpp"
#include "data/array_values.hpp"
#include "data/arrow.hpp"
#include "data/code_column.hpp"
#include "data/label_table.hpp"

namespace bestdag {

// An array of numbers, booleans or fixed texts, as NumPy has them.
struct PlainArray {
    enum class Kind { kSigned, kUnsigned, kFloat, kBool, kTime, kText };

    const std::byte* data = nullptr;
    std::ptrdiff_t stride = 0;  // in bytes
    std::size_t size = 0;
    Kind kind = Kind::kSigned;
    std::size_t item_bytes = 8;            // kText: four per character, padded with NUL
    const std::uint8_t* mask = nullptr;    // not zero: missing
    std::ptrdiff_t mask_stride = 0;
};

// The labels of a column as text, as words, or none yet.
using Labels = std::variant<std::monostate, std::vector<std::string>, std::vector<std::uint64_t>>;

class ColumnEncoder {
public:
    // One limit per column: more labels than that are counted, but have no codes. Texts among
    // `missing_values` are missing. Columns in `numbers` are kept as numbers instead.
    ColumnEncoder(std::span<const std::uint32_t> limits, std::vector<std::string> missing_values,
                  std::span<const std::size_t> numbers);
    ~ColumnEncoder();
    ColumnEncoder(const ColumnEncoder&) = delete;
    ColumnEncoder& operator=(const ColumnEncoder&) = delete;

    std::size_t n_columns() const noexcept;
    // Hashes that are kept to count the labels of a column beyond its limit.
    std::size_t n_hashes() const noexcept;

    // Encode whole streams, each into columns from one on. Throws StreamError, TypeError,
    // Interrupted; what was encoded is then of no use.
    void add_streams(std::span<ArrowArrayStream* const> streams,
                     std::span<const std::size_t> first_columns, const Execution& execution);
    // The same for at most so many batches of one stream; whether there may be more.
    bool add_batches(ArrowArrayStream& stream, std::size_t first_column, std::size_t n_batches,
                     const Execution& execution);
    // Encode one array for each of these columns, all different.
    void add_arrays(std::span<const PlainArray> arrays, std::span<const std::size_t> columns,
                    const Execution& execution);

    // The codes of a column whose labels are kept elsewhere.
    CodeColumn& own_codes(std::size_t column);

    // What is known of a column. `n_distinct` leaves out missing values.
    const CodeColumn& codes(std::size_t column) const;
    Labels labels(std::size_t column) const;
    Labels declared(std::size_t column) const;  // values of dictionaries, seen or not
    WordKind word_kind(std::size_t column) const;
    const std::string& format(std::size_t column) const;
    std::uint64_t n_distinct(std::size_t column) const;
    bool is_exact(std::size_t column) const;
    bool is_number(std::size_t column) const;
    std::size_t n_rows(std::size_t column) const;

    // Move out the codes of columns, all different, since the last time, and replace each by its
    // entry in a map where one is given; the numbers of a column.
    std::vector<Codes> take(std::span<const std::size_t> columns, std::span<const CodeMap> maps,
                            const Execution& execution);
    std::vector<double> take_numbers(std::size_t column);

private:
    class Column;

    void encode(std::span<const Released<ArrowArray>> batches, const ArrowSchema& schema,
                std::size_t first_column, std::size_t n_cells, const Execution& execution);
    void add_field(const ArrowSchema& schema, const ArrowArray& batch, std::size_t k,
                   std::size_t first_column, const StopFlag& stop);
    void require_columns(const ArrowSchema& schema, std::size_t first_column) const;

    std::vector<std::string> missing_values_;
    std::vector<std::unique_ptr<Column>> columns_;
};

}  // namespace bestdag
