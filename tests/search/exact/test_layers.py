"""Layers, ordered pairs and known orders: the answer of all subsets at once, from less memory."""

import math
import time

import pytest

from bestdag import _core
from bestdag.machine import memory_limit
from bestdag.search.exact.dp import component, plan
from bestdag.search.exact.dp.engine import forecast, solve_dp
from tests.search.exact.tables import best_by_recursion, make_table, random_table
from tests.search.exact.test_dp import close_table, table_of_many_rivals


def small_blocks(monkeypatch, middle, pairs):
    """Blocks of 16 subsets, two layers of them."""

    def plan_for(n, *_):
        n_top = n - 4 - middle
        if n_top < max(1, 2 * pairs):
            return _core.plan_subsets(n, 100, 1, 8, 1e18, 9)
        sizes = [1]
        for width in [3] * pairs + [2] * (n_top - 2 * pairs):
            sizes = [
                sum(sizes[max(0, i - width + 1) : i + 1]) for i in range(len(sizes) + width - 1)
            ]
        tasks = max(a + b for a, b in zip(sizes, [*sizes[1:], 0], strict=True))
        return _core.SubsetPlan(4, middle, pairs, max(64, tasks) * 2.0 ** (4 + middle))

    monkeypatch.setattr(component, "plan_for", plan_for)


@pytest.mark.parametrize(("middle", "pairs"), [(0, 0), (2, 0), (0, 1), (1, 2), (0, 3)])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_the_answer_is_that_of_all_subsets_at_once(monkeypatch, precision, middle, pairs):
    for n in (8, 11, 14):
        table = random_table(n, 30, n)
        flat = solve_dp(table, precision=precision)
        with monkeypatch.context() as patch:
            small_blocks(patch, middle, pairs)
            less = solve_dp(table, precision=precision)
        assert (less.chosen, less.score) == (flat.chosen, flat.score)
        (proof,), (other,) = (result.proofs[0].components for result in (less, flat))
        assert (proof.unit, proof.value, proof.resolution) == (
            other.unit,
            other.value,
            other.resolution,
        )
        assert other.visited == 2**n


@pytest.mark.parametrize("pairs", [0, 2])
def test_small_blocks_against_brute_force(monkeypatch, pairs):
    small_blocks(monkeypatch, 0, pairs)
    tables = [random_table(9, 12, seed, empty=seed % 2 == 0) for seed in range(10)]
    bests = [best_by_recursion(table) for table in tables]
    solvable = [case for case in zip(tables, bests, strict=True) if case[1] > -math.inf]
    assert len(solvable) >= 5
    for table, best in solvable:
        result = solve_dp(table)
        assert result.status == "optimum proved"
        assert result.score == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("pairs", [0, 1])
def test_near_ties_are_decided_among_rivals(monkeypatch, pairs):
    table = close_table(3)
    double = solve_dp(table, precision="double")
    monkeypatch.setattr(plan, "_MAX_VARIABLES_DOUBLE", 0)
    small_blocks(monkeypatch, 0, pairs)
    result = solve_dp(table)
    (proof,), (other,) = (r.proofs[0].components for r in (result, double))
    assert (proof.cell_bytes, proof.is_fine) == (4, True)
    assert (result.chosen, proof.unit, proof.value) == (double.chosen, other.unit, other.value)


def test_with_too_many_rivals_the_best_in_units_is_found_alone(monkeypatch):
    table = table_of_many_rivals()
    small_blocks(monkeypatch, 0, 1)
    assert solve_dp(table, precision="single").score == best_by_recursion(table)
    monkeypatch.setattr(plan, "_MAX_VARIABLES_DOUBLE", 0)
    result = solve_dp(table)
    assert result.score == best_by_recursion(table)
    assert result.resolution <= 1e-9


def test_a_chain_of_needs_leaves_few_subsets(monkeypatch):
    # Each of the last seven needs the one before it: of their 2^7 subsets an order allows 8.
    n, chain = 12, range(6, 12)
    sets = [{(): -float(v), ((v + 1) % 5,): 0.0, (11,): 1.0} for v in range(5)]
    sets.append({(): -1.0, (0,): 0.0})
    sets += [{(v - 1,): -1.0, (v - 1, v % 5): 0.5} for v in chain]
    table = make_table(sets)
    small_blocks(monkeypatch, 0, 0)
    result = solve_dp(table)
    (proof,) = [proof for proof in result.proofs[0].components if proof.cell_bytes]
    assert len(proof.variables) == n
    assert proof.visited < 2**n / 4
    assert result.score == pytest.approx(best_by_recursion(table), abs=1e-9)


@pytest.mark.parametrize("n", [10, 20])
def test_two_tiers_are_two_problems(n):
    free = random_table(n, 20, 5)
    tiers = make_table(
        [
            {
                parents: score
                for score, parents in free.child(v)
                if v >= n // 2 or all(parent < n // 2 for parent in parents)
            }
            for v in range(n)
        ]
    )
    result = solve_dp(tiers, precision="single")
    assert result.n_nodes == 2 * 2 ** (n // 2)
    if n == 10:
        assert result.score == pytest.approx(best_by_recursion(tiers), abs=1e-5)


def test_time_that_runs_out_between_runs_leaves_the_best_so_far(monkeypatch):
    small_blocks(monkeypatch, 0, 2)
    table = random_table(14, 30, 1)
    seen = []

    def stop(share):
        seen.append(share)
        if share >= 0.5:
            raise KeyboardInterrupt

    result = solve_dp(table, progress=stop)
    assert result.status == "interrupted"
    assert not result.is_proved
    assert result.score <= result.bound
    assert min(seen) < 0.5


def test_runs_are_announced_with_their_time(monkeypatch):
    needed = plan.Forecast(2**30, 95.0, 2, True)
    monkeypatch.setattr("bestdag.search.exact.dp.engine.forecast", lambda *_, **__: needed)
    small_blocks(monkeypatch, 0, 2)
    said = []
    solve_dp(random_table(14, 30, 1), tell=said.append)
    first = "dynamic programming over 14 variables, layer by layer with 2 ordered pairs, 4 runs: "
    assert said[0] == first + "1.0 GiB, about 95 s"
    assert said[1] == "dynamic programming: run 1 of 4"
    assert said[-1] == "dynamic programming: run 4 of 4"


# At n = 33, C(20, 10) + C(20, 9) = 352,716 tasks of 2^13 cells take 11.6 GB.
@pytest.mark.parametrize(("n", "room", "pairs"), [(33, 12e9, 0), (34, 24e9, 0), (34, 22e9, 1)])
def test_the_forecast_fits_the_room(n, room, pairs):
    needed = forecast(n, n_sets=200 * n, threads=2, room=room)
    assert needed.n_bytes <= room
    assert (needed.in_layers, needed.n_pairs) == (True, pairs)


def test_a_memory_limit_makes_layers_of_it():
    table = random_table(22, 20, 4)
    flat = solve_dp(table)
    with memory_limit("15 MB"):
        assert forecast(22, n_sets=440, threads=1).in_layers
        less = solve_dp(table, threads=1, deadline=time.monotonic() + 600)
    assert (less.chosen, less.resolution) == (flat.chosen, flat.resolution)
