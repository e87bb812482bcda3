#include "posterior/partition_chain.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace bestdag {

namespace {

constexpr double kNanosecondsPerStep = 2e4;

void put(std::vector<std::uint64_t>& words, std::size_t v) {
    words[v / 64] |= std::uint64_t{1} << (v % 64);
}

bool has(SetWords words, std::size_t v) { return (words[v / 64] >> (v % 64) & 1) != 0; }

}  // namespace

PartitionChain::PartitionChain(const ParentWeights& weights, bool over_partitions,
                               RandomStream random)
    : weights_(weights), over_partitions_(over_partitions), random_(random) {
    rooms_.resize(weights.n());
    Elements order = random_order();
    if (over_partitions_) order = layers_of(order);
    try_elements(std::move(order), 0.0);
    n_accepted_ = 0;
}

// An order in which each variable has parents that are allowed.
PartitionChain::Elements PartitionChain::random_order() {
    Elements order;
    std::vector<std::uint64_t> placed(weights_.n_words(), 0);
    std::vector<std::size_t> left(weights_.n());
    std::iota(left.begin(), left.end(), std::size_t{0});
    while (!left.empty()) {
        std::vector<std::size_t> able;
        for (const std::size_t v : left) {
            if (weights_.log_sum_within(v, placed.data(), nullptr) > kLogZero) able.push_back(v);
        }
        if (able.empty()) throw std::invalid_argument("chains: no structure is allowed");
        const std::size_t v = able[below(able.size())];
        order.push_back({v});
        put(placed, v);
        std::erase(left, v);
    }
    return order;
}

// The partition of a structure drawn for an order: after a variable's last parents comes itself.
PartitionChain::Elements PartitionChain::layers_of(const Elements& order) {
    std::vector<std::uint64_t> placed(weights_.n_words(), 0);
    std::vector<std::size_t> layer(weights_.n(), 0);
    Elements layers;
    for (const auto& element : order) {
        const std::size_t v = element.front();
        const double total = weights_.log_sum_within(v, placed.data(), nullptr);
        const SetWords parents =
            weights_.set(weights_.draw_within(v, placed.data(), nullptr, total, random_.uniform()));
        for (std::size_t u = 0; u < weights_.n(); ++u) {
            if (has(parents, u)) layer[v] = std::max(layer[v], layer[u] + 1);
        }
        layers.resize(std::max(layers.size(), layer[v] + 1));
        layers[layer[v]].push_back(v);
        put(placed, v);
    }
    return layers;
}

std::size_t PartitionChain::below(std::size_t n) noexcept {
    return std::min(n - 1, static_cast<std::size_t>(random_.uniform() * static_cast<double>(n)));
}

void PartitionChain::step() {
    Elements proposed = elements_;
    double log_ratio = 0.0;
    const double kind = random_.uniform();
    if (kind < 0.4) {
        swap_places(proposed);
    } else if (!over_partitions_) {
        relocate_in_order(proposed);
    } else if (kind < 0.8) {
        relocate(proposed);
    } else {
        log_ratio = split_or_join(proposed);
    }
    try_elements(std::move(proposed), log_ratio);
}

// One variable to any other place of an order.
void PartitionChain::relocate_in_order(Elements& elements) {
    const std::size_t from = below(elements.size()), to = below(elements.size());
    const auto at = [&](std::size_t place) {
        return elements.begin() + static_cast<std::ptrdiff_t>(place);
    };
    if (from < to) {
        std::rotate(at(from), at(from + 1), at(to + 1));
    } else {
        std::rotate(at(to), at(from), at(from + 1));
    }
}

// Two variables of different elements change places; half the time of elements beside each other.
void PartitionChain::swap_places(Elements& elements) {
    if (elements.size() < 2) return;
    std::size_t one = below(elements.size()), other = below(elements.size());
    if (random_.uniform() < 0.5) {
        one = below(elements.size() - 1);
        other = one + 1;
    }
    if (one == other) return;
    // Of the pairs of elements each has the same chance before and after, and so have the members.
    std::swap(elements[one][below(elements[one].size())],
              elements[other][below(elements[other].size())]);
}

// One variable out of its element, into any other element or between any two: without it there are
// m elements and 2 m + 1 places, one of which it had. Both ways have the same chance.
void PartitionChain::relocate(Elements& elements) {
    const std::size_t v = below(weights_.n());
    std::size_t from = 0;
    while (std::find(elements[from].begin(), elements[from].end(), v) == elements[from].end()) {
        ++from;
    }
    std::erase(elements[from], v);
    const bool was_alone = elements[from].empty();
    if (was_alone) elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(from));
    // Place 2 k is before element k, place 2 k + 1 inside it.
    const std::size_t had = 2 * from + (was_alone ? 0 : 1), n_places = 2 * elements.size() + 1;
    if (n_places == 1) {
        elements.push_back({v});
        return;
    }
    std::size_t place = below(n_places - 1);
    if (place >= had) ++place;
    if (place % 2 != 0) {
        elements[place / 2].push_back(v);
    } else {
        elements.insert(elements.begin() + static_cast<std::ptrdiff_t>(place / 2), {v});
    }
}

// The number of ways to split an element in two that are not empty, over all elements.
double PartitionChain::n_splits(const Elements& elements) noexcept {
    double sum = 0.0;
    for (const auto& element : elements) {
        sum += std::exp2(static_cast<double>(element.size())) - 2.0;
    }
    return sum;
}

