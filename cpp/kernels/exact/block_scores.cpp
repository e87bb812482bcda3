#include "exact/block_scores.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "scoring/arity_shapes.hpp"

namespace bestdag {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kBlocksPerPiece = 64;

std::uint64_t bit(std::size_t place) { return std::uint64_t{1} << place; }

// Some columns other than the child that make up a shape, ascending; false when there are none.
bool parents_of_shape(std::size_t shape, std::size_t child, const SetValues& values,
                      const ArityShapes& shapes, std::vector<std::int32_t>& parents) {
    std::vector<std::size_t> by_stride(values.n());
    std::iota(by_stride.begin(), by_stride.end(), std::size_t{0});
    std::stable_sort(by_stride.begin(), by_stride.end(), [&](std::size_t a, std::size_t b) {
        return shapes.stride(a) > shapes.stride(b);
    });
    parents.clear();
    for (const std::size_t b : by_stride) {
        if (b == child || shape < shapes.stride(b)) continue;
        shape -= shapes.stride(b);
        parents.push_back(static_cast<std::int32_t>(values.column_of_bit[b]));
    }
    std::sort(parents.begin(), parents.end());
    return shape == 0;
}

// Minus infinity where the parents have that: they are left out, and so is the larger set.
double difference(double of_set, double of_parents) noexcept {
    return of_parents > -kInfinity ? of_set - of_parents : -kInfinity;
}

}  // namespace

BlockScores::BlockScores(const Table& table, const Kernel& kernel, const SetValues& values,
                         std::vector<ParentRules> rules, std::size_t within)
    : values_(values), n_(values.n()), within_(within), bit_of_column_(n_) {
    if (rules.size() != n_) throw std::invalid_argument("one rule for each column");
    for (std::size_t b = 0; b < n_; ++b) bit_of_column_[values.column_of_bit[b]] = b;
    for (std::size_t b = 0; b < n_; ++b) {
        rules_.push_back(in_bits(rules[values.column_of_bit[b]], b));
        low_terms_.push_back(low_terms(rules_[b]));
    }
    for (std::size_t s = 0; s < std::size_t{1} << within_; ++s) {
        low_size_.push_back(static_cast<std::uint8_t>(std::popcount(s)));
    }
    const StopFlag stop = false;
    const auto evaluator = kernel.evaluator(table, stop);
    if (evaluator->has_beside()) work_out_beside(table, *evaluator);
}

ParentRules BlockScores::in_bits(const ParentRules& rule, std::size_t child) const {
    ParentRules own{in_bits(rule.required),
                    in_bits(rule.allowed | rule.required) & ~bit(child),
                    rule.max_parents,
                    rule.bonus,
                    {}};
    if (!rule.bonuses.empty()) {
        for (const std::size_t column : values_.column_of_bit) {
            own.bonuses.push_back(rule.bonuses[column]);
        }
    }
    return own;
}

std::vector<double> BlockScores::low_terms(const ParentRules& rule) const {
    const std::size_t n_low = std::size_t{1} << within_;
    const std::uint64_t low = n_low - 1;
    if (rule.bonuses.empty() && (rule.required & low) == 0 && (~rule.allowed & low) == 0) return {};
    std::vector<double> terms(n_low, 0.0);
    for (std::size_t s = 0; s < n_low; ++s) {
        if ((s & ~rule.allowed) != 0 || (rule.required & low & ~s) != 0) {
            terms[s] = -kInfinity;
            continue;
        }
        for (std::uint64_t left = rule.bonuses.empty() ? 0 : s; left != 0; left &= left - 1) {
            terms[s] += rule.bonuses[static_cast<std::size_t>(std::countr_zero(left))];
        }
    }
    return terms;
}

void BlockScores::work_out_beside(const Table& table, Evaluator& evaluator) {
    const ArityShapes shapes(values_.arity_of_bit);
    for (std::size_t b = 0; b < n_; ++b) {
        shape_stride_.push_back(static_cast<std::uint32_t>(shapes.stride(b)));
    }
    std::vector<std::size_t> lowest(within_);
    std::iota(lowest.begin(), lowest.end(), std::size_t{0});
    low_shape_ = shapes.of_sets(lowest);
    std::vector<std::int32_t> parents;
    for (std::size_t b = 0; b < n_; ++b) {
        beside_.emplace_back(shapes.size(), 0.0);
        for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
            if (!parents_of_shape(shape, b, values_, shapes, parents)) continue;
            const Family family{values_.column_of_bit[b], parents};
            beside_[b][shape] = evaluator.beside_sets(shape_of(table, family));
        }
    }
}

