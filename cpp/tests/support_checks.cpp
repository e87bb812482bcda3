// Checks of support: which families are minus infinity, by counting different rows in a set, for
// families, and for the values of all sets on any number of threads.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "base/philox.hpp"
#include "scores/list.hpp"
#include "scores/support.hpp"
#include "scoring/every_set.hpp"
#include "tests/checks.hpp"

namespace {

constexpr std::size_t kColumns = 7, kRows = 90;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Columns {
    std::vector<std::vector<std::uint8_t>> columns;
    std::vector<std::int64_t> weights;
    std::vector<std::uint32_t> arities;

    bestdag::Table table(bool weighted) const {
        std::vector<bestdag::Column> views;
        for (std::size_t c = 0; c < columns.size(); ++c) {
            views.push_back({columns[c].data(), nullptr, arities[c]});
        }
        return {kRows, views, {weighted ? weights.data() : nullptr, nullptr}};
    }

    // Different rows of these columns, among those that weigh something.
    std::size_t n_values(std::uint64_t set, bool weighted) const {
        std::set<std::vector<std::uint8_t>> seen;
        for (std::size_t row = 0; row < kRows; ++row) {
            if (weighted && weights[row] == 0) continue;
            std::vector<std::uint8_t> values;
            for (std::size_t c = 0; c < kColumns; ++c) {
                if (set >> c & 1u) values.push_back(columns[c][row]);
            }
            seen.insert(values);
        }
        return seen.size();
    }
};

Columns linked_data(std::uint64_t seed) {
    Columns data;
    for (std::size_t c = 0; c < kColumns; ++c) {
        data.arities.push_back(static_cast<std::uint32_t>(2 + (c + seed) % 3));
        data.columns.emplace_back(kRows);
        for (std::size_t row = 0; row < kRows; ++row) {
            const auto drawn = bestdag::philox4x64({seed, c}, row);
            const bool copies = c > 0 && drawn[0] % 4 != 0;
            const std::uint64_t value = copies ? data.columns[c - 1][row] : drawn[1];
            data.columns[c][row] = static_cast<std::uint8_t>(value % data.arities[c]);
        }
    }
    for (std::size_t row = 0; row < kRows; ++row) {
        data.weights.push_back(static_cast<std::int64_t>(row % 3));
    }
    return data;
}

std::vector<std::int32_t> members(std::uint64_t set) {
    std::vector<std::int32_t> found;
    for (std::size_t c = 0; c < kColumns; ++c) {
        if (set >> c & 1u) found.push_back(static_cast<std::int32_t>(c));
    }
    return found;
}

double scored(const bestdag::Table& table, const bestdag::Kernel& kernel, std::size_t child,
              const std::vector<std::int32_t>& parents) {
    const bestdag::StopFlag stop = false;
    const bestdag::Family family{child, parents};
    const bestdag::FamilyShape shape = bestdag::shape_of(table, family);
    const auto evaluator = kernel.evaluator(table, stop);
    double score = evaluator->constant(shape);
    const auto count = [&](auto zero) {
        bestdag::FamilyCounter<decltype(zero)> counter(table, true);
        counter.visit(family, stop,
                      [&](const auto& rows) { score += evaluator->rows(rows, shape); });
    };
    table.is_weighted() ? count(std::int64_t{}) : count(std::uint32_t{});
    return score;
}

// What a family has beside the difference of two values of sets.
double beside(const bestdag::Table& table, const bestdag::Kernel& kernel, std::size_t child,
              const std::vector<std::int32_t>& parents) {
    const bestdag::StopFlag stop = false;
    const bestdag::Family family{child, parents};
    const auto evaluator = kernel.evaluator(table, stop);
    return evaluator->has_beside() ? evaluator->beside_sets(bestdag::shape_of(table, family)) : 0.0;
}

bool equal(double a, double b) {
    return a == b || std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(a));
}

void check_kernel(const Columns& data, bool weighted, const bestdag::Kernel& plain, double most) {
    const bestdag::Table table = data.table(weighted);
    const bestdag::Kernel kernel = bestdag::within_support(plain, most, {});
    const auto expected = [&](std::size_t child, std::uint64_t set) {
        const bool is_in =
            set == 0 ||
            static_cast<double>(data.n_values(set | std::uint64_t{1} << child, weighted)) <= most;
        return is_in ? scored(table, plain, child, members(set)) : -kInfinity;
    };
    std::size_t n_out = 0;
    for (std::size_t child = 0; child < kColumns; ++child) {
        for (std::uint64_t set = 0; set < std::uint64_t{1} << kColumns; ++set) {
            if (set >> child & 1u) continue;
            const double wanted = expected(child, set);
            n_out += wanted == -kInfinity;
            check(equal(scored(table, kernel, child, members(set)), wanted), "a family");
        }
    }
    check(n_out > 0, "some families are out");
    for (const int threads : {1, 3}) {
        if (!bestdag::has_set_form(table, kernel)) break;
        const bestdag::SetValues values =
            bestdag::every_set(table, kernel, false, {threads, {}}, {});
        for (std::size_t b = 0; b < kColumns; ++b) {
            for (std::uint64_t bits = 0; bits < std::uint64_t{1} << kColumns; ++bits) {
                if (bits >> b & 1u) continue;
                std::uint64_t set = 0;
                for (std::size_t k = 0; k < kColumns; ++k) {
                    if (bits >> k & 1u) set |= std::uint64_t{1} << values.column_of_bit[k];
                }
                const double given = values.of_parents(b)[bits];
                const double joint = values.joint->data()[bits | std::uint64_t{1} << b];
                const std::size_t child = values.column_of_bit[b];
                const double more = beside(table, kernel, child, members(set));
                const double found = given > -kInfinity ? joint - given + more : -kInfinity;
                const double wanted = expected(child, set);
                check(found == wanted || std::abs(found - wanted) <= 1e-7, "a value of every set");
            }
        }
    }
}

void check_exempt(const Columns& data) {
    const bestdag::Table table = data.table(false);
    const std::vector<std::int32_t> parents{1, 2, 4};
    const bestdag::Kernel plain = bestdag::make_bic();
    const bestdag::Kernel kernel = bestdag::within_support(plain, 2.0, {{0, parents}});
    check(scored(table, kernel, 0, parents) == scored(table, plain, 0, parents), "an exempt family");
    check(scored(table, kernel, 0, {1, 2}) == -kInfinity, "not its subsets");
    check(scored(table, kernel, 3, parents) == -kInfinity, "nor that of another child");
    check(!bestdag::has_set_form(table, kernel), "no function of sets");
}

}  // namespace

int main() {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        const Columns data = linked_data(seed);
        for (const bool weighted : {false, true}) {
            for (const double most : {6.0, 18.0}) {
                check_kernel(data, weighted, bestdag::make_bic(), most);
                check_kernel(data, weighted, bestdag::make_bdeu(1.0), most);
                check_kernel(data, weighted, bestdag::make_qnml(true), most);
                check_kernel(data, weighted, bestdag::make_fnml(), most);
                check_kernel(data, weighted, bestdag::make_mit(0.99), most);
            }
        }
        check_exempt(data);
    }
    return report();
}
