"""Ancestors, non-ancestors and edges either way: proven optima, checked proofs, honest ends."""

import itertools
import math
import random
from dataclasses import replace

import pytest

from bestdag.errors import CertificateError, GraphError, InvalidParameterError
from bestdag.graph.enumeration import all_dags
from bestdag.graph.knowledge import Knowledge
from bestdag.scores.scorer import Scorer
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.search import Exact
from bestdag.search.exact.solver import Solver
from bestdag.search.exact.statements.proof import StatementProof
from bestdag.search.exact.statements.search import StatementTree
from bestdag.search.exact.statements.statements import Limit, Narrower, Split, Statements
from bestdag.search.problem import Problem
from tests.conftest import make_dataset
from tests.search.exact.tables import random_table

NAMES = tuple("abcd")
DAGS = list(all_dags(NAMES))
PAIRS = list(itertools.permutations(NAMES, 2))

both_engines = pytest.mark.parametrize("engine", ["dp", "bnc"])


def full_table(seed, *, ties=False):
    """Every parent set of four variables, at random scores that favour no size."""
    rng = random.Random(seed)
    lists = {}
    for child in NAMES:
        others = [name for name in NAMES if name != child]
        lists[child] = [
            (float(rng.randint(-2, 2)) if ties else rng.uniform(-10, 10), members)
            for size in range(4)
            for members in itertools.combinations(others, size)
        ]
    return ScoreTable.from_lists(NAMES, lists)


def knowledge_of(rng, operators, n):
    """Random statements that do not contradict each other."""
    while True:
        lines = [f"{a} {rng.choice(operators)} {b}" for a, b in rng.sample(PAIRS, n)]
        try:
            knowledge = Knowledge.parse(lines)
            knowledge.for_nodes(NAMES)
        except GraphError:
            continue
        return knowledge


def check(knowledge, table, engine):
    totals = [table.total(dag) for dag in DAGS if knowledge.allows(dag)]
    found = Problem(table, knowledge=knowledge).solve(Exact(engine=engine))
    assert found.is_proved
    assert knowledge.allows(found.dag)
    assert found.score == pytest.approx(max(totals), abs=1e-9)
    assert found.score == pytest.approx(table.total(found.dag), abs=1e-12)
    assert found.gap == 0.0
    assert found.verify()
    return found


@both_engines
@pytest.mark.parametrize("operator", ["~>", "!~>", "--"])
@pytest.mark.parametrize("seed", range(12))
def test_one_kind_of_statement_equals_brute_force(engine, operator, seed):
    rng = random.Random(f"{operator}{seed}")
    knowledge = knowledge_of(rng, [operator], 1 + seed % 3)
    check(knowledge, full_table(seed, ties=seed % 4 == 3), engine)


@both_engines
@pytest.mark.parametrize("seed", range(40))
def test_mixtures_equal_brute_force(engine, seed):
    rng = random.Random(seed)
    knowledge = knowledge_of(rng, ["~>", "!~>", "--", "->", "!>", "!-"], 2 + seed % 4)
    check(knowledge, full_table(100 + seed, ties=seed % 4 == 3), engine)


# Without the statement: a alone -1, b -> c as b -1 and c -1. Everything else costs 5 more, so the
# cheapest way from a to c is one more arc: a -> b (c keeps b), or a beside b: both cost 5.
def test_components_that_a_statement_joins_are_solved_together():
    sets = {
        "a": [(-1.0, []), (-6.0, ["b"]), (-6.0, ["c"]), (-11.0, ["b", "c"])],
        "b": [(-1.0, []), (-6.0, ["a"]), (-6.0, ["c"]), (-11.0, ["a", "c"])],
        "c": [(-6.0, []), (-1.0, ["b"]), (-11.0, ["a"]), (-6.0, ["a", "b"])],
    }
    table = ScoreTable.from_lists(["a", "b", "c"], sets)
    knowledge = Knowledge.parse(["a ~> c"])
    found = Problem(table, knowledge=knowledge).solve(Exact())
    assert (found.score, found.status) == (-8.0, "optimum proved")
    assert knowledge.allows(found.dag)


# {a} of b and {b} of a are beaten by the empty set, so a pruned table would lack the edge.
def test_sets_that_a_subset_beats_are_there_when_a_statement_needs_them():
    data = make_dataset({"a": [0, 1, 0, 1] * 5, "b": [0, 0, 1, 1] * 5, "c": [0, 1, 1, 0] * 5})
    scorer = Scorer(data, "bic")
    for line in ("a -- b", "a ~> b"):
        knowledge = Knowledge.parse([line])
        found = Problem(scorer, knowledge=knowledge).solve(Exact())
        totals = [scorer.total(d) for d in all_dags(["a", "b", "c"]) if knowledge.allows(d)]
        assert found.is_proved
        assert found.score == pytest.approx(max(totals), rel=1e-12)


