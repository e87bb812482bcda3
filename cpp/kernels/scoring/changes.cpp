#include "scoring/changes.hpp"

#include <algorithm>
#include <atomic>
#include <type_traits>

#include "base/transpose.hpp"
#include "counting/count_type.hpp"
#include "counting/joint_counts.hpp"

namespace bestdag {

namespace {

constexpr std::size_t kCandidatesPerTask = 64;  // they share the partition by the family

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
            family_cells_.assign(rows.cells.begin(), rows.cells.end());
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
        return evaluator_->constant(shape) +
               evaluator_->rows(CountRows<Count>{turned_, shape.arity}, shape);
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
        return evaluator_->constant(shape) +
               evaluator_->rows(CountRows<Count>{turned_, shape.arity}, shape);
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

}  // namespace

ChangeScorers::ChangeScorers(const Table& table, const Kernel& kernel)
    : table_(table), kernel_(kernel) {}

ChangeScorers::~ChangeScorers() = default;

std::unique_ptr<ChangeScorers::Worker> ChangeScorers::make_worker(const StopFlag& stop) const {
    std::unique_ptr<Worker> worker;
    with_count_type(table_, [&](auto zero) {
        worker = std::make_unique<ChangeScorer<decltype(zero)>>(table_, kernel_, stop);
    });
    return worker;
}

void ChangeScorers::score(const FamilyList& families, const CandidateLists& candidates,
                          std::span<double> scores, const Execution& execution) {
    struct Task {
        std::size_t family, first, count;
    };
    std::vector<Task> tasks;
    for (std::size_t i = 0; i < families.size(); ++i) {
        const auto end = static_cast<std::size_t>(candidates.offsets[i + 1]);
        for (auto first = static_cast<std::size_t>(candidates.offsets[i]); first < end;
             first += kCandidatesPerTask) {
            tasks.push_back({i, first, std::min(kCandidatesPerTask, end - first)});
        }
    }
    const double expected = kernel_.expected(0.1 * static_cast<double>(table_.n_rows()) *
                                             static_cast<double>(candidates.members.size()));
    const auto n_workers =
        std::min(tasks.size(), static_cast<std::size_t>(std::max(1, execution.threads)));
    // A call that finds the workers taken makes its own; so do kernels whose evaluators do long
    // work, because these look at the flag of the call they were made in.
    const std::unique_lock lock(mutex_, std::try_to_lock);
    const bool keeps = lock.owns_lock() && !(kernel_.traits().nanoseconds_per_family > 0.0);
    std::vector<std::unique_ptr<Worker>> own;
    std::vector<std::unique_ptr<Worker>>& workers = keeps ? workers_ : own;
    if (workers.size() < n_workers) workers.resize(n_workers);
    std::atomic<std::size_t> next = 0;
    parallel_for(n_workers, expected, execution, [&](std::size_t number, const StopFlag& stop) {
        if (!workers[number]) workers[number] = make_worker(stop);
        for (std::size_t at; !stop && (at = next++) < tasks.size();) {
            const Task& task = tasks[at];
            workers[number]->score(families[task.family],
                                   candidates.members.subspan(task.first, task.count), stop,
                                   scores.data() + task.first);
        }
    });
}

}  // namespace bestdag
