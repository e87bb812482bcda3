#include "missing/row_groups.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace bestdag {

namespace {

using Key = std::vector<std::uint32_t>;  // variables, kEnd, families

constexpr std::uint32_t kEnd = 0xffffffff;
constexpr std::size_t kBlockRows = 2048;
// Up to so many cells of one table over a whole group, a tree is not worth planning; from then on
// it must save so much.
constexpr double kSmallJoint = 48.0;
constexpr double kLargeJoint = 4096.0;
constexpr double kSaving = 3.0;

double weight_of(const Weights& weights, std::size_t row) noexcept {
    if (weights.real) return weights.real[row];
    return weights.whole ? static_cast<double>(weights.whole[row]) : 1.0;
}

// What one block of rows has.
struct Block {
    std::map<Key, std::uint32_t> kinds;
    std::vector<Key> keys;
    std::vector<std::uint32_t> kind;  // of each group found
    std::vector<std::uint32_t> row;   // of each group found
};

// Finds the groups of one row after the other.
class Finder {
public:
    Finder(const Table& rows, const FamilyTables& tables, GroupScope scope)
        : rows_(rows),
          tables_(tables),
          scope_(scope),
          is_needed_(tables.size()),
          is_active_(tables.size()),
          above_(tables.size()) {}

    void find(std::size_t row, Block& out) {
        missing_.clear();
        for (std::uint32_t v = 0; v < tables_.size(); ++v) {
            const bool is_missing =
                tables_.arities[v] > 1 && rows_.column(v)[row] == tables_.arities[v];
            is_needed_[v] = is_missing;
            is_active_[v] = 1;
            if (is_missing) missing_.push_back(v);
        }
        if (missing_.empty()) return;
        if (scope_ == GroupScope::kAncestral) leave_out_barren();
        join();
        emit(row, out);
    }

private:
    void leave_out_barren() {
        for (std::size_t i = tables_.order.size(); i-- > 0;) {
            const std::uint32_t v = tables_.order[i];
            if (!is_needed_[v]) continue;
            const auto& children = tables_.children[v];
            const bool stays = std::any_of(children.begin(), children.end(),
                                           [&](std::uint32_t c) { return is_active_[c] != 0; });
            is_needed_[v] = is_active_[v] = stays;
        }
        std::erase_if(missing_, [&](std::uint32_t v) { return !is_needed_[v]; });
    }

    std::uint32_t root(std::uint32_t v) {
        while (above_[v] != v) v = above_[v] = above_[above_[v]];
        return v;
    }

    // Join what meets in an active family; a root is the least of its group.
    void join() {
        families_.clear();
        for (const std::uint32_t v : missing_) {
            above_[v] = v;
            if (is_active_[v]) families_.push_back(v);
            for (const std::uint32_t c : tables_.children[v]) {
                if (is_active_[c]) families_.push_back(c);
            }
        }
        std::sort(families_.begin(), families_.end());
        families_.erase(std::unique(families_.begin(), families_.end()), families_.end());
        for (const std::uint32_t family : families_) {
            std::uint32_t first = kEnd;
            for (const std::uint32_t v : tables_.members[family]) {
                if (!is_needed_[v]) continue;
                if (first == kEnd) {
                    first = root(v);
                    continue;
                }
                const std::uint32_t other = root(v);
                above_[std::max(first, other)] = std::min(first, other);
                first = std::min(first, other);
            }
        }
    }

    void emit(std::size_t row, Block& out) {
        for (const std::uint32_t v : missing_) {
            if (root(v) != v) continue;
            key_.clear();
            for (const std::uint32_t w : missing_) {
                if (root(w) == v) key_.push_back(w);
            }
            key_.push_back(kEnd);
            for (const std::uint32_t family : families_) {
                const auto& members = tables_.members[family];
                const auto met = std::find_if(members.begin(), members.end(),
                                              [&](std::uint32_t w) { return is_needed_[w] != 0; });
                if (root(*met) == v) key_.push_back(family);
            }
            const auto next = static_cast<std::uint32_t>(out.keys.size());
            const auto [place, is_new] = out.kinds.try_emplace(key_, next);
            if (is_new) out.keys.push_back(key_);
            out.kind.push_back(place->second);
            out.row.push_back(static_cast<std::uint32_t>(row));
        }
    }

