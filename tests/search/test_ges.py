"""Greedy equivalence search: moves checked on all members of all classes, theorem, refusals."""

import itertools
import math
from collections import defaultdict

import numpy as np
import pytest

from bestdag import GES, ArcDifferencePrior, BDe, Dag, Knowledge, Network, learn
from bestdag.data.schema import Variable
from bestdag.errors import CycleError, GraphError, InvalidParameterError
from bestdag.graph.enumeration import all_dags
from bestdag.network.table import ConditionalTable
from bestdag.scores.scorer import Scorer
from bestdag.search.ges.gains import Gains
from bestdag.search.ges.operators import View, deletes, inserts, turns
from bestdag.search.problem import Problem
from tests.conftest import make_dataset

CLASSES = defaultdict(list)
for _dag in all_dags(list("abcd")):
    CLASSES[_dag.cpdag()].append(_dag)


def more_arcs(dag):
    for x, y in itertools.permutations(dag.nodes, 2):
        if x not in dag.adjacent(y):
            try:
                yield dag.add(x, y)
            except CycleError:
                continue


def fewer_arcs(dag):
    return (dag.remove(*arc) for arc in dag.arcs)


def turned_arcs(dag):
    for arc in dag.arcs:
        try:
            yield dag.reverse(*arc)
        except CycleError:
            continue


def moves(listing, view):
    pairs = itertools.permutations(view.graph.nodes, 2)
    return [m for x, y in pairs for m in listing(view, x, y) if m.is_valid(view)]


def random_scorer(seed, n_rows=60, score="bdeu"):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n_rows)
    b = (a + (rng.random(n_rows) < 0.3)) % 2
    c = rng.integers(0, 3, n_rows)
    d = (b + c + (rng.random(n_rows) < 0.3)) % 3
    columns = {"d": d, "a": a, "c": c, "b": b}
    return Scorer(make_dataset({k: v.tolist() for k, v in columns.items()}), score)


def test_there_are_185_classes_of_four_nodes():
    assert len(CLASSES) == 185


@pytest.mark.parametrize(
    ("listing", "change"), [(inserts, more_arcs), (deletes, fewer_arcs), (turns, turned_arcs)]
)
def test_moves_lead_where_a_change_of_some_member_leads(listing, change):
    for graph, members in CLASSES.items():
        view = View(graph)
        reached = {move.apply(view).to_dag().cpdag() for move in moves(listing, view)}
        expected = {other.cpdag() for dag in members for other in change(dag)}
        assert reached == expected - {graph}


@pytest.mark.parametrize("listing", [inserts, deletes, turns])
def test_the_gain_of_a_move_is_the_difference_of_the_totals(listing):
    scorer = random_scorer(0)
    for graph, members in CLASSES.items():
        view = View(graph)
        before = scorer.total(members[0])
        for move in moves(listing, view):
            old, new = move.families(view)
            gain = scorer.families(new).sum() - scorer.families(old).sum()
            after = scorer.total(move.apply(view).to_dag())
            assert gain == pytest.approx(after - before, abs=1e-9)


@pytest.mark.parametrize("listing", [inserts, deletes, turns])
def test_gains_brought_up_to_date_are_those_worked_out_anew(listing):
    scorer = random_scorer(3)
    rng = np.random.default_rng(1)
    classes = sorted(CLASSES, key=lambda graph: (graph.arcs, graph.edges))
    kept = Gains(scorer, listing, lambda _: True)
    for place in rng.integers(0, len(classes), 60):
        fresh = Gains(scorer, listing, lambda _: True)
        for gains in (kept, fresh):
            gains.update(View(classes[place]))
        assert list(kept.best(0.0, 1e-9)) == list(fresh.best(0.0, 1e-9))


def greedy_over_classes(scorer, changes):
    """Where a walk to the best class around ends, by any choice among equally good ones."""
    total = {graph: scorer.total(members[0]) for graph, members in CLASSES.items()}
    ends = {Dag.empty(list("abcd")).cpdag()}
    for change in changes:
        walking, ends = ends, set()
        while walking:
            graph = walking.pop()
            near = {other.cpdag() for dag in CLASSES[graph] for other in change(dag)} or {graph}
            best = max(total[other] for other in near)
            if best <= total[graph] + 1e-9:
                ends.add(graph)
            else:
                walking |= {other for other in near if total[other] > best - 1e-9}
    return ends


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("score", ["bdeu", "bic", "qnml", "aic"])
def test_equals_a_greedy_search_over_all_members(seed, score):
    scorer = random_scorer(seed, 20 + 10 * seed, score)
    found = GES().run(Problem(scorer))
    assert found.dag.cpdag() in greedy_over_classes(scorer, [more_arcs, fewer_arcs])
    assert found.score == pytest.approx(scorer.total(found.dag), rel=1e-12)
    assert found.status == "local optimum"


