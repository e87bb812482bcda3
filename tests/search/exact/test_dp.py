"""Engine dp finds the best acyclic choice, and says what its proof is worth."""

import itertools
import math
import pickle
import random
import signal
import threading
import time
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import bestdag.machine
from bestdag import _core
from bestdag.errors import GraphError, InvalidParameterError, NotEnoughMemoryError
from bestdag.search.exact.dp.engine import Forecast, forecast, solve_dp
from tests.conftest import examples
from tests.search.exact.tables import (
    best_by_choices,
    best_by_recursion,
    best_of_all_dags,
    chosen_parents,
    is_acyclic,
    make_table,
    random_table,
)
from tests.signals import ctrl_c_after, ctrl_c_in_native_work


@pytest.fixture(params=_core.instruction_sets())
def instruction_set(request):
    _core.use_instruction_set(request.param)
    yield request.param
    _core.use_instruction_set(_core.instruction_sets()[-1])


def assert_best(table, result, best):
    """The result is acyclic, adds up, and nothing beats it by more than the resolution."""
    assert result.status == "optimum proved"
    assert result.is_proved
    assert is_acyclic(chosen_parents(table, result))
    scores = [table.child(i).scores[k] for i, k in enumerate(result.chosen)]
    assert result.score == math.fsum(scores)
    assert result.bound == result.score
    assert best - result.resolution <= result.score <= best
    # n + 1 units of at most 2^-50 of the sum of what each child can lose.
    n = len(table.names)
    range_ = math.fsum(c.scores[0] - c.scores[-1] for c in map(table.child, range(n)))
    assert result.resolution <= (n + 1) * range_ * 2**-50


def test_two_variables_cannot_both_have_the_other():
    # a given b gains 0.5, b given a gains 0.75: the second is taken, -2.5 - 3.25 = -5.75.
    table = make_table([{(1,): -2.0, (): -2.5}, {(0,): -3.25, (): -4.0}])
    result = solve_dp(table)
    assert (result.score, result.chosen) == (-5.75, (1, 0))
    assert_best(table, result, -5.75)


def test_one_variable():
    result = solve_dp(make_table([{(): -1.25}]))
    assert (result.score, result.bound, result.chosen, result.resolution) == (-1.25, -1.25, (0,), 0)


def test_best_sets_that_are_acyclic_need_no_search():
    table = make_table([{(): 0.0, (1,): -1.0}, {(0,): 2.0, (): 1.0}])
    result = solve_dp(table)
    assert (result.score, result.n_nodes, result.resolution) == (2.0, 0, 0.0)


def test_children_without_the_empty_set_force_an_order():
    # a needs b, b needs c: c is first, though c given a would be worth 100.
    table = make_table([{(1,): -1.0}, {(2,): -1.0}, {(0,): 100.0, (): -5.0}])
    assert_best(table, solve_dp(table), -7.0)


def test_no_acyclic_choice_is_refused_by_name():
    table = make_table([{(1,): 0.0}, {(0,): 0.0}, {(): 0.0}])
    with pytest.raises(GraphError, match="closes a cycle among a, b"):
        solve_dp(table)


numbers = st.one_of(
    st.integers(-3, 3).map(float),  # ties
    st.floats(-1e9, 1e9),
    st.floats(-1e-6, 1e-6),
    st.floats(-1e6, -1e3),
)


@st.composite
def adversarial_tables(draw, max_variables=4):
    """Ties, ranges from 1e-6 to 1e9, positive scores, missing empty sets, separate parts."""
    n = draw(st.integers(1, max_variables))
    tables = []
    for v in range(n):
        others = [u for u in range(n) if u != v]
        parents = st.lists(st.sampled_from(others), unique=True) if others else st.just([])
        sets = draw(st.lists(parents, min_size=1, max_size=6))
        tables.append({tuple(sorted(s)): draw(numbers) for s in sets})
    return make_table(tables)