    const Table& rows_;
    const FamilyTables& tables_;
    const GroupScope scope_;
    std::vector<std::uint8_t> is_needed_;  // missing, and summed over
    std::vector<std::uint8_t> is_active_;  // families that are not left out
    std::vector<std::uint32_t> above_;
    std::vector<std::uint32_t> missing_;
    std::vector<std::uint32_t> families_;
    Key key_;
};

GroupKind make_kind(const Key& key, const FamilyTables& tables) {
    GroupKind kind;
    const auto end = std::find(key.begin(), key.end(), kEnd);
    kind.variables.assign(key.begin(), end);
    kind.families.assign(end + 1, key.end());
    for (const std::uint32_t v : kind.variables) kind.joint_cells *= tables.arities[v];
    kind.n_cells = kind.joint_cells;
    std::vector<std::vector<Axis>> scopes;
    for (const std::uint32_t family : kind.families) {
        std::vector<Axis>& scope = scopes.emplace_back();
        for (const std::uint32_t v : tables.members[family]) {
            const auto place = std::lower_bound(kind.variables.begin(), kind.variables.end(), v);
            if (place != kind.variables.end() && *place == v) {
                scope.push_back(static_cast<Axis>(place - kind.variables.begin()));
            } else {
                kind.known.push_back(v);
            }
        }
    }
    std::sort(kind.known.begin(), kind.known.end());
    kind.known.erase(std::unique(kind.known.begin(), kind.known.end()), kind.known.end());
    if (kind.joint_cells <= kSmallJoint) return kind;
    std::vector<std::uint32_t> lengths;
    for (const std::uint32_t v : kind.variables) lengths.push_back(tables.arities[v]);
    auto tree = std::make_unique<CliqueTree>(lengths, scopes);
    if (kind.joint_cells > kLargeJoint || kSaving * tree->total_cells() < kind.joint_cells) {
        kind.n_cells = tree->total_cells();
        kind.tree = std::move(tree);
    }
    return kind;
}

// One group of one row, before equal ones become one case.
struct Found {
    std::uint32_t row;
    std::uint32_t place;  // in the order of blocks, for case_of_row
};

}  // namespace

std::size_t RowGroups::kind_of(std::size_t number) const noexcept {
    const auto after = std::upper_bound(first_case.begin(), first_case.end(), number);
    return static_cast<std::size_t>(after - first_case.begin()) - 1;
}

