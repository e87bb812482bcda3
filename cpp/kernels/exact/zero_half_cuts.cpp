#include "exact/zero_half_cuts.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace bestdag {
namespace {

constexpr double kTight = 0.4;         // clusters with more slack than this do not help
constexpr std::size_t kMostTerms = 8;  // longer sums round little
constexpr double kNoise = 1e-9;

// The support of one fractional choice, child after child.
struct Support {
    Support(const ChoiceSets& sets, std::span<const std::int64_t> numbers,
            std::span<const double> x)
        : begin(sets.n_variables() + 1, 0), set(numbers.begin(), numbers.end()), weight(x.size()) {
        for (const std::int64_t f : numbers)
            ++begin[sets.child_of(static_cast<std::size_t>(f)) + 1];
        for (std::size_t v = 0; v < sets.n_variables(); ++v) begin[v + 1] += begin[v];
        for (std::size_t v = 0; v < sets.n_variables(); ++v) {
            double total = 0.0;
            for (std::size_t j = begin[v]; j < begin[v + 1]; ++j) total += x[j];
            for (std::size_t j = begin[v]; j < begin[v + 1]; ++j) weight[j] = x[j] / total;
        }
    }
    bool is_fractional(std::size_t v) const noexcept { return begin[v + 1] - begin[v] > 1; }

    std::vector<std::size_t> begin;  // per child: its part of the other two
    std::vector<std::int64_t> set;
    std::vector<double> weight;  // of each child's sets: they sum to one
};

struct Row {  // one cluster cut on the support
    std::size_t cluster;
    double slack = 0.0;
    bool is_odd = false;                // right-hand side, less what children with one set add
    std::vector<std::size_t> children;  // the fractional ones first
    std::size_t n_fractional = 0;
    std::vector<std::uint8_t> coefficients;  // of the children's sets, one child after the other
    std::vector<Word> touches;               // fractional children
};

class Sum {  // of rows, modulo two
public:
    explicit Sum(const Support& support)
        : support_(support),
          n_(support.begin.size() - 1),
          parity_(support.set.size(), 0),
          odd_(n_, 0.0),
          wasteful_((n_ + 63) / 64, 0) {}

    void clear() {
        std::fill(parity_.begin(), parity_.end(), std::uint8_t{0});
        std::fill(odd_.begin(), odd_.end(), 0.0);
        slack_ = 0.0;
        is_odd_ = false;
    }
    // Whether a row meets a child at which the sum wastes something.
    bool meets(const Row& row) const noexcept {
        for (std::size_t w = 0; w < wasteful_.size(); ++w) {
            if (row.touches[w] & wasteful_[w]) return true;
        }
        return false;
    }
    // What the sum would waste with this row added or taken away, up to the cost of an odd
    // right-hand side, for which `toggle` is exact.
    double waste_with(const Row& row, double slack_change) const noexcept {
        double total = waste_ + slack_change;
        bool parity = has_odd_side_ != row.is_odd;
        double cheapest = cheapest_flip_;
        const std::uint8_t* coefficient = row.coefficients.data();
        for (std::size_t i = 0; i < row.n_fractional; ++i) {
            const std::size_t v = row.children[i];
            double odd = 0.0;
            for (std::size_t j = support_.begin[v]; j < support_.begin[v + 1]; ++j) {
                odd += (parity_[j] ^ *coefficient++) != 0 ? support_.weight[j] : 0.0;
            }
            total += std::min(odd, 1.0 - odd) - std::min(odd_[v], 1.0 - odd_[v]);
            parity ^= (odd > 0.5) != (odd_[v] > 0.5);
            cheapest = std::min(cheapest, std::abs(1.0 - 2.0 * odd));
        }
        return total + (parity ? 0.0 : cheapest);
    }
    void toggle(const Row& row, double slack_change) {
        const std::uint8_t* coefficient = row.coefficients.data();
        for (const std::size_t v : row.children) {
            odd_[v] = 0.0;
            for (std::size_t j = support_.begin[v]; j < support_.begin[v + 1]; ++j) {
                parity_[j] ^= *coefficient++;
                if (parity_[j]) odd_[v] += support_.weight[j];
            }
        }
        slack_ += slack_change;
        is_odd_ = is_odd_ != row.is_odd;
        waste_ = slack_;
        cheapest_flip_ = 1.0;
        flip_ = n_;
        has_odd_side_ = is_odd_;
        std::fill(wasteful_.begin(), wasteful_.end(), Word{0});
        for (std::size_t v = 0; v < n_; ++v) {
            if (!support_.is_fractional(v)) continue;
            const double waste = std::min(odd_[v], 1.0 - odd_[v]);
            waste_ += waste;
            if (waste > kNoise) wasteful_[v / 64] |= Word{1} << (v % 64);
            if (odd_[v] > 0.5) has_odd_side_ = !has_odd_side_;
            const double flip = std::abs(1.0 - 2.0 * odd_[v]);
            if (flip < cheapest_flip_) {
                cheapest_flip_ = flip;
                flip_ = v;
            }
        }
    }
    double waste() const noexcept { return waste_ + (has_odd_side_ ? 0.0 : cheapest_flip_); }
    std::vector<std::int32_t> equations() const {
        std::vector<std::int32_t> result;
        for (std::size_t v = 0; v < n_; ++v) {
            const bool flipped = !has_odd_side_ && v == flip_;
            if ((odd_[v] > 0.5) != flipped) result.push_back(static_cast<std::int32_t>(v));
        }
        return result;
    }

private:
    const Support& support_;
    std::size_t n_;
    std::vector<std::uint8_t> parity_;  // per set of the support
    std::vector<double> odd_;           // per child: weight of its sets with an odd coefficient
    std::vector<Word> wasteful_;        // children with 0 < odd < 1
    double slack_ = 0.0;
    bool is_odd_ = false;  // right-hand side after the equations of children with one set
    double waste_ = 0.0;
    double cheapest_flip_ = 1.0;
    std::size_t flip_ = 0;
    bool has_odd_side_ = false;  // ... and after the equations of the others that help
};

std::vector<Row> tight_rows(const ChoiceSets& sets, const Support& support,
                            std::span<const Cluster> clusters) {
    const std::size_t n = sets.n_variables();
    std::vector<Row> rows;
    std::vector<std::uint8_t> inside(n);
    for (std::size_t c = 0; c < clusters.size(); ++c) {
        std::fill(inside.begin(), inside.end(), std::uint8_t{0});
        for (const std::int32_t u : clusters[c].members) inside[static_cast<std::size_t>(u)] = 1;
        Row row;
        row.cluster = c;
        row.slack = -static_cast<double>(clusters[c].k);
        row.is_odd = clusters[c].k % 2 == 1;
        row.touches.assign((n + 63) / 64, 0);
        for (const bool fractional : {true, false}) {
            for (const std::int32_t member : clusters[c].members) {
                const auto v = static_cast<std::size_t>(member);
                if (support.is_fractional(v) != fractional) continue;
                row.children.push_back(v);
                if (fractional) {
                    ++row.n_fractional;
                    row.touches[v / 64] |= Word{1} << (v % 64);
                }
                for (std::size_t j = support.begin[v]; j < support.begin[v + 1]; ++j) {
                    int common = 0;
                    for (const std::int32_t u :
                         sets.members(static_cast<std::size_t>(support.set[j]))) {
                        common += inside[static_cast<std::size_t>(u)];
                    }
                    const bool counts = common < clusters[c].k;
                    row.coefficients.push_back(counts ? 1 : 0);
                    if (counts) row.slack += support.weight[j];
                    // A child with one set: an odd coefficient is made even by its equation.
                    if (counts && !fractional) row.is_odd = !row.is_odd;
                }
            }
        }
        row.slack = std::max(row.slack, 0.0);
        if (row.slack < kTight && row.n_fractional > 0) rows.push_back(std::move(row));
    }
    return rows;
}

std::size_t n_shared(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
    return static_cast<std::size_t>(std::count_if(a.begin(), a.end(), [&b](std::size_t term) {
        return std::binary_search(b.begin(), b.end(), term);
    }));
}

}  // namespace

