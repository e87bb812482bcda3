"""What a test of conditional independence is, and what it says."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.engine import CountingEngine
from bestdag.errors import bad_setting, require_choice
from bestdag.graph._names import show

__all__ = [
    "REMARKS",
    "Independence",
    "IndependenceTest",
    "degrees_of_freedom",
    "log_alpha",
    "require_df",
]

# What native code remarks on an answer, in its order.
REMARKS = (
    "",
    "no degrees of freedom: nothing speaks against independence",
    "too few rows per degree of freedom: counted as dependent",
)

DegreesOfFreedom = Literal["adjusted", "declared"]


class IndependenceTest(Protocol):
    """A test of conditional independence: settings, a formula, and a native kernel.

    The formula in Python is the documentation and the reference; the kernel answers in bulk, from
    the rows of the data. A new test is a file in this package and a line in its list, and the
    contract tests compare both on random tables (`X2Test` is the shortest example).
    """

    @property
    def name(self) -> str:
        """Name in the list of tests."""
        ...

    def statistic(self, tables: npt.ArrayLike) -> tuple[float, float]:
        """Return the statistic and its degrees of freedom by the formula.

        `tables` are counts, strata x states of the one variable x states of the other; strata
        without rows may be left out when degrees of freedom are adjusted.
        """
        ...

    def bind(self, counts: CountingEngine, alpha: float) -> _core.IndependenceTest:
        """Return the native test on a data set, at a level of significance."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Independence:
    """A question of independence and the answer.

    Attributes
    ----------
    one, other : str
        The two variables, in name order.
    given : tuple of str
        The variables conditioned on.
    is_independent : bool
        The decision: the p-value is above the level of significance.
    statistic, df, log_p_value : float or None
        None where a graph or a list of statements answered. The logarithm is natural.
    remark : str
        What is odd about the answer; empty mostly.

    Examples
    --------
    >>> from math import log
    >>> answer = Independence(
    ...     one="A", other="B", given=(), is_independent=False, statistic=7.2, df=1.0,
    ...     log_p_value=log(0.0073),
    ... )
    >>> print(answer)
    I(A, B): dependent; statistic 7.2, df 1, p 0.0073
    """

    one: str
    other: str
    given: tuple[str, ...]
    is_independent: bool
    statistic: float | None = None
    df: float | None = None
    log_p_value: float | None = None
    remark: str = ""

    @property
    def p_value(self) -> float | None:
        """The p-value; 0 below the smallest double, where `log_p_value` still tells."""
        return None if self.log_p_value is None else math.exp(self.log_p_value)

    @property
    def question(self) -> str:
        """The statement in the notation of the field.

        Examples
        --------
        >>> Independence(one="A", other="B", given=("C", "D"), is_independent=True).question
        'I(A, B | C, D)'
        """
        condition = f" | {', '.join(map(show, self.given))}" if self.given else ""
        return f"I({show(self.one)}, {show(self.other)}{condition})"

    @property
    def numbers(self) -> str:
        """Statistic, degrees of freedom and p-value in words; empty for an oracle."""
        if self.statistic is None or self.df is None or self.log_p_value is None:
            return ""
        text = f"statistic {self.statistic:.6g}, df {self.df:g}, p {shown_p(self.log_p_value)}"
        return f"{text} ({self.remark})" if self.remark else text

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        made: dict[str, Any] = {
            "pair": [self.one, self.other],
            "given": list(self.given),
            "independent": self.is_independent,
        }
        if self.statistic is not None:
            made["statistic"], made["df"] = self.statistic, self.df
            made["p_value"], made["log_p_value"] = self.p_value, self.log_p_value
        if self.remark:
            made["remark"] = self.remark
        return made

    def __str__(self) -> str:
        answer = "independent" if self.is_independent else "dependent"
        return f"{self.question}: {answer}" + (f"; {self.numbers}" if self.numbers else "")


def shown_p(log_p: float) -> str:
    """Write a p-value with four digits, also one that a double cannot hold.

    Examples
    --------
    >>> shown_p(-0.1), shown_p(-2000.0)
    ('0.9048', '2.577e-869')
    """
    if log_p > -600:
        return f"{math.exp(log_p):.4g}"
    power = math.floor(log_p / math.log(10))
    return f"{math.exp(log_p - power * math.log(10)):.3f}e{power}"


def log_alpha(alpha: float, *, who: str = "pc") -> float:
    """Return ln of a level of significance, refusing what is none."""
    is_number = isinstance(alpha, (int, float, np.integer, np.floating))
    if isinstance(alpha, bool) or not is_number or not 0 < alpha < 1:
        raise bad_setting(who, "alpha", "a number between 0 and 1, both excluded", alpha)
    return math.log(alpha)


def require_df(who: str, df: str, rows_per_df: float) -> None:
    """Refuse settings of degrees of freedom outside their range."""
    require_choice(who, "df", df, ("adjusted", "declared"))
    is_number = isinstance(rows_per_df, (int, float, np.integer, np.floating))
    if isinstance(rows_per_df, bool) or not is_number or not 0 <= rows_per_df < math.inf:
        raise bad_setting(who, "rows_per_df", "a finite number >= 0", rows_per_df)


def degrees_of_freedom(tables: npt.NDArray[Any], df: str) -> float:
    """Sum the degrees of freedom over the strata.

    Adjusted: in a stratum only states that occur there count. Declared: all do, in every stratum.
    """
    strata, n_one, n_other = tables.shape
    if df == "declared":
        return float(strata * (n_one - 1) * (n_other - 1))
    n_rows = (tables.sum(2) > 0).sum(1)
    n_columns = (tables.sum(1) > 0).sum(1)
    return float((np.maximum(n_rows - 1, 0) * np.maximum(n_columns - 1, 0)).sum())
