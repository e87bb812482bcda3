#include "kernels/halving.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace bestdag {
namespace {

constexpr double kTight = 0.4;         // clusters with more slack than this help nobody
constexpr std::size_t kMostTerms = 8;  // longer sums round little
constexpr double kNoise = 1e-9;

struct Row {  // one cluster cut on the support
    std::size_t cluster;
    double slack;
    bool is_odd;  // right-hand side
    std::vector<std::size_t> children;
    std::vector<std::vector<std::uint8_t>>
        coefficients;  // per child of `children`: its sets' 0 / 1
};

class Sum {  // of rows, modulo two
public:
    Sum(const ChoiceSets& sets, std::span<const std::int64_t> support, std::span<const double> x)
        : weights_(sets.n_variables()), parity_(sets.n_variables()), odd_(sets.n_variables(), 0.0) {
        for (std::size_t j = 0; j < support.size(); ++j) {
            weights_[sets.child_of(static_cast<std::size_t>(support[j]))].push_back(x[j]);
        }
        for (std::size_t v = 0; v < weights_.size(); ++v) {
            double total = 0.0;
            for (const double w : weights_[v]) total += w;
            for (double& w : weights_[v]) w /= total;
            parity_[v].assign(weights_[v].size(), 0);
        }
    }

    void clear() {
        for (auto& child : parity_) std::fill(child.begin(), child.end(), std::uint8_t{0});
        std::fill(odd_.begin(), odd_.end(), 0.0);
        slack_ = 0.0;
        is_odd_ = false;
    }
    // What the sum would waste with this row added or taken away.
    double waste_with(const Row& row, double slack_change) const {
        double change = slack_change;
        bool parity = is_odd_ != row.is_odd;
        double cheapest = cheapest_flip_;
        double total = waste_;
        for (std::size_t i = 0; i < row.children.size(); ++i) {
            const std::size_t v = row.children[i];
            double odd = 0.0;
            for (std::size_t j = 0; j < parity_[v].size(); ++j) {
                if ((parity_[v][j] ^ row.coefficients[i][j]) != 0) odd += weights_[v][j];
            }
            change += std::min(odd, 1.0 - odd) - std::min(odd_[v], 1.0 - odd_[v]);
            if ((odd > 0.5) != (odd_[v] > 0.5)) parity = !parity;
            cheapest = std::min(cheapest, std::abs(1.0 - 2.0 * odd));
        }
        // `cheapest` may miss that a child's flip has become dearer: `toggle` is exact.
        return total + change + (parity ? 0.0 : cheapest);
    }
    void toggle(const Row& row, double slack_change) {
        for (std::size_t i = 0; i < row.children.size(); ++i) {
            const std::size_t v = row.children[i];
            odd_[v] = 0.0;
            for (std::size_t j = 0; j < parity_[v].size(); ++j) {
                parity_[v][j] ^= row.coefficients[i][j];
                if (parity_[v][j]) odd_[v] += weights_[v][j];
            }
        }
        slack_ += slack_change;
        is_odd_ = is_odd_ != row.is_odd;
        waste_ = slack_;
        cheapest_flip_ = 1.0;
        flip_ = 0;
        has_odd_side_ = is_odd_;
        for (std::size_t v = 0; v < odd_.size(); ++v) {
            waste_ += std::min(odd_[v], 1.0 - odd_[v]);
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
        for (std::size_t v = 0; v < odd_.size(); ++v) {
            const bool flipped = !has_odd_side_ && v == flip_ && cheapest_flip_ < 1.0;
            if ((odd_[v] > 0.5) != flipped) result.push_back(static_cast<std::int32_t>(v));
        }
        return result;
    }

private:
    std::vector<std::vector<double>> weights_;
    std::vector<std::vector<std::uint8_t>> parity_;
    std::vector<double> odd_;  // per child: weight of its sets with an odd coefficient
    double slack_ = 0.0;
    bool is_odd_ = false;
    double waste_ = 0.0;
    double cheapest_flip_ = 1.0;
    std::size_t flip_ = 0;
    bool has_odd_side_ = false;  // after the equations that pay
};

std::vector<Row> tight_rows(const ChoiceSets& sets, std::span<const std::int64_t> support,
                            std::span<const double> x, std::span<const Cluster> clusters) {
    std::vector<std::vector<std::size_t>> of_child(sets.n_variables());
    for (std::size_t j = 0; j < support.size(); ++j) {
        of_child[sets.child_of(static_cast<std::size_t>(support[j]))].push_back(j);
    }
    std::vector<Row> rows;
    std::vector<std::uint8_t> inside(sets.n_variables());
    for (std::size_t c = 0; c < clusters.size(); ++c) {
        std::fill(inside.begin(), inside.end(), std::uint8_t{0});
        for (const std::int32_t u : clusters[c].members) inside[static_cast<std::size_t>(u)] = 1;
        Row row{c, -static_cast<double>(clusters[c].k), clusters[c].k % 2 == 1, {}, {}};
        for (const std::int32_t member : clusters[c].members) {
            const auto v = static_cast<std::size_t>(member);
            std::vector<std::uint8_t> coefficients;
            for (const std::size_t j : of_child[v]) {
                int common = 0;
                for (const std::int32_t u : sets.members(static_cast<std::size_t>(support[j]))) {
                    common += inside[static_cast<std::size_t>(u)];
                }
                coefficients.push_back(common < clusters[c].k ? 1 : 0);
                if (common < clusters[c].k) row.slack += x[j];
            }
            row.children.push_back(v);
            row.coefficients.push_back(std::move(coefficients));
        }
        row.slack = std::max(row.slack, 0.0);
        if (row.slack < kTight) rows.push_back(std::move(row));
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
    const std::vector<Row> rows = tight_rows(sets, support, x, clusters);
    Sum sum(sets, support, x);
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
