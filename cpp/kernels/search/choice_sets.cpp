#include "search/choice_sets.hpp"

#include <algorithm>

namespace bestdag {

ChoiceSets::ChoiceSets(std::span<const std::int64_t> begin, std::span<const double> costs,
                       std::span<const std::int64_t> offsets, std::span<const std::int32_t> members)
    : begin_(begin.begin(), begin.end()),
      offsets_(offsets.begin(), offsets.end()),
      costs_(costs.begin(), costs.end()),
      members_(members.begin(), members.end()),
      child_(costs.size()),
      local_(begin.size() - 1),
      bit_((begin.size() - 1) * (begin.size() - 1), -1),
      words_(begin.size() - 1),
      mask_start_(costs.size()) {
    const std::size_t n = n_variables();
    std::size_t start = 0;
    for (std::size_t v = 0; v < n; ++v) {
        for (std::size_t f = begin_[v]; f < begin_[v + 1]; ++f) {
            child_[f] = v;
            for (const std::int32_t u : this->members(f)) {
                bit_[v * n + static_cast<std::size_t>(u)] = 0;
            }
        }
        for (std::size_t u = 0; u < n; ++u) {
            std::int32_t& bit = bit_[v * n + u];
            if (bit < 0) continue;
            bit = static_cast<std::int32_t>(local_[v].size());
            local_[v].push_back(static_cast<std::int32_t>(u));
        }
        words_[v] = std::max<std::size_t>(1, (local_[v].size() + 63) / 64);
        for (std::size_t f = begin_[v]; f < begin_[v + 1]; ++f, start += words_[v]) {
            mask_start_[f] = start;
        }
    }
    masks_.assign(start, 0);
    for (std::size_t f = 0; f < n_sets(); ++f) {
        for (const std::int32_t u : this->members(f)) {
            const auto b = static_cast<std::size_t>(bit(child_[f], static_cast<std::size_t>(u)));
            masks_[mask_start_[f] + b / 64] |= Word{1} << (b % 64);
        }
    }
}

void ChoiceSets::localise(std::size_t child, std::span<const std::uint8_t> cluster,
                          Word* out) const noexcept {
    std::fill_n(out, words_[child], Word{0});
    const auto& local = local_[child];
    for (std::size_t b = 0; b < local.size(); ++b) {
        if (cluster[static_cast<std::size_t>(local[b])]) out[b / 64] |= Word{1} << (b % 64);
    }
}

}  // namespace bestdag
