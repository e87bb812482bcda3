// Runs every kernel on small tables, many threads and all instruction sets, for the sanitizers.
// Values are checked against a map; exits 0 when all is well.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/bitwise.hpp"
#include "counting/count_families.hpp"
#include "scores/list.hpp"
#include "scoring/candidate_sets.hpp"
#include "scoring/families.hpp"
#include "scoring/jkl.hpp"
#include "scoring/likelihood_caps.hpp"
#include "scoring/open_sets.hpp"
#include "special/log_gamma.hpp"
#include "special/regret.hpp"
#include "tests/checks.hpp"

namespace {

struct Data {
    std::size_t n_rows;
    std::vector<std::vector<std::uint8_t>> narrow;
    std::vector<std::vector<std::uint16_t>> wide;
    std::vector<std::int64_t> whole;
    std::vector<double> real;
    std::vector<bestdag::Column> columns;

    // Columns of exactly n_rows codes on the heap, so a read past the end is seen.
    Data(std::size_t n, const std::vector<std::uint32_t>& arities, unsigned seed) : n_rows(n) {
        std::mt19937 random(seed);
        narrow.resize(arities.size());
        wide.resize(arities.size());
        for (std::size_t i = 0; i < arities.size(); ++i) {
            bestdag::Column column;
            column.arity = arities[i];
            if (arities[i] <= 255) {
                for (std::size_t r = 0; r < n; ++r) {
                    narrow[i].push_back(static_cast<std::uint8_t>(random() % arities[i]));
                }
                column.narrow = narrow[i].data();
            } else {
                for (std::size_t r = 0; r < n; ++r) {
                    wide[i].push_back(static_cast<std::uint16_t>(random() % arities[i]));
                }
                column.wide = wide[i].data();
            }
            columns.push_back(column);
        }
        for (std::size_t r = 0; r < n; ++r) {
            whole.push_back(static_cast<std::int64_t>(random() % 4));
            real.push_back(static_cast<double>(random() % 1000) / 7.0);
        }
    }
};

struct Families {
    std::vector<std::int32_t> children, parents;
    std::vector<std::int64_t> offsets{0};

    // Every child with its first k other columns as parents.
    explicit Families(std::size_t n_columns) {
        for (std::size_t child = 0; child < n_columns; ++child) {
            for (std::size_t k = 0; k < n_columns; ++k) {
                children.push_back(static_cast<std::int32_t>(child));
                std::size_t added = 0;
                for (std::size_t p = 0; p < n_columns && added < k; ++p) {
                    if (p == child) continue;
                    parents.push_back(static_cast<std::int32_t>(p));
                    ++added;
                }
                offsets.push_back(static_cast<std::int64_t>(parents.size()));
            }
        }
    }
    bestdag::FamilyList list() const { return {children, offsets, parents}; }
};

// The counts of every family, by a map.
std::vector<std::vector<std::int64_t>> counts_by_map(const Data& data,
                                                     const bestdag::FamilyList& list) {
    const bestdag::Table table(data.n_rows, data.columns, {});
    std::vector<std::vector<std::int64_t>> counts;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const bestdag::Family family = list[i];
        std::map<std::vector<std::uint16_t>, std::vector<std::int64_t>> cells_of;
        std::vector<std::uint16_t> key(family.parents.size());
        for (std::size_t row = 0; row < data.n_rows; ++row) {
            for (std::size_t k = 0; k < key.size(); ++k) {
                const auto parent = static_cast<std::size_t>(family.parents[k]);
                key[k] = static_cast<std::uint16_t>(table.column(parent)[row]);
            }
            auto& cells = cells_of[key];
            cells.resize(table.column(family.child).arity);
            ++cells[table.column(family.child)[row]];
        }
        auto& flat = counts.emplace_back();
        for (const auto& [_, cells] : cells_of) flat.insert(flat.end(), cells.begin(), cells.end());
    }
    return counts;
}

