// Arrays of NumPy of every type, dates and texts too, by `__array_interface__`.
// https://numpy.org/doc/stable/reference/arrays.interface.html
#pragma once

#include <nanobind/stl/string.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "bindings/common.hpp"

// One dimension of an array, which must live as long.
struct ArrayInterface {
    // Requires one of these kinds of type, in the byte order of the machine.
    ArrayInterface(const nb::object& array, const std::string& kinds) {
        const auto facts = nb::cast<nb::dict>(array.attr("__array_interface__"));
        const auto type = nb::cast<std::string>(facts["typestr"]);
        const auto shape = nb::cast<nb::tuple>(facts["shape"]);
        kind = type.at(1);
        const char other = std::endian::native == std::endian::little ? '>' : '<';
        if (kinds.find(kind) == std::string::npos || type.front() == other || shape.size() != 1) {
            throw std::invalid_argument("an array of one dimension and a plain type is needed");
        }
        const std::string length = type.substr(2);  // objects have none
        item_bytes = kind == 'O' ? sizeof(void*) : std::stoul(length) * (kind == 'U' ? 4 : 1);
        size = nb::cast<std::size_t>(shape[0]);
        const nb::object strides = facts["strides"];
        stride = strides.is_none() ? static_cast<std::ptrdiff_t>(item_bytes)
                                   : nb::cast<std::ptrdiff_t>(nb::cast<nb::tuple>(strides)[0]);
        data = reinterpret_cast<const std::byte*>(
            nb::cast<std::uintptr_t>(nb::cast<nb::tuple>(facts["data"])[0]));
    }

    const std::byte* data;
    std::size_t size;
    std::ptrdiff_t stride;
    std::size_t item_bytes;
    char kind;
};
