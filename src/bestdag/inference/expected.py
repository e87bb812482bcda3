"""Expected counts of any families of an incomplete table, and scores of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.engine import CountingEngine
from bestdag.counts.family import FamilyCounts
from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.errors import DataError, NotEnoughMemoryError
from bestdag.graph.dag import Dag
from bestdag.inference.rows import IncompleteRows
from bestdag.inference.sampling import stream_key
from bestdag.machine import require_memory
from bestdag.scores.base import Score, checked_value, kernel_for, require_fractional_counts
from bestdag.scores.engine import FamilySupport
from bestdag.scores.local_scores import Family, HasDag, dag_of
from bestdag.scores.mit import MIT
from bestdag.scores.prior import StructurePrior, make_prior
from bestdag.scores.scorer import Scorer
from bestdag.scores.support import Support

__all__ = ["ExpectedCounts", "ExpectedScorer"]

_Floats = npt.NDArray[np.float64]

# A family with more cells than this cannot be numbered in 64 bits.
_MOST_CELLS = 2.0**62


class ExpectedCounts(CountingEngine):
    """Counts families of an incomplete table: missing values count as much as they are probable.

    The missing values of a row, given what it shows, fall apart into groups; the distribution of
    each group is worked out once, and a family's own missing values are marginals of it. Rows are
    never expanded.

    Parameters
    ----------
    rows : IncompleteRows
    parents : sequence of sequences of int
        A structure: the parents of each variable, ascending.
    values : array
        Its tables, in the layout of `FlatTables`.
    max_cells : int
        A group with more states together is not written out but drawn from.
    n_draws : int
        So often.
    seed : int
        For draws, which depend on nothing else but the groups.
    clock : callable
        Says how many seconds are left, to work out the distributions and for counts and scores from
        them; when there are none, `_core.OutOfTimeError` is raised.

    Attributes
    ----------
    n_drawn : int
        Groups, with what they depend on, whose counts come from draws; 0 when counts are exact.
    n_groups : int
        All of them.
    """

    def __init__(
        self,
        rows: IncompleteRows,
        parents: Sequence[Sequence[int]],
        values: _Floats,
        *,
        max_cells: int,
        n_draws: int,
        seed: int = 0,
        clock: Callable[[], float] = lambda: math.inf,
    ) -> None:
        self.rows = rows
        self.clock = clock
        self._made_from = ([list(group) for group in parents], values, max_cells, n_draws, seed)
        self.dataset = rows.dataset
        self.missing = "em"
        self.provider = None
        self.threads = rows.threads
        self.variables = rows.variables
        self._rank = {variable.name: i for i, variable in enumerate(self.variables)}
        groups = rows.groups(parents, whole=True, with_rows=True, seconds=clock())
        n_bytes = 8.0 * _core.posterior_numbers(groups, float(max_cells), n_draws)
        n_bytes += rows.group_bytes(groups)
        require_memory(
            "learn",
            f"the distributions of the missing values of {rows.n_distinct:,} different rows",
            int(min(n_bytes, 1e30)),
            "use fewer rows, or lower the number of states that are written out or of draws",
        )
        key = list(stream_key(seed, "expected counts"))
        self.posterior = _core.Posterior(
            rows.table, groups, values, float(max_cells), n_draws, key, clock(), rows.threads
        )
        if not self.posterior.is_possible:
            raise DataError("learn: a row has probability zero under the network")
        self.n_drawn, self.n_groups = self.posterior.n_drawn, groups.n_cases
        # What evaluators see of the table: arities and weights.
        self.table = rows.table

    def __reduce__(self) -> tuple[Any, ...]:
        rows = self.rows
        return _made_again, (rows.dataset, rows.variables, rows.threads, *self._made_from)

    def count(self, families: Iterable[tuple[str, Collection[str]]]) -> list[FamilyCounts]:
        """Return expected counts of families, each given as (child, parents)."""
        arrays = self.encode(families)
        children, offsets, parents = (a.tolist() for a in arrays)
        groups = [parents[offsets[i] : offsets[i + 1]] for i in range(len(children))]
        for child, group in zip(children, groups, strict=True):
            self._require_numbered(child, group)
        counted = self.posterior.count(*arrays, self.clock(), self.threads)
        return [
            self._counts(child, group, *pair)
            for child, group, pair in zip(children, groups, counted, strict=True)
        ]

    def _require_numbered(self, child: int, parents: list[int]) -> None:
        cells = math.prod((float(self.variables[v].arity) for v in (*parents, child)), start=1.0)
        if cells > _MOST_CELLS:
            raise NotEnoughMemoryError(
                f"counts: {self.variables[child].name!r} with {len(parents)} parents has "
                f"{cells:.3g} cells, too many to count incomplete rows in; use fewer parents"
            )

    def _counts(
        self, child: int, parents: list[int], cells: npt.NDArray[np.uint64], counts: _Floats
    ) -> FamilyCounts:
        arity = self.variables[child].arity
        number, row = np.unique(cells // np.uint64(arity), return_inverse=True)
        table = np.zeros((len(number), arity))
        table[row, (cells % np.uint64(arity)).astype(np.intp)] = counts
        configurations = np.empty((len(number), len(parents)), np.uint16)
        for k in reversed(range(len(parents))):
            size = np.uint64(self.variables[parents[k]].arity)
            configurations[:, k] = number % size
            number = number // size
        return self._family_counts(child, parents, configurations, table)


def _made_again(
    dataset: Dataset,
    variables: Sequence[Variable],
    threads: int,
    parents: Sequence[Sequence[int]],
    values: _Floats,
    max_cells: int,
    n_draws: int,
    seed: int,
) -> ExpectedCounts:
    """Work out the distributions again, in another process: they are large, and made quickly."""
    rows = IncompleteRows(dataset, variables, threads=threads, who="learn")
    return ExpectedCounts(rows, parents, values, max_cells=max_cells, n_draws=n_draws, seed=seed)


class ExpectedScorer(Scorer):
    """A score bound to the expected counts of an incomplete table; any search takes it.

    For every score that takes counts which are not whole, and for qNML, which needs a whole
    number of cases only. The values of the missing values are taken to be missing at random.

    Parameters
    ----------
    counts : ExpectedCounts
    score : Score
    structure_prior : StructurePrior, optional
    support : float or Support, default 0.0
        As for `Scorer`; what the rows show decides, and a missing value counts as a value.
    """

    def __init__(
        self,
        counts: ExpectedCounts,
        score: Score,
        structure_prior: StructurePrior | str | None = None,
        *,
        support: float | Support = 0.0,
    ) -> None:
        require_fractional_counts(score, counts.dataset)
        if not isinstance(support, Support):
            support = Support(support)
        prior = make_prior(structure_prior, len(counts.variables))
        self.expected = counts
        self._bind(counts, score, prior, support)

    def _score_by(self, score: Score, prior: StructurePrior | None, support: Support) -> None:
        super()._score_by(score, prior, support)
        self.native = None  # searches ask for families, in bulk
        # MIT's kernel looks at the columns themselves.
        self._kernel = None if isinstance(score, MIT) else kernel_for(score, self.variables)

    def _computed(self, families: Sequence[Family]) -> _Floats:
        """Score families without remembering them; minus infinity where they lack support."""
        if not self.support:
            return self._with_prior(self._expected(families), families)
        scores = np.full(len(families), -math.inf)
        lacking = set(self.lacking_support((c, frozenset(p)) for c, p in families))
        places = [i for i, (c, p) in enumerate(families) if (c, frozenset(p)) not in lacking]
        scores[places] = self._expected([families[i] for i in places])
        return self._with_prior(scores, families)

    @cached_property
    def _family_support(self) -> FamilySupport:
        """Which families have support: by what the rows show, for any network."""
        return self.expected.rows.family_support(self.support)

    def _expected(self, families: Sequence[Family]) -> _Floats:
        """Score families by their expected counts."""
        scores = self._natively(families, bounds=False)
        rest = np.flatnonzero(np.isnan(scores)).tolist()
        for i, counts in zip(rest, self.counts.count([families[i] for i in rest]), strict=True):
            scores[i] = checked_value(self.score, counts)
        return scores

    def upper_bounds(self, families: Sequence[Family]) -> _Floats | None:
        """Bound all families with more parents than each of these; None where nothing is known."""
        bounds = self._natively(families, bounds=True)
        return None if np.isnan(bounds).any() else bounds

    def _natively(self, families: Sequence[Family], *, bounds: bool) -> _Floats:
        """Score families natively; NaN where that is not possible."""
        scores = np.full(len(families), math.nan)
        if self._kernel is not None and len(families):
            growth = float(min(v.arity for v in self.variables))
            with self.refusals():
                self.expected.posterior.score(
                    self.expected.table,
                    self._kernel,
                    *self.expected.encode(families),
                    bounds,
                    growth,
                    scores,
                    self.expected.clock(),
                    self.expected.threads,
                )
        return scores

    def by_child(self, dag: Dag | HasDag) -> dict[str, float]:
        """Score each family of a structure; keys are the children in name order."""
        return self._by_child(dag_of(dag), self.names)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(ExpectedScorer, support=self.support), (
            self.expected,
            self.score,
            self.structure_prior,
        )
