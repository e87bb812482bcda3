"""What every score promises, checked for each entry of the list."""

import pickle
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag.counts.engine import CountingEngine
from bestdag.data.dataset import Dataset
from bestdag.errors import DataError
from bestdag.graph.dag import Dag
from bestdag.scores import SCORES, make_score
from bestdag.scores.scorer import Scorer
from tests.conftest import examples, make_dataset
from tests.scores.prior_networks import BOUND_SCORES

every_score = pytest.mark.parametrize("name", SCORES)
# Scores at their defaults, and with settings that belong to the variables of the data.
every_setting = pytest.mark.parametrize("name", [*SCORES, *BOUND_SCORES])


@st.composite
def datasets(draw, weights=("none", "whole", "real")):
    n_rows = draw(st.integers(1, 60))
    arities = draw(st.lists(st.integers(1, 5), min_size=2, max_size=5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    columns = {f"v{i}": rng.integers(0, r, n_rows).tolist() for i, r in enumerate(arities)}
    kind = draw(st.sampled_from(weights))
    drawn = {
        "none": None,
        "whole": rng.integers(0, 5, n_rows) + (np.arange(n_rows) == 0),
        "real": rng.random(n_rows) * 3 + 0.01,
    }[kind]
    return make_dataset(columns, dict(zip(columns, arities, strict=True)), drawn)


def score_for(name, dataset):
    return BOUND_SCORES[name](dataset) if name in BOUND_SCORES else make_score(name)


def datasets_for(name):
    """Data sets with every kind of weights the score takes."""
    whole = name in SCORES and getattr(SCORES[name], "needs_whole_counts", False)
    return datasets(weights=("none", "whole") if whole else ("none", "whole", "real"))


def some_family(dataset):
    child, *others = dataset.names
    return child, others


@every_setting
@given(st.data())
@settings(max_examples=examples(100))
def test_kernel_equals_formula(name, data):
    dataset = data.draw(datasets_for(name))
    score = score_for(name, dataset)
    families = [
        (c, [p for p in dataset.names if p != c][:k]) for c in dataset.names for k in (0, 1, 4)
    ]
    scored = Scorer(dataset, score).families(families)  # by the kernel, where there is one
    for got, counts in zip(scored, CountingEngine(dataset).count(families), strict=True):
        value = score.family(counts)
        terms = score.terms(counts).values() if hasattr(score, "terms") else [value]
        assert got == pytest.approx(value, abs=1e-9 * max(1.0, sum(map(abs, terms))))


@every_setting
def test_terms_add_up_to_the_family(name):
    dataset = make_dataset({"a": [0, 1, 1, 2], "b": [0, 1, 0, 1]})
    explanation = Scorer(dataset, score_for(name, dataset)).explain("a", ["b"])
    assert sum(explanation.terms.values()) == pytest.approx(explanation.value, rel=1e-15)


@every_setting
@given(st.data(), st.randoms(use_true_random=False))
@settings(max_examples=examples(50))
def test_same_after_permuting_rows_columns_and_states(name, data, random):
    dataset = data.draw(datasets_for(name))
    score = score_for(name, dataset)
    child, parents = some_family(dataset)
    order = list(range(dataset.n_rows))
    random.shuffle(order)
    columns = list(zip(dataset.variables, dataset.names, strict=True))
    random.shuffle(columns)
    weights = None if dataset.weights is None else dataset.weights[order]
    moved = Dataset([v for v, _ in columns], [dataset.codes(n)[order] for _, n in columns], weights)
    value = Scorer(dataset, score).family(child, parents)
    assert Scorer(moved, score).family(child, parents) == value  # to the last bit
    if name in BOUND_SCORES:
        return  # its settings tell the states apart

    def relabelled(variable):
        swap = random.sample(range(variable.arity), variable.arity)
        return np.array(swap, np.uint8)[dataset.codes(variable.name)]

    renamed = Dataset(
        dataset.variables, [relabelled(v) for v in dataset.variables], dataset.weights
    )
    assert Scorer(renamed, score).family(child, parents) == pytest.approx(value, rel=1e-9, abs=1e-9)


@every_setting
@given(datasets(weights=("whole",)))
@settings(max_examples=examples(50))
def test_whole_weights_equal_repetition(name, dataset):
    child, parents = some_family(dataset)
    repeated = Dataset(
        dataset.variables, [np.repeat(dataset.codes(n), dataset.weights) for n in dataset.names]
    )
    score = score_for(name, dataset)
    a, b = (Scorer(d, score).family(child, parents) for d in (dataset, repeated))
    assert a == b


def random_structure(rng, arities, n_rows=40, weights=None):
    """Draw data without dependence, and a structure over its variables."""
    columns = {name: rng.integers(0, r, n_rows).tolist() for name, r in arities.items()}
    order = rng.permutation(list(arities)).tolist()
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    dag = Dag(list(arities), [pair for pair in pairs if rng.random() < 0.6])
    return make_dataset(columns, arities, weights), dag


EQUIVALENT = [*(n for n in SCORES if SCORES[n].is_score_equivalent), "bde with a prior network"]


@pytest.mark.parametrize("name", [n for n in (*SCORES, *BOUND_SCORES) if n not in EQUIVALENT])
def test_differs_on_equivalent_graphs_when_it_says_so(name):
    rng = np.random.default_rng(0)
    spreads = []
    for _ in range(20):
        dataset, dag = random_structure(rng, {"a": 2, "b": 3, "c": 4})
        score = score_for(name, dataset)
        assert not score.is_score_equivalent
        totals = [Scorer(dataset, score).total(member) for member in dag.cpdag().members()]
        spreads.append(max(totals) - min(totals))
    assert max(spreads) > 1e-3


@pytest.mark.parametrize("name", EQUIVALENT)
@given(st.integers(0, 2**32), st.integers(4, 5), st.sampled_from(["none", "whole"]))
@settings(max_examples=examples(25), deadline=None)
def test_equal_on_whole_equivalence_classes(name, seed, n_nodes, weights):
    rng = np.random.default_rng(seed)
    arities = {f"v{i}": int(r) for i, r in enumerate(rng.integers(1, 5, n_nodes))}
    drawn = rng.integers(1, 4, 40) if weights == "whole" else None
    dataset, dag = random_structure(rng, arities, weights=drawn)
    scorer = Scorer(dataset, score_for(name, dataset))
    assert scorer.score.is_score_equivalent
    totals = [scorer.total(member) for member in dag.cpdag().members()]
    assert totals == pytest.approx([totals[0]] * len(totals), rel=1e-9, abs=1e-9)


# Ways to get a variable "more" that tells nothing about x beyond what y and z tell.
def _function_of_parents(rng, columns):
    mapping = rng.integers(0, 3, 100)
    columns["more"] = mapping[columns["y"] * 10 + columns["z"]]


def _beside_a_certain_child(rng, columns):
    mapping = rng.integers(0, 3, 100)
    columns["x"] = mapping[columns["y"] * 10 + columns["z"]]
    columns["more"] = rng.integers(0, 3, len(columns["x"]))


def _crossed_with_everything(rng, columns):
    n_rows = len(columns["x"])
    for name in "xyz":
        columns[name] = np.tile(columns[name], 3)
    columns["more"] = np.repeat([0, 1, 2], n_rows)


every_idle_parent = pytest.mark.parametrize(
    "idle", [_function_of_parents, _beside_a_certain_child, _crossed_with_everything]
)


def gain_of_an_idle_parent(name, idle, rng, n_rows, arity, n_parents):
    """Return what the parent "more" adds to the score of x, and that score."""
    columns = {v: rng.integers(0, arity, n_rows) for v in "xyz"}
    for unused in "yz"[n_parents:]:
        columns[unused] = np.zeros(n_rows, np.int64)
    idle(rng, columns)
    lists = {v: codes.tolist() for v, codes in columns.items()}
    scorer = Scorer(make_dataset(lists, {"x": 4, "y": 4, "z": 4, "more": 3}), name)
    parents = list("yz"[:n_parents])
    without = scorer.family("x", parents)
    return scorer.family("x", [*parents, "more"]) - without, without


@pytest.mark.parametrize("name", [n for n in SCORES if SCORES[n].is_regular])
@every_idle_parent
@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(2, 4), st.integers(0, 2))
@settings(max_examples=examples(40), deadline=None)
def test_a_parent_that_tells_nothing_never_wins_when_it_says_so(
    name, idle, seed, n_rows, arity, n_parents
):
    rng = np.random.default_rng(seed)
    gain, without = gain_of_an_idle_parent(name, idle, rng, n_rows, arity, n_parents)
    assert gain <= 1e-9 * max(1.0, abs(without))


@pytest.mark.parametrize("name", [n for n in SCORES if not SCORES[n].is_regular])
def test_a_parent_that_tells_nothing_may_win_when_it_says_so(name):
    rng = np.random.default_rng(0)
    kinds = (_function_of_parents, _beside_a_certain_child, _crossed_with_everything)
    gains = [
        gain_of_an_idle_parent(name, idle, rng, n_rows, arity, n_parents)[0]
        for idle in kinds
        for n_rows in (1, 3, 10, 30)
        for arity in (2, 3, 4)
        for n_parents in (0, 1, 2)
        for _ in range(3)
    ]
    # Four cases evenly over x and a coin, in one configuration of six.
    columns = {"x": [0, 0, 1, 1], "y": [0] * 4, "more": [0, 1, 0, 1]}
    scorer = Scorer(make_dataset(columns, {"x": 2, "y": 6, "more": 2}), name)
    gains.append(scorer.family("x", ["y", "more"]) - scorer.family("x", ["y"]))
    assert max(gains) > 1e-6


@every_score
def test_says_what_it_is(name):
    score = SCORES[name]
    for fact in ("is_score_equivalent", "is_hyperparameter_free", "is_regular"):
        assert isinstance(getattr(score, fact), bool)
    own = fields(score)
    assert all(setting.init and setting.name[0] != "_" for setting in own)
    assert own or score.is_hyperparameter_free


@every_score
def test_refuses_real_weights_when_it_needs_whole_counts(name):
    dataset = make_dataset({"a": [0, 1], "b": [0, 1]}, weights=np.array([0.5, 1.25]))
    score = make_score(name)
    if getattr(score, "needs_whole_counts", False):
        with pytest.raises(DataError, match=f"^{name}: is defined for whole counts only"):
            Scorer(dataset, name)
        with pytest.raises(DataError, match=f"^{name}: is defined for whole (counts|numbers)"):
            score.family(CountingEngine(dataset).count([("a", ["b"])])[0])
    else:
        assert np.isfinite(Scorer(dataset, name).family("a", ["b"]))
    if getattr(score, "needs_whole_total", False):  # expected counts have one
        whole = make_dataset({"a": [0, 1], "b": [0, 1]}, weights=np.array([0.5, 1.5]))
        assert np.isfinite(score.family(CountingEngine(whole).count([("a", ["b"])])[0]))


@every_setting
def test_finite_on_one_row_and_one_state(name):
    dataset = make_dataset({"a": [0], "b": [1], "c": [0]}, {"a": 1, "b": 3, "c": 2})
    scorer = Scorer(dataset, score_for(name, dataset))
    values = scorer.families([("a", []), ("a", ["b", "c"]), ("b", ["a", "c"]), ("c", ["b"])])
    assert np.isfinite(values).all()
    assert values[:2].tolist() == [0.0, 0.0]  # a variable with one state tells nothing


@every_setting
def test_threads_do_not_change_a_bit(name):
    rng = np.random.default_rng(0)
    dataset = make_dataset({f"v{i}": rng.integers(0, 3, 3_000).tolist() for i in range(8)})
    families = [
        (c, [p for p in dataset.names if p != c][:k])
        for c in dataset.names
        for k in range(5 if name == "bd with tables" else 8)
    ]
    score = score_for(name, dataset)
    one, many = (Scorer(dataset, score, threads=t).families(families) for t in (1, 6))
    assert one.tobytes() == many.tobytes()


@every_setting
def test_pickles_compares_and_prints_its_settings(name):
    score = score_for(name, make_dataset({"a": [0, 1], "b": [0, 1]}))
    assert pickle.loads(pickle.dumps(score)) == score
    assert repr(score).startswith(type(score).__name__)
