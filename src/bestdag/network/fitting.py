"""From a structure and data to a network: one conditional table per node."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.counts.engine import CountingEngine
from bestdag.counts.family import FamilyCounts
from bestdag.data.dataset import Dataset
from bestdag.data.readers import read, read_matching
from bestdag.data.schema import Variable
from bestdag.data.sources.files import table_name
from bestdag.errors import DataError, DataWarning, InvalidParameterError, caller_level, unknown_name
from bestdag.graph.dag import Dag
from bestdag.inference.rows import IncompleteRows
from bestdag.inference.tables import FlatTables
from bestdag.machine import require_memory
from bestdag.network.network import Network
from bestdag.network.table import MAX_AXES, MAX_DENSE_ROWS, ConditionalTable
from bestdag.parameters import DEFAULT_ESTIMATOR, make_estimator
from bestdag.parameters.base import Estimator, shares_unobserved
from bestdag.parameters.em import EM, EMRun, Expectation, family_counts
from bestdag.wording import arg, count_of, first_names

__all__ = [
    "EMResult",
    "EMStart",
    "fit_network",
    "fitted_network",
    "is_incomplete",
    "large_number",
    "like",
    "network_of",
    "read_columns",
    "require_fitting",
    "require_nodes",
    "require_same_states",
    "run_em",
    "tables_for",
    "warn_of_many_parameters",
]

# Arrays as large as the table that are held while it is made: counts, prior, shares and so on.
_N_ARRAYS = 6


def like(network: Network, tables: list[ConditionalTable]) -> Network:
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


def require_nodes(dag: Dag) -> None:
    """Refuse what is no Dag, and one without nodes."""
    if not isinstance(dag, Dag):
        raise InvalidParameterError(f"fit: a Dag or a Network is needed, got {type(dag).__name__}")
    if not dag.nodes:
        raise DataError("fit: at least one node is needed, got an empty Dag")


def read_columns(
    structure: Dag | Network, source: Any, *, missing: str, may_lack: bool = False
) -> Dataset:
    """Read the columns of the nodes, those of a network with its states.

    With `may_lack` the data may lack variables of a network.
    """
    if isinstance(structure, Network):
        return read_matching(
            source, structure.variables, ignore_extra=True, may_lack=may_lack, missing=missing
        )
    return read(source, columns=structure.nodes, missing=missing)


def require_fitting(
    dag: Dag, variables: Mapping[str, Variable], most_rows: int | None = None
) -> None:
    """Refuse what cannot be fitted, before anything is counted.

    `most_rows` is how many configurations can have a row of their own, where others share one.
    """
    families = dag.families
    for node in families:
        if node not in variables:
            raise unknown_name("column", node, variables, who="fit")
    taken = 0
    for node, parents in families.items():
        taken += _require_room(
            variables[node], [variables[name] for name in parents], taken, most_rows
        )


def require_same_states(network: Network, dataset: Dataset) -> None:
    """Refuse data that declare other states than a network, in columns that they have."""
    for variable in network.variables:
        if variable.name not in dataset.arities:
            continue
        states = dataset.variable(variable.name).states
        if states != variable.states:
            raise DataError(
                f"fit: states of {variable.name!r} are {first_names(variable.states)} in the "
                f"network and {first_names(states)} in the data; give the data the states of the "
                "network"
            )


def _require_room(
    child: Variable, parents: list[Variable], taken: int, most_rows: int | None
) -> int:
    """Return the bytes of a table, if it fits beside those that are `taken`.

    `most_rows` is how many configurations can have a row of their own, where others share one.
    """
    q = math.prod(parent.arity for parent in parents)
    shown = large_number(q)
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
        min(taken + _N_ARRAYS * size + 16 * q + 2 * q * len(parents), 1 << 100),
        "use fewer parents",
    )
    return size


def large_number(n: int) -> str:
    """Write a whole number of any size."""
    if n < 10**15:
        return f"{n:,}"
    return f"{float(n):.3g}" if n < 10**300 else "more than 1e300"


# So many parameters per row are warned of.
_MANY_PARAMETERS = 10


def fit_network(
    structure: Dag | Network,
    data: Any,
    parameters: Estimator | str = DEFAULT_ESTIMATOR,
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
    data : Dataset, path, frame
        A Dataset, or anything that `read` takes: then the columns of the nodes are read, those of
        a network with its states. Complete in these columns, unless the estimator is `EM`, which
        keeps missing values (the data may then lack variables of a network altogether), or
        `missing` says otherwise. Declared states count, seen or not, and row weights count as
        repetitions.
    parameters : Estimator or str, default "fsnml"
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
    name = table_name(data)
    network, dataset = fitted_network(structure, data, parameters, missing=missing, threads=threads)
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
    if counts is None:
        counts = CountingEngine(dataset.select(dag.nodes), missing=missing, threads=threads)
    engine, families = counts.with_threads(threads), dag.families.items()
    is_shared = shares_unobserved(chosen)
    tables = [_fitted(chosen, counts, is_shared) for counts in engine.count(families)]
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


def _fitted(estimator: Estimator, counts: FamilyCounts, is_shared: bool) -> ConditionalTable:
    """Fit one table; with `is_shared` configurations that were not seen share a row."""
    q = math.prod(parent.arity for parent in counts.parents)
    is_whole = len(counts.table) == q
    if is_shared and (not is_whole or len(counts.parents) >= MAX_AXES):
        rows = _estimated(estimator, counts if is_whole else _with_one_more(counts))
        listed = rows[: len(counts.table)]
        return ConditionalTable.of_rows(
            counts.child, counts.parents, counts.configurations, listed, rows[-1]
        )
    # All configurations, in lexicographic order.
    rows = _estimated(estimator, counts if is_whole else _with_every_configuration(counts, q))
    shape = (*(parent.arity for parent in counts.parents), counts.child.arity)
    return ConditionalTable(counts.child, counts.parents, rows.reshape(shape))


def _estimated(estimator: Estimator, counts: FamilyCounts) -> npt.NDArray[np.float64]:
    rows = np.asarray(estimator.rows(counts))
    if rows.shape != counts.table.shape:
        raise InvalidParameterError(
            f"fit: {estimator.name} must give {counts.child.name!r} rows of the shape "
            f"{counts.table.shape}, got {rows.shape}"
        )
    return rows


def _with_every_configuration(counts: FamilyCounts, q: int) -> FamilyCounts:
    """Add those of the q parent configurations that do not occur, with counts of zero."""
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
    >>> result = run_em(Dag(["coin"]), tosses)
    >>> result.network.table("coin").values.round(3).tolist(), result.converged
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
