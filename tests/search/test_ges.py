"""Greedy equivalence search: moves checked on all members of all classes, theorem, refusals."""

import itertools
import math
from collections import defaultdict

import numpy as np
import pytest

from bestdag import (
    BIC,
    GES,
    ArcDifferencePrior,
    BDe,
    Dag,
    Knowledge,
    Network,
    _core,
    learn,
    watching,
)
from bestdag.data.schema import Variable
from bestdag.errors import CycleError, GraphError, InvalidParameterError
from bestdag.graph.enumeration import all_dags
from bestdag.network.table import ConditionalTable
from bestdag.scores.scorer import Scorer
from bestdag.search.problem import Problem
from tests.conftest import make_dataset
from tests.reference import ges as reference
from tests.search.neighbours import linked_data

CLASSES = defaultdict(list)
for _dag in all_dags(list("abcd")):
    CLASSES[_dag.cpdag()].append(_dag)

INSERT, DELETE, TURN = range(3)
every_kind = pytest.mark.parametrize("kind", [INSERT, DELETE, TURN])


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


class RandomScores:
    """Local scores drawn at random, the same for the same family."""

    def __init__(self, seed, penalty=0.0):
        self._rng = np.random.default_rng(seed)
        self._penalty = penalty
        self._known = {}

    def __call__(self, family):
        if family not in self._known:
            self._known[family] = self._rng.normal() - self._penalty * len(family[1])
        return self._known[family]


def native_walk(dag):
    names = sorted(dag.nodes)
    parents = [[names.index(p) for p in dag.parents(v)] for v in names]
    limits = np.full(len(names), len(names), np.int32)
    return _core.ClassWalk(
        parents, limits, None, required=[], edges=[], ancestors=[], non_ancestors=[]
    )


def update(walk, names, score, together=1 << 20):
    """Answer what a native walk asks, `together` scores at a time."""
    while (wanted := walk.wanted(together)) is not None:
        children, offsets, parents, ends, candidates = (part.tolist() for part in wanted)
        scores = []
        for i, child in enumerate(children):
            group = frozenset(names[p] for p in parents[offsets[i] : offsets[i + 1]])
            for c in candidates[ends[i] : ends[i + 1]]:
                changed = (group ^ {names[c]}) - {names[child]}
                scores.append(score((names[child], changed)))
        walk.set_scores(np.array(scores, dtype=np.float64))


def native_moves(walk, names):
    return [
        (gain, names[x], names[y], frozenset(names[v] for v in others))
        for x, y, others, gain in walk.moves(1e-9)
    ]


def reference_moves(graph, kind, score):
    ranked = reference.ranked(reference.View(graph), reference.LISTINGS[kind], score, 1e-9)
    return [(gain, move.x, move.y, move.others) for gain, move in ranked]


def random_dag(rng, names, density):
    order = rng.permutation(names)
    return Dag(
        sorted(names), [a for a in itertools.combinations(order, 2) if rng.random() < density]
    )


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
    ("kind", "change"), [(INSERT, more_arcs), (DELETE, fewer_arcs), (TURN, turned_arcs)]
)
def test_moves_of_the_reference_lead_where_a_change_of_some_member_leads(kind, change):
    for graph, members in CLASSES.items():
        view = reference.View(graph)
        moves = reference.moves(view, reference.LISTINGS[kind])
        reached = {move.apply(view).to_dag().cpdag() for move in moves}
        expected = {other.cpdag() for dag in members for other in change(dag)}
        assert reached == expected - {graph}


@pytest.mark.parametrize("most", [0, 1, 3])
def test_ends_after_so_many_moves(most):
    data = chain(6)
    found = Problem(Scorer(data, "bic")).solve(GES(max_steps=most))
    whole = Problem(Scorer(data, "bic")).solve(GES())
    assert (found.status, len(found.trace)) == ("step limit", most)
    assert [step.move for step in found.trace] == [step.move for step in whole.trace[:most]]


def chain(n):
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 2, 300)]
    for _ in range(n - 1):
        columns.append(np.where(rng.random(300) < 0.8, columns[-1], 1 - columns[-1]))
    return make_dataset({f"v{i}": column.tolist() for i, column in enumerate(columns)})


