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
    void visit(const Table& table, const Family& family, const CountRows<Count>& counts,
               const Use& use) {
        codes_.assign(family.parents.size(), 0);
        for (std::size_t row = 0; row * counts.arity < counts.cells.size(); ++row) {
            const auto cells = counts.cells.subspan(row * counts.arity, counts.arity);
            const bool is_empty =
                std::all_of(cells.begin(), cells.end(), [](Count n) { return n == Count{0}; });
            if (counts.data_rows && !is_empty) read(table, family, counts.data_rows[row]);
            if (!is_empty) use(cells, std::span<const std::uint32_t>(codes_));
            if (!counts.data_rows) advance(table, family);
        }
    }

private:
    void read(const Table& table, const Family& family, std::size_t data_row) {
        for (std::size_t i = 0; i < codes_.size(); ++i) {
            codes_[i] = table.column(static_cast<std::size_t>(family.parents[i]))[data_row];
        }
    }

    // The next configuration in order: the last parent's code varies fastest.
    void advance(const Table& table, const Family& family) {
        for (std::size_t i = codes_.size(); i-- > 0;) {
            if (++codes_[i] < table.column(static_cast<std::size_t>(family.parents[i])).arity) {
                return;
            }
            codes_[i] = 0;
        }
    }

    std::vector<std::uint32_t> codes_;
};

}  // namespace bestdag
