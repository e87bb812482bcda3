"""How the optimal structure depends on the equivalent sample size."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from bestdag.data.readers import as_dataset, read_matching
from bestdag.errors import InvalidParameterError, import_optional
from bestdag.evaluation.structures import compare
from bestdag.graph.dag import Dag
from bestdag.graph.pdag import Pdag
from bestdag.parameters import OF_SCORE
from bestdag.scores.bdeu import BDeu
from bestdag.scores.support import DEFAULT_SUPPORT
from bestdag.search.steps import Search
from bestdag.tabular import Table, Tabular
from bestdag.validation.fits import learn_one_of_many
from bestdag.workers import resolve_workers

__all__ = ["DEFAULT_GRID", "EssGrid", "EssPoint", "ess_grid"]

DEFAULT_GRID = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)


@dataclass(frozen=True, slots=True)
class EssPoint:
    """The optimum for one equivalent sample size.

    Attributes
    ----------
    ess, score : float
    dag : Dag
    cpdag : Pdag
        Its class.
    is_proved : bool
    gap : float or None
        How far from the optimum it may be, where that is known.
    shd_to_last : int or None
        Distance between its class and that of the point before.
    test_log_loss : float or None
        On rows that were held out, with the posterior mean of the same prior.
    """

    ess: float
    score: float
    dag: Dag
    cpdag: Pdag
    is_proved: bool
    gap: float | None
    shd_to_last: int | None
    test_log_loss: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "ess": self.ess,
            "score": self.score,
            "arcs": [list(arc) for arc in self.dag.arcs],
            "is_proved": self.is_proved,
            "gap": self.gap,
            "shd_to_last": self.shd_to_last,
            "test_log_loss": self.test_log_loss,
        }


@dataclass(frozen=True, slots=True)
class EssGrid(Tabular):
    """Optimal structures for a grid of equivalent sample sizes.

    Attributes
    ----------
    points : tuple of EssPoint
        By growing ess.
    """

    points: tuple[EssPoint, ...]

    @property
    def is_proved(self) -> bool:
        """Whether every structure is proven to be the optimum for its ess."""
        return all(point.is_proved for point in self.points)

    @property
    def best_by_score(self) -> EssPoint:
        """The point with the highest score: the ess under which the data are most probable.

        That is empirical Bayes: ess and structure maximise P(D | G, ess) together.
        """
        return max(self.points, key=lambda point: point.score)

    @property
    def best_in_hindsight(self) -> EssPoint | None:
        """The ess whose network predicts the held-out rows best; None without such rows."""
        losses = [point for point in self.points if point.test_log_loss is not None]
        return min(losses, key=lambda point: point.test_log_loss or 0.0, default=None)

    @property
    def n_structures(self) -> int:
        """Number of different classes."""
        return len({point.cpdag for point in self.points})

    def table(self) -> list[tuple[tuple[str, str], tuple[str, ...]]]:
        """List every pair that is joined for some ess, and its mark in each class.

        Returns
        -------
        list of ((str, str), tuple of str)
            Marks are "->", "<-", "--" and "" as seen from the first of both names, by growing ess.
        """
        joined: set[tuple[str, str]] = set()
        for point in self.points:
            joined.update((min(p), max(p)) for p in (*point.cpdag.arcs, *point.cpdag.edges))
        marks = [_marks(point.cpdag) for point in self.points]
        return [(pair, tuple(mark.get(pair, "") for mark in marks)) for pair in sorted(joined)]

    def come_and_go(self) -> tuple[tuple[str, str], ...]:
        """List the pairs that are joined for some ess and not for others.

        What the data say of them depends on the prior; pairs that are always or never joined are
        safe.
        """
        return tuple(pair for pair, marks in self.table() if "" in marks)

    def _table(self) -> Table:
        return Table(
            names=("ess", "score", "arcs", "shd_to_last", "test_log_loss", "proved"),
            rows=(
                (
                    point.ess,
                    point.score,
                    len(point.dag.arcs),
                    point.shd_to_last,
                    point.test_log_loss,
                    point.is_proved,
                )
                for point in self.points
            ),
            n_rows=len(self.points),
            n_labels=1,
            title="optimal structures by equivalent sample size",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        hindsight = self.best_in_hindsight
        return {
            "points": [point.to_dict() for point in self.points],
            "is_proved": self.is_proved,
            "n_structures": self.n_structures,
            "come_and_go": [list(pair) for pair in self.come_and_go()],
            "best_by_score": self.best_by_score.ess,
            "best_in_hindsight": None if hindsight is None else hindsight.ess,
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw which pairs are joined for which ess; needs matplotlib."""
        if ax is None:
            ax = import_optional("matplotlib.pyplot", who="plot", extra="plot").subplots()[1]
        rows = self.table()
        shades = {"": 0, "--": 1, "->": 2, "<-": 2}
        if rows:
            ax.imshow(
                [[shades[mark] for mark in marks] for _, marks in rows],
                aspect="auto",
                cmap="Greys",
                vmin=0,
                vmax=2,
            )
        for y, (_, marks) in enumerate(rows):
            for x, mark in enumerate(marks):
                colour = "white" if shades[mark] == 2 else "black"
                ax.text(x, y, mark, ha="center", va="center", color=colour, parse_math=False)
        ax.set_yticks(range(len(rows)), [f"{one}, {other}" for (one, other), _ in rows])
        ax.set_xticks(range(len(self.points)), [f"{point.ess:g}" for point in self.points])
        ax.set(xlabel="equivalent sample size", title="arcs of the optimal class")
        return ax

    def __str__(self) -> str:
        lines = [
            f"{'ess':>8}  {'score':>16}  {'arcs':>5}  {'changed':>7}  {'test log loss':>14}  proven"
        ]
        for p in self.points:
            changed = "" if p.shd_to_last is None else str(p.shd_to_last)
            loss = "" if p.test_log_loss is None else f"{p.test_log_loss:.6f}"
            lines.append(
                f"{p.ess:>8g}  {p.score:>16.6f}  {len(p.dag.arcs):>5}  {changed:>7}  {loss:>14}  "
                f"{'yes' if p.is_proved else 'no'}"
            )
        table = self.table()
        width = max((len(f"{a}, {b}") for (a, b), _ in table), default=0)
        lines += [
            f"{f'{a}, {b}':<{width}}  {' '.join(f'{mark:<2}' for mark in marks)}"
            for (a, b), marks in table
            if len(set(marks)) > 1
        ]
        best = f"most probable data: ess {self.best_by_score.ess:g}"
        hindsight = self.best_in_hindsight
        if hindsight is not None:
            best += f"; best in hindsight: ess {hindsight.ess:g}"
        return "\n".join([*lines, f"{self.n_structures} different classes; {best}"])