@every_kind
def test_moves_are_those_of_the_reference_in_every_class_of_four_nodes(kind):
    names, score = list("abcd"), RandomScores(kind)
    for graph, members in CLASSES.items():
        walk = native_walk(members[0])
        walk.begin(kind)
        update(walk, names, score)
        assert native_moves(walk, names) == reference_moves(graph, kind, score)


@every_kind
@pytest.mark.parametrize("n", [5, 6, 7])
def test_moves_are_those_of_the_reference_in_random_classes(kind, n):
    names, score = list("abcdefg"[:n]), RandomScores(n)
    rng = np.random.default_rng(n)
    for density in (0.2, 0.3, 0.4, 0.5, 0.7, 1.0):
        dag = random_dag(rng, names, density)
        walk = native_walk(dag)
        walk.begin(kind)
        update(walk, names, score, together=50)
        assert native_moves(walk, names) == reference_moves(dag.cpdag(), kind, score)


@every_kind
def test_the_gain_of_a_move_is_the_difference_of_the_totals(kind):
    scorer, names, n_moves = random_scorer(0), list("abcd"), 0
    for graph, members in CLASSES.items():
        before = scorer.total(members[0])
        walk = native_walk(members[0])
        walk.begin(kind)
        update(walk, names, lambda family: scorer.family(*family))
        move = walk.best(1e-9, math.inf)
        if move is not None:
            walk.take()
            after = Dag(
                names, [(names[p], v) for v, g in zip(names, walk.member(), strict=True) for p in g]
            )
            assert move[3] == pytest.approx(scorer.total(after) - before, abs=1e-9)
            assert after.cpdag() != graph
            n_moves += 1
    assert n_moves > 10


# A penalty keeps the graph of the larger problems sparse, so that far changes matter.
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("n", "penalty"), [(7, 0.0), (12, 0.7), (16, 1.0)])
def test_moves_brought_up_to_date_are_those_worked_out_anew(n, penalty, seed):
    names, score = list("abcdefghijklmnop"[:n]), RandomScores(seed, penalty)
    walk = native_walk(Dag.empty(names))
    for kind in (INSERT, DELETE, TURN, DELETE, INSERT):
        walk.begin(kind)
        for _ in range(2 * n):
            update(walk, names, score)
            found = native_moves(walk, names)
            parents = walk.member()
            dag = Dag(names, [(names[p], names[c]) for c, g in enumerate(parents) for p in g])
            fresh = native_walk(dag)
            fresh.begin(kind)
            update(fresh, names, score)
            assert found == native_moves(fresh, names)
            if walk.best(1e-9, math.inf) is None:
                break
            walk.take()


KNOWLEDGE = [
    Knowledge(),
    Knowledge(tiers=[["e", "f"], ["a", "b"], ["c", "d"]]),
    Knowledge(required_arcs=[("f", "a"), ("b", "e")], forbidden_arcs=[("a", "c"), ("c", "a")]),
    Knowledge.parse(["a -- d", "c < b", "leaves: e"]),
    Knowledge.parse(["f ~> a", "b !~> c"]),
    Knowledge(max_parents_of={"a": 1, "b": 1, "f": 2}),
]


def random_table(seed, n_rows):
    rng = np.random.default_rng(seed)
    codes = {}
    for place, name in enumerate(rng.permutation(list("abcdef"))):
        above = list(codes.values())
        chosen = [above[i] for i in rng.permutation(place)[: rng.integers(0, 3)]]
        noise = rng.random(n_rows) < 0.5
        codes[name] = (sum(chosen, rng.integers(0, 2, n_rows) * noise)) % (2 + place % 2)
    return make_dataset({name: values.tolist() for name, values in codes.items()})


