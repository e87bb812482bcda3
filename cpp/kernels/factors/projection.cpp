#include "factors/projection.hpp"

namespace bestdag {

namespace {

// Runs shorter than this are too short for a loop of their own; listed places make them longer.
constexpr std::size_t kShortRun = 8;
constexpr std::size_t kListedRun = 64;
// Places in a run are sums of a few distances, each at most this.
constexpr std::size_t kMostPlaces = std::size_t{1} << 26;

}  // namespace

Projection::Projection(std::span<const std::uint32_t> lengths,
                       std::span<const std::size_t> strides) {
    std::size_t n_left = lengths.size();
    const auto skip_single = [&] {
        while (n_left > 0 && lengths[n_left - 1] == 1) --n_left;
    };
    const auto follows = [&](std::size_t axis) {
        return kind_ == Kind::kConstant ? strides[axis] == 0 : strides[axis] == run_;
    };
    skip_single();
    if (n_left > 0) {
        kind_ = strides[n_left - 1] == 0 ? Kind::kConstant : Kind::kAlong;
        while (n_left > 0 && (lengths[n_left - 1] == 1 || follows(n_left - 1))) {
            run_ *= lengths[--n_left];
        }
    }
    skip_single();
    if (run_ < kShortRun && n_left > 0) {
        places_.assign(run_, 0);
        for (std::uint32_t i = 0; i < run_ && kind_ == Kind::kAlong; ++i) places_[i] = i;
        kind_ = Kind::kPlaces;
        while (run_ < kListedRun && n_left > 0) {
            const std::uint32_t length = lengths[n_left - 1];
            const std::size_t stride = strides[n_left - 1];
            if (stride > kMostPlaces / length) break;  // too far apart for a short number
            --n_left;
            places_.reserve(run_ * length);
            for (std::uint32_t code = 1; code < length; ++code) {
                for (std::size_t i = 0; i < run_; ++i) {
                    places_.push_back(places_[i] + static_cast<std::uint32_t>(code * stride));
                }
            }
            run_ *= length;
        }
    }
    // The axes outside, those that lie alike as one.
    for (std::size_t axis = 0; axis < n_left; ++axis) {
        const std::uint32_t length = lengths[axis];
        if (length == 1) continue;
        n_runs_ *= length;
        const std::size_t long_length =
            lengths_.empty() ? 0 : std::size_t{lengths_.back()} * length;
        if (!lengths_.empty() && strides_.back() == strides[axis] * length &&
            long_length <= std::numeric_limits<std::uint32_t>::max()) {
            lengths_.back() = static_cast<std::uint32_t>(long_length);
            strides_.back() = strides[axis];
        } else {
            lengths_.push_back(length);
            strides_.push_back(strides[axis]);
        }
    }
}

Projection Projection::listed(std::span<const std::uint32_t> cells, const StopFlag& stop) const {
    Projection found;
    found.kind_ = Kind::kPlaces;
    found.run_ = cells.size();
    found.places_.reserve(cells.size());
    walk(stop, [&](std::size_t at, std::size_t from) {
        for (std::size_t i = found.places_.size(); i < cells.size() && cells[i] < at + run_; ++i) {
            if ((i & 0xffff) == 0) check(stop);
            std::size_t place = from;
            if (kind_ == Kind::kAlong) place += cells[i] - at;
            if (kind_ == Kind::kPlaces) place += places_[cells[i] - at];
            found.places_.push_back(static_cast<std::uint32_t>(place));
        }
    });
    return found;
}

}  // namespace bestdag
