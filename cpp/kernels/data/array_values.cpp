#include "data/array_values.hpp"

#include <stdexcept>

namespace bestdag {

namespace {

double half_number(std::uint64_t bits) noexcept {
    const int exponent = static_cast<int>(bits >> 10 & 0x1f);
    const auto fraction = static_cast<double>(bits & 0x3ff);
    const double sign = bits >> 15 ? -1.0 : 1.0;
    if (exponent == 0x1f) return sign * std::numeric_limits<double>::infinity();
    if (exponent == 0) return sign * std::ldexp(fraction, -24);
    return sign * std::ldexp(1024 + fraction, exponent - 25);
}

}  // namespace

double number_of(Word word, WordKind kind) noexcept {
    if (word.is_missing) return std::numeric_limits<double>::quiet_NaN();
    switch (kind) {
        case WordKind::kSigned:
            return static_cast<double>(static_cast<std::int64_t>(word.bits));
        case WordKind::kFloat16:
            return half_number(word.bits);
        case WordKind::kFloat32:
            return double{std::bit_cast<float>(static_cast<std::uint32_t>(word.bits))};
        case WordKind::kFloat64:
            return std::bit_cast<double>(word.bits);
        case WordKind::kUnsigned:
        case WordKind::kBool:
            return static_cast<double>(word.bits);
    }
    return std::numeric_limits<double>::quiet_NaN();
}

template <class Offset>
void TextValues<Offset>::refuse_offsets() {
    throw std::out_of_range("an Arrow array of texts has offsets that do not ascend");
}

template struct TextValues<std::int32_t>;
template struct TextValues<std::int64_t>;

void ViewValues::refuse_views() {
    throw std::out_of_range("an Arrow array of views has one that points nowhere");
}

}  // namespace bestdag