def test_a_file_that_may_lack_sets_is_refused_unless_its_best_structure_obeys():
    pruned = ScoreTable.from_lists(
        ["a", "b"], {"a": [(-1.0, [])], "b": [(-1.0, ["a"]), (-2.0, [])]}
    )
    for line in ("a ~> b", "a -- b"):
        assert Problem(pruned, knowledge=Knowledge.parse([line])).solve(Exact()).score == -2.0
    empty = ScoreTable.from_lists(["a", "b"], {"a": [(-1.0, [])], "b": [(-1.0, [])]})
    for line, child in (("a ~> b", "b"), ("a -- b", "a")):
        lacking = f"sets of '{child}' that the score file lacks"
        with pytest.raises(InvalidParameterError, match=lacking):
            Problem(empty, knowledge=Knowledge.parse([line])).solve(Exact())
    # Statements that only take arcs away never need a set that a subset beats.
    knowledge = Knowledge.parse(["a !~> b"])
    assert Problem(pruned, knowledge=knowledge).solve(Exact()).score == -3.0


@both_engines
def test_statements_that_the_sets_cannot_meet_are_an_error(engine):
    # Every set is there, and both arcs of the edge close a cycle with what limits leave.
    table = full_table(0)
    statements = Statements(4, ((0, 1),), (), ())
    only_empty = ScoreTable.from_lists(NAMES, {name: [(0.0, [])] for name in NAMES})
    with pytest.raises(GraphError, match="no structure from the candidate parent sets satisfies"):
        StatementTree(only_empty, statements, Solver(engine, 1, None)).run()
    assert StatementTree(table, statements, Solver(engine, 1, None)).run().proofs


@both_engines
def test_a_moment_of_time_gives_a_structure_that_obeys_and_a_bound(engine):
    knowledge = Knowledge.parse(["a ~> d", "b !~> c", "b -- d"])
    for seed in range(10):
        table = full_table(seed)
        best = max(table.total(dag) for dag in DAGS if knowledge.allows(dag))
        found = Problem(table, knowledge=knowledge, time_limit=1e-9).solve(Exact(engine=engine))
        assert found.status == "time limit"
        assert knowledge.allows(found.dag)
        assert found.score == pytest.approx(table.total(found.dag), abs=1e-12)
        assert found.score <= best + 1e-9
        assert found.bound >= best - 1e-9
        assert found.certificates == ()


def test_an_interrupt_between_cases_gives_a_structure_that_obeys_and_a_bound(monkeypatch):
    knowledge = Knowledge.parse(["a ~> d", "c ~> b", "b -- d"])
    table = full_table(5)
    best = max(table.total(dag) for dag in DAGS if knowledge.allows(dag))
    branch = StatementTree._branch
    calls = []

    def interrupted(self, *arguments):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        branch(self, *arguments)

    monkeypatch.setattr(StatementTree, "_branch", interrupted)
    found = Problem(table, knowledge=knowledge).solve(Exact())
    assert found.status == "interrupted"
    assert knowledge.allows(found.dag)
    assert found.score <= best <= found.bound


@pytest.mark.parametrize("lines", [["a ~> d", "b -- d"], ["a -- b", "b -- c", "a -- c", "d ~> a"]])
def test_scoring_that_ends_before_the_sets_are_there_still_gives_a_structure(lines, monkeypatch):
    rng = random.Random(0)
    data = make_dataset({name: [rng.randint(0, 2) for _ in range(50)] for name in NAMES})
    scorer = Scorer(data, "bdeu")
    knowledge = Knowledge.parse(lines)
    problem = Problem(scorer, knowledge=knowledge)
    empty = {name: [(scorer.family(name, ()), [])] for name in NAMES}
    table = ScoreTable.from_lists(NAMES, empty)
    cut_short = ScoreTable(NAMES, [table.child(i) for i in range(4)], complete=False)
    best = problem.solve(Exact()).score
    monkeypatch.setattr(problem, "table", lambda time_limit: cut_short)
    found = problem.solve(Exact())
    assert found.status == "time limit"
    assert found.score <= best <= found.bound + 1e-9
    assert knowledge.allows(found.dag)
    assert found.score == pytest.approx(scorer.total(found.dag), rel=1e-12)


def test_a_time_limit_ends_a_long_search_in_time():
    # No arc raises the score, and every statement asks for a path: a hard problem on purpose.
    rng = random.Random(1)
    names = [f"v{i:02}" for i in range(14)]
    lists = {
        child: [
            (-sum(rng.uniform(5, 6) for _ in group), group)
            for size in range(3)
            for group in itertools.combinations([n for n in names if n != child], size)
        ]
        for child in names
    }
    table = ScoreTable.from_lists(names, lists)
    knowledge = Knowledge.parse(
        [f"{a} ~> {b}" for a, b in zip(names[:5], names[5:10], strict=True)]
    )
    problem = Problem(table, knowledge=knowledge, max_parents=2, time_limit=0.5)
    found = problem.solve(Exact())
    assert knowledge.allows(found.dag)
    assert found.status == "time limit"
    # Each of the five nodes needs an arc of at least 5 into it, and paths of one arc do with that.
    assert found.bound >= -25 * 1.2 - 1e-9
    assert found.score <= found.bound


# The proof --------------------------------------------------------------------------------------


