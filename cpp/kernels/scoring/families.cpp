#include "scoring/families.hpp"

#include <memory>

#include "counting/count_type.hpp"
#include "counting/family_loops.hpp"

namespace bestdag {

void score_families(const Table& table, const Kernel& kernel, const FamilyList& families,
                    std::span<double> scores, const Execution& execution) {
    with_count_type(table, [&](auto zero) {
        using Count = decltype(zero);
        if (share_rows<Count>(table, families, execution,
                              [&](std::size_t i, const CountRows<Count>& rows) {
                                  const Family family = families[i];
                                  const FamilyShape shape = shape_of(table, family);
                                  const auto score = [&](std::size_t, const StopFlag& stop) {
                                      const auto evaluator = kernel.evaluator(table, stop);
                                      scores[i] = score_of(*evaluator, shape, rows);
                                  };
                                  parallel_for(1, kernel.expected(0.0), execution, score);
                              })) {
            return;
        }
        for_each_family<Count>(
            table, families, kernel.expected(counting_nanoseconds(table, families)), execution,
            [&](FamilyCounter<Count>& counter, const StopFlag& stop) {
                return [&, evaluator = kernel.evaluator(table, stop)](std::size_t i) {
                    const Family family = families[i];
                    const FamilyShape shape = shape_of(table, family);
                    double score = evaluator->constant(shape);
                    counter.visit(family, stop, [&](const CountRows<Count>& rows) {
                        score += evaluator->rows(rows, shape);
                    });
                    scores[i] = score;
                };
            });
    });
}

}  // namespace bestdag
