#include "exact/dual_ascent.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace bestdag {
namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

// The variables that are left when those with a cheap set outside of the rest are taken away.
class Remainder {
public:
    explicit Remainder(const ChoiceSets& sets)
        : sets_(sets),
          n_(sets.n_variables()),
          is_cheap_(sets.n_sets()),
          inside_(sets.n_sets()),
          having_(n_),
          is_left_(n_) {}

    void add_cheap(std::size_t set) {
        if (is_cheap_[set]) return;
        is_cheap_[set] = 1;
        cheap_.push_back(set);
        for (const std::int32_t u : sets_.members(set)) {
            having_[static_cast<std::size_t>(u)].push_back(set);
        }
    }

    // Start again with all variables; returns how many are left.
    std::size_t reset() {
        std::fill(is_left_.begin(), is_left_.end(), std::uint8_t{1});
        n_left_ = n_;
        log_.clear();
        std::vector<std::size_t> free;
        for (const std::size_t set : cheap_) {
            inside_[set] = sets_.members(set).size();
            if (inside_[set] == 0) free.push_back(sets_.child_of(set));
        }
        for (const std::size_t v : free) take(v);
        settle(0);
        return n_left_;
    }

    // Take a variable away with what follows, unless nothing would be left.
    bool take_unless_last(std::size_t v) {
        const std::size_t before = log_.size();
        take(v);
        settle(before);
        if (n_left_ > 0) return true;
        while (log_.size() > before) {
            const std::size_t u = log_.back();
            log_.pop_back();
            for (const std::size_t set : having_[u]) ++inside_[set];
            is_left_[u] = 1;
            ++n_left_;
        }
        return false;
    }

    bool has(std::size_t v) const noexcept { return is_left_[v] != 0; }
    std::span<const std::uint8_t> left() const noexcept { return is_left_; }

private:
    void take(std::size_t v) {
        if (!is_left_[v]) return;
        is_left_[v] = 0;
        --n_left_;
        log_.push_back(v);
    }
    // What follows from those taken since a place in the log.
    void settle(std::size_t next) {
        for (; next < log_.size(); ++next) {
            for (const std::size_t set : having_[log_[next]]) {
                if (--inside_[set] == 0) take(sets_.child_of(set));
            }
        }
    }

    const ChoiceSets& sets_;
    std::size_t n_;
    std::vector<std::uint8_t> is_cheap_;
    std::vector<std::size_t> cheap_;
    std::vector<std::size_t> inside_;                // of a cheap set: its members that are left
    std::vector<std::vector<std::size_t>> having_;  // cheap sets with a member
    std::vector<std::uint8_t> is_left_;
    std::size_t n_left_ = 0;
    std::vector<std::size_t> log_;
};

}  // namespace

AscentResult ascend(const ChoiceSets& sets, std::span<const std::int64_t> reduced,
                    std::int64_t enough, const StopFlag& stop) {
    const std::size_t n = sets.n_variables();
    std::vector<std::int64_t> costs(reduced.begin(), reduced.end());
    std::vector<std::int64_t> least(n, kNone);
    AscentResult result;
    for (std::size_t v = 0; v < n; ++v) {
        for (std::size_t f = sets.first(v); f < sets.last(v); ++f) {
            least[v] = std::min(least[v], costs[f]);
        }
        result.bound += least[v];
    }
    // Closer to the least than this counts as least: ties of scores, apart by rounding.
    const std::int64_t tie = std::max<std::int64_t>(0, enough - result.bound) >> 24;
    Remainder rest(sets);
    for (std::size_t f = 0; f < sets.n_sets(); ++f) {
        if (costs[f] - least[sets.child_of(f)] <= tie) rest.add_cheap(f);
    }
    std::map<std::vector<std::int32_t>, std::int64_t> raised;
    std::vector<Word> mask;
    std::size_t turn = 0;
    while (result.bound < enough && !stop.load(std::memory_order_relaxed) && rest.reset() > 0) {
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t v = (i + turn) % n;
            if (rest.has(v)) rest.take_unless_last(v);
        }
        ++turn;
        std::vector<std::int32_t> members;
        for (std::size_t v = 0; v < n; ++v) {
            if (rest.has(v)) members.push_back(static_cast<std::int32_t>(v));
        }
        std::int64_t gain = kNone;
        std::vector<std::size_t> outside;
        for (const std::int32_t member : members) {
            const auto v = static_cast<std::size_t>(member);
            mask.resize(sets.words(v));
            sets.localise(v, rest.left(), mask.data());
            for (std::size_t f = sets.first(v); f < sets.last(v); ++f) {
                const Word* const own = sets.mask(f);
                bool meets = false;
                for (std::size_t w = 0; w < mask.size(); ++w) meets |= (own[w] & mask[w]) != 0;
                if (meets) continue;
                outside.push_back(f);
                gain = std::min(gain, costs[f] - least[v]);
            }
        }
        if (gain == kNone) gain = enough - result.bound;  // there is no acyclic choice
        result.bound += gain;
        raised[members] += gain;
        for (const std::size_t f : outside) {
            costs[f] -= gain;
            if (costs[f] - least[sets.child_of(f)] <= tie) rest.add_cheap(f);
        }
    }
    for (auto& [members, multiplier] : raised) result.clusters.push_back({members, multiplier});
    return result;
}

}  // namespace bestdag