def proof_of(seed=5, lines=("a ~> d", "c ~> b", "b -- d")):
    table = full_table(seed)
    found = Problem(table, knowledge=Knowledge.parse(list(lines))).solve(Exact(engine="dp"))
    (proof,) = found.certificates
    assert isinstance(proof, StatementProof)
    assert len(proof.cases) > 3
    proof.verify()
    return proof


def test_a_proof_that_lacks_a_case_is_found_out():
    proof = proof_of()
    root = replace(proof.cases[0], children=proof.cases[0].children[:-1])
    with pytest.raises(CertificateError, match="case 0 is split without reason"):
        replace(proof, cases=(root, *proof.cases[1:])).verify()


def test_a_split_that_no_statement_asks_for_is_found_out():
    proof = proof_of()
    with pytest.raises(CertificateError, match="case 0 is split without reason"):
        replace(
            proof, statements=replace(proof.statements, required_edges=(), ancestors=())
        ).verify()


def test_a_case_that_was_not_solved_is_found_out():
    proof = proof_of()
    number = next(i for i, case in enumerate(proof.cases) if case.results and not case.split)
    cases = list(proof.cases)
    cases[number] = replace(cases[number], results={})
    with pytest.raises(CertificateError, match=f"case {number} may score"):
        replace(proof, cases=tuple(cases)).verify()


def test_a_structure_that_breaks_a_statement_or_has_another_score_is_found_out():
    proof = proof_of()
    with pytest.raises(CertificateError, match="is not the structure's score"):
        replace(proof, score=proof.score + 1).verify()
    sets = [proof.table.child(i) for i in range(4)]
    empty = tuple(next(k for k in range(8) if not s.parents(k)) for s in sets)
    score = math.fsum(float(s.scores[k]) for s, k in zip(sets, empty, strict=True))
    with pytest.raises(CertificateError, match="violates a constraint"):
        replace(proof, chosen=empty, score=score).verify()


# Parts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_every_split_has_each_graph_that_obeys_once_and_the_one_at_hand_never(seed):
    rng = random.Random(seed)
    kinds = {
        "edge": Split(edge=(0, 1)),
        "path": Split(path=tuple(rng.sample(range(4), 3))),
        "cut": Split(entered=tuple(rng.sample(range(4), 2))),
    }
    graphs = [[tuple(map(NAMES.index, dag.parents(c))) for c in NAMES] for dag in DAGS]
    for kind, split in kinds.items():
        for parents in graphs:
            n_cases = sum(
                all(_keeps(parents[limit.child], limit) for limit in limits)
                for limits in split.alternatives(4)
            )
            if kind == "edge":
                wanted = 1 in parents[0] or 0 in parents[1]
            elif kind == "path":
                arcs = list(itertools.pairwise(split.path))
                wanted = not all(p in parents[c] for p, c in arcs)
            else:
                inside = set(split.entered)
                wanted = any(set(parents[c]) - inside for c in inside)
            assert n_cases == int(wanted)


def _keeps(parents, limit):
    common = set(parents) & set(limit.members)
    wanted = {"all": common == set(limit.members), "none": not common, "some": bool(common)}
    return wanted[limit.kind]


@pytest.mark.parametrize("seed", range(5))
def test_narrowing_keeps_what_limits_allow_and_no_subset_beats(seed):
    table = random_table(7, 30, seed)
    limits = [Limit(0, "some", (1, 2)), Limit(0, "none", (3,)), Limit(4, "all", (5,))]
    narrowed = Narrower(table).narrowed(limits)
    for child in range(7):
        mine = [limit for limit in limits if limit.child == child]
        fits = [
            (k, score, set(parents))
            for k, (score, parents) in enumerate(table.child(child))
            if all(_keeps(parents, limit) for limit in mine)
        ]
        wanted = [k for k, s, ps in fits if not any(o < ps and other >= s for _, other, o in fits)]
        assert narrowed.origins[child].tolist() == wanted
        kept = [(score, parents) for score, parents in narrowed.table.child(child)]
        assert kept == [list(table.child(child))[k] for k in wanted]


def test_narrowing_to_nothing_or_to_cycles_only_is_none():
    table = ScoreTable.from_lists(
        ["a", "b"], {"a": [(0.0, []), (1.0, ["b"])], "b": [(0.0, []), (1.0, ["a"])]}
    )
    narrower = Narrower(table)
    assert narrower.narrowed([Limit(0, "all", (1,)), Limit(0, "none", (1,))]) is None
    assert narrower.narrowed([Limit(0, "all", (1,)), Limit(1, "all", (0,))]) is None
    assert narrower.narrowed([Limit(0, "all", (1,))]) is not None


def test_more_than_64_variables():
    n = 66
    names = [f"v{i:02}" for i in range(n)]
    lists = {
        v: [(0.0, [])] + [(-1.0 - i, [u]) for i, u in enumerate(names) if u != v] for v in names
    }
    table = ScoreTable.from_lists(names, lists)
    found = Problem(table, knowledge=Knowledge.parse(["v00 ~> v65"]), max_parents=1).solve(Exact())
    # Into v65 from v00 for 1, the cheapest arc there is.
    assert (found.score, found.status) == (-1.0, "optimum proved")
    assert found.verify()
