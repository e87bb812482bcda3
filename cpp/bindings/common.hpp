// What every binding needs: array types that never copy behind our back, and a way to run native
// work with the interpreter lock released while Ctrl-C is still heard.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <utility>

#include "base/parallel.hpp"

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

// Run work(execution) without the interpreter lock. The calling thread looks for signals while
// the workers work; a pending KeyboardInterrupt stops them and is raised here.
template <class Work>
void run_unlocked(int threads, Work&& work) {
    const bestdag::Execution execution{threads, [] {
                                           const nb::gil_scoped_acquire locked;
                                           return PyErr_CheckSignals() != 0;
                                       }};
    try {
        const nb::gil_scoped_release unlocked;
        std::forward<Work>(work)(execution);
    } catch (const bestdag::Interrupted&) {
        throw nb::python_error();
    }
}

// As run_unlocked, but ends after so many seconds too; what was found until then is kept.
template <class Work>
void run_for(double seconds, int threads, Work&& work) {
    using Clock = std::chrono::steady_clock;
    const auto end =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(
                           std::chrono::duration<double>(std::clamp(seconds, 0.0, 1e8)));
    bool timed_out = false;
    const bestdag::Execution execution{threads, [&] {
                                           if (Clock::now() >= end) return timed_out = true;
                                           const nb::gil_scoped_acquire locked;
                                           return PyErr_CheckSignals() != 0;
                                       }};
    try {
        const nb::gil_scoped_release unlocked;
        std::forward<Work>(work)(execution);
    } catch (const bestdag::Interrupted&) {
        if (!timed_out) throw nb::python_error();
    }
}
