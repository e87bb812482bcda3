#include "independence/votes.hpp"

#include <algorithm>
#include <iterator>

#include "independence/asking.hpp"
#include "independence/subset_walk.hpp"

namespace bestdag {

using namespace asking;

Votes count_votes(const IndependenceTest& test, std::span<const std::uint8_t> adjacency,
                  std::span<const std::uint8_t> may_be_parent, std::size_t max_size, TestLog& log,
                  const Execution& execution) {
    const std::size_t n = test.n_variables();
    std::vector<std::vector<std::int32_t>> near(n), from(n);
    double n_questions = 0.0;
    for (std::size_t node = 0; node < n; ++node) {
        for (std::size_t other = 0; other < n; ++other) {
            if (!adjacency[node * n + other]) continue;
            near[node].push_back(static_cast<std::int32_t>(other));
            if (may_be_parent[other * n + node]) {
                from[node].push_back(static_cast<std::int32_t>(other));
            }
        }
        for (std::size_t size = 0; size <= std::min(max_size, from[node].size()); ++size) {
            n_questions += n_subsets(from[node].size(), size) * 4.0;
        }
    }
    struct Pair {
        std::int32_t other;
        std::vector<std::int32_t> middles;
        std::vector<std::int64_t> with_middle;
        std::int64_t separating = 0;
    };
    // The pairs of a node, with those after it in the first half and those before in the second.
    std::vector<std::vector<Pair>> counted(2 * n);
    double n_walks = 0.0;
    for (const auto& row : near) {
        n_walks += static_cast<double>(row.size()) * static_cast<double>(row.size());
    }
    parallel_for(2 * n, n_walks, execution, [&](std::size_t task, const StopFlag& stop) {
        const bool of_later = task < n;
        const std::size_t node = of_later ? task : task - n;
        std::vector<std::int32_t> seconds;
        std::vector<char> is_second(n, 0);
        for (const std::int32_t middle : near[node]) {
            check(stop);
            for (const std::int32_t other : near[place(middle)]) {
                const bool is_wanted = of_later ? place(other) > node : place(other) < node;
                if (is_wanted) is_second[place(other)] = 1;
            }
        }
        for (const std::int32_t other : near[node]) is_second[place(other)] = 0;
        for (std::size_t other = 0; other < n; ++other) {
            if (is_second[other]) seconds.push_back(static_cast<std::int32_t>(other));
        }
        for (const std::int32_t other : seconds) {
            Pair pair{other, {}, {}, 0};
            std::set_intersection(near[node].begin(), near[node].end(), near[place(other)].begin(),
                                  near[place(other)].end(), std::back_inserter(pair.middles));
            pair.with_middle.assign(pair.middles.size(), 0);
            counted[task].push_back(std::move(pair));
            check(stop);
        }
    });
    // A piece of work is the sets of one size of one node: hubs are shared by the threads.
    struct Piece {
        std::size_t task, size;
        std::vector<Pair> pairs;
        std::int64_t n_tests = 0;
        TestLog log;
    };
    std::vector<Piece> pieces;
    for (std::size_t task = 0; task < 2 * n; ++task) {
        const std::size_t most = std::min(max_size, from[task % n].size());
        for (std::size_t size = 0; size <= most && !counted[task].empty(); ++size) {
            pieces.push_back({task, size, {}, 0, TestLog()});
        }
    }
    const auto work = [&](std::size_t number, Answerer& answerer, const StopFlag& stop) {
        Piece& piece = pieces[number];
        const bool of_later = piece.task < n;
        const std::size_t node = piece.task % n;
        piece.pairs = counted[piece.task];
        piece.log = TestLog(log.bytes_left());
        std::vector<std::int32_t> wanted;
        std::vector<std::size_t> wanted_at;
        std::vector<Answer> answers;
        for (ListSubsets sets(from[node], piece.size); sets; sets.next()) {
            const std::span<const std::int32_t> given = sets.members();
            wanted.clear();
            wanted_at.clear();
            for (std::size_t i = 0; i < piece.pairs.size(); ++i) {
                const std::int32_t other = piece.pairs[i].other;
                // Sets that both ends have are counted once, by the first.
                if (!of_later && is_subset(given, from[place(other)])) continue;
                wanted.push_back(other);
                wanted_at.push_back(i);
            }
            check(stop);
            if (wanted.empty()) continue;
            answers.resize(wanted.size());
            answerer.ask(static_cast<std::int32_t>(node), given, wanted, answers, stop);
            piece.n_tests += static_cast<std::int64_t>(wanted.size());
            for (std::size_t i = 0; i < wanted.size(); ++i) {
                piece.log.add(static_cast<std::int32_t>(node), wanted[i], given, answers[i]);
                if (!answers[i].is_independent) continue;
                Pair& pair = piece.pairs[wanted_at[i]];
                ++pair.separating;
                for (std::size_t m = 0; m < pair.middles.size(); ++m) {
                    pair.with_middle[m] += has(given, pair.middles[m]);
                }
            }
        }
    };
    const double expected_now = n_questions * test.expected_nanoseconds();
    ask_each(test, pieces.size(), expected_now, execution, work);
    Votes votes;
    for (const Piece& piece : pieces) {
        for (std::size_t i = 0; i < piece.pairs.size(); ++i) {
            Pair& sum = counted[piece.task][i];
            sum.separating += piece.pairs[i].separating;
            for (std::size_t m = 0; m < sum.middles.size(); ++m) {
                sum.with_middle[m] += piece.pairs[i].with_middle[m];
            }
        }
        votes.n_tests += piece.n_tests;
        log.append(piece.log);
    }
    for (std::size_t node = 0; node < n; ++node) {
        for (const Pair& pair : counted[node]) {
            const std::vector<Pair>& back = counted[n + place(pair.other)];
            const auto twin = std::lower_bound(
                back.begin(), back.end(), static_cast<std::int32_t>(node),
                [](const Pair& one, std::int32_t number) { return one.other < number; });
            for (std::size_t m = 0; m < pair.middles.size(); ++m) {
                votes.ones.push_back(static_cast<std::int32_t>(node));
                votes.middles.push_back(pair.middles[m]);
                votes.others.push_back(pair.other);
                votes.separating.push_back(pair.separating + twin->separating);
                votes.with_middle.push_back(pair.with_middle[m] + twin->with_middle[m]);
            }
        }
    }
    return votes;
}

}  // namespace bestdag
