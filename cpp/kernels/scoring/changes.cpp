#include "scoring/changes.hpp"

#include <algorithm>
#include <atomic>
#include <type_traits>

#include "base/bitwise.hpp"
#include "base/transpose.hpp"
#include "counting/count_type.hpp"
#include "counting/joint_counts.hpp"

namespace bestdag {

namespace {

// Of one task, which share the partition by the family. With fewer it is not worth its time.
constexpr std::size_t kMostCandidates = 64, kLeastCandidates = 2;
// For each row and candidate: with bitmaps for each cell of the family, at most by a histogram.
constexpr double kPerRow = 0.02, kPerCell = 1.0 / 18.0, kMostPerRow = 0.6;

bool contains(std::span<const std::int32_t> ascending, std::int32_t column) {
    return std::binary_search(ascending.begin(), ascending.end(), column);
}

template <class Count>
class ChangeScorer final : public ChangeScorers::Worker {
public:
    ChangeScorer(const Table& table, const Kernel& kernel, const StopFlag& stop)
        : table_(table),
          evaluator_(kernel.evaluator(table, stop)),
          joint_(table, true),
          counter_(table, true) {}

    void score(const Family& family, std::span<const std::int32_t> candidates, const StopFlag& stop,
               double* scores) override {
        const auto child = static_cast<std::int32_t>(family.child);
        additions_.clear();
        places_.clear();
        bool is_counted = false;  // the family as it is, for several drops
        for (std::size_t k = 0; k < candidates.size(); ++k) {
            if (candidates[k] == child) {
                scores[k] = score_directly(family, stop);
            } else if (contains(family.parents, candidates[k])) {
                if (!is_counted) count(family, stop);
                is_counted = true;
                const Family smaller = changed(family, candidates[k]);
                scores[k] = family_cells_.empty() ? score_directly(smaller, stop)
                                                  : score_without(family, smaller, candidates[k]);
            } else {
                additions_.push_back(candidates[k]);
                places_.push_back(k);
            }
        }
        prefix_.assign(family.parents.begin(), family.parents.end());
        prefix_.push_back(child);
        joint_.visit(prefix_, additions_, stop, [&](std::size_t i, std::span<const Count> cells) {
            const Family larger = changed(family, additions_[i]);
            scores[places_[i]] =
                cells.empty() ? score_directly(larger, stop) : score_cells(larger, cells, i);
        });
    }

private:
    // The family with one parent more or less; its parents are in a member.
    Family changed(const Family& family, std::int32_t column) {
        parents_.assign(family.parents.begin(), family.parents.end());
        const auto place = std::lower_bound(parents_.begin(), parents_.end(), column);
        if (place != parents_.end() && *place == column) {
            parents_.erase(place);
        } else if (static_cast<std::size_t>(column) != family.child) {
            parents_.insert(place, column);
        }
        return {family.child, parents_};
    }

    double score_directly(const Family& family, const StopFlag& stop) {
        const FamilyShape shape = shape_of(table_, family);
        double score = evaluator_->constant(shape);
        counter_.visit(family, stop, [&](const CountRows<Count>& rows) {
            score += evaluator_->rows(rows, shape);
        });
        return score;
    }

    // The cells of a family, or none when there are too many.
    void count(const Family& family, const StopFlag& stop) {
        family_cells_.clear();
        if (std::is_same_v<Count, double>) return;  // sums of real weights depend on their order
        const FamilyShape shape = shape_of(table_, family);
        const auto arity = static_cast<double>(shape.arity);
        if (!is_dense(table_, shape.n_configurations * arity)) return;
        counter_.visit(family, stop, [&](const CountRows<Count>& rows) {
            family_cells_.insert(family_cells_.end(), rows.cells.begin(), rows.cells.end());
        });
    }

    // The score of a family with one parent less, from the cells of the larger one.
    double score_without(const Family& family, const Family& smaller, std::int32_t dropped) {
        const std::size_t arity = table_.column(static_cast<std::size_t>(dropped)).arity;
        std::size_t inner = table_.column(family.child).arity;  // cells for one state of the parent
        for (const std::int32_t parent : family.parents) {
            if (parent > dropped) inner *= table_.column(static_cast<std::size_t>(parent)).arity;
        }
        turned_.assign(family_cells_.size() / arity, Count{0});
        for (std::size_t i = 0, at = 0; at < family_cells_.size(); i += inner) {
            for (std::size_t state = 0; state < arity; ++state, at += inner) {
                for (std::size_t j = 0; j < inner; ++j) turned_[i + j] += family_cells_[at + j];
            }
        }
        const FamilyShape shape = shape_of(table_, smaller);
        return score_of(*evaluator_, shape, CountRows<Count>{turned_, shape.arity});
    }

    // The cells come as (old parents..., child, new parent): bring the child last and the parents
    // into their order.
    double score_cells(const Family& larger, std::span<const Count> cells, std::size_t addition) {
        sizes_.clear();
        for (const std::int32_t column : prefix_) {
            sizes_.push_back(table_.column(static_cast<std::size_t>(column)).arity);
        }
        const std::int32_t added = additions_[addition];
        sizes_.push_back(table_.column(static_cast<std::size_t>(added)).arity);
        order_.clear();
        std::uint32_t old = 0;
        for (const std::int32_t parent : larger.parents) {
            order_.push_back(parent == added ? static_cast<std::uint32_t>(prefix_.size()) : old++);
        }
        order_.push_back(old);  // the child
        if (sizes_ != planned_sizes_ || order_ != planned_order_) {
            turn_.plan(sizes_, order_);
            planned_sizes_ = sizes_;
            planned_order_ = order_;
        }
        turn_.apply(cells, turned_);
        const FamilyShape shape = shape_of(table_, larger);
        return score_of(*evaluator_, shape, CountRows<Count>{turned_, shape.arity});
    }

