#include "data/column_encoder.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/common.hpp"
#include "bindings/data/array_interface.hpp"
#include "bindings/data/object_labels.hpp"
#include "bindings/running.hpp"

namespace {

using Map = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Maps = std::vector<std::optional<Map>>;

bestdag::ArrowArrayStream& stream_of(nb::handle capsule) {
    void* const found = PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream");
    if (!found) throw nb::python_error();
    return *static_cast<bestdag::ArrowArrayStream*>(found);
}

nb::object text_object(const std::string& text) {
    PyObject* const decoded = PyUnicode_DecodeUTF8(
        text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
    if (!decoded) throw nb::python_error();
    return nb::steal(decoded);
}

template <class T>
nb::object array_of(const std::vector<std::uint64_t>& words) {
    std::vector<T> values(words.size());
    for (std::size_t i = 0; i < words.size(); ++i) {
        if constexpr (sizeof(T) == 4) {
            values[i] = std::bit_cast<T>(static_cast<std::uint32_t>(words[i]));
        } else if constexpr (sizeof(T) == 8) {
            values[i] = std::bit_cast<T>(words[i]);
        } else {
            values[i] = static_cast<T>(words[i]);
        }
    }
    return to_numpy(std::move(values));
}

nb::object words_object(const std::vector<std::uint64_t>& words, bestdag::WordKind kind) {
    using bestdag::WordKind;
    switch (kind) {
        case WordKind::kSigned:
            return array_of<std::int64_t>(words);
        case WordKind::kUnsigned:
            return array_of<std::uint64_t>(words);
        case WordKind::kFloat16:
            return array_of<std::uint16_t>(words).attr("view")("float16");
        case WordKind::kFloat32:
            return array_of<float>(words);
        case WordKind::kFloat64:
            return array_of<double>(words);
        case WordKind::kBool:
            return array_of<std::uint8_t>(words).attr("view")("bool");
    }
    throw std::invalid_argument("no such kind of words");
}

nb::object labels_object(const bestdag::Labels& labels, bestdag::WordKind kind) {
    if (const auto* const words = std::get_if<std::vector<std::uint64_t>>(&labels)) {
        return words_object(*words, kind);
    }
    nb::list texts;
    if (const auto* const found = std::get_if<std::vector<std::string>>(&labels)) {
        for (const std::string& text : *found) texts.append(text_object(text));
    }
    return texts;
}

template <class T>
nb::object codes_array(bestdag::Codes&& codes) {
    T* const data = static_cast<T*>(codes.bytes.get());
    const nb::capsule owner(codes.bytes.get(), [](void* p) noexcept { std::free(p); });
    static_cast<void>(codes.bytes.release());
    return nb::cast(nb::ndarray<nb::numpy, T>(data, {codes.size}, owner));
}

nb::object codes_object(bestdag::Codes&& codes) {
    const std::size_t width = codes.width;
    if (width == 1) return codes_array<std::uint8_t>(std::move(codes));
    if (width == 2) return codes_array<std::uint16_t>(std::move(codes));
    return codes_array<std::uint32_t>(std::move(codes));
}

template <class Array>
bestdag::CodeMap code_map(const Array& entries) {
    const auto type = entries.dtype();
    if (type.code != static_cast<std::uint8_t>(nb::dlpack::dtype_code::UInt) || type.bits > 32) {
        throw std::invalid_argument("codes must be uint8, uint16 or uint32");
    }
    return {entries.data(), entries.size(), type.bits / std::size_t{8}};
}

// What is known of a column once its rows are encoded.
struct EncodedColumn {
    nb::object labels;
    nb::object counts;
    nb::object first_rows;
    std::int64_t n_missing;
    std::optional<std::int64_t> first_missing;
    bool is_coded;
    std::uint64_t n_distinct;
    bool is_exact;
    std::string type;
    nb::object declared;
};

class BoundEncoder {
public:
    BoundEncoder(std::vector<std::uint32_t> limits, std::vector<nb::str> missing_values,
                 std::vector<std::size_t> numbers)
        : missing_values_(std::move(missing_values)),
          encoder_(limits, texts_of(missing_values_), numbers),
          objects_(limits.size()) {}
    BoundEncoder(const BoundEncoder&) = delete;
    BoundEncoder& operator=(const BoundEncoder&) = delete;

    void add_streams(const std::vector<nb::object>& streams,
                     const std::vector<std::size_t>& first_columns, int threads) {
        if (streams.size() != first_columns.size()) {
            throw std::invalid_argument("one first column per stream is needed");
        }
        require_different(first_columns);
        std::vector<bestdag::ArrowArrayStream*> opened;
        for (const nb::object& stream : streams) opened.push_back(&stream_of(stream));
        run_unlocked(threads, [&](const bestdag::Execution& execution) {
            encoder_.add_streams(opened, first_columns, execution);
        });
    }

    bool add_batches(const nb::object& stream, std::size_t first_column, std::size_t n_batches,
                     int threads) {
        bestdag::ArrowArrayStream& opened = stream_of(stream);
        bool is_open = false;
        run_unlocked(threads, [&](const bestdag::Execution& execution) {
            is_open = encoder_.add_batches(opened, first_column, n_batches, execution);
        });
        return is_open;
    }

    void add_arrays(const std::vector<nb::object>& arrays, const std::vector<std::size_t>& columns,
                    const std::vector<nb::object>& masks, int threads) {
        if (arrays.size() != columns.size() || arrays.size() != masks.size()) {
            throw std::invalid_argument("one column and one mask, or None, per array is needed");
        }
        require_different(columns);
        std::vector<bestdag::PlainArray> plain;
        for (std::size_t i = 0; i < arrays.size(); ++i) {
            require_column(columns[i]);
            plain.push_back(plain_array(arrays[i], masks[i]));
        }
        run_unlocked(threads, [&](const bestdag::Execution& execution) {
            encoder_.add_arrays(plain, columns, execution);
        });
    }

    void add_objects(const nb::object& items, std::size_t column) {
        require_column(column);
        std::unique_ptr<ObjectLabels>& labels = objects_[column];
        if (!labels) {
            labels = std::make_unique<ObjectLabels>(encoder_.own_codes(column), missing_values_,
                                                    encoder_.n_hashes());
        }
        labels->add(items);
    }

    std::size_t n_rows(std::size_t column) const {
        require_column(column);
        return encoder_.n_rows(column);
    }

    EncodedColumn column(std::size_t i) const {
        require_column(i);
        const bestdag::CodeColumn& codes = encoder_.codes(i);
        const bestdag::WordKind kind = encoder_.word_kind(i);
        const ObjectLabels* const objects = objects_[i].get();
        const bestdag::DistinctCounter* const counter = objects ? objects->counter() : nullptr;
        const bestdag::Labels declared = encoder_.declared(i);
        const bool is_declared = !std::holds_alternative<std::monostate>(declared);
        const std::string& format = encoder_.format(i);
        return {
            objects ? nb::object(nb::list(objects->labels()))
                    : labels_object(encoder_.labels(i), kind),
            to_numpy(codes.counts()),
            to_numpy(std::vector(codes.first_rows().begin(), codes.first_rows().end())),
            codes.n_missing(),
            codes.first_missing(),
            !codes.is_over() && !encoder_.is_number(i),
            counter ? counter->count() : encoder_.n_distinct(i),
            counter ? counter->is_exact() : encoder_.is_exact(i),
            objects ? "O" : format.empty() ? "n" : format,
            is_declared ? labels_object(declared, kind) : nb::none(),
        };
    }

    nb::list take(const std::vector<std::size_t>& columns, const Maps& maps, int threads) {
        if (columns.size() != maps.size()) {
            throw std::invalid_argument("one map, or None, per column is needed");
        }
        std::vector<bestdag::CodeMap> code_maps;
        std::vector<std::size_t> coded;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            require_column(columns[i]);
            if (encoder_.is_number(columns[i])) continue;
            const bestdag::CodeColumn& codes = encoder_.codes(columns[i]);
            if (codes.is_over()) throw std::invalid_argument("a column has no codes, only counts");
            if (maps[i] && maps[i]->size() != codes.n_labels() + 1) {
                throw std::invalid_argument("a map needs one entry for missing, one per label");
            }
            coded.push_back(columns[i]);
            code_maps.push_back(maps[i] ? code_map(*maps[i]) : bestdag::CodeMap{});
        }
        std::vector<bestdag::Codes> taken;
        run_unlocked(threads, [&](const bestdag::Execution& execution) {
            taken = encoder_.take(coded, code_maps, execution);
        });
        nb::list arrays;
        auto next = taken.begin();
        for (const std::size_t i : columns) {
            arrays.append(encoder_.is_number(i) ? to_numpy(encoder_.take_numbers(i))
                                                : codes_object(std::move(*next++)));
        }
        return arrays;
    }

private:
    void require_column(std::size_t i) const {
        if (i >= encoder_.n_columns()) throw nb::index_error("the encoder has no such column");
    }

    // Each column is the work of one thread.
    static void require_different(std::vector<std::size_t> columns) {
        std::sort(columns.begin(), columns.end());
        if (std::adjacent_find(columns.begin(), columns.end()) != columns.end()) {
            throw std::invalid_argument("columns must be different");
        }
    }

    // As UTF-8; half characters have none, and are in no column of text.
    static std::vector<std::string> texts_of(const std::vector<nb::str>& marks) {
        std::vector<std::string> texts;
        for (const nb::str& mark : marks) {
            Py_ssize_t n_bytes = 0;
            const char* const text = PyUnicode_AsUTF8AndSize(mark.ptr(), &n_bytes);
            if (text) {
                texts.emplace_back(text, static_cast<std::size_t>(n_bytes));
            } else {
                PyErr_Clear();
            }
        }
        return texts;
    }

    static bestdag::PlainArray plain_array(const nb::object& array, const nb::object& mask) {
        const ArrayInterface values(array, "biufUMm");
        bestdag::PlainArray plain;
        plain.data = values.data;
        plain.stride = values.stride;
        plain.size = values.size;
        plain.item_bytes = values.item_bytes;
        using Kind = bestdag::PlainArray::Kind;
        plain.kind = values.kind == 'b'   ? Kind::kBool
                     : values.kind == 'i' ? Kind::kSigned
                     : values.kind == 'u' ? Kind::kUnsigned
                     : values.kind == 'f' ? Kind::kFloat
                     : values.kind == 'U' ? Kind::kText
                                          : Kind::kTime;
        if (values.kind == 'f' && values.item_bytes > 8) {
            throw std::invalid_argument("floats of more than 64 bits are not read");
        }
        if (!mask.is_none()) {
            const ArrayInterface hidden(mask, "b");
            if (hidden.size != values.size) {
                throw std::invalid_argument("a mask must be as long as its array");
            }
            plain.mask = reinterpret_cast<const std::uint8_t*>(hidden.data);
            plain.mask_stride = hidden.stride;
        }
        return plain;
    }

    std::vector<nb::str> missing_values_;
    bestdag::ColumnEncoder encoder_;
    std::vector<std::unique_ptr<ObjectLabels>> objects_;
};

using StreamType = std::tuple<std::string, std::string, std::optional<std::string>>;

std::vector<StreamType> stream_types(const nb::object& stream) {
    const auto type_of = [](const bestdag::ArrowSchema& field) -> StreamType {
        return {field.name ? field.name : "", field.format,
                field.dictionary ? std::optional<std::string>(field.dictionary->format)
                                 : std::nullopt};
    };
    const bestdag::Released<bestdag::ArrowSchema> schema = bestdag::schema_of(stream_of(stream));
    if (std::string_view(schema->format) != "+s") return {type_of(*schema)};
    std::vector<StreamType> types;
    for (std::int64_t i = 0; i < schema->n_children; ++i) {
        types.push_back(type_of(*schema->children[i]));
    }
    return types;
}

}  // namespace