@pytest.mark.parametrize("seed", range(30))
def test_turning_ends_where_no_change_of_any_member_helps(seed):
    scorer = random_scorer(seed, 20 + 10 * seed)
    found = GES(turning=True).run(Problem(scorer))
    assert found.score >= GES().run(Problem(scorer)).score - 1e-9
    for dag in CLASSES[found.dag.cpdag()]:
        for change in (more_arcs, fewer_arcs, turned_arcs):
            assert all(scorer.total(other) <= found.score + 1e-9 for other in change(dag))


def exact_data(dag, seed, n_rows):
    """All configurations, weighted by their probabilities under random tables over the graph."""
    rng = np.random.default_rng(seed)
    variables = {v: Variable(v, ("0", "1", "2")[: 2 + (i % 2)]) for i, v in enumerate(dag.nodes)}
    tables = []
    for v in dag.nodes:
        parents = tuple(variables[p] for p in dag.parents(v))
        shape = (*(p.arity for p in parents), variables[v].arity)
        tables.append(
            ConditionalTable(variables[v], parents, rng.dirichlet(np.ones(shape[-1]), shape[:-1]))
        )
    codes, weights = [], []
    for cell in itertools.product(*(range(variables[v].arity) for v in dag.nodes)):
        at = dict(zip(dag.nodes, cell, strict=True))
        weights.append(
            n_rows
            * math.prod(
                t.values[(*(at[p.name] for p in t.parents), at[t.child.name])] for t in tables
            )
        )
        codes.append(cell)
    columns = {v: [c[i] for c in codes] for i, v in enumerate(dag.nodes)}
    return columns, weights


@pytest.mark.parametrize("seed", range(20))
def test_finds_the_class_of_a_perfect_map_in_the_limit(seed):
    # Weights in place of an endless sample: the counts are exactly proportional to the joint
    # distribution of a random network, for which its graph is a perfect map with probability 1.
    rng = np.random.default_rng(100 + seed)
    names = list("abcde")
    arcs = [(x, y) for x, y in itertools.combinations(names, 2) if rng.random() < 0.5]
    dag = Dag(names, arcs)
    columns, weights = exact_data(dag, seed, 1e9)
    data = make_dataset(columns, weights=np.array(weights))
    found = learn(data, "bic", search="ges")
    assert found.dag.cpdag() == dag.cpdag()


@pytest.mark.parametrize("score", ["fnml", "k2", "mit", "min_bdeu"])
def test_refuses_scores_that_tell_equivalent_structures_apart(score):
    with pytest.raises(
        InvalidParameterError, match="ges: needs a score and a structure prior that are equal"
    ):
        GES().run(Problem(random_scorer(0, score=score)))


def test_refuses_a_structure_prior_that_tells_equivalent_structures_apart():
    prior = ArcDifferencePrior(Dag(list("abcd"), [("a", "b")]), kappa=0.5)
    scorer = Scorer(random_scorer(0).dataset, "bdeu", prior)
    with pytest.raises(InvalidParameterError, match="ArcDifferencePrior"):
        GES().run(Problem(scorer))


def test_says_what_knowledge_costs():
    scorer = random_scorer(3)
    assert GES().run(Problem(scorer)).notes == ()
    found = GES().run(Problem(scorer, knowledge=Knowledge(leaves=["a"])))
    assert "limit theorem does not hold" in found.notes[0]
    assert found.dag.children("a") == ()


def test_starts_from_a_given_structure():
    scorer = random_scorer(5, 400)
    best = GES(turning=True).run(Problem(scorer))
    again = GES().run(Problem(scorer, start=best.dag))
    assert again.dag.cpdag() == best.dag.cpdag()
    assert again.trace == ()


def test_the_trace_leads_from_the_start_to_the_end():
    scorer = random_scorer(7, 300)
    found = GES().run(Problem(scorer))
    score = scorer.total(Dag.empty(list("abcd")))
    assert found.trace
    for step in found.trace:
        assert step.score == pytest.approx(score + step.gain, abs=1e-9)
        score = step.score
    assert found.score == score


