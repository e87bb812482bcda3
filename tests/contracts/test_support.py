"""Support: what is admissible is counted by sets of rows, and everything else follows from that."""

import dataclasses
import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestdag import BIC, BDeu, HillClimb, Knowledge, bootstrap, learn, posterior, read, scan
from bestdag.data.dataset import Dataset
from bestdag.errors import DataWarning, GraphError, InvalidParameterError
from bestdag.graph.dag import Dag
from bestdag.graph.enumeration import all_dags
from bestdag.graph.equivalence import to_dag
from bestdag.scores import SCORES
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.scores.parent_sets.limits import parent_sets
from bestdag.scores.scorer import Scorer
from bestdag.search import SEARCHES, make_search
from bestdag.search.exact.search import Exact
from bestdag.search.problem import Problem
from bestdag.search.steps import Found
from tests.conftest import make_dataset
from tests.providers import PROVIDERS
from tests.reference.posterior import enumerated

NAMES = ("a", "b", "c", "d")
DAGS = list(all_dags(NAMES))
SETTINGS = {"tan": {"target": "a"}, "naive_bayes": {"target": "a"}}
every_score = pytest.mark.parametrize("score", SCORES)


def admissible(data, child, parents, support):
    """Count different rows of the columns, by a set of tuples."""
    if not parents:
        return True
    columns = [data.codes(name).tolist() for name in (child, *parents)]
    weights = [1] * data.n_rows if data.weights is None else data.weights.tolist()
    seen = {row for row, weight in zip(zip(*columns, strict=True), weights, strict=True) if weight}
    return len(seen) <= sum(weights) / support


def table_of(seed, n=4, n_rows=60, states=3, weights=None):
    """Columns with one to `states` states; some depend on the one before."""
    rng = np.random.default_rng(seed)
    columns, before = {}, np.zeros(n_rows, int)
    for i, name in enumerate("abcdefghij"[:n]):
        own = rng.integers(0, 1 + (i + seed) % states + (i > 0), n_rows)
        before = np.where(rng.random(n_rows) < 0.6 * (i % 2), before, own)
        columns[name] = before.tolist()
    return make_dataset(columns, weights=weights)


def families_of(names):
    for child in names:
        others = [name for name in names if name != child]
        for size in range(len(names)):
            for parents in itertools.combinations(others, size):
                yield child, frozenset(parents)


def limited_local(data, score, support, exempt=()):
    """Local scores by an unlimited scorer, minus infinity where the reference says so."""
    scorer = Scorer(data, score)
    return {
        (child, parents): scorer.family(child, parents)
        if (child, parents) in exempt or admissible(data, child, parents, support)
        else -math.inf
        for child, parents in families_of(tuple(sorted(data.names)))
    }


def total(local, dag):
    return math.fsum(local[v, frozenset(dag.parents(v))] for v in dag.nodes)


# Ten rows, two to a value of the pair (x, y): 5 different rows are 2 rows each. With support 2 the
# pair is admissible (5 <= 10 / 2), with 2.1 it is not (5 > 4.76).
def test_worked_out_by_hand():
    data = read({"x": list("aabbccddee"), "y": list("ffgghhffgg")})
    for support, is_in in [(2.0, True), (2.1, False)]:
        for score in ("bic", "bdeu", "qnml", "mit"):
            scorer = Scorer(data, score, support=support)
            assert (scorer.family("x", ["y"]) > -math.inf) is is_in
            assert scorer.family("x") == Scorer(data, score).family("x")  # always


def test_the_default_is_five_rows_for_each_cell_and_zero_is_no_limit():
    pair = {"x": ["0", "0", "1", "1"] * 5, "y": ["0", "1", "0", "1"] * 4 + ["0"] * 4}
    assert admissible(read(pair), "x", ["y"], 5)
    assert not admissible(read(pair), "x", ["y"], 5.1)
    found = learn(pair)
    assert found.limits.support == 5
    assert "at least 5 rows per table cell" in found.headline()
    assert "table cell" not in learn(pair, support=0).headline()
    for bad in (-1, math.nan, math.inf, "5"):
        with pytest.raises(InvalidParameterError, match="support must be a finite number >= 0"):
            learn(pair, support=bad)


