// Lists of few parents from sets that are counted once, against every family scored by itself; for
// the sanitizers. Exits 0 when all is well.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "base/bitwise.hpp"
#include "scores/list.hpp"
#include "scores/support.hpp"
#include "scoring/candidate_sets.hpp"
#include "scoring/families.hpp"
#include "tests/checks.hpp"

namespace {

using Members = std::vector<std::int32_t>;
constexpr double kNone = std::numeric_limits<double>::infinity();

struct Data {
    std::size_t n_rows;
    std::vector<std::vector<std::uint8_t>> codes;
    std::vector<std::int64_t> whole;
    std::vector<double> real;
    std::vector<bestdag::Column> columns;

    Data(std::size_t n, const std::vector<std::uint32_t>& arities, unsigned seed)
        : n_rows(n), codes(arities.size()) {
        std::mt19937 random(seed);
        for (std::size_t i = 0; i < arities.size(); ++i) {
            for (std::size_t r = 0; r < n; ++r) {
                // Every other column follows the one before it, most of the time.
                const bool follows = i % 2 == 1 && random() % 4 != 0;
                const auto code = follows ? codes[i - 1][r] : random();
                codes[i].push_back(static_cast<std::uint8_t>(code % arities[i]));
            }
            columns.push_back({codes[i].data(), nullptr, arities[i]});
        }
        for (std::size_t r = 0; r < n; ++r) {
            whole.push_back(static_cast<std::int64_t>(random() % 4 + (r == 0)));
            real.push_back(static_cast<double>(1 + random() % 1000) / 7.0);
        }
    }
};

// What the children may have for parents, and the arrays it stands on.
struct Limits {
    std::vector<Members> required, allowed;
    std::vector<std::vector<double>> bonuses;
    std::vector<bestdag::ParentLimits> limits;

