// What every binding needs: array types that never make a hidden copy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <span>

namespace nb = nanobind;
using namespace nb::literals;

template <class T>
using Array1 = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T, class... Rest>
std::span<T> view(const nb::ndarray<T, Rest...>& array) {
    return {array.data(), array.size()};
}
