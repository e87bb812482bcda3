#include "counting/joint_counts.hpp"

#include <algorithm>
#include <type_traits>

#include "base/bitwise.hpp"

namespace bestdag {

namespace {

constexpr std::size_t kMaxCells = 1u << 20;          // accumulated at a time, over all candidates
constexpr std::size_t kPrefixBytes = 1u << 17;       // bitmaps of the prefix stay in the L2 cache
constexpr std::size_t kMaxBitConfigurations = 1024;  // more: histograms
constexpr double kHistogramNanoseconds = 38.0;       // per 64 rows, measured
constexpr double kSmallHistogramCells = 2048.0;      // several of them stay in the L1 cache
constexpr std::size_t kLanes = 4;
constexpr std::size_t kRowPiece = 8192;  // rows numbered at a time

std::uint32_t arity_of(const Table& table, std::int32_t column) {
    return table.column(static_cast<std::size_t>(column)).arity;
}

template <class Count>
void add_rows(const Table& table, const Column& column, std::size_t first,
              std::span<const std::uint32_t> numbers, Count* cells) {
    const std::uint32_t arity = column.arity;
    const auto add = [&](const auto* codes) {
        codes += first;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            Count weight{1};
            if constexpr (std::is_same_v<Count, std::int64_t>) {
                weight = table.weights().whole[first + i];
            } else if constexpr (std::is_same_v<Count, double>) {
                weight = table.weights().real[first + i];
            }
            cells[numbers[i] * arity + codes[i]] += weight;
        }
    };
    column.narrow ? add(column.narrow) : add(column.wide);
}

}  // namespace

bool is_dense(std::size_t n_rows, double n_cells) noexcept {
    return n_cells <= std::min(std::max(4096.0, 2.0 * static_cast<double>(n_rows)),
                               static_cast<double>(kMaxCells));
}

template <class Count>
void JointCounter<Count>::visit(std::span<const std::int32_t> prefix,
                                std::span<const std::int32_t> candidates, const StopFlag& stop,
                                const Visitor& visit) {
    double configurations = 1.0;
    for (const std::int32_t column : prefix) configurations *= arity_of(table_, column);
    const double bit_limit = kHistogramNanoseconds * bitwise().words_per_nanosecond;
    std::size_t done = 0;
    while (done < candidates.size()) {
        // As many candidates as fit; those that never fit are shown without cells.
        by_bitmap_.clear();
        by_small_histogram_.clear();
        by_histogram_.clear();
        std::vector<std::size_t> first_cells;
        std::size_t n_cells = 0;
        std::size_t end = done;
        for (; end < candidates.size(); ++end) {
            const std::uint32_t arity = arity_of(table_, candidates[end]);
            const double cells = configurations * arity;
            first_cells.push_back(n_cells);
            if (!is_dense(usual_rows_, cells)) continue;
            const auto size = static_cast<std::size_t>(cells);
            if (n_cells + size > kMaxCells && n_cells > 0) break;
            const bool use_bits = use_bitmaps_ && std::is_same_v<Count, std::uint32_t> &&
                                  configurations <= kMaxBitConfigurations &&
                                  configurations * arity <= bit_limit;
            const bool is_small =
                std::is_same_v<Count, std::uint32_t> && cells <= kSmallHistogramCells;
            (use_bits   ? by_bitmap_
             : is_small ? by_small_histogram_
                        : by_histogram_)
                .push_back({end, candidates[end], n_cells});
            n_cells += size;
        }
        cells_.assign(n_cells, Count{0});
        if (!by_bitmap_.empty()) {
            count_with_bitmaps(prefix, static_cast<std::size_t>(configurations), stop);
        }
        if (!by_small_histogram_.empty()) count_with_small_histograms(prefix, stop);
        if (!by_histogram_.empty()) count_with_histograms(prefix, stop);
        for (std::size_t i = done; i < end; ++i) {
            const double cells = configurations * arity_of(table_, candidates[i]);
            const bool counted = is_dense(usual_rows_, cells);
            visit(i, {cells_.data() + first_cells[i - done],
                      counted ? static_cast<std::size_t>(cells) : 0});
        }
        done = end;
    }
}

// The bitmaps of all configurations of the prefix over a stretch of words, in order.
template <class Count>
void JointCounter<Count>::fill_prefix_bitmaps(std::span<const std::int32_t> prefix,
                                              std::size_t first_word, std::size_t words) {
    const Bitwise& ops = bitwise();
    std::copy_n(table_.all_rows() + first_word, words, prefix_bits_.begin());
    std::size_t configurations = 1;
    for (const std::int32_t column : prefix) {
        const std::size_t arity = arity_of(table_, column);
        const std::uint64_t* const states =
            table_.bitmaps(static_cast<std::size_t>(column)) + first_word;
        for (std::size_t c = 0; c < configurations; ++c) {
            for (std::size_t s = 0; s < arity; ++s) {
                ops.intersect(prefix_bits_.data() + c * words, states + s * table_.n_words(),
                              spare_bits_.data() + (c * arity + s) * words, words);
            }
        }
        configurations *= arity;
        prefix_bits_.swap(spare_bits_);
    }
}

