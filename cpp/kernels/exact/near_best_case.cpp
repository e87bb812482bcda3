#include "exact/near_best_case.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace bestdag {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// What may still be spent is so many units: sums of two values stay below kMarginalLimit.
constexpr double kUnits = 1 << 29;
constexpr std::size_t kWordBits = 64;
// Groups of a component that is too large: some milliseconds of work.
constexpr std::size_t kGroupSize = 14;

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

bool has(std::span<const std::int32_t> sorted, std::int32_t value) {
    return std::binary_search(sorted.begin(), sorted.end(), value);
}

// Whether `larger` is `smaller` and one more member; both ascending.
bool is_one_more(std::span<const std::int32_t> larger, std::span<const std::int32_t> smaller,
                 std::int32_t more) {
    return larger.size() == smaller.size() + 1 && has(larger, more) &&
           std::includes(larger.begin(), larger.end(), smaller.begin(), smaller.end());
}

}  // namespace

NearBestCase::NearBestCase(const NearBestSets& sets, const NearBestPart& part,
                           std::span<const std::int32_t> chosen, const CaseSettings& settings)
    : sets_(sets), part_(part), chosen_(chosen), settings_(settings), place_(sets.n(), -1) {
    for (std::size_t v = 0; v < sets_.n(); ++v) {
        if (chosen_[v] == kFree) {
            place_[v] = static_cast<std::int32_t>(free_.size());
            free_.push_back(static_cast<std::int32_t>(v));
        } else {
            fixed_ += sets_.costs[at(chosen_[v])];
        }
    }
    n_words_ = std::max<std::size_t>(1, (free_.size() + kWordBits - 1) / kWordBits);
    component_size_.assign(free_.size(), 1);
    find_needs();
}

// Depth first over the chosen sets, which have no cycle.
void NearBestCase::find_needs() {
    const std::size_t n = sets_.n();
    of_chosen_.assign(n * n_words_, 0);
    std::vector<std::uint8_t> is_done(n, 0);
    std::vector<std::size_t> path;
    for (std::size_t root = 0; root < n; ++root) {
        if (chosen_[root] == kFree || is_done[root]) continue;
        path.assign(1, root);
        while (!path.empty()) {
            const std::size_t v = path.back();
            bool is_ready = true;
            for (const std::int32_t p : sets_.parents(at(chosen_[v]))) {
                if (chosen_[at(p)] != kFree && !is_done[at(p)]) {
                    path.push_back(at(p));
                    is_ready = false;
                    break;
                }
            }
            if (!is_ready) continue;
            needs_of(v, at(chosen_[v]), of_chosen_.data() + v * n_words_);
            is_done[v] = 1;
            path.pop_back();
        }
    }
}

// False when the set needs the variable itself.
bool NearBestCase::needs_of(std::size_t v, std::size_t set, Word* needs) const {
    std::fill(needs, needs + n_words_, Word{0});
    for (const std::int32_t p : sets_.parents(set)) {
        const std::int32_t place = place_[at(p)];
        if (place >= 0) {
            needs[at(place) / kWordBits] |= Word{1} << (at(place) % kWordBits);
        } else {
            for (std::size_t w = 0; w < n_words_; ++w) needs[w] |= of_chosen_[at(p) * n_words_ + w];
        }
    }
    const std::int32_t own = place_[v];
    return own < 0 || (needs[at(own) / kWordBits] >> (at(own) % kWordBits) & 1u) == 0;
}

// An arc x -> y is covered when the parents of y are x and those of x; then it may be turned, which
// leads to another member of the same class. Members without a covered arc from a later variable
// to an earlier one are enough: turning such an arc leaves fewer arcs of that direction.
bool NearBestCase::is_reversed_member(std::size_t v, std::size_t set) const {
    const auto mine = sets_.parents(set);
    const auto self = static_cast<std::int32_t>(v);
    for (std::size_t u = 0; u < sets_.n(); ++u) {
        if (chosen_[u] == kFree) continue;
        const auto other = static_cast<std::int32_t>(u);
        const auto theirs = sets_.parents(at(chosen_[u]));
        if (u > v ? is_one_more(mine, theirs, other) : is_one_more(theirs, mine, self)) return true;
    }
    return false;
}

