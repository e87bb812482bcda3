"""What "local optimum" means for each search: the structures that must not score more."""

from __future__ import annotations

import itertools

from bestdag.graph.enumeration import all_dags
from tests.search.neighbours import neighbours

__all__ = ["better_structures"]


def better_structures(search, dag, problem):
    """List the structures near `dag`, in the sense of the search, that score more."""
    score = problem.scores.total(dag)
    tie = 1e-9 * max(1.0, abs(score))

    def is_better(other):
        return problem.scores.total(other) > score + tie

    return _NEIGHBOURHOODS.get(search.name, _single_changes)(search, dag, problem, is_better)


def _is_allowed(dag, problem):
    most, limit = max(len(dag.parents(v)) for v in dag.nodes), problem.max_parents
    return (limit is None or most <= limit) and problem.knowledge.allows(dag)


def _single_changes(search, dag, problem, is_better):
    """One arc added, removed or reversed."""
    return [*filter(is_better, neighbours(dag, problem.knowledge, problem.max_parents))]


def _changes_of_members(search, dag, problem, is_better):
    """One arc added or removed, with the turning phase also reversed, in any equivalent structure.

    The search keeps to classes of which some structure is allowed.
    """
    found = []
    for member in dag.cpdag().members():
        for other in filter(is_better, neighbours(member)):
            is_reversal = len(other.arcs) == len(member.arcs)
            if (search.turning or not is_reversal) and any(
                _is_allowed(equivalent, problem) for equivalent in other.cpdag().members()
            ):
                found.append(other)
    return found


def _additions_along_an_order(search, dag, problem, is_better):
    """One arc added along the order; one that is not given is an order with nothing to add."""
    if search.order is not None:
        orders = [search.order]
    elif problem.knowledge.total_order:
        orders = [problem.knowledge.total_order]
    else:
        orders = [o for o in itertools.permutations(dag.nodes) if _follows(dag, o)]
    return min((_additions(dag, order, problem, is_better) for order in orders), key=len)


def _follows(dag, order):
    return all(order.index(parent) < order.index(child) for parent, child in dag.arcs)


def _additions(dag, order, problem, is_better):
    pairs = [pair for pair in itertools.combinations(order, 2) if not dag.has_arc(*pair)]
    return [
        other
        for other in (dag.add(*pair) for pair in pairs)
        if _is_allowed(other, problem) and is_better(other)
    ]


def _of_the_same_form(has_form):
    """Every structure of the form that the search is for, not only those nearby.

    A tree has one root, or as few as the knowledge lets it have: as many arcs as the result. A
    forest has any number.
    """

    def better(search, dag, problem, is_better):
        return [
            other
            for other in all_dags(sorted(dag.nodes))
            if (len(other.arcs) == len(dag.arcs) or getattr(search, "forest", False))
            and has_form(search, other)
            and _is_allowed(other, problem)
            and is_better(other)
        ]

    return better


def _is_tree(search, dag):
    return all(len(dag.parents(v)) <= 1 for v in dag.nodes)


def _is_augmented(search, dag):
    attributes = [v for v in dag.nodes if v != search.target]
    return not dag.parents(search.target) and all(
        search.target in dag.parents(v) and len(dag.parents(v)) <= 2 for v in attributes
    )


_NEIGHBOURHOODS = {
    "ges": _changes_of_members,
    "k2": _additions_along_an_order,
    "tree": _of_the_same_form(_is_tree),
    "tan": _of_the_same_form(_is_augmented),
    "naive_bayes": _of_the_same_form(_is_augmented),
}
