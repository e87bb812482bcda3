// Tests of conditional independence on rows of data: G2 (2 N times the conditional mutual
// information in nats), Pearson's X2, and G2 against shuffled data.
#pragma once

#include <cstdint>

#include "counting/table.hpp"
#include "independence/test.hpp"
#include "special/lookup.hpp"

namespace bestdag {

struct DataTestSettings {
    enum class Statistic { g2, x2 };
    Statistic statistic = Statistic::g2;
    bool adjusts_df = true;  // rows and columns without counts in a stratum do not count
    double rows_per_df = 0.0;
    double log_alpha = 0.0;
    std::int64_t n_permutations = 0;  // 0: the p-value of the chi-square distribution
    std::uint64_t seed = 0;
};

// Given each configuration of the condition that occurs, the table of the two variables is tested,
// and statistics and degrees of freedom are summed. Where no degree of freedom is left nothing
// speaks against independence: the p-value is 1. Permutations need whole weights.
class DataTest : public IndependenceTest {
public:
    DataTest(const Table& table, const DataTestSettings& settings)
        : table_(table), settings_(settings), n_log_n_(table.total_weight()) {}

    std::size_t n_variables() const override { return table_.n_columns(); }
    std::unique_ptr<Answerer> answerer() const override;
    double expected_nanoseconds() const override;

private:
    const Table& table_;
    const DataTestSettings settings_;
    const NLogN n_log_n_;  // shared by the threads, which only read it
};

}  // namespace bestdag
