#include "missing/group_work.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bestdag {

namespace {

// Products below this are scaled up by a power of two, which loses nothing.
constexpr double kSmall = 0x1p-300;

// Extend offsets by one axis that varies faster than all before.
void extend(std::vector<std::uint32_t>& offsets, std::uint32_t length, std::uint32_t stride) {
    const std::size_t n = offsets.size();
    offsets.resize(n * length);
    for (std::size_t i = n; i-- > 0;) {
        const std::uint32_t offset = offsets[i];
        for (std::uint32_t k = length; k-- > 0;) offsets[i * length + k] = offset + k * stride;
    }
}

}  // namespace

void GroupWork::take(const GroupKind& kind, bool as_one) {
    set_parts(kind, as_one);
    place_families(kind, as_one);
}

void GroupWork::set_parts(const GroupKind& kind, bool as_one) {
    const bool has_tree = kind.tree != nullptr && !as_one;
    n_parts_ = has_tree ? kind.tree->cliques().size() : 1;
    if (parts_.size() < n_parts_) parts_.resize(n_parts_);
    for (std::size_t p = 0; p < n_parts_; ++p) {
        Part& part = parts_[p];
        std::size_t n_shared = 0;
        part.parent = -1;
        part.axes.clear();
        if (has_tree) {
            const Clique& clique = kind.tree->cliques()[p];
            part.axes.assign(clique.axes.begin(), clique.axes.end());
            part.parent = clique.parent;
            n_shared = clique.n_separator;
        } else {
            for (std::uint32_t i = 0; i < kind.variables.size(); ++i) part.axes.push_back(i);
        }
        part.lengths.clear();
        part.n_cells = part.n_separator = 1;
        part.variable = std::numeric_limits<std::uint32_t>::max();
        for (std::size_t a = 0; a < part.axes.size(); ++a) {
            const std::uint32_t v = kind.variables[part.axes[a]];
            part.lengths.push_back(tables_.arities[v]);
            part.n_cells *= tables_.arities[v];
            if (a < n_shared) {
                part.n_separator *= tables_.arities[v];
            } else {
                part.variable = std::min(part.variable, v);
            }
        }
        part.families.clear();
        part.cells.resize(part.n_cells);
        part.message.resize(part.n_separator);
    }
    for (std::size_t p = 0; p < n_parts_; ++p) {
        Part& part = parts_[p];
        if (part.parent < 0) continue;
        const Part& above = parts_[static_cast<std::size_t>(part.parent)];
        part.up.assign(1, 0);
        for (std::size_t a = 0; a < above.axes.size(); ++a) {
            std::uint32_t stride = 0;
            std::size_t after = part.n_separator;
            for (std::size_t s = 0; after > 1; ++s) {
                after /= part.lengths[s];
                if (part.axes[s] == above.axes[a]) stride = static_cast<std::uint32_t>(after);
            }
            extend(part.up, above.lengths[a], stride);
        }
    }
}

void GroupWork::place_families(const GroupKind& kind, bool as_one) {
    if (bases_.size() < kind.families.size()) bases_.resize(kind.families.size());
    base_cells_.resize(kind.families.size());
    std::vector<std::uint32_t> strides(kind.variables.size());
    std::vector<Axis> scope;
    for (std::uint32_t f = 0; f < kind.families.size(); ++f) {
        const std::uint32_t family = kind.families[f];
        std::fill(strides.begin(), strides.end(), 0u);
        scope.clear();
        bases_[f].steps.clear();
        bases_[f].first_cell = tables_.first_cells[family];
        for (std::size_t m = 0; m < tables_.members[family].size(); ++m) {
            const std::uint32_t v = tables_.members[family][m];
            const std::uint32_t stride = tables_.strides[family][m];
            const auto place = std::lower_bound(kind.variables.begin(), kind.variables.end(), v);
            if (place != kind.variables.end() && *place == v) {
                const auto axis = static_cast<Axis>(place - kind.variables.begin());
                strides[axis] = stride;
                scope.push_back(axis);
            } else {
                const auto where = std::lower_bound(kind.known.begin(), kind.known.end(), v);
                const auto position = static_cast<std::uint32_t>(where - kind.known.begin());
                bases_[f].steps.emplace_back(position, stride);
            }
        }
        Part& part =
            parts_[kind.tree != nullptr && !as_one ? kind.tree->clique_of(scope) : std::size_t{0}];
        const std::size_t place = part.families.size();
        part.families.push_back(f);
        if (part.offsets.size() <= place) part.offsets.emplace_back();
        part.offsets[place].assign(1, 0);
        for (std::size_t a = 0; a < part.axes.size(); ++a) {
            extend(part.offsets[place], part.lengths[a], strides[part.axes[a]]);
        }
    }
}

