#include "independence/data_test.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "counting/count_type.hpp"
#include "counting/joint_counts.hpp"
#include "independence/random_tables.hpp"
#include "special/chi_square.hpp"

namespace bestdag {

namespace {

// Tables of two variables, one stratum after another.
template <class Count>
class Strata {
public:
    Strata(const DataTestSettings& settings, const NLogN& n_log_n)
        : settings_(settings), n_log_n_(n_log_n) {}

    void begin(std::size_t n_one, std::size_t n_other) {
        n_one_ = n_one;
        n_other_ = n_other;
        statistic_ = df_ = 0.0;
        columns_.resize(n_other);
        rows_.resize(n_one);
        margins_.clear();
        shapes_.clear();
    }

    // cells: those of one stratum, row-major, rows for the one variable.
    void add(const Count* cells) {
        std::fill(columns_.begin(), columns_.end(), Count{0});
        std::size_t n_rows = 0;
        Count total{0};
        for (std::size_t r = 0; r < n_one_; ++r) {
            Count sum{0};
            for (std::size_t c = 0; c < n_other_; ++c) {
                const Count count = cells[r * n_other_ + c];
                columns_[c] += count;
                sum += count;
            }
            rows_[r] = sum;
            n_rows += sum > Count{0};
            total += sum;
        }
        if (!(total > Count{0})) return;
        std::size_t n_columns = 0;
        for (const Count count : columns_) n_columns += count > Count{0};
        if (n_rows < 2 || n_columns < 2) return;  // adds nothing to either sum
        df_ += static_cast<double>(n_rows - 1) * static_cast<double>(n_columns - 1);
        statistic_ += settings_.statistic == DataTestSettings::Statistic::g2 ? g2(cells, total)
                                                                             : x2(cells, total);
        if (settings_.n_permutations > 0) keep_margins(n_rows, n_columns);
    }

    // n_strata: of the declared states, occurring or not.
    Answer answer(double n_strata, double n_rows, RandomStream random, const StopFlag& stop) {
        Answer made;
        made.statistic = std::max(statistic_, 0.0);  // rounding may leave less
        made.df = settings_.adjusts_df ? df_
                                       : static_cast<double>(n_one_ - 1) *
                                             static_cast<double>(n_other_ - 1) * n_strata;
        if (df_ == 0.0) {
            made.statistic = 0.0;
            made.remark = Remark::no_freedom;
        }
        if (made.df > 0.0 && n_rows < settings_.rows_per_df * made.df) {
            made.remark = Remark::too_few_rows;
        }
        if (df_ > 0.0) {
            made.log_p = settings_.n_permutations > 0
                             ? permuted_log_p(random, stop)
                             : chi_square_log_tail(made.df, made.statistic);
        }
        made.is_independent =
            made.remark != Remark::too_few_rows && made.log_p > settings_.log_alpha;
        return made;
    }

private:
    double g2(const Count* cells, Count total) const {
        double sum = n_log_n_(total);
        for (std::size_t i = 0; i < n_one_ * n_other_; ++i) sum += n_log_n_(cells[i]);
        for (const Count count : rows_) sum -= n_log_n_(count);
        for (const Count count : columns_) sum -= n_log_n_(count);
        return 2.0 * sum;
    }

    double x2(const Count* cells, Count total) const {
        double sum = 0.0;
        for (std::size_t r = 0; r < n_one_; ++r) {
            const double share = static_cast<double>(rows_[r]) / static_cast<double>(total);
            if (share == 0.0) continue;
            for (std::size_t c = 0; c < n_other_; ++c) {
                const double expected = share * static_cast<double>(columns_[c]);
                if (expected == 0.0) continue;
                const double off = static_cast<double>(cells[r * n_other_ + c]) - expected;
                sum += off * off / expected;
            }
        }
        return sum;
    }

    void keep_margins(std::size_t n_rows, std::size_t n_columns) {
        shapes_.emplace_back(n_rows, n_columns);
        for (const Count count : rows_) {
            if (count > Count{0}) margins_.push_back(static_cast<std::int64_t>(count));
        }
        for (const Count count : columns_) {
            if (count > Count{0}) margins_.push_back(static_cast<std::int64_t>(count));
        }
    }

