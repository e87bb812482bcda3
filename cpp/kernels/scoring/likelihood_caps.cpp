#include "scoring/likelihood_caps.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "counting/count_type.hpp"
#include "counting/family_counts.hpp"
#include "scores/row_likelihood.hpp"

namespace bestdag {

namespace {

using Clock = std::chrono::steady_clock;
using Numbers = std::vector<std::uint32_t>;

constexpr double kRelativeSlack = 1e-12;  // for the rounding of sums of the size of N ln N
constexpr std::size_t kMaxBytes = std::size_t{1} << 28;  // for the partitions that are remembered

// Rows by what they have in some columns; parts are numbered in lexicographic order.
struct Partition {
    Numbers parts;  // of each row
    std::size_t n_parts = 1;
};

// Split the parts by one more code for each row.
template <class Code>
void refine(Partition& partition, std::size_t arity, const Code& code) {
    const std::size_t n_slots = partition.n_parts * arity;
    Numbers& parts = partition.parts;
    if (arity == 1 || partition.n_parts == parts.size()) return;
    if (n_slots > 4 * parts.size() + 65536) {  // most would be empty
        std::vector<std::pair<std::uint64_t, std::uint32_t>> keys(parts.size());
        for (std::size_t row = 0; row < parts.size(); ++row) {
            keys[row] = {std::uint64_t{parts[row]} * arity + code(row),
                         static_cast<std::uint32_t>(row)};
        }
        std::sort(keys.begin(), keys.end());
        std::uint32_t part = 0;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (i > 0 && keys[i].first != keys[i - 1].first) ++part;
            parts[keys[i].second] = part;
        }
        partition.n_parts = part + 1;
        return;
    }
    Numbers marks(n_slots, 0);
    for (std::size_t row = 0; row < parts.size(); ++row) {
        parts[row] = static_cast<std::uint32_t>(parts[row] * arity + code(row));
        marks[parts[row]] = 1;
    }
    std::uint32_t next = 0;
    for (std::uint32_t& mark : marks) {
        if (mark) mark = next++;
    }
    for (std::uint32_t& part : parts) part = marks[part];
    partition.n_parts = next;
}

// Works on the distinct rows. Without column v two rows are equal when they are in what comes
// before v and in what comes after it.
class Caps {
public:
    explicit Caps(const Table& table) : table_(table) {}

    bool run(Clock::time_point deadline, const StopFlag& stop, std::span<double> caps) {
        const auto is_over = [&] {
            check(stop);
            return Clock::now() >= deadline;
        };
        if (!collapse(is_over)) return false;

        // after[v]: by the columns after v; shared where a column splits nothing.
        std::vector<std::shared_ptr<const Partition>> after(table_.n_columns());
        auto last = std::make_shared<const Partition>(Partition{Numbers(rows_.size(), 0)});
        std::size_t bytes = 0;
        for (std::size_t v = table_.n_columns(); v-- > 0;) {
            if (is_over()) return false;
            after[v] = last;
            Partition finer = *last;
            split(finer, v);
            if (finer.n_parts == last->n_parts) continue;
            last = std::make_shared<const Partition>(std::move(finer));
            bytes += rows_.size() * sizeof(std::uint32_t);
            if (bytes > kMaxBytes) return false;
        }
        Partition before{Numbers(rows_.size(), 0)};
        for (std::size_t v = 0; v < table_.n_columns(); ++v) {
            if (is_over()) return false;
            caps[v] = fit(before, *after[v]);
            after[v].reset();
            split(before, v);
        }
        return true;
    }

