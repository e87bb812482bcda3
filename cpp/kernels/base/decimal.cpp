#include "base/decimal.hpp"

#include <charconv>
#include <cstdio>
#include <locale>
#include <sstream>
#include <system_error>

namespace bestdag {

bool read_whole(std::string_view text, std::uint64_t& value) noexcept {
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && rest == end;
}

bool read_double(std::string_view text, double& value) {
    if (text.starts_with("+") && !text.starts_with("+-")) text.remove_prefix(1);
#ifdef __cpp_lib_to_chars
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && rest == end;
#else  // a library without from_chars for doubles
    std::istringstream stream{std::string(text)};
    stream.imbue(std::locale::classic());
    return static_cast<bool>(stream >> value) && stream.peek() == EOF;
#endif
}

void append_double(std::string& text, double value) {
    char digits[40];
#ifdef __cpp_lib_to_chars
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
    text.append(digits, end);
#else
    for (int precision = 15; precision <= 17; ++precision) {
        std::ostringstream stream;
        stream.imbue(std::locale::classic());
        stream.precision(precision);
        stream << value;
        const std::string written = stream.str();
        double again = 0.0;
        if (precision == 17 || (read_double(written, again) && again == value)) {
            text += written;
            return;
        }
    }
    static_cast<void>(digits);
#endif
}

}  // namespace bestdag
