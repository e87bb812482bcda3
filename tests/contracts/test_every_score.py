"""What every score promises, checked for each entry of the list."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag.counts.engine import CountingEngine
from bestdag.data.dataset import Dataset
from bestdag.errors import DataError
from bestdag.scores import SCORES, make_score
from bestdag.scores.scorer import Scorer
from tests.conftest import make_dataset

every_score = pytest.mark.parametrize("name", SCORES)


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


def datasets_for(name):
    """Data sets with every kind of weights the score takes."""
    whole = getattr(make_score(name), "needs_whole_counts", False)
    return datasets(weights=("none", "whole") if whole else ("none", "whole", "real"))


def some_family(dataset):
    child, *others = dataset.names
    return child, others


@every_score
@given(st.data())
@settings(max_examples=100)
def test_kernel_equals_formula(name, data):
    dataset = data.draw(datasets_for(name))
    score = make_score(name)
    engine = CountingEngine(dataset)
    families = [
        (c, [p for p in dataset.names if p != c][:k]) for c in dataset.names for k in (0, 1, 4)
    ]
    native = engine.score(score.kernel(), families)
    for got, counts in zip(native, engine.count(families), strict=True):
        terms = score.terms(counts).values()
        assert got == pytest.approx(score.family(counts), abs=1e-9 * max(1.0, sum(map(abs, terms))))


@every_score
def test_terms_add_up_to_the_family(name):
    dataset = make_dataset({"a": [0, 1, 1, 2], "b": [0, 1, 0, 1]})
    explanation = Scorer(dataset, name).explain("a", ["b"])
    assert sum(explanation.terms.values()) == pytest.approx(explanation.value, rel=1e-15)


@every_score
@given(st.data(), st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_same_after_permuting_rows_columns_and_states(name, data, random):
    dataset = data.draw(datasets_for(name))
    child, parents = some_family(dataset)
    order = list(range(dataset.n_rows))
    random.shuffle(order)
    columns = list(zip(dataset.variables, dataset.names, strict=True))
    random.shuffle(columns)
    weights = None if dataset.weights is None else dataset.weights[order]
    moved = Dataset([v for v, _ in columns], [dataset.codes(n)[order] for _, n in columns], weights)
    value = Scorer(dataset, name).family(child, parents)
    assert Scorer(moved, name).family(child, parents) == value  # to the last bit

    def relabelled(variable):
        swap = random.sample(range(variable.arity), variable.arity)
        return np.array(swap, np.uint8)[dataset.codes(variable.name)]

    renamed = Dataset(
        dataset.variables, [relabelled(v) for v in dataset.variables], dataset.weights
    )
    assert Scorer(renamed, name).family(child, parents) == pytest.approx(value, rel=1e-9, abs=1e-9)


@every_score
@given(datasets(weights=("whole",)))
@settings(max_examples=50)
def test_whole_weights_equal_repetition(name, dataset):
    child, parents = some_family(dataset)
    repeated = Dataset(
        dataset.variables, [np.repeat(dataset.codes(n), dataset.weights) for n in dataset.names]
    )
    a, b = (Scorer(d, name).family(child, parents) for d in (dataset, repeated))
    assert a == b


@every_score
@given(datasets(weights=("none",)))
@settings(max_examples=50)
def test_equal_on_equivalent_graphs_when_it_says_so(name, dataset):
    # x -> y and x <- y are equivalent.
    scorer = Scorer(dataset, name)
    x, y = dataset.names[:2]
    forward = scorer.family(x) + scorer.family(y, [x])
    backward = scorer.family(y) + scorer.family(x, [y])
    if scorer.score.is_score_equivalent:
        assert forward == pytest.approx(backward, rel=1e-9, abs=1e-9)


@every_score
def test_refuses_real_weights_when_it_needs_whole_counts(name):
    dataset = make_dataset({"a": [0, 1], "b": [0, 1]}, weights=np.array([0.5, 1.5]))
    score = make_score(name)
    if getattr(score, "needs_whole_counts", False):
        with pytest.raises(DataError, match=f"^{name}: is defined for whole counts only"):
            Scorer(dataset, name)
        with pytest.raises(DataError, match=f"^{name}: is defined for whole counts only"):
            score.family(CountingEngine(dataset).count([("a", ["b"])])[0])
    else:
        assert np.isfinite(Scorer(dataset, name).family("a", ["b"]))


@every_score
def test_finite_on_one_row_and_one_state(name):
    dataset = make_dataset({"a": [0], "b": [1], "c": [0]}, {"a": 1, "b": 3, "c": 2})
    scorer = Scorer(dataset, name)
    values = scorer.families([("a", []), ("a", ["b", "c"]), ("b", ["a", "c"]), ("c", ["b"])])
    assert np.isfinite(values).all()
    assert values[:2].tolist() == [0.0, 0.0]  # a variable with one state tells nothing


@every_score
def test_threads_do_not_change_a_bit(name):
    rng = np.random.default_rng(0)
    dataset = make_dataset({f"v{i}": rng.integers(0, 3, 3_000).tolist() for i in range(8)})
    families = [
        (c, [p for p in dataset.names if p != c][:k]) for c in dataset.names for k in range(8)
    ]
    one, many = (Scorer(dataset, name, threads=t).families(families) for t in (1, 6))
    assert one.tobytes() == many.tobytes()


@every_score
def test_pickles_compares_and_prints_its_settings(name):
    score = make_score(name)
    assert pickle.loads(pickle.dumps(score)) == score
    assert repr(score).startswith(type(score).__name__)