    Limits(std::size_t n, std::size_t max_parents, bool is_narrow)
        : required(n), allowed(n), bonuses(n) {
        for (std::size_t child = 0; child < n; ++child) {
            for (std::size_t other = 0; other < n; ++other) {
                if (other == child || (is_narrow && (3 * child + other) % 7 == 0)) continue;
                const bool is_required = is_narrow && child == 1 && other == 3;
                (is_required ? required : allowed)[child].push_back(
                    static_cast<std::int32_t>(other));
                if (is_required || !is_narrow) continue;
                bonuses[child].push_back(0.3 * static_cast<double>(other % 3) - 0.2);
            }
            const std::size_t most = is_narrow && child == 2 ? 1 : max_parents;
            limits.push_back({required[child], allowed[child], most, is_narrow ? 0.5 : 0.0,
                              bonuses[child]});
        }
    }
};

// Every family of a child by its parents, with the terms of the limits.
std::map<Members, double> every_family(const bestdag::Table& table, const bestdag::Kernel& kernel,
                                       std::size_t child, const bestdag::ParentLimits& limit) {
    std::vector<std::int32_t> children;
    std::vector<std::int64_t> offsets{0};
    Members parents;
    std::vector<double> bonuses;
    const std::size_t n = limit.allowed.size();
    for (std::size_t bits = 0; bits < (std::size_t{1} << n); ++bits) {
        const auto size = static_cast<std::size_t>(std::popcount(bits));
        if (size + limit.required.size() > limit.max_parents) continue;
        Members set(limit.required.begin(), limit.required.end());
        double bonus = limit.bonus;
        for (std::size_t i = 0; i < n; ++i) {
            if (!((bits >> i) & 1u)) continue;
            set.push_back(limit.allowed[i]);
            bonus += limit.bonus_of(i);
        }
        std::sort(set.begin(), set.end());
        children.push_back(static_cast<std::int32_t>(child));
        parents.insert(parents.end(), set.begin(), set.end());
        offsets.push_back(static_cast<std::int64_t>(parents.size()));
        bonuses.push_back(bonus);
    }
    std::vector<double> scores(children.size());
    bestdag::score_families(table, kernel, {children, offsets, parents}, scores, {1, {}});
    std::map<Members, double> families;
    for (std::size_t i = 0; i < scores.size(); ++i) {
        families[Members(parents.begin() + offsets[i], parents.begin() + offsets[i + 1])] =
            scores[i] + bonuses[i];
    }
    return families;
}

bool is_subset(const Members& small, const Members& large) {
    return std::includes(large.begin(), large.end(), small.begin(), small.end());
}

// What is listed within so many parents is what the definition says.
void check_lists(const bestdag::CandidateSets& lists, std::size_t child,
                 const std::map<Members, double>& families, std::size_t max_parents,
                 const bestdag::Pruning& pruning, double tolerance) {
    std::map<Members, double> listed;
    const auto first = static_cast<std::size_t>(lists.sets.first_sets[child]);
    const auto last = static_cast<std::size_t>(lists.sets.first_sets[child + 1]);
    for (std::size_t i = first; i < last; ++i) {
        const auto a = lists.sets.offsets[i], b = lists.sets.offsets[i + 1];
        listed[Members(lists.sets.members.begin() + a, lists.sets.members.begin() + b)] =
            lists.sets.scores[i];
    }
    check(listed.size() == last - first, "no set is listed twice");
    for (const auto& [set, score] : families) {
        if (set.size() > max_parents) continue;
        double best = -kNone;  // of its subsets
        for (const auto& [other, other_score] : families) {
            if (other.size() < set.size() && is_subset(other, set)) {
                best = std::max(best, other_score);
            }
        }
        if (!pruning.is_on) best = -kNone;
        const auto entry = listed.find(set);
        const bool is_listed = entry != listed.end();
        const double above = score + pruning.margin - best;
        if (is_listed) {
            check(std::abs(entry->second - score) <= tolerance, "a score is that of the family");
            check(above > -tolerance, "what a subset beats is not listed");
        } else {
            check(score == -kNone || above <= tolerance, "what no subset beats is listed");
        }
    }
    for (const auto& [set, score] : listed) check(families.contains(set), "only families");
}

void check_kernel(const bestdag::Table& table, const bestdag::Kernel& kernel, const Limits& limits,
                  const bestdag::Execution& execution) {
    const double n = table.total_weight();
    const double tolerance = 1e-9 * std::max(1.0, n * std::log(n + 2.0));
    const bestdag::Pruning ways[] = {{true, 0.0}, {true, 2.0}, {false, 0.0}};
    for (const bestdag::Pruning& pruning : ways) {
        bestdag::CandidateListing listing(table, kernel, limits.limits, pruning);
        std::vector<std::map<Members, double>> families;
        for (std::size_t c = 0; c < table.n_columns(); ++c) {
            families.push_back(every_family(table, kernel, c, limits.limits[c]));
        }
        for (std::size_t k = 1; k <= 3; ++k) {
            listing.run(kNone, kNone, false, k, execution);
            check(listing.is_complete_within(k), "a run without a time limit gets there");
            const auto lists = listing.result(3, false, k, execution);
            for (std::size_t c = 0; c < table.n_columns(); ++c) {
                check(lists.is_complete[c], "and says so");
                check_lists(lists, c, families[c], k, pruning, tolerance);
            }
        }
        check(listing.is_over(), "nothing is left");
    }
}

// A listing that time or memory ends has sets of the definition, and open sets for the rest.
void check_short_of(const bestdag::Table& table, const bestdag::Kernel& kernel,
                    const Limits& limits, double seconds, double max_bytes,
                    const bestdag::Execution& execution) {
    bestdag::CandidateListing listing(table, kernel, limits.limits, bestdag::Pruning{});
    listing.run(seconds, max_bytes, true, 3, execution);
    const auto lists = listing.result(4, true, 3, execution);
    for (std::size_t c = 0; c < table.n_columns(); ++c) {
        if (lists.is_complete[c]) continue;
        check(lists.is_bounded[c], "what is missing is bounded");
        const auto families = every_family(table, kernel, c, limits.limits[c]);
        std::map<Members, double> listed;
        const auto first = static_cast<std::size_t>(lists.sets.first_sets[c]);
        const auto last = static_cast<std::size_t>(lists.sets.first_sets[c + 1]);
        for (std::size_t i = first; i < last; ++i) {
            const auto a = lists.sets.offsets[i], b = lists.sets.offsets[i + 1];
            listed[Members(lists.sets.members.begin() + a, lists.sets.members.begin() + b)] =
                lists.sets.scores[i];
        }
        for (const auto& [set, score] : families) {
            bool is_covered = false;
            for (const auto& [other, other_score] : listed) {
                is_covered |= is_subset(other, set) && other_score >= score - 1e-6;
            }
            const auto first_open = static_cast<std::size_t>(lists.open_sets.first_sets[c]);
            const auto last_open = static_cast<std::size_t>(lists.open_sets.first_sets[c + 1]);
            for (std::size_t i = first_open; i < last_open; ++i) {
                const auto a = lists.open_sets.offsets[i], b = lists.open_sets.offsets[i + 1];
                const Members open(lists.open_sets.members.begin() + a,
                                   lists.open_sets.members.begin() + b);
                is_covered |= is_subset(open, set) && lists.open_sets.scores[i] >= score - 1e-6;
            }
            check(is_covered, "a set is listed, beaten or bounded");
        }
    }
}

}  // namespace