    // The share of shuffled tables, this one among them, that are at least as far from independent.
    double permuted_log_p(RandomStream& random, const StopFlag& stop) {
        // A shuffle that gives the same table in another order counts, whatever the rounding.
        const double reached = statistic_ - 1e-9 * std::max(1.0, statistic_);
        left_.resize(n_other_);
        drawn_.resize(n_one_ * n_other_);
        std::int64_t n_as_far = 0;
        for (std::int64_t k = 0; k < settings_.n_permutations; ++k) {
            check(stop);
            n_as_far += permuted_g2(random) >= reached;
        }
        return std::log(static_cast<double>(n_as_far + 1) /
                        static_cast<double>(settings_.n_permutations + 1));
    }

    double permuted_g2(RandomStream& random) {
        double sum = 0.0;
        const std::int64_t* margin = margins_.data();
        for (const auto& [n_rows, n_columns] : shapes_) {
            const std::span<const std::int64_t> rows(margin, n_rows);
            const std::span<const std::int64_t> columns(margin + n_rows, n_columns);
            margin += n_rows + n_columns;
            draw_table(rows, columns, random, left_, drawn_);
            std::int64_t total = 0;
            for (const std::int64_t count : rows) {
                sum -= n_log_n_(count);
                total += count;
            }
            for (const std::int64_t count : columns) sum -= n_log_n_(count);
            for (std::size_t i = 0; i < n_rows * n_columns; ++i) sum += n_log_n_(drawn_[i]);
            sum += n_log_n_(total);
        }
        return 2.0 * sum;
    }

    const DataTestSettings& settings_;
    const NLogN& n_log_n_;
    std::size_t n_one_ = 0, n_other_ = 0;
    double statistic_ = 0.0;
    double df_ = 0.0;  // adjusted
    std::vector<Count> rows_, columns_;
    std::vector<std::int64_t> margins_, left_, drawn_;         // for permutations
    std::vector<std::pair<std::size_t, std::size_t>> shapes_;  // rows and columns of each stratum
};

// Rows in order of the configuration that they have, for conditions with more configurations than
// rows: memory follows the rows.
class SortedRows {
public:
    explicit SortedRows(const Table& table) : table_(table) {}

    void sort(std::span<const std::int32_t> columns, const StopFlag& stop) {
        const std::size_t n = table_.n_rows();
        ids_.assign(n, 0);
        keys_.resize(n);
        for (const std::int32_t number : columns) {
            const Column& column = table_.column(static_cast<std::size_t>(number));
            check(stop);
            for (std::size_t i = 0; i < n; ++i) ids_[i] = ids_[i] * column.arity + column[i];
            std::copy(ids_.begin(), ids_.end(), keys_.begin());
            std::sort(keys_.begin(), keys_.end());
            const auto end = std::unique(keys_.begin(), keys_.end());
            check(stop);
            for (std::size_t i = 0; i < n; ++i) {
                ids_[i] = static_cast<std::uint64_t>(std::lower_bound(keys_.begin(), end, ids_[i]) -
                                                     keys_.begin());
            }
        }
        const std::uint64_t most = n == 0 ? 0 : *std::max_element(ids_.begin(), ids_.end());
        starts_.assign(static_cast<std::size_t>(most) + 2, 0);
        for (const std::uint64_t id : ids_) ++starts_[static_cast<std::size_t>(id) + 1];
        for (std::size_t k = 0; k + 1 < starts_.size(); ++k) starts_[k + 1] += starts_[k];
        std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
        order_.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            order_[next[static_cast<std::size_t>(ids_[i])]++] = static_cast<std::uint32_t>(i);
        }
    }

