// Tests of independence, and the first phase of the PC algorithm.
#include <exception>
#include <memory>
#include <stdexcept>

#include "bindings/types.hpp"
#include "independence/blocks.hpp"
#include "independence/data_test.hpp"
#include "independence/oracle.hpp"
#include "independence/skeleton.hpp"
#include "special/chi_square.hpp"

namespace {

using bestdag::Answer;
using Bytes = Array2<const std::uint8_t>;

// A test together with what it points into.
struct BoundTest {
    std::unique_ptr<bestdag::IndependenceTest> test;
    nb::object owner;
};

// Asks a Python function, under the interpreter lock.
class AskedTest : public bestdag::IndependenceTest {
public:
    AskedTest(std::size_t n_variables, nb::object function)
        : n_variables_(n_variables), function_(std::move(function)) {}
    ~AskedTest() override {
        const nb::gil_scoped_acquire locked;
        function_.reset();
        failure_ = nullptr;
    }

    std::size_t n_variables() const override { return n_variables_; }
    double expected_nanoseconds() const override { return 1e4; }
    bool takes_threads() const override { return false; }

    std::unique_ptr<bestdag::Answerer> answerer() const override {
        return std::make_unique<Asker>(*this);
    }

    // Raise what the function raised.
    void rethrow() const {
        if (std::exception_ptr failure = std::exchange(failure_, nullptr)) {
            std::rethrow_exception(failure);
        }
    }

private:
    class Asker : public bestdag::Answerer {
    public:
        explicit Asker(const AskedTest& test) : test_(test) {}

        void ask(std::int32_t one, std::span<const std::int32_t> given,
                 std::span<const std::int32_t> others, std::span<Answer> answers,
                 const bestdag::StopFlag& stop) override {
            bestdag::check(stop);
            const nb::gil_scoped_acquire locked;
            try {
                nb::list members;
                for (const std::int32_t member : given) members.append(member);
                for (std::size_t i = 0; i < others.size(); ++i) {
                    answers[i] = {};
                    answers[i].is_independent =
                        nb::cast<bool>(test_.function_(one, others[i], members));
                }
            } catch (...) {
                test_.failure_ = std::current_exception();
                throw bestdag::Interrupted();
            }
        }

    private:
        const AskedTest& test_;
    };

    std::size_t n_variables_;
    nb::object function_;
    mutable std::exception_ptr failure_;
};

void rethrow(const BoundTest& bound) {
    if (const auto* asked = dynamic_cast<const AskedTest*>(bound.test.get())) asked->rethrow();
}

// Answers as arrays.
struct AnswerArrays {
    std::vector<double> statistics, dfs, log_ps;
    std::vector<bool> independent;
    std::vector<std::uint8_t> remarks, is_independent;

    void add(const Answer& answer) {
        statistics.push_back(answer.statistic);
        dfs.push_back(answer.df);
        log_ps.push_back(answer.log_p);
        is_independent.push_back(answer.is_independent);
        remarks.push_back(static_cast<std::uint8_t>(answer.remark));
    }

    void put(nb::dict& made) {
        made["statistic"] = to_numpy(std::move(statistics));
        made["df"] = to_numpy(std::move(dfs));
        made["log_p"] = to_numpy(std::move(log_ps));
        made["is_independent"] = to_numpy(std::move(is_independent));
        made["remark"] = to_numpy(std::move(remarks));
    }
};

using Arrays = nb::typed<nb::dict, nb::str, nb::object>;

Arrays as_arrays(const bestdag::TestLog& log) {
    nb::dict made;
    AnswerArrays answers;
    for (const Answer& answer : log.answers) answers.add(answer);
    made["one"] = to_numpy(std::vector(log.ones));
    made["other"] = to_numpy(std::vector(log.others));
    made["end"] = to_numpy(std::vector(log.ends));
    made["member"] = to_numpy(std::vector(log.members));
    answers.put(made);
    return Arrays(made);
}

class BoundSearch {
public:
    BoundSearch(nb::object test, const Int32s& order, const Bytes& links,
                const Bytes& may_be_parent, bool stable, bool needs_path, std::size_t log_bytes)
        : test_(std::move(test)), bound_(nb::cast<const BoundTest&>(test_)) {
        const std::size_t n = bound_.test->n_variables();
        if (order.size() != n || links.size() != n * n || may_be_parent.size() != n * n) {
            throw std::invalid_argument("one entry per variable, or per pair of them");
        }
        search_ = std::make_unique<bestdag::SkeletonSearch>(
            *bound_.test, bestdag::SkeletonSettings{stable, needs_path, log_bytes}, view(order),
            view(links), view(may_be_parent));
    }

