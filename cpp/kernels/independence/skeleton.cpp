#include "independence/skeleton.hpp"

#include <algorithm>
#include <memory>

#include "independence/asking.hpp"
#include "independence/blocks.hpp"
#include "independence/subset_walk.hpp"

namespace bestdag {

using namespace asking;

namespace {

// Asked between two merges of what was found: after a stop little is left to merge.
constexpr std::size_t kNodesAtOnce = 256;

}  // namespace

struct SkeletonSearch::Ask {
    std::vector<std::int32_t> others;  // ascending
    std::vector<PairFinding> findings;
    LevelCounts counts;
    TestLog log;
};

SkeletonSearch::SkeletonSearch(const IndependenceTest& test, const SkeletonSettings& settings,
                               std::span<const std::int32_t> order,
                               std::span<const std::uint8_t> links,
                               std::span<const std::uint8_t> may_be_parent)
    : test_(test),
      settings_(settings),
      n_(test.n_variables()),
      order_(order.begin(), order.end()),
      rank_(n_),
      links_(links.begin(), links.end()),
      may_be_parent_(may_be_parent.begin(), may_be_parent.end()),
      joined_(n_ * n_, 0),
      findings_(n_ < 2 ? 0 : n_ * (n_ - 1) / 2),
      log_(settings.log_bytes) {
    for (std::size_t i = 0; i < n_; ++i) rank_[place(order_[i])] = i;
    for (std::size_t i = 0; i < n_; ++i) {
        for (std::size_t j = 0; j < n_; ++j) {
            joined_[i * n_ + j] =
                i != j && links_[i * n_ + j] != static_cast<int>(KnownLink::forbidden);
        }
    }
}

// In the order of the nodes.
std::vector<std::int32_t> SkeletonSearch::neighbours(std::size_t node) const {
    std::vector<std::int32_t> found;
    for (const std::int32_t other : order_) {
        if (is_joined(node, place(other))) found.push_back(other);
    }
    return found;
}

std::vector<std::int32_t> SkeletonSearch::askable(std::size_t node) const {
    std::vector<std::int32_t> found = neighbours(node);
    std::erase_if(found,
                  [&](std::int32_t other) { return !may_be_parent_[place(other) * n_ + node]; });
    return found;
}

// Whether an answer about the pair still matters.
bool SkeletonSearch::is_open(std::size_t one, std::size_t other) const {
    if (one == other || findings_[pair(one, other)].is_separated) return false;
    return is_joined(one, other) ||
           links_[one * n_ + other] == static_cast<int>(KnownLink::forbidden);
}

bool SkeletonSearch::has_level(std::size_t size) const {
    for (std::size_t node = 0; node < n_; ++node) {
        std::size_t n_neighbours = 0;
        for (std::size_t other = 0; other < n_; ++other) n_neighbours += is_joined(node, other);
        if (n_neighbours >= size + 1) return true;
    }
    return false;
}

double SkeletonSearch::expected(std::size_t size) const {
    double n_questions = 0.0;
    for (std::size_t node = 0; node < n_; ++node) {
        const std::size_t n_neighbours = neighbours(node).size();
        if (n_neighbours > size) {
            n_questions += n_subsets(n_neighbours - 1, size) * static_cast<double>(n_neighbours);
        }
    }
    return n_questions * test_.expected_nanoseconds();
}

void SkeletonSearch::note(std::size_t, std::size_t, std::span<const std::int32_t> given,
                          const Answer& answer, PairFinding& finding) const {
    const bool is_first = finding.n_tests++ == 0;
    if (!answer.is_independent && !is_first && answer.log_p <= finding.answer.log_p) return;
    finding.is_separated = answer.is_independent;
    finding.answer = answer;
    finding.given.assign(given.begin(), given.end());
}

// What one node asks at a level of the stable variant: about the nodes after it, or those before.
void SkeletonSearch::ask_as_node(std::size_t node, std::size_t size, bool of_later,
                                 Answerer& answerer, Ask& ask, const StopFlag& stop) const {
    const auto self = static_cast<std::int32_t>(node);
    const std::vector<std::int32_t>& near = level_neighbours_[node];
    std::vector<std::size_t> open;  // places in ask.others
    for (std::size_t other = of_later ? node + 1 : 0; other < (of_later ? n_ : node); ++other) {
        if (!is_open(node, other)) continue;
        open.push_back(ask.others.size());
        ask.others.push_back(static_cast<std::int32_t>(other));
    }
    ask.findings.resize(ask.others.size());
    const auto block = [&](std::int32_t neighbour) {
        const auto found = std::lower_bound(near.begin(), near.end(), neighbour);
        const bool is_near = found != near.end() && *found == neighbour;
        return is_near ? level_blocks_[node][static_cast<std::size_t>(found - near.begin())] : -1;
    };
    std::vector<std::int32_t> wanted;
    std::vector<std::size_t> wanted_at;
    std::vector<Answer> answers;
    for (ListSubsets sets(level_askable_[node], size); sets && !open.empty(); sets.next()) {
        const std::span<const std::int32_t> given = sets.members();
        std::int32_t common = -1;  // the block of all members
        if (settings_.needs_path && size > 0) {
            common = block(given[0]);
            if (!std::all_of(given.begin(), given.end(),
                             [&](std::int32_t v) { return block(v) == common; })) {
                continue;
            }
        }
        wanted.clear();
        wanted_at.clear();
        for (const std::size_t at : open) {
            const std::int32_t other = ask.others[at];
            if (has(given, other)) continue;
            if (settings_.needs_path && size > 0 && has(near, other) && block(other) != common) {
                continue;
            }
            ++ask.counts.questions;
            // The other node has asked this already, and the answer was no.
            if (!of_later && is_subset(given, level_askable_[place(other)])) continue;
            wanted.push_back(other);
            wanted_at.push_back(at);
        }
        if (wanted.empty()) {
            check(stop);
            continue;
        }
        answers.resize(wanted.size());
        answerer.ask(self, given, wanted, answers, stop);
        ask.counts.tests += static_cast<std::int64_t>(wanted.size());
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            note(node, place(wanted[i]), given, answers[i], ask.findings[wanted_at[i]]);
            ask.log.add(self, wanted[i], given, answers[i]);
        }
        std::erase_if(open, [&](std::size_t at) { return ask.findings[at].is_separated; });
    }
}

