"""What a search returns, and the values in it: what a proof covers, and what proves a bound."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from bestdag.counts.provider import RowsIn
from bestdag.errors import InvalidParameterError
from bestdag.graph.dag import Dag
from bestdag.search.arc_weights import ArcWeights
from bestdag.search.rung import Coverage, Rung, is_useful, proved_up_to
from bestdag.search.structures import Structures
from bestdag.search.ties import tie_width
from bestdag.wording import count_of

__all__ = ["BoundKind", "BoundSource", "Limits", "SearchResult", "Status", "Step"]

Status = Literal["optimum proved", "local optimum", "step limit", "time limit", "interrupted"]


class Step(NamedTuple):
    """One step of a search: what was done, what it gained, and the score after it."""

    move: str
    gain: float
    score: float


Family = tuple[str, frozenset[str]]

# Families that are named as exceptions.
_MOST_EXEMPT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The class of structures that a status and a bound are about.

    Attributes
    ----------
    max_parents : int or None
        At most so many parents for every variable; None where that is no limit.
    support : float
        At least so many rows for each occupied cell of every family's table, see `Support`; 0
        where that is no limit.
    has_statements : bool
        Whether statements of the user had to be obeyed.
    has_skeleton : bool
        Whether arcs could run along the links of a skeleton only.
    exempt : tuple of (str, frozenset of str)
        Families, as child and parents, that lack support and that the user requires.
    """

    max_parents: int | None = None
    support: float = 0.0
    has_statements: bool = False
    has_skeleton: bool = False
    exempt: tuple[Family, ...] = ()

    def with_at_most(self, max_parents: int) -> Limits:
        """Return the class of those structures of this one with at most so many parents."""
        return replace(self, max_parents=max_parents)

    def words(self) -> str:
        """Say which structures were looked at.

        Examples
        --------
        >>> Limits().words()
        'all networks'
        >>> Limits(max_parents=3).words()
        'all networks with at most 3 parents per variable'
        >>> Limits(support=5).words()
        'all networks with at least 5 rows per table cell on average'
        >>> Limits(has_statements=True).words()
        'all networks that satisfy your constraints'
        """
        parts = []
        if self.max_parents is not None:
            parts.append(f"at most {count_of(self.max_parents, 'parent')} per variable")
        if self.support:
            parts.append(f"at least {count_of(self.support, 'row')} per table cell on average")
        text = "all networks"
        if self.has_statements:
            text += " that satisfy your constraints"
        if self.has_skeleton:
            text += " within the skeleton"
        return f"{text} with {' and '.join(parts)}" if parts else text

    def words_on(self, exempt: Sequence[Family]) -> str:
        """Say which families were allowed without support.

        Examples
        --------
        >>> Limits(support=5).words_on([("wet", frozenset({"sun", "rain"}))])
        "required, although fewer than 5 rows per table cell: 'wet' given rain, sun"
        """
        names = [f"{child!r} given {', '.join(sorted(parents))}" for child, parents in exempt]
        shown = "; ".join([*names[:_MOST_EXEMPT], *(["..."] if len(names) > _MOST_EXEMPT else [])])
        least = f"{count_of(self.support, 'row')} per table cell"
        return f"required, although fewer than {least}: {shown}"


