#include "posterior/partition_chain.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace bestdag {

namespace {

constexpr std::size_t kKnownBits = 16;      // of the number of sums that a chain remembers
constexpr double kShareOfStructures = 0.1;  // of the steps over partitions
constexpr std::size_t kVariablesPerChange = 8;

// Two numbers that tell sets apart, but for one chance in 2^100 or so.
struct Digest {
    std::uint64_t one = 0x243F6A8885A308D3, other = 0x13198A2E03707344;

    void add(std::uint64_t word) {
        one = (one ^ word) * 0x9E3779B97F4A7C15;
        one ^= one >> 29;
        other = (other + word) * 0xD2E7470EE14C6C93;
        other ^= other >> 31;
    }
};

}  // namespace

PartitionChain::PartitionChain(const RoomSums& rooms, RandomStream random)
    : rooms_(rooms),
      weights_(rooms.weights()),
      random_(random),
      arc_reversal_(rooms),
      parent_blocks_(rooms.weights()) {
    known_.resize(std::size_t{1} << kKnownBits);
    among_.resize(weights_.n_words());
    just_before_.resize(weights_.n_words());
    only_.resize(weights_.n_words());
    elements_ = random_order();
    log_weight_ = weigh(elements_);
}

void PartitionChain::turn_to_partitions() {
    structure_.resize(weights_.n() * weights_.n_words());
    draw(structure_);
    elements_ = layers_of(structure_);
    over_partitions_ = true;
    log_weight_ = weigh(elements_);
}

void PartitionChain::restore(const Place& place) {
    elements_ = place.elements;
    over_partitions_ = place.over_partitions;
    if (over_partitions_) structure_.resize(weights_.n() * weights_.n_words());
    log_weight_ = place.log_weight;
    n_moved_ = place.n_moved;
    random_.skip_to(place.n_drawn);
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
            if (rooms_.log_sum(v, placed.data(), nullptr) > kLogZero) able.push_back(v);
        }
        if (able.empty()) throw std::invalid_argument("chains: no structure is allowed");
        const std::size_t v = able[below(able.size())];
        order.push_back({v});
        put(placed, v);
        std::erase(left, v);
    }
    return order;
}

// The partition of a structure: a variable is one element after the last of its parents.
PartitionChain::Elements PartitionChain::layers_of(
    const std::vector<std::uint64_t>& parents) const {
    const std::size_t n = weights_.n(), n_words = weights_.n_words();
    Elements layers;
    std::vector<std::uint64_t> placed(n_words, 0);
    std::vector<std::size_t> left(n);
    std::iota(left.begin(), left.end(), std::size_t{0});
    while (!left.empty()) {
        std::vector<std::size_t> layer;
        for (const std::size_t v : left) {
            std::uint64_t missing = 0;
            for (std::size_t w = 0; w < n_words; ++w) {
                missing |= parents[v * n_words + w] & ~placed[w];
            }
            if (missing == 0) layer.push_back(v);
        }
        for (const std::size_t v : layer) {
            put(placed, v);
            std::erase(left, v);
        }
        layers.push_back(std::move(layer));
    }
    return layers;
}

std::size_t PartitionChain::below(std::size_t n) noexcept {
    return std::min(n - 1, static_cast<std::size_t>(random_.uniform() * static_cast<double>(n)));
}

void PartitionChain::step(double temperature) {
    const double kind = random_.uniform();
    if (kind < 0.6) {
        relocate(temperature);
        return;
    }
    if (over_partitions_ && kind >= 1.0 - kShareOfStructures) {
        change_structure();
        return;
    }
    Elements proposed = elements_;
    double log_ratio = 0.0;
    if (kind < 0.8 || !over_partitions_) {
        if (!swap_places(proposed)) return;
    } else {
        log_ratio = split_or_join(proposed);
    }
    accept_or_not(std::move(proposed), log_ratio, temperature);
}