double PartitionChain::split_or_join(Elements& elements) {
    const auto neighbours = [](const Elements& some) {
        return static_cast<double>(some.size() - 1) + n_splits(some);
    };
    const double before = neighbours(elements);
    if (before == 0.0) return 0.0;
    double choice = random_.uniform() * before - static_cast<double>(elements.size() - 1);
    if (choice < 0.0) {
        const std::size_t which = below(elements.size() - 1);
        auto& joined = elements[which];
        const auto& next = elements[which + 1];
        joined.insert(joined.end(), next.begin(), next.end());
        elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(which) + 1);
    } else {
        std::size_t which = 0;
        for (std::size_t k = 0; k < elements.size(); ++k) {
            if (elements[k].size() < 2) continue;
            which = k;
            choice -= std::exp2(static_cast<double>(elements[k].size())) - 2.0;
            if (choice < 0.0) break;
        }
        split(elements, which);
    }
    return std::log(before) - std::log(neighbours(elements));
}

void PartitionChain::split(Elements& elements, std::size_t which) {
    std::vector<std::size_t> first, second;
    while (first.empty() || second.empty()) {
        first.clear();
        second.clear();
        for (const std::size_t v : elements[which]) {
            (random_.uniform() < 0.5 ? first : second).push_back(v);
        }
    }
    elements[which] = std::move(first);
    elements.insert(elements.begin() + static_cast<std::ptrdiff_t>(which) + 1, std::move(second));
}

const std::uint64_t* PartitionChain::hit(const Room& room, bool is_first) const noexcept {
    return over_partitions_ && !is_first ? room.just_before.data() : nullptr;
}

void PartitionChain::try_elements(Elements&& proposed, double log_ratio) {
    changed_.clear();
    proposed_.clear();
    const std::vector<std::uint64_t> nobody(weights_.n_words(), 0);
    Room room{nobody, nobody, 0.0};
    double log_gain = log_ratio;
    for (std::size_t k = 0; k < proposed.size(); ++k) {
        for (const std::size_t v : proposed[k]) {
            const Room& now = rooms_[v];
            if (now.among == room.among &&
                (!over_partitions_ || now.just_before == room.just_before)) {
                continue;
            }
            room.log_sum = weights_.log_sum_within(v, room.among.data(), hit(room, k == 0));
            if (!elements_.empty()) {
                if (room.log_sum == kLogZero) return;
                log_gain += room.log_sum - now.log_sum;
            }
            changed_.push_back(v);
            proposed_.push_back(room);
        }
        room.just_before = nobody;
        for (const std::size_t v : proposed[k]) {
            put(room.among, v);
            put(room.just_before, v);
        }
    }
    if (!elements_.empty() && !(std::log(random_.uniform()) < log_gain)) return;
    for (std::size_t i = 0; i < changed_.size(); ++i) rooms_[changed_[i]] = proposed_[i];
    elements_ = std::move(proposed);
    log_weight_ = 0.0;
    for (const Room& each : rooms_) log_weight_ += each.log_sum;
    if (!changed_.empty()) ++n_accepted_;
}

double PartitionChain::draw(std::span<std::uint64_t> parents) {
    double sum = 0.0;
    const std::size_t n_words = weights_.n_words();
    for (std::size_t v = 0; v < weights_.n(); ++v) {
        const Room& room = rooms_[v];
        const bool is_first = std::all_of(room.among.begin(), room.among.end(),
                                          [](std::uint64_t word) { return word == 0; });
        const std::size_t chosen = weights_.draw_within(v, room.among.data(), hit(room, is_first),
                                                        room.log_sum, random_.uniform());
        std::copy_n(weights_.set(chosen), n_words, parents.data() + v * n_words);
        sum += weights_.log_weight(chosen);
    }
    return sum;
}

void run_chains(const ParentWeights& weights, const ChainPlan& plan, std::size_t n_chains,
                const Execution& execution, std::span<std::uint64_t> structures,
                std::span<double> log_dags, std::span<double> log_states,
                std::span<std::int64_t> accepted) {
    const std::size_t n_steps = plan.n_before + plan.n_kept * plan.n_between;
    const std::size_t n_per_dag = weights.n() * weights.n_words();
    parallel_for(n_chains, kNanosecondsPerStep * static_cast<double>(n_chains * n_steps), execution,
                 [&](std::size_t c, const StopFlag& stop) {
                     PartitionChain chain(weights, plan.over_partitions,
                                          RandomStream(PhiloxKey{plan.seed, c}));
                     for (std::size_t i = 0; i < plan.n_before; ++i) {
                         check(stop);
                         chain.step();
                     }
                     for (std::size_t kept = 0; kept < plan.n_kept; ++kept) {
                         for (std::size_t i = 0; i < plan.n_between; ++i) {
                             check(stop);
                             chain.step();
                         }
                         const std::size_t place = c * plan.n_kept + kept;
                         log_states[place] = chain.log_weight();
                         log_dags[place] =
                             chain.draw(structures.subspan(place * n_per_dag, n_per_dag));
                     }
                     accepted[c] = static_cast<std::int64_t>(chain.n_accepted());
                 });
}

}  // namespace bestdag
