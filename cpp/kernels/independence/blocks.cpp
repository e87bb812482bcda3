#include "independence/blocks.hpp"

#include <algorithm>
#include <cstddef>

namespace bestdag {

namespace {

// Hopcroft and Tarjan (1973), with a stack of our own: a path may be as long as there are nodes.
class BlockSearch {
public:
    explicit BlockSearch(const std::vector<std::vector<std::int32_t>>& neighbours)
        : neighbours_(neighbours),
          depth_(neighbours.size(), 0),
          low_(neighbours.size(), 0),
          blocks_(neighbours.size()) {
        for (std::size_t i = 0; i < neighbours.size(); ++i) {
            blocks_[i].assign(neighbours[i].size(), -1);
        }
    }

    std::vector<std::vector<std::int32_t>> run() {
        for (std::size_t start = 0; start < neighbours_.size(); ++start) {
            if (depth_[start] == 0) explore(start);
        }
        return std::move(blocks_);
    }

private:
    struct Visit {
        std::size_t node;
        std::size_t from;  // the node before it
        std::size_t next;  // place among its neighbours
    };
    struct Link {
        std::size_t one, other;
    };

    void explore(std::size_t start) {
        depth_[start] = low_[start] = ++time_;
        stack_.push_back({start, start, 0});
        while (!stack_.empty()) {
            Visit& top = stack_.back();
            if (top.next == neighbours_[top.node].size()) {
                leave();
                continue;
            }
            const auto other = static_cast<std::size_t>(neighbours_[top.node][top.next++]);
            if (other == top.from) continue;
            if (depth_[other] == 0) {
                links_.push_back({top.node, other});
                depth_[other] = low_[other] = ++time_;
                stack_.push_back({other, top.node, 0});
            } else if (depth_[other] < depth_[top.node]) {
                links_.push_back({top.node, other});
                low_[top.node] = std::min(low_[top.node], depth_[other]);
            }
        }
    }

    void leave() {
        const Visit done = stack_.back();
        stack_.pop_back();
        if (stack_.empty()) return;
        low_[done.from] = std::min(low_[done.from], low_[done.node]);
        if (low_[done.node] < depth_[done.from]) return;
        for (bool more = true; more;) {  // the links since then are a block
            const Link link = links_.back();
            links_.pop_back();
            name(link.one, link.other);
            name(link.other, link.one);
            more = link.one != done.from || link.other != done.node;
        }
        ++n_blocks_;
    }

    void name(std::size_t one, std::size_t other) {
        const auto& row = neighbours_[one];
        const auto place = std::lower_bound(row.begin(), row.end(), static_cast<int>(other));
        blocks_[one][static_cast<std::size_t>(place - row.begin())] = n_blocks_;
    }

    const std::vector<std::vector<std::int32_t>>& neighbours_;
    std::vector<std::size_t> depth_, low_;
    std::vector<std::vector<std::int32_t>> blocks_;
    std::vector<Visit> stack_;
    std::vector<Link> links_;
    std::size_t time_ = 0;
    std::int32_t n_blocks_ = 0;
};

}  // namespace

std::vector<std::vector<std::int32_t>> blocks_of_links(
    const std::vector<std::vector<std::int32_t>>& neighbours) {
    return BlockSearch(neighbours).run();
}

}  // namespace bestdag
