#include "exact/order_cuts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <set>

namespace bestdag {
namespace {

constexpr double kNoise = 1e-9;
constexpr double kOneWay = 0.01;       // worth of arcs in one direction beside arcs in both
constexpr std::size_t kMostRows = 72;  // of a small program
constexpr int kMostSteps = 600;        // of the simplex method in one

// Over subsets of the members: best[U] is the most that those in U gain when they come first.
template <class T>
class OrderProgram {
public:
    explicit OrderProgram(std::size_t k)
        : k_(k), inside_(k << k), best_(std::size_t{1} << k), rest_(std::size_t{1} << k) {}

    // Gains that never fall as the set grows: the most a member gains from a subset of U.
    void close(std::span<const T> gains) {
        std::copy(gains.begin(), gains.end(), inside_.begin());
        const std::size_t size = std::size_t{1} << k_;
        for (std::size_t v = 0; v < k_; ++v) {
            T* row = inside_.data() + (v << k_);
            for (std::size_t b = 0; b < k_; ++b) {
                const std::size_t step = std::size_t{1} << b;
                for (std::size_t block = 0; block < size; block += 2 * step) {
                    for (std::size_t s = block; s < block + step; ++s) {
                        row[s + step] = std::max(row[s + step], row[s]);
                    }
                }
            }
        }
    }
    T gain(std::size_t v, std::size_t before) const noexcept { return inside_[v << k_ | before]; }

    T forward() {
        best_[0] = T{};
        for (std::size_t u = 1; u < best_.size(); ++u) {
            T most{};
            for (std::size_t left = u; left != 0; left &= left - 1) {
                const auto v = static_cast<std::size_t>(std::countr_zero(left));
                const std::size_t before = u ^ (std::size_t{1} << v);
                most = std::max(most, best_[before] + gain(v, before));
            }
            best_[u] = most;
        }
        return best_.back();
    }
    // rest[U]: the most that the others gain when those in U come before them.
    void backward() {
        const std::size_t all = best_.size() - 1;
        rest_[all] = T{};
        for (std::size_t u = all; u-- > 0;) {
            T most{};
            for (std::size_t left = all ^ u; left != 0; left &= left - 1) {
                const auto v = static_cast<std::size_t>(std::countr_zero(left));
                most = std::max(most, gain(v, u) + rest_[u | std::size_t{1} << v]);
            }
            rest_[u] = most;
        }
    }
    T best(std::size_t u) const noexcept { return best_[u]; }
    T rest(std::size_t u) const noexcept { return rest_[u]; }
    // Who comes last among U, in an order that gains best(U).
    std::size_t last_of(std::size_t u) const noexcept {
        std::size_t last = 0;
        T most = -T{1};
        for (std::size_t left = u; left != 0; left &= left - 1) {
            const auto v = static_cast<std::size_t>(std::countr_zero(left));
            const std::size_t before = u ^ (std::size_t{1} << v);
            const T value = best_[before] + gain(v, before);
            if (value > most) {
                most = value;
                last = v;
            }
        }
        return last;
    }

private:
    std::size_t k_;
    std::vector<T> inside_, best_, rest_;
};

// The support seen from some variables: one row for each member and set of parents among them.
struct View {
    struct Row {
        std::size_t member;
        std::size_t inside;  // bits of members
        double x;
    };
    std::vector<std::int32_t> members;
    std::vector<Row> rows;
};

// min sum_y l_y over acyclic choices y of some of the rows, each covered at least x_r times: above
// 1 the support is no mean of acyclic choices, and the duals are the gains of a violated cut whose
// `most` is 1 (with a vertex of the duals for a facet). Columns come from the order program.
class Covering {
public:
    Covering(const View& view, OrderProgram<double>& program)
        : view_(view),
          program_(program),
          n_(view.rows.size()),
          inverse_(n_ * n_, 0.0),
          value_(n_),
          cost_(n_, 1.0),
          duals_(n_),
          gains_(view.members.size() << view.members.size()) {
        for (std::size_t r = 0; r < n_; ++r) {
            inverse_[r * n_ + r] = 1.0;
            value_[r] = view.rows[r].x;
        }
    }

