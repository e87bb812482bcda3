// The encoder of columns and the check of CSV files, for the sanitizers: texts at the very end of
// their memory, nulls, offsets, views, dictionaries, many labels, streams, threads and Ctrl-C.
// Exits 0 when all is well.
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/column_encoder.hpp"
#include "data/csv_check.hpp"
#include "tests/checks.hpp"

namespace {

using namespace bestdag;

const Execution kTwo{2, [] { return false; }};
constexpr std::uint32_t kNoLimit = 0xfffffffe;

// Arrays whose buffers are exactly as long as they must be, each in memory of its own.
class Arrays {
public:
    template <class T>
    const void* buffer(const std::vector<T>& values) {
        auto& kept = buffers_.emplace_back(new char[values.size() * sizeof(T)]);
        if (!values.empty()) std::memcpy(kept.get(), values.data(), values.size() * sizeof(T));
        return kept.get();
    }

    ArrowArray array(std::size_t length, std::vector<const void*> pointers,
                     std::int64_t offset = 0) {
        auto& kept = pointers_.emplace_back(std::move(pointers));
        ArrowArray made{};
        made.length = static_cast<std::int64_t>(length);
        made.null_count = kept[0] ? -1 : 0;
        made.offset = offset;
        made.n_buffers = static_cast<std::int64_t>(kept.size());
        made.buffers = kept.data();
        return made;
    }

    ArrowArray texts(const std::vector<std::string>& values, const void* valid = nullptr) {
        std::vector<std::int32_t> offsets{0};
        std::vector<char> text;
        for (const std::string& value : values) {
            text.insert(text.end(), value.begin(), value.end());
            offsets.push_back(static_cast<std::int32_t>(text.size()));
        }
        return array(values.size(), {valid, buffer(offsets), buffer(text)});
    }

    ArrowArray views(const std::vector<std::string>& values) {
        std::vector<char> view(16 * values.size());
        std::vector<char> text;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto length = static_cast<std::int32_t>(values[i].size());
            std::memcpy(&view[16 * i], &length, 4);
            if (length <= 12) {
                std::memcpy(&view[16 * i + 4], values[i].data(), values[i].size());
                continue;
            }
            const auto offset = static_cast<std::int32_t>(text.size());
            std::memcpy(&view[16 * i + 12], &offset, 4);
            text.insert(text.end(), values[i].begin(), values[i].end());
        }
        const std::vector<std::int64_t> sizes{static_cast<std::int64_t>(text.size())};
        return array(values.size(), {nullptr, buffer(view), buffer(text), buffer(sizes)});
    }

private:
    std::deque<std::unique_ptr<char[]>> buffers_;
    std::deque<std::vector<const void*>> pointers_;
};

ArrowSchema schema(const char* format) {
    ArrowSchema made{};
    made.format = format;
    made.release = [](ArrowSchema* s) { s->release = nullptr; };
    return made;
}

// A stream of batches that live longer.
struct Batches {
    ArrowSchema type;
    std::vector<ArrowArray> batches;
    std::size_t next = 0;
    bool fails = false;

    ArrowArrayStream stream() {
        ArrowArrayStream made{};
        made.get_schema = [](ArrowArrayStream* s, ArrowSchema* out) {
            *out = static_cast<Batches*>(s->private_data)->type;
            return 0;
        };
        made.get_next = [](ArrowArrayStream* s, ArrowArray* out) {
            auto& self = *static_cast<Batches*>(s->private_data);
            *out = ArrowArray{};
            if (self.next == self.batches.size()) return self.fails ? 5 : 0;
            *out = self.batches[self.next++];
            out->release = [](ArrowArray* a) { a->release = nullptr; };
            return 0;
        };
        made.get_last_error = [](ArrowArrayStream*) { return "no more"; };
        made.release = [](ArrowArrayStream* s) { s->release = nullptr; };
        made.private_data = this;
        return made;
    }
};

void add(ColumnEncoder& encoder, ArrowSchema type, std::vector<ArrowArray> batches,
         std::size_t column = 0, const Execution& execution = kTwo) {
    Batches all{type, std::move(batches)};
    ArrowArrayStream stream = all.stream();
    encoder.add_batches(stream, column, 1'000'000, execution);
}

