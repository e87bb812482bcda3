#include "independence/skeleton.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <numeric>

#include "independence/blocks.hpp"
#include "independence/subset_walk.hpp"

namespace bestdag {

namespace {

// Asked between two merges of what was found: after a stop little is left to merge.
constexpr std::size_t kNodesAtOnce = 256;

std::size_t place(std::int32_t node) { return static_cast<std::size_t>(node); }

bool has(std::span<const std::int32_t> ascending, std::int32_t node) {
    return std::binary_search(ascending.begin(), ascending.end(), node);
}

bool is_subset(std::span<const std::int32_t> part, std::span<const std::int32_t> ascending) {
    return std::all_of(part.begin(), part.end(), [&](std::int32_t v) { return has(ascending, v); });
}

double n_subsets(std::size_t n, std::size_t size) {
    double product = 1.0;
    for (std::size_t k = 0; k < size; ++k) {
        product *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    }
    return size > n ? 0.0 : product;
}

}  // namespace

struct SkeletonSearch::Ask {
    std::vector<std::int32_t> others;  // ascending
    std::vector<PairFinding> findings;
    LevelCounts counts;
    TestLog log;
};

// Workers of one call, each with an answerer of its own that it makes when it first needs one.
struct SkeletonSearch::Workers {
    Workers(const IndependenceTest& test) : test_(test) {}

    // Run work(i, answerer, stop) for every i below n.
    template <class Work>
    void each(std::size_t n, double expected, const Execution& execution, const Work& work) {
        const std::size_t threads =
            test_.takes_threads() ? static_cast<std::size_t>(std::max(1, execution.threads)) : 1;
        std::atomic<std::size_t> next = 0;
        const Execution own{static_cast<int>(threads), execution.should_stop};
        parallel_for(std::min(n, threads), expected, own, [&](std::size_t, const StopFlag& stop) {
            const std::unique_ptr<Answerer> answerer = test_.answerer();
            for (std::size_t i; !stop && (i = next++) < n;) work(i, *answerer, stop);
        });
    }

private:
    const IndependenceTest& test_;
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
            joined_[i * n_ + j] = i != j && links_[i * n_ + j] != static_cast<int>(Link::forbidden);
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
    return is_joined(one, other) || links_[one * n_ + other] == static_cast<int>(Link::forbidden);
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
                if (links_[one * n_ + place(other)] == static_cast<int>(Link::required)) continue;
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
                    Workers(test_).each(n_now, expected_now * share, execution, work);
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
                    links_[node * n_ + place(other)] != static_cast<int>(Link::required)) {
                    joined_[node * n_ + place(other)] = joined_[place(other) * n_ + node] = 0;
                    ++level.removed;
                    find_blocks();
                }
                break;
            }
        }
    }
}

