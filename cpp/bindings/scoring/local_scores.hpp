// Flat arrays of local scores as Python sees them.
#pragma once

#include <memory>
#include <vector>

#include "bindings/types.hpp"
#include "scoring/local_scores.hpp"

using LocalScoresTuple = nb::typed<nb::tuple, nb::any, nb::any, nb::any, nb::any>;

// A NumPy array that owns what the vector held.
template <class T>
nb::object to_numpy(std::vector<T>&& values) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* const data = owned->data();
    const std::size_t size = owned->size();
    const nb::capsule owner(owned.get(),
                            [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    owned.release();
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, owner));
}

// (first_sets, scores, offsets, members)
LocalScoresTuple to_python(bestdag::LocalScores&& scores);