    std::size_t n_strata() const { return starts_.size() - 1; }
    std::span<const std::uint32_t> stratum(std::size_t k) const {
        return {order_.data() + starts_[k], starts_[k + 1] - starts_[k]};
    }

private:
    const Table& table_;
    std::vector<std::uint64_t> ids_, keys_;
    std::vector<std::size_t> starts_;
    std::vector<std::uint32_t> order_;
};

std::uint64_t mixed(std::uint64_t seen, std::uint64_t next) noexcept {
    std::uint64_t z = (seen ^ next) + 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

template <class Count>
class RowAnswerer : public Answerer {
public:
    RowAnswerer(const Table& table, const DataTestSettings& settings, const NLogN& n_log_n)
        : table_(table),
          settings_(settings),
          counter_(table, true),
          strata_(settings, n_log_n),
          sorted_(table) {}

    void ask(std::int32_t one, std::span<const std::int32_t> given,
             std::span<const std::int32_t> others, std::span<Answer> answers,
             const StopFlag& stop) override {
        check(stop);
        prefix_.assign(given.begin(), given.end());
        prefix_.push_back(one);
        double n_strata = 1.0;
        for (const std::int32_t column : given) n_strata *= static_cast<double>(arity(column));
        bool is_sorted = false;
        counter_.visit(prefix_, others, stop, [&](std::size_t i, std::span<const Count> cells) {
            strata_.begin(arity(one), arity(others[i]));
            if (cells.empty()) {
                if (!is_sorted) sorted_.sort(given, stop);
                is_sorted = true;
                add_sorted(one, others[i], stop);
            } else {
                const std::size_t step = arity(one) * arity(others[i]);
                for (std::size_t k = 0; k < cells.size(); k += step) strata_.add(cells.data() + k);
            }
            answers[i] = strata_.answer(n_strata, table_.total_weight(),
                                        RandomStream(key(one, others[i], given)), stop);
        });
    }

private:
    std::size_t arity(std::int32_t column) const {
        return table_.column(static_cast<std::size_t>(column)).arity;
    }

    void add_sorted(std::int32_t one, std::int32_t other, const StopFlag& stop) {
        const Column& rows = table_.column(static_cast<std::size_t>(one));
        const Column& columns = table_.column(static_cast<std::size_t>(other));
        cells_.assign(std::size_t{rows.arity} * columns.arity, Count{0});
        for (std::size_t k = 0; k < sorted_.n_strata(); ++k) {
            const auto stratum = sorted_.stratum(k);
            if (stratum.size() < 2 && !table_.is_weighted()) continue;  // has no freedom
            if (k % 256 == 0) check(stop);
            for (const std::uint32_t row : stratum) {
                cells_[rows[row] * columns.arity + columns[row]] += weight_of<Count>(table_, row);
            }
            strata_.add(cells_.data());
            for (const std::uint32_t row : stratum) {
                cells_[rows[row] * columns.arity + columns[row]] = Count{0};
            }
        }
    }

    // The same for either order of the two variables.
    PhiloxKey key(std::int32_t one, std::int32_t other, std::span<const std::int32_t> given) const {
        std::uint64_t seen = mixed(static_cast<std::uint64_t>(std::min(one, other)),
                                   static_cast<std::uint64_t>(std::max(one, other)) << 32);
        for (const std::int32_t column : given) {
            seen = mixed(seen, static_cast<std::uint64_t>(column));
        }
        return {settings_.seed, seen};
    }

    const Table& table_;
    const DataTestSettings& settings_;
    JointCounter<Count> counter_;
    Strata<Count> strata_;
    SortedRows sorted_;
    std::vector<std::int32_t> prefix_;
    std::vector<Count> cells_;
};

}  // namespace

std::unique_ptr<Answerer> DataTest::answerer() const {
    std::unique_ptr<Answerer> made;
    with_count_type(table_, [&](auto count) {
        made = std::make_unique<RowAnswerer<decltype(count)>>(table_, settings_, n_log_n_);
    });
    return made;
}

double DataTest::expected_nanoseconds() const {
    constexpr double kNanosecondsPerRow = 0.5;
    constexpr double kNanosecondsPerTable = 2000.0;
    return kNanosecondsPerRow * static_cast<double>(table_.n_rows()) +
           kNanosecondsPerTable * static_cast<double>(settings_.n_permutations);
}

}  // namespace bestdag