SkeletonSearch::Votes SkeletonSearch::votes(std::span<const std::uint8_t> adjacency,
                                            std::size_t max_size, const Execution& execution) {
    std::vector<std::vector<std::int32_t>> near(n_), from(n_);
    double n_questions = 0.0;
    for (std::size_t node = 0; node < n_; ++node) {
        for (std::size_t other = 0; other < n_; ++other) {
            if (!adjacency[node * n_ + other]) continue;
            near[node].push_back(static_cast<std::int32_t>(other));
            if (may_be_parent_[other * n_ + node]) {
                from[node].push_back(static_cast<std::int32_t>(other));
            }
        }
        for (std::size_t size = 0; size <= std::min(max_size, from[node].size()); ++size) {
            n_questions += n_subsets(from[node].size(), size) * 4.0;
        }
    }
    struct Pair {
        std::int32_t other;
        std::vector<std::int32_t> middles;
        std::vector<std::int64_t> with_middle;
        std::int64_t separating = 0;
    };
    // The pairs of a node, with those after it in the first half and those before in the second.
    std::vector<std::vector<Pair>> counted(2 * n_);
    double n_walks = 0.0;
    for (const auto& row : near) {
        n_walks += static_cast<double>(row.size()) * static_cast<double>(row.size());
    }
    parallel_for(2 * n_, n_walks, execution, [&](std::size_t task, const StopFlag& stop) {
        const bool of_later = task < n_;
        const std::size_t node = of_later ? task : task - n_;
        std::vector<std::int32_t> seconds;
        std::vector<char> is_second(n_, 0);
        for (const std::int32_t middle : near[node]) {
            check(stop);
            for (const std::int32_t other : near[place(middle)]) {
                const bool is_wanted = of_later ? place(other) > node : place(other) < node;
                if (is_wanted) is_second[place(other)] = 1;
            }
        }
        for (const std::int32_t other : near[node]) is_second[place(other)] = 0;
        for (std::size_t other = 0; other < n_; ++other) {
            if (is_second[other]) seconds.push_back(static_cast<std::int32_t>(other));
        }
        for (const std::int32_t other : seconds) {
            Pair pair{other, {}, {}, 0};
            std::set_intersection(near[node].begin(), near[node].end(), near[place(other)].begin(),
                                  near[place(other)].end(), std::back_inserter(pair.middles));
            pair.with_middle.assign(pair.middles.size(), 0);
            counted[task].push_back(std::move(pair));
            check(stop);
        }
    });
    // A piece of work is the sets of one size of one node: hubs are shared by the threads.
    struct Piece {
        std::size_t task, size;
        std::vector<Pair> pairs;
        std::int64_t n_tests = 0;
        TestLog log;
    };
    std::vector<Piece> pieces;
    for (std::size_t task = 0; task < 2 * n_; ++task) {
        const std::size_t most = std::min(max_size, from[task % n_].size());
        for (std::size_t size = 0; size <= most && !counted[task].empty(); ++size) {
            pieces.push_back({task, size, {}, 0, TestLog()});
        }
    }
    const auto work = [&](std::size_t number, Answerer& answerer, const StopFlag& stop) {
        Piece& piece = pieces[number];
        const bool of_later = piece.task < n_;
        const std::size_t node = piece.task % n_;
        piece.pairs = counted[piece.task];
        piece.log = TestLog(log_.bytes_left());
        std::vector<std::int32_t> wanted;
        std::vector<std::size_t> wanted_at;
        std::vector<Answer> answers;
        for (ListSubsets sets(from[node], piece.size); sets; sets.next()) {
            const std::span<const std::int32_t> given = sets.members();
            wanted.clear();
            wanted_at.clear();
            for (std::size_t i = 0; i < piece.pairs.size(); ++i) {
                const std::int32_t other = piece.pairs[i].other;
                // Sets that both ends have are counted once, by the first.
                if (!of_later && is_subset(given, from[place(other)])) continue;
                wanted.push_back(other);
                wanted_at.push_back(i);
            }
            check(stop);
            if (wanted.empty()) continue;
            answers.resize(wanted.size());
            answerer.ask(static_cast<std::int32_t>(node), given, wanted, answers, stop);
            piece.n_tests += static_cast<std::int64_t>(wanted.size());
            for (std::size_t i = 0; i < wanted.size(); ++i) {
                piece.log.add(static_cast<std::int32_t>(node), wanted[i], given, answers[i]);
                if (!answers[i].is_independent) continue;
                Pair& pair = piece.pairs[wanted_at[i]];
                ++pair.separating;
                for (std::size_t m = 0; m < pair.middles.size(); ++m) {
                    pair.with_middle[m] += has(given, pair.middles[m]);
                }
            }
        }
    };
    const double expected_now = n_questions * test_.expected_nanoseconds();
    Workers(test_).each(pieces.size(), expected_now, execution, work);
    Votes votes;
    for (const Piece& piece : pieces) {
        for (std::size_t i = 0; i < piece.pairs.size(); ++i) {
            Pair& sum = counted[piece.task][i];
            sum.separating += piece.pairs[i].separating;
            for (std::size_t m = 0; m < sum.middles.size(); ++m) {
                sum.with_middle[m] += piece.pairs[i].with_middle[m];
            }
        }
        votes.n_tests += piece.n_tests;
        log_.append(piece.log);
    }
    for (std::size_t node = 0; node < n_; ++node) {
        for (const Pair& pair : counted[node]) {
            const std::vector<Pair>& back = counted[n_ + place(pair.other)];
            const auto twin = std::lower_bound(
                back.begin(), back.end(), static_cast<std::int32_t>(node),
                [](const Pair& one, std::int32_t number) { return one.other < number; });
            for (std::size_t m = 0; m < pair.middles.size(); ++m) {
                votes.ones.push_back(static_cast<std::int32_t>(node));
                votes.middles.push_back(pair.middles[m]);
                votes.others.push_back(pair.other);
                votes.separating.push_back(pair.separating + twin->separating);
                votes.with_middle.push_back(pair.with_middle[m] + twin->with_middle[m]);
            }
        }
    }
    return votes;
}

}  // namespace bestdag