void register_column_encoder(nb::module_& m) {
    nb::exception<bestdag::TypeError>(m, "ArrowTypeError", PyExc_TypeError);
    nb::class_<EncodedColumn>(m, "EncodedColumn", "What is known of a column that was encoded.")
        .def_prop_ro(
            "labels", [](const EncodedColumn& c) { return c.labels; },
            nb::for_getter(nb::sig("def labels(self) -> typing.Any")),
            "In order of first appearance: a list, or an array of numbers.")
        .def_prop_ro(
            "counts", [](const EncodedColumn& c) { return c.counts; },
            nb::for_getter(nb::sig("def counts(self) -> numpy.typing.NDArray[numpy.int64]")),
            "Rows with each label.")
        .def_prop_ro(
            "first_rows", [](const EncodedColumn& c) { return c.first_rows; },
            nb::for_getter(nb::sig("def first_rows(self) -> numpy.typing.NDArray[numpy.int64]")),
            "The first row with each label.")
        .def_ro("n_missing", &EncodedColumn::n_missing)
        .def_ro("first_missing", &EncodedColumn::first_missing, "The first such row, or None.")
        .def_ro("is_coded", &EncodedColumn::is_coded,
                "False with more labels than the limit: those seen first are listed.")
        .def_ro("n_distinct", &EncodedColumn::n_distinct, "Labels, those without codes too.")
        .def_ro("is_exact", &EncodedColumn::is_exact, "Whether their number is no estimate.")
        .def_ro("type", &EncodedColumn::type, "The format of Arrow; O for Python objects.")
        .def_prop_ro(
            "declared", [](const EncodedColumn& c) { return c.declared; },
            nb::for_getter(nb::sig("def declared(self) -> typing.Any")),
            "Values of dictionaries, seen or not; None without dictionaries.");
    nb::class_<BoundEncoder>(m, "ColumnEncoder",
                             "Codes and labels of columns; see kernels/data/column_encoder.hpp.")
        .def(nb::init<std::vector<std::uint32_t>, std::vector<nb::str>,
                      std::vector<std::size_t>>(),
             "limits"_a, "missing_values"_a, "numbers"_a = std::vector<std::size_t>())
        .def("add_streams", &BoundEncoder::add_streams, "streams"_a, "first_columns"_a,
             "threads"_a, "Encode whole Arrow streams, each into columns from one on.")
        .def("add_batches", &BoundEncoder::add_batches, "stream"_a, "first_column"_a,
             "n_batches"_a, "threads"_a,
             "Encode at most so many batches; whether there may be more.")
        .def("add_arrays", &BoundEncoder::add_arrays, "arrays"_a, "columns"_a, "masks"_a,
             "threads"_a, "Encode arrays of numbers, dates or fixed texts; masks hide values.")
        .def("add_objects", &BoundEncoder::add_objects, "items"_a, "column"_a,
             "Encode a list or an array of objects.")
        .def("n_rows", &BoundEncoder::n_rows, "column"_a)
        .def("column", &BoundEncoder::column, "column"_a)
        .def("take", &BoundEncoder::take, "columns"_a, "maps"_a.noconvert(), "threads"_a,
             nb::sig("def take(self, columns: collections.abc.Sequence[int], "
                     "maps: collections.abc.Sequence[numpy.typing.NDArray[typing.Any] | None], "
                     "threads: int) -> list[numpy.typing.NDArray[typing.Any]]"),
             "Move out the codes since the last time, each replaced by its entry in a map.");
    m.def("stream_types", &stream_types, "stream"_a,
          "Name, Arrow format, and that of dictionary values, of the columns of a stream.");
    m.def(
        "recode",
        [](nb::ndarray<nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu> codes,
           Map map) {
            const bestdag::CodeMap code_map_ = code_map(map);
            if (code_map(codes).width != code_map_.width) {
                throw std::invalid_argument("codes and map must have one dtype");
            }
            const nb::gil_scoped_release unlocked;
            bestdag::recode_in_place(codes.data(), codes.size(), code_map_);
        },
        "codes"_a.noconvert(), "map"_a.noconvert(),
        nb::sig("def recode(codes: numpy.typing.NDArray[typing.Any], "
                "map: numpy.typing.NDArray[typing.Any]) -> None"),
        "Replace codes by entries of a map, in place.");
}
