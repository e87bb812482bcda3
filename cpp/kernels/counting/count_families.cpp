#include "counting/count_families.hpp"

#include <functional>

#include "counting/count_type.hpp"
#include "counting/family_loops.hpp"
#include "counting/observed_counts.hpp"

namespace bestdag {

std::vector<ObservedCounts> count_families(const Table& table, const FamilyList& families,
                                           double max_cells, const Execution& execution) {
    std::vector<ObservedCounts> results(families.size());
    with_count_type(table, [&](auto zero) {
        using Count = decltype(zero);
        if (share_rows<Count>(
                table, families, execution, [&](std::size_t i, const CountRows<Count>& rows) {
                    const Family family = families[i];
                    Collector<Count>(table.shape(), family, max_cells, results[i])(rows);
                })) {
            return;
        }
        for_each_family<Count>(table, families, counting_nanoseconds(table, families), execution,
                               [&](FamilyCounter<Count>& counter, const StopFlag& stop) {
                                   return [&](std::size_t i) {
                                       const Family family = families[i];
                                       Collector<Count> collect(table.shape(), family, max_cells,
                                                                results[i]);
                                       counter.visit(family, stop, std::ref(collect));
                                   };
                               });
    });
    return results;
}

}  // namespace bestdag
