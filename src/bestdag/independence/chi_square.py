"""What tests against the chi-square distribution share: degrees of freedom and the native test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bestdag import _core
from bestdag.counts.engine import CountingEngine
from bestdag.independence.base import DegreesOfFreedom, log_alpha, require_df
from bestdag.registry import setting

__all__ = ["ChiSquareTest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChiSquareTest:
    """Settings of degrees of freedom; a test adds its name and its statistic."""

    name: ClassVar[str]
    is_pearson: ClassVar[bool]

    df: DegreesOfFreedom = setting(
        "adjusted",
        "Degrees of freedom: from the states that occur in a stratum, or from all declared states.",
    )
    rows_per_df: float = setting(
        0.0, "Minimum number of rows per degree of freedom; with fewer, the link is kept."
    )

    def __post_init__(self) -> None:
        require_df(self.name.upper(), self.df, self.rows_per_df)

    def bind(self, counts: CountingEngine, alpha: float) -> _core.IndependenceTest:
        """Return the native test on a data set, at a level of significance."""
        return _core.IndependenceTest.of_rows(
            counts.table,
            pearson=self.is_pearson,
            adjusts_df=self.df == "adjusted",
            rows_per_df=self.rows_per_df,
            log_alpha=log_alpha(alpha),
            n_permutations=0,
            seed=0,
        )