    const Table& table_;
    std::unique_ptr<Evaluator> evaluator_;
    JointCounter<Count> joint_;
    FamilyCounter<Count> counter_;
    Transposition turn_;
    std::vector<std::int32_t> prefix_, parents_, additions_;
    std::vector<std::size_t> places_;
    std::vector<std::uint32_t> sizes_, order_, planned_sizes_, planned_order_;
    std::vector<Count> turned_, family_cells_;
};

// The changes of one family on several threads.
class SharedWorker final : public ChangeScorers::Worker {
public:
    SharedWorker(std::unique_ptr<ChangeScorers::Worker> single, const Table& table,
                 const Kernel& kernel)
        : single_(std::move(single)), several_(table, kernel) {}

    void share(int threads) override { threads_ = threads; }

    void score(const Family& family, std::span<const std::int32_t> candidates, const StopFlag& stop,
               double* scores) override {
        if (threads_ == 1) {
            single_->score(family, candidates, stop, scores);
            return;
        }
        const auto child = static_cast<std::int32_t>(family.child);
        const std::int64_t parents[] = {0, static_cast<std::int64_t>(family.parents.size())};
        const std::int64_t members[] = {0, static_cast<std::int64_t>(candidates.size())};
        several_.score({{&child, 1}, parents, family.parents}, {members, candidates},
                       {scores, candidates.size()},
                       {threads_, [&stop] { return stop.load(std::memory_order_relaxed); }});
    }

private:
    std::unique_ptr<ChangeScorers::Worker> single_;
    ChangeScorers several_;
    int threads_ = 1;
};

}  // namespace

ChangeScorers::ChangeScorers(const Table& table, const Kernel& kernel)
    : table_(table), kernel_(kernel) {}

ChangeScorers::~ChangeScorers() = default;

std::unique_ptr<ChangeScorers::Worker> ChangeScorers::make_worker(const StopFlag& stop) const {
    std::unique_ptr<Worker> single = make_single(stop);
    if (has_long_evaluators()) return single;
    return std::make_unique<SharedWorker>(std::move(single), table_, kernel_);
}

std::unique_ptr<ChangeScorers::Worker> ChangeScorers::make_single(const StopFlag& stop) const {
    std::unique_ptr<Worker> worker;
    with_count_type(table_, [&](auto zero) {
        worker = std::make_unique<ChangeScorer<decltype(zero)>>(table_, kernel_, stop);
    });
    return worker;
}

double ChangeScorers::expected_nanoseconds(const FamilyList& families,
                                           const CandidateLists& candidates) const {
    double per_row = 0.0;
    for (std::size_t i = 0; i < families.size(); ++i) {
        const Family family = families[i];
        const double cells = n_configurations(table_, family) *
                             static_cast<double>(table_.column(family.child).arity);
        per_row +=
            static_cast<double>(candidates.offsets[i + 1] - candidates.offsets[i]) *
            std::min(kPerRow + kPerCell * cells / bitwise().words_per_nanosecond, kMostPerRow);
    }
    return kernel_.expected(per_row * static_cast<double>(table_.n_rows()));
}

void ChangeScorers::score(const FamilyList& families, const CandidateLists& candidates,
                          std::span<double> scores, const Execution& execution) {
    struct Task {
        std::size_t family, first, count;
    };
    const double expected = expected_nanoseconds(families, candidates);
    const std::size_t threads = useful_threads(expected, execution);
    const std::size_t per_task = std::clamp((candidates.members.size() + threads - 1) / threads,
                                            kLeastCandidates, kMostCandidates);
    std::vector<Task> tasks;
    for (std::size_t i = 0; i < families.size(); ++i) {
        const auto end = static_cast<std::size_t>(candidates.offsets[i + 1]);
        for (auto first = static_cast<std::size_t>(candidates.offsets[i]); first < end;
             first += per_task) {
            tasks.push_back({i, first, std::min(per_task, end - first)});
        }
    }
    const std::size_t n_workers = std::min(tasks.size(), threads);
    // A call that finds the workers taken makes its own; so do kernels whose evaluators do long
    // work, because these look at the flag of the call they were made in.
    const std::unique_lock lock(mutex_, std::try_to_lock);
    const bool keeps = lock.owns_lock() && !has_long_evaluators();
    std::vector<std::unique_ptr<Worker>> own;
    std::vector<std::unique_ptr<Worker>>& workers = keeps ? workers_ : own;
    if (workers.size() < n_workers) workers.resize(n_workers);
    std::atomic<std::size_t> next = 0;
    parallel_for(n_workers, expected, execution, [&](std::size_t number, const StopFlag& stop) {
        if (!workers[number]) workers[number] = make_single(stop);
        for (std::size_t at; !stop && (at = next++) < tasks.size();) {
            const Task& task = tasks[at];
            workers[number]->score(families[task.family],
                                   candidates.members.subspan(task.first, task.count), stop,
                                   scores.data() + task.first);
        }
    });
}

}  // namespace bestdag
