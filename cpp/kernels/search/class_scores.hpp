// Local scores for moves between classes: which are wanted, and those that are known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "search/class_graph.hpp"
#include "search/class_members.hpp"

namespace bestdag {

// Families, each with the candidates whose change is to be scored as ChangeScorers does.
struct WantedScores {
    std::vector<std::int32_t> children;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> parents;
    std::vector<std::int64_t> candidate_offsets{0};
    std::vector<std::int32_t> candidates;
};

class ClassScores {
public:
    struct Gain {
        double gain;
        std::int32_t node;
    };
    using Gains = std::vector<Gain>;
    struct Change {
        double without, with;  // a parent
    };

    // Much is `most_bytes`, about.
    ClassScores(std::size_t n_nodes, std::size_t most_bytes)
        : gains_(n_nodes), changes_(n_nodes), most_bytes_(most_bytes) {}

    // Ask for the gains of all further parents of a family that the child may be joined to, or for
    // the scores of a family with one parent more and without it; nothing happens where they are
    // known.
    void want_gains(std::int32_t child, const Nodes& parents, const ClassRules& rules);
    void want_change(std::int32_t child, const Nodes& parents, std::int32_t added);

    const WantedScores& wanted() const noexcept { return wanted_; }
    // Answers all that is wanted, in its order.
    void set(std::span<const double> scores);

    // What has been asked for and answered: the further parents that raise the score, ascending.
    const Gains& gains(std::int32_t child, const Nodes& parents) const;
    Change change(std::int32_t child, const Nodes& parents, std::int32_t added) const;

    // Forget all when it is much; nothing may be wanted.
    void forget_much();

private:
    struct Hash {
        std::size_t operator()(const Nodes& nodes) const noexcept;
    };
    struct ChangeHash {
        std::size_t operator()(const std::pair<std::int32_t, Nodes>& key) const noexcept {
            return Hash{}(key.second) * 31 + static_cast<std::size_t>(key.first);
        }
    };
    using ChangeMap = std::unordered_map<std::pair<std::int32_t, Nodes>, Change, ChangeHash>;

    void want(std::int32_t child, const Nodes& parents);

    std::vector<std::unordered_map<Nodes, Gains, Hash>> gains_;  // by child
    std::vector<ChangeMap> changes_;                             // by child
    std::size_t n_bytes_ = 0, most_bytes_;
    WantedScores wanted_;
    // Where the answers go: one of the two for each family.
    std::vector<std::pair<Gains*, Change*>> places_;
};

}  // namespace bestdag
