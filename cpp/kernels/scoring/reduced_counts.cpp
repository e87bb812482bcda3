#include "scoring/reduced_counts.hpp"

#include <algorithm>
#include <cmath>

#include "base/bitwise.hpp"

namespace bestdag {

namespace {

constexpr std::size_t kMostNumbers = 512;
constexpr double kHistogramNanoseconds = 0.6;  // per row, measured
constexpr double kCallNanoseconds = 2.5;       // of counting common bits, beside the words
constexpr std::size_t kPrefixBytes = 1u << 17;  // bitmaps of the prefix stay in the L2 cache

}  // namespace

ReducedCounts::ReducedCounts(const Table& table, const Subsets& subsets) : subsets_(subsets) {
    const auto n_words = static_cast<double>(table.n_words());
    const double each = n_words / bitwise().words_per_nanosecond + kCallNanoseconds;
    const double histogram = kHistogramNanoseconds * static_cast<double>(table.n_rows());
    most_ = std::clamp<std::size_t>(static_cast<std::size_t>(histogram / each), 16, kMostNumbers);
    for (std::size_t c = 0; c < table.n_columns(); ++c) {
        states_.push_back(std::max<std::size_t>(2, table.column(c).arity) - 1);
    }
    ends_.resize(most_ + 1);
    for (std::size_t numbers = 1; numbers <= most_; ++numbers) {
        ends_[numbers].push_back(0);
        for (const std::size_t states : states_) {
            const std::size_t here = numbers * states <= most_ ? numbers * states : 0;
            ends_[numbers].push_back(ends_[numbers].back() + here);
        }
    }
}

std::size_t ReducedCounts::n_numbers(std::span<const std::int32_t> columns) const {
    std::size_t numbers = 1;
    for (const std::int32_t column : columns) {
        numbers = std::min(numbers * states(column), most_ + 1);
    }
    return numbers;
}

std::size_t ReducedCounts::row_size(std::span<const std::int32_t> prefix) const {
    const std::size_t numbers = n_numbers(prefix);
    if (numbers > most_) return 0;
    const auto first = prefix.empty() ? 0 : prefix.back() + 1;
    return place(numbers, first, static_cast<std::int32_t>(states_.size()));
}

template <class Use>
void ReducedCounts::for_prefixes(std::size_t size, const Use& use) const {
    std::vector<std::int32_t> prefix(size - 1);
    const std::size_t n_prefixes = subsets_.n_of_size(size - 1);
    for (std::size_t i = 0; i < prefix.size(); ++i) prefix[i] = static_cast<std::int32_t>(i);
    for (std::size_t rank = 0; rank < n_prefixes; ++rank) {
        use(prefix);
        next_subset(prefix);
    }
}

void ReducedCounts::add_size(std::size_t size) {
    Rows rows;
    rows.starts.reserve(subsets_.n_of_size(size - 1) + 1);
    rows.starts.push_back(0);
    for_prefixes(size, [&](const std::vector<std::int32_t>& prefix) {
        rows.starts.push_back(rows.starts.back() + row_size(prefix));
    });
    rows.numbers.resize(rows.starts.back());
    rows_.push_back(std::move(rows));
}

double ReducedCounts::bytes_of(std::size_t size) const {
    double bytes = 8.0 * static_cast<double>(subsets_.n_of_size(size - 1));
    for_prefixes(size, [&](const std::vector<std::int32_t>& prefix) {
        bytes += 4.0 * static_cast<double>(row_size(prefix));
    });
    return bytes;
}

std::uint32_t* ReducedCounts::row(std::span<const std::int32_t> prefix) {
    Rows& rows = rows_[prefix.size()];
    return rows.numbers.data() + rows.starts[subsets_.rank(prefix)];
}

double ReducedCounts::bytes() const noexcept {
    double bytes = 0.0;
    for (const Rows& rows : rows_) {
        bytes += 8.0 * static_cast<double>(rows.starts.capacity()) +
                 4.0 * static_cast<double>(rows.numbers.capacity());
    }
    return bytes;
}

ReducedCounter::ReducedCounter(const Table& table, ReducedCounts& counts)
    : table_(table), counts_(counts) {
    for (std::size_t c = 0; c < table.n_columns(); ++c) bitmaps_.push_back(table.bitmaps(c));
}

void ReducedCounter::count(std::span<const std::int32_t> prefix,
                           std::span<const std::int32_t> columns, const StopFlag& stop) {
    plan(prefix);
    count_numbers(columns, stop);
}

// Where the cells of the prefix come from, and how many rows each has.
void ReducedCounter::plan(std::span<const std::int32_t> prefix) {
    const std::size_t m = prefix.size();
    prefix_.assign(prefix.begin(), prefix.end());
    first_ = prefix.empty() ? 0 : prefix.back() + 1;
    n_numbers_ = counts_.n_numbers(prefix);

    std::uint32_t* mine;
    if (counts_.has_size(m + 1)) {
        mine = counts_.row(prefix);
        std::fill_n(mine, counts_.row_size(prefix), 0u);
    } else {
        own_.assign(counts_.row_size(prefix), 0u);
        mine = own_.data();
    }
    rows_.resize(std::size_t{1} << m);
    extended_.resize(m);
    std::size_t n_cells = 1;
    for (std::size_t i = 0; i < m; ++i) {
        extended_[i] = counts_.states(prefix[i]) + 1;
        n_cells *= extended_[i];
    }
    for (std::size_t bits = 0; bits < rows_.size(); ++bits) {
        subset_.clear();
        for (std::size_t i = 0; i < m; ++i) {
            if ((bits >> i) & 1u) subset_.push_back(prefix[i]);
        }
        const bool is_whole = bits + 1 == rows_.size();
        rows_[bits] = {is_whole ? mine : counts_.row(subset_),
                       subset_.empty() ? 0 : subset_.back() + 1, counts_.n_numbers(subset_)};
    }
    sources_.resize(n_cells);
    whole_.resize(n_cells);
    for (std::size_t cell = 0; cell < n_cells; ++cell) {
        std::size_t bits = 0, place = 0, before = 1, left = cell;
        for (std::size_t i = m; i-- > 0;) {
            const std::size_t state = left % extended_[i];
            left /= extended_[i];
            if (state + 1 == extended_[i]) continue;  // the sum over its states
            bits |= std::size_t{1} << i;
            place += before * state;
            before *= extended_[i] - 1;
        }
        sources_[cell] = {bits, place};
        if (bits == 0) {
            whole_[cell] = static_cast<std::uint32_t>(table_.n_rows());
            continue;
        }
        // The set of the columns that are not summed over: its last is in the row of the others.
        std::size_t last = m;
        while (!((bits >> (last - 1)) & 1u)) --last;
        const Row& row = rows_[bits & ~(std::size_t{1} << (last - 1))];
        const std::size_t start = counts_.place(row.n_numbers, row.first, prefix[last - 1]);
        whole_[cell] = row.numbers[start + place];
    }
}

void ReducedCounter::fill_bitmaps(std::size_t first_word, std::size_t n_words) {
    const Bitwise& ops = bitwise();
    std::copy_n(table_.all_rows() + first_word, n_words, bits_.begin());
    std::size_t n = 1;
    for (std::size_t i = 0; i < prefix_.size(); ++i) {
        const std::size_t n_states = extended_[i] - 1;
        const std::uint64_t* const states =
            bitmaps_[static_cast<std::size_t>(prefix_[i])] + first_word;
        for (std::size_t k = 0; k < n; ++k) {
            for (std::size_t s = 0; s < n_states; ++s) {
                ops.intersect(bits_.data() + k * n_words, states + s * table_.n_words(),
                              spare_bits_.data() + (k * n_states + s) * n_words, n_words);
            }
        }
        n *= n_states;
        bits_.swap(spare_bits_);
    }
}

// The numbers of the whole prefix with each column.
void ReducedCounter::count_numbers(std::span<const std::int32_t> columns, const StopFlag& stop) {
    const Bitwise& ops = bitwise();
    const std::size_t fitting = kPrefixBytes / sizeof(std::uint64_t) / n_numbers_;
    const std::size_t piece = std::clamp<std::size_t>(fitting / kLineWords * kLineWords, 32, 1024);
    bits_.resize(n_numbers_ * piece);
    spare_bits_.resize(n_numbers_ * piece);
    auto* const numbers = const_cast<std::uint32_t*>(rows_.back().numbers);
    for (std::size_t first = 0; first < table_.n_words(); first += piece) {
        check(stop);
        const std::size_t n_words = std::min(piece, table_.n_words() - first);
        fill_bitmaps(first, n_words);
        for (const std::int32_t d : columns) {
            const std::size_t n_states = counts_.states(d);
            const std::uint64_t* const states = bitmaps_[static_cast<std::size_t>(d)] + first;
            std::uint32_t* out = numbers + counts_.place(n_numbers_, first_, d);
            for (std::size_t k = 0; k < n_numbers_; ++k, out += n_states) {
                ops.count_states(bits_.data() + k * n_words, states, table_.n_words(), n_states,
                                 n_words, out);
            }
        }
    }
}

std::span<const std::uint32_t> ReducedCounter::cells(std::int32_t d) {
    const std::size_t n_states = counts_.states(d);
    const std::size_t width = n_states + 1;
    cells_.resize(sources_.size() * width);
    for (std::size_t cell = 0; cell < sources_.size(); ++cell) {
        const Row& row = rows_[sources_[cell].subset];
        const std::uint32_t* const from = row.numbers +
                                          counts_.place(row.n_numbers, row.first, d) +
                                          sources_[cell].place * n_states;
        std::uint32_t* const to = cells_.data() + cell * width;
        std::uint32_t left = whole_[cell];
        for (std::size_t s = 0; s < n_states; ++s) {
            to[s] = from[s];
            left -= from[s];
        }
        to[n_states] = left;
    }
    // From sums over all states of a column of the prefix to its last state.
    std::size_t inner = width;
    for (std::size_t i = prefix_.size(); i-- > 0; inner *= extended_[i]) {
        const std::size_t block = inner * extended_[i];
        for (std::size_t start = 0; start < cells_.size(); start += block) {
            std::uint32_t* const last = cells_.data() + start + block - inner;
            for (std::uint32_t* one = cells_.data() + start; one < last; one += inner) {
                for (std::size_t k = 0; k < inner; ++k) last[k] -= one[k];
            }
        }
    }
    return cells_;
}

const std::uint32_t* ReducedCounter::cells_together(std::int32_t d, std::size_t n) {
    const std::size_t n_cells = 2 * sources_.size();
    together_.resize(n_cells * kTogether);
    std::uint32_t* const cells = together_.data();
    for (std::size_t cell = 0; cell < sources_.size(); ++cell) {
        const Row& row = rows_[sources_[cell].subset];
        const std::uint32_t* const from = row.numbers + (d - row.first);
        std::uint32_t* const zeros = cells + 2 * cell * kTogether;
        std::uint32_t* const ones = zeros + kTogether;
        const std::uint32_t whole = whole_[cell];
        for (std::size_t i = 0; i < n; ++i) zeros[i] = from[i];
        for (std::size_t i = 0; i < n; ++i) ones[i] = whole - from[i];
    }
    for (std::size_t inner = 2; inner < n_cells; inner *= 2) {
        for (std::size_t cell = inner; cell < n_cells; ++cell) {
            if (!(cell & inner)) continue;
            std::uint32_t* const last = cells + cell * kTogether;
            const std::uint32_t* const other = cells + (cell - inner) * kTogether;
            for (std::size_t i = 0; i < n; ++i) last[i] -= other[i];
        }
    }
    return cells;
}

}  // namespace bestdag
