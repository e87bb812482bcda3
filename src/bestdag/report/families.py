"""What the page knows of each node: its family's score, its table and its distribution."""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from bestdag.graph.dag import Dag
from bestdag.network.display import table_rows
from bestdag.report.whatif import MOST_TREE_CELLS
from bestdag.scores.scorer import Scorer

if TYPE_CHECKING:
    from bestdag.data.dataset import Dataset
    from bestdag.network.network import Network
    from bestdag.network.table import ConditionalTable

__all__ = ["family_facts", "marginals_of", "structure_facts"]

# All tables of a page together show so many cells, a single one at most so many: a page of a
# hundred nodes stays well below a megabyte.
_MOST_CELLS, _MOST_CELLS_OF_ONE = 50_000, 2_000


def structure_facts(dag: Dag) -> list[dict[str, Any]]:
    """List the nodes in name order, with their parents and children by number."""
    families = dict(sorted(dag.families.items()))
    number = {name: k for k, name in enumerate(families)}
    facts: list[dict[str, Any]] = []
    for name, parents in families.items():
        numbers = [number[parent] for parent in parents]
        facts.append({"name": name, "parents": numbers, "children": []})
    for child, fact in enumerate(facts):
        for parent in fact["parents"]:
            facts[parent]["children"].append(child)
    return facts


def family_facts(
    scorer: Scorer, network: Network, marginals: dict[str, list[float]]
) -> list[dict[str, Any]]:
    """List what the rows say of each node, in name order."""
    families = sorted(network.dag.families.items())
    tables = {table.child.name: table for table in network.tables}
    most = min(_MOST_CELLS_OF_ONE, _MOST_CELLS // max(1, len(families)))
    facts = []
    for (name, _), explained in zip(families, scorer.explain_each(families), strict=True):
        counts = explained.counts
        facts.append(
            {
                "states": list(tables[name].child.states),
                "score": _number(explained.value),
                "terms": [[label, _number(value)] for label, value in explained.terms.items()],
                "rows": counts.total,
                "configurations": _number(counts.n_configurations),
                "seen": len(counts.table),
                "marginal": [_rounded(p) for p in marginals[name]],
                "table": _table(tables[name], most),
            }
        )
    return facts


def _table(table: ConditionalTable, most_cells: int) -> dict[str, Any]:
    """Take the first rows of a table, those with labels and the one for all others."""
    width = table.child.arity + len(table.parents)
    most = max(1, most_cells // width)
    listed = table.n_configurations if table.sparse is None else table.sparse.n_listed
    shown = islice(table_rows(table, most), most + 1)
    return {
        "parents": [parent.name for parent in table.parents],
        "rows": [[labels, [_rounded(p) for p in numbers]] for labels, numbers in shown],
        "more": max(0, listed - most),
    }


def _number(value: float) -> float | str:
    """Return a number that JSON has, or its name: a prior may call rows impossible."""
    return value if math.isfinite(value) else str(value)


def _rounded(probability: float) -> float:
    return float(f"{probability:.4g}")


def marginals_of(network: Network, data: Dataset) -> tuple[dict[str, list[float]], str]:
    """Return the distribution of each variable, and where it comes from."""
    if network.forecast().n_cells <= MOST_TREE_CELLS:
        marginals = {name: one.values.tolist() for name, one in network.marginals().items()}
        return marginals, "in the fitted network"
    shares = {}
    for variable in data.variables:
        # The code of a missing value comes after those of the states.
        codes = data.codes(variable.name)
        counts = np.bincount(codes, data.weights, variable.arity + 1)[: variable.arity]
        shares[variable.name] = (counts / counts.sum()).tolist()
    return shares, "in the rows"