// One variable out of its place, and into any place, by the weights of what it leads to: in an
// order between any two others, in a partition also into any element.
void PartitionChain::relocate(double temperature) {
    const std::size_t v = below(weights_.n());
    Elements others = elements_;
    for (auto& element : others) std::erase(element, v);
    std::erase_if(others, [](const auto& element) { return element.empty(); });
    const std::vector<double> places = weigh_places(others, v);
    std::vector<double> logs = places;
    for (double& log : logs) log /= temperature;
    const double total = bestdag::log_sum(logs), choice = random_.uniform();
    std::size_t chosen = 0;
    double sum = 0.0;
    for (std::size_t place = 0; place < logs.size() && sum < choice; ++place) {
        if (logs[place] == kLogZero) continue;
        sum += std::exp(logs[place] - total);
        chosen = place;
    }
    Elements next = with_placed(std::move(others), v, chosen);
    if (next == elements_) return;
    ++n_moved_;
    elements_ = std::move(next);
    log_weight_ = places[chosen];
}

// The weights of all places of v. An element has the same sum wherever v comes after it, and
// another one wherever v comes two or more elements before it: four sums for each serve all places.
std::vector<double> PartitionChain::weigh_places(const Elements& others, std::size_t v) {
    const std::size_t n_others = others.size();
    // Of each element: v after it, earlier, in the element just before, the element just before.
    std::vector<double> after(n_others), earlier(n_others), within(n_others), alone(n_others);
    std::vector<double> own(n_others + 1);  // of v before element k, or inside it
    std::fill(among_.begin(), among_.end(), 0);
    std::fill(just_before_.begin(), just_before_.end(), 0);
    std::fill(only_.begin(), only_.end(), 0);
    put(only_, v);
    const auto sum_of = [&](std::size_t k, SetWords hit) {
        double sum = 0.0;
        for (const std::size_t u : others[k]) sum += log_sum(u, among_.data(), hit);
        return sum;
    };
    for (std::size_t k = 0; k <= n_others; ++k) {
        const SetWords hit = over_partitions_ && k > 0 ? just_before_.data() : nullptr;
        own[k] = log_sum(v, among_.data(), hit);
        if (k == n_others) break;
        after[k] = sum_of(k, hit);
        put(among_, v);
        if (hit != nullptr || !over_partitions_) earlier[k] = sum_of(k, hit);
        if (over_partitions_) {
            alone[k] = sum_of(k, only_.data());
            put(just_before_, v);
            if (hit != nullptr) within[k] = sum_of(k, hit);
        }
        take(among_, v);
        std::fill(just_before_.begin(), just_before_.end(), 0);
        for (const std::size_t u : others[k]) {
            put(among_, u);
            put(just_before_, u);
        }
    }
    std::vector<double> behind(n_others + 2, 0.0);  // from element k on, v being earlier
    for (std::size_t k = n_others; k-- > 0;) behind[k] = behind[k + 1] + earlier[k];
    std::vector<double> places;
    double front = 0.0;  // the elements before element k
    for (std::size_t k = 0; k <= n_others; ++k) {
        const bool is_last = k == n_others;
        if (!over_partitions_) {
            places.push_back(front + own[k] + behind[k]);
        } else {
            places.push_back(front + own[k] + (is_last ? 0.0 : alone[k] + behind[k + 1]));
        }
        if (is_last) break;
        front += after[k];
        if (over_partitions_) {
            const double next = k + 1 < n_others ? within[k + 1] : 0.0;
            places.push_back(front + own[k] + next + behind[k + 2]);
        }
    }
    return places;
}

// In a partition place 2 k is before element k, and place 2 k + 1 inside it.
PartitionChain::Elements PartitionChain::with_placed(Elements&& others, std::size_t v,
                                                     std::size_t place) const {
    Elements made = std::move(others);
    if (over_partitions_ && place % 2 != 0) {
        auto& element = made[place / 2];
        element.insert(std::lower_bound(element.begin(), element.end(), v), v);
    } else {
        const std::size_t before = over_partitions_ ? place / 2 : place;
        made.insert(made.begin() + static_cast<std::ptrdiff_t>(before), {v});
    }
    return made;
}