void check_counts(const Data& data, const bestdag::FamilyList& list,
                  const std::vector<std::vector<std::int64_t>>& expected,
                  const bestdag::Execution& execution) {
    const bestdag::Table table(data.n_rows, data.columns, {});
    const auto counts = bestdag::count_families(table, list, 1e9, execution);
    for (std::size_t i = 0; i < list.size(); ++i) {
        check(counts[i].whole == expected[i], "counts equal a map");
    }
}

// A score with settings that all of them allow.
template <class... Settings>
bestdag::Kernel with_some_settings(bestdag::Kernel (*make)(Settings...)) {
    return make(static_cast<Settings>(0.5)...);  // true for a flag
}

void check_scores(const Data& data, const bestdag::FamilyList& list,
                  const bestdag::Execution& execution) {
    const bestdag::Weights kinds[] = {
        {}, {data.whole.data(), nullptr}, {nullptr, data.real.data()}};
    std::vector<bestdag::Kernel> kernels{bestdag::make_qnml(false),
                                         bestdag::make_max_bdeu(2.0, 1.0)};
#define BESTDAG_ADD(name, ...) kernels.push_back(with_some_settings(bestdag::make_##name));
    BESTDAG_SCORES(BESTDAG_ADD)
#undef BESTDAG_ADD
    for (const bestdag::Weights& weights : kinds) {
        const bestdag::Table table(data.n_rows, data.columns, weights);
        for (const auto& kernel : kernels) {
            std::vector<double> one(list.size()), many(list.size());
            bestdag::score_families(table, kernel, list, one, {1, {}});
            bestdag::score_families(table, kernel, list, many, execution);
            // Bit by bit: scores that need whole counts are not numbers for real weights.
            check(std::memcmp(one.data(), many.data(), one.size() * sizeof(double)) == 0,
                  "scores do not depend on threads");
        }
    }
}

// Counts by every set of instructions; with `scores` also those of what they count, where there are
// many rows by the last set alone.
void check_table(const Data& data, bool scores, const bestdag::Execution& execution) {
    const Families families(data.columns.size());
    const bestdag::FamilyList list = families.list();
    const auto expected = counts_by_map(data, list);
    std::size_t n_sets;
    const bestdag::Bitwise* const* sets = bestdag::bitwise_sets(n_sets);
    for (std::size_t i = 0; i < n_sets; ++i) {
        bestdag::choose_bitwise(sets[i]->name);
        check_counts(data, list, expected, execution);
        if (scores && (data.n_rows <= 1000 || i + 1 == n_sets)) {
            check_scores(data, list, execution);
        }
    }
}

// Pruned and unpruned tables have the same best set, whatever the threads.
void check_candidate_sets(const Data& data, std::size_t max_parents,
                          const bestdag::Execution& execution) {
    const auto n = static_cast<std::int32_t>(data.columns.size());
    std::vector<std::vector<std::int32_t>> allowed(data.columns.size()), required(allowed.size());
    std::vector<std::vector<double>> bonuses(data.columns.size());
    std::vector<bestdag::ParentLimits> limits;
    for (std::int32_t child = 0; child < n; ++child) {
        const auto c = static_cast<std::size_t>(child);
        for (std::int32_t other = 0; other < n; ++other) {
            if (other == child) continue;
            const bool is_required = child == 0 && other == 1;
            (is_required ? required : allowed)[c].push_back(other);
            if (!is_required) bonuses[c].push_back(other % 2 ? 0.1 : -0.1);
        }
        limits.push_back({required[c], allowed[c], max_parents, 0.0, bonuses[c]});
    }
    constexpr double kNone = std::numeric_limits<double>::infinity();
    const bestdag::Weights kinds[] = {
        {}, {data.whole.data(), nullptr}, {nullptr, data.real.data()}};
    for (const bestdag::Weights& weights : kinds) {
        const bestdag::Table table(data.n_rows, data.columns, weights);
        for (const auto& kernel : {bestdag::make_bic(), bestdag::make_hqc(), bestdag::make_bdq(0.5),
                                   bestdag::make_bdeu(1.0)}) {
            const auto pruned =
                bestdag::candidate_sets(table, kernel, limits, {true, kNone, kNone}, execution);
            const auto one =
                bestdag::candidate_sets(table, kernel, limits, {true, kNone, kNone}, {1, {}});
            const auto all =
                bestdag::candidate_sets(table, kernel, limits, {false, kNone, kNone}, execution);
            check(pruned.sets.scores == one.sets.scores && pruned.sets.members == one.sets.members,
                  "candidate sets do not depend on threads");
            for (std::size_t c = 0; c < data.columns.size(); ++c) {
                const auto first = static_cast<std::size_t>(pruned.sets.first_sets[c]);
                const auto first_of_all = static_cast<std::size_t>(all.sets.first_sets[c]);
                check(pruned.sets.scores[first] == all.sets.scores[first_of_all],
                      "pruning keeps the best set");
            }
        }
    }
}

