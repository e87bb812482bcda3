#include "exact/near_best.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace bestdag {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr auto kBetweenLooks = std::chrono::milliseconds(10);
constexpr double kBytesPerNode = 96.0;
constexpr double kBytesPerPromise = 48.0;
// Where more are wanted, nearly everything is, and promises would only take memory.
constexpr std::size_t kMostPromised = 200'000;
constexpr std::size_t kSlotsPerPiece = 4096;

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

void check_sets(const NearBestSets& sets) {
    const std::size_t n_sets = sets.costs.size();
    bool fine = sets.first.size() >= 2 && sets.first[0] == 0 &&
                sets.first.back() == static_cast<std::int64_t>(n_sets) &&
                sets.offsets.size() == n_sets + 1 && sets.offsets[0] == 0 &&
                sets.offsets.back() == static_cast<std::int64_t>(sets.members.size());
    for (std::size_t v = 0; fine && v < sets.n(); ++v) {
        fine = sets.first[v] < sets.first[v + 1] &&
               sets.first[v + 1] <= static_cast<std::int64_t>(n_sets);
        for (auto k = static_cast<std::size_t>(sets.first[v]);
             fine && k < static_cast<std::size_t>(sets.first[v + 1]); ++k) {
            fine = sets.offsets[k] <= sets.offsets[k + 1] && sets.costs[k] >= 0.0 &&
                   (k == static_cast<std::size_t>(sets.first[v]) ||
                    sets.costs[k] >= sets.costs[k - 1]);
            std::int32_t before = -1;
            for (auto i = static_cast<std::size_t>(sets.offsets[k]);
                 fine && i < static_cast<std::size_t>(sets.offsets[k + 1]); ++i) {
                const std::int32_t member = sets.members[i];
                fine = member > before && at(member) < sets.n() && at(member) != v;
                before = member;
            }
        }
    }
    if (!fine) throw std::invalid_argument("near best: malformed problem");
}

}  // namespace

NearBest::NearBest(NearBestSets sets, const NearBestSettings& settings)
    : sets_(std::move(sets)), settings_(settings) {
    check_sets(sets_);
    sets_.make_masks();
    limits_.limit = settings_.window;
    limits_.max_component = std::min(settings_.max_component, kMaxMarginalVariables);
    limits_.one_per_class = settings_.per_class && settings_.has_whole_classes;
}

std::int32_t NearBest::add_cut(NearBestCut cut) {
    bool fine = cut.order || (cut.equations.size() == sets_.n_words && !cut.terms.empty());
    for (const auto& term : cut.terms) {
        fine = fine && term.members.size() == sets_.n_words && term.k >= 1;
    }
    if (!fine) throw std::invalid_argument("near best: malformed cut");
    sets_.cuts.push_back(std::move(cut));
    return static_cast<std::int32_t>(sets_.cuts.size()) - 1;
}

void NearBest::add_part(NearBestPart part) {
    bool fine = part.listed.size() == sets_.n();
    for (std::size_t v = 0; fine && v < sets_.n(); ++v) {
        std::int64_t before = sets_.first[v] - 1;
        for (const std::int32_t set : part.listed[v]) {
            fine = fine && set > before && set < sets_.first[v + 1];
            before = set;
        }
    }
    for (const auto& [cut, multiplier] : part.cuts) {
        fine = fine && cut >= 0 && at(cut) < sets_.cuts.size() && multiplier >= 0.0;
    }
    if (!fine) throw std::invalid_argument("near best: malformed part");
    parts_.push_back(std::move(part));
    push({0.0, kInfinity, 0, parts_.size() - 1, 0}, Chosen(sets_.n(), kFree));
}

double NearBest::rest() const {
    return queue_.empty() ? limits_.limit : std::min(queue_.front().bound, limits_.limit);
}

bool NearBest::is_over() const {
    return queue_.empty() || queue_.front().bound > limits_.limit ||
           (settings_.wanted > 0 && settings_.takes_all && n_found() >= settings_.wanted);
}

