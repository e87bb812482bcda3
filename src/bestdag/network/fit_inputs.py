"""What every way to fit a network shares: its inputs read and checked, its tables put together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from bestdag.data.dataset import Dataset
from bestdag.data.readers import read, read_matching
from bestdag.data.schema import Variable
from bestdag.errors import DataError, InvalidParameterError, unknown_name
from bestdag.graph.dag import Dag
from bestdag.machine import require_memory
from bestdag.network.network import Network
from bestdag.network.table import MAX_AXES, MAX_DENSE_ROWS, ConditionalTable
from bestdag.wording import first_names

__all__ = [
    "large_number",
    "like",
    "read_columns",
    "require_fitting",
    "require_nodes",
    "require_same_states",
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
    for node in dag.nodes:
        if node not in variables:
            raise unknown_name("column", node, variables, who="fit")
    kept = 0
    for node in dag.nodes:
        parents = [variables[name] for name in dag.parents(node)]
        kept += _require_room(variables[node], parents, kept, most_rows)


def require_same_states(network: Network, dataset: Dataset) -> None:
    """Refuse data that declare other states than a network, in columns that they have."""
    for variable in network.variables:
        if variable.name not in dataset.arities:
            continue
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
        min(kept + _N_ARRAYS * size + 16 * q + 2 * q * len(parents), 1 << 100),
        "use fewer parents",
    )
    return size


def large_number(n: int) -> str:
    """Write a whole number of any size."""
    if n < 10**15:
        return f"{n:,}"
    return f"{float(n):.3g}" if n < 10**300 else "more than 1e300"
