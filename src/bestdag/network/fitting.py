"""From a structure and data to a network: one conditional table per node."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.counts.engine import CountingEngine
from bestdag.counts.family import FamilyCounts
from bestdag.data.dataset import Dataset
from bestdag.data.readers import read, read_matching
from bestdag.data.schema import Variable
from bestdag.errors import DataError, DataWarning, InvalidParameterError, unknown_name
from bestdag.graph.dag import Dag
from bestdag.machine import require_memory
from bestdag.network.network import Network
from bestdag.network.table import MAX_AXES, MAX_DENSE_ROWS, ConditionalTable
from bestdag.parameters import make_estimator
from bestdag.parameters.base import Estimator, shares_unobserved
from bestdag.wording import count_of, first_names

__all__ = ["fit_network", "fitted_network", "warn_of_many_parameters"]

# So many parameters per row are warned of.
_MANY_PARAMETERS = 10
# Arrays as large as the table that are held while it is made: counts, prior, shares and so on.
_N_ARRAYS = 6


def fit_network(
    structure: Dag | Network,
    dataset: Any,
    estimator: Estimator | str = "dirichlet",
    *,
    missing: str = "error",
    threads: int | None = None,
) -> Network:
    """Fit the parameters of a structure to data.

    Parameters
    ----------
    structure : Dag or Network
        Its nodes are columns of the data; other columns do not matter. Of a network everything
        but the numbers is kept: name, properties, cut points, the order of variables and
        parents. Its states are those of the data.
    dataset : Dataset, path, frame
        A Dataset, or anything that `read` takes: then the columns of the nodes are read, those of
        a network with its states. Complete in these columns, unless `missing` says otherwise.
        Declared states count, seen or not, and row weights count as repetitions.
    estimator : Estimator or str, default "dirichlet"
        An estimator, or the name of one to be used with its default settings.
    missing : {"error", "available"}, default "error"
        What to do about missing cells: refuse them, or fit each table to the rows that show its
        family, as if cells were missing completely at random.
    threads : int, optional
        Threads for counting; every processor by default. The result is the same.

    Returns
    -------
    Network
        Variables in the order of the nodes, the parents of each in name order (those of a
        network in its own order).

    Raises
    ------
    NotEnoughMemoryError
        When the tables would not fit. They have a row for every parent configuration that was
        seen and one for all others, unless the estimator tells those apart.
    DataError
        When cells are missing.

    Warns
    -----
    DataWarning
        When the network has more than ten times as many parameters as there are rows.

    Examples
    --------
    >>> from bestdag.data.readers import read
    >>> data = read({"rain": ["no", "yes", "yes", "yes"], "wet": ["no", "no", "yes", "yes"]})
    >>> network = fit_network(Dag(["rain", "wet"], [("rain", "wet")]), data, "mle")
    >>> network.table("wet").row(rain="yes").round(3).tolist()
    [0.333, 0.667]
    """
    network, dataset = fitted_network(
        structure, dataset, estimator, missing=missing, threads=threads
    )
    warn_of_many_parameters(network.tables, dataset)
    return network


def fitted_network(
    structure: Dag | Network,
    dataset: Any,
    estimator: Estimator | str,
    *,
    missing: str = "error",
    threads: int | None = None,
) -> tuple[Network, Dataset]:
    """Do what `fit_network` does, without a warning; return the data as they were read, too."""
    chosen = make_estimator(estimator) if isinstance(estimator, str) else _checked(estimator)
    dag = structure.dag if isinstance(structure, Network) else structure
    _require_nodes(dag)
    if not isinstance(dataset, Dataset):
        dataset = _read(structure, dataset, missing)
    _require_fitting(dag, dataset, shared=shares_unobserved(chosen))
    if isinstance(structure, Network):
        _require_same_states(structure, dataset)
    families = [(node, dag.parents(node)) for node in dag.nodes]
    engine = CountingEngine(dataset.select(dag.nodes), missing=missing, threads=threads)
    tables = [_fitted(chosen, counts) for counts in engine.count(families)]
    network = _like(structure, tables) if isinstance(structure, Network) else Network(tables)
    return network, dataset


def warn_of_many_parameters(tables: Sequence[ConditionalTable], dataset: Dataset) -> None:
    """Warn of a network that the rows can hardly tell anything about."""
    n_parameters = sum(table.n_parameters for table in tables)
    n_rows = max(dataset.n_rows, dataset.total_weight)
    if n_parameters <= _MANY_PARAMETERS * n_rows:
        return
    widest = max(tables, key=lambda table: table.n_parameters)
    message = (
        f"fit: the network has {_number(n_parameters)} parameters, more than "
        f"{_MANY_PARAMETERS} times the {count_of(n_rows, 'row')}, "
        f"{_number(widest.n_parameters)} of them in the table of {widest.child.name!r}; "
        "learn with a score that charges more for parameters (bic, fnml), limit the number of "
        "parents, or cut columns of many values into few"
    )
    # Where our code was called from.
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("bestdag"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, DataWarning, stacklevel=level)


def _fitted(estimator: Estimator, counts: FamilyCounts) -> ConditionalTable:
    q = math.prod(parent.arity for parent in counts.parents)
    is_whole = counts.n_observed == q
    if shares_unobserved(estimator) and (not is_whole or len(counts.parents) >= MAX_AXES):
        rows = _estimated(estimator, counts if is_whole else _with_one_more(counts))
        listed = rows[: counts.n_observed]
        return ConditionalTable.of_rows(
            counts.child, counts.parents, counts.configurations, listed, rows[-1]
        )
    rows = _estimated(estimator, _with_every_configuration(counts))
    shape = (*(parent.arity for parent in counts.parents), counts.arity)
    return ConditionalTable(counts.child, counts.parents, rows.reshape(shape))


def _estimated(estimator: Estimator, counts: FamilyCounts) -> npt.NDArray[np.float64]:
    rows = np.asarray(estimator.rows(counts))
    if rows.shape != counts.table.shape:
        raise InvalidParameterError(
            f"fit: {estimator.name} must give {counts.child.name!r} rows of the shape "
            f"{counts.table.shape}, got {rows.shape}"
        )
    return rows


def _like(network: Network, tables: list[ConditionalTable]) -> Network:
    """Put new tables into a network."""
    made = []
    for old, new in zip(network.tables, tables, strict=True):
        made.append(new.reordered(old.child, old.parents))
    return Network(
        made,
        name=network.name,
        properties=network.properties,
        variable_properties={name: network.properties_of(name) for name in network.names},
    )


def _with_every_configuration(counts: FamilyCounts) -> FamilyCounts:
    """Add the parent configurations that do not occur, with counts of zero."""
    q = math.prod(parent.arity for parent in counts.parents)
    if counts.n_observed == q:  # all of them, in lexicographic order
        return counts
    number: npt.NDArray[np.int64] = np.zeros(counts.n_observed, np.int64)
    every = _first_configurations(counts.parents, q)
    for k, parent in enumerate(counts.parents):
        number = number * parent.arity + counts.configurations[:, k]
    table: Any = np.zeros((q, counts.arity), counts.table.dtype)
    table[number] = counts.table
    return FamilyCounts(counts.child, counts.parents, every, table, float(q))


def _with_one_more(counts: FamilyCounts) -> FamilyCounts:
    """Add, as the last row, the first parent configuration that does not occur."""
    m = counts.n_observed
    first = _first_configurations(counts.parents, m + 1)
    other = np.append((first[:-1] != counts.configurations).any(axis=1), True)
    absent = first[int(np.argmax(other))]
    nothing: Any = np.zeros((1, counts.arity), counts.table.dtype)
    return FamilyCounts(
        counts.child,
        counts.parents,
        np.vstack([counts.configurations, absent]),
        np.vstack([counts.table, nothing]),
        counts.n_configurations,
    )


def _first_configurations(parents: Sequence[Variable], n: int) -> npt.NDArray[np.uint16]:
    """Return the first n configurations, the last parent running fastest."""
    codes = np.empty((n, len(parents)), np.uint16)
    rest = np.arange(n)
    for k in reversed(range(len(parents))):
        rest, codes[:, k] = np.divmod(rest, parents[k].arity)
    return codes


def _require_nodes(dag: Dag) -> None:
    if not isinstance(dag, Dag):
        raise InvalidParameterError(f"fit: a Dag or a Network is needed, got {type(dag).__name__}")
    if not dag.nodes:
        raise DataError("fit: at least one node is needed, got an empty Dag")


def _read(structure: Dag | Network, source: Any, missing: str) -> Dataset:
    """Read the columns of the nodes, those of a network with its states."""
    reading = "keep" if missing == "available" else missing
    if isinstance(structure, Network):
        return read_matching(source, structure.variables, ignore_extra=True, missing=reading)
    return read(source, columns=structure.nodes, missing=reading)


def _require_fitting(dag: Dag, dataset: Dataset, *, shared: bool) -> None:
    """Refuse what cannot be fitted, before anything is counted."""
    variables = {variable.name: variable for variable in dataset.variables}
    for node in dag.nodes:
        if node not in variables:
            raise unknown_name("column", node, variables, who="fit")
    kept = 0
    for node in dag.nodes:
        parents = [variables[name] for name in dag.parents(node)]
        kept += _require_room(variables[node], parents, kept, dataset.n_rows if shared else None)


def _require_same_states(network: Network, dataset: Dataset) -> None:
    for variable in network.variables:
        given = dataset.variable(variable.name).states
        if given != variable.states:
            raise DataError(
                f"fit: states of {variable.name!r} are {first_names(variable.states)} in the "
                f"network and {first_names(given)} in the data; give the data the states of the "
                "network"
            )


def _require_room(
    child: Variable, parents: list[Variable], kept: int, most_rows: int | None
) -> int:
    """Return the bytes of a table, if it fits beside those that are `kept`.

    `most_rows` is how many configurations can have a row of their own, where others share one.
    """
    q = math.prod(parent.arity for parent in parents)
    shown = _number(q)
    if most_rows is not None and q > max(MAX_DENSE_ROWS, 2 * most_rows):
        q = most_rows + 1
        shown = f"up to {q:,}"
    elif most_rows is None and len(parents) >= MAX_AXES:
        raise DataError(
            f"fit: a table with a row for every configuration can have {MAX_AXES - 1} parents, "
            f"{child.name!r} has {len(parents)}"
        )
    size = 8 * q * child.arity
    require_memory(
        "fit",
        f"the table of {child.name!r} given {len(parents)} parents, {shown} configurations times "
        f"{child.arity:,} states,",
        min(kept + _N_ARRAYS * size + 16 * q + 2 * q * len(parents), 1 << 100),
        "use fewer parents",
    )
    return size


def _number(n: int) -> str:
    if n < 10**15:
        return f"{n:,}"
    return f"{float(n):.3g}" if n < 10**300 else "more than 1e300"


def _checked(estimator: object) -> Estimator:
    if not isinstance(estimator, Estimator) or isinstance(estimator, type):
        raise InvalidParameterError(
            f"fit: an estimator has a name and rows(counts), got {estimator!r}"
        )
    return estimator
