#include "data/column_encoder.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace bestdag {

namespace {

constexpr std::size_t kBlockRows = 4096;
constexpr std::size_t kBlocksPerLook = 16;  // at the flag that stops, well under 20 ms apart
constexpr double kCellNanoseconds = 4.0;
constexpr double kRecodeNanoseconds = 1.0;
// Cells and batches that are gathered before threads are started for them.
constexpr std::size_t kGatheredCells = std::size_t{1} << 20;
constexpr std::size_t kGatheredBatches = 256;
// Hashes of the values of all columns together that have too many, and of each.
constexpr std::size_t kHashes = std::size_t{1} << 22;
constexpr std::size_t kFewestHashes = std::size_t{1} << 12;
constexpr std::size_t kMostHashes = std::size_t{1} << 20;
constexpr auto kPollInterval = std::chrono::milliseconds(20);

// An entry of a dictionary that no row had yet.
constexpr std::uint32_t kUnknownCode = 0xfffffffe;

using Block = std::array<std::uint32_t, kBlockRows>;

// Asks whether to stop, but not more often than is of use.
class Poll {
public:
    explicit Poll(const Execution& execution) : execution_(execution) {}

    void look() {
        const auto now = std::chrono::steady_clock::now();
        if (!execution_.should_stop || now < next_) return;
        next_ = now + kPollInterval;
        if (execution_.should_stop()) throw Interrupted();
    }

private:
    const Execution& execution_;
    std::chrono::steady_clock::time_point next_{};
};

// Which rows of an array have a value; null: all.
const std::uint8_t* validity(const ArrowArray& array) noexcept {
    if (array.null_count == 0 || array.n_buffers == 0) return nullptr;
    return static_cast<const std::uint8_t*>(array.buffers[0]);
}

// Whether rows of a struct are missing as a whole, which those of a table never are.
bool has_null_rows(const ArrowArray& batch) noexcept {
    const std::uint8_t* const valid = validity(batch);
    for (std::int64_t i = 0; valid && i < batch.length; ++i) {
        if (!bit_at(valid, static_cast<std::size_t>(batch.offset + i))) return true;
    }
    return false;
}

bool is_struct(const ArrowSchema& schema) noexcept {
    return std::string_view(schema.format) == "+s";
}

std::size_t n_fields(const ArrowSchema& schema) noexcept {
    return is_struct(schema) ? static_cast<std::size_t>(schema.n_children) : 1;
}

// Positions in a dictionary, as the index type has them.
std::int64_t index_at(char format, const void* indices, std::size_t row) noexcept {
    const auto at = [&]<class T>(T) {
        return static_cast<std::int64_t>(static_cast<const T*>(indices)[row]);
    };
    switch (format) {
        case 'c':
            return at(std::int8_t{});
        case 'C':
            return at(std::uint8_t{});
        case 's':
            return at(std::int16_t{});
        case 'S':
            return at(std::uint16_t{});
        case 'i':
            return at(std::int32_t{});
        case 'I':
            return at(std::uint32_t{});
        default:
            return at(std::int64_t{});
    }
}

// Write a text of UTF-32 as UTF-8, half characters too; what is beyond Unicode becomes a mark of
// broken text, too.
void write_utf8(const std::byte* letters, std::size_t n, std::string& text) {
    text.clear();
    const auto letter_at = [letters](std::size_t i) {
        return value_at<std::uint32_t>(letters, static_cast<std::ptrdiff_t>(4 * i));
    };
    while (n > 0 && letter_at(n - 1) == 0) --n;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t letter = letter_at(i);
        const auto tail = [&](int shift) {
            text.push_back(static_cast<char>(0x80 | (letter >> shift & 0x3f)));
        };
        if (letter < 0x80) {
            text.push_back(static_cast<char>(letter));
        } else if (letter < 0x800) {
            text.push_back(static_cast<char>(0xc0 | letter >> 6));
            tail(0);
        } else if (letter < 0x10000) {
            text.push_back(static_cast<char>(0xe0 | letter >> 12));
            tail(6);
            tail(0);
        } else if (letter < 0x110000) {
            text.push_back(static_cast<char>(0xf0 | letter >> 18));
            tail(12);
            tail(6);
            tail(0);
        } else {
            text.push_back(static_cast<char>(0xff));
        }
    }
}

}  // namespace

