"""Rows drawn from a network: parents first, and with the evidence held fast."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.data.checks import code_type
from bestdag.errors import DataError, require_count
from bestdag.inference.junction_tree import Known, Tables, relevant_families
from bestdag.inference.sparse_table import SparseTable
from bestdag.inference.tables import LogTables, Rows
from bestdag.machine import require_memory, thread_count
from bestdag.wording import arg, count_of

__all__ = ["WeightedSample", "draw_weighted", "sample_codes", "stream_key", "thresholds"]

Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]

# Draws are whole numbers below this: 63 bits, so that the end of the range is a number too.
_DRAW_RANGE = 2.0**63
# One counter of the random stream gives so many.
_DRAWS_TOGETHER = 4


def sample_codes(
    names: Sequence[str],
    tables: Sequence[npt.NDArray[np.float64] | SparseTable],
    parents: Sequence[Sequence[int]],
    n_rows: int,
    *,
    seed: int = 0,
    first: int = 0,
    threads: int | None = None,
) -> list[Codes]:
    r"""Draw rows from a network given as arrays.

    Parameters
    ----------
    names : sequence of str
        Names of the variables, in an order that puts parents before children.
    tables : sequence of float64 arrays and sparse tables
        One per variable, of shape (\*parent arities, arity): the last axis holds the
        probabilities of the states, each row with a positive sum.
    parents : sequence of sequences of int
        Positions of the parents of each variable, in the order of the axes of its table.
    n_rows : int
        Number of rows, at least 1.
    seed : int, default 0
        At least 0; equal seeds give equal rows.
    first : int, default 0
        Begin with this row of the sample, counted from 0.
    threads : int, optional
        Threads to use; by default one per processor. The result is the same.

    Returns
    -------
    list of uint8 or uint16 arrays
        The codes of each variable.

    Raises
    ------
    NotEnoughMemoryError
        If the rows would not fit in memory.

    Notes
    -----
    Row i of a variable comes from the i-th output x (i = 0, 1, ...) of Philox4x64-10 [1]_ with
    the counter starting at 1, as in ``numpy.random.Philox``, and the key of `stream_key`: it is
    the number of `thresholds` of the row's configuration that are at most x // 2. This will
    stay so between versions.

    A draw has 63 bits. A state of probability zero is never drawn, also where the row does not
    sum exactly to one: what is missing or too much is shared by all states in proportion.

    References
    ----------
    .. [1] Salmon, Moraes, Dror and Shaw (2011). "Parallel random numbers: as easy as 1, 2, 3."
       Proceedings of SC '11.

    Examples
    --------
    >>> rain = np.array([0.8, 0.2])
    >>> wet = np.array([[0.9, 0.1], [0.0, 1.0]])
    >>> sample_codes(["rain", "wet"], [rain, wet], [[], [0]], 8, seed=1)
    [array([0, 0, 0, 0, 0, 0, 1, 1], dtype=uint8), array([0, 0, 0, 0, 0, 0, 1, 1], dtype=uint8)]
    """
    n_rows = require_count("sample", "n", n_rows, minimum=1)
    seed = require_count("sample", "seed", seed)
    first = require_count("sample", "first", first)
    n_threads = thread_count(threads, who="sample")
    arities = [
        table.arity if isinstance(table, SparseTable) else table.shape[-1] for table in tables
    ]
    n_bytes = n_rows * sum(np.dtype(code_type(arity)).itemsize for arity in arities)
    n_bytes += sum(table.nbytes for table in tables)
    what = f"{n_rows:,} rows of {len(names):,} variables"
    require_memory("sample", what, n_bytes, f"lower {arg('n')}")

    n_before = first % _DRAWS_TOGETHER  # drawn with the first one, and left out
    columns = [_empty_column(n_before + n_rows, arity) for arity in arities]
    _core.sample_network(
        np.array([stream_key(seed, name) for name in names], dtype=np.uint64).reshape(-1, 2),
        [thresholds(table.rows if isinstance(table, SparseTable) else table) for table in tables],
        [np.array(each, dtype=np.uint32) for each in parents],
        [_strides(() if isinstance(table, SparseTable) else table.shape[:-1]) for table in tables],
        [table.finder if isinstance(table, SparseTable) else None for table in tables],
        columns,
        first - n_before,
        n_threads,
    )
    return [column[n_before:] for column in columns] if n_before else columns


def stream_key(seed: int, name: str) -> tuple[int, int]:
    """Derive the Philox key of a variable: BLAKE2b of seed and name, two little-endian words.

    Examples
    --------
    >>> [hex(word) for word in stream_key(0, "rain")]
    ['0x5da514c6c465bdc0', '0x57bb31e1303ab48e']
    """
    text = f"{seed}:{name}".encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(text, digest_size=16, person=b"bestdag.sample").digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


def thresholds(table: npt.NDArray[np.float64]) -> npt.NDArray[np.uint64]:
    """Turn each row of a table into the draws at which the next state begins.

    A row of r states gives r - 1 numbers. From the last possible state on they are 2**63, which
    no draw reaches; an impossible state in between begins where the next one does.

    Examples
    --------
    >>> (thresholds(np.array([0.25, 0.0, 0.75, 0.0])) / 2.0**63).tolist()
    [[0.25, 0.25, 1.0]]
    """
    cumulative = np.cumsum(table.reshape(-1, table.shape[-1]), axis=1)
    cumulative /= cumulative[:, -1:]
    cumulative *= _DRAW_RANGE
    return np.ascontiguousarray(cumulative[:, :-1]).astype(np.uint64)


def _empty_column(n_rows: int, arity: int) -> Codes:
    if code_type(arity) is np.uint8:
        return np.empty(n_rows, dtype=np.uint8)
    return np.empty(n_rows, dtype=np.uint16)


def _strides(shape: tuple[int, ...]) -> npt.NDArray[np.uint64]:
    """How many configurations one step of each parent skips, the last parent fastest."""
    steps = [1]
    for arity in reversed(shape[1:]):
        steps.append(steps[-1] * arity)
    return np.array(steps[::-1][: len(shape)], dtype=np.uint64)


_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class WeightedSample:
    """Rows of some variables with weights, the largest of which is 1."""

    codes: dict[int, Codes]
    weights: _Floats

    @property
    def effective_size(self) -> float:
        """How many rows of equal weight tell as much (Kish)."""
        return float(self.weights.sum() ** 2 / (self.weights**2).sum())

    def distribution(
        self, targets: Sequence[int], arities: Sequence[int]
    ) -> tuple[_Floats, _Floats]:
        """Estimate the joint distribution of some variables, with its standard errors."""
        n_cells = 1
        for target in targets:
            n_cells *= arities[target]
        require_memory(
            "query", "the joint distribution", 40.0 * n_cells, "ask for fewer variables at a time"
        )
        number = np.zeros(len(self.weights), dtype=np.int64)
        for target in targets:
            number = number * arities[target] + self.codes[target]
        sums = np.bincount(number, weights=self.weights, minlength=n_cells)
        total = sums.sum()
        share = sums / total
        squares = np.bincount(number, weights=self.weights**2, minlength=n_cells)
        # The ratio estimator: sum of w^2 (x - mean)^2 over (sum of w)^2, for x = 1 here, 0 there.
        spread = squares * (1 - share) ** 2 + (squares.sum() - squares) * share**2
        return share, np.sqrt(spread) / total


def draw_weighted(
    tables: Tables,
    logs: LogTables,
    targets: Sequence[int],
    known: Known,
    n: int,
    *,
    seed: int,
    threads: int | None,
) -> WeightedSample:
    """Draw rows of what decides about the targets.

    Raises
    ------
    DataError
        If no row agrees with the evidence.
    """
    deciding = relevant_families(tables.parents, targets, known.codes, known.weights)
    needed = {v for family in deciding for v in tables.family(family)} | set(targets)
    order = [v for v in logs.order if v in needed]
    place = {v: i for i, v in enumerate(order)}
    values, parents = [], []
    for variable in order:
        code = known.codes.get(variable)
        if code is None:
            values.append(tables.values[variable])
            parents.append([place[p] for p in tables.parents[variable]])
        else:
            fast = np.zeros(tables.arities[variable])
            fast[code] = 1.0
            values.append(fast)
            parents.append([])
    names = [tables.names[v] for v in order]
    columns = sample_codes(names, values, parents, n, seed=seed, threads=threads)
    codes = dict(zip(order, columns, strict=True))
    log_weights = np.zeros((n, 1))
    fitting = [f for f in deciding if f in known.codes]
    if fitting:
        rows = Rows(
            n,
            tuple(codes.get(v) for v in range(len(tables.names))),
            tuple(v not in codes for v in range(len(tables.names))),
        )
        logs.add(rows, log_weights, families=fitting, threads=threads)
    with np.errstate(divide="ignore"):
        for variable, weights in known.weights.items():
            if variable in codes:
                log_weights[:, 0] += np.log(weights)[codes[variable]]
    highest = log_weights.max()
    if highest == -np.inf:
        raise DataError(
            f"sampling: none of {count_of(n, 'row')} drawn agrees with the evidence; "
            "draw more samples, or leave evidence out"
        )
    return WeightedSample(codes, np.exp(log_weights[:, 0] - highest))
