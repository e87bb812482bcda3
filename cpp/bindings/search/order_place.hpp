// Where a search over orders is, as plain values.
#pragma once

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "bindings/types.hpp"
#include "search/order_search.hpp"

// Order, cost, best choice, its cost, random state.
using OrderPlaceTuple =
    std::tuple<std::vector<std::size_t>, double, std::vector<std::size_t>, double, std::uint64_t>;

inline OrderPlaceTuple tuple_of(const bestdag::OrderSearchPlace& place) {
    return {place.order, place.home_cost, place.best_choice, place.best_cost, place.random};
}

inline bestdag::OrderSearchPlace place_of(const OrderPlaceTuple& tuple,
                                          const bestdag::ChoiceSets& sets) {
    auto [order, home_cost, best_choice, best_cost, random] = tuple;
    std::vector<std::size_t> sorted(order);
    std::sort(sorted.begin(), sorted.end());
    bool is_good = sorted.size() == sets.n_variables() && best_choice.size() == sorted.size();
    for (std::size_t v = 0; is_good && v < sorted.size(); ++v) {
        is_good =
            sorted[v] == v && best_choice[v] >= sets.first(v) && best_choice[v] <= sets.last(v);
    }
    if (!is_good) throw std::invalid_argument("an order of all variables, and a set of each");
    return {std::move(order), home_cost, std::move(best_choice), best_cost, random};
}
