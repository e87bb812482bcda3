"""Where a score comes from, for people: the arithmetic of a family, what each arc adds."""

from __future__ import annotations

from dataclasses import dataclass

from bestdag.counts.family import FamilyCounts
from bestdag.graph.dag import Dag
from bestdag.scores.base import Score
from bestdag.scores.local_scores import LocalScores
from bestdag.tabular import Table, Tabular
from bestdag.wording import aligned

__all__ = ["Explanation", "arc_losses", "explain"]

# More configurations than this do not help a reader.
_MAX_SHOWN = 20


@dataclass(frozen=True, slots=True, eq=False)
class Explanation(Tabular):
    """A family's counts, the terms of its score and their sum; print it.

    Attributes
    ----------
    score : Score
        What scored the family.
    counts : FamilyCounts
        Its contingency table.
    terms : dict of str to float
        Named parts that add up to the value; empty for a score that names none.
    value : float
        The local score.
    """

    score: Score
    counts: FamilyCounts
    terms: dict[str, float]
    value: float

    def _table(self) -> Table:
        counts = self.counts
        condition = ", ".join(parent.name for parent in counts.parents) or "no parents"
        return Table(
            names=(*(parent.name for parent in counts.parents), *counts.child.states),
            rows=(
                (*(p.states[k] for p, k in zip(counts.parents, codes, strict=True)), *row.tolist())
                for codes, row in zip(counts.configurations, counts.table, strict=True)
            ),
            n_rows=counts.n_observed,
            n_labels=len(counts.parents),
            title=f"counts of {counts.child.name} given {condition}",
            notes=[
                *(f"{label}: {value:.9f}" for label, value in self.terms.items()),
                f"{self.score!r}: {self.value:.9f}",
            ],
        )

    def __str__(self) -> str:
        counts = self.counts
        condition = ", ".join(parent.name for parent in counts.parents) or "no parents"
        lines = [
            f"{self.score!r} of {counts.child.name} given {condition} (natural logarithms)",
            f"N = {counts.total:,}; r = {counts.arity} states; "
            f"{counts.n_observed:,} of q = {counts.n_configurations:,.15g} "
            f"configurations seen",
            *_table(counts),
            *(f"{label:<20}{value:>20.9f}" for label, value in self.terms.items()),
            f"{'score':<20}{self.value:>20.9f}",
        ]
        return "\n".join(lines)


def explain(score: Score, counts: FamilyCounts, log_prior: float | None = None) -> Explanation:
    """Work out a local score and its terms; a structure prior is a term of its own."""
    terms = dict(score.terms(counts)) if hasattr(score, "terms") else {}
    value = score.family(counts)
    if log_prior is not None:
        terms = {**(terms or {"data": value}), "structure prior": log_prior}
        value += log_prior
    return Explanation(score, counts, terms, value)


def _table(counts: FamilyCounts) -> list[str]:
    head = [[parent.name for parent in counts.parents] + list(counts.child.states)]
    for codes, row in zip(
        counts.configurations[:_MAX_SHOWN], counts.table[:_MAX_SHOWN], strict=True
    ):
        states = [p.states[code] for p, code in zip(counts.parents, codes, strict=True)]
        head.append(states + [f"{n:,}" for n in row.tolist()])
    lines = aligned(head, left=0)
    if counts.n_observed > _MAX_SHOWN:
        lines.append(f"... and {counts.n_observed - _MAX_SHOWN:,} more configurations")
    return lines


def arc_losses(scorer: LocalScores, dag: Dag) -> dict[tuple[str, str], float]:
    """Work out the score that is lost when one arc is left out and all others stay, in nats.

    Parameters
    ----------
    scorer : LocalScores
    dag : Dag
        Over the variables of the data.

    Returns
    -------
    dict of (parent, child) to float
        Below zero where the structure scores more without the arc.

    Examples
    --------
    >>> from bestdag import Scorer, read
    >>> data = read({"rain": ["no", "yes"] * 4, "wet": ["no", "yes"] * 4})
    >>> losses = arc_losses(Scorer(data, "ll"), Dag(["rain", "wet"], [("rain", "wet")]))
    >>> round(losses["rain", "wet"], 6)  # 8 log 2: rain says all about wet
    5.545177
    """
    families = sorted((child, parents) for child, parents in dag.families.items() if parents)
    smaller = [
        (child, tuple(other for other in parents if other != parent))
        for child, parents in families
        for parent in parents
    ]
    scores = iter(scorer.families([*families, *smaller]).tolist())
    whole = {child: next(scores) for child, _ in families}
    arcs = [(parent, child) for child, parents in families for parent in parents]
    return dict(sorted((arc, whole[arc[1]] - next(scores)) for arc in arcs))