bool NearBestCase::list_open() {
    open_.assign(free_.size(), {});
    std::vector<double> least(free_.size(), kInfinity);
    std::vector<Word> needs(n_words_);
    double sum = fixed_;
    for (std::size_t i = 0; i < free_.size(); ++i) {  // the cheapest set of each
        const std::size_t v = at(free_[i]);
        for (const std::int32_t set : part_.listed[v]) {
            if (!needs_of(v, at(set), needs.data())) continue;
            least[i] = sets_.costs[at(set)];
            break;
        }
        sum += least[i];
    }
    if (sum > settings_.limit) return false;
    for (std::size_t i = 0; i < free_.size(); ++i) {
        const std::size_t v = at(free_[i]);
        for (const std::int32_t set : part_.listed[v]) {
            const double cost = sets_.costs[at(set)];
            if (sum - least[i] + cost > settings_.limit) break;  // costs ascend
            if (!needs_of(v, at(set), needs.data())) continue;
            if (settings_.one_per_class && is_reversed_member(v, at(set))) continue;
            open_[i].push_back({set, cost, cost, 0.0, kInfinity, needs_.size()});
            needs_.insert(needs_.end(), needs.begin(), needs.end());
        }
        if (open_[i].empty()) return false;
    }
    return drop_by_cuts();
}

// Reduced costs of the open sets by these cuts; what the cuts and the chosen sets cost besides.
double NearBestCase::reduce(std::span<const PricedCut> cuts) {
    for (auto& mine : open_) {
        for (Open& open : mine) open.reduced = open.cost;
    }
    double paid = fixed_;
    for (const auto& [number, multiplier] : cuts) {
        const NearBestCut& cut = sets_.cuts[at(number)];
        paid += multiplier * cut.right_side();
        for (std::size_t v = 0; v < sets_.n(); ++v) {
            if (!cut.concerns(v)) continue;
            if (place_[v] < 0) {
                paid -= multiplier * cut.coefficient(v, sets_.mask(at(chosen_[v])));
                continue;
            }
            for (Open& open : open_[at(place_[v])]) {
                open.reduced -= multiplier * cut.coefficient(v, sets_.mask(at(open.set)));
            }
        }
    }
    return paid;
}

// The bound of all cuts, which needs no recursion.
bool NearBestCase::drop_by_cuts() {
    if (part_.cuts.empty()) return true;
    double sum = reduce(part_.cuts);
    std::vector<double> least(free_.size());
    for (std::size_t i = 0; i < free_.size(); ++i) sum += least[i] = least_of({i});
    for (std::size_t i = 0; i < free_.size(); ++i) {
        for (Open& open : open_[i]) {
            open.least = std::max(open.least, sum - least[i] + open.reduced);
        }
    }
    std::size_t n_dropped = 0;
    return drop(n_dropped);
}

// The cuts that a choice without a cycle in any group may break: those with free variables in two
// groups of one component.
std::vector<PricedCut> NearBestCase::crossing(std::span<const std::size_t> group_of,
                                              std::span<const std::size_t> component_of) const {
    std::vector<PricedCut> found;
    std::vector<std::size_t> group_in;  // of each component: the group met first, plus one
    for (const PricedCut& priced : part_.cuts) {
        const NearBestCut& cut = sets_.cuts[at(priced.cut)];
        group_in.assign(free_.size(), 0);
        for (std::size_t i = 0; i < free_.size(); ++i) {
            if (!cut.concerns(at(free_[i]))) continue;
            std::size_t& first = group_in[component_of[i]];
            if (first == 0) first = group_of[i] + 1;
            if (first != group_of[i] + 1) {
                found.push_back(priced);
                break;
            }
        }
    }
    return found;
}

