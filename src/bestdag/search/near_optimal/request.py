"""The request: how many, how near, classes or structures; and whether scores allow it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bestdag.errors import InvalidParameterError, bad_setting, require_count, require_flag
from bestdag.graph._names import arc_text
from bestdag.scores.bd import BD
from bestdag.scores.bde import BDe
from bestdag.scores.bdeu import BDeu
from bestdag.scores.bic import BIC
from bestdag.scores.k2 import K2
from bestdag.scores.local_scores import LocalScores
from bestdag.scores.prior import UniformPrior
from bestdag.scores.table import ScoreTable
from bestdag.wording import arg, by_reader, count_of

__all__ = ["NearOptimal", "about_file", "bayes_factors_of", "refuse_classes"]

# Scores whose differences are logarithms of Bayes factors, the last about.
_LOG_EVIDENCE = (K2, BD, BDe, BDeu, BIC)
# Files often have six digits behind the point, and scores of thousands.
_TOLERANCE = 1e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class NearOptimal:
    """Structures to list beside the best, each proved to be among the best.

    Parameters
    ----------
    k : int, optional
        So many structures, the best there are.
    per_class : bool, optional
        List one structure for each class of equivalent ones; the score must be the same for all
        members. False unless given, and True with `within`.
    within : float, optional
        List all that score no less than the best minus so many nats: of Bayes factor
        ``exp(within)`` or less, where the score is a log marginal likelihood or BIC. `k` limits
        their number.
    ties : bool, default False
        List all structures that tie with the best.

    Raises
    ------
    InvalidParameterError
        None of `k`, `within` and `ties`; `within` and `ties` together; a number out of range.

    Notes
    -----
    The list takes an exact search, and its structures are proved to be the best: none is missing in
    between. Structures of one class imply the same independences, so with a score that is equal for
    them `per_class` says more with fewer entries.

    References
    ----------
    .. [1] Kass and Raftery (1995). "Bayes factors." JASA 90: a factor below 3, ``within=1.1``, is
       "not worth more than a bare mention".

    Examples
    --------
    >>> NearOptimal(within=1.1)
    NearOptimal(k=None, per_class=True, within=1.1, ties=False)
    >>> NearOptimal.of(10) == NearOptimal(k=10)
    True
    """

    k: int | None = None
    per_class: bool | None = None
    within: float | None = None
    ties: bool = False

    def __post_init__(self) -> None:
        if self.k is not None:
            require_count("NearOptimal", "k", self.k, minimum=1, option="--k-best")
        require_flag("NearOptimal", "ties", self.ties)
        if self.within is not None:
            object.__setattr__(self, "within", _nats(self.within))
            if self.ties:
                raise InvalidParameterError(
                    f"NearOptimal: {arg('ties')} and {arg('within')} exclude each other; leave "
                    "out one"
                )
        if self.k is None and self.within is None and not self.ties:
            raise InvalidParameterError(
                f"NearOptimal: which structures? Give {by_reader('k', '--k-best')}, "
                f"{arg('within')} or {arg('ties')}"
            )
        if self.per_class is None:
            object.__setattr__(self, "per_class", self.within is not None)
        require_flag("NearOptimal", "per_class", self.per_class)

    @classmethod
    def of(cls, near_optimal: NearOptimal | int | None) -> NearOptimal | None:
        """Return the value of an argument, whose number alone is `k`."""
        if near_optimal is None or isinstance(near_optimal, cls):
            return near_optimal
        if isinstance(near_optimal, int) and not isinstance(near_optimal, bool):
            return cls(k=near_optimal)
        raise bad_setting("learn", "near_optimal", "a number or a NearOptimal", near_optimal)

    @property
    def nats(self) -> float | None:
        """How far below the best a structure may be; None where only their number counts."""
        return 0.0 if self.ties else self.within


def _nats(value: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0.0 <= number < math.inf or isinstance(value, bool):
        raise bad_setting("NearOptimal", "within", "a finite number of nats >= 0", value)
    return number


def refuse_classes(scores: LocalScores) -> None:
    """Refuse classes where equivalent structures may score differently."""
    if isinstance(scores, ScoreTable):
        return  # looked at once the sets are there
    if not scores.score.is_score_equivalent:
        _refuse(f"{scores.score.name} gives equivalent structures different scores")
    prior = scores.structure_prior
    if prior is not None and not prior.is_score_equivalent:
        _refuse("the structure prior gives equivalent structures different probabilities")


def _refuse(why: str) -> None:
    raise InvalidParameterError(
        f"learn: classes need a score that is the same for all members, and {why}; pass "
        f"{arg('per_class', False)} for single structures"
    )


def bayes_factors_of(scores: LocalScores) -> tuple[bool, str | None]:
    """Say whether differences of scores are log Bayes factors, and why if not."""
    if isinstance(scores, ScoreTable):
        return False, "no Bayes factors: a file of local scores does not say what its scores are"
    if not isinstance(scores.score, _LOG_EVIDENCE):
        name = scores.score.name
        return False, f"no Bayes factors: {name} is neither a log marginal likelihood nor BIC"
    if scores.structure_prior is not None and not isinstance(scores.structure_prior, UniformPrior):
        return False, "no Bayes factors: the score has a prior over structures in it"
    return True, None


def about_file(table: ScoreTable, *, is_checked: bool) -> str:
    """Say what a list from a file is worth; with `is_checked`, refuse one that has no classes."""
    size = _whole_up_to(table)
    if size is None:
        text = (
            "these are the best among the sets of the file; it does not list all, and files leave "
            "out sets that a subset beats, as a rule, which other near-optimal structures have"
        )
    else:
        text = f"the file lists every set of up to {count_of(size, 'parent')}"
    if is_checked:
        n_checked = _require_equal_members(table)
        text += f"; {count_of(n_checked, 'arc')} that may be turned within a class keep the score"
    return text


def _whole_up_to(table: ScoreTable) -> int | None:
    """Return the number of parents up to which every set is listed, if there is one for all."""
    n = table.n_variables
    sizes = {len(table.child(i)) for i in range(n)}
    if len(sizes) > 1:
        return None
    (listed,) = sizes
    total = 0
    for size in range(n):
        total += math.comb(n - 1, size)
        if total == listed:
            return size
        if total > listed:
            return None
    return None


def _require_equal_members(table: ScoreTable) -> int:
    """Turn every covered arc that the sets of the file allow, and refuse a change of the score.

    With Z besides, ``x | Z`` and ``y | Z, x`` must score as much as ``y | Z`` and ``x | Z, y``.
    """
    scores = [
        {frozenset(parents): score for score, parents in table.child(i)}
        for i in range(table.n_variables)
    ]
    n_checked = 0
    for y, mine in enumerate(scores):
        for parents, score in mine.items():
            for x in parents:
                rest = parents - {x}
                other = scores[x]
                turned = other.get(rest | {y})
                if x > y or turned is None or rest not in mine or rest not in other:
                    continue
                n_checked += 1
                one, two = score + other[rest], turned + mine[rest]
                if abs(one - two) > _TOLERANCE * max(1.0, 1e-3 * abs(one)):
                    arc = arc_text(table.names[x], table.names[y])
                    changes = f"changes it from {one:.6g} to {two:.6g}"
                    _refuse(f"in this file turning the arc {arc} {changes}")
    return n_checked
