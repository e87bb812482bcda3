"""The search among few subsets: brute force, known optima, anytime behaviour, certificates."""

from __future__ import annotations

import math
import random
import time
import tomllib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag import _core
from bestdag.errors import CertificateError, GraphError, InvalidParameterError
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.components import Interim, Solution, decompose
from bestdag.search.exact.frontier.certificate import FrontierCertificate
from bestdag.search.exact.frontier.engine import Frontier, solve_frontier
from bestdag.search.exact.solver import SolvedComponent, Solver
from bestdag.search.exact.verification import verify_solution
from tests.conftest import examples
from tests.search.exact.brute_force import best_by_dp, best_by_enumeration, is_acyclic, random_table
from tests.search.exact.tables import best_of_all_dags, make_table
from tests.search.exact.tables import random_table as sparse_table
from tests.shared_data import shared_file
from tests.signals import ctrl_c_in_native_work


def solved(table: ScoreTable) -> Solution:
    """Solve, and check everything a result promises about itself."""
    result = solve_frontier(table)
    assert result.is_proved
    assert result.bound == result.score
    chosen = [table.child(v).parents(k) for v, k in enumerate(result.chosen)]
    assert is_acyclic([frozenset(parents) for parents in chosen])
    assert result.score == math.fsum(
        float(table.child(v).scores[k]) for v, k in enumerate(result.chosen)
    )
    verify_solution(table, result)
    return result