bool NearBestCase::drop(std::size_t& n_dropped) {
    for (auto& mine : open_) {
        n_dropped += std::erase_if(mine, [&](const Open& o) { return o.least > settings_.limit; });
        if (mine.empty()) return false;
    }
    return true;
}

// Who reaches whom, by squaring rows of bits (Warshall 1962), and back.
std::vector<std::vector<std::size_t>> NearBestCase::components() const {
    const std::size_t m = free_.size();
    std::vector<Word> reach(m * n_words_, 0);
    for (std::size_t i = 0; i < m; ++i) {
        for (const Open& open : open_[i]) {
            const auto needed = words(open);
            for (std::size_t w = 0; w < n_words_; ++w) reach[i * n_words_ + w] |= needed[w];
        }
    }
    const auto reaches = [&](std::size_t i, std::size_t j) {
        return (reach[i * n_words_ + j / kWordBits] >> (j % kWordBits) & 1u) != 0;
    };
    for (std::size_t through = 0; through < m; ++through) {
        for (std::size_t i = 0; i < m; ++i) {
            if (!reaches(i, through)) continue;
            for (std::size_t w = 0; w < n_words_; ++w) {
                reach[i * n_words_ + w] |= reach[through * n_words_ + w];
            }
        }
    }
    std::vector<std::vector<std::size_t>> found;
    std::vector<std::uint8_t> is_done(m, 0);
    for (std::size_t i = 0; i < m; ++i) {
        if (is_done[i]) continue;
        found.push_back({i});
        for (std::size_t j = i + 1; j < m; ++j) {
            if (is_done[j] || !reaches(i, j) || !reaches(j, i)) continue;
            found.back().push_back(j);
            is_done[j] = 1;
        }
    }
    return found;
}

// Variables that many sets have in common go together.
std::vector<std::vector<std::size_t>> NearBestCase::groups(
    const std::vector<std::size_t>& component) const {
    const std::size_t m = free_.size();
    std::vector<double> links(m * m, 0.0);
    for (const std::size_t i : component) {
        for (const Open& open : open_[i]) {
            const auto needed = words(open);
            for (const std::size_t j : component) {
                if (needed[j / kWordBits] >> (j % kWordBits) & 1u) {
                    links[i * m + j] += 1.0;
                    links[j * m + i] += 1.0;
                }
            }
        }
    }
    const auto whole = static_cast<std::size_t>(std::max(1, settings_.max_component));
    const std::size_t most = std::min(kGroupSize, whole);
    std::vector<std::size_t> left = component;
    std::vector<std::vector<std::size_t>> found;
    while (!left.empty()) {
        std::vector<std::size_t> group{left.front()};
        left.erase(left.begin());
        std::vector<double> pull(m, 0.0);
        while (group.size() < most && !left.empty()) {
            for (const std::size_t j : left) pull[j] += links[group.back() * m + j];
            const auto next =
                std::max_element(left.begin(), left.end(),
                                 [&](std::size_t a, std::size_t b) { return pull[a] < pull[b]; });
            group.push_back(*next);
            left.erase(next);
        }
        std::sort(group.begin(), group.end());
        found.push_back(std::move(group));
    }
    return found;
}

double NearBestCase::least_of(const std::vector<std::size_t>& group) const {
    double sum = 0.0;
    for (const std::size_t i : group) {
        double least = kInfinity;
        for (const Open& open : open_[i]) least = std::min(least, open.reduced);
        sum += least;
    }
    return sum;
}