// Multiply a table by values picked by offset; false where nothing is left.
bool GroupWork::multiply(Part& part, const std::vector<std::uint32_t>& offsets,
                         const double* values) {
    double most = 0.0;
    for (std::size_t i = 0; i < part.n_cells; ++i) {
        part.cells[i] *= values[offsets[i]];
        most = std::max(most, part.cells[i]);
    }
    if (most >= kSmall) return true;
    if (most == 0.0) return false;
    keep_in_range(part, most);
    return true;
}

void GroupWork::keep_in_range(Part& part, double most) {
    int exponent;
    std::frexp(most, &exponent);
    for (double& cell : part.cells) cell = std::ldexp(cell, -exponent);
    log_scale_ += exponent * 0.693147180559945309417;
}

double GroupWork::collect(std::span<const std::uint16_t> known, Collect how) {
    constexpr double kImpossible = -std::numeric_limits<double>::infinity();
    for (std::size_t f = 0; f < base_cells_.size(); ++f) {
        std::size_t cell = bases_[f].first_cell;
        for (const auto& [position, stride] : bases_[f].steps) {
            cell += static_cast<std::size_t>(known[position]) * stride;
        }
        base_cells_[f] = cell;
    }
    log_scale_ = 0.0;
    double log_total = 0.0;
    for (std::size_t p = 0; p < n_parts_; ++p)
        std::fill_n(parts_[p].cells.begin(), parts_[p].n_cells, 1.0);
    for (std::size_t p = 0; p < n_parts_; ++p) {
        Part& part = parts_[p];
        for (std::size_t i = 0; i < part.families.size(); ++i) {
            const double* const values = values_ + base_cells_[part.families[i]];
            if (!multiply(part, part.offsets[i], values)) return kImpossible;
        }
        const std::size_t inner = part.n_cells / part.n_separator;
        double largest = 0.0;
        for (std::size_t s = 0; s < part.n_separator; ++s) {
            const double* const cells = part.cells.data() + s * inner;
            double sum = 0.0;
            if (how == Collect::kSum) {
                for (std::size_t i = 0; i < inner; ++i) sum += cells[i];
            } else {
                for (std::size_t i = 0; i < inner; ++i) sum = std::max(sum, cells[i]);
            }
            part.message[s] = sum;
            largest = std::max(largest, sum);
        }
        if (largest == 0.0) return kImpossible;
        if (part.parent < 0) {
            log_total += std::log(part.message[0]);
        } else {
            Part& above = parts_[static_cast<std::size_t>(part.parent)];
            if (!multiply(above, part.up, part.message.data())) return kImpossible;
        }
    }
    return log_total + log_scale_;
}

void GroupWork::distribute() {
    for (std::size_t p = n_parts_; p-- > 0;) {
        Part& part = parts_[p];
        const std::size_t inner = part.n_cells / part.n_separator;
        beside_.assign(part.n_separator, 0.0);
        if (part.parent < 0) {
            beside_[0] = 1.0;
        } else {
            const Part& above = parts_[static_cast<std::size_t>(part.parent)];
            for (std::size_t i = 0; i < above.n_cells; ++i) beside_[part.up[i]] += above.cells[i];
        }
        for (std::size_t s = 0; s < part.n_separator; ++s) {
            double* const cells = part.cells.data() + s * inner;
            double sum = 0.0;
            for (std::size_t i = 0; i < inner; ++i) sum += cells[i];
            const double factor = sum > 0.0 ? beside_[s] / sum : 0.0;
            for (std::size_t i = 0; i < inner; ++i) cells[i] *= factor;
        }
    }
}

void GroupWork::add_counts(double weight, double* counts) const {
    for (std::size_t p = 0; p < n_parts_; ++p) {
        const Part& part = parts_[p];
        for (std::size_t i = 0; i < part.families.size(); ++i) {
            double* const table = counts + base_cells_[part.families[i]];
            const std::vector<std::uint32_t>& offsets = part.offsets[i];
            for (std::size_t c = 0; c < part.n_cells; ++c) {
                table[offsets[c]] += weight * part.cells[c];
            }
        }
    }
}

void GroupWork::best(std::span<std::uint16_t> states) {
    descend(states, [](const Part&, std::span<const double> cells) {
        return static_cast<std::size_t>(std::max_element(cells.begin(), cells.end()) -
                                        cells.begin());
    });
}

}  // namespace bestdag