void NearBest::run(std::size_t count, const Execution& execution) {
    const std::size_t enough = n_found() + count;
    auto looked = Clock::now();
    while (!is_over() && !is_full_ && n_found() < enough) {
        if (Clock::now() - looked > kBetweenLooks) {
            looked = Clock::now();
            if (execution.should_stop && execution.should_stop()) throw Interrupted();
        }
        std::pop_heap(queue_.begin(), queue_.end(), ComesLater{});
        const Node node = queue_.back();
        queue_.pop_back();
        const std::int32_t* const first = sets_of(node.slot);
        const Chosen chosen(first, first + sets_.n());
        free_slots_.push_back(node.slot);
        if (node.n_chosen == sets_.n()) {
            take(chosen);
            continue;
        }
        try {
            expand(node, chosen, execution);
        } catch (...) {
            push(node, chosen);
            throw;
        }
        ++n_nodes_;
    }
}

void NearBest::expand(const Node& node, const Chosen& chosen, const Execution& execution) {
    NearBestCase found(sets_, parts_[node.part], chosen, limits_);
    if (!found.solve(execution)) {
        forget(node.promised);
        return;
    }
    if (node.n_chosen == 0) {  // what is left out here is never needed again
        for (std::size_t i = 0; i < found.free().size(); ++i) {
            auto& mine = parts_[node.part].listed[at(found.free()[i])];
            mine.clear();
            for (const CaseOption& option : found.options(i)) mine.push_back(option.set);
        }
    }
    forget(node.promised);
    branch(node, chosen, found);
    const double bytes = static_cast<double>(queue_.size()) *
                             (kBytesPerNode + 4.0 * static_cast<double>(sets_.n())) +
                         static_cast<double>(promised_.size()) * kBytesPerPromise +
                         4.0 * static_cast<double>(found_.size()) +
                         static_cast<double>(classes_.size()) *
                             (kBytesPerNode + 8.0 * static_cast<double>(sets_.n()));
    if (bytes <= settings_.max_bytes) return;
    const std::size_t before = queue_.size();
    std::erase_if(queue_, [&](const Node& other) {
        if (other.bound > limits_.limit) free_slots_.push_back(other.slot);
        return other.bound > limits_.limit;
    });
    std::make_heap(queue_.begin(), queue_.end(), ComesLater{});
    is_full_ = 2 * queue_.size() > before;
}

// A variable with one set left gets it. Of the others one is split: in a component that is too
// large to be solved as a whole if there is one, so that it falls apart; with the fewest sets.
void NearBest::branch(const Node& node, const Chosen& chosen, NearBestCase& found) {
    Node next{node.bound, kInfinity, 0, node.part, node.n_chosen};
    Chosen sets = chosen;
    std::size_t split = found.free().size();
    const auto rank = [&](std::size_t i) {
        const std::size_t size = found.component_size(i);
        return std::tuple(size > static_cast<std::size_t>(limits_.max_component),
                          found.options(i).size(), size);
    };
    const auto is_before = [](const auto& a, const auto& b) {
        if (std::get<0>(a) != std::get<0>(b)) return std::get<0>(a);
        if (std::get<1>(a) != std::get<1>(b)) return std::get<1>(a) < std::get<1>(b);
        return std::get<2>(a) > std::get<2>(b);
    };
    for (std::size_t i = 0; i < found.free().size(); ++i) {
        const auto& options = found.options(i);
        if (options.size() == 1) {
            sets[at(found.free()[i])] = options[0].set;
            ++next.n_chosen;
            next.bound = std::max(next.bound, options[0].least);
            next.promised = std::min(next.promised, options[0].most);
        } else if (split == found.free().size() || is_before(rank(i), rank(split))) {
            split = i;
        }
    }
    if (split == found.free().size()) {
        push(next, sets);
        return;
    }
    const auto v = at(found.free()[split]);
    ++next.n_chosen;
    for (const CaseOption& option : found.options(split)) {
        Node child = next;
        sets[v] = option.set;
        child.bound = std::max(next.bound, option.least);
        child.promised = option.most;
        push(child, sets);
    }
}

void NearBest::push(Node node, const Chosen& chosen) {
    if (!is_acyclic(chosen)) return;  // which bounds that are not exact may leave
    if (node.n_chosen == sets_.n()) {
        node.bound = node.promised = cost_of(chosen);
    }
    if (node.bound > limits_.limit) return;
    promise(node.promised);
    node.number = n_pushed_++;
    if (free_slots_.empty()) {
        if (n_slots_ == slots_.size() * kSlotsPerPiece) {
            slots_.push_back(std::make_unique<std::int32_t[]>(kSlotsPerPiece * sets_.n()));
        }
        node.slot = n_slots_++;
    } else {
        node.slot = free_slots_.back();
        free_slots_.pop_back();
    }
    std::copy(chosen.begin(), chosen.end(), sets_of(node.slot));
    queue_.push_back(node);
    std::push_heap(queue_.begin(), queue_.end(), ComesLater{});
}