// A listing that is fed with scores, in batches of any size, has every set that the other one has.
void check_fed_listing(const Data& data, const bestdag::Execution& execution) {
    const auto n = static_cast<std::int32_t>(data.columns.size());
    std::vector<std::vector<std::int32_t>> allowed(data.columns.size());
    std::vector<bestdag::ParentLimits> limits;
    for (std::int32_t child = 0; child < n; ++child) {
        auto& mine = allowed[static_cast<std::size_t>(child)];
        for (std::int32_t other = 0; other < n; ++other) {
            if (other != child) mine.push_back(other);
        }
        limits.push_back({{}, mine, mine.size(), 0.0, {}});
    }
    constexpr double kNone = std::numeric_limits<double>::infinity();
    const bestdag::Table table(data.n_rows, data.columns, {data.whole.data(), nullptr});
    const bestdag::Kernel kernel = bestdag::make_bdeu(1.0);
    const auto whole =
        bestdag::candidate_sets(table, kernel, limits, {false, kNone, kNone}, execution);
    for (const std::size_t together : {1u, 7u, 1000u}) {
        bestdag::CandidateListing listing(limits, bestdag::Pruning{false}, 1e-9);
        for (std::size_t turn = 0; !listing.is_over(); ++turn) {
            const bestdag::WantedSets wanted = listing.wanted(together);
            std::vector<double> scores(wanted.children.size());
            bestdag::score_families(table, kernel,
                                    {wanted.children, wanted.offsets, wanted.parents}, scores,
                                    execution);
            const std::vector<double> bounds(scores.size(), kNone);
            const std::size_t n_taken = turn % 2 ? scores.size() : (scores.size() + 1) / 2;
            listing.take(std::span(scores).first(n_taken), std::span(bounds).first(n_taken));
        }
        const auto fed = listing.result(1, true, bestdag::kAnyParents, execution);
        check(fed.sets.first_sets == whole.sets.first_sets, "a fed listing has every set");
        for (std::size_t i = 0; i < fed.sets.scores.size(); ++i) {
            check(std::abs(fed.sets.scores[i] - whole.sets.scores[i]) < 1e-6,
                  "and their scores, in order");
        }
    }
}