    // Whether the sum stays above 1 + least; then `duals` are optimal.
    bool solve(double least) {
        std::vector<double> column(n_), direction(n_);
        for (int step = 0; step < kMostSteps; ++step) {
            double objective = 0.0;
            for (std::size_t r = 0; r < n_; ++r) objective += cost_[r] * value_[r];
            if (objective <= 1.0 + least) return false;
            std::fill(duals_.begin(), duals_.end(), 0.0);
            for (std::size_t i = 0; i < n_; ++i) {
                if (cost_[i] == 0.0) continue;
                for (std::size_t r = 0; r < n_; ++r) duals_[r] += inverse_[i * n_ + r];
            }
            const double cost = enter(column);
            if (cost < 0.0) return true;
            for (std::size_t i = 0; i < n_; ++i) {
                double sum = 0.0;
                for (std::size_t r = 0; r < n_; ++r) sum += inverse_[i * n_ + r] * column[r];
                direction[i] = sum;
            }
            if (!pivot(direction, cost)) return false;
        }
        return false;
    }
    const std::vector<double>& duals() const noexcept { return duals_; }

private:
    // Writes the column that enters; its cost, or -1 when none improves.
    double enter(std::vector<double>& column) {
        std::fill(column.begin(), column.end(), 0.0);
        std::size_t least = 0;
        for (std::size_t r = 1; r < n_; ++r) {
            if (duals_[r] < duals_[least]) least = r;
        }
        if (duals_[least] < -kNoise) {  // covered more than needed
            column[least] = -1.0;
            return 0.0;
        }
        const std::size_t k = view_.members.size();
        std::fill(gains_.begin(), gains_.end(), 0.0);
        for (std::size_t r = 0; r < n_; ++r) {
            const auto& row = view_.rows[r];
            gains_[row.member << k | row.inside] = std::max(duals_[r], 0.0);
        }
        program_.close(gains_);
        if (program_.forward() <= 1.0 + 1e-7) return -1.0;
        for (std::size_t u = (std::size_t{1} << k) - 1; u != 0;) {
            const std::size_t v = program_.last_of(u);
            u ^= std::size_t{1} << v;
            const double gain = program_.gain(v, u);
            if (gain <= kNoise) continue;
            for (std::size_t r = 0; r < n_; ++r) {
                const auto& row = view_.rows[r];
                if (row.member == v && (row.inside & ~u) == 0 && duals_[r] == gain) {
                    column[r] = 1.0;
                    break;
                }
            }
        }
        return 1.0;
    }
    bool pivot(const std::vector<double>& direction, double cost) {
        std::size_t leaving = n_;
        double least = 1e300;
        for (std::size_t i = 0; i < n_; ++i) {
            if (direction[i] <= 1e-7) continue;
            const double ratio = value_[i] / direction[i];
            if (ratio < least - 1e-12 ||
                (ratio < least + 1e-12 && direction[i] > direction[leaving])) {
                least = ratio;
                leaving = i;
            }
        }
        if (leaving == n_) return false;  // rounding: the sum cannot fall for ever
        const double scale = 1.0 / direction[leaving];
        double* row = inverse_.data() + leaving * n_;
        for (std::size_t r = 0; r < n_; ++r) row[r] *= scale;
        value_[leaving] = least;
        for (std::size_t i = 0; i < n_; ++i) {
            if (i == leaving || direction[i] == 0.0) continue;
            double* other = inverse_.data() + i * n_;
            for (std::size_t r = 0; r < n_; ++r) other[r] -= direction[i] * row[r];
            value_[i] = std::max(0.0, value_[i] - direction[i] * least);
        }
        cost_[leaving] = cost;
        return true;
    }

