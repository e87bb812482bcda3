// The labels of a column of Python objects: equal ones are one label, as in a dict.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bindings/common.hpp"
#include "data/code_column.hpp"
#include "data/label_table.hpp"

class ObjectLabels {
public:
    // The codes go to `codes`, which lives as long; more hashes than `n_hashes` are not kept of
    // labels beyond the limit.
    ObjectLabels(bestdag::CodeColumn& codes, const std::vector<nb::str>& missing_values,
                 std::size_t n_hashes);

    // Code the items of a list, or of an array of objects, with the interpreter lock held.
    void add(const nb::object& items);

    const nb::list& labels() const { return labels_; }
    const bestdag::DistinctCounter* counter() const { return counter_.get(); }

private:
    static constexpr std::size_t kRemembered = 1024;

    // An object that was seen, kept alive so that no other has its address.
    struct Known {
        nb::object object;
        std::uint32_t code = 0;
    };

    template <class ItemAt>
    void add_items(std::size_t n, ItemAt&& item_at);
    std::uint32_t code(nb::handle item);
    std::uint32_t looked_up(nb::handle item);
    std::uint32_t new_code(nb::handle item);

    bestdag::CodeColumn& codes_;
    std::size_t n_hashes_;
    nb::dict places_;
    nb::list labels_;
    std::array<std::uint32_t, 2> bools_{bestdag::kOtherCode, bestdag::kOtherCode};
    std::vector<Known> known_ = std::vector<Known>(kRemembered);
    std::unique_ptr<bestdag::DistinctCounter> counter_;
};
