"""Where the search over orders is between two rounds, as plain values, and going on from there.

What takes little room is kept as it is. Small parent sets are listed again, and rows of scores are
worked out again when they are asked for: both are functions of the data.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from bestdag.search.climbing.run import walk_for
from bestdag.search.ges.search import GES
from bestdag.search.ges.walk import Walk as ClassWalk
from bestdag.search.hill_climb import HillClimb
from bestdag.search.order.orders import Orders
from bestdag.search.order.reinsertion_turns import ReinsertionTurns
from bestdag.search.problem import Problem
from bestdag.search.result import Step

if TYPE_CHECKING:
    from bestdag.graph.dag import Dag
    from bestdag.search.order.improve import Improver

__all__ = ["parents_of", "restore", "state_of"]

# Numbers that say how rounds follow each other.
_PLAIN = (
    "n_idle",
    "_max_sets",
    "_is_narrow",
    "_n_turns",
    "_n_failures",
    "_is_climbed",
)


def parents_of(problem: Problem, dag: Dag) -> list[list[int]]:
    """Return the parents of every variable by their numbers."""
    number = {name: i for i, name in enumerate(problem.names)}
    return [sorted(number[p] for p in dag.parents(name)) for name in problem.names]


def state_of(improver: Improver) -> dict[str, Any]:
    """Return what an improver knows; within its first round, what it knew before."""
    problem = improver._problem
    classes, reinsertion = improver._classes, improver._reinsertion
    return {
        **{name: getattr(improver, name) for name in _PLAIN},
        "best": _structure(problem, improver.best),
        "n_rounds": improver.n_rounds - improver._is_inside,
        "trace": list(improver.trace),
        "crew": _crew(problem, improver),
        "is_listed": improver._lists is not None and not improver._lists,
        "orders": _orders(problem, improver),
        "classes": None if classes is None else classes[0].state(),
        "reinsertion": None if reinsertion is None else reinsertion.state(),
    }


def restore(improver: Improver, state: dict[str, Any]) -> None:
    """Let a new improver of the same problem go on from a state."""
    problem = improver._problem
    for name in _PLAIN:
        setattr(improver, name, state[name])
    improver.best = _from(problem, improver, state["best"])
    improver.n_rounds = state["n_rounds"]
    improver.trace = [Step(*step) for step in state["trace"]]
    if state["is_listed"]:
        improver._lists = []
    if state["crew"] is not None:
        _restore_crew(improver, state["crew"])
    if state["orders"] is not None:
        _restore_orders(improver, state["orders"])
    if state["classes"] is not None:
        walk = ClassWalk(problem, improver._scorer, saved=state["classes"])
        improver._classes = (walk, GES().steps(walk))
    if state["reinsertion"] is not None:
        improver._reinsertion = _restored_reinsertion(problem, improver, state["reinsertion"])


def _structure(problem: Problem, structure: Any) -> dict[str, Any]:
    return {"parents": parents_of(problem, structure.dag), "score": structure.score}


def _from(problem: Problem, improver: Improver, state: dict[str, Any]) -> Any:
    return type(improver.best)(problem.dag(state["parents"]), state["score"])


def _crew(problem: Problem, improver: Improver) -> dict[str, Any] | None:
    crew = improver._crew
    if crew is None:
        return None
    where, known = crew.place()
    return {
        "base": _structure(problem, improver._base),
        "max_bytes": improver._crew_bytes,
        "where": where,
        "known": known,
        "listed": [one.n_listed for one in improver._all_lists],
    }


def _restore_crew(improver: Improver, state: dict[str, Any]) -> None:
    problem = improver._problem
    improver._crew_bytes = state["max_bytes"]
    improver._make_crew(_from(problem, improver, state["base"]))
    crew = improver._crew
    assert crew is not None
    with improver._scorer.refusals():
        for one, n_listed in zip(improver._all_lists, state["listed"], strict=True):
            while one.n_listed < n_listed:
                for child, sets in one.list_next(math.inf).items():
                    improver._sets[child] = sets
                    crew.add_sets(child, sets.scores, sets.offsets, sets.members)
        improver._lists = [one for one in improver._all_lists if not one.is_done]
        where = _tuples(state["where"])
        if not crew.restore(where, state["known"], improver._crew_threads, problem.seconds_left):
            improver._crew = None  # the time is up


def _orders(problem: Problem, improver: Improver) -> dict[str, Any] | None:
    if improver._orders is None:
        return None
    dag, orders = improver._orders
    return {
        "dag": parents_of(problem, dag),
        "made_of": parents_of(problem, improver._orders_made_of),
        "places": orders.places(),
    }


def _restore_orders(improver: Improver, state: dict[str, Any]) -> None:
    problem = improver._problem
    if improver._crew is None:
        return
    orders: Orders = improver._new_orders(problem.dag(state["made_of"]))
    orders.restore(state["places"])
    improver._orders = (problem.dag(state["dag"]), orders)


def _restored_reinsertion(
    problem: Problem, improver: Improver, state: dict[str, Any]
) -> ReinsertionTurns:
    climb = HillClimb(reinsert=False)
    walk = walk_for(climb, problem.within(math.inf, start=improver.best.dag), remember=True)
    walk.recall(state["walk"])
    walk.prepare()
    walk.go_on(state["walk"])
    turns = ReinsertionTurns(walk)
    turns.restore(state)
    return turns


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