// One column: where its codes go, and the table of its labels.
class ColumnEncoder::Column {
public:
    Column(std::uint32_t limit, const std::vector<std::string>& missing_values,
           std::size_t n_hashes)
        : codes(limit), missing_values_(missing_values), n_hashes_(n_hashes) {}

    // The rows of an array, moved by the offset of the struct that it is in.
    void add(const ArrowSchema& schema, const ArrowArray& array, std::size_t offset,
             std::size_t n_rows, const StopFlag& stop) {
        if (n_rows == 0) return;
        const std::string_view type = schema.format;
        const std::size_t first = static_cast<std::size_t>(array.offset) + offset;
        if (schema.dictionary) {
            add_dictionary(schema, array, first, n_rows, stop);
            return;
        }
        if (type == "n") {
            add_missing(n_rows, stop);
            return;
        }
        const std::uint8_t* const valid = validity(array);
        const bool is_read =
            visit_values(type, array, first + n_rows, [&](WordKind words, const auto& values) {
                begin<std::decay_t<decltype(values(0))>>(words, type);
                const auto value_at = [&](std::size_t i) { return values(first + i); };
                if (valid) {
                    encode(n_rows, stop, [&](std::size_t i) { return bit_at(valid, first + i); },
                           value_at);
                } else {
                    encode(n_rows, stop, [](std::size_t) { return true; }, value_at);
                }
            });
        if (!is_read) refuse(type);
    }

    // Rows of an array of NumPy.
    void add(const PlainArray& array, std::size_t first, std::size_t n_rows,
             const StopFlag& stop) {
        const auto with_mask = [&](auto&& value_at) {
            const auto row = [&](std::size_t i) { return static_cast<std::ptrdiff_t>(first + i); };
            const auto value = [&](std::size_t i) { return value_at(row(i) * array.stride); };
            if (array.mask) {
                encode(n_rows, stop,
                       [&](std::size_t i) { return !array.mask[row(i) * array.mask_stride]; },
                       value);
            } else {
                encode(n_rows, stop, [](std::size_t) { return true; }, value);
            }
        };
        const auto whole = [&]<class T>(T) {
            with_mask([&](std::ptrdiff_t at) { return whole_word(value_at<T>(array.data, at)); });
        };
        const auto type = array.kind;
        using Kind = PlainArray::Kind;
        if (type == Kind::kText) {
            begin<TextKey>(WordKind::kSigned, "u");
            std::string text;
            with_mask([&](std::ptrdiff_t at) {
                write_utf8(array.data + at, array.item_bytes / 4, text);
                return TextKey(text.data(), text.size(), text.data() + text.size());
            });
        } else if (type == Kind::kBool) {
            begin<Word>(WordKind::kBool, "b");
            with_mask([&](std::ptrdiff_t at) {
                return Word{value_at<std::uint8_t>(array.data, at) != 0};
            });
        } else if (type == Kind::kTime) {
            begin<Word>(WordKind::kSigned, "l");
            with_mask([&](std::ptrdiff_t at) {
                const auto time = value_at<std::int64_t>(array.data, at);
                return Word{static_cast<std::uint64_t>(time),
                            time == std::numeric_limits<std::int64_t>::min()};  // NaT
            });
        } else if (type == Kind::kFloat) {
            if (array.item_bytes == 8) {
                begin<Word>(WordKind::kFloat64, "g");
                with_mask([&](std::ptrdiff_t at) {
                    return float_word(value_at<double>(array.data, at));
                });
            } else if (array.item_bytes == 4) {
                begin<Word>(WordKind::kFloat32, "f");
                with_mask([&](std::ptrdiff_t at) {
                    return float_word(value_at<float>(array.data, at));
                });
            } else {
                begin<Word>(WordKind::kFloat16, "e");
                with_mask([&](std::ptrdiff_t at) {
                    return half_word(value_at<std::uint16_t>(array.data, at));
                });
            }
        } else if (type == Kind::kSigned) {
            begin<Word>(WordKind::kSigned, "l");
            array.item_bytes == 1   ? whole(std::int8_t{})
            : array.item_bytes == 2 ? whole(std::int16_t{})
            : array.item_bytes == 4 ? whole(std::int32_t{})
                                    : whole(std::int64_t{});
        } else {
            begin<Word>(WordKind::kUnsigned, "L");
            array.item_bytes == 1   ? whole(std::uint8_t{})
            : array.item_bytes == 2 ? whole(std::uint16_t{})
            : array.item_bytes == 4 ? whole(std::uint32_t{})
                                    : whole(std::uint64_t{});
        }
    }