@every_score
@pytest.mark.parametrize("way", PROVIDERS)
def test_every_way_to_score_has_the_same_limit(score, way):
    if way == "cluster":
        pytest.skip("test_on_every_provider runs this file on it")
    data = PROVIDERS[way](table_of(3, n_rows=70))
    local = limited_local(table_of(3, n_rows=70), score, 4.0)
    assert {value == -math.inf for value in local.values()} == {True, False}
    scorer = Scorer(data, score, support=4.0)
    families = list(local)
    expected = np.array([local[family] for family in families])
    assert scorer.families(families) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    for child in NAMES:
        others = [name for name in NAMES if name != child]
        listed = list(parent_sets(others, 3))
        wanted = [local[child, frozenset(p)] for p in listed]
        assert scorer.all_families(3)[child] == pytest.approx(wanted, rel=1e-9, abs=1e-9)
        for size in range(3):
            for parents in itertools.combinations(others, size):
                wanted = [local[child, frozenset(parents) ^ ({c} - {child})] for c in NAMES]
                found = scorer.changes(child, parents)
                assert found == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    pairs = scorer.pair_scores(NAMES)
    for (i, parent), (j, child) in itertools.product(enumerate(NAMES), repeat=2):
        wanted = local[child, frozenset({parent} - {child})]
        assert pairs[i, j] == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@every_score
@pytest.mark.parametrize("way", ["memory", "blocks"])
def test_lists_hold_what_no_admissible_subset_beats(score, way):
    for seed in range(4):
        local = limited_local(table_of(seed), score, 3.0)
        scorer = Scorer(PROVIDERS[way](table_of(seed)), score, support=3.0)
        for prune in (True, False):
            table = build_score_table(scorer, prune=prune)
            assert table.complete
            for child in NAMES:
                listed = {frozenset(p): value for value, p in table.sets(child)}
                for parents, value in listed.items():
                    assert value == pytest.approx(local[child, parents], rel=1e-9, abs=1e-9)
                for (of, parents), value in local.items():
                    if of != child or parents in listed or value == -math.inf:
                        continue
                    subsets = [v for p, v in listed.items() if p < parents]
                    assert prune
                    assert max(subsets) >= value - 1e-9 * max(1, abs(value))


@pytest.mark.parametrize("search", SEARCHES)
@every_score
def test_every_search_keeps_to_it_and_proofs_are_those_of_enumeration(search, score):
    for seed in range(4):
        data = table_of(seed, n_rows=40 + 30 * seed)
        scorer = Scorer(data, score, support=5.0)
        if search == "ges" and not scorer.is_score_equivalent:
            continue
        local = limited_local(data, score, 5.0)
        found = Problem(scorer).solve(make_search(search, **SETTINGS.get(search, {})))
        exempt = dict(found.limits.exempt)
        for v in found.dag.nodes:
            parents = frozenset(found.dag.parents(v))
            is_in = admissible(data, v, parents, 5.0)
            assert is_in or exempt.get(v) == parents
        assert found.score > -math.inf
        if search in ("auto", "exact"):
            assert found.is_proved
            best = max(total(local, dag) for dag in DAGS)
            assert found.score == pytest.approx(best, rel=1e-9, abs=1e-9)
            assert found.verify()


@pytest.mark.parametrize("score", ["qnml", "bic", "bdeu", "fnml", "k2", "aic"])
def test_the_lattice_of_all_sets_and_lists_of_sets_prove_the_same(score):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(6, 10))
        data = table_of(seed, n=n, n_rows=int(rng.integers(30, 400)), states=2 + seed % 4)
        scorer = Scorer(data, score, support=float(rng.uniform(1, 8)))
        assert scorer.bulk.native.has_set_form()
        by_lattice = Problem(scorer).solve(Exact(engine="dp"))
        by_lists = Problem(build_score_table(scorer)).solve(Exact(engine="bnc"))
        assert by_lattice.is_proved
        assert by_lists.is_proved
        assert by_lattice.score == pytest.approx(by_lists.score, rel=1e-9)
        values = scorer.native.scores_of_every_set()
        listed = scorer.all_families(n - 1)
        for child, row in zip(sorted(data.names), values, strict=True):
            assert np.isneginf(row).sum() == np.isneginf(listed[child]).sum()
            finite = np.sort(row[np.isfinite(row)])
            assert finite == pytest.approx(np.sort(listed[child][np.isfinite(listed[child])]))