    bool run_level(std::size_t size, double seconds, int threads) {
        const bool is_done = run_for(seconds, threads, [&](const bestdag::Execution& execution) {
            search_->run_level(size, execution);
        });
        rethrow(bound_);
        return is_done;
    }

    nb::object votes(const Bytes& adjacency, std::size_t max_size, double seconds, int threads) {
        bestdag::Votes votes;
        if (adjacency.size() != search_->n_variables() * search_->n_variables()) {
            throw std::invalid_argument("one entry per pair of variables");
        }
        const bool is_done = run_for(seconds, threads, [&](const bestdag::Execution& execution) {
            votes = search_->votes(view(adjacency), max_size, execution);
        });
        rethrow(bound_);
        if (!is_done) return nb::none();
        nb::dict made;
        made["one"] = to_numpy(std::move(votes.ones));
        made["middle"] = to_numpy(std::move(votes.middles));
        made["other"] = to_numpy(std::move(votes.others));
        made["separating"] = to_numpy(std::move(votes.separating));
        made["with_middle"] = to_numpy(std::move(votes.with_middle));
        made["n_tests"] = votes.n_tests;
        return std::move(made);
    }

    bool has_level(std::size_t size) const { return search_->has_level(size); }

    nb::object adjacency() const {
        const std::size_t n = search_->n_variables();
        std::vector<std::uint8_t> joined(n * n);
        for (std::size_t i = 0; i < n * n; ++i) joined[i] = search_->is_joined(i / n, i % n);
        return to_numpy(std::move(joined), {n, n});
    }

    // Questions, tests and removed links of each level.
    nb::object levels() const {
        std::vector<std::int64_t> numbers;
        for (const bestdag::LevelCounts& level : search_->levels()) {
            numbers.insert(numbers.end(), {level.questions, level.tests, level.removed});
        }
        const std::size_t n = search_->levels().size();
        return to_numpy(std::move(numbers), {n, 3});
    }

    Arrays findings() const {
        nb::dict made;
        AnswerArrays answers;
        std::vector<std::int32_t> ones, others, n_tests, members;
        std::vector<std::int64_t> ends;
        const std::size_t n = search_->n_variables();
        for (std::size_t one = 0; one < n; ++one) {
            for (std::size_t other = one + 1; other < n; ++other) {
                const bestdag::PairFinding& found = search_->finding(one, other);
                if (found.n_tests == 0) continue;
                ones.push_back(static_cast<std::int32_t>(one));
                others.push_back(static_cast<std::int32_t>(other));
                n_tests.push_back(found.n_tests);
                members.insert(members.end(), found.given.begin(), found.given.end());
                ends.push_back(static_cast<std::int64_t>(members.size()));
                answers.add(found.answer);
            }
        }
        made["one"] = to_numpy(std::move(ones));
        made["other"] = to_numpy(std::move(others));
        made["n_tests"] = to_numpy(std::move(n_tests));
        made["end"] = to_numpy(std::move(ends));
        made["member"] = to_numpy(std::move(members));
        answers.put(made);
        return Arrays(made);
    }

    Arrays log() const { return as_arrays(search_->log()); }
    std::size_t n_logged() const { return search_->log().ones.size(); }

private:
    nb::object test_;  // keeps it alive
    const BoundTest& bound_;
    std::unique_ptr<bestdag::SkeletonSearch> search_;
};

// Answer single questions, each with a condition of its own.
Arrays ask(const BoundTest& bound, const Int32s& ones, const Int32s& others, const Int64s& offsets,
           const Int32s& members, int threads) {
    const std::size_t n = ones.size();
    if (others.size() != n || offsets.size() != n + 1) {
        throw std::invalid_argument("one entry per question");
    }
    std::vector<Answer> answers(n);
    run_unlocked(
        bound.test->takes_threads() ? threads : 1, [&](const bestdag::Execution& execution) {
            constexpr std::size_t kPiece = 16;
            const double expected = static_cast<double>(n) * bound.test->expected_nanoseconds();
            const std::size_t n_pieces = (n + kPiece - 1) / kPiece;
            bestdag::parallel_for(
                n_pieces, expected, execution,
                [&](std::size_t piece, const bestdag::StopFlag& stop) {
                    const auto answerer = bound.test->answerer();
                    for (std::size_t i = piece * kPiece; i < std::min(n, (piece + 1) * kPiece);
                         ++i) {
                        const auto first = static_cast<std::size_t>(offsets.data()[i]);
                        const auto last = static_cast<std::size_t>(offsets.data()[i + 1]);
                        answerer->ask(ones.data()[i], {members.data() + first, last - first},
                                      {others.data() + i, 1}, {answers.data() + i, 1}, stop);
                    }
                });
        });
    nb::dict made;
    AnswerArrays arrays;
    for (const Answer& answer : answers) arrays.add(answer);
    arrays.put(made);
    return Arrays(made);
}

// The links of an undirected graph, each once, and the number of the block of each.
nb::object link_blocks(const Bytes& adjacency) {
    const std::size_t n = adjacency.shape(0);
    if (adjacency.shape(1) != n) throw std::invalid_argument("one row and one column per node");
    std::vector<std::vector<std::int32_t>> neighbours(n);
    for (std::size_t i = 0; i < n * n; ++i) {
        if (adjacency.data()[i]) neighbours[i / n].push_back(static_cast<std::int32_t>(i % n));
    }
    const auto blocks = bestdag::blocks_of_links(neighbours);
    std::vector<std::int32_t> rows;
    for (std::size_t one = 0; one < n; ++one) {
        for (std::size_t k = 0; k < neighbours[one].size(); ++k) {
            const std::int32_t other = neighbours[one][k];
            if (static_cast<std::size_t>(other) < one) continue;
            rows.insert(rows.end(), {static_cast<std::int32_t>(one), other, blocks[one][k]});
        }
    }
    const std::size_t n_links = rows.size() / 3;
    return to_numpy(std::move(rows), {n_links, 3});
}

}  // namespace

