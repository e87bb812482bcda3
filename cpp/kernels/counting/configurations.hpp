// The parent configurations behind rows of counts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "counting/family_counts.hpp"

namespace bestdag {

// One thread's reader of the codes of configurations.
class Configurations {
public:
    // Run use(cells, codes) for every row that is not all zero, in order: its counts, and the
    // codes of the family's parents.
    template <class Count, class Use>
    void visit(const TableShape& table, const Family& family, const CountRows<Count>& counts,
               const Use& use) {
        const bool is_counted_through = !counts.codes && !counts.data_rows;
        codes_.assign(family.parents.size(), 0);
        if (is_counted_through) go_to(table, family, counts.first);
        for (std::size_t row = 0; row * counts.arity < counts.cells.size(); ++row) {
            const auto cells = counts.cells.subspan(row * counts.arity, counts.arity);
            const bool is_empty =
                std::all_of(cells.begin(), cells.end(), [](Count n) { return n == Count{0}; });
            if (!is_empty && counts.codes) {
                std::copy_n(counts.codes + row * codes_.size(), codes_.size(), codes_.begin());
            } else if (!is_empty && counts.data_rows) {
                read(*counts.data, family, counts.data_rows[row]);
            }
            if (!is_empty) use(cells, std::span<const std::uint32_t>(codes_));
            if (is_counted_through) advance(table, family);
        }
    }

private:
    void read(const Table& data, const Family& family, std::size_t data_row) {
        for (std::size_t i = 0; i < codes_.size(); ++i) {
            codes_[i] = data.column(static_cast<std::size_t>(family.parents[i]))[data_row];
        }
    }

    // Configuration `number` in order: the last parent's code varies fastest.
    void go_to(const TableShape& table, const Family& family, std::size_t number) {
        for (std::size_t i = codes_.size(); i-- > 0 && number > 0;) {
            const std::uint32_t arity = table.arities[static_cast<std::size_t>(family.parents[i])];
            codes_[i] = static_cast<std::uint32_t>(number % arity);
            number /= arity;
        }
    }

    void advance(const TableShape& table, const Family& family) {
        for (std::size_t i = codes_.size(); i-- > 0;) {
            if (++codes_[i] < table.arities[static_cast<std::size_t>(family.parents[i])]) return;
            codes_[i] = 0;
        }
    }

    std::vector<std::uint32_t> codes_;
};

}  // namespace bestdag
