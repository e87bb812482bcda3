"""Small random data sets that are hard on pruning rules: copies, functions, constants, weights."""

from __future__ import annotations

import numpy as np

from tests.conftest import make_dataset


def random_dataset(rng, *, n_variables=5, max_rows=40, max_arity=3, weights=None):
    """Columns that depend on each other in many ways; `weights` is None, "whole" or "real"."""
    n_rows = int(rng.integers(1, max_rows + 1))
    columns, arities = {}, {}
    for i in range(n_variables):
        arity = int(rng.integers(2, max_arity + 1))
        earlier = list(columns.values())
        kind = rng.choice(["free", "copy", "noisy copy", "function", "constant", "skewed"])
        if kind == "constant":
            codes = np.zeros(n_rows, int)
        elif kind == "skewed":
            codes = (rng.random(n_rows) < 0.1).astype(int)
        elif kind == "free" or not earlier:
            codes = rng.integers(0, arity, n_rows)
        else:
            codes = sum(earlier[k] for k in rng.integers(0, len(earlier), 2 - (kind != "function")))
            if kind == "noisy copy":
                codes = np.where(rng.random(n_rows) < 0.2, rng.integers(0, arity, n_rows), codes)
            codes = codes % arity
        name = "abcdefgh"[i]
        columns[name] = codes
        # Sometimes states that never occur, sometimes only one state.
        seen = int(codes.max()) + 1
        arities[name] = seen if rng.random() < 0.3 else max(seen, arity + int(rng.integers(0, 2)))
    given = None
    if weights == "whole":
        given = rng.integers(0, 4, n_rows).astype(np.int64)
        given[0] += 1
    elif weights == "real":
        given = rng.random(n_rows) * 3 + 0.01
    return make_dataset({n: c.tolist() for n, c in columns.items()}, arities, weights=given)