@pytest.mark.parametrize("kind", ["whole", "real"])
@pytest.mark.parametrize("way", ["memory", "blocks"])
@pytest.mark.parametrize("score", ["bic", "bdeu", "k2", "ll"])
def test_weights_count_in_every_engine(score, way, kind):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        weights = rng.integers(0, 4, 80) if kind == "whole" else rng.random(80) * 3
        weights[::9] = 0
        data = table_of(seed, n_rows=80, weights=weights)
        local = limited_local(data, score, 4.0)
        best = max(total(local, dag) for dag in DAGS)
        scorer = Scorer(PROVIDERS[way](data), score, support=4.0)
        for engine in ("dp", "bnc"):
            found = Problem(scorer).solve(Exact(engine=engine))
            assert found.is_proved
            assert found.score == pytest.approx(best, rel=1e-9)
        for search in ("hill_climb", "tabu", "annealing", "order", "tree", "k2"):
            found = learn(PROVIDERS[way](data), score, search=search, support=4.0)
            assert found.score == pytest.approx(total(local, found.dag), rel=1e-9)
            assert -math.inf < found.score <= best + 1e-9


@pytest.mark.parametrize("collapse", [False, True])
def test_rows_on_disk_have_the_same_limit(tmp_path, collapse):
    whole = table_of(3, n_rows=200, states=4)
    rows = zip(*(whole.codes(name).tolist() for name in NAMES), strict=True)
    lines = [",".join(NAMES), *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    here = read(tmp_path / "t.csv")
    there = scan(tmp_path / "t.csv", collapse=collapse, block_rows=64)
    local = limited_local(here, "bdeu", 9.0)
    assert {value == -math.inf for value in local.values()} == {True, False}
    found = Scorer(there, "bdeu", support=9.0).families(list(local))
    assert found == pytest.approx(np.array(list(local.values())), rel=1e-9)
    for search in ("auto", "hill_climb", "ges", "tree"):
        one, other = (learn(data, "bdeu", search=search, support=9.0) for data in (here, there))
        assert (other.dag, other.limits) == (one.dag, one.limits)
        assert other.score == pytest.approx(one.score, rel=1e-9)
    known = {"knowledge": ["a -> b", "c -> b", "d -> b"], "support": 40.0}
    one, other = (learn(data, "bdeu", **known) for data in (here, there))
    assert other.limits == one.limits
    assert other.limits.exempt == (("b", frozenset("acd")),)
    assert other.score == pytest.approx(one.score, rel=1e-9)


@given(st.integers(0, 10**6), st.floats(0.5, 12), st.sampled_from(["whole", "real", "none"]))
def test_weights_count_and_equivalent_structures_are_admissible_together(seed, support, kind):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(1, 60))
    weights = {
        "whole": rng.integers(0, 4, n_rows),
        "real": rng.random(n_rows) * rng.integers(0, 2, n_rows),
        "none": None,
    }[kind]
    if weights is not None and not weights.any():
        return
    data = table_of(seed, n_rows=n_rows, weights=weights)
    local = limited_local(data, "bic", support)
    scorer = Scorer(data, "bic", support=support)
    found = scorer.families(list(local))
    assert found == pytest.approx(np.array(list(local.values())), rel=1e-9, abs=1e-9)
    for dag in rng.choice(len(DAGS), 5):
        one = DAGS[dag]
        other = to_dag(one.cpdag())
        assert (total(local, one) > -math.inf) == (total(local, other) > -math.inf)


def sharp(n_rows=30):
    """Three columns of many states: no pair has support."""
    rng = np.random.default_rng(5)
    return make_dataset({name: rng.permutation(n_rows).tolist() for name in "abc"})


@pytest.mark.parametrize("search", ["auto", "exact", "hill_climb", "tabu", "ges", "order", "k2"])
@pytest.mark.parametrize(
    ("statements", "kept"),
    [
        (["a -> b"], [("b", {"a"})]),
        (["a -> c", "b -> c"], [("c", {"a", "b"})]),
    ],
)
def test_what_a_statement_requires_is_kept_and_noted(search, statements, kept):
    found = learn(sharp(), "bdeu", search=search, knowledge=statements)
    assert {(child, frozenset(parents)) for child, parents in kept} == set(found.limits.exempt)
    assert len(found.dag.arcs) == len(statements)
    assert any("required, although fewer than" in text for text in found.remarks())
    assert learn(sharp(), "bdeu", search=search).dag.arcs == ()


