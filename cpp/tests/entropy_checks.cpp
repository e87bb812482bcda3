// Cuts of sorted columns, for the sanitizers: one value, two clear halves, many classes, and a
// column long enough to be polled. Exits 0 when all is well.
#include <vector>

#include "data/entropy_cuts.hpp"
#include "tests/checks.hpp"

namespace {

using Rows = std::vector<std::size_t>;

Rows cuts(const std::vector<double>& values, const std::vector<std::uint16_t>& classes,
          const std::vector<double>& weights, std::size_t n_classes) {
    const bestdag::Execution execution{2, [] { return false; }};
    return bestdag::entropy_cuts(values, classes, weights, n_classes, execution);
}

}  // namespace

int main() {
    check(cuts({}, {}, {}, 2).empty(), "no rows, no cut");
    check(cuts({1, 1, 1}, {0, 1, 0}, {}, 2).empty(), "one value, no cut");
    check(cuts({1, 2, 3, 4}, {0, 0, 1, 1}, {}, 2) == Rows{2}, "two halves");
    check(cuts({1, 2}, {0, 1}, {0.1, 0.2}, 2).empty(), "too light for a cut");
    check(cuts({1, 2, 3, 4}, {0, 0, 1, 1}, {1.5, 1.5, 1.5, 1.5}, 2) == Rows{2}, "two heavy halves");
    const std::size_t n = 300'000;
    std::vector<double> values(n);
    std::vector<std::uint16_t> classes(n);
    for (std::size_t i = 0; i < n; ++i) {
        values[i] = static_cast<double>(i / 3);
        classes[i] = static_cast<std::uint16_t>(i / 30'000 * 6'000 + i % 2);
    }
    Rows steps;
    for (std::size_t i = 30'000; i < n; i += 30'000) steps.push_back(i);
    check(cuts(values, classes, {}, 65'535) == steps, "one cut per step");
    bool stopped = false;
    try {
        const bestdag::Execution execution{1, [] { return true; }};
        bestdag::entropy_cuts(values, classes, {}, 65'535, execution);
    } catch (const bestdag::Interrupted&) {
        stopped = true;
    }
    check(stopped, "a long column can be interrupted");
    return report();
}
