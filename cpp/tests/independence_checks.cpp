// Tests of independence and PC's first phase, for the sanitizers. d-separation is checked against
// all paths, statistics against counting row by row, levels on one thread against four.
#include <cmath>
#include <random>
#include <vector>

#include "independence/blocks.hpp"
#include "independence/data_test.hpp"
#include "independence/oracle.hpp"
#include "independence/random_tables.hpp"
#include "independence/skeleton.hpp"
#include "special/chi_square.hpp"
#include "tests/checks.hpp"

namespace {

using bestdag::Answer;
using bestdag::StopFlag;

const StopFlag kGo = false;

struct Graph {
    std::size_t n;
    std::vector<std::int32_t> arcs;
    std::vector<char> has;  // [parent, child]

    bool arc(std::size_t a, std::size_t b) const { return has[a * n + b] != 0; }
};

Graph random_graph(std::mt19937& random, std::size_t n) {
    Graph graph{n, {}, std::vector<char>(n * n, 0)};
    for (std::size_t a = 0; a < n; ++a) {
        for (std::size_t b = a + 1; b < n; ++b) {
            if (random() % 3) continue;
            graph.arcs.insert(graph.arcs.end(),
                              {static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)});
            graph.has[a * n + b] = 1;
        }
    }
    return graph;
}

bool has_given_descendant(const Graph& graph, std::size_t node, unsigned given) {
    if (given >> node & 1) return true;
    for (std::size_t child = 0; child < graph.n; ++child) {
        if (graph.arc(node, child) && has_given_descendant(graph, child, given)) return true;
    }
    return false;
}

// Whether some path from the end of `path` to `target` is active.
bool is_active(const Graph& graph, std::vector<std::size_t>& path, std::size_t target,
               unsigned given) {
    const std::size_t last = path.back();
    if (last == target) return true;
    for (std::size_t next = 0; next < graph.n; ++next) {
        if (!graph.arc(last, next) && !graph.arc(next, last)) continue;
        bool is_new = true;
        for (const std::size_t node : path) is_new &= node != next;
        if (!is_new) continue;
        if (path.size() > 1) {
            const std::size_t before = path[path.size() - 2];
            const bool collides = graph.arc(before, last) && graph.arc(next, last);
            const bool is_open =
                collides ? has_given_descendant(graph, last, given) : !(given >> last & 1);
            if (!is_open) continue;
        }
        path.push_back(next);
        const bool found = is_active(graph, path, target, given);
        path.pop_back();
        if (found) return true;
    }
    return false;
}

void check_oracle() {
    std::mt19937 random(1);
    for (int round = 0; round < 30; ++round) {
        const Graph graph = random_graph(random, 6);
        const bestdag::Oracle oracle(graph.n, graph.arcs);
        const auto answerer = oracle.answerer();
        for (std::int32_t one = 0; one < 6; ++one) {
            for (std::int32_t other = 0; other < 6; ++other) {
                for (unsigned given = 0; given < 64 && one != other; ++given) {
                    if (given >> one & 1 || given >> other & 1) continue;
                    std::vector<std::int32_t> members;
                    for (std::int32_t i = 0; i < 6; ++i) {
                        if (given >> i & 1) members.push_back(i);
                    }
                    Answer answer;
                    answerer->ask(one, members, {&other, 1}, {&answer, 1}, kGo);
                    std::vector<std::size_t> path{static_cast<std::size_t>(one)};
                    const bool joined =
                        is_active(graph, path, static_cast<std::size_t>(other), given);
                    check(answer.is_independent != joined, "d-separation agrees with all paths");
                }
            }
        }
    }
}

struct Rows {
    std::vector<std::vector<std::uint8_t>> codes;
    std::vector<std::uint32_t> arities;

    bestdag::Table table() const {
        std::vector<bestdag::Column> columns;
        for (std::size_t i = 0; i < codes.size(); ++i) {
            columns.push_back({codes[i].data(), nullptr, arities[i]});
        }
        return bestdag::Table(codes[0].size(), columns, {});
    }
};

Rows random_rows(std::size_t n_rows, std::vector<std::uint32_t> arities) {
    std::mt19937 random(7);
    Rows rows{{}, std::move(arities)};
    for (const std::uint32_t arity : rows.arities) {
        std::vector<std::uint8_t> column(n_rows);
        for (std::size_t i = 0; i < n_rows; ++i) {
            const bool copies = !rows.codes.empty() && random() % 2;
            const auto drawn = static_cast<std::uint8_t>(random() % arity);
            column[i] = copies ? static_cast<std::uint8_t>(rows.codes.back()[i] % arity) : drawn;
        }
        rows.codes.push_back(std::move(column));
    }
    return rows;
}

// G2 by going through all pairs of rows: n_x, n_xa, n_xb and n_xab of each row.
double slow_g2(const Rows& rows, std::size_t a, std::size_t b,
               const std::vector<std::int32_t>& given) {
    const std::size_t n = rows.codes[0].size();
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        double n_x = 0, n_xa = 0, n_xb = 0, n_xab = 0;
        for (std::size_t j = 0; j < n; ++j) {
            bool same = true;
            for (const std::int32_t g : given) {
                const auto& column = rows.codes[static_cast<std::size_t>(g)];
                same &= column[i] == column[j];
            }
            if (!same) continue;
            const bool same_a = rows.codes[a][i] == rows.codes[a][j];
            const bool same_b = rows.codes[b][i] == rows.codes[b][j];
            n_x += 1;
            n_xa += same_a;
            n_xb += same_b;
            n_xab += same_a && same_b;
        }
        sum += 2.0 * std::log(n_xab * n_x / (n_xa * n_xb));  // once per row: n_xab times in all
    }
    return sum;
}

