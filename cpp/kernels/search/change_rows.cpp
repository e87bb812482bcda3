#include "search/change_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bestdag {

namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kBytesPerRow = 160;  // besides its lists: nodes of the table, allocations
// Nanoseconds to count one candidate, per row: with few configurations by bitmaps, else by
// histograms.
constexpr double kPerConfiguration = 0.01, kPerRow = 0.6;

}  // namespace

std::size_t ChangeRows::Hash::operator()(const NodeSet& set) const noexcept {
    std::uint64_t hash = 0x9E3779B97F4A7C15ULL;
    for (const std::int32_t node : set) {
        hash ^= static_cast<std::uint64_t>(node) + 0x9E3779B97F4A7C15ULL;
        hash *= 0xBF58476D1CE4E5B9ULL;
        hash ^= hash >> 29;
    }
    return static_cast<std::size_t>(hash);
}

ChangeRows::ChangeRows(FamilyRules rules, double tie, double n_rows)
    : rules_(std::move(rules)),
      tie_(tie),
      n_rows_(n_rows),
      has_bonuses_(
          std::any_of(rules_.bonuses.begin(), rules_.bonuses.end(),
                      [](double x) { return x != 0.0; }) ||
          std::any_of(rules_.bases.begin(), rules_.bases.end(), [](double x) { return x != 0.0; })),
      required_(rules_.n_nodes()),
      children_(std::make_unique<Child[]>(rules_.n_nodes())),
      listed_(rules_.n_nodes()) {
    for (std::size_t child = 0; child < rules_.n_nodes(); ++child) {
        for (auto k = static_cast<std::size_t>(rules_.offsets[child]);
             k < static_cast<std::size_t>(rules_.offsets[child + 1]); ++k) {
            if (rules_.required[k]) required_[child].push_back(rules_.candidates[k]);
        }
    }
}

void ChangeRows::clear() {
    for (std::size_t child = 0; child < rules_.n_nodes(); ++child) children_[child].rows.clear();
    paid_.clear();
    n_bytes_ = 0;
}

std::uint64_t ChangeRows::key(std::size_t child, const NodeSet& parents, bool of_fewer) noexcept {
    std::uint64_t hash = static_cast<std::uint64_t>(Hash{}(parents));
    hash += (2 * static_cast<std::uint64_t>(child) + of_fewer + 1) * 0x9E3779B97F4A7C15ULL;
    hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9ULL;
    return hash ^ (hash >> 31);
}

std::vector<std::uint64_t> ChangeRows::known() const {
    std::unordered_set<std::uint64_t> keys(paid_);
    for (std::size_t child = 0; child < rules_.n_nodes(); ++child) {
        for (const auto& [parents, row] : children_[child].rows) {
            keys.insert(key(child, parents, false));
            if (row->knows_fewer) keys.insert(key(child, parents, true));
        }
    }
    std::vector<std::uint64_t> sorted(keys.begin(), keys.end());
    std::sort(sorted.begin(), sorted.end());
    return sorted;
}

void ChangeRows::restore(std::span<const std::uint64_t> known, double nanoseconds,
                         std::size_t n_bytes) {
    clear();
    paid_.insert(known.begin(), known.end());
    nanoseconds_ = static_cast<std::uint64_t>(nanoseconds);
    n_bytes_ = n_bytes;
}

std::size_t RowReader::place_of(std::int32_t parent, std::size_t child) const {
    const FamilyRules& rules = rows_->rules_;
    const auto first = rules.candidates.begin() + rules.offsets[child];
    const auto last = rules.candidates.begin() + rules.offsets[child + 1];
    return static_cast<std::size_t>(std::lower_bound(first, last, parent) -
                                    rules.candidates.begin());
}

// Always summed in the same order: a family's score is the same however it was reached.
double RowReader::bonus(std::size_t child, const NodeSet& parents, std::int32_t changed) const {
    if (!rows_->has_bonuses_) return 0.0;
    double sum = rows_->rules_.bases[child];
    bool is_due = changed >= 0;
    const auto add = [&](std::int32_t p) { sum += rows_->rules_.bonuses[place_of(p, child)]; };
    for (const std::int32_t p : parents) {
        if (is_due && changed < p) {
            add(changed);
            is_due = false;
        }
        if (p != changed) add(p);
        if (p == changed) is_due = false;
    }
    if (is_due) add(changed);
    return sum;
}

void RowReader::sort(std::vector<Change>& changes) {
    std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
        return a.score != b.score ? a.score > b.score : a.node < b.node;
    });
    changes.shrink_to_fit();
}