int main() {
    const std::vector<std::vector<std::uint32_t>> shapes = {
        {2, 2, 2, 2, 2, 2, 2}, {2, 3, 1, 4, 2, 5}, {9, 2, 30, 3, 12, 2}, {3, 1, 1, 2}, {2}};
    std::size_t n_instructions = 0;
    const bestdag::Bitwise* const* const instructions = bestdag::bitwise_sets(n_instructions);
    for (std::size_t set = 0; set < n_instructions; ++set) {
        bestdag::choose_bitwise(instructions[set]->name);
        for (const std::size_t n_rows : {1u, 64u, 700u}) {
            for (const auto& shape : shapes) {
                const Data data(n_rows, shape, 11);
                const bestdag::Weights kinds[] = {
                    {}, {data.whole.data(), nullptr}, {nullptr, data.real.data()}};
                for (const bestdag::Weights& weights : kinds) {
                    if (set + 1 < n_instructions && weights.real) continue;
                    const bestdag::Table table(data.n_rows, data.columns, weights);
                    const bool is_real = weights.real != nullptr;
                    std::vector<bestdag::Kernel> kernels{
                        bestdag::make_bic(), bestdag::make_bdeu(1.0), bestdag::make_bd(1.0),
                        bestdag::make_mit(0.95), bestdag::make_bdq(0.5),
                        bestdag::within_support(bestdag::make_bdeu(1.0), 9.0, {}),
                        bestdag::within_support(bestdag::make_bic(), 9.0, {{0, {1}}})};
                    if (!is_real) {
                        kernels.push_back(bestdag::make_fnml());
                        kernels.push_back(bestdag::make_qnml(true));
                        kernels.push_back(bestdag::make_min_bdeu(1.0, 0.5));
                    }
                    for (const auto& kernel : kernels) {
                        for (const bool is_narrow : {false, true}) {
                            if (is_narrow && shape.size() < 4) continue;
                            const std::size_t most = std::min<std::size_t>(3, shape.size() - 1);
                            const Limits limits(shape.size(), most, is_narrow);
                            const bestdag::Execution execution{is_narrow ? 3 : 1, {}};
                            check_kernel(table, kernel, limits, execution);
                        }
                    }
                }
            }
        }
    }
    const Data data(300, {2, 3, 2, 4, 2, 3, 2, 2}, 3);
    const bestdag::Table table(data.n_rows, data.columns, {});
    const Limits limits(data.columns.size(), 3, false);
    for (const auto& kernel :
         {bestdag::make_bic(), bestdag::make_bdeu(1.0), bestdag::make_bd(1.0)}) {
        check_short_of(table, kernel, limits, 1e-9, kNone, {2, {}});
        for (const double max_bytes : {1.0, 3e3, 1e4, 3e4, 1e5}) {
            check_short_of(table, kernel, limits, kNone, max_bytes, {1, {}});
        }
    }
    return report();
}
