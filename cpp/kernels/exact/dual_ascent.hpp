// Lower bounds of all acyclic choices without linear programs: multipliers on cluster cuts that
// grow one after another while they raise the bound (Troesser, de Givry and Katsirelos 2021).
//
// Let every variable keep its sets of least reduced cost alone. If they allow no acyclic choice,
// take away, again and again, variables with a set outside of what is left: what remains is a
// cluster C in which every cheapest set has a member inside. So the multiplier of (C, 1) may rise
// by the least that a set without parents in C costs more than the cheapest set of its variable,
// for all v in C, and the bound rises as much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "search/choice_sets.hpp"

namespace bestdag {

struct RaisedCluster {
    std::vector<std::int32_t> members;  // ascending
    std::int64_t multiplier = 0;        // > 0
};

struct AscentResult {
    std::int64_t bound = 0;
    std::vector<RaisedCluster> clusters;
};

// `reduced`: a cost of each set in whole units, of any sign. No acyclic choice costs less than the
// bound, which is that of the clusters' multipliers; it stops at `enough`. Sums of costs stay below
// 2^62. When stopped the bound is that of what was raised by then.
AscentResult ascend(const ChoiceSets& sets, std::span<const std::int64_t> reduced,
                    std::int64_t enough, const StopFlag& stop);

}  // namespace bestdag