const ChangeRow& RowReader::at(std::size_t child, const NodeSet& parents, double known,
                               const StopFlag& stop) {
    ChangeRows::Child& store = rows_->children_[child];
    {
        const std::lock_guard lock(store.mutex);
        if (const auto found = store.rows.find(parents); found != store.rows.end()) {
            return *found->second;
        }
    }
    if (stop.load(std::memory_order_relaxed)) throw Interrupted();
    const FamilyRules& rules = rows_->rules_;
    const bool is_full = parents.size() >= static_cast<std::size_t>(rules.max_parents[child]);
    wanted_.clear();
    if (!is_full) {
        const auto first = rules.candidates.begin() + rules.offsets[child];
        const auto last = rules.candidates.begin() + rules.offsets[child + 1];
        std::set_difference(first, last, parents.begin(), parents.end(),
                            std::back_inserter(wanted_));
    }
    const std::size_t n_more = wanted_.size();
    if (std::isnan(known)) wanted_.push_back(static_cast<std::int32_t>(child));
    scores_.resize(wanted_.size());
    if (!wanted_.empty()) worker_->score({child, parents}, wanted_, stop, scores_.data());

    auto row = std::make_unique<ChangeRow>();
    row->score = std::isnan(known) ? scores_[n_more] + bonus(child, parents, -1) : known;
    for (std::size_t i = 0; i < n_more; ++i) {
        const double score = scores_[i] + bonus(child, parents, wanted_[i]);
        if (score > row->score + rows_->tie_) row->more.push_back({score, wanted_[i]});
    }
    sort(row->more);

    const double n_configurations =
        std::ldexp(1.0, static_cast<int>(std::min<std::size_t>(parents.size(), 60)));
    const double nanoseconds = 1000.0 + static_cast<double>(n_more) * rows_->n_rows_ *
                                            std::min(kPerRow, kPerConfiguration * n_configurations);
    const std::size_t bytes =
        kBytesPerRow + row->more.size() * sizeof(Change) + parents.size() * sizeof(std::int32_t);
    const std::lock_guard lock(store.mutex);
    const auto [place, is_new] = store.rows.try_emplace(parents, std::move(row));
    if (is_new && !rows_->is_paid(ChangeRows::key(child, parents, false))) {
        rows_->nanoseconds_ += static_cast<std::uint64_t>(nanoseconds);
        rows_->n_bytes_ += bytes;
    }
    return *place->second;
}

double RowReader::known_score(std::size_t child, const NodeSet& parents) {
    ChangeRows::Child& store = rows_->children_[child];
    const std::lock_guard lock(store.mutex);
    const auto found = store.rows.find(parents);
    return found == store.rows.end() ? kNotKnown : found->second->score;
}

const std::vector<Change>& RowReader::fewer(std::size_t child, const NodeSet& parents,
                                            const ChangeRow& row, const StopFlag& stop) {
    if (row.knows_fewer.load(std::memory_order_acquire)) return row.fewer;
    if (stop.load(std::memory_order_relaxed)) throw Interrupted();
    const FamilyRules& rules = rows_->rules_;
    std::vector<Change> fewer;
    wanted_.clear();
    for (const std::int32_t p : parents) {
        if (rules.required[place_of(p, child)]) continue;
        smaller_.clear();
        for (const std::int32_t q : parents) {
            if (q != p) smaller_.push_back(q);
        }
        const double score = known_score(child, smaller_);
        if (std::isnan(score)) {
            wanted_.push_back(p);
        } else if (score > row.score + rows_->tie_) {
            fewer.push_back({score, p});
        }
    }
    scores_.resize(wanted_.size());
    if (!wanted_.empty()) worker_->score({child, parents}, wanted_, stop, scores_.data());
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
        const double score = scores_[i] + bonus(child, parents, wanted_[i]);
        if (score > row.score + rows_->tie_) fewer.push_back({score, wanted_[i]});
    }
    sort(fewer);
    ChangeRows::Child& store = rows_->children_[child];
    const std::lock_guard lock(store.mutex);
    if (!row.knows_fewer.load(std::memory_order_relaxed)) {
        auto& mine = const_cast<ChangeRow&>(row);  // ours: the rows are handed out to be read
        mine.fewer = std::move(fewer);
        if (!rows_->is_paid(ChangeRows::key(child, parents, true))) {
            rows_->nanoseconds_ +=
                static_cast<std::uint64_t>(static_cast<double>(parents.size()) * rows_->n_rows_);
            rows_->n_bytes_ += row.fewer.size() * sizeof(Change);
        }
        mine.knows_fewer.store(true, std::memory_order_release);
    }
    return row.fewer;
}

}  // namespace bestdag