// The least reduced cost of the group alone; `most` of its sets is what they cost with the others
// of the group. No more than `room` above the cheapest sets may be spent on it.
double NearBestCase::solve_group(const std::vector<std::size_t>& group, double room, double& error,
                                 const Execution& execution) {
    const double unit = std::max(room / kUnits, std::numeric_limits<double>::min());
    std::vector<std::vector<MarginalSet>> sets(group.size());
    for (std::size_t a = 0; a < group.size(); ++a) {
        const double cheapest = least_of({group[a]});
        for (const Open& open : open_[group[a]]) {
            const auto needed = words(open);
            std::uint32_t members = 0;
            for (std::size_t b = 0; b < group.size(); ++b) {
                members |= std::uint32_t{has_bit(needed.data(), group[b])} << b;
            }
            const double units =
                std::min(std::floor((open.reduced - cheapest) / unit), double{kMarginalLimit});
            sets[a].push_back({members, static_cast<std::uint32_t>(units)});
        }
    }
    const auto found = subset_marginals(sets, execution);
    const double cheapest = least_of(group);
    std::uint32_t least = kMarginalLimit;
    for (std::size_t a = 0; a < group.size(); ++a) {
        for (std::size_t k = 0; k < found[a].size(); ++k) {
            const std::uint32_t value = found[a][k];
            open_[group[a]][k].most = value < kMarginalLimit ? cheapest + value * unit : kInfinity;
            least = std::min(least, value);
        }
    }
    error += static_cast<double>(group.size()) * unit;
    return least < kMarginalLimit ? cheapest + least * unit : kInfinity;
}

// False when nothing within the limit is left.
bool NearBestCase::solve_once(bool& is_exact, std::size_t& n_dropped, const Execution& execution) {
    std::vector<std::vector<std::size_t>> parts;
    std::vector<std::size_t> group_of(free_.size()), component_of(free_.size());
    const auto most = static_cast<std::size_t>(std::max(1, settings_.max_component));
    std::size_t n_components = 0;
    is_exact = true;
    for (auto& component : components()) {
        for (const std::size_t i : component) {
            component_size_[i] = component.size();
            component_of[i] = n_components;
        }
        ++n_components;
        if (component.size() <= most) {
            parts.push_back(std::move(component));
        } else {
            is_exact = false;
            for (auto& group : groups(component)) parts.push_back(std::move(group));
        }
    }
    for (std::size_t p = 0; p < parts.size(); ++p) {
        for (const std::size_t i : parts[p]) group_of[i] = p;
    }
    const double paid = reduce(crossing(group_of, component_of));
    double total = paid, error = 0.0;
    std::vector<double> of_part;
    for (const auto& part : parts) total += of_part.emplace_back(least_of(part));
    for (std::size_t p = 0; p < parts.size(); ++p) {
        const double room = settings_.limit - total;
        if (room < 0.0) return false;
        if (parts[p].size() == 1) {
            for (Open& open : open_[parts[p][0]]) open.most = open.reduced;
            continue;
        }
        const double least = solve_group(parts[p], room, error, execution);
        total += least - of_part[p];
        of_part[p] = least;
    }
    if (!(total <= settings_.limit)) return false;
    for (std::size_t p = 0; p < parts.size(); ++p) {
        for (const std::size_t i : parts[p]) {
            for (Open& open : open_[i]) {
                const double with = total - of_part[p] + open.most;
                open.least = std::max(open.least, with);
                open.most = is_exact ? with + error : kInfinity;
            }
        }
    }
    return drop(n_dropped);
}

bool NearBestCase::solve(const Execution& execution) {
    if (!list_open()) return false;
    bool is_exact = false;
    std::size_t n_dropped = 0;
    do {
        n_dropped = 0;
        if (!solve_once(is_exact, n_dropped, execution)) return false;
    } while (!is_exact && n_dropped > 0);
    options_.resize(free_.size());
    for (std::size_t i = 0; i < free_.size(); ++i) {
        for (const Open& open : open_[i]) options_[i].push_back({open.set, open.least, open.most});
    }
    return true;
}

void NearBestSets::make_masks() {
    n_words = (n() + kCutWordBits - 1) / kCutWordBits;
    masks.assign(costs.size() * n_words, 0);
    for (std::size_t k = 0; k < costs.size(); ++k) {
        for (const std::int32_t p : parents(k)) set_bit(masks.data() + k * n_words, at(p));
    }
}

}  // namespace bestdag