// Two variables of different elements change places; half the time of elements beside each other. A
// pair of elements, and of their members, has the same chance before and after.
bool PartitionChain::swap_places(Elements& elements) {
    if (elements.size() < 2) return false;
    std::size_t one = below(elements.size()), other = below(elements.size());
    if (random_.uniform() < 0.5) {
        one = below(elements.size() - 1);
        other = one + 1;
    }
    if (one == other) return false;
    std::swap(elements[one][below(elements[one].size())],
              elements[other][below(elements[other].size())]);
    std::sort(elements[one].begin(), elements[one].end());
    std::sort(elements[other].begin(), elements[other].end());
    return true;
}

// A structure drawn from the state, then changed by steps that each keep to the posterior, has a
// state of its own.
void PartitionChain::change_structure() {
    structure_.resize(weights_.n() * weights_.n_words());
    draw(structure_);
    bool has_moved = false;
    for (std::size_t i = 0; i < 1 + weights_.n() / kVariablesPerChange; ++i) {
        has_moved |= arc_reversal_.step(structure_, random_);
        has_moved |= parent_blocks_.step(structure_, random_);
    }
    if (!has_moved) return;
    elements_ = layers_of(structure_);
    log_weight_ = weigh(elements_);
    ++n_moved_;
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
        std::sort(joined.begin(), joined.end());
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

void PartitionChain::accept_or_not(Elements&& proposed, double log_ratio, double temperature) {
    const double log_weight = weigh(proposed);
    const double log_gain = (log_weight - log_weight_) / temperature + log_ratio;
    if (log_weight == kLogZero || !(std::log(random_.uniform()) < log_gain)) return;
    elements_ = std::move(proposed);
    log_weight_ = log_weight;
    ++n_moved_;
}

template <class Visit>
void PartitionChain::each_room(const Elements& elements, const Visit& visit) {
    std::fill(among_.begin(), among_.end(), 0);
    for (std::size_t k = 0; k < elements.size(); ++k) {
        const bool must_hit = over_partitions_ && k > 0;
        for (const std::size_t v : elements[k]) {
            visit(v, among_.data(), must_hit ? just_before_.data() : nullptr);
        }
        std::fill(just_before_.begin(), just_before_.end(), 0);
        for (const std::size_t v : elements[k]) {
            put(among_, v);
            put(just_before_, v);
        }
    }
}

double PartitionChain::weigh(const Elements& elements) {
    double sum = 0.0;
    each_room(elements, [&](std::size_t v, SetWords among, SetWords hit) {
        if (sum > kLogZero) sum += log_sum(v, among, hit);
    });
    return sum;
}

double PartitionChain::log_sum(std::size_t v, SetWords among, SetWords hit) {
    Digest digest;
    digest.add(v);
    for (std::size_t w = 0; w < weights_.n_words(); ++w) {
        digest.add(among[w]);
        digest.add(hit ? hit[w] : 0);
    }
    Known& known = known_[digest.one >> (64 - kKnownBits)];
    if (known.key != digest.one || known.check != digest.other) {
        known = {digest.one, digest.other, rooms_.log_sum(v, among, hit)};
    }
    return known.log_sum;
}

double PartitionChain::draw(std::span<std::uint64_t> parents) {
    double sum = 0.0;
    const std::size_t n_words = weights_.n_words();
    each_room(elements_, [&](std::size_t v, SetWords among, SetWords hit) {
        const std::size_t chosen =
            rooms_.draw(v, among, hit, log_sum(v, among, hit), random_.uniform());
        std::copy_n(weights_.set(chosen), n_words, parents.data() + v * n_words);
        sum += weights_.log_weight(chosen);
    });
    return sum;
}

}  // namespace bestdag
