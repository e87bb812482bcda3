#include "exact/subset_order.hpp"

#include <algorithm>
#include <bit>

#include "exact/subset_program.hpp"

namespace bestdag {

namespace {

void close(Precedence& before) {
    for (std::size_t via = 0; via < before.size(); ++via) {
        for (std::uint64_t& mine : before) {
            if (mine >> via & 1u) mine |= before[via];
        }
    }
}

}  // namespace

Precedence forced_order(const SubsetProblem& problem, double limit) {
    Precedence before(static_cast<std::size_t>(problem.n), 0);
    for (std::size_t v = 0; v < before.size(); ++v) {
        std::uint64_t common = (std::uint64_t{1} << problem.n) - 1;
        bool is_any = false;
        for (auto k = static_cast<std::size_t>(problem.first[v]);
             k < static_cast<std::size_t>(problem.first[v + 1]) && problem.costs[k] < limit; ++k) {
            common &= problem.members[k];
            is_any = true;
        }
        if (is_any) before[v] = common;
    }
    close(before);
    return before;
}

bool is_possible(const Precedence& before) {
    for (std::size_t v = 0; v < before.size(); ++v) {
        if (before[v] >> v & 1u) return false;
    }
    return true;
}

std::vector<std::pair<int, int>> choose_pairs(const SubsetProblem& problem, double limit,
                                              const Precedence& before, int count) {
    const std::vector<int> ranked =
        ranked_by_use(problem, limit, (std::uint64_t{1} << problem.n) - 1);
    std::vector<std::pair<int, int>> pairs;
    std::uint64_t taken = 0;
    const auto take = [&](int a, int b) {
        pairs.emplace_back(a, b);
        taken |= std::uint64_t{1} << a | std::uint64_t{1} << b;
    };
    const auto is_free = [&](int v) { return (taken >> v & 1u) == 0; };
    const auto is_short = [&] { return pairs.size() < static_cast<std::size_t>(count); };
    for (const int v : ranked) {
        const std::uint64_t some = before[static_cast<std::size_t>(v)] & ~taken;
        if (is_short() && is_free(v) && some != 0) take(std::countr_zero(some), v);
    }
    // The most frequent parents belong inside blocks.
    const std::size_t within =
        std::min(static_cast<std::size_t>(Division::kWithinBits),
                 ranked.size() - std::min(ranked.size(), 2 * static_cast<std::size_t>(count)));
    int waiting = -1;
    for (std::size_t i = within; i < ranked.size() && is_short(); ++i) {
        if (!is_free(ranked[i])) continue;
        if (waiting < 0) {
            waiting = ranked[i];
        } else {
            take(std::min(waiting, ranked[i]), std::max(waiting, ranked[i]));
            waiting = -1;
        }
    }
    return pairs;
}

Precedence with_pairs(Precedence before, const std::vector<std::pair<int, int>>& pairs,
                      std::uint64_t way) {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        auto [first, second] = pairs[i];
        if (way >> i & 1u) std::swap(first, second);
        before[static_cast<std::size_t>(second)] |= std::uint64_t{1} << first;
    }
    close(before);
    return before;
}

}  // namespace bestdag
