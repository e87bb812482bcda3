#include "posterior/parent_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bestdag {

namespace {

std::size_t below(RandomStream& random, std::size_t n) noexcept {
    return std::min(n - 1, static_cast<std::size_t>(random.uniform() * static_cast<double>(n)));
}

}  // namespace

ParentBlocks::ParentBlocks(const ParentWeights& weights)
    : weights_(weights), size_(std::min(kMost, weights.n())) {
    for (auto& words : below_) words.resize(weights.n_words());
    list_companions();
    list_patterns();
}

// For each variable the others, by the best parent set that has them: what may change together.
void ParentBlocks::list_companions() {
    const std::size_t n = weights_.n();
    std::vector<double> best(n * n, kLogZero);
    for (std::size_t v = 0; v < n; ++v) {
        const double heaviest = weights_.log_weight(weights_.first(v));
        std::size_t n_left = n - 1;
        for (std::size_t i = weights_.first(v); i < weights_.end(v) && n_left > 0; ++i) {
            for (std::size_t u = 0; u < n; ++u) {
                if (!has(weights_.set(i), u) || best[v * n + u] > kLogZero) continue;
                best[v * n + u] = weights_.log_weight(i) - heaviest;
                --n_left;
            }
        }
    }
    companions_.resize(n);
    for (std::size_t v = 0; v < n; ++v) {
        for (std::size_t u = 0; u < n; ++u) {
            if (u != v) companions_[v].push_back(u);
        }
        const auto closeness = [&](std::size_t u) {
            return std::max(best[v * n + u], best[u * n + v]);
        };
        std::stable_sort(companions_[v].begin(), companions_[v].end(),
                         [&](std::size_t a, std::size_t b) { return closeness(a) > closeness(b); });
    }
}

// Who of the block may depend on whom: bit b of pattern[a] says that a depends on b.
void ParentBlocks::list_patterns() {
    const std::size_t n_classes = std::size_t{1} << size_;
    Pattern pattern{};
    const auto is_acyclic = [&] {
        std::size_t placed = 0;
        for (std::size_t round = 0; round < size_; ++round) {
            for (std::size_t a = 0; a < size_; ++a) {
                if ((pattern[a] & ~placed) == 0) placed |= std::size_t{1} << a;
            }
        }
        return placed == n_classes - 1;
    };
    while (true) {
        if (is_acyclic()) patterns_.push_back(pattern);
        std::size_t a = 0;
        while (a < size_ && ++pattern[a] == n_classes) pattern[a++] = 0;
        if (a == size_) return;
    }
}

// Any variable, and others that are close to it: half of the time the next closest one.
ParentBlocks::Block ParentBlocks::draw_block(RandomStream& random) const {
    Block block{};
    block[0] = below(random, weights_.n());
    const auto& companions = companions_[block[0]];
    for (std::size_t k = 1; k < size_; ++k) {
        std::size_t place = 0;
        const auto is_taken = [&] {
            return std::find(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(k),
                             companions[place]) != block.begin() + static_cast<std::ptrdiff_t>(k);
        };
        while (is_taken() || random.uniform() < 0.5) place = (place + 1) % companions.size();
        block[k] = companions[place];
    }
    return block;
}

// The variables of the block, each with its descendants by way of those outside of it.
void ParentBlocks::find_below(const std::vector<std::uint64_t>& parents, const Block& block) {
    const std::size_t n = weights_.n(), n_words = weights_.n_words();
    for (std::size_t a = 0; a < size_; ++a) {
        auto& found = below_[a];
        std::fill(found.begin(), found.end(), 0);
        put(found, block[a]);
        for (bool has_grown = true; has_grown;) {
            has_grown = false;
            for (std::size_t u = 0; u < n; ++u) {
                if (has(found.data(), u)) continue;
                std::uint64_t met = 0;
                for (std::size_t w = 0; w < n_words; ++w) {
                    met |= parents[u * n_words + w] & found[w];
                }
                if (met == 0) continue;
                put(found, u);
                has_grown = true;
            }
        }
    }
}

