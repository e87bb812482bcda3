// Scores of single-parent changes on several threads, for the sanitizers: they are those of the
// changed families, to the last bit, however many threads share one family. Exits 0 when all is
// well.
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "scores/list.hpp"
#include "scoring/changes.hpp"
#include "tests/checks.hpp"

namespace {

constexpr std::size_t kColumns = 9;

struct Data {
    std::size_t n_rows;
    std::vector<std::vector<std::uint8_t>> codes;
    std::vector<double> weights;

    explicit Data(std::size_t n) : n_rows(n), codes(kColumns) {
        std::mt19937 random(5);
        for (std::size_t c = 0; c < kColumns; ++c) {
            for (std::size_t row = 0; row < n; ++row) {
                codes[c].push_back(static_cast<std::uint8_t>(random() % arity(c)));
            }
        }
        for (std::size_t row = 0; row < n; ++row) {
            weights.push_back(static_cast<double>(random() % 100) / 7.0);
        }
    }
    static std::uint32_t arity(std::size_t column) {
        return 2 + static_cast<std::uint32_t>(column % 3);
    }
    bestdag::Table table(bool is_weighted) const {
        std::vector<bestdag::Column> columns;
        for (std::size_t c = 0; c < kColumns; ++c) {
            bestdag::Column column;
            column.arity = arity(c);
            column.narrow = codes[c].data();
            columns.push_back(column);
        }
        bestdag::Weights given{};
        if (is_weighted) given.real = weights.data();
        return {n_rows, columns, given};
    }
};

// The family itself and all its changes, each scored on its own.
std::vector<double> scored_singly(const bestdag::Table& table, const bestdag::Kernel& kernel,
                                  const bestdag::Family& family,
                                  const std::vector<std::int32_t>& candidates) {
    std::vector<std::int32_t> children, parents;
    std::vector<std::int64_t> offsets{0};
    for (const std::int32_t candidate : candidates) {
        std::vector<std::int32_t> group(family.parents.begin(), family.parents.end());
        const auto place = std::lower_bound(group.begin(), group.end(), candidate);
        if (place != group.end() && *place == candidate) {
            group.erase(place);
        } else if (static_cast<std::size_t>(candidate) != family.child) {
            group.insert(place, candidate);
        }
        children.push_back(static_cast<std::int32_t>(family.child));
        parents.insert(parents.end(), group.begin(), group.end());
        offsets.push_back(static_cast<std::int64_t>(parents.size()));
    }
    std::vector<double> scores(candidates.size());
    bestdag::score_families(table, kernel, {children, offsets, parents}, scores, {1, {}});
    return scores;
}

void check_family(const bestdag::Table& table, const bestdag::Kernel& kernel,
                  const std::vector<std::int32_t>& parents) {
    const std::int32_t child = 4;
    std::vector<std::int32_t> candidates;
    for (std::size_t c = 0; c < kColumns; ++c) candidates.push_back(static_cast<std::int32_t>(c));
    const bestdag::Family family{static_cast<std::size_t>(child), parents};
    const auto wanted = scored_singly(table, kernel, family, candidates);
    const std::int64_t ends[] = {0, static_cast<std::int64_t>(parents.size())};
    const std::int64_t members[] = {0, static_cast<std::int64_t>(candidates.size())};
    bestdag::ChangeScorers scorers(table, kernel);
    const bestdag::StopFlag stop = false;
    const auto worker = scorers.make_worker(stop);
    for (const int threads : {1, 2, 3, 8}) {
        std::vector<double> scores(candidates.size());
        scorers.score({{&child, 1}, ends, parents}, {members, candidates}, scores, {threads, {}});
        check(scores == wanted, "changes are scored as families are");
        std::fill(scores.begin(), scores.end(), 0.0);
        worker->share(threads);
        worker->score(family, candidates, stop, scores.data());
        check(scores == wanted, "so they are by a worker with threads of its own");
    }
}

}  // namespace

int main() {
    for (const std::size_t n_rows : {std::size_t{70}, std::size_t{60'000}}) {
        const Data data(n_rows);
        for (const bool is_weighted : {false, true}) {
            const bestdag::Table table = data.table(is_weighted);
            for (const auto& kernel : {bestdag::make_bic(), bestdag::make_bdeu(1.0)}) {
                for (const auto& parents :
                     std::vector<std::vector<std::int32_t>>{{}, {0}, {1, 7}, {0, 2, 5, 8}}) {
                    check_family(table, kernel, parents);
                }
            }
        }
    }
    return report();
}
