"""Branch and cut: brute force, hostile tables, anytime behaviour, known optima."""

from __future__ import annotations

import _thread
import math
import random
import threading
import time
import tomllib
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bestdag.errors import GraphError, InvalidParameterError
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.bnc.certificate import verify
from bestdag.search.exact.bnc.engine import BranchAndCut, solve_bnc
from bestdag.search.exact.components import Solution
from tests.conftest import examples
from tests.search.exact.brute_force import (
    best_by_dp,
    best_by_enumeration,
    is_acyclic,
    random_table,
)
from tests.shared_data import shared_file
from tests.signals import ctrl_c_after


def solved(table: ScoreTable, **settings) -> Solution:
    """Solve, and check everything a result promises about itself."""
    result = solve_bnc(table, threads=1, deadline=None, **settings)
    assert result.status == "optimum proved"
    assert result.is_proved
    assert result.bound == result.score
    chosen = [table.child(v).parents(k) for v, k in enumerate(result.chosen)]
    assert is_acyclic([frozenset(parents) for parents in chosen])
    assert verify(table, result.proofs[0])
    return result


def test_a_case_worked_out_by_hand():
    # Best sets: a <- b (0), b <- a (0), c <- ab (0): a cycle. Breaking it at a costs 1, at b 2.
    table = ScoreTable.from_lists(
        ["a", "b", "c"],
        {
            "a": [(-1.0, []), (0.0, ["b"])],
            "b": [(-2.0, []), (0.0, ["a"])],
            "c": [(-5.0, []), (0.0, ["a", "b"])],
        },
    )
    result = solved(table)
    assert result.score == -1.0
    assert [table.child(v).parents(k) for v, k in enumerate(result.chosen)] == [(), (0,), (0, 1)]


@pytest.mark.parametrize("seed", range(150))
def test_equals_brute_force_over_all_networks(seed):
    rng = random.Random(seed)
    table = random_table(rng, rng.choice([1, 2, 3, 4]), keep=0.6, ties=seed % 3 == 0)
    assert solved(table, seed=seed).score == pytest.approx(
        best_by_enumeration(table), rel=1e-9, abs=1e-9
    )


