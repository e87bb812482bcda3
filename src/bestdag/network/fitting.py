"""From a structure and data to a network: one conditional table per node."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.counts.engine import CountingEngine
from bestdag.counts.family import FamilyCounts
from bestdag.data.dataset import Dataset
from bestdag.data.endings import table_name
from bestdag.data.schema import Variable
from bestdag.errors import DataWarning, InvalidParameterError, caller_level
from bestdag.graph.dag import Dag
from bestdag.network.em import is_incomplete, run_em
from bestdag.network.fit_inputs import (
    large_number,
    like,
    read_columns,
    require_fitting,
    require_nodes,
    require_same_states,
)
from bestdag.network.network import Network
from bestdag.network.table import MAX_AXES, ConditionalTable
from bestdag.parameters import DEFAULT_ESTIMATOR, EM, make_estimator
from bestdag.parameters.base import Estimator, shares_unobserved
from bestdag.wording import count_of

__all__ = ["fit_network", "fitted_network", "warn_of_many_parameters"]

# So many parameters per row are warned of.
_MANY_PARAMETERS = 10


def fit_network(
    structure: Dag | Network,
    dataset: Any,
    estimator: Estimator | str = DEFAULT_ESTIMATOR,
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
        a network with its states. Complete in these columns, unless the estimator is `EM`, which
        keeps missing values (the data may then lack variables of a network altogether), or
        `missing` says otherwise. Declared states count, seen or not, and row weights count as
        repetitions.
    estimator : Estimator or str, default "fsnml"
        An estimator, or the name of one to be used with its default settings: "mle",
        "dirichlet", "fsnml", "em". `run_em` says also how EM went.
    missing : {"error", "available"}, default "error"
        What to do about missing values: refuse them, or fit each table to the rows that show its
        family, as if cells were missing completely at random.
    threads : int, optional
        Threads for counting; every processor by default. The result is the same.

    Returns
    -------
    Network
        Variables in the order of the nodes, the parents of each in name order (those of a
        network in its own order). It is called as the network, as the file of the table, or
        "network".

    Raises
    ------
    NotEnoughMemoryError
        When the tables would not fit. They have a row for every parent configuration that was
        seen and one for all others, unless the estimator tells those apart.
    DataError
        When values are missing, unless the estimator is `EM`.

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
    name = table_name(dataset)
    network, dataset = fitted_network(
        structure, dataset, estimator, missing=missing, threads=threads
    )
    warn_of_many_parameters(network.tables, dataset)
    return network if isinstance(structure, Network) else network.with_name(name)


def fitted_network(
    structure: Dag | Network,
    dataset: Any,
    estimator: Estimator | str,
    *,
    missing: str = "error",
    threads: int | None = None,
    counts: CountingEngine | None = None,
) -> tuple[Network, Dataset]:
    """Do what `fit_network` does, without a warning; return the data as they were read, too.

    `counts` counts the data, where something does already.
    """
    chosen = make_estimator(estimator) if isinstance(estimator, str) else _checked(estimator)
    dag = structure.dag if isinstance(structure, Network) else structure
    require_nodes(dag)
    if not isinstance(dataset, Dataset):
        reading = "keep" if isinstance(chosen, EM) or missing == "available" else missing
        dataset = read_columns(structure, dataset, missing=reading, may_lack=isinstance(chosen, EM))
    if isinstance(chosen, EM) and is_incomplete(dag, dataset):
        return run_em(structure, dataset, chosen, threads=threads).network, dataset
    variables = {variable.name: variable for variable in dataset.variables}
    require_fitting(dag, variables, dataset.n_rows if shares_unobserved(chosen) else None)
    if isinstance(structure, Network):
        require_same_states(structure, dataset)
    families = [(node, dag.parents(node)) for node in dag.nodes]
    if counts is None:
        counts = CountingEngine(dataset.select(dag.nodes), missing=missing, threads=threads)
    engine = counts.with_threads(threads)
    tables = [_fitted(chosen, family) for family in engine.count(families)]
    network = (
        like(structure, tables)
        if isinstance(structure, Network)
        else Network(tables, name="network")
    )
    return network, dataset


def warn_of_many_parameters(tables: Sequence[ConditionalTable], dataset: Dataset) -> None:
    """Warn of a network that the rows can hardly tell anything about."""
    n_parameters = sum(table.n_parameters for table in tables)
    n_rows = max(dataset.n_rows, dataset.total_weight)
    if n_parameters <= _MANY_PARAMETERS * n_rows:
        return
    widest = max(tables, key=lambda table: table.n_parameters)
    message = (
        f"fit: the network has {large_number(n_parameters)} parameters, more than "
        f"{_MANY_PARAMETERS} times the {count_of(n_rows, 'row')}, "
        f"{large_number(widest.n_parameters)} of them in the table of {widest.child.name!r}; "
        "learn with a score that charges more for parameters (bic, fnml), limit the number of "
        "parents, or bin columns of many values"
    )
    warnings.warn(message, DataWarning, stacklevel=caller_level())


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


def _checked(estimator: object) -> Estimator:
    if not isinstance(estimator, Estimator) or isinstance(estimator, type):
        raise InvalidParameterError(
            f"fit: an estimator has a name and rows(counts), got {estimator!r}"
        )
    return estimator
