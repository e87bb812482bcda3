"""Missing values filled in, all of a row together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.data.checks import code_type
from bestdag.data.dataset import Dataset
from bestdag.errors import DataError, InvalidParameterError, require_choice, require_count
from bestdag.inference.rows import IncompleteRows
from bestdag.inference.sampling import stream_key
from bestdag.machine import require_memory
from bestdag.network.prediction import evidence_dataset
from bestdag.wording import arg

if TYPE_CHECKING:
    from bestdag.network.content import NetworkContent

__all__ = ["ImputationMethod", "impute", "values_of"]

ImputationMethod = Literal["most_probable", "draw"]

# For each imputation, beside its cells.
_BYTES_OF_ONE = 1_000


def impute(
    network: NetworkContent,
    data: Any,
    method: ImputationMethod,
    n: int | None,
    seed: int,
    threads: int | None,
) -> Dataset | list[Dataset]:
    """Answer `Network.impute`."""
    require_choice("impute", "method", method, ["most_probable", "draw"])
    require_count("impute", "seed", seed)
    if n is not None:
        require_count("impute", "n", n, minimum=1)
        if method != "draw":
            raise InvalidParameterError(
                "impute: the most probable states are one imputation; several are drawn by "
                f"{arg('method', 'draw')}"
            )
    chosen = evidence_dataset(network, data, "impute", strict=True)
    filler = _Filler(network, chosen, 1 if n is None else n, threads)
    if n is None:
        return filler.filled(() if method == "most_probable" else stream_key(seed, "impute 0"))
    return [filler.filled(stream_key(seed, f"impute {i}")) for i in range(n)]


class _Filler:
    """Rows and their groups of missing values, found once; filled in as often as wanted."""

    def __init__(self, network: NetworkContent, data: Dataset, n: int, threads: int | None) -> None:
        self._network = network
        self._data = data
        n_bytes = n * (data.n_rows * (8 + 2 * len(network.names)) + _BYTES_OF_ONE)
        what = f"{data.n_rows:,} rows" if n == 1 else f"{n:,} imputations of {data.n_rows:,} rows"
        require_memory("impute", what, n_bytes, "use fewer rows at a time")
        self._rows = IncompleteRows(
            data, network.variables, threads=threads, who="impute", keep_weightless=True
        )
        place = {v.name: i for i, v in enumerate(self._rows.variables)}
        parents = [
            sorted(place[p] for p in network.dag.parents(v.name)) for v in self._rows.variables
        ]
        self._values = values_of(network, self._rows)
        self._groups: _core.MissingGroups = self._rows.groups(parents, whole=True, with_rows=True)
        remedy = "leave out rows with many missing values"
        self._rows.require_groups(self._groups, "impute", remedy)

    def filled(self, key: tuple[int, ...]) -> Dataset:
        """Return complete rows: drawn with a key, most probable without."""
        columns = {v.name: self._copy(v.name, v.arity) for v in self._rows.variables}
        starts, rows = self._rows.by_kind
        wrong = self._groups.complete(
            self._values, starts, rows, list(key), list(columns.values()), self._rows.threads
        )
        if wrong is not None:
            raise DataError(
                f"impute: row {wrong:,} (counted from 0) cannot occur: what it shows has "
                "probability zero; estimate the tables without zeros"
            )
        weights = self._data.weights
        return Dataset._adopt(
            self._network.variables, [columns[n] for n in self._network.names], weights
        )

    def _copy(self, name: str, arity: int) -> npt.NDArray[Any]:
        if name in self._data.arities:
            column = self._data.codes(name)
            # The only state of a variable is known.
            return np.zeros_like(column) if arity == 1 else column.copy()
        start = 0 if arity == 1 else arity
        return np.full(self._data.n_rows, start, dtype=code_type(arity))


def values_of(network: NetworkContent, rows: IncompleteRows) -> npt.NDArray[np.float64]:
    """Return the tables of a network in one array, variables and parents in name order."""
    parts = []
    for variable in rows.variables:
        table = network.table(variable.name)
        parents = sorted(table.parents, key=lambda p: p.name)
        n_cells = table.n_configurations * variable.arity
        what = f"all {n_cells:,} cells of the table of {variable.name!r}"
        require_memory("impute", what, 8 * n_cells, "use a network with fewer arcs")
        parts.append(table.reordered(table.child, parents).values.reshape(-1))
    return np.concatenate(parts)
