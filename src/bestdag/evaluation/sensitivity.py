"""How much the score of a structure depends on the prior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bestdag.data.readers import as_dataset
from bestdag.errors import InvalidParameterError
from bestdag.graph.dag import Dag
from bestdag.plots.axes import axes_for
from bestdag.scores.max_bdeu import MaxBDeu
from bestdag.scores.min_bdeu import MinBDeu
from bestdag.scores.scorer import Scorer
from bestdag.tabular import Table, Tabular, measures

__all__ = ["Sensitivity", "SensitivityGrid", "sensitivity"]


@dataclass(frozen=True, slots=True)
class Sensitivity(Tabular):
    """The least and the greatest BDeu score of a structure over a set of priors.

    Attributes
    ----------
    ess, epsilon : float
        Of the priors: epsilon is the share that may be anything.
    min_bdeu, max_bdeu : float
        The scores of `MinBDeu` and `MaxBDeu`; BDeu of the same ess is between them.
    """

    ess: float
    epsilon: float
    min_bdeu: float
    max_bdeu: float

    @property
    def difference(self) -> float:
        """Max-BDeu minus Min-BDeu: the logarithm of the ratio of both probabilities."""
        return self.max_bdeu - self.min_bdeu

    @property
    def relative(self) -> float:
        """The difference divided by the size of Min-BDeu."""
        return self.difference / abs(self.min_bdeu) if self.min_bdeu else 0.0

    def _table(self) -> Table:
        return measures(self.to_dict(), "sensitivity to the prior")

    def to_dict(self) -> dict[str, float]:
        """Return all numbers."""
        names = ("ess", "epsilon", "min_bdeu", "max_bdeu", "difference", "relative")
        return {name: getattr(self, name) for name in names}

    def plot(self, ax: Any = None) -> Any:
        """Draw the scores that priors of the set can give; needs matplotlib."""
        ax = axes_for(ax, "plot")
        ax.plot([self.min_bdeu, self.max_bdeu], [0, 0], marker="|", markersize=20)
        ax.set_yticks([])
        ax.set(xlabel="BDeu (nats)", title=f"ess {self.ess:g}, epsilon {self.epsilon:g}")
        return ax

    def __str__(self) -> str:
        return (
            f"Max-BDeu - Min-BDeu = {self.difference:.6f} nats, {self.relative:.6f} of |Min-BDeu| "
            f"(ess {self.ess:g}, epsilon {self.epsilon:g})"
        )


@dataclass(frozen=True, slots=True)
class SensitivityGrid(Tabular):
    """The sensitivity for several values of ess and epsilon: all of their combinations.

    Attributes
    ----------
    points : tuple of Sensitivity
        All points of the first ess first.
    """

    points: tuple[Sensitivity, ...]

    def _table(self) -> Table:
        names = ("ess", "epsilon", "min_bdeu", "max_bdeu", "difference", "relative")
        return Table(
            names=names,
            rows=([getattr(point, name) for name in names] for point in self.points),
            n_rows=len(self.points),
            title="sensitivity to the prior",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {"points": [point.to_dict() for point in self.points]}

    def plot(self, ax: Any = None) -> Any:
        """Draw the difference over epsilon, a line for each ess; over ess if that alone varies."""
        ax = axes_for(ax, "plot")
        over, of = "epsilon", "ess"
        if len({point.epsilon for point in self.points}) == 1:
            over, of = of, over
            ax.set_xscale("log")
        for value in dict.fromkeys(getattr(point, of) for point in self.points):
            line = [point for point in self.points if getattr(point, of) == value]
            xs = [getattr(point, over) for point in line]
            ys = [point.difference for point in line]
            ax.plot(xs, ys, marker="o", label=f"{of} {value:g}")
        ax.set(xlabel=over, ylabel="Max-BDeu - Min-BDeu (nats)", title="sensitivity to the prior")
        ax.legend()
        return ax

    def __str__(self) -> str:
        lines = [f"{'ess':>10}  {'epsilon':>8}  {'difference':>14}  {'relative':>10}"]
        lines += [
            f"{p.ess:>10g}  {p.epsilon:>8g}  {p.difference:>14.6f}  {p.relative:>10.6f}"
            for p in self.points
        ]
        return "\n".join(lines)


def sensitivity(
    dag: Dag | Any,
    data: Any,
    *,
    ess: float | Sequence[float] = 1.0,
    epsilon: float | Sequence[float] = 0.5,
    threads: int | None = None,
) -> SensitivityGrid | Sensitivity:
    r"""Work out how much the score of a structure depends on the prior.

    .. math:: \max_{p} \ln P_p(D \mid S) - \min_{p} \ln P_p(D \mid S)

    over the priors p that are an epsilon-contamination of the uniform one (see `MinBDeu`): the
    logarithm of the largest ratio between the probabilities that two of them give the data.

    Parameters
    ----------
    dag : Dag or Network
        The structure.
    data : Dataset, or anything `read` takes
        Complete rows.
    ess : float or list of float, default 1
        Equivalent sample size of the priors.
    epsilon : float or list of float, default 0.5
        The share of each prior that may be anything, 0 <= epsilon < 1.
    threads : int, optional
        One per processor unless given. The numbers are the same.

    Returns
    -------
    Sensitivity or SensitivityGrid
        The second when one of both is a list.

    Raises
    ------
    InvalidParameterError
        An ess or epsilon out of range, or an empty list.

    References
    ----------
    .. [1] Scanagatta, de Campos and Zaffalon (2014). "Min-BDeu and Max-BDeu scores for learning
       Bayesian networks." PGM. Section 4.2.

    Examples
    --------
    >>> from bestdag.data.readers import read
    >>> data = read({"a": ["x", "x", "y", "x"]})
    >>> result = sensitivity(Dag(["a"]), data)
    >>> round(result.max_bdeu, 6), round(result.min_bdeu, 6), round(result.difference, 6)
    (-3.178054, -3.817956, 0.639903)
    >>> [round(p.difference, 6) for p in sensitivity(Dag(["a"]), data, epsilon=[0, 0.5]).points]
    [0.0, 0.639903]
    """
    data = as_dataset(data)
    grids = [_listed(what, value) for what, value in (("ess", ess), ("epsilon", epsilon))]
    points = []
    for size in grids[0]:
        for share in grids[1]:
            low, high = (
                Scorer(data, score, threads=threads).total(dag)
                for score in (MinBDeu(ess=size, epsilon=share), MaxBDeu(ess=size, epsilon=share))
            )
            points.append(Sensitivity(size, share, low, max(low, high)))
    is_one = isinstance(ess, int | float) and isinstance(epsilon, int | float)
    return points[0] if is_one else SensitivityGrid(tuple(points))


def _listed(what: str, value: float | Sequence[float]) -> list[float]:
    listed = [value] if isinstance(value, int | float) else list(value)
    if not listed:
        raise InvalidParameterError(f"sensitivity: the list of {what} has no value in it")
    return listed