@pytest.mark.parametrize("turning", [False, True], ids=["plain", "turning"])
@pytest.mark.parametrize("known", KNOWLEDGE, ids=lambda known: str(known)[:40])
@pytest.mark.parametrize("score", ["bdeu", "bic", "qnml", "aic"])
@pytest.mark.parametrize("seed", range(3))
def test_takes_the_steps_of_the_reference(seed, score, known, turning):
    scorer = Scorer(random_table(seed, 60 + 60 * seed), score)
    found = Problem(scorer, knowledge=known).solve(GES(turning=turning))
    limits = dict(zip("abcdef", known.for_nodes(list("abcdef")).max_parents.tolist(), strict=True))
    start = Problem(scorer, knowledge=known, time_limit=1e-9).solve(GES()).dag
    graph, taken = reference.greedy(
        start,
        lambda family: scorer.family(*family),
        known.allows,
        limits.__getitem__,
        turning=turning,
    )
    assert [step.move for step in found.trace] == taken
    assert found.dag.cpdag() == graph
    assert known.allows(found.dag)


@pytest.mark.parametrize("seed", range(4))
def test_takes_the_steps_of_the_reference_from_a_start_and_with_a_limit(seed):
    scorer = Scorer(random_table(seed, 200), "bic")
    start = random_dag(np.random.default_rng(seed), list("abcdef"), 0.3)
    limit = max(2, *(len(start.parents(v)) for v in "abcdef"))
    found = Problem(scorer, max_parents=limit).starting_from(start).solve(GES(turning=True))
    graph, taken = reference.greedy(
        start,
        lambda family: scorer.family(*family),
        lambda dag: all(len(dag.parents(v)) <= limit for v in "abcdef"),
        lambda _: limit,
        turning=True,
    )
    assert [step.move for step in found.trace] == taken
    assert found.dag.cpdag() == graph


def greedy_over_classes(scorer, changes):
    """Where a walk to the best class around ends, by any choice among equally good ones."""
    total = {graph: scorer.total(members[0]) for graph, members in CLASSES.items()}
    before, ends = set(), {Dag.empty(list("abcd")).cpdag()}
    while before != ends:
        before = ends
        for change in changes:
            walking, ends = set(ends), set()
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
    found = Problem(scorer).solve(GES())
    assert found.dag.cpdag() in greedy_over_classes(scorer, [more_arcs, fewer_arcs])
    assert found.score == scorer.total(found.dag)
    assert found.status == "local optimum"


@pytest.mark.parametrize("seed", range(30))
def test_turning_ends_where_no_change_of_any_member_helps(seed):
    scorer = random_scorer(seed, 20 + 10 * seed)
    found = Problem(scorer).solve(GES(turning=True))
    assert found.score >= Problem(scorer).solve(GES()).score - 1e-9
    for dag in CLASSES[found.dag.cpdag()]:
        for change in (more_arcs, fewer_arcs, turned_arcs):
            assert all(scorer.total(other) <= found.score + 1e-9 for other in change(dag))


@pytest.mark.parametrize("seed", [135, 142])
def test_inserts_again_where_a_deletion_lets_it_gain(seed):
    scorer = Scorer(linked_data(seed, n=7, n_rows=150), "qnml")
    found = Problem(scorer).solve(GES())
    kinds = [kind for kind, _ in itertools.groupby(step.move.split()[0] for step in found.trace)]
    assert kinds[:3] == ["insert", "delete", "insert"]
    for dag in found.dag.cpdag().members():
        for change in (more_arcs, fewer_arcs):
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
        Problem(random_scorer(0, score=score)).solve(GES())


def test_refuses_a_structure_prior_that_tells_equivalent_structures_apart():
    prior = ArcDifferencePrior(Dag(list("abcd"), [("a", "b")]), kappa=0.5)
    scorer = Scorer(random_scorer(0).dataset, "bdeu", prior)
    with pytest.raises(InvalidParameterError, match="ArcDifferencePrior"):
        Problem(scorer).solve(GES())


def test_says_what_knowledge_costs():
    scorer = random_scorer(3)
    assert Problem(scorer).solve(GES()).notes == ()
    found = Problem(scorer, knowledge=Knowledge(leaves=["a"])).solve(GES())
    assert "limit theorem does not hold" in found.notes[0]
    assert found.dag.children("a") == ()


def test_starts_from_a_given_structure():
    scorer = random_scorer(5, 400)
    best = Problem(scorer).solve(GES(turning=True))
    again = Problem(scorer).starting_from(best.dag).solve(GES())
    assert again.dag.cpdag() == best.dag.cpdag()
    assert again.trace == ()