@settings(max_examples=examples(300))
@given(adversarial_tables())
def test_adversarial_tables_against_all_choices(table):
    best = best_by_choices(table)
    if best == -math.inf:
        with pytest.raises(GraphError, match="closes a cycle"):
            solve_dp(table)
    else:
        assert_best(table, solve_dp(table), best)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_random_tables_against_all_dags(n):
    for seed in range(40):
        table = random_table(n, 6, seed)
        assert_best(table, solve_dp(table), best_of_all_dags(table))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_random_tables_against_all_dags_of_five(seed):
    table = random_table(5, 12, seed)
    assert_best(table, solve_dp(table), best_of_all_dags(table))


@pytest.mark.slow
def test_a_thousand_tables_against_all_dags_of_four():
    n_solved = 0
    for seed in range(1000):
        table = random_table(4, 7, seed, scale=10.0 ** (seed % 7 - 2), empty=seed % 2 == 0)
        best = best_of_all_dags(table)
        if best > -math.inf:
            assert_best(table, solve_dp(table), best)
            n_solved += 1
    assert n_solved >= 500


@pytest.mark.parametrize("n", [5, 6, 7, 9, 10, 11, 12])
@pytest.mark.parametrize("n_sets", [3, 60])
def test_random_tables_against_the_recursion(n, n_sets):
    table = random_table(n, n_sets, 10 * n + n_sets)
    best = best_by_recursion(table)
    for precision, unit in (("single", 2**-30), ("double", 2**-50)):
        result = solve_dp(table, precision=precision)
        assert result.score == pytest.approx(best, abs=result.resolution + 1e-12 * abs(best))
        assert result.resolution <= (n + 1) * unit * 250 * n  # a child loses at most 250


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_every_instruction_set_and_thread_count_gives_one_answer(
    instruction_set, precision, threads
):
    # 17 variables: several tasks, each of several blocks; the answer was that of plain C++.
    table = random_table(17, 150, 3)
    result = solve_dp(table, precision=precision, threads=threads)
    _core.use_instruction_set("portable")
    other = solve_dp(table, precision=precision, threads=1)
    assert (result.chosen, result.proofs) == (other.chosen, other.proofs)


def test_scale_changes_the_unit_not_the_answer():
    small, large = (random_table(9, 30, 5, scale=scale) for scale in (1e-9, 1e9))
    assert solve_dp(small).chosen == solve_dp(large).chosen


def test_single_precision_may_confuse_what_is_closer_than_its_resolution():
    # A ring of two worth 1e6, and another where one direction is better by 1e-5: the unit of
    # cells of 4 bytes is about 1e6 / 2^31 = 5e-4, that of 8 bytes 4e-10.
    table = make_table(
        [
            {(1,): 0.0, (): -1e6, (2,): -1e6 - 1},
            {(0,): 0.0, (): -1e6},
            {(3,): 0.0, (): -1.0, (0,): -0.5},
            {(2,): 0.0, (): -1.00001},
        ]
    )
    best = best_by_choices(table)
    coarse = solve_dp(table, precision="single")
    fine = solve_dp(table, precision="double")
    assert coarse.score >= best - coarse.resolution
    assert 1e-5 < coarse.resolution < 1e-2
    assert fine.score == best
    assert fine.resolution < 1e-8


@pytest.fixture
def always_four_bytes_first(monkeypatch):
    monkeypatch.setattr("bestdag.search.exact.dp.plan._MAX_VARIABLES_DOUBLE", 0)


@settings(max_examples=examples(300), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=adversarial_tables())
def test_rivals_that_four_bytes_confuse_are_told_apart(always_four_bytes_first, table):
    best = best_by_choices(table)
    assume(best > -math.inf)
    assert_best(table, solve_dp(table), best)


def close_table(seed):
    """A million for each parent, so that every order is as good but for less than 1e-4."""
    rng = random.Random(seed)
    others = [[u for u in range(7) if u != v] for v in range(7)]
    sets = [[s for size in range(7) for s in itertools.combinations(o, size)] for o in others]
    return make_table([{s: 1e6 * len(s) + 1e-7 * rng.randrange(999) for s in o} for o in sets])