template <class Count>
void JointCounter<Count>::count_with_bitmaps(std::span<const std::int32_t> prefix,
                                             std::size_t n_configurations, const StopFlag& stop) {
    if constexpr (std::is_same_v<Count, std::uint32_t>) {
        const Bitwise& ops = bitwise();
        const std::size_t fitting = kPrefixBytes / sizeof(std::uint64_t) / n_configurations;
        const std::size_t piece =
            std::clamp<std::size_t>(fitting / kLineWords * kLineWords, 32, 1024);
        prefix_bits_.resize(n_configurations * piece);
        spare_bits_.resize(n_configurations * piece);
        prefix_totals_.resize(n_configurations);
        for (std::size_t first = 0; first < table_.n_words(); first += piece) {
            check(stop);
            const std::size_t words = std::min(piece, table_.n_words() - first);
            fill_prefix_bitmaps(prefix, first, words);
            for (std::size_t c = 0; c < n_configurations; ++c) {
                const std::uint64_t* const bits = prefix_bits_.data() + c * words;
                prefix_totals_[c] = static_cast<std::uint32_t>(ops.count_common(bits, bits, words));
            }
            for (const Candidate& candidate : by_bitmap_) {
                const auto column = static_cast<std::size_t>(candidate.column);
                const std::size_t arity = table_.column(column).arity;
                const std::uint64_t* const states = table_.bitmaps(column) + first;
                std::uint32_t* cells = cells_.data() + candidate.first_cell;
                for (std::size_t c = 0; c < n_configurations; ++c, cells += arity) {
                    if (prefix_totals_[c] == 0) continue;
                    // The last state gets what the others leave: its cell holds the total until
                    // every piece has been counted.
                    ops.count_states(prefix_bits_.data() + c * words, states, table_.n_words(),
                                     arity - 1, words, cells);
                    cells[arity - 1] += prefix_totals_[c];
                }
            }
        }
        for (const Candidate& candidate : by_bitmap_) {
            const std::size_t arity = arity_of(table_, candidate.column);
            std::uint32_t* cells = cells_.data() + candidate.first_cell;
            for (std::size_t c = 0; c < n_configurations; ++c, cells += arity) {
                for (std::size_t s = 0; s + 1 < arity; ++s) cells[arity - 1] -= cells[s];
            }
        }
    }
}

template <class Count>
void JointCounter<Count>::count_with_histograms(std::span<const std::int32_t> prefix,
                                                const StopFlag& stop) {
    numbers_.resize(kRowPiece);
    for (std::size_t first = 0; first < table_.n_rows(); first += kRowPiece) {
        check(stop);
        const std::size_t count = std::min(kRowPiece, table_.n_rows() - first);
        std::fill_n(numbers_.begin(), count, 0u);
        for (const std::int32_t column : prefix) {
            append_codes<std::uint32_t>(table_.column(static_cast<std::size_t>(column)), first,
                                        {numbers_.data(), count});
        }
        for (const Candidate& candidate : by_histogram_) {
            add_rows<Count>(table_, table_.column(static_cast<std::size_t>(candidate.column)),
                            first, {numbers_.data(), count}, cells_.data() + candidate.first_cell);
        }
    }
}

// Rows without weights and few cells: 16-bit numbers, and neighbouring rows go to different copies
// of the histogram, because adding twice to one cell means waiting for the first sum.
template <class Count>
void JointCounter<Count>::count_with_small_histograms(std::span<const std::int32_t> prefix,
                                                      const StopFlag& stop) {
    std::size_t n_lane_cells = 0;
    for (const Candidate& candidate : by_small_histogram_) {
        n_lane_cells = std::max(
            n_lane_cells, candidate.first_cell + static_cast<std::size_t>(kSmallHistogramCells));
    }
    n_lane_cells = std::min(n_lane_cells, cells_.size());
    lanes_.assign(kLanes * n_lane_cells, Count{0});
    short_numbers_.resize(kRowPiece);
    cell_numbers_.resize(kRowPiece);
    for (std::size_t first = 0; first < table_.n_rows(); first += kRowPiece) {
        check(stop);
        const std::size_t count = std::min(kRowPiece, table_.n_rows() - first);
        std::fill_n(short_numbers_.begin(), count, std::uint16_t{0});
        for (const std::int32_t column : prefix) {
            append_codes<std::uint16_t>(table_.column(static_cast<std::size_t>(column)), first,
                                        {short_numbers_.data(), count});
        }
        for (const Candidate& candidate : by_small_histogram_) {
            std::copy_n(short_numbers_.begin(), count, cell_numbers_.begin());
            append_codes<std::uint16_t>(table_.column(static_cast<std::size_t>(candidate.column)),
                                        first, {cell_numbers_.data(), count});
            Count* const lane = lanes_.data() + candidate.first_cell;
            std::size_t i = 0;
            for (; i + kLanes <= count; i += kLanes) {
                for (std::size_t k = 0; k < kLanes; ++k) {
                    lane[k * n_lane_cells + cell_numbers_[i + k]] += Count{1};
                }
            }
            for (; i < count; ++i) lane[cell_numbers_[i]] += Count{1};
        }
    }
    for (std::size_t k = 0; k < kLanes; ++k) {
        for (std::size_t i = 0; i < n_lane_cells; ++i) cells_[i] += lanes_[k * n_lane_cells + i];
    }
}

template class JointCounter<std::uint32_t>;
template class JointCounter<std::int64_t>;
template class JointCounter<double>;

}  // namespace bestdag