std::vector<std::uint32_t> codes_of(ColumnEncoder& encoder, std::size_t column = 0) {
    const std::vector<std::size_t> columns{column};
    const std::vector<CodeMap> maps(1);
    const Codes codes = std::move(encoder.take(columns, maps, kTwo)[0]);
    std::vector<std::uint32_t> numbers(codes.size);
    for (std::size_t i = 0; i < codes.size; ++i) {
        std::memcpy(&numbers[i],
                    static_cast<const char*>(codes.bytes.get()) + i * codes.width, codes.width);
    }
    return numbers;
}

using Numbers = std::vector<std::uint32_t>;
using Texts = std::vector<std::string>;

Texts texts_of(const ColumnEncoder& encoder, std::size_t column = 0) {
    return std::get<Texts>(encoder.labels(column));
}

ColumnEncoder one(std::uint32_t limit, Texts missing_values = {}) {
    const std::vector<std::uint32_t> limits{limit};
    return {limits, std::move(missing_values), {}};
}

void check_texts() {
    Arrays arrays;
    const std::string longest(40, 'x');
    const Texts values{"a", "", "12345678", "123456789", longest, longest + "y", "a", "NA", ""};
    const Numbers expected{1, 2, 3, 4, 5, 6, 1, 0, 2};
    ColumnEncoder narrow = one(kNoLimit, {"NA"});
    add(narrow, schema("u"), {arrays.texts(values)});
    check(codes_of(narrow) == expected, "texts");
    check(texts_of(narrow) == Texts{"a", "", "12345678", "123456789", longest, longest + "y"},
          "labels of texts");
    ColumnEncoder views = one(kNoLimit, {"NA"});
    add(views, schema("vu"), {arrays.views(values)});
    check(codes_of(views) == expected, "views");

    ArrowArray cut = arrays.texts({"x", "y", "z", "y"}, arrays.buffer<std::uint8_t>({0x0b}));
    cut.offset = 1;
    cut.length = 3;
    ColumnEncoder sliced = one(kNoLimit);
    add(sliced, schema("u"), {cut});
    check(codes_of(sliced) == Numbers{1, 0, 1}, "a slice with a null");
    check(sliced.codes(0).first_missing() == 1, "row of the first null");

    bool refused = false;
    try {
        ArrowArray bad = arrays.array(1, {nullptr, arrays.buffer<std::int32_t>({7, 3}),
                                          arrays.buffer<char>({'a', 'b', 'c'})});
        ColumnEncoder encoder = one(kNoLimit);
        add(encoder, schema("u"), {bad});
    } catch (const std::out_of_range&) {
        refused = true;
    }
    check(refused, "offsets that do not ascend");
}

void check_dictionaries() {
    Arrays arrays;
    ArrowSchema entries = schema("u");
    ArrowSchema type = schema("c");
    type.dictionary = &entries;
    ArrowArray first_entries = arrays.texts({"b", "a", "unused"});
    ArrowArray first = arrays.array(3, {nullptr, arrays.buffer<std::int8_t>({1, 0, 1})});
    first.dictionary = &first_entries;
    ArrowArray second_entries = arrays.texts({"a", "c", "?"}, arrays.buffer<std::uint8_t>({3}));
    ArrowArray second = arrays.array(3, {nullptr, arrays.buffer<std::int8_t>({1, 0, 2})});
    second.dictionary = &second_entries;
    ColumnEncoder encoder = one(kNoLimit);
    add(encoder, type, {first, second});
    check(codes_of(encoder) == Numbers{1, 2, 1, 3, 1, 0}, "dictionaries");
    check(std::get<Texts>(encoder.declared(0)) == Texts{"b", "a", "unused", "c"}, "declared");
    bool refused = false;
    try {
        ArrowArray bad = arrays.array(1, {nullptr, arrays.buffer<std::int8_t>({3})});
        bad.dictionary = &first_entries;
        add(encoder, type, {bad});
    } catch (const std::out_of_range&) {
        refused = true;
    }
    check(refused, "an entry that is not there");
}

