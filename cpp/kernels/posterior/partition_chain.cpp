#include "posterior/partition_chain.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace bestdag {

namespace {

constexpr double kNanosecondsPerStep = 1e5;
constexpr std::size_t kKnownBits = 16;  // of the number of sums that a chain remembers
constexpr double kHottest = 20.0;       // temperature of the first step

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

void put(std::vector<std::uint64_t>& words, std::size_t v) {
    words[v / 64] |= std::uint64_t{1} << (v % 64);
}

bool has(SetWords words, std::size_t v) { return (words[v / 64] >> (v % 64) & 1) != 0; }

}  // namespace

PartitionChain::PartitionChain(const ParentWeights& weights, RandomStream random)
    : weights_(weights), random_(random) {
    known_.resize(std::size_t{1} << kKnownBits);
    among_.resize(weights.n_words());
    just_before_.resize(weights.n_words());
    elements_ = random_order();
    log_weight_ = weigh(elements_);
}

void PartitionChain::turn_to_partitions() {
    elements_ = layers_of(elements_);
    over_partitions_ = true;
    log_weight_ = weigh(elements_);
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
    for (auto& element : layers) std::sort(element.begin(), element.end());
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
    const std::size_t n_places = over_partitions_ ? 2 * others.size() + 1 : others.size() + 1;
    std::vector<double> logs(n_places);
    for (std::size_t place = 0; place < n_places; ++place) {
        logs[place] = weigh(with_placed(others, v, place)) / temperature;
    }
    const double total = bestdag::log_sum(logs), choice = random_.uniform();
    std::size_t chosen = 0;
    double sum = 0.0;
    for (std::size_t place = 0; place < n_places && sum < choice; ++place) {
        if (logs[place] == kLogZero) continue;
        sum += std::exp(logs[place] - total);
        chosen = place;
    }
    Elements next = with_placed(others, v, chosen);
    if (next == elements_) return;
    ++n_moved_;
    elements_ = std::move(next);
    log_weight_ = weigh(elements_);
}

// In a partition place 2 k is before element k, and place 2 k + 1 inside it.
PartitionChain::Elements PartitionChain::with_placed(const Elements& others, std::size_t v,
                                                     std::size_t place) const {
    Elements made = others;
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
        known = {digest.one, digest.other, weights_.log_sum_within(v, among, hit)};
    }
    return known.log_sum;
}

double PartitionChain::draw(std::span<std::uint64_t> parents) {
    double sum = 0.0;
    const std::size_t n_words = weights_.n_words();
    each_room(elements_, [&](std::size_t v, SetWords among, SetWords hit) {
        const std::size_t chosen =
            weights_.draw_within(v, among, hit, log_sum(v, among, hit), random_.uniform());
        std::copy_n(weights_.set(chosen), n_words, parents.data() + v * n_words);
        sum += weights_.log_weight(chosen);
    });
    return sum;
}

void run_chains(const ParentWeights& weights, const ChainPlan& plan, std::size_t n_chains,
                const Execution& execution, std::span<std::uint64_t> structures,
                std::span<double> log_dags, std::span<double> log_states,
                std::span<std::int64_t> moved) {
    const std::size_t n_steps = plan.n_before + plan.n_kept * plan.n_between;
    const std::size_t n_per_dag = weights.n() * weights.n_words();
    parallel_for(
        n_chains, kNanosecondsPerStep * static_cast<double>(n_chains * n_steps), execution,
        [&](std::size_t c, const StopFlag& stop) {
            PartitionChain chain(weights, RandomStream(PhiloxKey{plan.seed, c}));
            const std::size_t n_cooling = plan.n_before / 2;
            for (std::size_t i = 0; i < n_cooling; ++i) {
                check(stop);
                const double left = 1.0 - static_cast<double>(i) / static_cast<double>(n_cooling);
                chain.step(std::pow(kHottest, left));
            }
            if (plan.over_partitions) chain.turn_to_partitions();
            for (std::size_t i = n_cooling; i < plan.n_before; ++i) {
                check(stop);
                chain.step(1.0);
            }
            for (std::size_t kept = 0; kept < plan.n_kept; ++kept) {
                for (std::size_t i = 0; i < plan.n_between; ++i) {
                    check(stop);
                    chain.step(1.0);
                }
                const std::size_t place = c * plan.n_kept + kept;
                log_states[place] = chain.log_weight();
                log_dags[place] = chain.draw(structures.subspan(place * n_per_dag, n_per_dag));
            }
            moved[c] = static_cast<std::int64_t>(chain.n_moved());
        });
}

}  // namespace bestdag
