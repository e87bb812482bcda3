#include "exact/cut_pool.hpp"

#include <algorithm>

namespace bestdag {

void CutPool::add_entry(std::size_t child, std::span<const Cluster> terms, int equation,
                        bool halved) {
    Entry entry{n_cuts_, terms_.size(), 0, equation, halved, kNone};
    std::vector<std::uint8_t> inside(sets_.n_variables());
    for (const Cluster& term : terms) {
        if (!std::binary_search(term.members.begin(), term.members.end(),
                                static_cast<std::int32_t>(child))) {
            continue;
        }
        std::fill(inside.begin(), inside.end(), std::uint8_t{0});
        for (const std::int32_t u : term.members) inside[static_cast<std::size_t>(u)] = 1;
        terms_.push_back({masks_.size(), term.k});
        masks_.resize(masks_.size() + sets_.words(child));
        sets_.localise(child, inside, masks_.data() + terms_.back().mask);
        ++entry.n_terms;
    }
    if (entry.n_terms > 0) by_child_[child].push_back(entry);
}

std::size_t CutPool::add(const Cluster& cluster) {
    for (const std::int32_t v : cluster.members) {
        add_entry(static_cast<std::size_t>(v), {&cluster, 1}, 0, false);
    }
    return n_cuts_++;
}

std::size_t CutPool::add_halved(std::span<const Cluster> terms,
                                std::span<const std::int32_t> equations) {
    std::vector<int> minus(sets_.n_variables(), 0);
    for (const std::int32_t v : equations) minus[static_cast<std::size_t>(v)] = 1;
    for (std::size_t v = 0; v < minus.size(); ++v) add_entry(v, terms, minus[v], true);
    return n_cuts_++;
}

std::size_t CutPool::add(const OrderCut& cut) {
    std::vector<std::int32_t> position(sets_.n_variables(), -1);
    for (std::size_t i = 0; i < cut.members.size(); ++i) {
        position[static_cast<std::size_t>(cut.members[i])] = static_cast<std::int32_t>(i);
    }
    for (std::size_t i = 0; i < cut.members.size(); ++i) {
        const auto child = static_cast<std::size_t>(cut.members[i]);
        const std::span<const std::int32_t> gains = cut.gains_of(i);
        const std::int32_t largest = cut.largest_of(i);
        if (largest == 0) continue;
        by_child_[child].push_back({n_cuts_, 0, 0, 0, false, listed_.size()});
        for (std::size_t f = sets_.first(child); f < sets_.last(child); ++f) {
            std::size_t inside = 0;
            for (const std::int32_t u : sets_.members(f)) {
                const std::int32_t at = position[static_cast<std::size_t>(u)];
                if (at >= 0) inside |= std::size_t{1} << at;
            }
            listed_.push_back(static_cast<std::int8_t>(largest - gains[inside]));
        }
    }
    return n_cuts_++;
}

int CutPool::coefficient(const Entry& entry, std::size_t set) const noexcept {
    if (entry.listed != kNone) {
        return listed_[entry.listed + set - sets_.first(sets_.child_of(set))];
    }
    const std::size_t words = sets_.words(sets_.child_of(set));
    int sum = -entry.equation;
    for (std::size_t t = entry.first_term; t < entry.first_term + entry.n_terms; ++t) {
        sum += n_common(sets_.mask(set), masks_.data() + terms_[t].mask, words) < terms_[t].k;
    }
    // A child with e_v = 1 in no term would have ceil(-1/2) = 0: it needs no entry.
    return entry.halved ? (sum + 1) >> 1 : sum;
}

void CutPool::coefficients(std::span<const std::int64_t> cuts, std::span<const std::int64_t> sets,
                           std::span<std::int8_t> out) const {
    std::fill(out.begin(), out.end(), std::int8_t{0});
    std::vector<std::int64_t> row(n_cuts_, -1);
    for (std::size_t i = 0; i < cuts.size(); ++i) {
        row[static_cast<std::size_t>(cuts[i])] = static_cast<std::int64_t>(i);
    }
    for (std::size_t j = 0; j < sets.size(); ++j) {
        const auto set = static_cast<std::size_t>(sets[j]);
        for (const Entry& entry : by_child_[sets_.child_of(set)]) {
            if (row[entry.cut] < 0) continue;
            out[static_cast<std::size_t>(row[entry.cut]) * sets.size() + j] =
                static_cast<std::int8_t>(coefficient(entry, set));
        }
    }
}

void CutPool::reduce(std::span<const std::int64_t> costs, std::span<const std::int64_t> multipliers,
                     std::span<const bool> allowed, std::span<std::int64_t> reduced) const {
    std::fill(reduced.begin(), reduced.end(), kNotAllowed);
    std::vector<std::size_t> sets;
    std::vector<Word> masks;  // word after word, so that loops over sets are contiguous
    std::vector<std::int64_t> values;
    std::vector<std::int32_t> counts, common;
    for (std::size_t v = 0; v < sets_.n_variables(); ++v) {
        sets.clear();
        for (std::size_t f = sets_.first(v); f < sets_.last(v); ++f) {
            if (allowed[f]) sets.push_back(f);
        }
        const std::size_t n = sets.size(), words = sets_.words(v);
        masks.resize(n * words);
        values.resize(n);
        for (std::size_t j = 0; j < n; ++j) {
            values[j] = costs[sets[j]];
            for (std::size_t w = 0; w < words; ++w) masks[w * n + j] = sets_.mask(sets[j])[w];
        }
        for (const Entry& entry : by_child_[v]) {
            const std::int64_t multiplier = multipliers[entry.cut];
            if (multiplier == 0) continue;
            if (entry.listed != kNone) {
                const std::int8_t* listed = listed_.data() + entry.listed;
                const std::size_t first = sets_.first(v);
                for (std::size_t j = 0; j < n; ++j) {
                    values[j] -= multiplier * listed[sets[j] - first];
                }
                continue;
            }
            counts.assign(n, -entry.equation);
            for (std::size_t t = entry.first_term; t < entry.first_term + entry.n_terms; ++t) {
                common.assign(n, 0);
                for (std::size_t w = 0; w < words; ++w) {
                    const Word inside = masks_[terms_[t].mask + w];
                    if (inside == 0) continue;
                    const Word* mask = masks.data() + w * n;
                    if (terms_[t].k == 1) {  // whether there is any is enough
                        for (std::size_t j = 0; j < n; ++j) common[j] |= (mask[j] & inside) != 0;
                    } else {
                        for (std::size_t j = 0; j < n; ++j) {
                            common[j] += std::popcount(mask[j] & inside);
                        }
                    }
                }
                for (std::size_t j = 0; j < n; ++j) counts[j] += common[j] < terms_[t].k;
            }
            if (entry.halved) {
                for (std::int32_t& count : counts) count = (count + 1) >> 1;
            }
            for (std::size_t j = 0; j < n; ++j) values[j] -= multiplier * counts[j];
        }
        for (std::size_t j = 0; j < n; ++j) reduced[sets[j]] = values[j];
    }
}

}  // namespace bestdag
