#include "data/sampling.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/philox.hpp"

namespace bestdag {

namespace {

constexpr std::size_t kDrawsPerCounter = 4;
// Rows handled at a time: draws, offsets and the codes of the parents stay in the second-level
// cache. A multiple of the draws per counter, so that a block starts with a fresh counter.
constexpr std::size_t kBlockRows = 2048;
constexpr double kNanosecondsPerDraw = 4.0;
// Up to so many thresholds, counting them all is faster than halving.
constexpr std::size_t kMaxCounted = 12;

// Offset: 32 bits do for all but tables of 32 GiB, and are twice as fast.
template <class Offset>
struct Scratch {
    alignas(64) std::uint64_t draws[kBlockRows];
    alignas(64) Offset offsets[kBlockRows];
};

void fill_draws(const PhiloxKey& key, std::uint64_t first_draw, std::size_t n_rows,
                std::uint64_t* draws) noexcept {
    std::uint64_t counter = first_draw / kDrawsPerCounter;
    for (std::size_t i = 0; i < n_rows; i += kDrawsPerCounter) {  // may pass n_rows, not the block
        const PhiloxBlock block = philox4x64(key, ++counter);
        for (std::size_t k = 0; k < kDrawsPerCounter; ++k) draws[i + k] = block[k] >> 1;
    }
}

template <class Code, class Offset>
void add_parent(const Code* codes, Offset stride, std::size_t n_rows, Offset* offsets) noexcept {
    for (std::size_t i = 0; i < n_rows; ++i) offsets[i] += stride * static_cast<Offset>(codes[i]);
}

// Where the thresholds of each row's parent configuration begin.
template <class Offset>
void fill_offsets(std::span<const SampledNode> nodes, const SampledNode& node,
                  std::size_t first_row, std::size_t n_rows, Offset* offsets) noexcept {
    std::fill_n(offsets, n_rows, Offset{0});
    for (std::size_t p = 0; p < node.parents.size(); ++p) {
        const auto stride = static_cast<Offset>(node.strides[p] * node.n_thresholds);
        std::visit([&](auto* codes) { add_parent(codes + first_row, stride, n_rows, offsets); },
                   nodes[node.parents[p]].codes);
    }
}

// The same where a finder knows which configurations have thresholds of their own.
template <class Offset>
void find_offsets(std::span<const SampledNode> nodes, const SampledNode& node,
                  std::size_t first_row, std::size_t n_rows, Offset* offsets) {
    std::uint64_t found[kBlockRows];
    node.finder->find({found, n_rows}, [&](std::size_t parent, std::uint64_t stride,
                                           std::span<std::uint64_t> keys) {
        std::visit([&](auto* codes) { add_parent(codes + first_row, stride, n_rows, keys.data()); },
                   nodes[node.parents[parent]].codes);
    });
    for (std::size_t i = 0; i < n_rows; ++i) {
        offsets[i] = static_cast<Offset>(found[i] * node.n_thresholds);
    }
}

// The number of thresholds not above the draw, by looking at all of them: no branch to mispredict.
template <std::size_t N, class Code, class Offset>
void draw_counted(const std::uint64_t* thresholds, const Scratch<Offset>& scratch,
                  std::size_t n_rows, Code* codes) noexcept {
    for (std::size_t i = 0; i < n_rows; ++i) {
        const std::uint64_t* row = thresholds + scratch.offsets[i];
        unsigned state = 0;
        for (std::size_t k = 0; k < N; ++k) state += scratch.draws[i] >= row[k];
        codes[i] = static_cast<Code>(state);
    }
}

// The same by halving, for many states.
template <class Code, class Offset>
void draw_halving(const std::uint64_t* thresholds, std::size_t n_thresholds,
                  const Scratch<Offset>& scratch, std::size_t n_rows, Code* codes) noexcept {
    for (std::size_t i = 0; i < n_rows; ++i) {
        const std::uint64_t draw = scratch.draws[i];
        const std::uint64_t* row = thresholds + scratch.offsets[i];
        const std::uint64_t* base = row;
        for (std::size_t left = n_thresholds; left > 1;) {  // the answer is in base ... base + left
            const std::size_t half = left / 2;
            base += draw >= base[half - 1] ? half : 0;
            left -= half;
        }
        codes[i] = static_cast<Code>(base - row + (draw >= *base));
    }
}

template <class Code, class Offset, std::size_t... N>
bool draw_small(std::index_sequence<N...>, const SampledNode& node, const Scratch<Offset>& scratch,
                std::size_t n_rows, Code* codes) noexcept {
    return ((node.n_thresholds == N &&
             (draw_counted<N>(node.thresholds.data(), scratch, n_rows, codes), true)) ||
            ...);
}

template <class Offset>
void draw_block(std::span<const SampledNode> nodes, const SampledNode& node, std::size_t first_row,
                std::size_t n_rows, std::uint64_t first_draw) {
    Scratch<Offset> scratch;
    fill_draws(node.key, first_draw, n_rows, scratch.draws);
    if (node.finder) {
        find_offsets(nodes, node, first_row, n_rows, scratch.offsets);
    } else {
        fill_offsets(nodes, node, first_row, n_rows, scratch.offsets);
    }
    std::visit(
        [&](auto* column) {
            auto* codes = column + first_row;
            if (!draw_small(std::make_index_sequence<kMaxCounted + 1>(), node, scratch, n_rows,
                            codes)) {
                draw_halving(node.thresholds.data(), node.n_thresholds, scratch, n_rows, codes);
            }
        },
        node.codes);
}

}  // namespace

void sample_network(std::span<const SampledNode> nodes, std::size_t n_rows,
                    const Execution& execution, std::uint64_t first) {
    const std::size_t n_blocks = (n_rows + kBlockRows - 1) / kBlockRows;
    const double expected =
        static_cast<double>(n_rows) * static_cast<double>(nodes.size()) * kNanosecondsPerDraw;
    parallel_for(n_blocks, expected, execution, [&](std::size_t block, const StopFlag& stop) {
        const std::size_t first_row = block * kBlockRows;
        const std::size_t rows = std::min(kBlockRows, n_rows - first_row);
        for (const SampledNode& node : nodes) {
            if (stop.load(std::memory_order_relaxed)) return;
            if (node.thresholds.size() <= std::numeric_limits<std::uint32_t>::max()) {
                draw_block<std::uint32_t>(nodes, node, first_row, rows, first + first_row);
            } else {
                draw_block<std::uint64_t>(nodes, node, first_row, rows, first + first_row);
            }
        }
    });
}

}  // namespace bestdag