@pytest.mark.parametrize("seed", range(20))
def test_rivals_are_decided_as_in_eight_bytes(always_four_bytes_first, seed):
    table = close_table(seed)
    result, double = solve_dp(table), solve_dp(table, precision="double")
    coarse = solve_dp(table, precision="single")
    assert coarse.resolution > 1e-4 > 1e-7 > double.resolution
    (proof,), (other,) = (r.proofs[0].components for r in (result, double))
    assert (proof.cell_bytes, other.cell_bytes) == (4, 8)
    assert (result.chosen, proof.unit, proof.value) == (double.chosen, other.unit, other.value)
    assert result.resolution == double.resolution


def test_rivals_that_were_decided_are_not_solved_again(always_four_bytes_first, monkeypatch):
    # Costs of ten million, a score of zero: the finest units leave more than 1e-9 open.
    from bestdag.search.exact.dp.component import DpComponent

    cells, solved = [], DpComponent.solved
    monkeypatch.setattr(
        DpComponent,
        "solved",
        lambda self, cell, *a, **k: cells.append(cell) or solved(self, cell, *a, **k),
    )
    table = make_table([{(1,): 1e7, (): 0.0}, {(2,): 1e7, (): 0.0}, {(0,): -1e7, (): -3e7}])
    result = solve_dp(table)
    assert (result.score, cells) == (0.0, [4])
    assert result.proofs[0].components[0].is_fine


def test_an_incumbent_that_is_worse_by_less_than_doubles_tell_does_not_win(always_four_bytes_first):
    big = 1_001_000_000.0
    table = make_table(
        [
            {(3,): big + 5e-7, (2,): big + 2e-7, (4,): big + 2e-7, (): 1e9},
            {(4,): big + 5e-7},
            {(3,): big + 4e-7, (4,): big + 4e-7, (1,): big + 2e-7, (): 1e9 + 5e-7},
            {(1,): big + 5e-7, (4,): big + 2e-7},
            {(2,): big + 5e-7, (0,): big, (): 1e9},
        ]
    )

    def exact(chosen):
        return sum(Fraction(table.child(i).scores[k]) for i, k in enumerate(chosen))

    result = solve_dp(table)
    choices = itertools.product(*(range(len(table.child(i))) for i in range(5)))
    best = max(
        exact(chosen)
        for chosen in choices
        if is_acyclic([set(table.child(i).parents(k)) for i, k in enumerate(chosen)])
    )
    assert best - exact(result.chosen) <= result.resolution < 1e-8


def table_of_many_rivals():
    """Two variables that want each other for 1e6, and thirteen that do not care about anything."""
    careless = [{(): 0.0, (u,): 0.0} for u in [14, *range(2, 14)]]
    ring = [{(1, 2): 1e6 / 3, (): 0.0}, {(0, 3): 0.0, (): -1e6}]
    return make_table(ring + [{**sets, (0,): 0.0} for sets in careless])


def test_cells_of_eight_bytes_decide_where_the_rivals_are_many(always_four_bytes_first):
    table = table_of_many_rivals()
    coarse = solve_dp(table, precision="single")
    assert (coarse.score, coarse.resolution > 1e-9) == (0.0, True)
    result = solve_dp(table)
    assert max(proof.cell_bytes for proof in result.proofs[0].components) == 8
    assert result.resolution <= 1e-9
    assert result.score == best_by_recursion(table)


def test_four_bytes_must_do_without_memory_or_time_for_eight(always_four_bytes_first, monkeypatch):
    table = table_of_many_rivals()
    forecasts = {
        "memory": Forecast(2**60, 0.0),
        "time": Forecast(0, 1e6),
    }
    for deadline, lacking in ((None, "memory"), (time.monotonic() + 60, "time")):
        monkeypatch.setattr(
            "bestdag.search.exact.dp.engine.forecast",
            lambda *_, precision, needed=forecasts[lacking], **__: (
                needed if precision == "double" else Forecast(0, 0.0)
            ),
        )
        result = solve_dp(table, deadline=deadline)
        cells = max(proof.cell_bytes for proof in result.proofs[0].components)
        assert (cells, result.status) == (4, "optimum proved")