    Labels labels() const { return labels_of(table_); }
    Labels declared() const { return labels_of(declared_); }

    CodeColumn codes;
    bool is_number = false;
    std::vector<double> numbers;
    std::size_t n_numbers = 0;
    std::string format;
    WordKind kind = WordKind::kSigned;
    std::unique_ptr<DistinctCounter> counter;

private:
    using Table = std::variant<std::monostate, TextTable, WordTable>;

    static Labels labels_of(const Table& table) {
        if (const auto* const texts = std::get_if<TextTable>(&table)) return texts->labels();
        if (const auto* const words = std::get_if<WordTable>(&table)) return words->words();
        return {};
    }

    [[noreturn]] void refuse(std::string_view type) const {
        std::string what = " has Arrow type '" + std::string(type) + "'";
        if (!format.empty()) what += " after '" + format + "'";
        throw TypeError(what);
    }

    // Prepare for values of this type: keys or words.
    template <class Value>
    void begin(WordKind words, std::string_view type) {
        constexpr bool is_text = std::is_same_v<Value, TextKey>;
        if (is_number && is_text) refuse(type);
        if (format.empty()) {
            if constexpr (is_text) {
                for (const std::string& mark : missing_values_) {
                    table_of<TextTable>(table_).add_mark(mark);
                }
            }
            table_of<std::conditional_t<is_text, TextTable, WordTable>>(table_);
            format = type;
            kind = words;
            return;
        }
        const bool was_text = std::holds_alternative<TextTable>(table_);
        const bool is_time = type.front() == 't' || format.front() == 't';
        if (was_text != is_text || kind != words || (is_time && type != format)) refuse(type);
    }

    template <class T>
    static T& table_of(Table& table) {
        if (!std::holds_alternative<T>(table)) table.template emplace<T>();
        return std::get<T>(table);
    }

