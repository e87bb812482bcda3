// What the phases of the PC algorithm share when they ask: sets of nodes, and threads that each
// have an answerer.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/parallel.hpp"
#include "independence/test.hpp"

namespace bestdag::asking {

inline std::size_t place(std::int32_t node) noexcept { return static_cast<std::size_t>(node); }

inline bool has(std::span<const std::int32_t> ascending, std::int32_t node) {
    return std::binary_search(ascending.begin(), ascending.end(), node);
}

inline bool is_subset(std::span<const std::int32_t> part, std::span<const std::int32_t> ascending) {
    return std::all_of(part.begin(), part.end(), [&](std::int32_t v) { return has(ascending, v); });
}

inline double n_subsets(std::size_t n, std::size_t size) {
    double product = 1.0;
    for (std::size_t k = 0; k < size; ++k) {
        product *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    }
    return size > n ? 0.0 : product;
}

// Run work(i, answerer, stop) for every i below n; each thread has an answerer of its own.
template <class Work>
void ask_each(const IndependenceTest& test, std::size_t n, double expected,
              const Execution& execution, const Work& work) {
    const std::size_t threads =
        test.takes_threads() ? static_cast<std::size_t>(std::max(1, execution.threads)) : 1;
    std::atomic<std::size_t> next = 0;
    const Execution own{static_cast<int>(threads), execution.should_stop};
    parallel_for(std::min(n, threads), expected, own, [&](std::size_t, const StopFlag& stop) {
        const std::unique_ptr<Answerer> answerer = test.answerer();
        for (std::size_t i; !stop && (i = next++) < n;) work(i, *answerer, stop);
    });
}

}  // namespace bestdag::asking
