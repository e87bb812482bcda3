"""A data set whose rows are on the workers of a cluster."""

from __future__ import annotations

import copy
import hashlib
import html
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from bestdag.cluster.part import PartFacts
from bestdag.cluster.placed import PlacedParts
from bestdag.cluster.provider import ClusterCounts
from bestdag.counts.provider import RowsIn, flat_groups
from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.errors import ClusterError, RowsLostError

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["ClusterRows"]

_MOST_CELLS = 1e8  # of two or three columns


class ClusterRows(Dataset):
    """A data set whose rows are on the workers of a Dask cluster, in parts.

    It can be counted, and so scored and learned from; what needs single rows is refused. Made by
    `read_on` and `spread`.

    Attributes
    ----------
    n_parts : int
    n_workers : int
        Workers that the parts were given to.
    counted_weight : float or None
        The number of cases as the counts add up to it, where weights are real and it is known.
    lost : RowsLostError or None
        How the rows were lost, once they are.
    """

    __slots__ = (
        *("_facts", "_held", "_n_rows", "_placed", "_total"),
        *("counted_weight", "lost", "n_workers", "name"),
    )

    def __init__(
        self,
        client: Client,
        variables: Iterable[Variable],
        parts: list[Future],
        facts: list[PartFacts],
        *,
        name: str,
        n_workers: int,
        missing: Mapping[str, int],
    ) -> None:
        self._columns = {}
        self._weights = None
        self._digest = None
        self._choose(variables, missing)
        # What the parts hold, of which this may be a choice.
        self._held = self._variables, dict(missing)
        self._placed = PlacedParts(client, parts)
        self._facts = facts
        self._n_rows = sum(one.n_rows for one in facts)
        total = sum(one.total_weight for one in facts)
        has_whole = all(one.has_whole_weights for one in facts)
        self._total: int | float = int(total) if has_whole else total
        self.counted_weight: float | None = None
        self.n_workers = n_workers
        self.name = name
        self.lost: RowsLostError | None = None

    def _choose(self, variables: Iterable[Variable], missing: Mapping[str, int]) -> None:
        self._variables = tuple(variables)
        self._names = tuple(variable.name for variable in self._variables)
        self._arities = MappingProxyType({v.name: v.arity for v in self._variables})
        self._missing = {name: n for name, n in missing.items() if name in self._arities}

    @property
    def rows_in(self) -> RowsIn:
        """Where the rows are."""
        return "cluster"

    def count_provider(self, threads: int | None = None) -> ClusterCounts:
        """Return who counts families over these rows; each worker uses all its own threads."""
        return ClusterCounts(self, self._placed)

    def fingerprint(self) -> str:
        """Return a digest of what two counts of each column say: rows themselves are far away."""
        variables = tuple(sorted(self.variables, key=lambda v: v.name))
        n = len(variables)
        others = [{(i - 1) % n, (i - n // 2) % n} - {i} for i in range(n)]
        families = np.arange(n, dtype=np.int32), *flat_groups(list(map(sorted, others)))
        digest = hashlib.blake2b(repr((variables, self.n_rows)).encode("utf-8", "surrogatepass"))
        for configurations, table in self.count_provider().count(families, max_cells=_MOST_CELLS):
            digest.update(configurations.tobytes())
            digest.update(table.tobytes())
        return f"cluster {digest.hexdigest()[:16]}"

    @property
    def held(self) -> tuple[tuple[Variable, ...], list[int]]:
        """The columns of the parts, in name order, and their numbers of states.

        A missing value is one more state where there are some.
        """
        variables, holes = self._held
        in_order = tuple(sorted(variables, key=lambda v: v.name))
        return in_order, [v.arity + (v.name in holes) for v in in_order]

    @property
    def n_rows(self) -> int:
        """Number of rows on all workers."""
        return self._n_rows

    @property
    def n_complete(self) -> int:
        """Number of rows without a missing value."""
        return sum(one.n_complete for one in self._facts) if self.has_missing else self._n_rows

    @property
    def n_parts(self) -> int:
        """Parts that the rows are in."""
        return len(self._placed.parts)

    @property
    def total_weight(self) -> int | float:
        """The number N of cases."""
        return self._total

    @property
    def has_real_weights(self) -> bool:
        """Whether some rows count a fraction of once."""
        return isinstance(self._total, float)

    def codes(self, name: str) -> NoReturn:
        """Refuse: rows stay where they are."""
        self._require(name)
        raise self._refusal()

    @property
    def weights(self) -> None:
        """None: what rows weigh is on the workers too, and in the counts."""
        return None

    def select(self, columns: str | Iterable[str] | None = None, rows: Any = None) -> ClusterRows:
        """Take some columns; all rows stay where they are."""
        if rows is not None:
            raise self._refusal()
        names = [columns] if isinstance(columns, str) else list(columns or self._names)
        chosen = copy.copy(self)
        chosen._choose([self.variable(name) for name in names], self.missing_counts)
        return chosen

    def with_states(self, states: Any) -> NoReturn:
        """Refuse: states are agreed when the rows are read."""
        raise self._refusal()

    def _refusal(self) -> ClusterError:
        return ClusterError(
            f"cluster: the rows of {self.name} are on {self.n_workers} workers and cannot be had "
            "one by one; read the table here for what needs rows"
        )

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __copy__(self) -> ClusterRows:
        other = ClusterRows.__new__(ClusterRows)
        for place in (*Dataset.__slots__, *ClusterRows.__slots__):
            setattr(other, place, getattr(self, place))
        return other

    def __getstate__(self) -> NoReturn:
        raise self._refusal()

    def __repr__(self) -> str:
        return (
            f"<ClusterRows {self.name}: {self.n_rows:,} rows, {self.n_variables} variables, "
            f"{self.n_parts} parts on {self.n_workers} workers>"
        )

    def __str__(self) -> str:
        return repr(self)  # there are no first rows to show

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"


def seen_anywhere(facts: list[PartFacts]) -> list[npt.NDArray[np.bool_]]:
    """Say for each column which codes some part shows."""
    return [
        np.logical_or.reduce(shown) for shown in zip(*(f.has_state for f in facts), strict=True)
    ]