void SkeletonSearch::remember(std::size_t node, Ask& ask) {
    LevelCounts& level = levels_.back();
    level.questions += ask.counts.questions;
    level.tests += ask.counts.tests;
    for (std::size_t i = 0; i < ask.others.size(); ++i) {
        PairFinding& found = ask.findings[i];
        if (found.n_tests == 0) continue;
        PairFinding& kept = findings_[pair(node, place(ask.others[i]))];
        const bool is_news =
            found.is_separated || kept.n_tests == 0 || found.answer.log_p > kept.answer.log_p;
        const std::int32_t n_tests = kept.n_tests + found.n_tests;
        if (is_news) kept = std::move(found);
        kept.n_tests = n_tests;
    }
    log_.append(ask.log);
}

void SkeletonSearch::run_level(std::size_t size, const Execution& execution) {
    levels_.emplace_back();
    if (settings_.is_stable) {
        run_stable(size, execution);
        return;
    }
    // The order decides: one thread.
    const Execution alone{1, execution.should_stop};
    parallel_for(1, std::max(expected(size), 1.0), alone, [&](std::size_t, const StopFlag& stop) {
        run_printed(size, *test_.answerer(), stop);
    });
}

void SkeletonSearch::run_stable(std::size_t size, const Execution& execution) {
    level_neighbours_.resize(n_);
    level_askable_.resize(n_);
    for (std::size_t node = 0; node < n_; ++node) {
        level_neighbours_[node] = neighbours(node);
        level_askable_[node] = askable(node);
    }
    if (settings_.needs_path) level_blocks_ = blocks_of_links(level_neighbours_);
    const auto take_away = [&] {
        for (std::size_t one = 0; one < n_; ++one) {
            for (const std::int32_t other : level_neighbours_[one]) {
                if (place(other) < one || !findings_[pair(one, place(other))].is_separated)
                    continue;
                if (links_[one * n_ + place(other)] == static_cast<int>(KnownLink::required))
                    continue;
                joined_[one * n_ + place(other)] = joined_[place(other) * n_ + one] = 0;
                ++levels_.back().removed;
            }
        }
    };
    const double expected_now = expected(size);
    try {
        for (const bool of_later : {true, false}) {
            for (std::size_t first = 0; first < n_; first += kNodesAtOnce) {
                const std::size_t n_now = std::min(kNodesAtOnce, n_ - first);
                std::vector<std::unique_ptr<Ask>> asked(n_now);
                const auto work = [&](std::size_t i, Answerer& answerer, const StopFlag& stop) {
                    auto ask = std::make_unique<Ask>();
                    ask->log = TestLog(log_.bytes_left());
                    ask_as_node(first + i, size, of_later, answerer, *ask, stop);
                    asked[i] = std::move(ask);
                };
                const auto merge = [&] {
                    for (std::size_t i = 0; i < n_now; ++i) {
                        if (asked[i]) remember(first + i, *asked[i]);
                    }
                };
                const double share = static_cast<double>(n_now) / static_cast<double>(n_);
                try {
                    ask_each(test_, n_now, expected_now * share, execution, work);
                } catch (const Interrupted&) {
                    merge();  // every removal stands by itself
                    throw;
                }
                merge();
            }
        }
    } catch (const Interrupted&) {
        take_away();
        throw;
    }
    take_away();
}