    // Code, or keep, the values of rows.
    template <class IsValid, class ValueAt>
    void encode(std::size_t n_rows, const StopFlag& stop, IsValid&& is_valid, ValueAt&& value_at) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value_at(0))>, Word>) {
            if (is_number) {
                keep_numbers(n_rows, stop, [&](std::size_t i) {
                    return is_valid(i) ? value_at(i) : Word{0, true};
                });
            } else {
                encode_with(std::get<WordTable>(table_), n_rows, stop, is_valid, value_at);
            }
        } else {
            encode_with(std::get<TextTable>(table_), n_rows, stop, is_valid, value_at);
        }
    }

    template <class T, class IsValid, class ValueAt>
    void encode_with(T& table, std::size_t n_rows, const StopFlag& stop, const IsValid& is_valid,
                     const ValueAt& value_at) {
        code_blocks(n_rows, stop, [&](std::size_t i) {
            return is_valid(i) ? code(table, value_at(i)) : kMissingCode;
        });
    }

    void add_missing(std::size_t n_rows, const StopFlag& stop) {
        if (is_number) {
            keep_numbers(n_rows, stop, [](std::size_t) { return Word{0, true}; });
        } else {
            code_blocks(n_rows, stop, [](std::size_t) { return kMissingCode; });
        }
    }

    template <class CodeAt>
    void code_blocks(std::size_t n_rows, const StopFlag& stop, CodeAt&& code_at) {
        Block block;
        for (std::size_t start = 0, n_blocks = 0; start < n_rows; start += kBlockRows) {
            const std::size_t n = std::min(kBlockRows, n_rows - start);
            for (std::size_t i = 0; i < n; ++i) block[i] = code_at(start + i);
            codes.append({block.data(), n});
            if (++n_blocks % kBlocksPerLook == 0) check(stop);
        }
    }

    template <class ValueAt>
    void keep_numbers(std::size_t n_rows, const StopFlag& stop, ValueAt&& value_at) {
        for (std::size_t i = 0; i < n_rows; ++i) {
            numbers.push_back(number_of(value_at(i), kind));
            if (i % (kBlockRows * kBlocksPerLook) == 0) check(stop);
        }
        n_numbers += n_rows;
    }

    std::uint32_t code(TextTable& table, const TextKey& key) {
        const std::uint32_t found = table.find(key);
        return found != kOtherCode ? found : new_code(table, key.hash, key);
    }
    std::uint32_t code(WordTable& table, Word word) {
        if (word.is_missing) return kMissingCode;
        const std::uint64_t hash = WordTable::hash(word.bits);
        const std::uint32_t found = table.find(word.bits, hash);
        return found != kOtherCode ? found : new_code(table, hash, word.bits);
    }

    template <class T, class Value>
    std::uint32_t new_code(T& table, std::uint64_t hash, const Value& value) {
        if (!codes.may_add()) {
            counter->add(hash);
            return kOtherCode;
        }
        std::uint32_t code;
        if constexpr (std::is_same_v<T, TextTable>) {
            code = table.add(value);
        } else {
            code = table.add(value, hash);
        }
        codes.added();
        if (!codes.may_add()) {
            counter = std::make_unique<DistinctCounter>(n_hashes_);
            table.count_in(*counter);
        }
        return code;
    }

    void add_dictionary(const ArrowSchema& schema, const ArrowArray& array, std::size_t first,
                        std::size_t n_rows, const StopFlag& stop) {
        const ArrowArray& dictionary = *array.dictionary;
        const std::string_view type = schema.dictionary->format;
        const std::string_view index = schema.format;
        if (index.size() != 1 || index.find_first_of("cCsSiIlL") != 0 ||
            schema.dictionary->dictionary) {
            refuse(index);
        }
        const auto size = static_cast<std::size_t>(dictionary.length);
        const auto from = static_cast<std::size_t>(dictionary.offset);
        const std::uint8_t* const valid = validity(array);
        const std::uint8_t* const is_entry = validity(dictionary);
        const void* const indices = array.buffers[1];
        if (type == "n" || size == 0) {
            add_missing(n_rows, stop);
            return;
        }
        // The entry of a row, or `none`.
        const std::size_t none = from + size;
        const auto entry_at = [&](std::size_t i) {
            if (valid && !bit_at(valid, first + i)) return none;
            const std::int64_t at = index_at(index.front(), indices, first + i);
            if (at < 0 || static_cast<std::size_t>(at) >= size) {
                throw std::out_of_range("an Arrow dictionary has no such entry");
            }
            const std::size_t entry = from + static_cast<std::size_t>(at);
            return is_entry && !bit_at(is_entry, entry) ? none : entry;
        };
        const bool is_read =
            visit_values(type, dictionary, none, [&](WordKind words, const auto& values) {
                using Value = std::decay_t<decltype(values(0))>;
                begin<Value>(words, type);
                for (std::size_t k = from; k < none; ++k) {
                    if (!is_entry || bit_at(is_entry, k)) declare(values(k));
                }
                if (is_number) {
                    encode(
                        n_rows, stop, [&](std::size_t i) { return entry_at(i) != none; },
                        [&](std::size_t i) { return values(entry_at(i)); });
                    return;
                }
                using Found = std::conditional_t<std::is_same_v<Value, TextKey>, TextTable,
                                                 WordTable>;
                Found& table = std::get<Found>(table_);
                std::vector<std::uint32_t> known(size + 1, kUnknownCode);
                known[size] = kMissingCode;
                code_blocks(n_rows, stop, [&](std::size_t i) {
                    const std::size_t entry = entry_at(i);
                    std::uint32_t& entry_code = known[entry - from];
                    if (entry_code == kUnknownCode) entry_code = code(table, values(entry));
                    return entry_code;
                });
            });
        if (!is_read) refuse(type);
    }

    void declare(const TextKey& key) {
        TextTable& table = table_of<TextTable>(declared_);
        if (table.find(key) == kOtherCode) table.add(key);
    }
    void declare(Word word) {
        if (word.is_missing) return;
        WordTable& table = table_of<WordTable>(declared_);
        const std::uint64_t hash = WordTable::hash(word.bits);
        if (table.find(word.bits, hash) == kOtherCode) table.add(word.bits, hash);
    }

    const std::vector<std::string>& missing_values_;
    std::size_t n_hashes_;
    Table table_;
    Table declared_;
};

