"""From a structure and data to a network: one conditional table per node."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.counts.engine import CountingEngine
from bestdag.counts.family import FamilyCounts
from bestdag.data.dataset import Dataset
from bestdag.data.readers import read, read_matching
from bestdag.data.schema import Variable
from bestdag.errors import DataError, InvalidParameterError, unknown_name
from bestdag.graph.dag import Dag
from bestdag.machine import require_memory
from bestdag.network.network import Network
from bestdag.network.table import ConditionalTable
from bestdag.parameters import make_estimator
from bestdag.parameters.base import Estimator

__all__ = ["fit_network"]

# An array has no more axes than this (numpy 1 or 2); a table has one per parent and one more.
_MAX_AXES = 64 if int(np.__version__.partition(".")[0]) >= 2 else 32
# Arrays as large as the table that are held while it is made: counts, prior, shares and so on.
_N_ARRAYS = 6


def fit_network(
    structure: Dag | Network,
    dataset: Any,
    estimator: Estimator | str = "dirichlet",
    *,
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
        a network with its states. Complete in these columns. Declared states count, seen or
        not, and row weights count as repetitions.
    estimator : Estimator or str, default "dirichlet"
        An estimator, or the name of one to be used with its default settings.
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
        When the tables would not fit: they have a row for every parent configuration, seen or
        not.
    DataError
        When cells are missing.

    Examples
    --------
    >>> from bestdag.data.readers import read
    >>> data = read({"rain": ["no", "yes", "yes", "yes"], "wet": ["no", "no", "yes", "yes"]})
    >>> network = fit_network(Dag(["rain", "wet"], [("rain", "wet")]), data, "mle")
    >>> network.table("wet").row(rain="yes").round(3).tolist()
    [0.333, 0.667]
    """
    chosen = make_estimator(estimator) if isinstance(estimator, str) else _checked(estimator)
    dag = structure.dag if isinstance(structure, Network) else structure
    _require_nodes(dag)
    if not isinstance(dataset, Dataset):
        dataset = _read(structure, dataset)
    _require_fitting(dag, dataset)
    if isinstance(structure, Network):
        _require_same_states(structure, dataset)
    families = [(node, dag.parents(node)) for node in dag.nodes]
    engine = CountingEngine(dataset.select(dag.nodes), threads=threads)
    tables = [_fitted(chosen, counts) for counts in engine.count(families)]
    return _like(structure, tables) if isinstance(structure, Network) else Network(tables)


def _fitted(estimator: Estimator, counts: FamilyCounts) -> ConditionalTable:
    dense = _with_every_configuration(counts)
    rows = np.asarray(estimator.rows(dense))
    if rows.shape != dense.table.shape:
        raise InvalidParameterError(
            f"fit: {estimator.name} must give {counts.child.name!r} rows of the shape "
            f"{dense.table.shape}, got {rows.shape}"
        )
    shape = (*(parent.arity for parent in counts.parents), counts.arity)
    return ConditionalTable(counts.child, counts.parents, rows.reshape(shape))


def _like(network: Network, tables: list[ConditionalTable]) -> Network:
    """Put new tables into a network."""
    made = []
    for old, new in zip(network.tables, tables, strict=True):
        place = {parent.name: axis for axis, parent in enumerate(new.parents)}
        axes = [*(place[parent.name] for parent in old.parents), len(place)]
        made.append(ConditionalTable(old.child, old.parents, new.values.transpose(axes)))
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
    every = np.empty((q, len(counts.parents)), np.uint16)
    rest = np.arange(q)
    for k in reversed(range(len(counts.parents))):
        rest, every[:, k] = np.divmod(rest, counts.parents[k].arity)
    for k, parent in enumerate(counts.parents):
        number = number * parent.arity + counts.configurations[:, k]
    table: Any = np.zeros((q, counts.arity), counts.table.dtype)
    table[number] = counts.table
    return FamilyCounts(counts.child, counts.parents, every, table, float(q))


def _require_nodes(dag: Dag) -> None:
    if not isinstance(dag, Dag):
        raise InvalidParameterError(f"fit: a Dag or a Network is needed, got {type(dag).__name__}")
    if not dag.nodes:
        raise DataError("fit: at least one node is needed, got an empty Dag")


def _read(structure: Dag | Network, source: Any) -> Dataset:
    """Read the columns of the nodes, those of a network with its states."""
    if isinstance(structure, Network):
        return read_matching(source, structure.variables, ignore_extra=True)
    return read(source, columns=structure.nodes)


def _require_fitting(dag: Dag, dataset: Dataset) -> None:
    """Refuse what cannot be fitted, before anything is counted."""
    variables = {variable.name: variable for variable in dataset.variables}
    for node in dag.nodes:
        if node not in variables:
            raise unknown_name("column", node, variables, who="fit")
    kept = 0
    for node in dag.nodes:
        parents = [variables[name] for name in dag.parents(node)]
        kept += _require_room(variables[node], parents, kept)


def _require_same_states(network: Network, dataset: Dataset) -> None:
    for variable in network.variables:
        given = dataset.variable(variable.name).states
        if given != variable.states:
            raise DataError(
                f"fit: states of {variable.name!r} are {_shown(variable.states)} in the network "
                f"and {_shown(given)} in the data; give the data the states of the network"
            )


def _shown(states: tuple[str, ...]) -> str:
    return ", ".join(map(repr, states[:5])) + (", ..." if len(states) > 5 else "")


def _require_room(child: Variable, parents: list[Variable], kept: int) -> int:
    """Return the bytes of a table, if it fits beside those that are `kept`."""
    if len(parents) >= _MAX_AXES:
        raise DataError(
            f"fit: a table can have {_MAX_AXES - 1} parents, {child.name!r} has {len(parents)}"
        )
    q = math.prod(parent.arity for parent in parents)
    size = 8 * q * child.arity
    shown = f"{q:,}" if q < 10**15 else f"{float(q):.3g}"
    require_memory(
        "fit",
        f"the table of {child.name!r} given {len(parents)} parents, {shown} configurations times "
        f"{child.arity:,} states,",
        min(kept + _N_ARRAYS * size + 16 * q + 2 * q * len(parents), 1 << 100),
        "use fewer parents",
    )
    return size


def _checked(estimator: object) -> Estimator:
    if not isinstance(estimator, Estimator) or isinstance(estimator, type):
        raise InvalidParameterError(
            f"fit: an estimator has a name and rows(counts), got {estimator!r}"
        )
    return estimator
