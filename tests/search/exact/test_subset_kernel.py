"""The native recursion over subsets, called directly: it walks every order of the variables."""

import itertools

import numpy as np
import pytest

from bestdag import _core


@pytest.fixture(params=_core.instruction_sets(), autouse=True)
def instruction_set(request):
    _core.use_instruction_set(request.param)
    yield
    _core.use_instruction_set(_core.instruction_sets()[-1])


def solve(children, limit, cell):
    """Least cost and chosen sets of one [(cost, mask), ...] per variable."""
    first = np.cumsum([0, *map(len, children)])
    masks = np.array([mask for sets in children for _, mask in sets], np.uint64)
    costs = np.array([cost for sets in children for cost, _ in sets], np.float64)
    chosen = np.full(len(children), -1)
    plan = _core.plan_subsets(len(children), len(masks), 2, cell, 1e18, 9)
    found = _core.best_by_subsets(
        first, masks, costs, None, limit, cell, plan, 2, 1e9, None, chosen
    )
    return found[0], chosen.tolist()


def chain(order):
    """Costs 0 when the variables come in this order and at least 1 otherwise.

    Each wants its predecessor. The first has one more candidate, too costly to be used: so every
    variable is named once as a parent, and none is moved to another bit.
    """
    children = [[(0.0, 0), (5.0, 1 << order[-1])] for _ in order]
    for before, after in itertools.pairwise(order):
        children[after] = [(0.0, 1 << before), (1.0, 0)]
    return children


@pytest.mark.parametrize("cell", [4, 8])
def test_every_order_inside_a_block(cell):
    for order in itertools.permutations(range(6)):
        assert solve(chain(order), 10.0, cell) == (0.0, [0] * 6)


@pytest.mark.parametrize("cell", [4, 8])
@pytest.mark.parametrize("n", [11, 13, 16])
def test_orders_across_blocks_and_tasks(cell, n):
    rng = np.random.default_rng(n)
    for _ in range(12):
        assert solve(chain(rng.permutation(n).tolist()), 10.0, cell) == (0.0, [0] * n)


@pytest.mark.parametrize(("cell", "limit"), [(4, 2.0**31 - 1), (8, 2.0**51 - 1)])
def test_sums_at_the_limit_do_not_overflow(cell, limit):
    # Twelve variables, each needing all others for less than the limit: one has nothing, which
    # costs limit - 1, the next limit - 1 again, and so on; no sum of two may wrap around.
    n = 12
    everyone = 2**n - 1
    children = [[(0.0, everyone & ~(1 << v)), (limit - 1, 0)] for v in range(n)]
    assert solve(children, limit, cell)[0] == np.inf
    # With one free variable the rest can lean on it: two pay in all, half the limit each.
    half = (limit - 1) // 2
    children[0] = [(half, 0)]
    children[1] = [(0.0, everyone & ~2), (half, 1)]
    for v in range(2, n):
        children[v] = [(0.0, 3)]
    assert solve(children, limit, cell) == (2 * half, [0, 1] + [0] * (n - 2))


@pytest.mark.parametrize("cell", [4, 8])
def test_nothing_below_the_limit_is_told(cell):
    children = [[(0.0, 2), (3.0, 0)], [(0.0, 1), (4.0, 0)]]
    assert solve(children, 3.0, cell)[0] == np.inf
    assert solve(children, 4.0, cell) == (3.0, [1, 0])


@pytest.mark.parametrize(
    "children",
    [
        [[(0.0, 1)]],  # its own parent
        [[(0.0, 2)]],  # a parent that does not exist
        [[(2.0, 0), (1.0, 2)], [(0.0, 0)]],  # not in ascending order
        [[(-1.0, 0)]],
        [[(float("nan"), 0)]],
    ],
)
def test_malformed_problems_are_refused(children):
    with pytest.raises(ValueError, match="malformed"):
        solve(children, 10.0, 4)
    with pytest.raises(ValueError, match="malformed"):
        solve([[(0.0, 0)]], 2.0**31, 4)  # a limit whose double does not fit