// Whom of the block a parent set depends on; with itself where it must not be.
std::size_t ParentBlocks::class_of(std::size_t i, std::size_t own) const noexcept {
    const SetWords members = weights_.set(i);
    std::size_t found = 0;
    for (std::size_t w = 0; w < weights_.n_words(); ++w) {
        if ((members[w] & below_[own][w]) != 0) return std::size_t{1} << own;
        for (std::size_t a = 0; a < size_; ++a) {
            found |= static_cast<std::size_t>((members[w] & below_[a][w]) != 0) << a;
        }
    }
    return found;
}

// Logarithms of the sums of the weights of each class; what is left out is less than rounding.
std::array<double, ParentBlocks::kClasses> ParentBlocks::class_sums(
    std::size_t v, std::size_t own) const noexcept {
    std::array<double, kClasses> largest, sums{};
    largest.fill(kLogZero);
    std::size_t n_left = std::size_t{1} << (size_ - 1);  // classes not met yet
    double least = kLogZero;
    for (std::size_t i = weights_.first(v); i < weights_.end(v); ++i) {
        const double log = weights_.log_weight(i);
        if (n_left == 0 && log < least) break;
        const std::size_t found = class_of(i, own);
        if ((found >> own & 1) != 0 || log == kLogZero) continue;
        if (largest[found] == kLogZero) {
            largest[found] = log;
            --n_left;
            least = log - 38.0 - std::log(static_cast<double>(weights_.end(v) - i));
        }
        sums[found] += std::exp(log - largest[found]);
    }
    for (std::size_t k = 0; k < kClasses; ++k) {
        if (largest[k] > kLogZero) largest[k] += std::log(sums[k]);
    }
    return largest;
}

std::size_t ParentBlocks::draw_of_class(std::size_t v, std::size_t own, std::size_t wanted,
                                        double log_sum, double choice) const noexcept {
    std::size_t chosen = weights_.first(v);
    double sum = 0.0;
    for (std::size_t i = chosen; i < weights_.end(v) && sum < choice; ++i) {
        if (class_of(i, own) != wanted) continue;
        chosen = i;
        sum += std::exp(weights_.log_weight(i) - log_sum);
        if (weights_.log_weight(i) < log_sum - 50.0) break;
    }
    return chosen;
}

// Whether a structure has a cycle depends on whom of the block each parent set depends on: sums
// over the sets of each such class, then a draw of classes without cycles, then of sets.
bool ParentBlocks::step(std::vector<std::uint64_t>& parents, RandomStream& random) {
    const std::size_t n_words = weights_.n_words();
    const Block block = draw_block(random);
    next_ = parents;
    const auto words_of = [&](std::size_t v) {
        return next_.begin() + static_cast<std::ptrdiff_t>(v * n_words);
    };
    for (std::size_t a = 0; a < size_; ++a) std::fill_n(words_of(block[a]), n_words, 0);
    find_below(next_, block);
    std::array<std::array<double, kClasses>, kMost> sums;
    for (std::size_t a = 0; a < size_; ++a) sums[a] = class_sums(block[a], a);
    std::vector<double> logs(patterns_.size(), 0.0);
    for (std::size_t p = 0; p < patterns_.size(); ++p) {
        for (std::size_t a = 0; a < size_; ++a) logs[p] += sums[a][patterns_[p][a]];
    }
    const double total = log_sum(logs), choice = random.uniform();
    std::size_t chosen = 0;
    double sum = 0.0;
    for (std::size_t p = 0; p < logs.size() && sum < choice; ++p) {
        if (logs[p] == kLogZero) continue;
        sum += std::exp(logs[p] - total);
        chosen = p;
    }
    for (std::size_t a = 0; a < size_; ++a) {
        const std::size_t wanted = patterns_[chosen][a];
        const std::size_t drawn =
            draw_of_class(block[a], a, wanted, sums[a][wanted], random.uniform());
        std::copy_n(weights_.set(drawn), n_words, words_of(block[a]));
    }
    if (next_ == parents) return false;
    std::swap(parents, next_);
    return true;
}

}  // namespace bestdag