std::uint64_t BlockScores::in_columns(std::uint64_t bits) const {
    std::uint64_t columns = 0;
    for (; bits != 0; bits &= bits - 1) {
        columns |= bit(values_.column_of_bit[static_cast<std::size_t>(std::countr_zero(bits))]);
    }
    return columns;
}

std::uint64_t BlockScores::in_bits(std::uint64_t columns) const {
    std::uint64_t bits = 0;
    for (std::size_t c = 0; c < n_; ++c) {
        if (columns & bit(c)) bits |= bit(bit_of_column_[c]);
    }
    return bits;
}

bool BlockScores::block(std::size_t child, std::uint64_t high, double* out) const {
    const ParentRules& rule = rules_[child];
    const std::size_t n_low = std::size_t{1} << within_;
    const auto n_high = static_cast<std::size_t>(std::popcount(high));
    if ((high & ~(rule.allowed >> within_)) != 0 || ((rule.required >> within_) & ~high) != 0 ||
        n_high > rule.max_parents) {
        return false;
    }
    const double* const given = values_.of_parents(child) + (high << within_);
    double base = rule.bonus;
    std::size_t shape = 0;
    for (std::uint64_t left = high; left != 0; left &= left - 1) {
        const std::size_t parent = within_ + static_cast<std::size_t>(std::countr_zero(left));
        if (!rule.bonuses.empty()) base += rule.bonuses[parent];
        if (!beside_.empty()) shape += shape_stride_[parent];
    }
    if (child >= within_) {
        const double* const joint =
            values_.joint->data() + ((high | bit(child - within_)) << within_);
        for (std::size_t s = 0; s < n_low; ++s) out[s] = difference(joint[s], given[s]);
    } else {
        const double* const joint = values_.joint->data() + (high << within_);
        const std::size_t own = std::size_t{1} << child;
        for (std::size_t first = 0; first < n_low; first += 2 * own) {
            for (std::size_t s = first; s < first + own; ++s) {
                out[s] = difference(joint[s + own], given[s]);
                out[s + own] = 0.0;  // not allowed, see low_terms_
            }
        }
    }
    if (base != 0.0) {
        for (std::size_t s = 0; s < n_low; ++s) out[s] += base;
    }
    if (!beside_.empty()) {
        const double* const beside = beside_[child].data() + shape;
        for (std::size_t s = 0; s < n_low; ++s) out[s] += beside[low_shape_[s]];
    }
    if (!low_terms_[child].empty()) {
        const double* const terms = low_terms_[child].data();
        for (std::size_t s = 0; s < n_low; ++s) out[s] += terms[s];
    }
    if (n_high + within_ > rule.max_parents) {
        for (std::size_t s = 0; s < n_low; ++s) {
            if (n_high + low_size_[s] > rule.max_parents) out[s] = -kInfinity;
        }
    }
    return true;
}

std::vector<double> BlockScores::best(const Execution& execution) const {
    const std::size_t n_high = std::size_t{1} << (n_ - within_);
    const std::size_t n_low = std::size_t{1} << within_;
    const std::size_t n_pieces = (n_high + kBlocksPerPiece - 1) / kBlocksPerPiece;
    std::vector<double> best(n_, -kInfinity);
    std::mutex mutex;
    const double expected = static_cast<double>(n_ * n_high * n_low);
    parallel_for(n_pieces, expected, execution, [&](std::size_t piece, const StopFlag& stop) {
        std::vector<double> block(n_low), own(n_, -kInfinity);
        const std::size_t end = std::min(n_high, (piece + 1) * kBlocksPerPiece);
        for (std::size_t high = piece * kBlocksPerPiece; high < end && !stop; ++high) {
            for (std::size_t child = 0; child < n_; ++child) {
                if (!this->block(child, high, block.data())) continue;
                double most = own[child];
                for (const double score : block) most = score > most ? score : most;
                own[child] = most;
            }
        }
        const std::lock_guard lock(mutex);
        for (std::size_t child = 0; child < n_; ++child) {
            double& column = best[values_.column_of_bit[child]];
            column = std::max(column, own[child]);
        }
    });
    return best;
}

}  // namespace bestdag
