#include "counting/set_groups.hpp"

#include <algorithm>
#include <unordered_map>

namespace bestdag {

namespace {

constexpr std::size_t kCandidatesPerTask = 64;  // they share the partition by the prefix

using Columns = std::vector<std::int32_t>;

struct Hash {
    std::size_t operator()(const Columns& columns) const noexcept {
        std::uint64_t hash = columns.size();
        for (const std::int32_t c : columns) {
            hash = (hash ^ static_cast<std::uint64_t>(c)) * 0x9E3779B97F4A7C15u;
            hash ^= hash >> 29;
        }
        return static_cast<std::size_t>(hash);
    }
};

Columns without(const Columns& set, std::size_t position) {
    Columns rest = set;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(position));
    return rest;
}

}  // namespace

void SetGroups::build(const TableShape& table, const FamilyList& families,
                      std::span<const std::size_t> members) {
    // Every set once.
    std::unordered_map<Columns, std::size_t, Hash> numbers;
    std::vector<Columns> sets;
    std::vector<std::size_t> set_of_member;
    for (const std::size_t i : members) {
        const Family family = families[i];
        const auto child = static_cast<std::int32_t>(family.child);
        Columns set(family.parents.begin(), family.parents.end());
        set.insert(std::lower_bound(set.begin(), set.end(), child), child);
        const auto [found, is_new] = numbers.try_emplace(set, sets.size());
        if (is_new) sets.push_back(std::move(set));
        set_of_member.push_back(found->second);
    }
    n_sets_ = sets.size();
    // Each joins the group that most sets could join; of equals, that without its last column.
    std::unordered_map<Columns, std::size_t, Hash> n_with;
    for (const Columns& set : sets) {
        for (std::size_t k = 0; k < set.size(); ++k) ++n_with[without(set, k)];
    }
    std::unordered_map<Columns, std::size_t, Hash> group_of;
    std::vector<Place> place_of_set;
    for (const Columns& set : sets) {
        std::size_t best = set.size() - 1;
        std::size_t most = 0;
        for (std::size_t k = set.size(); k-- > 0;) {
            const std::size_t n = n_with[without(set, k)];
            if (n > most) {
                most = n;
                best = k;
            }
        }
        const auto [found, is_new] = group_of.try_emplace(without(set, best), groups_.size());
        if (is_new) groups_.push_back({without(set, best), {}, {}});
        Group& group = groups_[found->second];
        std::size_t n_cells = 1;
        for (const std::int32_t c : set) n_cells *= table.arities[static_cast<std::size_t>(c)];
        place_of_set.push_back({0, found->second, group.candidates.size(), n_cells_, n_cells});
        group.candidates.push_back(set[best]);
        group.first_cells.push_back(n_cells_);
        n_cells_ += n_cells;
    }
    for (std::size_t k = 0; k < members.size(); ++k) {
        places_.push_back(place_of_set[set_of_member[k]]);
        places_.back().family = members[k];
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        const std::size_t n = groups_[g].candidates.size();
        for (std::size_t first = 0; first < n; first += kCandidatesPerTask) {
            tasks_.push_back({g, first, std::min(kCandidatesPerTask, n - first)});
            n_touched_ += groups_[g].prefix.size() + tasks_.back().count;
        }
    }
}

}  // namespace bestdag
