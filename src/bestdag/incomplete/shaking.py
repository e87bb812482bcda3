"""Random changes of a structure, to start again from."""

from __future__ import annotations

import numpy as np

from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge
from bestdag.scores.engine import FamilySupport

__all__ = ["shaken"]

# Of the arcs, how many go; and how many come, as a share of the variables.
_SHARE_GONE = 0.3
_SHARE_NEW = 0.3


def shaken(
    dag: Dag,
    random: np.random.Generator,
    knowledge: Knowledge | None,
    max_parents: int | None,
    support: FamilySupport | None = None,
) -> Dag:
    """Drop some arcs and add others, at random, as far as knowledge and support allow.

    Examples
    --------
    >>> chain = Dag(list("abcd"), [("a", "b"), ("b", "c"), ("c", "d")])
    >>> other = shaken(chain, np.random.default_rng(1), None, 2)
    >>> other.nodes == chain.nodes, other != chain
    (True, True)
    """
    names = sorted(dag.nodes)
    for arc in sorted(dag.arcs):
        if random.random() < _SHARE_GONE:
            dag = _allowed(dag.remove(*arc), dag, knowledge, max_parents)
    for _ in range(round(_SHARE_NEW * len(names)) + 1 if len(names) > 1 else 0):
        parent, child = random.choice(names, size=2, replace=False).tolist()
        if parent in dag.descendants(child):
            parent, child = child, parent
        if not dag.has_arc(parent, child):
            made = dag.add(parent, child)
            family = child, frozenset(made.parents(child))
            if support is None or not support.lacking([family]):
                dag = _allowed(made, dag, knowledge, max_parents)
    return dag


def _allowed(made: Dag, dag: Dag, knowledge: Knowledge | None, max_parents: int | None) -> Dag:
    """Return the structure made where it is allowed, else the one there was."""
    if max_parents is not None and any(len(made.parents(v)) > max_parents for v in made.nodes):
        return dag
    return dag if knowledge is not None and knowledge.violations(made) else made
