#include "search/class_scores.hpp"

namespace bestdag {

namespace {

constexpr std::size_t kBytesPerFamily = 150;  // of a hash table, about

}  // namespace

std::size_t ClassScores::Hash::operator()(const Nodes& nodes) const noexcept {
    std::uint64_t hash = nodes.size();
    for (const std::int32_t node : nodes) {
        hash = (hash ^ static_cast<std::uint64_t>(node)) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return static_cast<std::size_t>(hash);
}

void ClassScores::want_gains(std::int32_t child, const Nodes& parents, const ClassRules& rules) {
    const auto [at, is_new] = gains_[place(child)].try_emplace(parents);
    if (!is_new) return;
    want(child, parents);
    auto parent = parents.begin();
    for (std::int32_t v = 0; place(v) < gains_.size(); ++v) {
        if (parent != parents.end() && *parent == v) {
            ++parent;
        } else if (v != child && rules.allows_pair(v, child)) {
            wanted_.candidates.push_back(v);
        }
    }
    wanted_.candidates.push_back(child);
    wanted_.candidate_offsets.push_back(static_cast<std::int64_t>(wanted_.candidates.size()));
    places_.emplace_back(&at->second, nullptr);
}

void ClassScores::want_change(std::int32_t child, const Nodes& parents, std::int32_t added) {
    const auto [at, is_new] = changes_[place(child)].try_emplace({added, parents});
    if (!is_new) return;
    want(child, parents);
    wanted_.candidates.insert(wanted_.candidates.end(), {added, child});
    wanted_.candidate_offsets.push_back(static_cast<std::int64_t>(wanted_.candidates.size()));
    places_.emplace_back(nullptr, &at->second);
}

void ClassScores::want(std::int32_t child, const Nodes& parents) {
    wanted_.children.push_back(child);
    wanted_.parents.insert(wanted_.parents.end(), parents.begin(), parents.end());
    wanted_.offsets.push_back(static_cast<std::int64_t>(wanted_.parents.size()));
    n_bytes_ += kBytesPerFamily + parents.size() * sizeof(std::int32_t);
}

void ClassScores::set(std::span<const double> scores) {
    for (std::size_t i = 0; i < places_.size(); ++i) {
        const auto first = static_cast<std::size_t>(wanted_.candidate_offsets[i]);
        const auto last = static_cast<std::size_t>(wanted_.candidate_offsets[i + 1]) - 1;
        const auto& [gains, change] = places_[i];
        const double own = scores[last];
        if (change) {
            *change = {own, scores[first]};
            continue;
        }
        for (std::size_t k = first; k < last; ++k) {
            const double gain = scores[k] - own;
            if (gain > 0.0) gains->push_back({gain, wanted_.candidates[k]});
        }
        gains->shrink_to_fit();
        n_bytes_ += gains->size() * sizeof(Gain);
    }
    wanted_ = {};
    places_.clear();
}

const ClassScores::Gains& ClassScores::gains(std::int32_t child, const Nodes& parents) const {
    return gains_[place(child)].at(parents);
}

ClassScores::Change ClassScores::change(std::int32_t child, const Nodes& parents,
                                        std::int32_t added) const {
    return changes_[place(child)].at({added, parents});
}

void ClassScores::forget_much() {
    if (n_bytes_ < most_bytes_) return;
    for (auto& map : gains_) map.clear();
    for (auto& map : changes_) map.clear();
    n_bytes_ = 0;
}

}  // namespace bestdag
