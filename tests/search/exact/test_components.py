"""Components are separate problems: solving them one by one is solving the whole."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestdag.search.exact.components import decompose
from tests.conftest import examples
from tests.search.exact.tables import best_by_choices, make_table, random_table


def test_a_component_is_what_reaches_itself_through_candidate_parents():
    # a <-> b, c <-> d, and b is a candidate parent of c: two components.
    table = make_table(
        [
            {(): -2.0, (1,): -1.0},
            {(): -2.0, (0,): -1.5},
            {(): -3.0, (1,): -2.5, (1, 3): -1.0},
            {(): -2.0, (2,): -1.0},
        ]
    )
    first, second = decompose(table)
    assert (first.variables, second.variables) == ((0, 1), (2, 3))
    # Inside {c, d} the sets {b} and {} of c look alike: {b} with -2.5 is the better one.
    assert list(second.table.child(0)) == [(-1.0, (1,)), (-2.5, ())]
    assert [o.tolist() for o in second.origins] == [[0, 1], [0, 1]]


def test_the_kept_set_is_the_best_of_those_that_look_alike():
    # Whole table, child c: {a, d} -1, {a} -2, {d} -3, {} -4. Without a: {d} -1 and {} -2.
    table = make_table(
        [
            {(): 0.0},
            {(): 0.0},
            {(): -4.0, (0,): -2.0, (0, 3): -1.0, (3,): -3.0},
            {(): 0.0, (2,): 1.0},
        ]
    )
    component = decompose(table)[-1]
    assert component.variables == (2, 3)
    assert list(component.table.child(0)) == [(-1.0, (1,)), (-2.0, ())]
    assert component.origins[0].tolist() == [0, 1]


def test_what_falls_apart_after_restricting_is_split_again():
    # c's best set {a} is free for it, so {d} is never needed, and c and d are separate.
    table = make_table([{(): 0.0}, {(): 0.0}, {(0,): -1.0, (3,): -2.0}, {(2,): 0.0, (): -1.0}])
    assert [c.variables for c in decompose(table)] == [(0,), (1,), (2,), (3,)]


def test_one_component_is_the_table_itself():
    table = random_table(6, 20, 0)
    (component,) = decompose(table)
    assert component.table is table


def test_a_long_chain_of_candidates_needs_no_deep_recursion():
    n = 50
    table = make_table([{(): -1.0} | ({(v - 1,): 0.0} if v else {}) for v in range(n)])
    assert [c.variables for c in decompose(table)] == [(v,) for v in range(n)]


def test_all_variables_on_one_ring_are_one_component():
    n = 50
    table = make_table([{(): -1.0, ((v - 1) % n,): 0.0} for v in range(n)])
    assert [len(c.variables) for c in decompose(table)] == [n]


@st.composite
def sparse_tables(draw):
    """Tables with few candidate parents, so that they fall apart in many ways."""
    n = draw(st.integers(1, 6))
    tables = []
    for v in range(n):
        others = [u for u in range(n) if u != v]
        sets = draw(
            st.lists(
                st.lists(st.sampled_from(others), max_size=2, unique=True)
                if others
                else st.just([]),
                min_size=1,
                max_size=3,
            )
        )
        scores = st.integers(-6, 3)
        tables.append({tuple(sorted(s)): float(draw(scores)) for s in sets})
    return make_table(tables)


@settings(max_examples=examples(400))
@given(sparse_tables())
def test_the_best_of_the_components_is_the_best_of_the_whole(table):
    parts = decompose(table)
    assert sorted(v for part in parts for v in part.variables) == list(range(len(table.names)))
    assert math.fsum(best_by_choices(part.table) for part in parts) == best_by_choices(table)
    for part in parts:
        for i, (v, origins) in enumerate(zip(part.variables, part.origins, strict=True)):
            sets, whole = part.table.child(i), table.child(v)
            for (score, parents), k in zip(sets, origins.tolist(), strict=True):
                assert score == whole.scores[k]
                inside = [u for u in whole.parents(k) if u in part.variables]
                assert [part.variables[p] for p in parents] == inside


@pytest.mark.parametrize("n", [1, 3])
def test_variables_without_candidates_are_alone(n):
    assert len(decompose(make_table([{(): 0.5}] * n))) == n
