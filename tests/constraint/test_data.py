"""The PC algorithm on data: orders, threads, odd tables, limits, what the result says."""

import json
import math
import pickle

import numpy as np
import pytest

from bestdag import Dataset, G2Test, Network, Variable, independence_test, pc, watching
from bestdag.errors import (
    DataError,
    GraphError,
    InterruptedWarning,
    InvalidParameterError,
    UnknownNameError,
)
from bestdag.examples import example
from tests.shared_data import shared_file
from tests.signals import press_at


@pytest.fixture(scope="module")
def asia():
    return Network.load(example("asia.bif")).sample(3000, seed=3)


def renamed(data, names):
    """The same columns under other names."""
    variables = [Variable(name, v.states) for name, v in zip(names, data.variables, strict=True)]
    return Dataset(variables, [data.codes(v) for v in data.names])


def links(result, names, back):
    to = dict(zip(names, back, strict=True))
    return {frozenset((to[a], to[b])) for a, b in result.skeleton.edges}


@pytest.mark.parametrize("test", ["g2", "x2"])
def test_the_stable_skeleton_is_the_same_under_any_order(asia, test):
    rng = np.random.default_rng(0)
    first = links(pc(asia, test=test), asia.names, asia.names)
    for _ in range(20):
        names = rng.permutation(asia.names).tolist()
        other = pc(renamed(asia, names), test=test)
        assert links(other, names, asia.names) == first


def test_as_printed_the_skeleton_may_depend_on_the_order():
    data = Network.load(shared_file("networks/insurance.bif")).sample(400, seed=1)
    rng = np.random.default_rng(0)
    found = {
        pc(data, stable=False, order=rng.permutation(data.names).tolist()).skeleton.edges
        for _ in range(8)
    }
    assert len(found) > 1


def test_the_order_of_columns_and_rows_and_the_threads_do_not_matter(asia):
    rng = np.random.default_rng(1)
    columns = rng.permutation(asia.names).tolist()
    shuffled = asia.select(columns, rows=rng.permutation(asia.n_rows).tolist())
    kept = [
        pc(data, threads=threads).to_dict(trace=True)
        for data, threads in ((asia, 1), (asia, 3), (shuffled, 2))
    ]
    for one in kept:
        del one["seconds"], one["variables"]
    assert kept[0] == kept[1] == kept[2]


def test_finds_the_class_of_asia_from_many_rows():
    net = Network.load(example("asia.bif"))
    result = pc(net.sample(200_000, seed=1), alpha=0.001)
    # `either` is lung or tub: given both it is constant, and xray and dysp lose it.
    lost = {("dysp", "either"), ("either", "xray")}
    true = {tuple(sorted(arc)) for arc in net.dag.arcs} - lost
    assert true <= set(result.skeleton.edges)


def test_every_listed_test_is_what_a_single_question_says(asia):
    result = pc(asia)
    assert len(result.tests) == sum(level.tests for level in result.levels) + result.n_votes
    for test in result.tests[::7]:
        alone = independence_test(asia, test.one, test.other, test.given)
        assert alone.statistic == pytest.approx(test.statistic, rel=1e-9, abs=1e-9)
        assert (alone.df, alone.is_independent) == (test.df, test.is_independent)
        assert test.is_independent == (test.p_value > 0.05)
    sizes = [len(test.given) for test in result.tests[: sum(x.tests for x in result.levels)]]
    assert sizes == sorted(sizes)


def test_links_are_gone_exactly_where_a_test_says_so(asia):
    result = pc(asia)
    for one in asia.names:
        for other in asia.names:
            if one >= other:
                continue
            test = result.separation(one, other)
            is_linked = (one, other) in result.skeleton.edges
            assert test.is_independent != is_linked
            if is_linked:
                assert (one, other) not in result.sepsets
                assert test.p_value <= 0.05  # the largest of its tests
            else:
                assert result.sepsets[one, other] == test.given


def test_the_level_and_the_size_of_conditions_are_obeyed(asia):
    strict, loose = (pc(asia, alpha=alpha) for alpha in (1e-12, 0.4))
    assert len(strict.skeleton.edges) < len(loose.skeleton.edges)
    for most in (0, 1):
        result = pc(asia, max_conditioning=most)
        assert max(len(test.given) for test in result.tests) == most
        assert len(result.levels) == most + 1


def test_explains_links_and_directions(asia):
    result = pc(asia)
    a, b = next(iter(result.sepsets))
    said = result.explain(b, a)
    assert said.startswith(f"{a} and {b} are not linked: I({a}, {b}")
    assert "p " in said
    a, b = result.skeleton.edges[0]
    assert "are linked: none of the" in result.explain(a, b)
    with pytest.raises(UnknownNameError, match=r"unknown node 'smke'.*did you mean 'smoke'"):
        result.explain("smke", "lung")
    with pytest.raises(GraphError, match="needs two different nodes, got lung twice"):
        result.explain("lung", "lung")


def test_what_it_returns_is_plain_json_without_nan(asia):
    text = json.dumps(pc(asia).to_dict(trace=True), allow_nan=False)
    values = json.loads(text)
    assert {"arcs", "edges", "tests", "conflicts", "sepsets", "trace", "steps"} <= set(values)
    assert values["tests"] == sum(level["questions"] for level in values["levels"])
    assert "complete" in str(pc(asia))


