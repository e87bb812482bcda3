"""The first lines of the page: what was read, what was found and how sure it is, in plain words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from bestdag.data.dataset import Dataset
from bestdag.graph.dag import Dag
from bestdag.wording import count_of

if TYPE_CHECKING:
    from bestdag.incomplete.base import Treatment
    from bestdag.learned import Result

__all__ = ["TableRead", "certainty", "findings", "table_in_words", "title_of"]

_MOST_NAMES = 6
# The strongest dependencies: of so many variables, on so many others each.
_MOST_SENTENCES, _MOST_NEAR = 3, 3


@dataclass(frozen=True, slots=True)
class TableRead:
    """What the page says of a table that the rows do not say themselves.

    Attributes
    ----------
    name : str
        The file; empty where there is none.
    dropped : tuple of str
        Columns that were left out.
    """

    name: str = ""
    dropped: tuple[str, ...] = ()

    @classmethod
    def of(cls, result: Result) -> TableRead:
        """Return what `learn` was given."""
        source, dropped = result.asked.get("data"), result.asked.get("drop") or ()
        name = str(source) if isinstance(source, str | PurePath) else ""
        return cls(name, (dropped,) if isinstance(dropped, str) else tuple(dropped))


def title_of(dag: Dag, read: TableRead) -> str:
    """Return what the page is about."""
    size = f"{count_of(len(dag.nodes), 'variable')}, {count_of(len(dag.arcs), 'arc')}"
    return f"{PurePath(read.name).name}: {size}" if read.name else f"bestdag report: {size}"


def table_in_words(data: Dataset, read: TableRead, treatment: Treatment) -> list[str]:
    """Say how large the table is, and what was done to its columns."""
    size = f"{count_of(data.n_rows, 'row')}, {count_of(data.n_variables, 'column')}"
    if data.weights is not None:
        size += f"; weights of the rows add up to {data.total_weight:,}"
    lines = [f"{PurePath(read.name).name or 'Table'}: {size}."]
    binned = [variable.name for variable in data.variables if variable.cuts is not None]
    if binned:
        lines.append(f"Numeric columns binned: {_some(binned)}.")
    if read.dropped:
        lines.append(f"Dropped columns: {_some(read.dropped)}.")
    missing = data.missing_counts
    if missing:
        where = count_of(len(missing), "column")
        what = treatment.summary
        text = f"{count_of(sum(missing.values()), 'missing value')} in {where}"
        lines.append(f"{text}; {what}." if what else f"{text}.")
    elif treatment.summary and not treatment.keeps_missing:
        lines.append(f"{treatment.summary[0].upper()}{treatment.summary[1:]}, if there were any.")
    else:
        lines.append("No missing values.")
    return lines


def findings(
    dag: Dag,
    losses: Mapping[tuple[str, str], float] | None,
    compelled: Collection[tuple[str, str]],
) -> list[str]:
    """Say which dependencies are strongest, and which variables have none.

    Examples
    --------
    >>> dag = Dag(["a", "b", "c", "d"], [("a", "c"), ("b", "c")])
    >>> for line in findings(dag, {("a", "c"): 9.0, ("b", "c"): 12.0}, set(dag.arcs)):
    ...     print(line)
    c depends most on b and a.
    Direction determined for 2 of 2 arcs.
    Unconnected: d.
    """
    if not dag.arcs:
        return ["No dependencies found: by this score the variables are independent."]
    lines = _strongest(losses) if losses else []
    n_known = sum(arc in compelled for arc in dag.arcs)
    lines.append(f"Direction determined for {n_known:,} of {count_of(len(dag.arcs), 'arc')}.")
    alone = set(dag.nodes).difference(*dag.arcs)
    if alone:
        lines.append(f"Unconnected: {_some(sorted(alone))}.")
    return lines


def _strongest(losses: Mapping[tuple[str, str], float]) -> list[str]:
    """Name the variables with the strongest arcs, either way round, each among what is left."""
    left = {arc: loss for arc, loss in losses.items() if loss > 0}
    lines: list[str] = []
    while left and len(lines) < _MOST_SENTENCES:
        total: dict[str, float] = {}
        for arc, loss in left.items():
            for end in arc:
                total[end] = total.get(end, 0.0) + loss
        name = min(total, key=lambda end: (-total[end], end))
        near = sorted((arc for arc in left if name in arc), key=lambda arc: (-left[arc], arc))
        others = [parent if child == name else child for parent, child in near[:_MOST_NEAR]]
        lines.append(f"{name} depends most on {_listed(others)}.")
        for arc in near:
            del left[arc]
    return lines


def certainty(result: Result) -> str:
    """Say in one sentence whether there may be a better network."""
    if result.was_interrupted and not result.is_proved:
        return "Stopped early (Ctrl-C): the best network so far, not proved best."
    if result.treatment.has_expected_counts and result.search == "exact" and not result.is_proved:
        return "Best for the estimated counts; not proved for the data."
    if result.is_proved:
        if result.is_among_listed:
            return "Proved: no network made of the listed parent sets scores higher."
        return f"Proved: the best of {result.limits.words()}."
    proved = result.proved
    if isinstance(proved, int):
        words = result.limits.with_at_most(proved).words()
        if result.most_parents <= proved:
            return f"Proved: the best of {words}. With more parents a better one may exist."
        return f"Proved: better than {words}."
    if result.among is not None and result.status == "local optimum":
        kind = "tree" if result.among == "trees" else "network of this class"
        return f"No other {kind} scores higher; other networks may."
    if result.status == "time limit":
        return "Not proved: the time limit ended the search; a better network may exist."
    return "Not proved: a good network, but a better one may exist."


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMES])
    more = len(names) - _MOST_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