def ess_grid(
    data: Any,
    grid: Sequence[float] = DEFAULT_GRID,
    *,
    test: Any = None,
    search: Search | str = "auto",
    max_parents: int | None = None,
    support: float = DEFAULT_SUPPORT,
    time_limit: float | None = None,
    seed: int = 0,
    workers: int | Executor | None = None,
) -> EssGrid:
    """Find the optimal structure for each of several equivalent sample sizes of BDeu.

    Parameters
    ----------
    data : Dataset, or anything `read` takes
    grid : list of float
        Values of ess; from 0.1 to 100 unless given.
    test : Dataset, or anything `read` takes, optional
        Rows that were held out, to say which ess predicts them best: the best one in hindsight.
    search, max_parents, support, time_limit, seed, workers
        As in `learn`; the limit is for each ess.

    Returns
    -------
    EssGrid

    Raises
    ------
    InvalidParameterError
        If the grid is empty, or a value is no finite number > 0.

    Notes
    -----
    The number of arcs of the optimum grows with ess as a rule, from few to all of them, and no
    value is right for all data [1]_. Arcs that are there for every ess are safe to report.

    References
    ----------
    .. [1] Silander, Kontkanen and Myllymäki (2007). "On sensitivity of the MAP Bayesian network
       structure to the equivalent sample size parameter." UAI.
    .. [2] Silander, Roos and Myllymäki (2010). "Learning locally minimax optimal Bayesian
       networks." Section 6.

    Examples
    --------
    >>> from bestdag.examples import example
    >>> found = ess_grid(example("asia.csv"), [1, 10, 100])
    >>> [len(point.dag.arcs) for point in found.points], found.is_proved
    ([7, 13, 19], True)
    """
    who_works = resolve_workers("ess_grid", workers)
    threads = who_works.threads
    dataset = as_dataset(data)
    sizes = sorted(set(grid))
    if not sizes:
        raise InvalidParameterError("ess_grid: the grid has no value in it")
    if test is not None:
        test = read_matching(test, dataset.variables)
    points: list[EssPoint] = []
    for ess in sizes:
        result = learn_one_of_many(
            dataset,
            BDeu(ess=ess),
            search=search,
            max_parents=max_parents,
            support=support,
            time_limit=time_limit,
            workers=who_works,
            seed=seed,
        )
        loss = None
        if test is not None:
            loss = result.fit(OF_SCORE, threads=threads).log_loss(test, threads=threads)
        points.append(
            EssPoint(
                ess=ess,
                score=result.score,
                dag=result.dag,
                cpdag=result.dag.cpdag(),
                is_proved=result.is_proved,
                gap=result.gap,
                shd_to_last=compare(points[-1].dag, result.dag).shd_cpdag if points else None,
                test_log_loss=loss,
            )
        )
    return EssGrid(tuple(points))


def _marks(graph: Pdag) -> dict[tuple[str, str], str]:
    marks = dict.fromkeys(graph.edges, "--")
    for parent, child in graph.arcs:
        marks[min(parent, child), max(parent, child)] = "->" if parent < child else "<-"
    return marks
