// Which changes of a family raise its score, worked out once for each family that is met and kept
// for all threads: a parent set of a child, and every set that is one parent larger or smaller.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/parallel.hpp"
#include "scoring/changes.hpp"

namespace bestdag {

// What families may be, and what is added to their scores.
struct FamilyRules {
    // Who may be a parent: candidates[offsets[c] .. offsets[c + 1]) of child c, ascending; for each
    // of these whether it must be one, and what the arc adds to the score.
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> candidates;
    std::vector<std::uint8_t> required;
    std::vector<double> bonuses;
    std::vector<double> bases;  // added to every family of a child
    std::vector<std::int32_t> max_parents;

    std::size_t n_nodes() const noexcept { return max_parents.size(); }
};

// A parent that comes or goes, and the score then.
struct Change {
    double score;
    std::int32_t node;
};

using NodeSet = std::vector<std::int32_t>;  // ascending

// A family: its score, and the changes that raise it, best first; of equal ones the first node.
struct ChangeRow {
    double score = 0.0;
    std::vector<Change> more;   // a parent more
    std::vector<Change> fewer;  // a parent less; see RowReader::fewer
    std::atomic<bool> knows_fewer = false;
};

// Parent sets of one child that were scored elsewhere, best first.
struct ListedSets {
    std::vector<double> scores;
    std::vector<std::int64_t> offsets{0};  // members[offsets[i] .. offsets[i + 1]) of set i
    NodeSet members;

    std::size_t size() const noexcept { return scores.size(); }
    std::span<const std::int32_t> set(std::size_t i) const noexcept {
        const auto first = static_cast<std::size_t>(offsets[i]);
        return {members.data() + first, static_cast<std::size_t>(offsets[i + 1]) - first};
    }
};

class ChangeRows {
public:
    // Gains up to `tie` are noise. Requires what Climb does of the rules.
    ChangeRows(FamilyRules rules, double tie, double n_rows);

    const FamilyRules& rules() const noexcept { return rules_; }
    double tie() const noexcept { return tie_; }

    // Of all rows worked out, about: nanoseconds ever, bytes of those that are kept. They depend on
    // which families were asked for, never on which thread asked first.
    double nanoseconds() const noexcept { return static_cast<double>(nanoseconds_.load()); }
    std::size_t n_bytes() const noexcept { return n_bytes_.load(); }

    // Sets to be tried besides those that grow and shrink; no thread may read them meanwhile.
    void list(std::size_t child, ListedSets sets) { listed_[child] = std::move(sets); }

    // Forget all rows; no thread may hold one.
    void clear();

    // What a run that goes on elsewhere must know: which rows there are, so that working them out
    // again counts for nothing, and the counts so far.
    std::vector<std::uint64_t> known() const;
    void restore(std::span<const std::uint64_t> known, double nanoseconds, std::size_t n_bytes);

private:
    friend class RowReader;

    struct Hash {
        std::size_t operator()(const NodeSet& set) const noexcept;
    };
    struct Child {
        std::mutex mutex;
        std::unordered_map<NodeSet, std::unique_ptr<ChangeRow>, Hash> rows;
    };

    FamilyRules rules_;
    double tie_, n_rows_;
    bool has_bonuses_;
    std::vector<NodeSet> required_;
    std::unique_ptr<Child[]> children_;
    std::vector<ListedSets> listed_;
    static std::uint64_t key(std::size_t child, const NodeSet& parents, bool of_fewer) noexcept;
    bool is_paid(std::uint64_t key) const { return paid_.contains(key); }

    std::unordered_set<std::uint64_t> paid_;  // rows of before, by their keys
    std::atomic<std::uint64_t> nanoseconds_ = 0;
    std::atomic<std::size_t> n_bytes_ = 0;
};

// One searcher's access: rows that are missing are worked out by its worker.
class RowReader {
public:
    RowReader(ChangeRows& rows, std::unique_ptr<ChangeScorers::Worker> worker)
        : rows_(&rows), worker_(std::move(worker)) {}

    // Let its worker use so many threads.
    void share(int threads) { worker_->share(threads); }

    // The row of a family; it stays where it is until `clear`. `known`: its score, or not a number.
    // Throws Interrupted when asked to stop.
    const ChangeRow& at(std::size_t child, const NodeSet& parents, double known,
                        const StopFlag& stop);
    const NodeSet& required(std::size_t child) const { return rows_->required_[child]; }
    const ListedSets& listed(std::size_t child) const { return rows_->listed_[child]; }
    // The parents whose loss raises the score.
    const std::vector<Change>& fewer(std::size_t child, const NodeSet& parents,
                                     const ChangeRow& row, const StopFlag& stop);

private:
    double bonus(std::size_t child, const NodeSet& parents, std::int32_t changed) const;
    std::size_t place_of(std::int32_t parent, std::size_t child) const;
    double known_score(std::size_t child, const NodeSet& parents);
    static void sort(std::vector<Change>& changes);

    ChangeRows* rows_;
    std::unique_ptr<ChangeScorers::Worker> worker_;
    std::vector<std::int32_t> wanted_;
    std::vector<double> scores_;
    NodeSet smaller_;
};

}  // namespace bestdag
