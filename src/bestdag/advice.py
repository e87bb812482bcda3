"""What a user should hear first about what was learned: as values, before any detail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from bestdag.errors import RowsLostError
from bestdag.graph.size import n_parameters
from bestdag.wording import count_of, first_names

if TYPE_CHECKING:
    from bestdag.counts.engine import CountingEngine
    from bestdag.data.dataset import Dataset
    from bestdag.search.result import SearchResult

__all__ = ["Advice", "advice_on"]

# With so few rows a pair of two-valued columns has five rows in each of its four cells at most.
_FEW_ROWS = 20

Kind = Literal["nothing to learn", "more parameters than rows"]


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing to know before the structure is used.

    Attributes
    ----------
    kind : str
        "nothing to learn": the table cannot say anything about dependence; "more parameters than
        rows": the probabilities of the network would rest on next to nothing.
    text : str
        The same in a sentence, with what to do.
    """

    kind: Kind
    text: str


def advice_on(
    result: SearchResult, dataset: Dataset, counts: Callable[[], CountingEngine]
) -> tuple[Advice, ...]:
    """Return what should be said first about a structure and the rows it was learned from.

    `counts` is asked for what counts the rows, with missing values among them or not.
    """
    advice = []
    empty = _nothing_to_learn(result, dataset, counts)
    if empty is not None:
        advice.append(Advice("nothing to learn", empty))
    n_rows = dataset.total_weight
    n = n_parameters(result.dag, dataset)
    if n > n_rows:
        advice.append(
            Advice(
                "more parameters than rows",
                f"more parameters than rows: {n:,} for {count_of(n_rows, 'row')}; do not rely on "
                "the probabilities: bin columns with many values, join rare values, or allow fewer "
                "parents",
            )
        )
    return tuple(advice)


def _nothing_to_learn(
    result: SearchResult, dataset: Dataset, counts: Callable[[], CountingEngine]
) -> str | None:
    n_rows = dataset.total_weight
    if len(dataset.names) == 1:
        return f"nothing to learn: {dataset.names[0]!r} is the only column"
    if n_rows <= _FEW_ROWS:
        rows = count_of(n_rows, "row")
        if result.dag.arcs:
            return f"next to nothing to learn from: do not rely on arcs found in {rows}"
        return f"nothing to learn: {rows} cannot show which columns depend on each other"
    if result.dag.arcs or result.status in ("interrupted", "time limit"):  # no time to count
        return None
    try:
        constant = _constant(dataset, counts())
    except RowsLostError:  # the structure was found before
        return None
    n_varied = len(dataset.names) - len(constant)
    if n_varied >= 2:
        return None
    varied = "no column varies" if n_varied == 0 else "only one column varies"
    return f"nothing to learn: {varied}; constant: {first_names(constant)}"


def _constant(dataset: Dataset, engine: CountingEngine) -> list[str]:
    """Return the columns in which the rows show one value or none."""
    counts = engine.count([(name, ()) for name in dataset.names])
    return [one.child.name for one in counts if int((one.table > 0).sum()) <= 1]