def test_ctrl_c_gives_the_class_reached_so_far():
    scorer = random_scorer(7, 300)
    said = []

    def progress(text):
        said.append(text)
        raise KeyboardInterrupt

    found = GES().run(Problem(scorer, progress=progress))
    assert found.status == "interrupted"
    assert len(found.trace) == len(said) == 1
    assert found.score == pytest.approx(scorer.total(found.dag))


def test_ctrl_c_while_a_class_is_scored_leaves_the_class_before(monkeypatch):
    scorer = random_scorer(7, 300)
    total, asked = Scorer.total, []

    def interrupted(self, dag):
        asked.append(dag)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return total(self, dag)

    monkeypatch.setattr(Scorer, "total", interrupted)
    found = GES().run(Problem(scorer))
    assert found.status == "interrupted"
    assert len(found.trace) == 1
    assert found.dag == asked[1]
    assert found.score == found.trace[0].score == pytest.approx(total(scorer, found.dag))


def test_needs_data():
    from bestdag.scores.build import build_score_table

    table = build_score_table(random_scorer(0))
    with pytest.raises(InvalidParameterError, match="ges: needs data, got a file of local scores"):
        GES().run(Problem(table))


def test_a_sample_of_a_network_with_many_variables():
    # A chain of 60 binary variables, each equal to the one before in 9 of 10 rows. A sample
    # may show a little more, never less, and what is found scores no less than the truth.
    names = [f"v{i:02d}" for i in range(60)]
    two = {v: Variable(v, ("0", "1")) for v in names}
    tables = [ConditionalTable(two[names[0]], (), [0.5, 0.5])]
    for p, c in itertools.pairwise(names):
        tables.append(ConditionalTable(two[c], (two[p],), [[0.9, 0.1], [0.1, 0.9]]))
    network = Network(tables)
    data = network.sample(5000, seed=1)
    found = learn(data, "bdeu", search="ges")
    assert set(found.dag.skeleton().edges) >= set(itertools.pairwise(names))
    assert found.score >= Scorer(data, "bdeu").total(network)


def test_leaves_a_start_that_the_prior_calls_impossible():
    # b is a copy of a in the prior network, and not in the data.
    a, b, c = (Variable(name, ("0", "1")) for name in "abc")
    half = np.array([0.5, 0.5])
    prior = Network(
        [
            ConditionalTable(a, (), half),
            ConditionalTable(b, (a,), np.eye(2)),
            ConditionalTable(c, (), half),
        ]
    )
    data = make_dataset({"a": [0, 0, 1, 1] * 5, "b": [0, 1, 1, 0] * 5, "c": [0, 0, 1, 1] * 5})
    start = Dag(["a", "b", "c"], [("a", "b")])
    result = GES().run(Problem(Scorer(data, BDe(prior=prior)), start=start))
    assert result.dag.arcs == (("a", "c"),)
    assert math.isinf(result.trace[0].gain) or math.isinf(result.trace[1].gain)


def test_the_clock_is_looked_at_while_the_moves_of_one_class_are_scored():
    # In a complete graph of 16 nodes every pair has 2^14 deletions.
    names = [f"v{i:02}" for i in range(16)]
    scorer = Scorer(make_dataset({name: [0, 1] for name in names}), "bdeu")
    complete = Dag(names, list(itertools.combinations(names, 2))).cpdag()
    looks = iter([False, True])
    assert not Gains(scorer, deletes, lambda _: False, lambda: next(looks)).update(View(complete))
    late = iter([False, True])
    problem = Problem(random_scorer(0))
    problem.out_of_time = lambda: next(late, True)
    assert GES().run(problem).status == "time limit"


def test_refuses_more_required_parents_than_allowed():
    knowledge = Knowledge(required_arcs=[("a", "c"), ("b", "c")])
    problem = Problem(random_scorer(0), knowledge=knowledge, max_parents=1)
    with pytest.raises(GraphError, match="ges: 'c' has 2 required parents, and at most 1"):
        GES().run(problem)


def test_another_member_of_a_class_may_obey_a_limit():
    # Log-likelihood wants every edge. In the complete graph c may have one parent only when it is
    # second at most in the order, which the member that comes first to hand does not do.
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(0, 2, 200).tolist() for name in "abcd"}
    known = Knowledge.parse(["a < d", "d -- c", "max_parents c: 1"])
    found = learn(make_dataset(columns), "ll", search="ges", knowledge=known)
    assert known.allows(found.dag)
    assert len(found.dag.arcs) == 6
