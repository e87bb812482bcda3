#include "posterior/ancestor_sums.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include "posterior/inside_sums.hpp"

namespace bestdag {

namespace {

constexpr double kNanosecondsPerTerm = 25.0;

std::uint64_t bit(std::size_t place) { return std::uint64_t{1} << place; }

std::vector<double> prefix_sums(const InsideSums& inside) {  // L
    std::vector<double> sums(inside.n_sets(), 0.0);
    std::array<double, kMaxAncestorVariables> terms;
    for (std::uint64_t set = 1; set < inside.n_sets(); ++set) {
        std::size_t n_terms = 0;
        for (std::uint64_t left = set; left != 0; left &= left - 1) {
            const auto v = static_cast<std::size_t>(std::countr_zero(left));
            terms[n_terms++] = inside.row(set & ~bit(v))[v] + sums[set & ~bit(v)];
        }
        sums[set] = log_sum({terms.data(), n_terms});
    }
    return sums;
}

// All pairs (S, T) for one source, in the order of their numbers.
class FromSource {
public:
    FromSource(const InsideSums& inside, const std::vector<double>& prefixes, std::size_t source)
        : inside_(inside), prefixes_(prefixes), source_(source), powers_{1} {
        for (std::size_t v = 0; v < inside.n(); ++v) {
            if (v != source) others_.push_back(v);
        }
        for (std::size_t i = 0; i < others_.size(); ++i) powers_.push_back(3 * powers_.back());
        sums_ = std::make_unique<Cells<double>>(powers_.back());
    }

    void run(std::span<double> out, const StopFlag& stop) {
        std::vector<std::uint8_t> digits(others_.size() + 1, 0);
        std::uint64_t set = bit(source_), below = bit(source_);  // S and T
        const double total = prefixes_.back();
        for (std::uint64_t number = 0; number < powers_.back(); ++number) {
            if (number % 1024 == 0) check(stop);
            const double sum = sum_of(number, digits, set, below);
            sums_->data()[number] = sum;
            if (set == inside_.n_sets() - 1) {
                for (const std::size_t t : others_) {
                    if (below & bit(t)) out[t] += std::exp(sum - total);
                }
            }
            for (std::size_t i = 0; i < others_.size(); ++i) {  // the next number
                const std::uint64_t own = bit(others_[i]);
                if (++digits[i] < 3) {
                    set |= own;
                    if (digits[i] == 2) below |= own;
                    break;
                }
                digits[i] = 0;
                set &= ~own;
                below &= ~own;
            }
        }
    }

private:
    double sum_of(std::uint64_t number, const std::vector<std::uint8_t>& digits, std::uint64_t set,
                  std::uint64_t below) const {
        std::array<double, kMaxAncestorVariables> terms;
        std::size_t n_terms = 0;
        if (below == bit(source_)) {
            const std::uint64_t before = set & ~bit(source_);
            terms[n_terms++] = prefixes_[before] + inside_.row(before)[source_];
        }
        for (std::size_t i = 0; i < others_.size(); ++i) {
            if (digits[i] == 0) continue;
            const std::size_t v = others_[i];
            const std::uint64_t before = set & ~bit(v);
            const double apart = inside_.row(before & ~below)[v];
            const double before_sum = sums_->data()[number - digits[i] * powers_[i]];
            terms[n_terms++] =
                before_sum + (digits[i] == 1 ? apart : log_subtract(inside_.row(before)[v], apart));
        }
        return log_sum({terms.data(), n_terms});
    }

    const InsideSums& inside_;
    const std::vector<double>& prefixes_;
    const std::size_t source_;
    std::vector<std::size_t> others_;
    std::vector<std::uint64_t> powers_;  // of three
    std::unique_ptr<Cells<double>> sums_;
};

}  // namespace

void ancestor_probabilities(const ParentWeights& weights, const Execution& execution,
                            std::span<double> out) {
    const std::size_t n = weights.n();
    if (n > kMaxAncestorVariables) throw std::invalid_argument("ancestors: too many variables");
    const InsideSums inside(weights, execution);
    const std::vector<double> prefixes = prefix_sums(inside);
    std::fill(out.begin(), out.end(), 0.0);
    const double expected = kNanosecondsPerTerm * static_cast<double>(n * n) *
                            std::pow(3.0, static_cast<double>(n) - 1.0);
    parallel_for(n, expected, execution, [&](std::size_t s, const StopFlag& stop) {
        FromSource(inside, prefixes, s).run(out.subspan(s * n, n), stop);
    });
}

double ancestor_bytes(std::size_t n, int threads) {
    const double pairs = std::pow(3.0, static_cast<double>(n) - 1.0);
    return sizeof(double) * (std::min<double>(threads, static_cast<double>(n)) * pairs +
                             std::exp2(static_cast<double>(n)) * (static_cast<double>(n) + 2.0));
}

}  // namespace bestdag