std::vector<ViolatedHalf> separate_halves(const ChoiceSets& sets,
                                          std::span<const std::int64_t> support,
                                          std::span<const double> x,
                                          std::span<const Cluster> clusters, double min_violation,
                                          std::size_t most, const StopFlag& stop) {
    const Support chosen_sets(sets, support, x);
    const std::vector<Row> rows = tight_rows(sets, chosen_sets, clusters);
    Sum sum(chosen_sets);
    std::map<std::vector<std::size_t>, ViolatedHalf> found;
    std::vector<std::uint8_t> used(rows.size());
    for (std::size_t start = 0; start < rows.size(); ++start) {
        if (stop.load(std::memory_order_relaxed)) break;
        std::fill(used.begin(), used.end(), std::uint8_t{0});
        sum.clear();
        sum.toggle(rows[start], rows[start].slack);
        used[start] = 1;
        std::size_t n_terms = 1;
        int patience = 1;
        double best = sum.waste();
        for (std::size_t step = 0; step < 2 * kMostTerms; ++step) {
            double least = 1e9;
            std::size_t choice = rows.size();
            for (std::size_t r = 0; r < rows.size(); ++r) {
                if (r == start || (!used[r] && n_terms >= kMostTerms)) continue;
                if (!used[r] && !sum.meets(rows[r])) continue;
                const double slack = used[r] ? -rows[r].slack : rows[r].slack;
                const double waste = sum.waste_with(rows[r], slack);
                if (waste < least - kNoise) {
                    least = waste;
                    choice = r;
                }
            }
            if (choice == rows.size() || (least > best - kNoise && --patience < 0)) break;
            sum.toggle(rows[choice], used[choice] ? -rows[choice].slack : rows[choice].slack);
            n_terms = used[choice] ? n_terms - 1 : n_terms + 1;
            used[choice] = !used[choice];
            best = std::min(best, sum.waste());
            const double violation = 0.5 * (1.0 - sum.waste());
            if (violation < min_violation || n_terms < 2) continue;
            std::vector<std::size_t> terms;
            for (std::size_t r = 0; r < rows.size(); ++r) {
                if (used[r]) terms.push_back(rows[r].cluster);
            }
            found.emplace(terms, ViolatedHalf{terms, sum.equations(), violation});
        }
    }
    std::vector<ViolatedHalf> result;
    for (auto& [key, half] : found) result.push_back(std::move(half));
    std::stable_sort(result.begin(), result.end(),
                     [](const auto& a, const auto& b) { return a.violation > b.violation; });
    // Cuts that share most of their terms say nearly the same.
    std::vector<ViolatedHalf> chosen;
    for (ViolatedHalf& half : result) {
        if (chosen.size() >= most) break;
        const bool is_new = std::none_of(chosen.begin(), chosen.end(), [&](const auto& other) {
            return 2 * n_shared(half.terms, other.terms) >
                   std::min(half.terms.size(), other.terms.size());
        });
        if (is_new) chosen.push_back(std::move(half));
    }
    return chosen;
}

}  // namespace bestdag
