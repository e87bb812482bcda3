#include "scores/kernel.hpp"

namespace bestdag {

FamilyShape shape_of(const TableShape& table, const Marginals& marginals,
                     const Family& family) noexcept {
    double q = 1.0;
    for (const std::int32_t parent : family.parents) {
        q *= table.arity(static_cast<std::size_t>(parent));
    }
    return {table, family, q, table.arities[family.child], table.total_weight, marginals};
}

FamilyShape shape_of(const Table& table, const Family& family) noexcept {
    return shape_of(table.shape(), table, family);
}

}  // namespace bestdag