ColumnEncoder::ColumnEncoder(std::span<const std::uint32_t> limits,
                             std::vector<std::string> missing_values,
                             std::span<const std::size_t> numbers)
    : missing_values_(std::move(missing_values)) {
    columns_.resize(limits.size());
    for (std::size_t i = 0; i < limits.size(); ++i) {
        columns_[i] = std::make_unique<Column>(limits[i], missing_values_, n_hashes());
    }
    for (const std::size_t i : numbers) columns_.at(i)->is_number = true;
}

ColumnEncoder::~ColumnEncoder() = default;

std::size_t ColumnEncoder::n_columns() const noexcept { return columns_.size(); }

std::size_t ColumnEncoder::n_hashes() const noexcept {
    return std::clamp(kHashes / std::max<std::size_t>(columns_.size(), 1), kFewestHashes,
                      kMostHashes);
}

void ColumnEncoder::add_streams(std::span<ArrowArrayStream* const> streams,
                                std::span<const std::size_t> first_columns,
                                const Execution& execution) {
    if (streams.size() == 1) {
        add_batches(*streams[0], first_columns[0], std::numeric_limits<std::size_t>::max(),
                    execution);
        return;
    }
    constexpr double kLong = 1e9;
    parallel_for(streams.size(), kLong, execution, [&](std::size_t i, const StopFlag& stop) {
        const Released<ArrowSchema> schema = schema_of(*streams[i]);
        require_columns(*schema, first_columns[i]);
        while (const Released<ArrowArray> batch = next_batch(*streams[i])) {
            for (std::size_t k = 0; k < n_fields(*schema); ++k) {
                add_field(*schema, *batch, k, first_columns[i], stop);
            }
            check(stop);
        }
    });
}

bool ColumnEncoder::add_batches(ArrowArrayStream& stream, std::size_t first_column,
                                std::size_t n_batches, const Execution& execution) {
    const Released<ArrowSchema> schema = schema_of(stream);
    require_columns(*schema, first_column);
    Poll poll(execution);
    std::vector<Released<ArrowArray>> batches;
    std::size_t n_cells = 0;
    bool is_open = true;
    for (std::size_t n = 0; n < n_batches && is_open; ++n) {
        batches.push_back(next_batch(stream));
        is_open = static_cast<bool>(batches.back());
        if (is_open) {
            n_cells += static_cast<std::size_t>(batches.back()->length) * n_fields(*schema);
        } else {
            batches.pop_back();
        }
        if (n_cells >= kGatheredCells || batches.size() >= kGatheredBatches) {
            encode(batches, *schema, first_column, n_cells, execution);
            batches.clear();
            n_cells = 0;
        }
        poll.look();
    }
    encode(batches, *schema, first_column, n_cells, execution);
    return is_open;
}

void ColumnEncoder::encode(std::span<const Released<ArrowArray>> batches,
                           const ArrowSchema& schema, std::size_t first_column,
                           std::size_t n_cells, const Execution& execution) {
    if (batches.empty()) return;
    parallel_for(n_fields(schema), kCellNanoseconds * static_cast<double>(n_cells), execution,
                 [&](std::size_t k, const StopFlag& stop) {
                     for (const Released<ArrowArray>& batch : batches) {
                         add_field(schema, *batch, k, first_column, stop);
                         check(stop);
                     }
                 });
}