    const View& view_;
    OrderProgram<double>& program_;
    std::size_t n_;
    std::vector<double> inverse_, value_, cost_, duals_, gains_;
};

// The rows of some variables; too many are none.
View view_of(const ChoiceSets& sets, const std::vector<std::vector<std::size_t>>& of_child,
             std::span<const std::int64_t> support, std::span<const double> x,
             std::vector<std::int32_t> members) {
    View view{std::move(members), {}};
    std::vector<std::int32_t> position(sets.n_variables(), -1);
    for (std::size_t i = 0; i < view.members.size(); ++i) {
        position[static_cast<std::size_t>(view.members[i])] = static_cast<std::int32_t>(i);
    }
    for (std::size_t i = 0; i < view.members.size(); ++i) {
        const std::size_t first = view.rows.size();
        for (const std::size_t j : of_child[static_cast<std::size_t>(view.members[i])]) {
            std::size_t inside = 0;
            for (const std::int32_t u : sets.members(static_cast<std::size_t>(support[j]))) {
                const std::int32_t at = position[static_cast<std::size_t>(u)];
                if (at >= 0) inside |= std::size_t{1} << at;
            }
            if (inside == 0) continue;
            auto same = std::find_if(view.rows.begin() + static_cast<std::ptrdiff_t>(first),
                                     view.rows.end(),
                                     [&](const View::Row& row) { return row.inside == inside; });
            if (same == view.rows.end()) {
                view.rows.push_back({i, inside, x[j]});
            } else {
                same->x += x[j];
            }
        }
    }
    return view;
}

// Whole gains in the proportions of the duals, or none.
std::vector<std::int32_t> whole_gains(const View& view, const std::vector<double>& duals) {
    const std::size_t k = view.members.size();
    for (std::int32_t scale = 1; scale <= kMostOrderCutGain; ++scale) {
        const bool fits = std::all_of(duals.begin(), duals.end(), [&](double dual) {
            const double scaled = dual * scale;
            return std::abs(scaled - std::round(scaled)) < 1e-4 && scaled < kMostOrderCutGain + 0.5;
        });
        if (!fits) continue;
        std::vector<std::int32_t> gains(k << k, 0);
        for (std::size_t r = 0; r < view.rows.size(); ++r) {
            const auto& row = view.rows[r];
            gains[row.member << k | row.inside] =
                static_cast<std::int32_t>(std::lround(duals[r] * scale));
        }
        return gains;
    }
    return {};
}

// Raise the gains of one member after the other as far as `most` allows: for member v and parents S
// to the most less what the others gain at most in an order with v after S.
void lift(OrderCut& cut, OrderProgram<std::int32_t>& program) {
    const std::size_t k = cut.members.size();
    const std::size_t all = (std::size_t{1} << k) - 1;
    program.close(cut.gains);
    cut.most = program.forward();
    std::vector<std::int32_t> others(all + 1);
    for (std::size_t v = 0; v < k; ++v) {
        program.backward();
        const std::size_t own = std::size_t{1} << v;
        for (std::size_t u = 0; u <= all; ++u) {
            if ((u & own) == 0) others[u] = program.best(u) + program.rest(u | own);
        }
        for (std::size_t b = 0; b < k; ++b) {  // the most over supersets
            const std::size_t step = std::size_t{1} << b;
            if (step == own) continue;
            for (std::size_t u = 0; u <= all; ++u) {
                if ((u & own) == 0 && (u & step) == 0) {
                    others[u] = std::max(others[u], others[u | step]);
                }
            }
        }
        for (std::size_t w = 0; w < k; ++w) {
            for (std::size_t u = 0; u <= all; ++u) {
                const bool has_itself = (u >> w & 1) != 0;
                cut.gains[w << k | u] = has_itself ? 0 : program.gain(w, u);
            }
        }
        for (std::size_t u = 0; u <= all; ++u) {
            if ((u & own) == 0) cut.gains[v << k | u] = cut.most - others[u];
        }
        // A gain without parents is a constant.
        const std::int32_t without = cut.gains[v << k];
        for (std::size_t u = 0; u <= all; ++u) {
            if ((u & own) == 0) cut.gains[v << k | u] -= without;
        }
        cut.most -= without;
        program.close(cut.gains);
        program.forward();
    }
}

class Separation {
public:
    Separation(const ChoiceSets& sets, std::span<const std::int64_t> support,
               std::span<const double> x, double min_violation)
        : sets_(sets),
          support_(support),
          x_(x),
          min_violation_(min_violation),
          n_(sets.n_variables()),
          of_child_(n_),
          weight_(n_ * n_, 0.0) {
        for (std::size_t j = 0; j < support.size(); ++j) {
            const auto f = static_cast<std::size_t>(support[j]);
            const std::size_t child = sets.child_of(f);
            of_child_[child].push_back(j);
            for (const std::int32_t u : sets.members(f)) {
                weight_[static_cast<std::size_t>(u) * n_ + child] += x[j];
            }
        }
    }