std::int32_t* NearBest::sets_of(std::size_t slot) const {
    return slots_[slot / kSlotsPerPiece].get() + slot % kSlotsPerPiece * sets_.n();
}

void NearBest::take(const Chosen& chosen) {
    if (settings_.per_class && !classes_.insert(class_of(chosen)).second) return;
    found_.insert(found_.end(), chosen.begin(), chosen.end());
}

// One more choice costs no more than this, and it is none of those promised before.
void NearBest::promise(double cost) {
    if (settings_.per_class || !settings_.takes_all || settings_.wanted == 0 ||
        settings_.wanted > kMostPromised || cost == kInfinity) {
        return;
    }
    promised_.insert(cost);
    if (promised_.size() > settings_.wanted) promised_.erase(std::prev(promised_.end()));
    if (promised_.size() == settings_.wanted) {
        limits_.limit = std::min(limits_.limit, *promised_.rbegin());
    }
}

void NearBest::forget(double cost) {
    const auto place = promised_.find(cost);
    if (place != promised_.end()) promised_.erase(place);
}

double NearBest::cost_of(std::span<const std::int32_t> chosen) const {
    double sum = 0.0;
    for (const std::int32_t set : chosen) sum += sets_.costs[at(set)];
    return sum;
}

// Free variables may come before all others.
bool NearBest::is_acyclic(std::span<const std::int32_t> chosen) const {
    std::vector<std::uint8_t> is_placed(chosen.size(), 0);
    std::size_t n_placed = 0, before;
    for (std::size_t v = 0; v < chosen.size(); ++v) {
        is_placed[v] = chosen[v] == kFree;
        n_placed += is_placed[v];
    }
    do {
        before = n_placed;
        for (std::size_t v = 0; v < chosen.size(); ++v) {
            if (is_placed[v]) continue;
            const auto parents = sets_.parents(at(chosen[v]));
            if (std::all_of(parents.begin(), parents.end(),
                            [&](std::int32_t p) { return is_placed[at(p)] != 0; })) {
                is_placed[v] = 1;
                ++n_placed;
            }
        }
    } while (n_placed > before);
    return n_placed == chosen.size();
}

// The links, and the colliders whose ends are not linked: what equivalent structures have in common
// and others do not.
std::vector<std::uint32_t> NearBest::class_of(std::span<const std::int32_t> chosen) const {
    const auto n = static_cast<std::uint32_t>(chosen.size());
    std::vector<std::uint32_t> key;
    for (std::uint32_t v = 0; v < n; ++v) {
        for (const std::int32_t p : sets_.parents(at(chosen[v]))) {
            const auto u = static_cast<std::uint32_t>(p);
            key.push_back(std::min(u, v) * n + std::max(u, v));
        }
    }
    std::sort(key.begin(), key.end());
    const auto n_links = static_cast<std::ptrdiff_t>(key.size());
    const auto are_linked = [&](std::uint32_t a, std::uint32_t b) {
        return std::binary_search(key.begin(), key.begin() + n_links, a * n + b);
    };
    std::vector<std::uint32_t> colliders;
    for (std::uint32_t v = 0; v < n; ++v) {
        const auto parents = sets_.parents(at(chosen[v]));
        for (std::size_t i = 0; i < parents.size(); ++i) {
            for (std::size_t j = i + 1; j < parents.size(); ++j) {
                const auto a = static_cast<std::uint32_t>(parents[i]);
                const auto b = static_cast<std::uint32_t>(parents[j]);
                if (!are_linked(a, b)) colliders.insert(colliders.end(), {v, a, b});
            }
        }
    }
    key.push_back(n * n);  // between the two
    key.insert(key.end(), colliders.begin(), colliders.end());
    return key;
}

std::size_t NearBest::HashOfClass::operator()(
    const std::vector<std::uint32_t>& key) const noexcept {
    std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
    for (const std::uint32_t word : key) hash = (hash ^ word) * 0x100000001b3u;
    return static_cast<std::size_t>(hash ^ (hash >> 29));
}

}  // namespace bestdag
