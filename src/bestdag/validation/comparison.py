"""What a cross-validation found: log losses with their errors, paired differences."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bestdag.errors import import_optional, unknown_name
from bestdag.evaluation.structures import StructureComparison
from bestdag.learned import Result
from bestdag.tabular import Table, Tabular, measures
from bestdag.wording import count_of

__all__ = ["CrossValidation", "MethodResult", "PairedDifference"]


@dataclass(frozen=True, slots=True)
class MethodResult(Tabular):
    """How one method did in every part.

    Attributes
    ----------
    label : str
    log_losses : tuple of float
        Mean of -ln P(row) over the rows held out, part by part, in nats.
    n_arcs, n_parameters : tuple of int
        Of the networks learned.
    n_proved : int
        In so many parts the structure is the proven optimum.
    seconds : float
        For learning, fitting and predicting all parts.
    n_parts_of_one : int
        k: the parts of one repeat.
    whole : Result or None
        What was learned from all rows; None from `cross_validate`, which learns from parts alone.
    comparison : StructureComparison or None
        Of that with the true structure.
    """

    label: str
    log_losses: tuple[float, ...]
    n_arcs: tuple[int, ...]
    n_parameters: tuple[int, ...]
    n_proved: int
    seconds: float
    n_parts_of_one: int
    whole: Result | None = field(default=None, compare=False)
    comparison: StructureComparison | None = field(default=None, compare=False)

    @property
    def log_loss(self) -> float:
        """Mean over the parts, in nats per row; infinite if a row held out has probability zero."""
        return _mean(self.log_losses)

    @property
    def standard_error(self) -> float:
        r"""Standard error of the log loss, :math:`s\sqrt{1/J + 1/(k-1)}`; see `cross_validate`."""
        return _standard_error(self.log_losses, self.n_parts_of_one)

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the log loss, by Student's distribution."""
        return _interval(self.log_loss, self.standard_error, len(self.log_losses))

    def _table(self) -> Table:
        return Table(
            names=("part", "log_loss", "arcs", "parameters"),
            rows=zip(
                range(len(self.log_losses)),
                self.log_losses,
                self.n_arcs,
                self.n_parameters,
                strict=True,
            ),
            n_rows=len(self.log_losses),
            n_labels=1,
            title=self.label,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold: None for what is infinite."""
        return {
            "label": self.label,
            "log_loss": _finite(self.log_loss),
            "standard_error": _finite(self.standard_error),
            "interval": [_finite(end) for end in self.interval],
            "log_losses": [_finite(loss) for loss in self.log_losses],
            "n_arcs": list(self.n_arcs),
            "n_parameters": list(self.n_parameters),
            "n_proved": self.n_proved,
            "seconds": self.seconds,
        }


@dataclass(frozen=True, slots=True)
class PairedDifference(Tabular):
    """The log loss of one method minus that of another, on the same rows.

    Parts that are hard are hard for both, so their difference varies less than either loss: two
    methods may differ clearly although their intervals overlap.

    Attributes
    ----------
    one, other : str
    mean, standard_error : float
        Below zero: the first is better.
    interval : (float, float)
        95 %, by Student's distribution.
    """

    one: str
    other: str
    mean: float
    standard_error: float
    interval: tuple[float, float]

    def _table(self) -> Table:
        low, high = self.interval
        values = {"difference": self.mean, "standard_error": self.standard_error}
        values |= {"low": low, "high": high}
        return measures(values, f"log loss of {self.one} minus that of {self.other}")

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "one": self.one,
            "other": self.other,
            "mean": _finite(self.mean),
            "standard_error": _finite(self.standard_error),
            "interval": [_finite(end) for end in self.interval],
        }


@dataclass(frozen=True, slots=True)
class CrossValidation(Tabular):
    """Methods compared on the same parts of one table.

    Attributes
    ----------
    methods : tuple of MethodResult
    n_rows, k, repeats, seed : int
    target : str or None
        The column whose states have equal shares in all parts.
    """

    methods: tuple[MethodResult, ...]
    n_rows: int
    k: int
    repeats: int
    seed: int
    target: str | None

    @property
    def best(self) -> MethodResult:
        """The method with the least log loss; ties go to the first."""
        return min(self.methods, key=lambda method: method.log_loss)

    def __getitem__(self, one: str) -> MethodResult:
        for method in self.methods:
            if method.label == one:
                return method
        raise unknown_name("method", one, [method.label for method in self.methods])

    def difference(self, one: str, other: str) -> PairedDifference:
        """Compare two methods by their labels, part by part.

        Raises
        ------
        UnknownNameError
            If there is no method of such a label.
        """
        a, b = self[one], self[other]
        # Where both are infinite nothing is known of the difference.
        differences = [
            math.nan if math.isinf(x) and math.isinf(y) else x - y
            for x, y in zip(a.log_losses, b.log_losses, strict=True)
        ]
        mean = _mean(differences)
        error = _standard_error(differences, self.k)
        return PairedDifference(one, other, mean, error, _interval(mean, error, len(differences)))

    def differences(self) -> tuple[PairedDifference, ...]:
        """Compare every method with the best one, in the order of `methods`.

        The best was chosen by these same numbers, so an interval that just excludes zero says less
        than for two methods named beforehand.
        """
        best = self.best
        return tuple(
            self.difference(method.label, best.label)
            for method in self.methods
            if method is not best
        )

    def _table(self) -> Table:
        return Table(
            names=("method", "log_loss", "standard_error", "low", "high", "arcs", "seconds"),
            rows=(
                (m.label, m.log_loss, m.standard_error, *m.interval, _mean(m.n_arcs), m.seconds)
                for m in self.methods
            ),
            n_rows=len(self.methods),
            n_labels=1,
            title=self._about(),
            notes=[
                f"{one.one} - {one.other}: {one.mean:.6f}, 95 % interval {one.interval[0]:.6f} to "
                f"{one.interval[1]:.6f}"
                for one in self.differences()
            ],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "rows": self.n_rows,
            "k": self.k,
            "repeats": self.repeats,
            "seed": self.seed,
            "target": self.target,
            "methods": [method.to_dict() for method in self.methods],
            "best": self.best.label,
            "differences": [one.to_dict() for one in self.differences()],
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the log loss of each method with its interval; needs matplotlib."""
        if ax is None:
            ax = import_optional("matplotlib.pyplot", who="plot", extra="plot").subplots()[1]
        shown = [method for method in self.methods if math.isfinite(method.log_loss)]
        places = range(len(shown))
        halves = [method.log_loss - method.interval[0] for method in shown]
        ax.errorbar([m.log_loss for m in shown], places, xerr=halves, fmt="o")
        ax.set_yticks(places, [method.label for method in shown])
        ax.set(xlabel="held-out log loss (nats per row)", title=self._about())
        return ax

    def _about(self) -> str:
        times = "" if self.repeats == 1 else f", {self.repeats} times"
        return f"{self.k}-fold cross-validation{times}, {count_of(self.n_rows, 'row')}"

    def __str__(self) -> str:
        width = max(len("method"), *(len(method.label) for method in self.methods))
        lines = [self._about(), f"{'method':<{width}}  {'log loss':>12}  {'s.e.':>10}  {'arcs':>6}"]
        lines += [
            f"{m.label:<{width}}  {m.log_loss:>12.6f}  {m.standard_error:>10.6f}  "
            f"{_mean(m.n_arcs):>6.1f}"
            for m in self.methods
        ]
        for one in self.differences():
            low, high = one.interval
            lines.append(
                f"{one.one} - {one.other}: {one.mean:.6f}, 95 % interval {low:.6f} to {high:.6f}"
            )
        return "\n".join(lines)


def _mean(values: Sequence[float]) -> float:
    if any(math.isinf(value) or math.isnan(value) for value in values):
        return math.nan if any(math.isnan(value) for value in values) else sum(values)
    return math.fsum(values) / len(values)


def _standard_error(values: Sequence[float], k: int) -> float:
    if not all(math.isfinite(value) for value in values):
        return math.nan
    return statistics.stdev(values) * math.sqrt(1 / len(values) + 1 / (k - 1))


def _interval(mean: float, error: float, n: int) -> tuple[float, float]:
    if not math.isfinite(error):
        return (-math.inf, math.inf)
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, 0.975)) * error
    return mean - half, mean + half


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
