// The values of Arrow and NumPy arrays, one at a time: texts as keys, everything else as words of
// 64 bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

#include "data/arrow.hpp"
#include "data/label_table.hpp"

namespace bestdag {

// What the words of a column are.
enum class WordKind { kSigned, kUnsigned, kFloat16, kFloat32, kFloat64, kBool };

struct Word {
    std::uint64_t bits = 0;
    bool is_missing = false;
};

inline bool bit_at(const std::uint8_t* bits, std::size_t i) noexcept {
    return (bits[i / 8] >> (i % 8)) & 1;
}

template <class T>
T value_at(const void* bytes, std::ptrdiff_t offset) noexcept {
    T value;
    std::memcpy(&value, static_cast<const std::byte*>(bytes) + offset, sizeof(T));
    return value;
}

// Whole numbers of one type are equal where these words are.
template <class T>
Word whole_word(T value) noexcept {
    if constexpr (std::numeric_limits<T>::is_signed) {
        return {static_cast<std::uint64_t>(std::int64_t{value})};
    } else {
        return {std::uint64_t{value}};
    }
}

// So are floats: minus zero is zero, and NaN is missing. Of half floats there are only the bits.
inline Word float_word(double value) noexcept {
    return {std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value), std::isnan(value)};
}
inline Word float_word(float value) noexcept {
    return {std::bit_cast<std::uint32_t>(value == 0 ? 0.0F : value), std::isnan(value)};
}
inline Word half_word(std::uint16_t bits) noexcept {
    const std::uint16_t size = bits & 0x7fff;
    return {size == 0 ? std::uint16_t{0} : bits, size > 0x7c00};
}

// The number that a word stands for; NaN where it is missing.
double number_of(Word word, WordKind kind) noexcept;

// Texts one after the other, between offsets. Throws std::out_of_range where these are no such.
template <class Offset>
struct TextValues {
    const Offset* offsets;
    const char* text;
    Offset end;  // of the last text

    TextKey operator()(std::size_t row) const {
        const Offset from = offsets[row], to = offsets[row + 1];
        if (from < 0 || from > to || to > end) refuse_offsets();
        return {text + from, static_cast<std::size_t>(to - from), text + end};
    }

    [[noreturn]] static void refuse_offsets();
};

// Texts of which the short ones lie in the views themselves.
struct ViewValues {
    const std::byte* views;
    const void* const* buffers;
    std::int64_t n_buffers;

    TextKey operator()(std::size_t row) const {
        const std::byte* const view = views + 16 * row;
        const auto length = value_at<std::int32_t>(view, 0);
        if (length >= 0 && length <= 12) {
            const char* const text = reinterpret_cast<const char*>(view + 4);
            return {text, static_cast<std::size_t>(length), text + 12};
        }
        const auto buffer = value_at<std::int32_t>(view, 8);
        const auto offset = value_at<std::int32_t>(view, 12);
        if (length < 0 || offset < 0 || buffer < 0 || buffer >= n_buffers) refuse_views();
        const char* const text = static_cast<const char*>(buffers[buffer]) + offset;
        return {text, static_cast<std::size_t>(length), text + length};
    }

    [[noreturn]] static void refuse_views();
};

template <class T>
struct WholeValues {
    const T* values;
    Word operator()(std::size_t row) const noexcept { return whole_word(values[row]); }
};

template <class T>
struct FloatValues {
    const T* values;
    Word operator()(std::size_t row) const noexcept { return float_word(values[row]); }
};

struct HalfValues {
    const std::uint16_t* values;
    Word operator()(std::size_t row) const noexcept { return half_word(values[row]); }
};

struct BitValues {
    const std::uint8_t* bits;
    Word operator()(std::size_t row) const noexcept { return {bit_at(bits, row)}; }
};

// Call with the kind of the words and the values of an array, whose first is number `array.offset`;
// false where the type is not read. Requires rows, array.offset + their number = `end`.
template <class Call>
bool visit_values(std::string_view format, const ArrowArray& array, std::size_t end, Call&& call) {
    const auto data = [&]<class T>(const T*) { return static_cast<const T*>(array.buffers[1]); };
    const auto texts = [&]<class Offset>(const Offset* offsets) {
        const auto* const text = static_cast<const char*>(array.buffers[2]);
        call(WordKind::kSigned, TextValues<Offset>{offsets, text, offsets[end]});
    };
    const auto whole = [&]<class T>(const T* values) {
        call(std::numeric_limits<T>::is_signed ? WordKind::kSigned : WordKind::kUnsigned,
             WholeValues<T>{values});
    };
    constexpr const std::int32_t* kInt32 = nullptr;
    constexpr const std::int64_t* kInt64 = nullptr;
    if (format == "u") {
        texts(data(kInt32));
    } else if (format == "U") {
        texts(data(kInt64));
    } else if (format == "vu") {
        call(WordKind::kSigned,
             ViewValues{static_cast<const std::byte*>(array.buffers[1]), array.buffers + 2,
                        array.n_buffers - 3});
    } else if (format == "b") {
        call(WordKind::kBool, BitValues{data(static_cast<const std::uint8_t*>(nullptr))});
    } else if (format == "c") {
        whole(data(static_cast<const std::int8_t*>(nullptr)));
    } else if (format == "C") {
        whole(data(static_cast<const std::uint8_t*>(nullptr)));
    } else if (format == "s") {
        whole(data(static_cast<const std::int16_t*>(nullptr)));
    } else if (format == "S") {
        whole(data(static_cast<const std::uint16_t*>(nullptr)));
    } else if (format == "I") {
        whole(data(static_cast<const std::uint32_t*>(nullptr)));
    } else if (format == "L") {
        whole(data(static_cast<const std::uint64_t*>(nullptr)));
    } else if (format == "i" || format == "tdD" || format == "tts" || format == "ttm") {
        whole(data(kInt32));
    } else if (format == "l" || format == "tdm" || format == "ttu" || format == "ttn" ||
               format.starts_with("ts") || format.starts_with("tD")) {
        whole(data(kInt64));
    } else if (format == "e") {
        call(WordKind::kFloat16, HalfValues{data(static_cast<const std::uint16_t*>(nullptr))});
    } else if (format == "f") {
        call(WordKind::kFloat32, FloatValues<float>{data(static_cast<const float*>(nullptr))});
    } else if (format == "g") {
        call(WordKind::kFloat64, FloatValues<double>{data(static_cast<const double*>(nullptr))});
    } else {
        return false;
    }
    return true;
}

}  // namespace bestdag
