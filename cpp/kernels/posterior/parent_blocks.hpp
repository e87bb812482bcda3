// Steps from DAG to DAG that draw the parents of a few variables anew, all at once and given the
// parents of all others (Goudie and Mukherjee 2016): no step is rejected, and what can only change
// together does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "independence/random_tables.hpp"
#include "posterior/parent_weights.hpp"

namespace bestdag {

class ParentBlocks {
public:
    // Needs the sets of each variable by descending weight; weights outlive this.
    explicit ParentBlocks(const ParentWeights& weights);

    // One step; `parents` are n n_words words, the parents of each variable, changed in place. Each
    // DAG comes up by its weight in the long run. Returns whether anything changed.
    bool step(std::vector<std::uint64_t>& parents, RandomStream& random);

private:
    static constexpr std::size_t kMost = 3;               // variables at once
    static constexpr std::size_t kClasses = 1U << kMost;  // of those that a parent set depends on
    using Block = std::array<std::size_t, kMost>;
    using Pattern = std::array<std::size_t, kMost>;  // the class of the parent set of each

    void list_companions();
    void list_patterns();
    Block draw_block(RandomStream& random) const;
    void find_below(const std::vector<std::uint64_t>& parents, const Block& block);
    std::size_t class_of(std::size_t i, std::size_t own) const noexcept;
    std::array<double, kClasses> class_sums(std::size_t v, std::size_t own) const noexcept;
    std::size_t draw_of_class(std::size_t v, std::size_t own, std::size_t wanted, double log_sum,
                              double choice) const noexcept;

    const ParentWeights& weights_;
    std::size_t size_;  // of a block
    std::vector<std::vector<std::size_t>> companions_;
    std::vector<Pattern> patterns_;                        // without cycles
    std::array<std::vector<std::uint64_t>, kMost> below_;  // each of the block, its descendants
    std::vector<std::uint64_t> next_;
};

}  // namespace bestdag
