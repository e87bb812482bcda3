// Sets of columns that families are, grouped so that each group shares all columns but one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "counting/family_list.hpp"
#include "counting/table.hpp"

namespace bestdag {

class SetGroups {
public:
    // Some candidates of one group.
    struct Task {
        std::size_t group, first, count;
    };

    // Where the joint counts of a family's columns are.
    struct Place {
        std::size_t family, group, candidate, first_cell, n_cells;
    };

    // `members` are the numbers of families whose cells are few.
    void build(const TableShape& table, const FamilyList& families,
               std::span<const std::size_t> members);

    std::span<const Task> tasks() const noexcept { return tasks_; }
    std::span<const Place> places() const noexcept { return places_; }
    std::size_t n_cells() const noexcept { return n_cells_; }
    std::size_t n_columns_touched() const noexcept { return n_touched_; }
    std::size_t n_sets() const noexcept { return n_sets_; }

    std::span<const std::int32_t> prefix(const Task& task) const {
        return groups_[task.group].prefix;
    }
    std::span<const std::int32_t> candidates(const Task& task) const {
        return std::span(groups_[task.group].candidates).subspan(task.first, task.count);
    }
    std::size_t first_cell(const Task& task, std::size_t i) const {
        return groups_[task.group].first_cells[task.first + i];
    }

    // The columns in the order in which the cells are, the last varying fastest.
    std::vector<std::int32_t> columns(const Place& place) const {
        std::vector<std::int32_t> all = groups_[place.group].prefix;
        all.push_back(groups_[place.group].candidates[place.candidate]);
        return all;
    }

private:
    struct Group {
        std::vector<std::int32_t> prefix;
        std::vector<std::int32_t> candidates;
        std::vector<std::size_t> first_cells;
    };

    std::vector<Group> groups_;
    std::vector<Task> tasks_;
    std::vector<Place> places_;
    std::size_t n_cells_ = 0;
    std::size_t n_touched_ = 0;
    std::size_t n_sets_ = 0;
};

}  // namespace bestdag
