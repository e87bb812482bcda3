#include "scores/kernel.hpp"

namespace bestdag {

FamilyShape shape_of(const Table& table, const Family& family) noexcept {
    return {table, family, n_configurations(table, family), table.column(family.child).arity,
            table.total_weight()};
}

}  // namespace bestdag
