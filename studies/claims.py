"""Claims of papers, and whether they hold: intervals of statistics against what was claimed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from studies.sections import Table

__all__ = [
    "AS_ABOVE",
    "Claim",
    "Interval",
    "Verdict",
    "all_of",
    "bootstrap_interval",
    "difference_interval",
    "is_above",
    "is_below",
    "mean_interval",
    "share_interval",
    "verdict_table",
]

Verdict = Literal["holds", "does not hold", "cannot be told"]
_N_RESAMPLES = 2000
_Z = 1.959963984540054  # of the normal distribution, for 95 %


@dataclass(frozen=True, slots=True)
class Claim:
    """What a paper says, and what these rows say of it.

    Attributes
    ----------
    name : str
        Such as R1.
    where : str
        Section or figure of the paper.
    text : str
        The claim in our words.
    verdict : {"holds", "does not hold", "cannot be told"}
    statistic : str
        The numbers it was decided by.
    reason : str
        The rule, and what it gave.
    """

    name: str
    where: str
    text: str
    verdict: Verdict
    statistic: str
    reason: str


@dataclass(frozen=True, slots=True)
class Interval:
    """A statistic with its 95 % interval; without values, all numbers are possible."""

    value: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        if self.n == 0:
            return "no trials"
        if not math.isfinite(self.low):
            return f"{self.value:.3g} (one trial)"
        return f"{self.value:.3g} ({self.low:.3g} to {self.high:.3g}, n = {self.n})"


def mean_interval(values: Iterable[float], level: float = 0.95) -> Interval:
    """Return the mean with the interval of Student's distribution, 95 % unless given.

    Examples
    --------
    >>> print(mean_interval([1.0, 2.0, 3.0]))
    2 (-0.484 to 4.48, n = 3)
    """
    given = np.fromiter(values, np.float64)
    n = len(given)
    if n == 0:
        return Interval(math.nan, -math.inf, math.inf, 0)
    mean = float(given.mean())
    if n == 1:
        return Interval(mean, -math.inf, math.inf, 1)
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, (1 + level) / 2)) * float(given.std(ddof=1)) / math.sqrt(n)
    return Interval(mean, mean - half, mean + half, n)


def difference_interval(some: Iterable[float], others: Iterable[float]) -> Interval:
    """Return the mean of some values minus that of others, which are not paired with them.

    The interval is Welch's; `n` is the smaller number of values.

    Examples
    --------
    >>> print(difference_interval([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]))
    0 (-2.27 to 2.27, n = 3)
    """
    given = [np.fromiter(values, np.float64) for values in (some, others)]
    n = min(map(len, given))
    if n == 0:
        return Interval(math.nan, -math.inf, math.inf, 0)
    apart = float(given[0].mean() - given[1].mean())
    if n == 1:
        return Interval(apart, -math.inf, math.inf, 1)
    from scipy.special import stdtrit

    squares = [float(values.var(ddof=1)) / len(values) for values in given]
    whole = math.fsum(squares)
    if whole == 0:
        return Interval(apart, apart, apart, n)
    freedom = whole**2 / sum(s**2 / (len(v) - 1) for s, v in zip(squares, given, strict=True))
    half = float(stdtrit(freedom, 0.975)) * math.sqrt(whole)
    return Interval(apart, apart - half, apart + half, n)


def bootstrap_interval(
    values: npt.ArrayLike,
    statistic: Callable[[npt.NDArray[np.float64]], float],
) -> Interval:
    """Return a statistic of independent units with the interval of 2,000 resamples of them.

    Each value is a unit, or a row of numbers of one: what belongs together stays together.

    Examples
    --------
    >>> found = bootstrap_interval([1.0, 2.0, 3.0, 4.0, 90.0], lambda v: float(np.median(v)))
    >>> found.value, found.low >= 1, found.high <= 90
    (3.0, True, True)
    """
    given = np.asarray(values, np.float64)
    n = len(given)
    if n == 0:
        return Interval(math.nan, -math.inf, math.inf, 0)
    value = float(statistic(given))
    if n == 1:
        return Interval(value, -math.inf, math.inf, 1)
    rng = np.random.default_rng(0)
    drawn = [statistic(given[rng.integers(n, size=n)]) for _ in range(_N_RESAMPLES)]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(value, float(low), float(high), n)


def share_interval(share: float, n: float) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share of n cases.

    Examples
    --------
    >>> [round(end, 6) for end in share_interval(0.8, 10)]
    [0.490162, 0.943318]
    """
    z2 = _Z * _Z
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z * math.sqrt(share * (1 - share) / n + z2 / (4 * n**2)) / (1 + z2 / n)
    return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))


def is_above(interval: Interval, threshold: float = 0.0) -> Verdict:
    """Say whether the statistic is above a threshold.

    Examples
    --------
    >>> is_above(Interval(2.0, 1.0, 3.0, 9)), is_above(Interval(0.5, -1.0, 2.0, 9))
    ('holds', 'cannot be told')
    """
    if interval.n == 0:
        return "cannot be told"
    if interval.low > threshold:
        return "holds"
    return "does not hold" if interval.high < threshold else "cannot be told"


def is_below(interval: Interval, threshold: float = 0.0) -> Verdict:
    """Say whether the statistic is below a threshold.

    Examples
    --------
    >>> is_below(Interval(2.0, 1.0, 3.0, 9))
    'does not hold'
    """
    turned = Interval(-interval.value, -interval.high, -interval.low, interval.n)
    return is_above(turned, -threshold)


def all_of(verdicts: Iterable[Verdict]) -> Verdict:
    """Say whether everything holds: nothing does when there is nothing.

    Examples
    --------
    >>> all_of(["holds", "cannot be told"]), all_of(["does not hold", "cannot be told"])
    ('cannot be told', 'does not hold')
    """
    given = set(verdicts)
    if "does not hold" in given:
        return "does not hold"
    return "holds" if given == {"holds"} else "cannot be told"


AS_ABOVE = "as above"


def verdict_table(
    found: Mapping[str, Sequence[Claim]],
    note: str = "",
    *,
    beside: str = AS_ABOVE,
    title: str = "How much the verdicts depend on these choices",
) -> Table:
    """Print the verdicts of each choice, and say in a sentence which of them are others.

    Parameters
    ----------
    found : mapping of str to sequence of Claim
        The same claims, in one order, for each choice.
    note : str
    beside : str
        The choice that the others are compared with.
    title : str
    """
    names = [claim.name for claim in found[beside]]
    cells = [[choice, *(claim.verdict for claim in claims)] for choice, claims in found.items()]
    changed = [
        f"{one.name} with {choice} ({first.verdict}: {one.verdict})"
        for choice, claims in found.items()
        for first, one in zip(found[beside], claims, strict=True)
        if one.verdict != first.verdict
    ]
    sentence = f"Verdicts that change: {'; '.join(changed)}." if changed else "No verdict changes."
    return Table(title, ["with", *names], cells, f"{note} {sentence}".strip())