def test_an_interrupt_while_solving_again_keeps_the_first_proof(
    always_four_bytes_first, monkeypatch
):
    from bestdag.search.exact.dp.component import DpComponent

    solved = DpComponent.solved

    def interrupted(self, cell, *rest, **settings):
        if cell == 8:
            raise KeyboardInterrupt
        return solved(self, cell, *rest, **settings)

    monkeypatch.setattr(DpComponent, "solved", interrupted)
    result = solve_dp(table_of_many_rivals())
    cells = max(proof.cell_bytes for proof in result.proofs[0].components)
    assert (result.status, cells) == ("optimum proved", 4)


def press_at_the_end(share):
    """Press Ctrl-C when every subset is done: what is left is to compare rivals."""
    if share == 1.0:
        signal.raise_signal(signal.SIGINT)


def test_an_interrupt_while_rivals_are_compared_keeps_the_proof(always_four_bytes_first):
    table = table_of_many_rivals()
    result = solve_dp(table, progress=press_at_the_end)
    assert (result.status, result.was_interrupted) == ("optimum proved", True)
    (proof,) = [proof for proof in result.proofs[0].components if proof.cell_bytes]
    assert proof.cell_bytes == 4
    assert best_by_recursion(table) - result.score <= result.resolution
    assert solve_dp(make_table([{(): 1.0}])).score == 1.0


def test_after_such_an_interrupt_nothing_more_is_begun(always_four_bytes_first, monkeypatch):
    from bestdag.search.exact import solver as relaxed

    # Two components: a small one, whose comparison is interrupted, and one that would take long.
    ring = [{(1,): 0.0, (): -1.0}, {(2,): 0.0, (): -2.0}, {(0,): 0.0, (): -3.0}]
    long = long_table()
    shifted = [
        {tuple(p + 3 for p in parents): score for score, parents in long.child(i)}
        for i in range(27)
    ]
    whole = relaxed.solve_dp
    monkeypatch.setattr(
        relaxed,
        "solve_dp",
        lambda *a, **settings: whole(*a, **{**settings, "progress": press_at_the_end}),
    )
    solved = relaxed.Solver("dp", 1, None).solve(make_table(ring + shifted))
    assert solved.status == "interrupted"
    assert solved.proofs[0].result.is_proved


def test_the_certificate_holds_the_numbers_of_the_proof():
    table = random_table(7, 30, 1)
    result = solve_dp(table, precision="single")
    (proof,) = result.proofs[0].components
    best = math.fsum(table.child(i).scores[0] for i in range(7))
    assert proof.variables == tuple(range(7))
    assert proof.cell_bytes == 4
    assert proof.value < proof.limit <= 2**31 - 1
    # value units are at most the cost; rounding hides fewer than n units.
    assert 0 <= (best - result.score) - proof.value * proof.unit < 7 * proof.unit
    assert result.resolution == result.proofs[0].resolution <= 8 * proof.unit
    # What rounding took off the choice, and a unit.
    cost = math.fsum(table.child(i).scores[0] for i in range(7)) - result.score
    assert result.resolution == pytest.approx(cost - (proof.value - 1) * proof.unit, rel=1e-6)
    assert pickle.loads(pickle.dumps(result)) == result


def long_table():
    """A problem of a second or more."""
    return random_table(27, 60, 0)


def assert_unfinished(table, result, status):
    assert (result.status, result.is_proved, result.proofs) == (status, False, ())
    best = math.fsum(table.child(i).scores[0] for i in range(len(table.names)))
    assert result.score < result.bound == best
    assert is_acyclic(chosen_parents(table, result))


@pytest.mark.parametrize("seconds", [-1.0, 0.0, 0.1])
def test_a_deadline_leaves_an_incumbent_and_a_bound(seconds):
    table = long_table()
    result = solve_dp(table, threads=1, deadline=time.monotonic() + seconds)
    assert_unfinished(table, result, "time limit")


