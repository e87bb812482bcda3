"""A network fitted by EM to rows with missing values, and how that went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.errors import DataError
from bestdag.graph.dag import Dag
from bestdag.inference.flat_tables import FlatTables
from bestdag.inference.incomplete import IncompleteRows
from bestdag.network.fit_inputs import (
    like,
    read_columns,
    require_fitting,
    require_nodes,
    require_same_states,
)
from bestdag.network.network import Network
from bestdag.network.table import ConditionalTable
from bestdag.parameters.em import EM, family_counts
from bestdag.parameters.expectation_maximization import EMRun, Expectation
from bestdag.wording import arg, count_of

__all__ = ["EMResult", "EMStart", "is_incomplete", "network_of", "run_em", "tables_for"]

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class EMStart:
    """How EM ended from one start."""

    start: str
    objective: float
    iterations: int
    converged: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class EMResult:
    """A fitted network, and how EM came to it.

    Attributes
    ----------
    network : Network
    log_likelihood : float
        Of what the rows show, under the network (natural logarithm, weights counted).
    iterations : int
    converged : bool
        Whether the iterations ended by their tolerance, not by their number.
    trace : tuple of float
        What the iterations raise, at the start and after each: the log-likelihood or, with a
        prior, that plus the sum of a ln theta. It never falls.
    starts : tuple of EMStart
        How it ended from each start, the best first.
    """

    network: Network
    log_likelihood: float
    iterations: int
    converged: bool
    trace: tuple[float, ...]
    starts: tuple[EMStart, ...]

    def __repr__(self) -> str:
        how = "converged" if self.converged else "stopped"
        return (
            f"<EMResult: log-likelihood {self.log_likelihood:.6f}, {how} after "
            f"{count_of(self.iterations, 'iteration')}>"
        )


def run_em(
    structure: Dag | Network, data: Any, em: EM | None = None, *, threads: int | None = None
) -> EMResult:
    """Fit the parameters of a structure to rows with missing values.

    Parameters
    ----------
    structure : Dag or Network
        As for `fit_network`. Of a network the states are known, so the data may lack some of its
        variables, which are then hidden.
    data : Dataset, path, frame
        A Dataset, or anything that `read` takes; missing values are kept.
    em : EM, optional
        The settings; maximum likelihood by default.
    threads : int, optional
        Every processor by default. The result is the same.

    Raises
    ------
    DataError
        When a row has probability zero under a given start; it is named.
    NotEnoughMemoryError
        When so many missing values depend on each other that their states do not fit.

    Examples
    --------
    Exercise in counting: of four tosses one was not seen; the others decide.

    >>> from bestdag.data.readers import read
    >>> tosses = read({"coin": ["heads", "heads", "tails", ""]}, missing="keep")
    >>> found = run_em(Dag(["coin"]), tosses)
    >>> found.network.table("coin").values.round(3).tolist(), found.converged
    ([0.667, 0.333], True)
    """
    em = EM() if em is None else em
    dag = structure.dag if isinstance(structure, Network) else structure
    require_nodes(dag)
    if not isinstance(data, Dataset):
        data = read_columns(structure, data, missing="keep", may_lack=True)
    variables = {v.name: v for v in data.variables}
    if isinstance(structure, Network):
        require_same_states(structure, data)
        variables = {v.name: v for v in structure.variables} | variables
    require_fitting(dag, variables)
    rows = IncompleteRows(
        data.in_memory("EM"), [variables[n] for n in dag.nodes], threads=threads, who="EM"
    )
    tables = tables_for(rows, dag)
    expect = Expectation(rows, tables)
    runs = em.run(rows, expect)
    if not runs:
        raise _impossible(em, data, tables)
    return _result(structure, dag, em, expect, runs)


def is_incomplete(dag: Dag, dataset: Dataset) -> bool:
    """Whether a node of the structure misses some value."""
    missing = dataset.missing_counts
    return any(node in missing or node not in dataset.arities for node in dag.nodes)


def tables_for(rows: IncompleteRows, dag: Dag) -> FlatTables:
    """Return the layout of the tables of a structure over these rows."""
    place = {v.name: i for i, v in enumerate(rows.variables)}
    return FlatTables(
        rows.variables, [sorted(place[p] for p in dag.parents(v.name)) for v in rows.variables]
    )


def network_of(
    structure: Dag | Network, tables: FlatTables, values: _Floats | Sequence[_Floats]
) -> Network:
    """Make a network of tables in one array, or of one array for each table."""
    made = {}
    for child, group in enumerate(tables.parents):
        parents = tuple(tables.variables[p] for p in group)
        cells = tables.of(values, child) if isinstance(values, np.ndarray) else values[child]
        shape = (*(p.arity for p in parents), tables.variables[child].arity)
        variable = tables.variables[child]
        made[variable.name] = ConditionalTable(variable, parents, cells.reshape(shape))
    if isinstance(structure, Network):
        return like(structure, [made[name] for name in structure.names])
    return Network([made[name] for name in structure.nodes], name="network")


def _result(
    structure: Dag | Network, dag: Dag, em: EM, expect: Expectation, runs: list[EMRun]
) -> EMResult:
    best, tables = runs[0], expect.tables
    log_likelihood = best.log_likelihood
    values: _Floats | list[_Floats] = best.values
    if em.last is not None:
        values = [em.last.rows(counts) for counts in family_counts(tables, best.counts)]
        log_likelihood = expect(np.concatenate([rows.reshape(-1) for rows in values]))[0]
    return EMResult(
        network=network_of(structure, tables, values),
        log_likelihood=log_likelihood,
        iterations=best.iterations,
        converged=best.converged,
        trace=best.trace,
        starts=tuple(
            EMStart(run.start, run.objective, run.iterations, run.converged) for run in runs
        ),
    )


def _impossible(em: EM, data: Dataset, tables: FlatTables) -> DataError:
    """Name the first row that the start calls impossible."""
    what = "EM: the start calls a row impossible"
    if not isinstance(em.start, str):
        missing = [v for v in tables.variables if v.name not in data.arities]
        known: list[Variable] = [v for v in tables.variables if v not in missing]
        full = [data.codes(v.name) for v in known]
        hidden = [np.full(data.n_rows, v.arity) for v in missing]
        whole = Dataset([*known, *missing], [*full, *hidden], data.weights)
        logs = em.start.log_probability(whole.select(em.start.names))
        row = int(np.argmax(logs == -np.inf))
        shown = [
            f"{v.name}={v.states[data.codes(v.name)[row]]}"
            for v in known
            if data.codes(v.name)[row] < v.arity
        ]
        what = (
            f"EM: row {row:,} (counted from 0) has probability zero under the start: "
            f"{', '.join(shown[:6])}{', ...' if len(shown) > 6 else ''}"
        )
    return DataError(
        f"{what}; begin with tables without zeros, or with {arg('start', 'available')}"
    )