def test_the_trace_leads_from_the_start_to_the_end():
    scorer = random_scorer(7, 300)
    found = Problem(scorer).solve(GES())
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

    with watching(progress):
        found = Problem(scorer).solve(GES())
    assert found.status == "interrupted"
    assert len(said) == 1
    assert len(found.trace) < 3
    assert found.score == pytest.approx(scorer.total(found.dag))


def test_ctrl_c_while_moves_are_scored_leaves_the_class_before(monkeypatch):
    scorer = random_scorer(7, 300)
    whole = Problem(scorer).solve(GES())
    changes, asked = Scorer.numbered_changes, []

    def interrupted(self, *args):
        asked.append(args)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return changes(self, *args)

    monkeypatch.setattr(Scorer, "numbered_changes", interrupted)
    found = Problem(scorer).solve(GES())
    assert found.status == "interrupted"
    assert 1 <= len(found.trace) < len(whole.trace)
    assert found.trace == whole.trace[: len(found.trace)]
    assert found.score == found.trace[-1].score == pytest.approx(scorer.total(found.dag))


@pytest.mark.parametrize("looks", range(2, 12))
def test_a_time_limit_gives_the_class_reached_so_far(looks):
    scorer = random_scorer(7, 300)
    whole = Problem(scorer).solve(GES())
    problem = Problem(scorer)
    late = iter([False] * looks)
    problem.out_of_time = lambda: next(late, True)
    found = problem.solve(GES())
    assert found.status == "time limit"
    taken = [step.move for step in found.trace]
    assert taken == [step.move for step in whole.trace[: len(taken)]]
    assert found.score == pytest.approx(scorer.total(found.dag), rel=1e-12)


class Own:
    """A score of the user's own, without native twin: BIC under another name."""

    name = "own"
    is_score_equivalent = True

    def family(self, counts):
        return BIC().family(counts)

    def kernel(self):
        return None


def test_a_score_in_python_takes_the_same_steps():
    data = random_scorer(7, 300).dataset
    native, own = (Problem(Scorer(data, score)).solve(GES()) for score in ("bic", Own()))
    assert [step.move for step in own.trace] == [step.move for step in native.trace]
    assert own.dag == native.dag


def test_needs_data():
    from bestdag.scores.parent_sets.build import build_score_table

    table = build_score_table(random_scorer(0))
    with pytest.raises(InvalidParameterError, match="ges: needs data, got a file of local scores"):
        Problem(table).solve(GES())


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
    result = Problem(Scorer(data, BDe(prior=prior))).starting_from(start).solve(GES())
    assert result.dag.arcs == (("a", "c"),)
    assert math.isinf(result.trace[0].gain) or math.isinf(result.trace[1].gain)


def test_the_moves_of_one_class_are_listed_some_at_a_time():
    # In a complete graph of 16 nodes every pair has 2^14 deletions.
    names = [f"v{i:02}" for i in range(16)]
    walk = native_walk(Dag(names, list(itertools.combinations(names, 2))))
    walk.begin(DELETE)
    for _ in range(3):
        children, *_, candidates = walk.wanted(1000)
        assert 0 < len(children) <= 1000
        assert 1000 <= len(candidates) <= 1002
        walk.set_scores(np.zeros(len(candidates)))


def test_refuses_more_required_parents_than_allowed():
    knowledge = Knowledge(required_arcs=[("a", "c"), ("b", "c")])
    problem = Problem(random_scorer(0), knowledge=knowledge, max_parents=1)
    with pytest.raises(GraphError, match="ges: 'c' has 2 required parents, and at most 1"):
        problem.solve(GES())


def test_another_member_of_a_class_may_obey_a_limit():
    # Log-likelihood wants every edge. In the complete graph c may have one parent only when it is
    # second at most in the order, which the member that comes first to hand does not do.
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(0, 2, 200).tolist() for name in "abcd"}
    known = Knowledge.parse(["a < d", "d -- c", "max_parents c: 1"])
    found = learn(make_dataset(columns), "ll", search="ges", knowledge=known)
    assert known.allows(found.dag)
    assert len(found.dag.arcs) == 6