def test_a_result_pickles(asia):
    result = pc(asia)
    other = pickle.loads(pickle.dumps(result))
    assert other.to_dict(trace=True) == result.to_dict(trace=True)
    assert other.explain("asia", "bronc") == result.explain("asia", "bronc")


def test_constant_columns_are_linked_to_nothing_and_named():
    rng = np.random.default_rng(0)
    data = Dataset(
        [Variable("A", ("0", "1")), Variable("B", ("0", "1")), Variable("C", ("x", "y"))],
        [rng.integers(0, 2, 100).astype(np.uint8)] * 2 + [np.zeros(100, np.uint8)],
    )
    result = pc(data)
    assert result.skeleton.edges == (("A", "B"),)
    assert result.notes == ("1 column is constant, and linked to nothing: 'C'",)
    assert "no degrees of freedom" in result.explain("A", "C")


@pytest.mark.parametrize("test", ["g2", "x2", "permutation"])
@pytest.mark.parametrize("n_rows", [1, 2, 3, 10])
def test_a_handful_of_rows(n_rows, test):
    rng = np.random.default_rng(n_rows)
    data = Dataset(
        [Variable(v, tuple("01234567")) for v in "ABCDE"],
        [rng.integers(0, 8, n_rows).astype(np.uint8) for _ in "ABCDE"],
    )
    result = pc(data, test=test)
    assert all(math.isfinite(t.log_p_value) for t in result.tests)
    if n_rows == 1:
        assert result.skeleton.edges == ()


def test_fewer_rows_than_configurations_keep_links_on_demand():
    rng = np.random.default_rng(4)
    data = Dataset(
        [Variable(v, tuple("0123456789")) for v in "ABC"],
        [rng.integers(0, 10, 50).astype(np.uint8) for _ in "ABC"],
    )
    assert pc(data, test=G2Test(rows_per_df=5)).skeleton.edges == (
        ("A", "B"), ("A", "C"), ("B", "C"),
    )  # fmt: skip
    assert len(pc(data).skeleton.edges) < 3


def test_missing_cells_are_refused():
    data = Dataset([Variable("A", ("0", "1"))], [np.array([0, 2], np.uint8)])
    with pytest.raises(DataError, match="values are missing"):
        pc(data)


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"alpha": 2}, InvalidParameterError, "pc: alpha must be a number between 0 and 1"),
        ({"alpah": 0.1}, UnknownNameError, "unknown setting 'alpah'.*did you mean 'alpha'"),
        ({"order": ["asia"]}, GraphError, "order must name every variable once"),
        ({"order": "asia"}, InvalidParameterError, "order must be a list of names"),
        ({"max_conditioning": -1}, InvalidParameterError, "max_conditioning must be"),
        ({"v_structures": "most"}, InvalidParameterError, "v_structures must be one of"),
        ({"choose": "best"}, InvalidParameterError, "choose must be one of"),
        ({"stable": 1}, InvalidParameterError, "stable must be True or False"),
        ({"time_limit": 0}, InvalidParameterError, "time_limit must be a finite number > 0"),
        ({"knowledge": ["smke -> lung"]}, UnknownNameError, "unknown node 'smke'"),
        ({"oracle": 3, "data": None}, InvalidParameterError, "oracle must be a Dag"),
        ({"data": None}, InvalidParameterError, "give either data or oracle"),
        ({"test": 3}, InvalidParameterError, "must be a test or its name"),
    ],
)
def test_refuses_what_makes_no_sense(asia, settings, error, said):
    data = settings.pop("data", asia)
    with pytest.raises(error, match=said):
        pc(data, **settings)


def wide(n_columns=400, n_rows=4000):
    rng = np.random.default_rng(0)
    common = rng.integers(0, 3, n_rows)
    return Dataset(
        [Variable(f"v{i:03d}", ("0", "1", "2")) for i in range(n_columns)],
        [
            np.where(rng.random(n_rows) < 0.5, common, rng.integers(0, 3, n_rows)).astype(np.uint8)
            for _ in range(n_columns)
        ],
    )


@pytest.mark.parametrize("settings", [{}, {"stable": False}])
def test_a_time_limit_ends_it_with_what_is_known(settings):
    result = pc(wide(), time_limit=0.3, keep_tests=False, **settings)
    assert result.status == "time limit"
    assert result.dag is None
    assert not result.pdag.arcs
    assert any("no directions" in note for note in result.notes)


@pytest.mark.parametrize("settings", [{}, {"stable": False}, {"test": "permutation"}])
def test_ctrl_c_ends_it_with_what_is_known(settings):
    pressed = press_at("testing independences", times=3)  # while tests are made
    with pytest.warns(InterruptedWarning, match="pc: stopped early"), watching(pressed):
        result = pc(wide(), keep_tests=False, **settings)
    assert result.status == "interrupted"
    assert result.dag is None


def test_tests_beyond_the_memory_limit_are_counted_and_not_listed(asia):
    from bestdag import memory_limit

    with memory_limit("20 kB"):
        result = pc(asia)
    made = sum(level.tests for level in result.levels) + result.n_votes
    assert len(result.tests) < made
    assert any(f"of {made:,} tests are listed" in note for note in result.notes)