void ColumnEncoder::add_field(const ArrowSchema& schema, const ArrowArray& batch, std::size_t k,
                              std::size_t first_column, const StopFlag& stop) {
    const bool is_table = is_struct(schema);
    const auto n_rows = static_cast<std::size_t>(batch.length);
    if (is_table && batch.n_children != schema.n_children) {
        throw StreamError("a batch of the Arrow stream has other columns than its schema");
    }
    if (is_table && has_null_rows(batch)) {
        throw TypeError("the Arrow stream has rows that are null");
    }
    try {
        columns_[first_column + k]->add(is_table ? *schema.children[k] : schema,
                                        is_table ? *batch.children[k] : batch,
                                        is_table ? static_cast<std::size_t>(batch.offset) : 0,
                                        n_rows, stop);
    } catch (const TypeError& error) {
        throw TypeError("column " + std::to_string(first_column + k) + error.what());
    }
}

void ColumnEncoder::require_columns(const ArrowSchema& schema, std::size_t first_column) const {
    if (first_column + n_fields(schema) > columns_.size()) {
        throw std::out_of_range("the Arrow stream has " + std::to_string(n_fields(schema)) +
                                " columns, the encoder has " + std::to_string(columns_.size()));
    }
}

void ColumnEncoder::add_arrays(std::span<const PlainArray> arrays,
                               std::span<const std::size_t> columns, const Execution& execution) {
    double n_cells = 0;
    for (const PlainArray& array : arrays) n_cells += static_cast<double>(array.size);
    // Neighbours may lie in the same cache lines: they are read together, some rows at a time.
    const std::size_t n_groups =
        std::min(arrays.size(), 2 * static_cast<std::size_t>(std::max(1, execution.threads)));
    parallel_for(n_groups, kCellNanoseconds * n_cells, execution,
                 [&](std::size_t group, const StopFlag& stop) {
                     const std::size_t begin = arrays.size() * group / n_groups;
                     const std::size_t end = arrays.size() * (group + 1) / n_groups;
                     bool is_left = true;
                     for (std::size_t row = 0; is_left; row += kBlockRows) {
                         is_left = false;
                         for (std::size_t i = begin; i < end; ++i) {
                             if (row >= arrays[i].size) continue;
                             const std::size_t n = std::min(kBlockRows, arrays[i].size - row);
                             columns_[columns[i]]->add(arrays[i], row, n, stop);
                             is_left = true;
                         }
                         check(stop);
                     }
                 });
}

CodeColumn& ColumnEncoder::own_codes(std::size_t column) { return columns_[column]->codes; }

const CodeColumn& ColumnEncoder::codes(std::size_t column) const { return columns_[column]->codes; }

Labels ColumnEncoder::labels(std::size_t column) const { return columns_[column]->labels(); }

Labels ColumnEncoder::declared(std::size_t column) const { return columns_[column]->declared(); }

WordKind ColumnEncoder::word_kind(std::size_t column) const { return columns_[column]->kind; }

const std::string& ColumnEncoder::format(std::size_t column) const {
    return columns_[column]->format;
}

std::uint64_t ColumnEncoder::n_distinct(std::size_t column) const {
    const Column& found = *columns_[column];
    return found.counter ? found.counter->count() : found.codes.n_labels();
}

bool ColumnEncoder::is_exact(std::size_t column) const {
    const Column& found = *columns_[column];
    return !found.counter || found.counter->is_exact();
}

bool ColumnEncoder::is_number(std::size_t column) const { return columns_[column]->is_number; }

std::size_t ColumnEncoder::n_rows(std::size_t column) const {
    const Column& found = *columns_[column];
    return found.is_number ? found.n_numbers : found.codes.n_rows();
}

std::vector<Codes> ColumnEncoder::take(std::span<const std::size_t> columns,
                                       std::span<const CodeMap> maps, const Execution& execution) {
    double n_rows = 0;
    for (const std::size_t i : columns) n_rows += static_cast<double>(columns_[i]->codes.n_rows());
    std::vector<Codes> taken(columns.size());
    parallel_for(columns.size(), kRecodeNanoseconds * n_rows, execution,
                 [&](std::size_t i, const StopFlag&) {
                     taken[i] = columns_[columns[i]]->codes.take();
                     if (maps[i].width == 0) return;
                     taken[i] = recoded(std::move(taken[i]), maps[i]);
                 });
    return taken;
}

std::vector<double> ColumnEncoder::take_numbers(std::size_t column) {
    return std::exchange(columns_[column]->numbers, {});
}

}  // namespace bestdag
