"""Structures listed by score: the best and those next to it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, overload

from bestdag.graph.dag import Dag
from bestdag.graph.pdag import Pdag
from bestdag.search.ties import is_better, tie_width
from bestdag.tabular import Table, Tabular
from bestdag.wording import count_of

__all__ = ["ListStatus", "Structure", "Structures"]

ListStatus = Literal["complete", "memory limit", "time limit", "interrupted"]


@dataclass(frozen=True, slots=True)
class Structure:
    """A structure and its score; where classes are listed, it stands for its class.

    Attributes
    ----------
    score : float
        Natural logarithm.
    names : tuple of str
        The variables.
    parents : tuple of tuple of int
        For each variable the numbers of its parents, ascending. The graph is made of them by `dag`:
        there may be very many structures.
    """

    score: float
    names: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, score: float, dag: Dag, names: tuple[str, ...] | None = None) -> Structure:
        """Make from a graph; its variables are numbered in name order, or as in `names`."""
        names = tuple(sorted(dag.nodes)) if names is None else names
        numbers = {name: i for i, name in enumerate(names)}
        parents = (tuple(sorted(numbers[p] for p in dag.parents(name))) for name in names)
        return cls(score, names, tuple(parents))

    @property
    def dag(self) -> Dag:
        """The structure."""
        names = self.names
        return Dag(names, [(names[p], names[c]) for c, g in enumerate(self.parents) for p in g])

    @property
    def cpdag(self) -> Pdag:
        """The class of the structure: arcs that all members have, edges for the others."""
        return self.dag.cpdag()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Structures(Sequence[Structure], Tabular):
    """The best structures, best first; an immutable list.

    Attributes
    ----------
    items : tuple of Structure
        What was found. They are the best there are, without one missing in between, wherever
        they score at least `rest`.
    rest : float or None
        Nothing that is not listed scores more; None where there is nothing else.
    status : str
        "complete" when all that was requested is listed; otherwise what came first: "memory limit",
        "time limit" or "interrupted".
    per_class : bool
        Whether each item stands for its class of equivalent structures.
    has_bayes_factors : bool
        Whether differences of scores are logarithms of Bayes factors: of log marginal likelihoods
        they are, and of BIC about.
    notes : tuple of str
        What a reader should know.
    """

    items: tuple[Structure, ...]
    rest: float | None
    status: ListStatus
    per_class: bool = False
    has_bayes_factors: bool = False
    notes: tuple[str, ...] = field(default=())

    @property
    def is_complete(self) -> bool:
        """Whether all that was requested is listed."""
        return self.status == "complete"

    @property
    def n_proved(self) -> int:
        """How many of the first items are proven to be the best there are."""
        if self.rest is None:
            return len(self.items)
        return sum(item.score >= self.rest - tie_width(self.rest) for item in self.items)

    def bayes_factor(self, number: int) -> float | None:
        r"""Return the Bayes factor of the best structure against one of the list.

        .. math:: \frac{P(D \mid S_0)}{P(D \mid S_k)} = e^{score_0 - score_k}

        where the score is a log marginal likelihood; about, where it is BIC. None for other scores
        (`has_bayes_factors`).

        Parameters
        ----------
        number : int
            The place in the list, from 0; the best itself has the factor 1, and so has one that
            rounding alone may tell from it.

        References
        ----------
        .. [1] Kass and Raftery (1995). "Bayes factors." JASA 90.

        Examples
        --------
        >>> one, other = Dag(["a", "b"], [("a", "b")]), Dag(["a", "b"])
        >>> listed = Structures(
        ...     items=(Structure.of(-10.0, one), Structure.of(-12.0, other)), rest=None,
        ...     status="complete", has_bayes_factors=True,
        ... )
        >>> round(listed.bayes_factor(1), 6), listed.difference(1)  # e^2
        (7.389056, 'without a -> b')
        """
        if not self.has_bayes_factors:
            return None
        best, score = self.items[0].score, self.items[number].score
        difference = best - score if is_better(best, score) else 0.0
        return math.exp(difference) if difference < 700 else math.inf

    @overload
    def __getitem__(self, number: int) -> Structure: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[Structure, ...]: ...
    def __getitem__(self, number: Any) -> Any:
        return self.items[number]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Structure]:
        return iter(self.items)

    def summary(self) -> str:
        """Say in one line what is listed, and how far that is proven."""
        noun = ("class", "classes") if self.per_class else ("structure", "structures")
        text = count_of(len(self), *noun)
        if self.items:
            text += f" within {_nats(self.items[0].score - self.items[-1].score)} of the best score"
        if not self.is_complete:
            text += f" ({self.status})"
        if self.n_proved < len(self):
            text += f"; the first {self.n_proved:,} are proved"
        if self.rest is None:
            return f"{text}; there are no others"
        if self.items and math.isfinite(self.rest):
            below, tie = self.items[0].score - self.rest, tie_width(self.rest)
            if self.rest >= self.items[-1].score - tie / 2:
                return f"{text}; others may tie with the last"
            if below <= 2 * tie:
                return f"{text}; all others score less"
            return f"{text}; all others score at least {_nats(below)} less than the best"
        return text

    def difference(self, number: int) -> str:
        """Say in words which links a structure has that the best has not, and which it lacks."""
        best, own = (_links(self[k], self.per_class) for k in (0, number))
        lost = [f"without {link}" for link in sorted(best - own)]
        new = [f"with {link}" for link in sorted(own - best)]
        return ", ".join([*new, *lost]) or ("the best" if number == 0 else "same links")

    def _table(self) -> Table:
        ratios = ("bayes_factor",) if self.has_bayes_factors else ()
        return Table(
            names=("number", "score", "below_best", *ratios, "arcs", "difference"),
            rows=(
                (
                    number,
                    item.score,
                    max(0.0, self.items[0].score - item.score),
                    *(self.bayes_factor(number) for _ in ratios),
                    sum(map(len, item.parents)),
                    self.difference(number),
                )
                for number, item in enumerate(self.items)
            ),
            n_rows=len(self.items),
            n_labels=1,
            title=self.summary(),
            notes=self.notes,
        )

    def __repr__(self) -> str:
        return f"<Structures: {self.summary()}>"


def _links(item: Structure, per_class: bool) -> set[str]:
    graph = item.cpdag if per_class else item.dag
    links = {f"{a} -> {b}" for a, b in graph.arcs}
    return links | {f"{a} - {b}" for a, b in getattr(graph, "edges", ())} if per_class else links


def _nats(value: float) -> str:
    return f"{max(0.0, value):.6g}"
