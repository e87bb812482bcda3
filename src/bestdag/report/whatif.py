"""What the page needs to answer questions itself: the tables, and a junction tree for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bestdag.network.network import Network

__all__ = ["MOST_TABLE_CELLS", "MOST_TREE_CELLS", "whatif_facts", "why_no_whatif"]

# A page answers in less than a second with trees of at most so many cells, and stays small with so
# many numbers.
MOST_TREE_CELLS = 5_000_000
MOST_TABLE_CELLS = 30_000


def why_no_whatif(network: Network) -> str:
    """Say why a page cannot answer itself; empty where it can."""
    n_cells = sum(table.n_configurations * table.child.arity for table in network.tables)
    if n_cells > MOST_TABLE_CELLS:
        return (
            f"the network has {n_cells:,} probabilities, and a page has room for "
            f"{MOST_TABLE_CELLS:,}"
        )
    n_tree = network.forecast().n_cells
    if n_tree > MOST_TREE_CELLS:
        shown = f"{n_tree:,.0f}" if n_tree < 1e15 else f"{n_tree:.1e}"
        return (
            f"exact answers need a table of {shown} numbers, and a browser can handle "
            f"{MOST_TREE_CELLS:,}"
        )
    return ""


def whatif_facts(network: Network) -> dict[str, Any]:
    """Return tables and tree, variables numbered in name order."""
    number = {name: k for k, name in enumerate(sorted(network.names))}
    cliques = [[number[name] for name in clique] for clique in network.compile().cliques]
    tables = []
    for name in number:
        table = network.table(name)
        scope = [number[variable.name] for variable in (*table.parents, table.child)]
        values = [float(f"{p:.7g}") for p in table.rows.ravel().tolist()]
        tables.append({"scope": scope, "values": values})
    arities = [network.variable(name).arity for name in number]
    return {"arities": arities, "cliques": cliques, "up": _tree(cliques), "tables": tables}


def _tree(cliques: list[list[int]]) -> list[list[int]]:
    """Join cliques to a junction tree: pairs (clique, its parent), each after its parent's own.

    A spanning tree in which neighbours share as many variables as can be is a junction tree
    (Jensen and Jensen 1994, "Optimal junction trees").

    Examples
    --------
    >>> _tree([[0, 1], [2, 3], [1, 2]])
    [[2, 0], [1, 2]]
    """
    sets = [set(clique) for clique in cliques]
    # The best link of each clique that is outside: how much is shared, and with whom.
    best = {k: (len(sets[0] & sets[k]), 0) for k in range(1, len(sets))}
    links = []
    while best:
        taken = max(best, key=lambda k: (best[k][0], -k))
        links.append([taken, best.pop(taken)[1]])
        for k, (shared, _) in best.items():
            n = len(sets[taken] & sets[k])
            if n > shared:
                best[k] = (n, taken)
    return links
