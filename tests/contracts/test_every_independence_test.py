"""What every test of independence promises, checked for each entry of the list."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag import Dataset, Variable, independence_test, pc
from bestdag.counts.engine import CountingEngine
from bestdag.independence import TESTS, make_test
from bestdag.independence.asking import ask_all
from bestdag.registry import settings_of
from tests.conftest import examples

every_test = pytest.mark.parametrize("name", TESTS)


@st.composite
def datasets(draw):
    """Small tables; states that never occur and constant columns included."""
    n_rows = draw(st.integers(1, 60))
    arities = draw(st.lists(st.integers(1, 4), min_size=3, max_size=5))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    variables = [Variable(f"v{i}", tuple(map(str, range(r)))) for i, r in enumerate(arities)]
    most = [draw(st.integers(1, r)) for r in arities]
    return Dataset(variables, [rng.integers(0, m, n_rows).astype(np.uint8) for m in most])


def small(name):
    return make_test(name, **({"n_permutations": 50} if name == "permutation" else {}))


@every_test
@given(data=datasets())
@settings(max_examples=examples(40), deadline=None)
def test_is_always_a_number_and_agrees_with_its_formula(name, data):
    test = small(name)
    one, other, *rest = data.names
    for n_given in range(len(rest) + 1):
        answer = independence_test(data, one, other, rest[:n_given], test=test)
        assert np.isfinite([answer.statistic, answer.df, answer.log_p_value]).all()
        assert answer.statistic >= 0
        assert 0 <= answer.p_value <= 1
        shape = [data.arities[v] for v in (*rest[:n_given], one, other)]
        tables = np.zeros(shape)
        np.add.at(tables, tuple(data.codes(v) for v in (*rest[:n_given], one, other)), 1)
        statistic, df = test.statistic(tables.reshape(-1, *shape[-2:]))
        assert answer.statistic == pytest.approx(statistic, rel=1e-9, abs=1e-9)
        assert answer.df == df


@every_test
@given(data=datasets(), seed=st.integers(0, 99))
@settings(max_examples=examples(25), deadline=None)
def test_order_of_rows_columns_and_names_does_not_matter(name, data, seed):
    test = small(name)
    rng = np.random.default_rng(seed)
    one, other, *given_ = data.names
    answer = independence_test(data, one, other, given_, test=test)
    rows = rng.permutation(data.n_rows).tolist()
    columns = rng.permutation(data.names).tolist()
    assert (
        independence_test(data.select(columns, rows=rows), one, other, given_, test=test) == answer
    )
    assert independence_test(data, other, one, given_[::-1], test=test) == answer


@every_test
def test_many_questions_at_once_are_those_one_by_one_on_any_number_of_threads(name):
    rng = np.random.default_rng(1)
    names = [f"v{i}" for i in range(6)]
    data = Dataset(
        [Variable(v, ("0", "1", "2")) for v in names],
        [rng.integers(0, 3, 200).astype(np.uint8) for _ in names],
    )
    questions = [
        (a, b, [c for c in names if c not in (a, b)][: len(a) % 3]) for a in names for b in names
        if a < b
    ]  # fmt: skip
    test = small(name)
    found = [
        ask_all(CountingEngine(data, threads=threads), test, questions) for threads in (1, 2, 5)
    ]
    assert found[0] == found[1] == found[2]
    assert found[0] == [independence_test(data, *q, test=test) for q in questions]


@every_test
def test_finds_what_is_plain_to_see(name):
    rng = np.random.default_rng(2)
    a = rng.integers(0, 2, 2000)
    c = np.where(rng.random(2000) < 0.9, a, 1 - a)
    b = np.where(rng.random(2000) < 0.9, c, 1 - c)
    data = Dataset(
        [Variable(v, ("0", "1")) for v in "ABC"], [x.astype(np.uint8) for x in (a, b, c)]
    )
    assert not independence_test(data, "A", "B", test=name).is_independent
    assert independence_test(data, "A", "B", ["C"], test=name, alpha=0.001).is_independent
    assert pc(data, test=name, alpha=0.001).skeleton.edges == (("A", "C"), ("B", "C"))


@every_test
def test_pickles_says_its_settings_and_takes_them_by_name(name):
    test = make_test(name)
    assert pickle.loads(pickle.dumps(test)) == test
    assert test.name == name
    for one in settings_of(test):
        assert one.help
        assert make_test(name.upper(), **{one.name: one.default}) == test