def test_an_interrupt_keeps_what_was_proved_of_small_components():
    # A ring of two, solved at once; the second part is the long table.
    ring = [{(1,): 0.0, (): -1.0}, {(0,): 0.0, (): -2.0}]
    long = long_table()
    shifted = [
        {tuple(p + 2 for p in parents): score for score, parents in long.child(i)}
        for i in range(27)
    ]
    in_the_long_part = threading.Event()

    def tell(share):
        if share > 0.05:
            in_the_long_part.set()

    with ctrl_c_after(in_the_long_part):
        result = solve_dp(make_table(ring + shifted), threads=1, progress=tell)
    assert result.status == "interrupted"
    best = math.fsum(long.child(i).scores[0] for i in range(27))
    assert result.bound == pytest.approx(best - 1.0, abs=1e-9)


def test_ctrl_c_leaves_an_incumbent_and_a_bound_and_the_next_call_works():
    table = long_table()
    with ctrl_c_in_native_work():
        result = solve_dp(table, threads=1)
    assert_unfinished(table, result, "interrupted")
    assert solve_dp(make_table([{(): 1.0}])).score == 1.0


def test_progress_rises_to_at_most_one():
    shares = []
    solve_dp(random_table(22, 40, 0), threads=1, progress=shares.append)
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 1


def test_an_error_in_progress_is_raised():
    def fail(share):
        raise RuntimeError("stop that")

    with pytest.raises(RuntimeError, match="stop that"):
        solve_dp(random_table(22, 40, 0), progress=fail)


def test_too_little_memory_is_refused_before_it_is_taken(monkeypatch):
    monkeypatch.setattr(bestdag.machine, "available_memory", lambda: 2**26)
    # The least there is, with eight ordered pairs of the 17 variables above a task.
    message = r"dp: dynamic programming .* 30 variables needs 21\d\.\d MiB, 64\.0 MiB are available"
    with pytest.raises(NotEnoughMemoryError, match=message):
        solve_dp(random_table(30, 30, 0), threads=1)
    with pytest.raises(NotEnoughMemoryError, match=r"MiB.* use precision='single' or engine"):
        solve_dp(random_table(30, 30, 0), precision="double")


def test_too_many_variables_are_refused():
    with pytest.raises(InvalidParameterError, match=r"at most 40 variables .* got 41; use engine"):
        solve_dp(random_table(41, 30, 0))


def test_many_variables_in_small_components_are_fine():
    # 24 rings of two: each loses 1.
    n = 48
    table = make_table([{(v ^ 1,): 0.0, (): -1.0 - v % 2} for v in range(n)])
    result = solve_dp(table)
    assert (result.score, result.status, result.n_nodes) == (-24.0, "optimum proved", 24 * 4)


def test_forecast_counts_the_cells():
    room = 2**40
    assert 2**30 * 4 <= forecast(30, threads=2, room=room).n_bytes < 2**30 * 4.1
    double = forecast(30, threads=2, precision="double", room=room)
    assert 2**30 * 8 <= double.n_bytes < 2**30 * 8.1
    assert forecast(16).n_bytes >= 2**16 * 8
    once, twice = (forecast(n, threads=1, room=room).seconds for n in (28, 29))
    assert twice == 2 * once
    assert forecast(50).n_bytes >= 2**52


def test_settings_are_checked():
    table = make_table([{(): 0.0}])
    with pytest.raises(InvalidParameterError, match="precision must be one of"):
        solve_dp(table, precision="half")
    with pytest.raises(InvalidParameterError, match="threads must be a whole number >= 1"):
        solve_dp(table, threads=0)


def test_scores_too_far_apart_for_a_double_are_refused():
    table = make_table([{(1,): 1.7e308, (): -1.7e308}, {(0,): 0.0, (): -1.0}])
    with pytest.raises(InvalidParameterError, match="more than a number can hold"):
        solve_dp(table)


def test_the_smallest_differences_are_seen():
    table = make_table([{(1,): 5e-324, (): 0.0}, {(0,): 1e-323, (): 0.0}])
    assert solve_dp(table).score <= 1e-323
    assert solve_dp(table).score >= 1e-323 - solve_dp(table).resolution