RowGroups find_row_groups(const Table& rows, const FamilyTables& tables, GroupScope scope,
                          bool with_rows, const Execution& execution) {
    RowGroups out;
    const std::size_t n_rows = rows.n_rows();
    const auto n_cells = static_cast<double>(n_rows * tables.size());

    // Counts of the families that a row has complete, family by family.
    out.complete.assign(tables.n_cells(), 0.0);
    parallel_for(
        tables.size(), 3.0 * n_cells, execution, [&](std::size_t family, const StopFlag& stop) {
            double* const counts = out.complete.data() + tables.first_cells[family];
            const auto& members = tables.members[family];
            for (std::size_t row = 0; row < n_rows; ++row) {
                if ((row & 0xffff) == 0) check(stop);
                std::size_t cell = 0;
                bool is_complete = true;
                for (std::size_t m = 0; m < members.size(); ++m) {
                    const std::uint32_t arity = tables.arities[members[m]];
                    const std::uint32_t code = arity > 1 ? rows.column(members[m])[row] : 0;
                    is_complete &= code < arity;
                    cell += static_cast<std::size_t>(code) * tables.strides[family][m];
                }
                if (is_complete) counts[cell] += weight_of(rows.weights(), row);
            }
        });

    const std::size_t n_blocks = (n_rows + kBlockRows - 1) / kBlockRows;
    std::vector<Block> blocks(n_blocks);
    parallel_for(n_blocks, 20.0 * n_cells, execution, [&](std::size_t b, const StopFlag& stop) {
        Finder finder(rows, tables, scope);
        const std::size_t last = std::min(n_rows, (b + 1) * kBlockRows);
        for (std::size_t row = b * kBlockRows; row < last; ++row) {
            if ((row & 0xff) == 0) check(stop);
            finder.find(row, blocks[b]);
        }
    });

    // The kinds of all blocks in one order of their own, and the groups of each.
    std::map<Key, std::uint32_t> numbers;
    for (const Block& block : blocks) {
        for (const Key& key : block.keys) numbers.try_emplace(key, 0);
    }
    std::vector<const Key*> keys;
    for (auto& [key, number] : numbers) {
        number = static_cast<std::uint32_t>(keys.size());
        keys.push_back(&key);
    }
    const std::size_t n_kinds = keys.size();
    std::vector<std::size_t> starts(n_kinds + 1, 0);
    for (Block& block : blocks) {
        std::vector<std::uint32_t> global;
        for (const Key& key : block.keys) global.push_back(numbers.find(key)->second);
        for (std::uint32_t& kind : block.kind) {
            kind = global[kind];
            ++starts[kind + 1];
        }
        block.kinds.clear();
        block.keys.clear();
    }
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    std::vector<Found> found(starts.back());
    {
        std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
        std::uint32_t place = 0;
        for (Block& block : blocks) {
            for (std::size_t i = 0; i < block.kind.size(); ++i) {
                found[next[block.kind[i]]++] = {block.row[i], place++};
            }
            if (with_rows) {
                for (const std::uint32_t row : block.row) {
                    if (out.first_of_row.empty()) out.first_of_row.assign(n_rows + 1, 0);
                    ++out.first_of_row[row + 1];
                }
            }
            block = Block{};
        }
    }

    // Sort the groups of each kind by their known codes; equal ones become one case.
    out.kinds.resize(n_kinds);
    std::vector<std::vector<std::uint16_t>> codes(n_kinds);
    std::vector<std::vector<double>> weights(n_kinds);
    std::vector<std::uint32_t> case_in_kind(with_rows ? found.size() : 0);
    const double n_found = static_cast<double>(found.size());
    parallel_for(n_kinds, 1000.0 * n_found, execution, [&](std::size_t k, const StopFlag& stop) {
        check(stop);
        out.kinds[k] = make_kind(*keys[k], tables);
        const std::vector<std::uint32_t>& known = out.kinds[k].known;
        const std::span<Found> groups{found.data() + starts[k], starts[k + 1] - starts[k]};
        const auto code = [&](std::size_t row, std::uint32_t v) -> std::uint16_t {
            return tables.arities[v] > 1 ? static_cast<std::uint16_t>(rows.column(v)[row]) : 0;
        };
        const auto compare = [&](const Found& a, const Found& b) {
            for (const std::uint32_t v : known) {
                const std::uint16_t x = code(a.row, v), y = code(b.row, v);
                if (x != y) return x < y ? -1 : 1;
            }
            return 0;
        };
        std::sort(groups.begin(), groups.end(), [&](const Found& a, const Found& b) {
            const int order = compare(a, b);
            return order != 0 ? order < 0 : a.row < b.row;
        });
        for (std::size_t i = 0; i < groups.size(); ++i) {
            if (i == 0 || compare(groups[i - 1], groups[i]) != 0) {
                weights[k].push_back(0.0);
                for (const std::uint32_t v : known) codes[k].push_back(code(groups[i].row, v));
            }
            weights[k].back() += weight_of(rows.weights(), groups[i].row);
            if (with_rows) {
                case_in_kind[groups[i].place] = static_cast<std::uint32_t>(weights[k].size() - 1);
            }
        }
    });
    out.first_case.push_back(0);
    for (std::size_t k = 0; k < n_kinds; ++k) {
        out.first_code.push_back(out.codes.size());
        out.codes.insert(out.codes.end(), codes[k].begin(), codes[k].end());
        out.weights.insert(out.weights.end(), weights[k].begin(), weights[k].end());
        out.first_case.push_back(out.weights.size());
        codes[k] = {};
        weights[k] = {};
    }
    if (with_rows) {
        if (out.first_of_row.empty()) out.first_of_row.assign(n_rows + 1, 0);
        std::partial_sum(out.first_of_row.begin(), out.first_of_row.end(),
                         out.first_of_row.begin());
        // The places follow the rows, and so do the lists of the rows.
        out.case_of_row.resize(found.size());
        for (std::size_t k = 0; k < n_kinds; ++k) {
            for (std::size_t i = starts[k]; i < starts[k + 1]; ++i) {
                const std::uint32_t place = found[i].place;
                out.case_of_row[place] =
                    static_cast<std::uint32_t>(out.first_case[k]) + case_in_kind[place];
            }
        }
    }
    return out;
}

}  // namespace bestdag
