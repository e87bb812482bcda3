// The subsets of one size of a list, in lexicographic order of their places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bestdag {

class ListSubsets {
public:
    ListSubsets(std::span<const std::int32_t> list, std::size_t size) : list_(list), places_(size) {
        is_there_ = size <= list.size();
        for (std::size_t i = 0; i < size && is_there_; ++i) {
            places_[i] = i;
            members_.push_back(list[i]);
        }
    }

    explicit operator bool() const { return is_there_; }
    std::span<const std::int32_t> members() const { return members_; }

    void next() {
        const std::size_t size = places_.size();
        std::size_t i = size;
        while (i > 0 && places_[i - 1] == list_.size() - size + (i - 1)) --i;
        is_there_ = i > 0;
        if (!is_there_) return;
        std::size_t place = ++places_[i - 1];
        members_[i - 1] = list_[place];
        for (; i < size; ++i) {
            places_[i] = ++place;
            members_[i] = list_[place];
        }
    }

private:
    std::span<const std::int32_t> list_;
    std::vector<std::size_t> places_;
    std::vector<std::int32_t> members_;
    bool is_there_;
};

}  // namespace bestdag
