#include "independence/oracle.hpp"

namespace bestdag {

namespace {

// Bayes-ball (Shachter 1998): a node is entered from a child or from a parent, once each.
class Ball : public Answerer {
public:
    explicit Ball(const Oracle& oracle) : oracle_(oracle), marks_(oracle.n_variables(), 0) {}

    void ask(std::int32_t one, std::span<const std::int32_t> given,
             std::span<const std::int32_t> others, std::span<Answer> answers,
             const StopFlag& stop) override {
        check(stop);
        std::fill(marks_.begin(), marks_.end(), std::uint8_t{0});
        for (const std::int32_t node : given) mark(node) |= kGiven;
        waiting_.assign(1, {one, true});
        while (!waiting_.empty()) {
            const auto [node, from_child] = waiting_.back();
            waiting_.pop_back();
            const std::uint8_t way = from_child ? kFromChild : kFromParent;
            if (mark(node) & way) continue;
            mark(node) |= way;
            const bool is_given = (mark(node) & kGiven) != 0;
            if (!is_given) {
                mark(node) |= kReached;
                for (const std::int32_t child : oracle_.children(node)) enter(child, false);
            }
            // A given node sends a trail from a parent back to all its parents: a collider opens.
            if (from_child != is_given) {
                for (const std::int32_t parent : oracle_.parents(node)) enter(parent, true);
            }
        }
        for (std::size_t i = 0; i < others.size(); ++i) {
            answers[i] = {};
            answers[i].is_independent = (mark(others[i]) & kReached) == 0;
        }
    }

private:
    static constexpr std::uint8_t kGiven = 1, kFromChild = 2, kFromParent = 4, kReached = 8;

    std::uint8_t& mark(std::int32_t node) { return marks_[static_cast<std::size_t>(node)]; }

    void enter(std::int32_t node, bool from_child) {
        if (!(mark(node) & (from_child ? kFromChild : kFromParent))) {
            waiting_.emplace_back(node, from_child);
        }
    }

    const Oracle& oracle_;
    std::vector<std::uint8_t> marks_;
    std::vector<std::pair<std::int32_t, bool>> waiting_;
};

}  // namespace

Oracle::Oracle(std::size_t n_nodes, std::span<const std::int32_t> arcs)
    : n_nodes_(n_nodes),
      parents_(lists(n_nodes, arcs, true)),
      children_(lists(n_nodes, arcs, false)) {}

Oracle::Lists Oracle::lists(std::size_t n_nodes, std::span<const std::int32_t> arcs,
                            bool of_parents) {
    Lists made{std::vector<std::size_t>(n_nodes + 1, 0),
               std::vector<std::int32_t>(arcs.size() / 2)};
    const std::size_t owner = of_parents ? 1 : 0;
    for (std::size_t i = 0; i < arcs.size(); i += 2) {
        ++made.starts[static_cast<std::size_t>(arcs[i + owner]) + 1];
    }
    for (std::size_t i = 0; i < n_nodes; ++i) made.starts[i + 1] += made.starts[i];
    std::vector<std::size_t> next(made.starts.begin(), made.starts.end() - 1);
    for (std::size_t i = 0; i < arcs.size(); i += 2) {
        made.members[next[static_cast<std::size_t>(arcs[i + owner])]++] = arcs[i + 1 - owner];
    }
    return made;
}

std::unique_ptr<Answerer> Oracle::answerer() const { return std::make_unique<Ball>(*this); }

double Oracle::expected_nanoseconds() const {
    return 50.0 + 4.0 * static_cast<double>(n_nodes_ + parents_.members.size());
}

}  // namespace bestdag
