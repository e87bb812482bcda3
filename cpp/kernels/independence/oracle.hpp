// Independence as a directed acyclic graph implies it: d-separation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "independence/test.hpp"

namespace bestdag {

class Oracle : public IndependenceTest {
public:
    // arcs[2 i] -> arcs[2 i + 1], between nodes below n_nodes; no directed cycle.
    Oracle(std::size_t n_nodes, std::span<const std::int32_t> arcs);

    std::size_t n_variables() const override { return n_nodes_; }
    std::unique_ptr<Answerer> answerer() const override;
    double expected_nanoseconds() const override;

    std::span<const std::int32_t> parents(std::int32_t node) const { return row(parents_, node); }
    std::span<const std::int32_t> children(std::int32_t node) const { return row(children_, node); }

private:
    struct Lists {
        std::vector<std::size_t> starts;
        std::vector<std::int32_t> members;
    };
    static Lists lists(std::size_t n_nodes, std::span<const std::int32_t> arcs, bool of_parents);
    static std::span<const std::int32_t> row(const Lists& lists, std::int32_t node) {
        const auto i = static_cast<std::size_t>(node);
        return {lists.members.data() + lists.starts[i], lists.starts[i + 1] - lists.starts[i]};
    }

    std::size_t n_nodes_;
    Lists parents_, children_;
};

}  // namespace bestdag