@pytest.mark.parametrize("seed", range(150))
def test_equals_brute_force_over_all_networks(seed):
    rng = random.Random(seed)
    table = random_table(rng, rng.choice([1, 2, 3, 4]), keep=0.6, ties=seed % 3 == 0)
    result = solved(table)
    assert result.score == pytest.approx(best_by_enumeration(table), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_equals_the_best_of_all_dags_of_five_variables(seed):
    table = random_table(random.Random(seed), 5, keep=0.9)
    assert solved(table).score == pytest.approx(best_of_all_dags(table), rel=1e-12)


@settings(max_examples=examples(60))
@given(st.integers(0, 10**6), st.integers(5, 9), st.integers(2, 25), st.booleans())
def test_equals_the_recursion_over_all_subsets(seed, n, n_sets, empty):
    table = sparse_table(n, n_sets, seed, empty=empty)
    best = best_by_dp(table)
    if best is None:
        with pytest.raises(GraphError, match="has a cycle"):
            solve_frontier(table)
    else:
        assert solved(table).score == pytest.approx(best, rel=1e-9)


@settings(max_examples=examples(60))
@given(st.integers(0, 10**6), st.integers(4, 8), st.integers(1, 4), st.integers(0, 3))
def test_a_beam_of_any_width_gives_a_bound_and_a_choice(seed, n, width, n_clusters):
    # Multipliers that nobody chose with care: the bound has to hold with all.
    rng = random.Random(seed)
    table = sparse_table(n, 8, seed)
    costs, masks, first = [], [], [0]
    for v in range(n):
        best = float(table.child(v).scores[0])
        costs += [round(1000 * (best - score)) for score, _ in table.child(v)]
        masks += [sum(1 << p for p in parents) for _, parents in table.child(v)]
        first.append(len(costs))
    clusters = []
    for _ in range(n_clusters):
        members = rng.sample(range(n), rng.randint(2, n))
        k = rng.randint(1, len(members))
        clusters.append((sum(1 << v for v in members), k, rng.randint(0, 30_000)))
    least = []
    for v in range(n):
        reduced = [
            costs[f]
            - sum(m for c, k, m in clusters if c >> v & 1 and (masks[f] & c).bit_count() < k)
            for f in range(first[v], first[v + 1])
        ]
        least.append(min(reduced))
    value = {0: 0}
    for subset in range(1, 1 << n):
        options = []
        for v in range(n):
            if subset >> v & 1:
                rest = subset & ~(1 << v)
                own = [costs[f] for f in range(first[v], first[v + 1]) if not masks[f] & ~rest]
                options += [value[rest] + min(own)]
        value[subset] = min(options)
    optimum = value[(1 << n) - 1]
    arrays = (
        _array(first, "int64"),
        _array(masks, "uint64"),
        _array(costs, "int64"),
        _array(least, "int64"),
    )
    for cutoff, w in ((10**9, width), (10**9, 10**6), (optimum + 1, width), (optimum, 10**6)):
        chosen, cost, bound, is_complete, _, _ = _core.search_frontier(
            *arrays, clusters, cutoff, w, math.inf
        )
        assert bound <= max(optimum, cutoff if is_complete and not chosen else 0)
        if chosen:
            assert cost == sum(costs[f] for f in chosen) >= optimum
            parents = [frozenset(v for v in range(n) if masks[f] >> v & 1) for f in chosen]
            assert is_acyclic(parents)
        if is_complete:
            assert bound == min(optimum, cutoff)
            assert bool(chosen) == (optimum < cutoff)


def _array(values, kind):
    return np.array(values, dtype=kind)


@pytest.mark.parametrize(
    "name", ["parkinsons.BIC.k8", "autos.BIC.k7", "zoo.BDeu.k6", "flag.BIC.k8", "wine.BIC"]
)
def test_known_optima(name):
    index = tomllib.loads(shared_file("scores/index.toml").read_text())
    optimum = next(float(i["optimum"]) for i in index["instance"] if i["name"] == name)
    table = ScoreTable.load(shared_file(f"scores/{name}.jkl.gz"))
    assert solved(table).score == pytest.approx(optimum, abs=1e-5)


def test_interims_are_bounds_and_fall():
    table = ScoreTable.load(shared_file("scores/zoo.BDeu.k6.jkl.gz"))
    steps, bounds, scores = Frontier(table).steps(), [], []
    for event in steps:
        assert isinstance(event, Interim)
        bounds.append(event.bound)
        scores.append(event.score)
    assert len(bounds) > 2
    assert bounds == sorted(bounds, reverse=True)
    assert scores == sorted(scores)
    assert bounds[-1] >= -566.414724 - 1e-6
    assert scores[-1] == pytest.approx(-566.414724, abs=1e-5)


def test_a_time_limit_leaves_a_network_and_a_bound():
    table = ScoreTable.load(shared_file("scores/zoo.BDeu.k6.jkl.gz"))
    result = solve_frontier(table, deadline=time.monotonic() - 1.0)
    assert result.status == "time limit"
    assert not result.proofs
    assert result.score <= -566.414724 + 1e-6 <= result.bound


def test_ctrl_c_leaves_a_network_and_a_bound():
    table = ScoreTable.load(shared_file("scores/gobalarm_10000.BDeu.k3.jkl.gz"))
    part = max(decompose(table), key=lambda component: len(component.variables))
    with ctrl_c_in_native_work():
        result = solve_frontier(part.table)
    assert result.status == "interrupted"
    assert result.was_interrupted
    assert result.bound > result.score


def test_impatience_ends_where_too_many_subsets_are_left():
    table = ScoreTable.load(shared_file("scores/gobalarm_10000.BDeu.k3.jkl.gz"))
    part = max(decompose(table), key=lambda component: len(component.variables))
    first, again = (solve_frontier(part.table, patient=False) for _ in range(2))
    assert first.status == "step limit"
    assert first.bound > first.score
    assert (first.score, first.bound, first.n_nodes) == (again.score, again.bound, again.n_nodes)


def test_auto_takes_it_and_what_is_solved_is_remembered():
    table = ScoreTable.load(shared_file("scores/parkinsons.BIC.k8.jkl.gz"))
    result = Solver("auto", 1, None).solve(table)
    assert result.engines == ("frontier",)
    assert result.is_proved
    (proof,) = result.proofs
    proof.verify()
    assert SolvedComponent.of(proof.result).whole() == proof.result


def test_auto_goes_on_with_another_where_it_gives_up():
    table = ScoreTable.load(shared_file("scores/alarm1000.BDeu.k3.jkl.gz"))
    result = Solver("auto", 1, None).solve(table)
    assert result.engines == ("bnc",)
    assert result.is_proved
    assert result.score == pytest.approx(-11240.347094, abs=1e-4)


def test_more_than_64_variables_are_refused():
    n = 65
    table = make_table_of(n)
    with pytest.raises(InvalidParameterError, match=r"at most 64 variables .* got 65; use engine="):
        solve_frontier(table)


def make_table_of(n):
    names = [f"v{i:02}" for i in range(n)]
    rows = {name: [(-1.0, []), (0.0, [names[(i + 1) % n]])] for i, name in enumerate(names)}
    return ScoreTable.from_lists(names, rows)


def test_a_ring_of_64_variables():
    # All but one may have their best set.
    assert solved(make_table_of(64)).score == -1.0


# Certificates ---------------------------------------------------------------------------------


def ring() -> ScoreTable:
    """Each wants the next; a gives way for 2, b for 3, c for 4."""
    return make_table([{(): -2.0, (1,): 0.0}, {(): -3.0, (2,): 0.0}, {(): -4.0, (0,): 0.0}])


def ring_proof(**changes) -> FrontierCertificate:
    """By hand: the cluster of all three with multiplier 2; a has no parents, the others theirs."""
    proof = FrontierCertificate(
        parents=(1, 0, 0),
        score=-2.0,
        resolution=0.0,
        exponent=0,
        clusters=(((0, 1, 2), 1, 2),),
    )
    return replace(proof, **changes)


def test_a_proof_made_by_hand():
    ring_proof().verify(ring())
    ring_proof(clusters=()).verify(ring())  # without multipliers it takes more subsets


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"parents": (0, 1, 0), "score": -3.0}, "a choice scores more than is claimed"),
        ({"parents": (0, 1, 0)}, "is not the incumbent's score"),
        ({"parents": (0, 0, 0), "score": 0.0}, "the incumbent has a cycle"),
        ({"parents": (1, 0)}, "one set per child"),
        ({"parents": (2, 0, 0)}, "one set per child"),
        ({"resolution": -1.0}, "the resolution is below 0"),
        ({"clusters": (((0, 1, 2), 4, 2),)}, "no valid cluster"),
        ({"clusters": (((0, 0, 2), 1, 2),)}, "no valid cluster"),
        ({"clusters": (((0, 1, 3), 1, 2),)}, "no valid cluster"),
        ({"clusters": (((0, 1, 2), 1, -2),)}, "no valid cluster"),
        ({"clusters": (((0, 1, 2), 1, 2**61),)}, "multipliers are too large"),
        ({"exponent": -60}, "the units are too small"),
    ],
)
def test_what_is_not_proved_is_refused(changes, reason):
    with pytest.raises(CertificateError, match=reason):
        ring_proof(**changes).verify(ring())


@settings(max_examples=examples(80))
@given(st.integers(0, 10**6), st.integers(3, 7))
def test_a_worse_network_is_never_accepted(seed, n):
    table = sparse_table(n, 6, seed)
    result = solved(table)
    (proof,) = result.proofs
    # The network without arcs, with whatever multipliers proved the best one.
    last = tuple(len(table.child(v)) - 1 for v in range(n))
    assert all(not table.child(v).parents(k) for v, k in enumerate(last))
    score = math.fsum(float(table.child(v).scores[k]) for v, k in enumerate(last))
    if score < result.score - 1e-6:
        with pytest.raises(CertificateError, match=r"more than is claimed|units are too small"):
            replace(proof, parents=last, score=score).verify(table)
