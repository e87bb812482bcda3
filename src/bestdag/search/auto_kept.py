"""Where the default search is, between two turns or within a long one, as plain values."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from bestdag.search.bound import Bound
from bestdag.search.exact.dp.engine import Forecast
from bestdag.search.exact.kept import table_from, table_state
from bestdag.search.order.improve import Structure
from bestdag.search.order.kept import parents_of

if TYPE_CHECKING:
    from bestdag.search.auto import _Run

__all__ = ["restore", "state_of"]

_PLAIN = (
    "_turn",
    "_turns",
    "_found_by",
    "_news_at",
    "_spent",
    "_share_for_bound",
    "_seconds_for_whole",
)


def state_of(run: _Run) -> dict[str, Any]:
    """Return what the run knows; lists of parent sets once they are complete."""
    return {
        **{name: getattr(run, name) for name in _PLAIN},
        "improver": run._improver.state(),
        "best": {"parents": parents_of(run._given, run._best.dag), "score": run._best.score},
        "bound": asdict(run._bound),
        "history": run._history,
        "began": list(run._began),
        "whole": None if run._whole is None else list(run._whole),
        # In the turn of the exact search they are in its own state.
        "table": None if run._table is None or run._turn is not None else table_state(run._table),
    }


def restore(run: _Run, state: dict[str, Any]) -> None:
    """Let a run that was not begun go on from a state."""
    for name in _PLAIN:
        setattr(run, name, state[name])
    run._improver.restore(state["improver"])
    best = state["best"]
    run._best = Structure(run._given.dag(best["parents"]), best["score"])
    run._bound = Bound(**state["bound"])
    run._history = [(seconds, score) for seconds, score in state["history"]]
    run._began.clear()
    run._began.extend(state["began"])
    run._whole = None if state["whole"] is None else Forecast(*state["whole"])
    if state["table"] is not None:
        run._take_table(table_from(run._given.names, state["table"]))