    // Variables with arcs to and from each other, grown from one of them. Those without an arc from
    // another, or without one to another, are on no cycle: no cut needs them.
    std::vector<std::int32_t> around(std::size_t first, std::size_t size) const {
        std::vector<double> in(n_, 0.0), out(n_, 0.0);
        std::vector<std::uint8_t> inside(n_, 0);
        std::vector<std::int32_t> members;
        for (std::size_t w = first; w < n_ && members.size() < size;) {
            inside[w] = 1;
            members.push_back(static_cast<std::int32_t>(w));
            double best = kNoise;
            std::size_t next = n_;
            for (std::size_t u = 0; u < n_; ++u) {
                out[u] += weight_[u * n_ + w];
                in[u] += weight_[w * n_ + u];
                if (inside[u]) continue;
                const double value = std::min(in[u], out[u]) + kOneWay * (in[u] + out[u]);
                if (value > best + kNoise) {
                    best = value;
                    next = u;
                }
            }
            w = next;
        }
        while (leave_out_one(members)) {
        }
        std::sort(members.begin(), members.end());
        return members;
    }

    void look(const std::vector<std::int32_t>& members) {
        const std::size_t k = members.size();
        if (k < 2 || !looked_.insert(members).second) return;
        const View view = view_of(sets_, of_child_, support_, x_, members);
        if (view.rows.size() < 3 || view.rows.size() > kMostRows) return;
        OrderProgram<double> program(k);
        Covering covering(view, program);
        if (!covering.solve(min_violation_)) return;
        OrderCut cut{members, whole_gains(view, covering.duals()), 0};
        if (cut.gains.empty()) return;
        OrderProgram<std::int32_t> whole(k);
        lift(cut, whole);
        std::int32_t largest = 0;
        for (const std::int32_t gain : cut.gains) largest = std::max(largest, gain);
        if (largest == 0 || largest > kMostOrderCutGain) return;
        double left = 0.0;
        for (const auto& row : view.rows) {
            left += row.x * static_cast<double>(cut.gains[row.member << k | row.inside]);
        }
        const double violation = (left - cut.most) / largest;
        if (violation < min_violation_) return;
        cuts_.emplace(std::pair{members, cut.gains}, ViolatedOrderCut{cut, violation});
    }

    std::vector<ViolatedOrderCut> result(std::size_t most) {
        std::vector<ViolatedOrderCut> cuts;
        for (auto& [key, cut] : cuts_) cuts.push_back(std::move(cut));
        std::stable_sort(cuts.begin(), cuts.end(),
                         [](const auto& a, const auto& b) { return a.violation > b.violation; });
        if (cuts.size() > most) cuts.resize(most);
        return cuts;
    }

private:
    bool leave_out_one(std::vector<std::int32_t>& members) const {
        const auto is_loose = [&](std::int32_t member) {
            const auto v = static_cast<std::size_t>(member);
            bool has_in = false, has_out = false;
            for (const std::int32_t other : members) {
                const auto u = static_cast<std::size_t>(other);
                has_in = has_in || weight_[u * n_ + v] > kNoise;
                has_out = has_out || weight_[v * n_ + u] > kNoise;
            }
            return !has_in || !has_out;
        };
        const auto loose = std::find_if(members.begin(), members.end(), is_loose);
        if (loose == members.end()) return false;
        members.erase(loose);
        return true;
    }

    const ChoiceSets& sets_;
    std::span<const std::int64_t> support_;
    std::span<const double> x_;
    double min_violation_;
    std::size_t n_;
    std::vector<std::vector<std::size_t>> of_child_;
    std::vector<double> weight_;  // of the arc u -> v at u * n + v
    std::set<std::vector<std::int32_t>> looked_;
    std::map<std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>, ViolatedOrderCut>
        cuts_;
};

}  // namespace

std::int32_t most_gain(std::size_t n_members, std::span<const std::int32_t> gains) {
    OrderProgram<std::int32_t> program(n_members);
    program.close(gains);
    return program.forward();
}

std::vector<ViolatedOrderCut> separate_order_cuts(const ChoiceSets& sets,
                                                  std::span<const std::int64_t> support,
                                                  std::span<const double> x, std::size_t n_members,
                                                  double min_violation, std::size_t most,
                                                  const StopFlag& stop) {
    Separation separation(sets, support, x, min_violation);
    for (std::size_t v = 0; v < sets.n_variables(); ++v) {
        if (stop.load(std::memory_order_relaxed)) break;
        separation.look(separation.around(v, n_members));
    }
    return separation.result(most);
}

}  // namespace bestdag