void check_many_labels() {
    Arrays arrays;
    for (const std::size_t n : {255, 256, 65'535, 65'536, 70'000}) {
        std::vector<std::int64_t> values;
        Texts texts;
        Numbers expected;
        for (std::size_t i = 0; i < n; ++i) {
            values.push_back(static_cast<std::int64_t>(i) * 1'000'003 - 7);
            texts.push_back("a label with number " + std::to_string(i));
            expected.push_back(static_cast<std::uint32_t>(i + 1));
        }
        const std::vector<std::uint32_t> limits(3, kNoLimit);
        ColumnEncoder encoder(limits, {}, {});
        add(encoder, schema("l"), {arrays.array(n, {nullptr, arrays.buffer(values)})}, 0);
        add(encoder, schema("u"), {arrays.texts(texts)}, 1);
        check(codes_of(encoder, 0) == expected, "many numbers");
        check(codes_of(encoder, 1) == expected, "many texts");
        ColumnEncoder limited = one(100);
        add(limited, schema("u"), {arrays.texts(texts), arrays.texts(texts)});
        check(limited.codes(0).is_over() && limited.n_distinct(0) == n && limited.is_exact(0),
              "labels beyond the limit are counted");
        check(texts_of(limited).size() == 101 && limited.codes(0).first_rows().size() == 101,
              "labels up to the limit are kept");
    }
    DistinctCounter counter(1000);
    for (std::uint64_t i = 0; i < 200'000; ++i) counter.add(mixed(i ^ kMix0, kMix1));
    check(!counter.is_exact(), "many hashes are sampled");
    check(counter.count() > 160'000 && counter.count() < 240'000, "and their number estimated");
}

void check_maps() {
    for (const std::size_t n : {3, 300, 70'000}) {
        std::vector<std::int32_t> values(n);
        for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<std::int32_t>(i);
        const std::vector<std::size_t> columns{0};
        const auto recode = [&]<class T>(T) {
            Arrays arrays;
            ColumnEncoder encoder = one(kNoLimit);
            add(encoder, schema("i"), {arrays.array(n, {nullptr, arrays.buffer(values)})});
            std::vector<T> map(n + 1);
            for (std::size_t i = 0; i <= n; ++i) map[i] = static_cast<T>(i * 7 % 251);
            const std::vector<CodeMap> maps{{map.data(), map.size(), sizeof(T)}};
            const Codes codes = std::move(encoder.take(columns, maps, kTwo)[0]);
            bool is_same = codes.size == n && codes.width == sizeof(T);
            for (std::size_t i = 0; is_same && i < n; ++i) {
                is_same = static_cast<const T*>(codes.bytes.get())[i] == map[i + 1];
            }
            check(is_same, "codes of another width");
        };
        recode(std::uint8_t{});
        recode(std::uint16_t{});
        recode(std::uint32_t{});
    }
}

void check_plain_arrays() {
    const std::vector<std::size_t> columns{0, 1, 2, 3};
    const std::vector<std::uint32_t> limits(4, kNoLimit);
    ColumnEncoder encoder(limits, {"no"}, std::vector<std::size_t>{3});
    const std::vector<double> floats{0.0, -0.0, 1.5, std::numeric_limits<double>::quiet_NaN()};
    const std::vector<char32_t> letters{U'n', U'o', 0, U'é', U'😀', 0, 0xd800, 0, 0, 0, 0, 0};
    const std::vector<std::uint8_t> hidden{0, 1, 0, 0};
    PlainArray real{reinterpret_cast<const std::byte*>(floats.data()), 8, 4,
                    PlainArray::Kind::kFloat};
    PlainArray text{reinterpret_cast<const std::byte*>(letters.data()), 12, 4,
                    PlainArray::Kind::kText, 12};
    PlainArray masked = real;
    masked.mask = hidden.data();
    masked.mask_stride = 1;
    encoder.add_arrays(std::vector<PlainArray>{real, text, masked, real}, columns, kTwo);
    check(codes_of(encoder, 0) == Numbers{1, 1, 2, 0}, "floats");
    check(codes_of(encoder, 1) == Numbers{0, 1, 2, 3}, "fixed texts");
    check(texts_of(encoder, 1) == Texts{"é😀", "\xed\xa0\x80", ""}, "as UTF-8");
    check(codes_of(encoder, 2) == Numbers{1, 0, 2, 0}, "masked floats");
    check(encoder.take_numbers(3).size() == 4, "numbers that are kept");
}

void check_tables() {
    // A struct of many columns in small batches, with an offset of its own.
    Arrays arrays;
    const std::size_t n_columns = 50, n_batches = 300;
    ArrowSchema field = schema("u");
    std::vector<ArrowSchema*> fields(n_columns, &field);
    ArrowSchema type = schema("+s");
    type.n_children = static_cast<std::int64_t>(n_columns);
    type.children = fields.data();
    ArrowArray column = arrays.texts({"skipped", "x", "y", "x"});
    std::vector<ArrowArray*> children(n_columns, &column);
    ArrowArray batch = arrays.array(3, {nullptr}, 1);
    batch.n_children = type.n_children;
    batch.children = children.data();
    const std::vector<std::uint32_t> limits(n_columns, kNoLimit);
    ColumnEncoder encoder(limits, {}, {});
    add(encoder, type, std::vector<ArrowArray>(n_batches, batch));
    for (std::size_t i = 0; i < n_columns; ++i) {
        const Numbers codes = codes_of(encoder, i);
        check(codes.size() == 3 * n_batches && codes[3] == 1 && codes[4] == 2, "a table");
        check(encoder.codes(i).counts() == std::vector<std::int64_t>{600, 300}, "its counts");
    }
    // Streams beside each other.
    ColumnEncoder apart(limits, {}, {});
    std::vector<Batches> all(n_columns, Batches{field, {column, column}});
    std::deque<ArrowArrayStream> streams;
    std::vector<ArrowArrayStream*> pointers;
    std::vector<std::size_t> first;
    for (Batches& batches : all) {
        pointers.push_back(&streams.emplace_back(batches.stream()));
        first.push_back(first.size());
    }
    apart.add_streams(pointers, first, kTwo);
    check(codes_of(apart, 49) == Numbers{1, 2, 3, 2, 1, 2, 3, 2}, "streams beside each other");

    bool failed = false;
    try {
        Batches broken{field, {column}, 0, true};
        ArrowArrayStream stream = broken.stream();
        encoder.add_batches(stream, 0, 10, kTwo);
    } catch (const StreamError& error) {
        failed = std::string(error.what()) == "no more";
    }
    check(failed, "a stream that fails");
    bool stopped = false;
    try {
        const Execution execution{2, [] { return true; }};
        add(encoder, type, std::vector<ArrowArray>(n_batches, batch), 0, execution);
    } catch (const Interrupted&) {
        stopped = true;
    }
    check(stopped, "a stream can be interrupted");
    bool is_refused = false;
    try {
        add(encoder, schema("+l"), {column});
    } catch (const TypeError&) {
        is_refused = true;
    }
    check(is_refused, "a type that is not read");
}

bool is_plain(const std::string& text, std::size_t n_columns, std::size_t piece) {
    CsvCheck plain(',', n_columns);
    for (std::size_t i = 0; i < text.size(); i += piece) {
        const std::string part = text.substr(i, piece);
        const auto kept = std::make_unique<unsigned char[]>(part.size());
        std::memcpy(kept.get(), part.data(), part.size());
        plain.add({kept.get(), part.size()});
    }
    return plain.is_plain();
}

void check_csv() {
    const std::string row = "first,second,\"th,\"\"i\"\"\nrd\",é😀\r\n";
    std::string text;
    for (int i = 0; i < 200; ++i) text += row + (i % 3 ? "" : "\n") + "1,2,3,\n";
    for (const std::size_t piece : {1, 3, 8, 64, 1'000'000}) {
        check(is_plain(text, 4, piece), "a plain file");
        check(!is_plain(text + "1,2,3,4,", 4, piece), "a cell too many");
        check(!is_plain(text + "1,2,3", 4, piece), "a cell too few");
        check(!is_plain(text + "1,2,3,\xc3", 4, piece), "half a character");
        check(!is_plain(text + "1,2,3,\"", 4, piece), "a quote that is not closed");
        check(!is_plain(text + std::string("1,2,3,\0", 7), 4, piece), "a NUL");
    }
}

}  // namespace

int main() {
    check_texts();
    check_dictionaries();
    check_many_labels();
    check_maps();
    check_plain_arrays();
    check_tables();
    check_csv();
    return report();
}
