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

// Variables that are often parents go where they cost least: inside a block, where a candidate set
// without members above is placed once per task; then to the top; the rarest at the lowest middle
// bit, which changes from block to block.
std::vector<int> assign_bits(const SubsetProblem& problem, double limit, const Division& division) {
    std::vector<std::int64_t> uses(static_cast<std::size_t>(problem.n), 0);
    for (std::size_t k = 0; k < problem.members.size(); ++k) {
        if (problem.costs[k] >= limit) continue;
        for (std::uint64_t left = problem.members[k]; left != 0; left &= left - 1) {
            ++uses[static_cast<std::size_t>(std::countr_zero(left))];
        }
    }
    std::vector<int> ranked(uses.size());
    std::iota(ranked.begin(), ranked.end(), 0);
    std::stable_sort(ranked.begin(), ranked.end(), [&uses](int a, int b) {
        return uses[static_cast<std::size_t>(a)] > uses[static_cast<std::size_t>(b)];
    });
    std::vector<int> bits(uses.size());
    for (int rank = 0; rank < problem.n; ++rank) {
        const int bit = rank < division.within ? rank : division.n - 1 - (rank - division.within);
        bits[static_cast<std::size_t>(ranked[static_cast<std::size_t>(rank)])] = bit;
    }
    return bits;
}

}  // namespace

std::uint64_t move_bits(std::uint64_t members, const std::vector<int>& bit_of) {
    std::uint64_t moved = 0;
    for (; members != 0; members &= members - 1) {
        moved |= std::uint64_t{1} << bit_of[static_cast<std::size_t>(std::countr_zero(members))];
    }
    return moved;
}

template <class T>
SubsetProgram<T>::SubsetProgram(const SubsetProblem& problem, double limit_)
    : division(problem.n), limit(static_cast<T>(limit_)), loops(loops_of(T{})) {
    bit_of = assign_bits(problem, limit_, division);
    sets.resize(static_cast<std::size_t>(division.n));
    const auto cut = [](std::uint64_t bits, int from, int count) {
        return static_cast<std::uint32_t>((bits >> from) & ((std::uint64_t{1} << count) - 1));
    };
    for (int v = 0; v < problem.n; ++v) {
        auto& mine = sets[static_cast<std::size_t>(bit_of[static_cast<std::size_t>(v)])];
        const auto begin = static_cast<std::size_t>(problem.first[static_cast<std::size_t>(v)]);
        const auto end = static_cast<std::size_t>(problem.first[static_cast<std::size_t>(v) + 1]);
        for (std::size_t k = begin; k < end && problem.costs[k] < limit_; ++k) {
            const std::uint64_t m = move_bits(problem.members[k], bit_of);
            mine.push_back({cut(m, division.within + division.middle, division.top),
                            cut(m, division.within, division.middle), cut(m, 0, division.within),
                            static_cast<T>(problem.costs[k])});
        }
    }
    for (int bit = problem.n; bit < division.n; ++bit) {  // the padding costs nothing
        sets[static_cast<std::size_t>(bit)].push_back({0, 0, 0, T{0}});
    }
    order = subsets_first(division.within, loops.lane_bits);
}

template struct SubsetProgram<std::uint32_t>;
template struct SubsetProgram<double>;

}  // namespace bestdag