void register_independence(nb::module_& m) {
    m.def("chi_square_log_tail", &bestdag::chi_square_log_tail, "df"_a, "x"_a,
          "ln P(chi-square with df degrees of freedom > x).");
    m.def("link_blocks", &link_blocks, "adjacency"_a.noconvert(),
          "Rows (one, other, block): the links of a graph and their biconnected components.");
    nb::class_<BoundTest>(m, "IndependenceTest", "Answers questions of conditional independence.")
        .def_static(
            "oracle",
            [](std::size_t n_nodes, const Int32s& arcs) {
                return BoundTest{std::make_unique<bestdag::Oracle>(n_nodes, view(arcs)), {}};
            },
            "n_nodes"_a, "arcs"_a.noconvert(), "d-separation in a directed acyclic graph.")
        .def_static(
            "of_rows",
            [](nb::object table, bool pearson, bool adjusts_df, double rows_per_df,
               double log_alpha, std::int64_t n_permutations, std::uint64_t seed) {
                using Settings = bestdag::DataTestSettings;
                const auto& bound = nb::cast<const BoundTable&>(table);
                const Settings settings{pearson ? Settings::Statistic::x2 : Settings::Statistic::g2,
                                        adjusts_df,
                                        rows_per_df,
                                        log_alpha,
                                        n_permutations,
                                        seed};
                return BoundTest{std::make_unique<bestdag::DataTest>(bound.table, settings), table};
            },
            "table"_a, "pearson"_a, "adjusts_df"_a, "rows_per_df"_a, "log_alpha"_a,
            "n_permutations"_a, "seed"_a, "A test on rows of data.")
        .def_static(
            "asking",
            [](std::size_t n_variables, nb::object function) {
                return BoundTest{std::make_unique<AskedTest>(n_variables, std::move(function)), {}};
            },
            "n_variables"_a, "function"_a,
            "What a Python function says: function(one, other, given) is true for independent.")
        .def("ask", &ask, "ones"_a.noconvert(), "others"_a.noconvert(), "offsets"_a.noconvert(),
             "members"_a.noconvert(), "threads"_a,
             "Statistic, degrees of freedom, ln p-value and decision of many questions.");
    nb::class_<BoundSearch>(m, "SkeletonSearch", "The first phase of the PC algorithm.")
        .def(nb::init<nb::object, const Int32s&, const Bytes&, const Bytes&, bool, bool,
                      std::size_t>(),
             "test"_a, "order"_a.noconvert(), "links"_a.noconvert(), "may_be_parent"_a.noconvert(),
             "stable"_a, "needs_path"_a, "log_bytes"_a)
        .def("has_level", &BoundSearch::has_level, "size"_a,
             "Whether a node has enough neighbours for sets of this size.")
        .def("run_level", &BoundSearch::run_level, "size"_a, "seconds"_a, "threads"_a,
             "Ask about sets of this size; false when time was up first.")
        .def("votes", &BoundSearch::votes, "adjacency"_a.noconvert(), "max_size"_a, "seconds"_a,
             "threads"_a, "Count the separating sets of unshielded triples; None out of time.")
        .def("adjacency", &BoundSearch::adjacency, "Which nodes are joined.")
        .def("levels", &BoundSearch::levels, "Questions, tests and removed links of each level.")
        .def("findings", &BoundSearch::findings, "What was found about each pair, as arrays.")
        .def("log", &BoundSearch::log, "The tests, as arrays.")
        .def("n_logged", &BoundSearch::n_logged, "How many tests these are.");
}