@pytest.mark.parametrize("statement", ["a -- b", "a ~> b", "a ~> c"])
@pytest.mark.parametrize("score", ["bdeu", "qnml", "bic"])
def test_statements_about_edges_and_paths_can_be_obeyed_without_support(score, statement):
    knowledge = Knowledge.parse([statement])
    for search in ("auto", "exact", "hill_climb", "annealing"):
        found = learn(sharp(), score, search=search, knowledge=knowledge)
        assert knowledge.allows(found.dag)
        assert found.score > -math.inf
    proved = learn(sharp(), score, search="exact", knowledge=knowledge)
    local = limited_local(sharp(), score, 5.0, exempt=proved.limits.exempt)
    best = max(total(local, d) for d in all_dags(("a", "b", "c")) if knowledge.allows(d))
    assert proved.is_proved
    assert proved.score == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("search", ["tan", "naive_bayes"])
def test_the_arcs_from_the_class_are_kept_and_noted(search):
    found = learn(sharp(), "bdeu", search=make_search(search, target="a"))
    assert set(found.dag.arcs) == {("a", "b"), ("a", "c")}
    assert set(found.limits.exempt) == {("b", frozenset("a")), ("c", frozenset("a"))}


# Nothing but the arcs from the class is better than no arcs at all, by likelihood.
@pytest.mark.parametrize("search", ["tan", "naive_bayes"])
@pytest.mark.parametrize("time_limit", [None, 20])
def test_a_bound_is_about_the_exceptions_of_the_search_too(search, time_limit):
    made = make_search(search, target="d")
    found = learn(table_of(7, n_rows=30), "ll", search=made, time_limit=time_limit).bounded()
    assert found.limits.exempt
    local = limited_local(table_of(7, n_rows=30), "ll", 5.0, exempt=found.limits.exempt)
    best = max(total(local, dag) for dag in DAGS)
    assert found.score == pytest.approx(total(local, found.dag))
    assert found.bound + found.resolution >= best - 1e-9


def test_structural_em_keeps_its_exceptions_from_round_to_round():
    columns = {name: list(map(str, sharp().codes(name).tolist())) for name in "abc"}
    columns["a"][3] = columns["b"][7] = None
    known = learn(columns, "bdeu", missing="em", knowledge=["a -> b"])
    assert known.limits.exempt == (("b", frozenset("a")),)
    tan = learn(columns, "bdeu", missing="em", search=make_search("tan", target="b"))
    assert set(tan.limits.exempt) == {("a", frozenset("b")), ("c", frozenset("b"))}
    assert len(tan.exceptions()) == 1


def test_only_what_the_structure_has_is_named_as_kept():
    found = learn(sharp(), "bdeu", knowledge=["a -- b"])
    assert len(found.limits.exempt) == 2  # each end of the edge
    ((parent, child),) = found.dag.arcs
    assert found.remarks()[-1].endswith(f"per table cell: {child!r} given {parent}")


@pytest.mark.parametrize(("of", "more"), [(posterior, {}), (bootstrap, {"replicates": 3})])
def test_arc_probabilities_note_what_is_kept(of, more):
    found = of(sharp(), "bdeu", knowledge=["a -> b"], **more)
    said = "required, although fewer than 5 rows per table cell: 'b' given a"
    assert said in found.notes
    assert found.edge("a", "b") == pytest.approx(1.0)
    free = of(sharp(), "bdeu", knowledge=["a -> b"], support=0, **more)
    assert said not in free.notes


class Whole:
    """A search of the user's own that looks at no score."""

    name = "whole"

    def steps(self, problem):
        dag = Dag(problem.names, list(itertools.combinations(problem.names, 2)))
        yield Found(dag, problem.scorer("whole").total(dag))


@dataclasses.dataclass
class _Plain:
    name = "whole"


def test_what_a_search_of_ones_own_gives_without_support_is_refused():
    with pytest.raises(GraphError, match=r"whole gives 'b' parents with fewer than 5 rows per"):
        learn(sharp(), "bdeu", search=Whole())
    assert len(learn(sharp(), "bdeu", search=Whole(), support=0).dag.arcs) == 3


def test_a_start_without_support_is_refused_by_name():
    start = Dag(["a", "b", "c"], [("a", "b")])
    with pytest.raises(
        GraphError, match=r"start_from gives 'b' parents with fewer than 5 rows per"
    ):
        learn(sharp(), search=HillClimb(start_from=start))
    found = learn(sharp(), "bdeu", search=HillClimb(start_from=start), support=0)
    assert found.limits.support == 0


