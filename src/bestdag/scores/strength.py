"""How much each arc of a structure adds to its score."""

from __future__ import annotations

from bestdag.graph.dag import Dag
from bestdag.scores.scorer import Scorer

__all__ = ["arc_losses"]


def arc_losses(scorer: Scorer, dag: Dag) -> dict[tuple[str, str], float]:
    """Work out the score that is lost when one arc is left out and all others stay, in nats.

    Parameters
    ----------
    scorer : Scorer
    dag : Dag
        Over the variables of the data.

    Returns
    -------
    dict of (parent, child) to float
        Below zero where the structure scores more without the arc.

    Examples
    --------
    >>> from bestdag.data.readers import read
    >>> data = read({"rain": ["no", "yes"] * 4, "wet": ["no", "yes"] * 4})
    >>> losses = arc_losses(Scorer(data, "ll"), Dag(["rain", "wet"], [("rain", "wet")]))
    >>> round(losses["rain", "wet"], 6)  # 8 log 2: rain says all about wet
    5.545177
    """
    children = [child for child in sorted(dag.nodes) if dag.parents(child)]
    families = [(child, dag.parents(child)) for child in children]
    smaller = [
        (child, tuple(other for other in parents if other != parent))
        for child, parents in families
        for parent in parents
    ]
    scores = iter(scorer.families([*families, *smaller]).tolist())
    whole = {child: next(scores) for child in children}
    arcs = [(parent, child) for child, parents in families for parent in parents]
    return dict(sorted((arc, whole[arc[1]] - next(scores)) for arc in arcs))