BoundKind = Literal[
    "none",
    "best local scores",
    "joint likelihood",
    "relaxation",
    "best listed",
    "exact search",
    "proof",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundSource:
    """What proves a bound.

    Attributes
    ----------
    kind : str
        "best local scores": their sum over the variables; "joint likelihood": what no distribution
        over all variables exceeds; "relaxation": linear programs over parent sets; "best listed":
        the best structure among sets some of which stand for many; "exact search": one that was
        not finished; "proof": one that was; "none": nothing does.
    n_sets : int
        Parent sets of a relaxation.
    has_open_sets : bool
        Whether some of these stand for all larger ones.
    n_solved, n_variables : int
        How many of the variables are in components that were solved to optimality.
    reason : str
        Why there is none.
    """

    kind: BoundKind
    n_sets: int = 0
    has_open_sets: bool = False
    n_solved: int = 0
    n_variables: int = 0
    reason: str = ""

    def words(self) -> str:
        """Say it in words.

        Examples
        --------
        >>> BoundSource(kind="relaxation", n_sets=1200, has_open_sets=True).words()
        'linear programs over 1,200 parent sets, some for all larger ones'
        >>> BoundSource(kind="none", reason="there was no time for one").words()
        'there was no time for one'
        """
        over = f"{self.n_sets:,} parent sets"
        if self.has_open_sets:
            over += ", some for all larger ones"
        match self.kind:
            case "none":
                return self.reason
            case "best local scores":
                return "the sum of the best local scores"
            case "joint likelihood":
                return "the likelihood of the joint distribution"
            case "best listed":
                return f"the best choice among {over}"
            case "exact search":
                return "exact search"
            case "proof":
                return "all components solved to optimality"
            case "relaxation" if self.n_solved:
                solved = f"components with {self.n_solved} of {self.n_variables} variables"
                return f"linear programs over {over}; {solved} solved to optimality"
            case "relaxation":
                return f"linear programs over {over}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SearchResult:
    """A structure, its score, and what is proved about it.

    Attributes
    ----------
    dag : Dag
        The best structure of the search.
    score : float
        Natural logarithm; higher is better.
    bound : float or None
        No structure scores more than this (within `resolution`); None where nothing is proven.
    bound_source : BoundSource or None
        What proves the bound, or why there is none; None where none was computed.
    status : str
        "optimum proved", "local optimum", "step limit", "time limit" or "interrupted".
    search : str
        Name of the search.
    engine : str or None
        The engine that did it, for searches that have several.
    seconds : float
        Wall-clock time, of all parts of a run that was resumed.
    settings : mapping
        Settings of the search.
    resolution : float
        What the arithmetic of a proof can hide, in nats.
    certificates : tuple
        What a check of the bound needs, in a form of the engine's own.
    trace : tuple of Step
        The steps of the search from its first structure on, for searches that take steps.
    notes : tuple of str
        What a reader should know: which search was chosen and why, say.
    weights : ArcWeights or None
        What each arc alone is worth, for searches that choose among trees; None where there are
        thousands of variables and a limit came before any arc was scored.
    n_rows : float or None
        Rows of the data, or their weights together; None where they are not known, or the score is
        a mean over rows.
    is_among_listed : bool
        Whether structure and bound are those of a file of local scores, among its sets alone.
    among : str or None
        "trees", "tan" or "naive bayes": the structure is the best of these, unless a limit came
        first, and the first note says of which exactly. `status` and `bound` are about all
        structures.
    limits : Limits
        What left structures out; `status` and `bound` are about the others.
    structures : Structures or None
        The near-optimal structures, this one first, where they were requested.
    rows_in : str or None
        "memory", "disk" or "cluster": where the rows were; None without data.
    passes : int
        How often all rows were read, where they are not in memory.
    peak_bytes : int or None
        The most memory this process had, as it was looked up during the work; files that are
        mapped are left out. None where it is not known.
    workers : int
        How many processes held rows.
    resumed_seconds : float
        The part of `seconds` before the run was resumed.
    ladder : tuple of Rung
        What is known of the structures with at most 1, 2, 3, ... parents per variable, where the
        search works from below, as "auto" does; a last rung without a number is about all.
    empty_score : float or None
        Of the structure without arcs; None where it is not known, as in a file of local scores.
    """

    dag: Dag
    score: float
    bound: float | None = None
    bound_source: BoundSource | None = None
    status: Status
    search: str
    engine: str | None = None
    seconds: float
    settings: Mapping[str, Any] = field(default_factory=dict)
    resolution: float = 0.0
    certificates: tuple[Any, ...] = ()
    trace: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()
    weights: ArcWeights | None = None
    n_rows: float | None = None
    is_among_listed: bool = False
    among: str | None = None
    limits: Limits = field(default_factory=Limits)
    structures: Structures | None = None
    rows_in: RowsIn | None = None
    passes: int = 0
    peak_bytes: int | None = None
    workers: int = 1
    resumed_seconds: float = 0.0
    ladder: tuple[Rung, ...] = ()
    empty_score: float | None = None

    @property
    def proved(self) -> Coverage:
        """What a proof covers: no structure of that class scores more than this one.

        "all" is every structure that the limits of the search admit; a number k those in which
        every variable has at most k parents, of which this one may have more; None is nothing.
        """
        return "all" if self.is_proved else proved_up_to(self.score, self.ladder)

    @property
    def gain(self) -> float | None:
        """What the structure scores more than the one without arcs; None where it is not known."""
        if self.empty_score is None or not math.isfinite(self.empty_score):
            return None
        return self.score - self.empty_score

    @property
    def gap(self) -> float | None:
        """``bound - score`` in nats: how far from optimal the structure may be.

        Examples
        --------
        >>> result = SearchResult(
        ...     dag=Dag(["a"]), score=-20.0, bound=-18.5, status="time limit", search="exact",
        ...     seconds=60.0, n_rows=500,
        ... )
        >>> result.gap, result.gap_per_row
        (1.5, 0.003)
        """
        return None if self.bound is None else max(0.0, self.bound - self.score)

    @property
    def gap_per_row(self) -> float | None:
        """The gap divided by the number of rows; None where either is not known."""
        return None if self.gap is None or not self.n_rows else self.gap / self.n_rows

    @property
    def is_proved(self) -> bool:
        """Whether no structure scores more."""
        return self.status == "optimum proved"

    @property
    def was_interrupted(self) -> bool:
        """Whether Ctrl-C ended the search, or the listing of near-optimal structures."""
        listed = self.structures
        return "interrupted" in (self.status, None if listed is None else listed.status)

    def verify(self) -> bool:
        """Check the proof again, by independent slow code.

        Returns
        -------
        bool
            True; a proof that does not hold raises.

        Raises
        ------
        InvalidParameterError
            If the status is not "optimum proved", or the problem is too large for this check.
        VerificationError, CertificateError
            If the proof does not hold.

        Notes
        -----
        The certificate of branch and cut is checked in exact arithmetic. Dynamic programming leaves
        none: its components are solved again, by another recursion or by branch and cut. Both start
        from the scores of the listed parent sets, which are taken as they are.
        """
        if not self.is_proved:
            raise InvalidParameterError(f"verify: nothing is proved, status is '{self.status}'")
        for proof in self.certificates:
            proof.verify()
        return True

    def plot_trace(self, ax: Any = None) -> Any:
        """Draw the score after each step, the best so far and the bound; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; new axes by default.

        Returns
        -------
        Axes
        """
        from bestdag.plots import search_trace

        return search_trace(self, ax)

    def __str__(self) -> str:
        lines = [
            self.headline(),
            f"log score {self.score:.6f} (natural logarithm)",
            *self.claims(),
            *self.remarks(),
            str(self.dag),
            *(() if self.structures is None else (self.structures.summary(),)),
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<SearchResult: {self.summary()}>"

    def summary(self) -> str:
        """Say in one line how it ended, what it scores and how large the structure is."""
        arcs = count_of(len(self.dag.arcs), "arc")
        return f"{self.headline()}; {arcs}, log score {self.score:.6f}"

    def headline(self) -> str:
        """Say in words what was found, how, and how sure that is.

        Examples
        --------
        >>> SearchResult(
        ...     dag=Dag(["a"]), score=-20.0, status="local optimum", search="order", seconds=2.44
        ... ).headline()
        'good network found (order search, 2.4 s); not proved best'
        """
        name = f"{self.search} {self.engine or 'search'}"
        how = f"{name}, {_seconds(self.seconds)}"
        if self._says_what():
            return f"{self.notes[0]} ({how})"
        caveat = "" if self._reaches_bound() else "; not proved best"
        proved = self.proved
        if isinstance(proved, int) and self.most_parents <= proved:
            words = self.limits.with_at_most(proved).words()
            end = "; stopped early" if self.status == "interrupted" else ""
            return f"best of {words} (proved; {how}{end})"
        match self.status:
            case "optimum proved" if self.is_among_listed:
                return f"best network of the listed parent sets (proved; {how})"
            case "optimum proved":
                return f"best of {self.limits.words()} (proved; {how})"
            case "local optimum" if self.search == "exact":  # of the rounds of structural EM
                return f"best for the estimated counts ({how}); not proved for the data"
            case "local optimum":
                return f"good network found ({how}){caveat}"
            case "time limit":
                return f"best network found within the time limit ({how}){caveat}"
            case "step limit":
                return f"best network found within the step limit ({how}){caveat}"
            case "interrupted":
                return f"stopped early (Ctrl-C); best so far ({how})"

    @property
    def most_parents(self) -> int:
        """The largest number of parents in the structure."""
        return max((len(self.dag.parents(name)) for name in self.dag.nodes), default=0)

    def claims(self) -> tuple[str, ...]:
        """Say in words what is proved beyond the headline, and what more may be gained.

        One or two lines: how far the structure is above all that have fewer parents, or how much
        more at most those with some more parents may score; and a bound for all where it is useful
        (see `is_useful`). Empty when the structure is proved to be the best of all.

        Examples
        --------
        >>> rungs = (
        ...     Rung(max_parents=1, score=-900.0, bound=-900.0, is_proved=True),
        ...     Rung(max_parents=2, score=-612.5, bound=-608.0),
        ... )
        >>> result = SearchResult(
        ...     dag=Dag(["a", "b", "c"], [("a", "c"), ("b", "c")]), score=-612.5, bound=0.0,
        ...     status="time limit", search="order", seconds=1.0, n_rows=500, ladder=rungs,
        ...     empty_score=-1000.0,
        ... )
        >>> first, second = result.claims()
        >>> first
        'scores 287.5 more than any of the networks with at most 1 parent per variable can (proved)'
        >>> second.split("; ")  # doctest: +NORMALIZE_WHITESPACE
        ['with at most 2 parents the best log score is at most 4.5 higher
          (0.009 per row, 1.17 % of the gain over no arcs)',
         'for more parents no useful bound is known']
        """
        if self.is_proved:
            return ()
        lines, proved = [], self.proved
        if isinstance(proved, int) and self.most_parents > proved:
            bound = next(one.bound for one in self.ladder if one.max_parents == proved)
            assert bound is not None
            words = self.limits.with_at_most(proved).words().replace("all", "any of the", 1)
            lines.append(f"scores {_at_least(self.score - bound)} more than {words} can (proved)")
        if not self.ladder or is_useful(self.gap, self.gain):
            return (*lines, *([] if self.gap is None else [self.shortfall()]))
        rung = self._next_rung()
        if rung is not None:
            lines.append(f"{self._next_words(rung)}; for more parents no useful bound is known")
        elif isinstance(proved, int):
            lines.append("for more parents no useful bound is known")
        else:
            lines.append("no useful bound on the best score is known")
        return tuple(lines)

    def ladder_rows(self) -> list[tuple[str, ...]]:
        """Return the ladder as a table of texts, its head first; empty without a ladder."""
        if not self.ladder:
            return []
        head = ("parents", "best log score", "", "compared with this network", "sets", "seconds")
        return [head, *(self._rung_row(rung) for rung in self.ladder)]

    def _rung_row(self, rung: Rung) -> tuple[str, ...]:
        most = "any" if rung.max_parents is None else f"at most {rung.max_parents}"
        best = "" if rung.score is None else f"{rung.score:.6f}"
        engine = f" ({rung.engine})" if rung.engine else ""
        status = f"proved{engine}" if rung.is_proved else f"not proved{engine}"
        compared = "no bound"
        if rung.bound is not None:
            gap = rung.bound - self.score
            if abs(gap) <= tie_width(self.score):
                compared = "the same" if rung.is_proved else "none is better"
            elif gap < 0:
                compared = f"{_at_least(-gap)} lower" + ("" if rung.is_proved else " or more")
            else:
                compared = f"at most {_at_most(gap)} higher"
        return (most, best, status, compared, f"{rung.n_sets:,}", f"{rung.seconds:.2f}")

    def _next_rung(self) -> Rung | None:
        """Return the highest rung above what is proved whose bound is useful, or the lowest."""
        proved = self.proved
        least = proved if isinstance(proved, int) else 0
        bounded = [
            one
            for one in self.ladder
            if one.max_parents is not None and one.max_parents > least and one.bound is not None
        ]
        useful = [one for one in bounded if is_useful(self._gap_to(one), self.gain)]
        return useful[-1] if useful else next(iter(bounded), None)

    def _gap_to(self, rung: Rung) -> float:
        """Return how much more than this structure one of a rung may score."""
        assert rung.bound is not None
        return max(0.0, rung.bound - self.score)

    def _next_words(self, rung: Rung) -> str:
        """Say how much more the best structure of a rung may score."""
        gap = self._gap_to(rung)
        of = [] if not self.n_rows else [f"{_at_most(gap / self.n_rows)} per row"]
        if self.gain:
            of.append(f"{_at_most(100.0 * gap / self.gain)} % of the gain over no arcs")
        noted = f" ({', '.join(of)})" if of else ""
        parents = count_of(rung.max_parents or 0, "parent")
        return f"with at most {parents} the best log score is at most {_at_most(gap)} higher{noted}"

    def remarks(self) -> tuple[str, ...]:
        """Return the notes that the headline does not say, and what was made an exception."""
        notes = self.notes[1:] if self._says_what() else self.notes
        return (*notes, *self.bound_words(), *self.exceptions())

    def bound_words(self) -> tuple[str, ...]:
        """Say where the bound comes from, or why there is none."""
        source = self.bound_source
        if source is None or self.is_proved:
            return ()
        if source.kind == "none":
            return (f"no bound on the best score: {source.words()}",)
        return (f"bound on the best score: {source.words()}",)

    def exceptions(self) -> tuple[str, ...]:
        """Say which families of the structure were allowed without support."""
        exempt = [one for one in self.limits.exempt if one[1] == set(self.dag.parents(one[0]))]
        return (self.limits.words_on(exempt),) if exempt else ()

    def _says_what(self) -> bool:
        """Whether the first note says among which structures this one is the best."""
        return self.among is not None and self.status == "local optimum"

    def _reaches_bound(self) -> bool:
        """Whether the bound leaves nothing but rounding."""
        if self.bound is None or self.gap is None:
            return False
        return self.gap <= tie_width(self.bound)

    def shortfall(self) -> str:
        """Say in words how much higher a score may be; empty when the structure is proved best.

        Examples
        --------
        >>> result = SearchResult(
        ...     dag=Dag(["a"]), score=-20.0, bound=-7.66, status="time limit", search="order",
        ...     seconds=1.0, n_rows=5000,
        ... )
        >>> result.shortfall()
        'the best log score of all networks is at most 12.4 higher (0.00247 per row)'
        """
        if self.is_proved:
            return ""
        if self.gap is None:
            return "no bound on the best score"
        competitors = "all networks of the listed parent sets"
        if not self.is_among_listed:
            competitors = self.limits.words()
        if self._reaches_bound():
            return f"by the bound the best of {competitors}, up to rounding"
        text = f"the best log score of {competitors} is at most {_at_most(self.gap)} higher"
        if self.gap_per_row is not None and not self.is_among_listed:
            text += f" ({_at_most(self.gap_per_row)} per row)"
        return text


def _seconds(seconds: float) -> str:
    """Write a time with a few digits."""
    return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:,.1f} s"


def _at_least(value: float) -> str:
    """Write with four digits, or all before the point, rounded down."""
    if value <= 0 or not math.isfinite(value):
        return f"{value:g}"
    digits = max(0, 3 - math.floor(math.log10(value)))
    if digits > 300:
        return f"{value:g}"
    rounded = math.floor(value * 10.0**digits) / 10.0**digits
    return f"{rounded:,.0f}" if digits == 0 else f"{rounded:.4g}"


def _at_most(value: float) -> str:
    """Write with three digits, or all before the point, rounded up."""
    if value <= 0 or not math.isfinite(value):
        return f"{value:g}"
    digits = max(0, 2 - math.floor(math.log10(value)))
    if digits > 300:
        return f"{value:g}"
    # A number that is written with so many digits stays as it is.
    rounded = round(value, digits)
    if rounded < value:
        rounded = math.ceil(value * 10.0**digits) / 10.0**digits
    return f"{rounded:,.0f}" if digits == 0 else f"{rounded:.3g}"
