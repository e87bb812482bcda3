// Sparse tables, for the sanitizers: finding configurations, also where 64 bits do not number them,
// sums over listed rows and rows drawn from them, on many threads. Exits 0 when all is well.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "data/sampling.hpp"
#include "factors/row_finder.hpp"
#include "factors/row_tables.hpp"
#include "tests/checks.hpp"

namespace {

using Codes = std::vector<std::uint16_t>;

// Some configurations of parents with these arities, in order, and where each is.
struct Listed {
    std::vector<std::uint32_t> arities;
    std::map<Codes, std::size_t> places;
    Codes flat;

    Listed(std::vector<std::uint32_t> each, std::size_t n, unsigned seed) : arities(each) {
        std::mt19937 random(seed);
        for (std::size_t i = 0; i < n; ++i) places[draw(random)] = 0;
        std::size_t place = 0;
        for (auto& [codes, where] : places) {
            where = place++;
            flat.insert(flat.end(), codes.begin(), codes.end());
        }
    }

    Codes draw(std::mt19937& random) const {
        Codes codes;
        for (const std::uint32_t arity : arities) {
            codes.push_back(static_cast<std::uint16_t>(random() % arity));
        }
        return codes;
    }

    std::size_t at(const Codes& codes) const {
        const auto found = places.find(codes);
        return found == places.end() ? places.size() : found->second;
    }
};

void check_finder(const Listed& listed) {
    const bestdag::RowFinder finder(listed.flat, listed.arities);
    check(finder.n_listed() == listed.places.size(), "all configurations are listed");
    std::mt19937 random(7);
    std::vector<Codes> asked;
    for (const auto& [codes, where] : listed.places) {
        asked.push_back(codes);
        asked.push_back(codes);
        const std::size_t p = random() % codes.size();
        asked.back()[p] = static_cast<std::uint16_t>((codes[p] + 1u) % listed.arities[p]);
    }
    for (int i = 0; i < 100; ++i) asked.push_back(listed.draw(random));
    std::vector<std::uint64_t> found(asked.size());
    finder.find(found, [&](std::size_t p, std::uint64_t stride, std::span<std::uint64_t> keys) {
        for (std::size_t i = 0; i < keys.size(); ++i) keys[i] += stride * asked[i][p];
    });
    for (std::size_t i = 0; i < asked.size(); ++i) {
        check(found[i] == listed.at(asked[i]), "a configuration is found where it is");
    }
}

// Two parents and a child; each of them is the target once, or none.
void check_sums(std::size_t n_rows, bool with_missing) {
    const std::uint32_t kFirst = 5, kSecond = 300, kChild = 3;
    const Listed listed({kFirst, kSecond}, 40, 3);
    const bestdag::RowFinder finder(listed.flat, listed.arities);
    std::mt19937 random(11);
    const std::uint32_t extra = with_missing ? 1 : 0;
    std::vector<std::uint8_t> first(n_rows), child(n_rows);
    std::vector<std::uint16_t> second(n_rows);
    for (auto& code : first) code = static_cast<std::uint8_t>(random() % (kFirst + extra));
    for (auto& code : second) code = static_cast<std::uint16_t>(random() % (kSecond + extra));
    for (auto& code : child) code = static_cast<std::uint8_t>(random() % (kChild + extra));
    std::vector<double> values((listed.places.size() + 1) * kChild);
    for (double& value : values) value = -static_cast<double>(random() % 1000);
    bestdag::Column columns[3];
    columns[0].narrow = first.data();
    columns[1].wide = second.data();
    columns[2].narrow = child.data();
    const std::uint32_t arities[3]{kFirst, kSecond, kChild};
    for (std::size_t c = 0; c < 3; ++c) columns[c].arity = arities[c];
    const bestdag::Table data(n_rows, {columns[0], columns[1], columns[2]}, {});
    const std::vector<std::uint8_t> has_missing(3, static_cast<std::uint8_t>(extra));
    for (std::uint32_t target = 0; target < 4; ++target) {
        std::vector<std::uint32_t> used{0, 1, 2};
        if (target < 3) used[target] = bestdag::RowTable::kTarget;
        const std::size_t n_states = target < 3 ? arities[target] : 1;
        std::vector<double> out(n_rows * n_states, 0.0);
        const std::vector<bestdag::RowTable> tables{{values, used, {}, &finder, kChild}};
        bestdag::sum_row_tables(data, tables, has_missing, n_states, bestdag::RowResult::kSum, out,
                                {4, [] { return false; }});
        for (std::size_t i = 0; i < n_rows; ++i) {
            for (std::uint32_t k = 0; k < n_states; ++k) {
                std::uint32_t codes[3]{first[i], second[i], child[i]};
                if (target < 3) codes[target] = k;
                double expected = 0.0;
                if (codes[0] < kFirst && codes[1] < kSecond && codes[2] < kChild) {
                    const std::size_t row = listed.at({static_cast<std::uint16_t>(codes[0]),
                                                       static_cast<std::uint16_t>(codes[1])});
                    expected = values[row * kChild + codes[2]];
                }
                check(out[i * n_states + k] == expected, "a sum has the row of its configuration");
            }
        }
    }
}

// A child of two parents, drawn from listed rows and from all rows written out.
void check_samples(std::size_t n_rows, std::size_t n_thresholds) {
    const Listed listed({4, 6}, 9, 5);
    const bestdag::RowFinder finder(listed.flat, listed.arities);
    std::mt19937_64 random(13);
    std::vector<std::uint64_t> rows((listed.places.size() + 1) * n_thresholds);
    for (auto& threshold : rows) threshold = random() >> 1;
    for (auto row = rows.begin(); row != rows.end();
         row += static_cast<std::ptrdiff_t>(n_thresholds))
        std::sort(row, row + static_cast<std::ptrdiff_t>(n_thresholds));
    std::vector<std::uint64_t> all;
    for (std::uint16_t i = 0; i < 4; ++i) {
        for (std::uint16_t j = 0; j < 6; ++j) {
            const std::uint64_t* row = rows.data() + listed.at({i, j}) * n_thresholds;
            all.insert(all.end(), row, row + n_thresholds);
        }
    }
    std::vector<std::uint64_t> four(3), six(5);
    for (std::size_t k = 0; k < 3; ++k) four[k] = (std::uint64_t{1} << 61) * (k + 1);
    for (std::size_t k = 0; k < 5; ++k) six[k] = (std::uint64_t{1} << 60) * (k + 1);
    const std::vector<std::uint32_t> parents{0, 1};
    const std::vector<std::uint64_t> strides{6, 1};
    std::vector<std::uint8_t> a(n_rows), b(n_rows), sparse(n_rows), dense(n_rows);
    const std::vector<bestdag::SampledNode> nodes{
        {{1, 2}, four, 3, {}, {}, a.data()},
        {{3, 4}, six, 5, {}, {}, b.data()},
        {{5, 6}, rows, n_thresholds, parents, {}, sparse.data(), &finder},
        {{5, 6}, all, n_thresholds, parents, strides, dense.data()}};
    bestdag::sample_network(nodes, n_rows, {4, [] { return false; }});
    check(sparse == dense, "rows drawn from a sparse table are those of the dense one");
}

}  // namespace

int main() {
    check_finder(Listed({3}, 2, 1));
    check_finder(Listed({3, 1, 4}, 5, 2));
    check_finder(Listed({41, 50, 152, 91}, 297, 3));
    check_finder(Listed(std::vector<std::uint32_t>(40, 65'535), 500, 4));  // 640 bits
    check_finder(Listed(std::vector<std::uint32_t>(70, 2), 1000, 5));
    check_finder(Listed({2, 2}, 0, 6));
    for (const std::size_t n_rows : {1u, 2048u, 5000u}) {
        check_sums(n_rows, false);
        check_sums(n_rows, true);
        check_samples(n_rows, 2);
        check_samples(n_rows, 20);
    }
    return report();
}
