// What every binding needs: array types that never make a hidden copy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

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

// A NumPy array that owns what the vector held.
template <class T>
nb::object to_numpy(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* const data = owned->data();
    const nb::capsule owner(owned.get(),
                            [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    owned.release();
    return nb::cast(nb::ndarray<nb::numpy, T>(data, shape, owner));
}

template <class T>
nb::object to_numpy(std::vector<T>&& values) {
    const std::size_t size = values.size();
    return to_numpy(std::move(values), {size});
}
