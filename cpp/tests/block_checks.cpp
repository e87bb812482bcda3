// Counting in blocks and scoring from counts, for the sanitizers: equal to counting and scoring at
// once, for every listed score, on many threads. Exits 0 when all is well.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "counting/block_counts.hpp"
#include "counting/count_families.hpp"
#include "scores/list.hpp"
#include "scoring/families.hpp"
#include "scoring/score_counts.hpp"
#include "tests/checks.hpp"

namespace {

constexpr std::size_t kRows = 6'000;
constexpr std::size_t kColumns = 6;

struct Data {
    std::vector<std::vector<std::uint8_t>> codes;
    std::vector<std::int64_t> weights;
    std::vector<bestdag::Column> columns;

    Data() {
        std::mt19937 random(1);
        for (std::size_t c = 0; c < kColumns; ++c) {
            const std::uint32_t arity = c < 4 ? 2 + static_cast<std::uint32_t>(c) : 60;
            auto& column = codes.emplace_back(kRows);
            for (auto& code : column) code = static_cast<std::uint8_t>(random() % arity);
            columns.push_back({column.data(), nullptr, arity});
        }
        for (std::size_t i = 0; i < kRows; ++i) weights.push_back(random() % 3);
    }
};

// Every child with every set of the others, as flat arrays.
struct Families {
    std::vector<std::int32_t> children, parents;
    std::vector<std::int64_t> offsets{0};

    Families() {
        for (std::size_t child = 0; child < kColumns; ++child) {
            for (std::size_t set = 0; set < 1u << kColumns; ++set) {
                if (set >> child & 1u) continue;
                children.push_back(static_cast<std::int32_t>(child));
                for (std::size_t p = 0; p < kColumns; ++p) {
                    if (set >> p & 1u) parents.push_back(static_cast<std::int32_t>(p));
                }
                offsets.push_back(static_cast<std::int64_t>(parents.size()));
            }
        }
    }

    bestdag::FamilyList list() const { return {children, offsets, parents}; }
};

bool is_same(const std::vector<bestdag::ObservedCounts>& a,
             const std::vector<bestdag::ObservedCounts>& b) {
    bool same = a.size() == b.size();
    for (std::size_t i = 0; same && i < a.size(); ++i) {
        same = a[i].configurations == b[i].configurations && a[i].whole == b[i].whole &&
               a[i].n_rows == b[i].n_rows;
    }
    return same;
}

void check_scores(const bestdag::Table& table, const bestdag::Kernel& kernel,
                  const bestdag::FamilyList& families,
                  const std::vector<bestdag::ObservedCounts>& counts) {
    std::vector<double> direct(families.size());
    std::vector<double> scored(families.size());
    std::vector<double> bounds(families.size());
    const std::vector<double> growth(families.size(), 2.0);
    std::vector<bestdag::CountsView> views;
    for (const bestdag::ObservedCounts& c : counts) {
        views.push_back({c.configurations.data(), c.whole, c.real});
    }
    bestdag::score_families(table, kernel, families, direct, {4, {}});
    bestdag::score_counts(table.shape(), kernel, families, views, scored, {growth, bounds},
                          {4, {}});
    check(direct == scored, "scores from counts are those of the rows, to the last bit");
    check(!bounds.empty() && bounds[0] == bounds[0], "bounds are numbers");
}

void check_data(const Data& data, const Families& families, bool is_weighted) {
    const bestdag::Weights weights{is_weighted ? data.weights.data() : nullptr, nullptr};
    const bestdag::RowArrays rows{kRows, data.columns, weights};
    const bestdag::Table table = rows.block(0, kRows);
    const bestdag::FamilyList list = families.list();
    const auto at_once = bestdag::count_families(table, list, 1e9, {4, {}});
    for (const std::size_t block_rows : {std::size_t{997}, std::size_t{5000}, kRows}) {
        for (const int threads : {1, 4}) {
            const auto found =
                bestdag::count_in_blocks(rows, list, {block_rows, 1e9, 1e9}, {threads, {}});
            check(found.n_passes == 1, "one pass");
            check(is_same(found.counts, at_once), "counts in blocks are those at once");
        }
    }
    const auto tight = bestdag::count_in_blocks(rows, list, {997, 1e9, 1e5}, {4, {}});
    check(tight.n_passes > 1, "little memory means more passes");
    check(is_same(tight.counts, at_once), "and the same counts");
    // One family: the threads share the blocks.
    const std::int32_t child = 0;
    const std::vector<std::int64_t> ends{0, 2};
    const std::vector<std::int32_t> parents{4, 5};
    const bestdag::FamilyList one{{&child, 1}, ends, parents};
    const auto shared = bestdag::count_in_blocks(rows, one, {997, 1e9, 1e9}, {4, {}});
    check(is_same(shared.counts, bestdag::count_families(table, one, 1e9, {1, {}})),
          "blocks shared by threads");
    check_scores(table, bestdag::make_bdeu(1.0), list, at_once);
    check_scores(table, bestdag::make_bic(), list, at_once);
    check_scores(table, bestdag::make_fnml(), list, at_once);
    check_scores(table, bestdag::make_mit(0.95), list, at_once);
}

void check_interrupt(const Data& data, const Families& families) {
    const bestdag::RowArrays rows{kRows, data.columns, {}};
    bool is_interrupted = false;
    try {
        bestdag::count_in_blocks(rows, families.list(), {997, 1e9, 1e9}, {2, [] { return true; }});
    } catch (const bestdag::Interrupted&) {
        is_interrupted = true;
    }
    check(is_interrupted, "stops between blocks when asked");
}

}  // namespace

int main() {
    const Data data;
    const Families families;
    check_data(data, families, false);
    check_data(data, families, true);
    check_interrupt(data, families);
    return report();
}
