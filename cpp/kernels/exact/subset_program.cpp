#include "exact/subset_program.hpp"

#include <bit>
#include <cstring>
#include <numeric>

#include "base/bitwise.hpp"

namespace bestdag {

const BlockLoops<std::uint32_t>& loops_of(std::uint32_t) noexcept {
    static constexpr BlockLoops<std::uint32_t> portable =
        detail::Loops<std::uint32_t, 16>::table("portable");
    const char* const name = bitwise().name;
    for (const auto* set : {detail::narrow_loops_avx512(), detail::narrow_loops_avx2()}) {
        if (set && std::strcmp(set->name, name) == 0) return *set;
    }
    return portable;
}

const BlockLoops<double>& loops_of(double) noexcept {
    static constexpr BlockLoops<double> portable = detail::Loops<double, 16>::table("portable");
    const char* const name = bitwise().name;
    for (const auto* set : {detail::wide_loops_avx512(), detail::wide_loops_avx2()}) {
        if (set && std::strcmp(set->name, name) == 0) return *set;
    }
    return portable;
}

std::vector<std::uint16_t> subsets_first(int bits, int lane_bits) {
    std::vector<std::uint16_t> order(std::size_t{1} << (bits - lane_bits));
    std::iota(order.begin(), order.end(), std::uint16_t{0});
    std::stable_sort(order.begin(), order.end(), [](std::uint16_t a, std::uint16_t b) {
        return std::popcount(a) < std::popcount(b);
    });
    return order;
}

namespace {

// Variables with an order are top bits, where subsets that it rules out are never visited. Of the
// others, those that are often parents go where they cost least: inside a block, where a candidate
// set without members above is placed once per task; then to the top; the rarest at the lowest
// middle bit, which changes from block to block.
std::vector<int> assign_bits(const SubsetProblem& problem, double limit, const SubsetScope& scope,
                             const Division& division) {
    const std::vector<int> ranked = ranked_by_use(problem, limit, scope.variables);
    std::uint64_t in_order = 0, placed = 0;
    for (const int v : ranked) {
        const std::uint64_t before = scope.before[static_cast<std::size_t>(v)] & scope.variables;
        if (before != 0) in_order |= before | std::uint64_t{1} << v;
    }
    std::vector<int> bits(static_cast<std::size_t>(problem.n), -1);
    int next_top = division.n - 1, next_low = 0;
    const auto is_free = [&](int v) { return (placed >> v & 1u) == 0; };
    const auto put = [&](int v, int bit) {
        bits[static_cast<std::size_t>(v)] = bit;
        placed |= std::uint64_t{1} << v;
    };
    for (const auto* list : {&scope.paired, &ranked}) {
        for (const int v : *list) {
            const bool is_last = next_top < division.n - division.top;
            if (!is_last && (in_order & scope.variables) >> v & 1u && is_free(v)) {
                put(v, next_top--);
            }
        }
    }
    for (const int v : ranked) {
        if (next_low < division.within && is_free(v)) put(v, next_low++);
    }
    for (const int v : ranked) {
        if (is_free(v)) put(v, next_top--);
    }
    return bits;
}

// What must be in a subset of the top bits that has one of them.
std::vector<std::uint32_t> before_on_top(const SubsetScope& scope, const std::vector<int>& bit_of,
                                         const Division& division) {
    std::vector<std::uint32_t> before(static_cast<std::size_t>(division.top), 0);
    const int lowest = division.n - division.top;
    for (std::size_t v = 0; v < bit_of.size(); ++v) {
        if (bit_of[v] < lowest) continue;
        const std::uint64_t inside = scope.before[v] & scope.variables;
        before[static_cast<std::size_t>(bit_of[v] - lowest)] =
            static_cast<std::uint32_t>(move_bits(inside, bit_of) >> lowest);
    }
    return before;
}

}  // namespace

std::vector<int> ranked_by_use(const SubsetProblem& problem, double limit,
                               std::uint64_t variables) {
    std::vector<std::int64_t> uses(static_cast<std::size_t>(problem.n), 0);
    for (std::size_t k = 0; k < problem.members.size(); ++k) {
        if (problem.costs[k] >= limit) continue;
        for (std::uint64_t left = problem.members[k]; left != 0; left &= left - 1) {
            ++uses[static_cast<std::size_t>(std::countr_zero(left))];
        }
    }
    std::vector<int> ranked;
    for (int v = 0; v < problem.n; ++v) {
        if (variables >> v & 1u) ranked.push_back(v);
    }
    std::stable_sort(ranked.begin(), ranked.end(), [&uses](int a, int b) {
        return uses[static_cast<std::size_t>(a)] > uses[static_cast<std::size_t>(b)];
    });
    return ranked;
}

std::uint64_t move_bits(std::uint64_t members, const std::vector<int>& bit_of) {
    std::uint64_t moved = 0;
    for (; members != 0; members &= members - 1) {
        moved |= std::uint64_t{1} << bit_of[static_cast<std::size_t>(std::countr_zero(members))];
    }
    return moved;
}

template <class T>
SubsetProgram<T>::SubsetProgram(const SubsetProblem& problem, double limit_,
                                const SubsetScope& scope, const Division& division_)
    : division(division_),
      limit(static_cast<T>(limit_)),
      loops(loops_of(T{})),
      bit_of(assign_bits(problem, limit_, scope, division)),
      padding((std::uint64_t{1} << division.n) - 1),
      sets(static_cast<std::size_t>(division.n)),
      order(subsets_first(division.within, loops.lane_bits)),
      lattice(division.top, before_on_top(scope, bit_of, division)) {
    const auto cut = [](std::uint64_t bits, int from, int count) {
        return static_cast<std::uint32_t>((bits >> from) & ((std::uint64_t{1} << count) - 1));
    };
    for (std::size_t v = 0; v < bit_of.size(); ++v) {
        if (bit_of[v] < 0) continue;
        padding &= ~(std::uint64_t{1} << bit_of[v]);
        auto& mine = sets[static_cast<std::size_t>(bit_of[v])];
        const auto begin = static_cast<std::size_t>(problem.first[v]);
        const auto end = static_cast<std::size_t>(problem.first[v + 1]);
        for (std::size_t k = begin; k < end && problem.costs[k] < limit_; ++k) {
            if ((problem.members[k] & ~scope.variables) != 0) continue;
            const std::uint64_t m = move_bits(problem.members[k], bit_of);
            mine.push_back({cut(m, division.within + division.middle, division.top),
                            cut(m, division.within, division.middle), cut(m, 0, division.within),
                            static_cast<T>(problem.costs[k])});
        }
    }
    for (int bit = 0; bit < division.n; ++bit) {  // the padding costs nothing
        if (padding >> bit & 1u) sets[static_cast<std::size_t>(bit)].push_back({0, 0, 0, T{0}});
    }
}

template struct SubsetProgram<std::uint32_t>;
template struct SubsetProgram<double>;

}  // namespace bestdag
