#include "counting/count_families.hpp"

#include <algorithm>
#include <functional>
#include <type_traits>

#include "counting/count_type.hpp"
#include "counting/family_loops.hpp"

namespace bestdag {

namespace {

// Appends the configurations that occur to an ObservedCounts.
template <class Count>
class Collector {
public:
    Collector(const Table& table, const Family& family, double max_cells, ObservedCounts& out)
        : table_(table), family_(family), max_cells_(max_cells), out_(out) {}

    void operator()(const CountRows<Count>& rows) {
        for (std::size_t begin = 0; begin < rows.cells.size(); begin += rows.arity, ++seen_) {
            const auto cells = rows.cells.subspan(begin, rows.arity);
            if (std::all_of(cells.begin(), cells.end(), [](Count n) { return n == Count{0}; })) {
                continue;
            }
            append(cells);
            if (rows.data_rows) {
                append_codes_of_row(rows.data_rows[begin / rows.arity]);
            } else {
                append_codes_of_number(seen_);
            }
        }
    }

private:
    void append(std::span<const Count> cells) {
        ++out_.n_rows;
        const double n_cells = static_cast<double>(out_.n_rows) * static_cast<double>(cells.size());
        if (n_cells > max_cells_) throw TooManyCells("too many cells");
        if constexpr (std::is_same_v<Count, double>) {
            out_.real.insert(out_.real.end(), cells.begin(), cells.end());
        } else {
            for (const Count n : cells) out_.whole.push_back(static_cast<std::int64_t>(n));
        }
    }

    void append_codes_of_row(std::uint32_t row) {
        for (const std::int32_t parent : family_.parents) {
            const Column& column = table_.column(static_cast<std::size_t>(parent));
            out_.configurations.push_back(static_cast<std::uint16_t>(column[row]));
        }
    }

    // The last parent's code varies fastest.
    void append_codes_of_number(std::size_t number) {
        const std::size_t n_parents = family_.parents.size();
        out_.configurations.resize(out_.configurations.size() + n_parents);
        for (std::size_t back = 1; back <= n_parents; ++back) {
            const auto parent = static_cast<std::size_t>(family_.parents[n_parents - back]);
            const std::size_t arity = table_.column(parent).arity;
            out_.configurations[out_.configurations.size() - back] =
                static_cast<std::uint16_t>(number % arity);
            number /= arity;
        }
    }

    const Table& table_;
    const Family& family_;
    double max_cells_;
    ObservedCounts& out_;
    std::size_t seen_ = 0;
};

}  // namespace

std::vector<ObservedCounts> count_families(const Table& table, const FamilyList& families,
                                           double max_cells, const Execution& execution) {
    std::vector<ObservedCounts> results(families.size());
    with_count_type(table, [&](auto zero) {
        using Count = decltype(zero);
        if (share_rows<Count>(table, families, execution,
                              [&](std::size_t i, const CountRows<Count>& rows) {
                                  const Family family = families[i];
                                  Collector<Count>(table, family, max_cells, results[i])(rows);
                              })) {
            return;
        }
        for_each_family<Count>(table, families, counting_nanoseconds(table, families), execution,
                               [&](FamilyCounter<Count>& counter, const StopFlag& stop) {
                                   return [&](std::size_t i) {
                                       const Family family = families[i];
                                       Collector<Count> collect(table, family, max_cells,
                                                                results[i]);
                                       counter.visit(family, stop, std::ref(collect));
                                   };
                               });
    });
    return results;
}

}  // namespace bestdag