// A listing in slices ends where one in a single go does; one that is stopped says what it lacks.
void check_listing(const Data& data, const bestdag::Execution& execution) {
    const auto n = static_cast<std::int32_t>(data.columns.size());
    std::vector<std::vector<std::int32_t>> allowed(data.columns.size());
    std::vector<bestdag::ParentLimits> limits;
    const std::vector<double> bonuses(data.columns.size() - 1, 0.0);
    for (std::int32_t child = 0; child < n; ++child) {
        auto& mine = allowed[static_cast<std::size_t>(child)];
        for (std::int32_t other = 0; other < n; ++other) {
            if (other != child) mine.push_back(other);
        }
        limits.push_back({{}, mine, mine.size(), 0.0, bonuses});
    }
    constexpr double kNone = std::numeric_limits<double>::infinity();
    const bestdag::Weights kinds[] = {
        {}, {data.whole.data(), nullptr}, {nullptr, data.real.data()}};
    for (const bestdag::Weights& weights : kinds) {
        const bestdag::Table table(data.n_rows, data.columns, weights);
        for (const auto& kernel :
             {bestdag::make_bic(), bestdag::make_bdeu(1.0), bestdag::make_mit(0.95),
              bestdag::make_min_bdeu(1.0, 0.5), bestdag::make_max_bdeu(1.0, 0.5)}) {
            const auto whole =
                bestdag::candidate_sets(table, kernel, limits, {true, kNone, kNone}, execution);
            bestdag::CandidateListing listing(table, kernel, limits, bestdag::Pruning{});
            while (!listing.is_over()) {
                listing.run(1e-3, kNone, true, bestdag::kAnyParents, execution);
                const auto cut = listing.result(3, false, bestdag::kAnyParents, execution);
                for (std::size_t c = 0; c < data.columns.size(); ++c) {
                    const auto n_open =
                        cut.open_sets.first_sets[c + 1] - cut.open_sets.first_sets[c];
                    check(cut.is_bounded[c] && (cut.is_complete[c] ? n_open == 0 : n_open <= 3),
                          "open sets are there where sets are missing, and few");
                }
            }
            const auto sliced = listing.result(1, true, bestdag::kAnyParents, execution);
            check(sliced.sets.scores == whole.sets.scores &&
                      sliced.sets.members == whole.sets.members,
                  "a listing in slices is the listing");
            bestdag::CandidateListing small(table, kernel, limits, bestdag::Pruning{});
            small.run(kNone, 500.0, true, bestdag::kAnyParents, execution);
            check(small.is_over(), "a listing that memory ends is over");
            const auto stopped = small.result(2, true, bestdag::kAnyParents, execution);
            const double cap = bestdag::total_cap(table, kernel, bestdag::StopFlag{false});
            double total = 0.0;  // of the graph without arcs
            for (std::size_t c = 0; c < data.columns.size(); ++c) {
                const auto last = static_cast<std::size_t>(stopped.sets.first_sets[c + 1]);
                total += stopped.sets.scores[last - 1];
            }
            check(total <= cap, "no network is above the cap");
        }
    }
}

// Lists become shorter and promise no less.
void check_open_sets(const bestdag::Execution& execution) {
    std::mt19937 random(4);
    for (int round = 0; round < 20; ++round) {
        std::vector<bestdag::FoundSets> lists(3);
        for (bestdag::FoundSets& list : lists) {
            for (int i = 0; i < 200; ++i) {
                std::vector<std::int32_t> set;
                for (std::int32_t m = 0; m < 130;
                     m += 1 + static_cast<std::int32_t>(random() % 60)) {
                    set.push_back(m);
                }
                list.add(static_cast<double>(random() % 50), set);
            }
        }
        const std::vector<bestdag::FoundSets> before = lists;
        const std::size_t most = 1 + random() % 40;
        bestdag::make_optimistic(lists, most, execution);
        for (std::size_t k = 0; k < lists.size(); ++k) {
            check(lists[k].scores.size() <= most, "lists are as short as asked");
            for (std::size_t i = 0; i < before[k].scores.size(); ++i) {
                bool is_covered = false;
                for (std::size_t j = 0; j < lists[k].scores.size(); ++j) {
                    is_covered |= lists[k].scores[j] >= before[k].scores[i] &&
                                  std::ranges::includes(before[k].parents(i), lists[k].parents(j));
                }
                check(is_covered, "what a list loses is in a subset that promises no less");
            }
        }
    }
}