@pytest.mark.parametrize("prior", ["uniform", "order"])
@pytest.mark.parametrize("score", ["bdeu", "bic", "qnml"])
def test_the_posterior_is_that_of_admissible_structures(prior, score):
    for seed in (1, 2):
        data = table_of(seed, n_rows=80)
        local = limited_local(data, score, 5.0)
        truth = enumerated(NAMES, lambda c, p: local[c, frozenset(p)], prior)  # noqa: B023
        found = posterior(data, score, prior=prior)
        assert found.matrix == pytest.approx(truth.arcs(), abs=1e-9)


def test_chains_and_draws_see_admissible_structures_alone():
    data = table_of(2, n_rows=80)
    exact = posterior(data, "bdeu")
    for method in ("sampling", "chains"):
        found = posterior(data, "bdeu", method=method, samples=2000, seed=1)
        assert found.matrix == pytest.approx(exact.matrix, abs=0.05)
        drawn = [found.dags.dag(k) for k in range(len(found.dags))]
        assert all(admissible(data, v, d.parents(v), 5.0) for d in drawn for v in NAMES)


def test_bootstrap_learns_admissible_structures_alone():
    found = bootstrap(sharp(), "bdeu", replicates=5)
    assert found.matrix.sum() == 0
    assert bootstrap(sharp(), "bdeu", replicates=5, support=0).matrix.sum() > 0


def test_the_posterior_without_the_limit_is_another():
    found, free = posterior(sharp()), posterior(sharp(), support=0)
    assert found.matrix.sum() == 0
    assert free.matrix.sum() > 0.1
    assert found.settings["support"] == 5


def incomplete(seed):
    """A table with a tenth of its values missing, and what counts as different rows in it."""
    rng = np.random.default_rng(seed)
    whole = table_of(seed, n_rows=90, states=4)
    cells = {
        name: [v if rng.random() > 0.1 else "" for v in map(str, whole.codes(name).tolist())]
        for name in NAMES
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of columns with one state
        return read(cells, missing="keep"), cells


@pytest.mark.parametrize("missing", ["em", "available"])
@pytest.mark.parametrize("search", ["auto", "hill_climb"])
def test_a_missing_value_counts_as_a_value(missing, search):
    n_limited = 0
    for seed in range(4):
        data, cells = incomplete(seed)
        found = learn(data, "aic", missing=missing, search=search)
        for v in NAMES:
            parents = found.dag.parents(v)
            rows = set(zip(*(cells[name] for name in (v, *parents)), strict=True))
            assert not parents or len(rows) <= 90 / 5
        free = learn(data, "aic", missing=missing, search=search, support=0)
        n_limited += free.dag != found.dag
    assert n_limited


def test_structural_em_starts_again_from_admissible_structures():
    data, cells = incomplete(3)
    from bestdag.incomplete.em import StructuralEM

    found = learn(data, "bic", missing=StructuralEM(restarts=5), search="hill_climb", seed=2)
    for v in NAMES:
        rows = set(zip(*(cells[name] for name in (v, *found.dag.parents(v))), strict=True))
        assert not found.dag.parents(v) or len(rows) <= 90 / 5


class InPython:
    """A score of the user's own."""

    name = "own"
    is_score_equivalent = True

    def family(self, counts):
        return BIC().family(counts)

    def kernel(self):
        return None


def test_a_score_of_ones_own_has_the_same_limit():
    for seed in range(3):
        data = table_of(seed)
        assert learn(data, InPython()).score == pytest.approx(learn(data, "bic").score, rel=1e-9)
        assert learn(data, InPython()).is_proved


@pytest.mark.parametrize("score", ["qnml", "bdeu", "bic", "fnml", "mit", "k2"])
@pytest.mark.parametrize(
    ("states", "rows", "columns"), [(3, 5000, 10), (2, 1000, 10), (5, 200, 8), (3, 200, 8)]
)
def test_next_to_nothing_is_proved_from_noise(score, states, rows, columns):
    rng = np.random.default_rng(7)
    data = make_dataset(
        {f"x{i}": rng.integers(0, states, rows).tolist() for i in range(columns)},
        arities={f"x{i}": states for i in range(columns)},
    )
    found = learn(data, score)
    assert found.is_proved
    assert len(found.dag.arcs) <= 3
    assert max(len(found.dag.parents(v)) for v in found.dag.nodes) <= 2


def test_everything_pickles_with_its_support():
    import pickle

    scorer = Scorer(table_of(1), BDeu(), support=4.0)
    again = pickle.loads(pickle.dumps(scorer))
    assert again.support == scorer.support
    families = list(families_of(NAMES))
    assert again.families(families).tolist() == scorer.families(families).tolist()
    assert isinstance(again.dataset, Dataset)