@pytest.mark.parametrize("max_pivots", [0, 100])
def test_a_limit_on_steps_gives_a_bound_and_always_the_same(max_pivots):
    table = ScoreTable.load(shared_file("scores/autos.BIC.k7.jkl.gz"))
    first, again = (solve_bnc(table, max_pivots=max_pivots) for _ in range(2))
    assert first.status == "step limit"
    assert not first.is_proved
    assert (first.score, first.bound, first.n_nodes) == (again.score, again.bound, again.n_nodes)
    assert verify(table, first.proofs[0])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_equals_brute_force_over_all_networks_of_five(seed):
    table = random_table(random.Random(seed), 5, keep=0.5, ties=seed % 3 == 0)
    assert solved(table).score == pytest.approx(best_by_enumeration(table), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_equals_an_independent_dynamic_program(seed):
    rng = random.Random(1000 + seed)
    table = random_table(rng, rng.choice([5, 6, 7, 8]), keep=0.2, ties=seed % 4 == 0)
    assert solved(table).score == pytest.approx(best_by_dp(table), rel=1e-9, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_equals_an_independent_dynamic_program_on_ten(seed):
    table = random_table(random.Random(2000 + seed), 10, keep=0.2)
    assert solved(table).score == pytest.approx(best_by_dp(table), rel=1e-9, abs=1e-9)


@st.composite
def hostile_tables(draw):
    """Few distinct scores, huge ranges, positive scores, children without the empty set."""
    n = draw(st.integers(1, 5))
    names = [f"v{i}" for i in range(n)]
    scores = draw(
        st.sampled_from(
            [
                st.integers(-2, 2).map(float),
                st.floats(-1e12, 1e12, allow_nan=False),
                st.floats(1e-6, 1e-3),
                st.floats(-1.0, 1.0).map(lambda s: 1e6 + 1e-6 * s),
            ]
        )
    )
    lists = {}
    for child in names:
        others = [name for name in names if name != child]
        subsets = st.lists(st.sampled_from(others), unique=True) if others else st.just([])
        chosen = draw(st.lists(subsets.map(sorted), min_size=1, max_size=8, unique_by=tuple))
        lists[child] = [(draw(scores), members) for members in chosen]
    return ScoreTable.from_lists(names, lists)


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(hostile_tables())
def test_hostile_tables(table):
    best = best_by_dp(table)
    if best is None:
        with pytest.raises(GraphError, match="every choice of parent sets"):
            solve_bnc(table, threads=1, deadline=None)
        return
    result = solved(table)
    assert result.score <= best + 1e-9 * abs(best)
    assert result.score >= best - max(result.resolution, 1e-9 * abs(best))
    # The resolution is small beside what there is to choose from.
    cost = sum(
        Fraction(float(table.child(v).scores[0])) - Fraction(float(table.child(v).scores[k]))
        for v, k in enumerate(result.chosen)
    )
    assert result.resolution <= max(1e-6 * cost, 1e-290)  # a unit is never below 2**-1000


def test_one_variable():
    result = solved(ScoreTable.from_lists(["a"], {"a": [(-1.5, [])]}))
    assert (result.score, result.chosen) == (-1.5, (0,))


def test_no_arcs_possible():
    names = [f"v{i}" for i in range(30)]
    result = solved(ScoreTable.from_lists(names, {name: [(2.0, [])] for name in names}))
    assert result.score == 60.0


def test_only_one_order_fits_required_arcs():
    # Child i must have i+1 as a parent; the last none: one network, whatever the scores.
    names = [f"v{i:02d}" for i in range(12)]
    lists = {
        names[i]: [(-1.0, [names[i + 1]]), (5.0, [names[i - 1], names[i + 1]])]
        for i in range(1, 11)
    }
    lists[names[0]] = [(-1.0, [names[1]])]
    lists[names[11]] = [(-1.0, []), (9.0, [names[0]])]
    assert solved(ScoreTable.from_lists(names, lists)).score == -12.0


def test_parts_that_have_nothing_to_do_with_each_other():
    rng = random.Random(5)
    parts = [random_table(rng, 5, keep=0.5) for _ in range(4)]
    names = [f"p{p}{name}" for p in range(4) for name in parts[0].names]
    lists = {
        f"p{p}{name}": [
            (score, [f"p{p}{part.names[m]}" for m in members]) for score, members in part.child(v)
        ]
        for p, part in enumerate(parts)
        for v, name in enumerate(part.names)
    }
    expected = sum(best_by_dp(part) for part in parts)
    assert solved(ScoreTable.from_lists(names, lists)).score == pytest.approx(expected, rel=1e-9)


def test_more_candidate_parents_than_bits_of_a_word():
    # Child 0 may take any one of 130 parents, each of which would like child 0 as its parent.
    names = [f"v{i:03d}" for i in range(131)]
    lists = {name: [(0.0, []), (2.0, [names[0]])] for name in names[1:]}
    lists[names[0]] = [(0.0, []), *((3.0 + i, [names[i]]) for i in range(1, 131))]
    # Taking parent i gives child 0 3 + i and costs that parent 2: the last is worth 133.
    assert solved(ScoreTable.from_lists(names, lists)).score == 133.0 + 2.0 * 129


def test_a_known_network_is_taken_as_a_start():
    table = random_table(random.Random(3), 6, keep=0.4)
    best = solved(table)
    again = solved(table, incumbent=best.chosen)
    assert again.score == pytest.approx(best.score, rel=1e-12)


def test_refuses_a_start_that_is_no_network():
    table = ScoreTable.from_lists(
        ["a", "b"], {"a": [(0.0, ["b"]), (-1.0, [])], "b": [(0.0, ["a"]), (-1.0, [])]}
    )
    with pytest.raises(GraphError, match="incumbent has a cycle"):
        solve_bnc(table, threads=1, deadline=None, incumbent=[0, 0])
    with pytest.raises(InvalidParameterError, match="incumbent needs"):
        solve_bnc(table, threads=1, deadline=None, incumbent=[0, 2])


def test_same_seed_same_result():
    table = random_table(random.Random(8), 8, keep=0.3)
    first, second = solved(table, seed=4), solved(table, seed=4)
    assert replace(first, seconds=0.0) == replace(second, seconds=0.0)


def _instance(name: str) -> tuple[ScoreTable, dict]:
    listed = tomllib.loads(shared_file("scores/index.toml").read_text())["instance"]
    entry = next(i for i in listed if i["name"] == name)
    return ScoreTable.load(shared_file("scores/" + entry["file"])), entry


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.5])
def test_a_time_limit_returns_a_network_and_a_valid_bound(seconds):
    table, entry = _instance("gobalarm_10000.BDeu.k3")
    result = solve_bnc(table, threads=1, deadline=time.monotonic() + seconds)
    assert (result.status, result.is_proved) == ("time limit", False)
    assert result.score <= entry["optimum"] + 1e-6 <= result.bound + 2e-6
    assert result.gap > 0
    assert verify(table, result.proofs[0])