// A text on the heap that ends where its memory ends, cut or damaged anywhere.
void check_jkl() {
    const std::string good = "3\na 2\n-1.5 2 b c\n-3 0\nb 1\n-2e-3 0\nc 2\n4.25 0\n-0.5 1 a\n";
    const auto parses = [](const std::vector<char>& text) {
        try {
            bestdag::parse_jkl({text.data(), text.size()}, {1, {}});
            return true;
        } catch (const bestdag::JklError&) {
            return false;
        }
    };
    check(parses({good.begin(), good.end()}), "a good file is read");
    std::mt19937 random(4);
    for (std::size_t size = 0; size < good.size(); ++size) {
        const std::vector<char> cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
        check(!parses(cut), "a cut file is refused");
        for (int i = 0; i < 50; ++i) {
            std::vector<char> damaged(good.begin(), good.end());
            damaged[size] = static_cast<char>(random() % 256);
            damaged[random() % damaged.size()] = "0123456789 \n-.abc"[random() % 17];
            parses(damaged);  // reads it or not, but never past its end
        }
    }
}

void check_interruption() {
    const Data data(200'000, {2, 3, 4, 5, 30, 30, 30, 30}, 9);
    const bestdag::Table table(data.n_rows, data.columns, {});
    const Families families(data.columns.size());
    bool stopped = false;
    try {
        const bestdag::Execution execution{4, [] { return true; }};
        bestdag::count_families(table, families.list(), 1e9, execution);
    } catch (const bestdag::Interrupted&) {
        stopped = true;
    }
    check(stopped, "a request to stop is answered");
}

void check_too_many_cells() {
    const Data data(1000, {30, 30, 30, 30}, 10);
    const bestdag::Table table(data.n_rows, data.columns, {});
    bool refused = false;
    try {
        bestdag::count_families(table, Families(4).list(), 100, {2, {}});
    } catch (const bestdag::TooManyCells&) {
        refused = true;
    }
    check(refused, "a limit on cells is kept");
}

void check_regret() {
    for (const double n : {1.0, 63.0, 64.0, 1e3, 1e8, 9007199254740992.0}) {
        for (const double r : {2.0, 512.0, 513.0, 1e9, 1e300, 1e308}) {
            check(std::isfinite(bestdag::regret(n, r)), "regret is finite");
            check(std::isfinite(bestdag::szpankowski_regret(n, r)), "its approximation is finite");
        }
    }
}

}  // namespace

int main() {
    const bestdag::Execution execution{4, [] { return false; }};
    for (const std::size_t n_rows : {1u, 64u, 65u, 1000u, 40'000u}) {
        check_table(Data(n_rows, {2, 3, 2, 4, 1}, 1), true, execution);
        check_table(Data(n_rows, {30, 30, 30, 300, 2}, 2), n_rows <= 1000, execution);
    }
    // Scores of many wide rows take minutes under ThreadSanitizer: their counts, and fewer rows.
    check_table(Data(3000, {5000, 7, 4000, 3}, 3), false, execution);
    check_table(Data(100, {5000, 7, 4000, 3}, 3), true, execution);
    check_table(Data(4000, {30, 30, 30, 300, 2}, 2), true, execution);

    std::size_t n_sets;
    const bestdag::Bitwise* const* sets = bestdag::bitwise_sets(n_sets);
    for (std::size_t i = 0; i < n_sets; ++i) {
        bestdag::choose_bitwise(sets[i]->name);
        for (const std::size_t n_rows : {1u, 64u, 65u, 1000u}) {
            check_candidate_sets(Data(n_rows, {2, 3, 2, 4, 1, 2, 3}, 5), 3, execution);
            check_candidate_sets(Data(n_rows, {2, 3, 2, 4, 1, 2, 3}, 6), 6, execution);
            check_candidate_sets(Data(n_rows, {30, 30, 300, 2, 3}, 7), 4, execution);
            check_fed_listing(Data(n_rows, {2, 3, 2, 4, 2}, 8), execution);
        }
    }
    for (const std::size_t n_rows : {1u, 65u, 300u}) {
        check_listing(Data(n_rows, {2, 3, 2, 4, 1, 2, 3}, 8), execution);
    }
    check_open_sets(execution);
    check_interruption();
    check_too_many_cells();
    check_regret();
    check_jkl();
    check(bestdag::log_rising(0.5, 0.0) == 0.0, "an empty product is 1");
    return report();
}