void check_rows() {
    const Rows rows = random_rows(200, {2, 3, 4, 5, 7, 9, 11, 13});
    const bestdag::Table table = rows.table();
    bestdag::DataTestSettings settings;
    settings.log_alpha = std::log(0.05);
    const bestdag::DataTest test(table, settings);
    settings.statistic = bestdag::DataTestSettings::Statistic::x2;
    const bestdag::DataTest pearson(table, settings);
    settings.statistic = bestdag::DataTestSettings::Statistic::g2;
    settings.n_permutations = 20;
    const bestdag::DataTest shuffled(table, settings);
    const std::vector<std::int32_t> others{1, 7};
    // The last has far more configurations than rows.
    for (const std::vector<std::int32_t>& given :
         {std::vector<std::int32_t>{}, {2}, {2, 3}, {2, 3, 4, 5, 6}}) {
        std::vector<Answer> answers(2), squares(2), drawn(2);
        test.answerer()->ask(0, given, others, answers, kGo);
        pearson.answerer()->ask(0, given, others, squares, kGo);
        shuffled.answerer()->ask(0, given, others, drawn, kGo);
        for (std::size_t i = 0; i < 2; ++i) {
            const double slow = slow_g2(rows, 0, static_cast<std::size_t>(others[i]), given);
            check(std::abs(answers[i].statistic - slow) < 1e-8, "G2 as counted row by row");
            check(answers[i].df == squares[i].df, "both have the same degrees of freedom");
            check(std::isfinite(squares[i].statistic) && squares[i].log_p <= 0.0, "X2 is a number");
            check(std::abs(drawn[i].statistic - slow) < 1e-8 && drawn[i].log_p <= 0.0,
                  "permutations have the same statistic");
        }
    }
}

void check_levels() {
    const Rows rows = random_rows(300, {2, 3, 2, 3, 2, 3, 2, 3, 2, 3});
    const bestdag::Table table = rows.table();
    bestdag::DataTestSettings settings;
    settings.log_alpha = std::log(0.05);
    const bestdag::DataTest test(table, settings);
    const std::size_t n = table.n_columns();
    std::vector<std::int32_t> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::int32_t>(i);
    const std::vector<std::uint8_t> ones(n * n, 1);
    for (const bool stable : {true, false}) {
        for (const bool path : {true, false}) {
            std::vector<std::vector<std::uint8_t>> found;
            std::vector<std::int64_t> questions;
            for (const int threads : {1, 4}) {
                const bestdag::Execution execution{threads, [] { return false; }};
                bestdag::SkeletonSearch search(test, {stable, path, 1u << 20}, order, ones, ones);
                std::int64_t total = 0;
                for (std::size_t size = 0; search.has_level(size); ++size) {
                    search.run_level(size, execution);
                    total += search.levels().back().questions;
                }
                std::vector<std::uint8_t> adjacency(n * n);
                for (std::size_t i = 0; i < n * n; ++i) {
                    adjacency[i] = search.is_joined(i / n, i % n);
                }
                const auto votes = search.votes(adjacency, n, execution);
                for (std::size_t i = 0; i < votes.ones.size(); ++i) {
                    check(votes.with_middle[i] <= votes.separating[i], "votes are a part of all");
                }
                found.push_back(adjacency);
                questions.push_back(total);
            }
            check(found[0] == found[1], "threads do not change the links");
            check(questions[0] == questions[1], "threads do not change the questions");
        }
    }
    // A stop in the middle of a level is passed on, and the search can still be looked at.
    bestdag::SkeletonSearch search(test, {true, false, 0}, order, ones, ones);
    bool is_stopped = false;
    try {
        search.run_level(0, {2, [] { return true; }});
    } catch (const bestdag::Interrupted&) {
        is_stopped = true;
    }
    check(is_stopped || search.levels().back().tests > 0, "a level ends or is stopped");
    check(search.finding(0, 1).n_tests >= 0, "the search can still be looked at");
}

void check_tables() {
    bestdag::RandomStream random({1, 2});
    const std::vector<std::int64_t> rows{5, 0, 7, 30}, columns{20, 1, 21};
    std::vector<std::int64_t> left(3), drawn(12);
    double mean = 0.0;
    for (int round = 0; round < 2000; ++round) {
        bestdag::draw_table(rows, columns, random, left, drawn);
        for (std::size_t r = 0; r < 4; ++r) {
            check(drawn[3 * r] + drawn[3 * r + 1] + drawn[3 * r + 2] == rows[r], "row sums hold");
        }
        for (std::size_t c = 0; c < 3; ++c) {
            check(drawn[c] + drawn[3 + c] + drawn[6 + c] + drawn[9 + c] == columns[c],
                  "column sums hold");
        }
        mean += static_cast<double>(drawn[9]) / 2000;
    }
    check(std::abs(mean - 30.0 * 20 / 42) < 0.2, "cells have their expected mean");
}

void check_blocks() {
    // Two triangles that share node 2, and a tail.
    const std::vector<std::vector<std::int32_t>> neighbours{{1, 2}, {0, 2},    {0, 1, 3, 4},
                                                            {2, 4}, {2, 3, 5}, {4}};
    const auto blocks = bestdag::blocks_of_links(neighbours);
    check(blocks[0][0] == blocks[0][1] && blocks[0][0] == blocks[1][1], "the first triangle");
    check(blocks[3][0] == blocks[3][1] && blocks[3][0] != blocks[0][0], "the second one");
    check(blocks[5][0] == blocks[4][2] && blocks[5][0] != blocks[3][0], "the tail");
}

}  // namespace

int main() {
    check_oracle();
    check_rows();
    check_levels();
    check_tables();
    check_blocks();
    check(std::abs(bestdag::chi_square_log_tail(2, 3000.0) + 1500.0) < 1e-9, "far tail");
    return report();
}