// Algorithm 7.1 to the letter.
void SkeletonSearch::run_printed(std::size_t size, Answerer& answerer, const StopFlag& stop) {
    LevelCounts& level = levels_.back();
    const auto by_number = [&](std::span<const std::int32_t> nodes) {
        std::vector<std::int32_t> sorted(nodes.begin(), nodes.end());
        std::sort(sorted.begin(), sorted.end());
        return sorted;
    };
    std::vector<std::vector<std::int32_t>> near(n_), blocks;
    const auto find_blocks = [&] {
        if (!settings_.needs_path) return;
        for (std::size_t node = 0; node < n_; ++node) near[node] = by_number(neighbours(node));
        blocks = blocks_of_links(near);
    };
    const auto block = [&](std::size_t node, std::int32_t neighbour) {
        const auto found = std::lower_bound(near[node].begin(), near[node].end(), neighbour);
        return blocks[node][static_cast<std::size_t>(found - near[node].begin())];
    };
    find_blocks();
    for (const std::int32_t self : order_) {
        const std::size_t node = place(self);
        if (neighbours(node).size() < size + 1) continue;
        for (const std::int32_t other : order_) {
            if (!is_open(node, place(other))) continue;
            std::vector<std::int32_t> from = askable(node);
            std::erase(from, other);
            const bool is_joined_now = is_joined(node, place(other));
            PairFinding& finding = findings_[pair(node, place(other))];
            for (ListSubsets sets(from, size); sets; sets.next()) {
                check(stop);
                const std::vector<std::int32_t> given = by_number(sets.members());
                if (settings_.needs_path && is_joined_now &&
                    !std::all_of(given.begin(), given.end(), [&](std::int32_t v) {
                        return block(node, v) == block(node, other);
                    })) {
                    continue;
                }
                ++level.questions;
                const bool was_asked = rank_[place(other)] < rank_[node] &&
                                       is_subset(given, by_number(askable(place(other))));
                if (was_asked) continue;
                Answer answer;
                answerer.ask(self, given, {&other, 1}, {&answer, 1}, stop);
                ++level.tests;
                note(node, place(other), given, answer, finding);
                log_.add(self, other, given, answer);
                if (!answer.is_independent) continue;
                if (is_joined_now &&
                    links_[node * n_ + place(other)] != static_cast<int>(KnownLink::required)) {
                    joined_[node * n_ + place(other)] = joined_[place(other) * n_ + node] = 0;
                    ++level.removed;
                    find_blocks();
                }
                break;
            }
        }
    }
}

Votes SkeletonSearch::votes(std::span<const std::uint8_t> adjacency, std::size_t max_size,
                            const Execution& execution) {
    return count_votes(test_, adjacency, may_be_parent_, max_size, log_, execution);
}

}  // namespace bestdag
