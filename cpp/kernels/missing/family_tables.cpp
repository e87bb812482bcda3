#include "missing/family_tables.hpp"

#include <utility>

namespace bestdag {

FamilyTables::FamilyTables(std::vector<std::uint32_t> arities_,
                           std::vector<std::vector<std::uint32_t>> members_)
    : arities(std::move(arities_)),
      members(std::move(members_)),
      first_cells{0},
      children(arities.size()) {
    std::vector<std::size_t> waiting;
    for (std::uint32_t v = 0; v < size(); ++v) {
        std::vector<std::uint32_t>& steps = strides.emplace_back(members[v].size());
        std::size_t step = 1;
        for (std::size_t m = members[v].size(); m-- > 0;) {
            steps[m] = static_cast<std::uint32_t>(step);
            step *= arities[members[v][m]];
            if (members[v][m] != v) children[members[v][m]].push_back(v);
        }
        first_cells.push_back(first_cells.back() + step);
        waiting.push_back(members[v].size() - 1);
        if (waiting[v] == 0) order.push_back(v);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        for (const std::uint32_t child : children[order[i]]) {
            if (--waiting[child] == 0) order.push_back(child);
        }
    }
}

}  // namespace bestdag