def test_ctrl_c_returns_the_best_so_far_and_a_second_call_works():
    table, entry = _instance("gobalarm_10000.BDeu.k3")
    begun = threading.Event()
    with ctrl_c_after(begun):
        result = _solved_after(BranchAndCut(table).steps(), begun)
    assert (result.status, result.is_proved) == ("interrupted", False)
    assert result.score <= entry["optimum"] + 1e-6 <= result.bound + 2e-6
    assert all(thread.name != "bestdag-bnc" for thread in threading.enumerate())
    assert solved(random_table(random.Random(1), 4)).is_proved


def _solved_after(steps, begun):
    """Go through the steps to their result; the first sets an event."""
    try:
        while True:
            next(steps)
            begun.set()
    except StopIteration as end:
        return end.value


def _interrupt() -> None:
    _thread.interrupt_main()


def test_steps_say_what_is_known_and_end_when_nobody_asks_for_more():
    table, entry = _instance("gobalarm_10000.BDeu.k3")
    steps = BranchAndCut(table).steps()
    for _ in range(3):
        now = next(steps)
        assert now.score <= entry["optimum"] + 1e-6 <= now.bound + 2e-6
        chosen = [table.child(i).scores[k] for i, k in enumerate(now.chosen)]
        assert now.score == math.fsum(chosen)
    steps.close()
    assert all(thread.name != "bestdag-bnc" for thread in threading.enumerate())


QUICK = [
    "gob_asia_10000.k3",
    "gobWater_1000.BDeu.k2",
    "gobWater_1000.BDeu.k3",
    "slim_sachs-5000",
    "slim_child-5000",
    "slim_water-5000",
    "wine.BIC",
    "alarm1000.BIC",
    "alarm1000.BDeu.k3",
    "carpo100.BIC",
    "insurance1000.BDeu.k3",
    "water1000.BIC.k6",
    "mildew1000.BDeu.k3",
    "hailfinder100.BDeu.k3",
    "hailfinder500.BIC.k4",
    "flag.BIC.k8",
    "bands.BIC.k5",
]
LONG = [
    "carpo500.BDeu.k3",
    "autos.BIC.k7",
    "parkinsons.BIC.k8",
    "slim_alarm-5000",
    "slim_hailfinder-5000",
    "slim_pathfinder-5000",
    "soybean.BIC.k6",
    "wdbc.BIC.k5",
]


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(n, marks=pytest.mark.slow) for n in LONG)])
def test_known_optima(name):
    table, entry = _instance(name)
    # The list gives six decimals.
    assert solved(table).score == pytest.approx(entry["optimum"], abs=1e-6)
