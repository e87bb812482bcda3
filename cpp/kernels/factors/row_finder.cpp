#include "factors/row_finder.hpp"

#include <limits>
#include <utility>

namespace bestdag {

namespace {

std::size_t rows_of(std::size_t n_codes, std::size_t n_parents) noexcept {
    return n_parents == 0 ? 0 : n_codes / n_parents;
}

}  // namespace

RowFinder::RowFinder(std::span<const std::uint16_t> configurations,
                     std::span<const std::uint32_t> arities)
    : n_listed_(rows_of(configurations.size(), arities.size())), n_parents_(arities.size()) {
    // A key is at most (n_listed + 1) * size - 1, also behind a run that found nothing.
    const std::uint64_t largest =
        std::numeric_limits<std::uint64_t>::max() / (static_cast<std::uint64_t>(n_listed_) + 1);
    std::vector<std::uint64_t> before(n_listed_, 0);
    for (std::size_t first = 0; first < n_parents_;) {
        Run run{first, {}, 1, {}};
        std::size_t last = first;
        while (last < n_parents_ && (last == first || run.size <= largest / arities[last])) {
            run.size *= arities[last++];
        }
        run.strides.assign(last - first, 1);
        for (std::size_t p = last - first - 1; p > 0; --p) {
            run.strides[p - 1] = run.strides[p] * arities[first + p];
        }
        for (std::size_t i = 0; i < n_listed_; ++i) {
            std::uint64_t key = before[i] * run.size;
            for (std::size_t p = 0; p < run.strides.size(); ++p) {
                key += run.strides[p] * configurations[i * n_parents_ + first + p];
            }
            if (run.keys.empty() || run.keys.back() != key) run.keys.push_back(key);
            before[i] = run.keys.size() - 1;
        }
        runs_.push_back(std::move(run));
        first = last;
    }
}

}  // namespace bestdag