    // The log-likelihood of all columns together, each row being as likely as it is frequent.
    double joint_fit(const StopFlag& stop) {
        collapse([&] {
            check(stop);
            return false;
        });
        double sum = 0.0;
        for (const double weight : weights_) {
            if (weight > 0.0) sum += n_log_share(weight, table_.total_weight());
        }
        return std::min(sum, 0.0);
    }

private:
    // One row for all that are equal, with their weights together; false when there is no time.
    template <class IsOver>
    bool collapse(const IsOver& is_over) {
        Partition whole{Numbers(table_.n_rows(), 0)};
        for (std::size_t c = 0; c < table_.n_columns(); ++c) {
            if (is_over()) return false;
            refine(whole, table_.column(c).arity,
                   [&](std::size_t row) { return table_.column(c)[row]; });
        }
        rows_.assign(whole.n_parts, 0);
        weights_.assign(whole.n_parts, 0.0);
        for (std::size_t row = table_.n_rows(); row-- > 0;) {
            rows_[whole.parts[row]] = static_cast<std::uint32_t>(row);
            weights_[whole.parts[row]] += table_.weights().real ? table_.weights().real[row]
                                          : table_.weights().whole
                                              ? static_cast<double>(table_.weights().whole[row])
                                              : 1.0;
        }
        return true;
    }

    void split(Partition& partition, std::size_t v) {
        const Column& column = table_.column(v);
        refine(partition, column.arity, [&](std::size_t i) { return column[rows_[i]]; });
    }

    double fit(const Partition& before, const Partition& after) {
        const std::size_t n = rows_.size();
        if (before.n_parts == n || after.n_parts == n) return 0.0;  // no two are equal without v
        keys_.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            keys_[i] = {std::uint64_t{before.parts[i]} * after.n_parts + after.parts[i],
                        static_cast<std::uint32_t>(i)};
        }
        std::sort(keys_.begin(), keys_.end());
        double sum = 0.0;
        for (std::size_t first = 0, end; first < n; first = end) {
            double total = 0.0;  // N_j; the rows of a part differ in v, each in another state
            for (end = first; end < n && keys_[end].first == keys_[first].first; ++end) {
                total += weights_[keys_[end].second];
            }
            if (end == first + 1) continue;
            for (std::size_t i = first; i < end; ++i) {
                const double count = weights_[keys_[i].second];  // N_jk
                if (count > 0.0) sum += n_log_share(count, total);
            }
        }
        return std::min(sum, 0.0);
    }

    const Table& table_;
    Numbers rows_;                 // one of each kind
    std::vector<double> weights_;  // of all of that kind
    std::vector<std::pair<std::uint64_t, std::uint32_t>> keys_;
};

}  // namespace

bool likelihood_caps(const Table& table, Clock::time_point deadline, const StopFlag& stop,
                     std::span<double> caps) {
    return Caps(table).run(deadline, stop, caps);
}

double total_cap(const Table& table, const Kernel& kernel, const StopFlag& stop) {
    const std::unique_ptr<Evaluator> evaluator = kernel.evaluator(table, stop);
    const double weight = evaluator->likelihood_weight();
    const bool is_capped = evaluator->is_capped_by_likelihood();
    if (weight == 0.0 && !is_capped) return std::numeric_limits<double>::infinity();
    double rest = 0.0;  // of each column the most that its family adds to the likelihood
    with_count_type(table, [&](auto zero) {
        using Count = decltype(zero);
        FamilyCounter<Count> counter(table, false);
        for (std::size_t child = 0; child < table.n_columns(); ++child) {
            const Family family{child, {}};
            const FamilyShape shape = shape_of(table, family);
            if (weight > 0.0) {  // one more parent with one state changes nothing
                rest += evaluator->bound_constant(shape, 1.0);
            } else {
                counter.visit(family, stop, [&](const CountRows<Count>& rows) {
                    rest += evaluator->cap_rows(rows, shape);
                });
            }
        }
    });
    const double n = table.total_weight();
    const double slack =
        kRelativeSlack * n * std::log(n + 2.0) * static_cast<double>(table.n_columns());
    return (weight > 0.0 ? weight : 1.0) * Caps(table).joint_fit(stop) + rest + slack;
}

}  // namespace bestdag
