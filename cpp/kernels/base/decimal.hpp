// Numbers as text: exact both ways, and the same in every locale.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bestdag {

// The whole text is a decimal number without sign that fits; false otherwise.
bool read_whole(std::string_view text, std::uint64_t& value) noexcept;

// The whole text is a decimal number (with sign, point and exponent if need be) within the range
// of doubles, rounded to the nearest one; also inf and nan, by these names. False otherwise.
bool read_double(std::string_view text, double& value);

// Append the shortest decimal that reads as the same number. Requires a finite number.
void append_double(std::string& text, double value);

}  // namespace bestdag
