// An order cut as Python gives it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "exact/order_cuts.hpp"

inline bestdag::OrderCut order_cut_of(std::vector<std::int32_t> members,
                                      std::vector<std::int32_t> gains, std::int32_t most,
                                      std::size_t n) {
    const auto is_gain = [](std::int32_t gain) {
        return 0 <= gain && gain <= bestdag::kMostOrderCutGain;
    };
    const bool ascends = std::is_sorted(members.begin(), members.end(), std::less_equal<>());
    if (members.empty() || members.size() > bestdag::kMostOrderCutMembers || !ascends ||
        members.front() < 0 || static_cast<std::size_t>(members.back()) >= n ||
        gains.size() != members.size() << members.size() ||
        !std::all_of(gains.begin(), gains.end(), is_gain)) {
        throw std::invalid_argument("an order cut needs few ascending members and their gains");
    }
    return {std::move(members), std::move(gains), most};
}
