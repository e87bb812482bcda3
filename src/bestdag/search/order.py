"""Search over orders of the variables."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from bestdag.errors import require_count
from bestdag.search._order_run import OrderRun
from bestdag.search.base import Problem, SearchResult

__all__ = ["OrderSearch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderSearch:
    """Move variables within an order in which each takes its best parents from those before it.

    Parameters
    ----------
    max_sets : int, default 10,000,000
        About so many parent sets are scored to begin with (a hundredth of it for a score that has
        no native twin): all sets of some size where they fit, else all sets of at most three of
        those parents that gain most on their own.
    patience : int, default 5
        The search ends after so many spells without a better structure; a spell is 1,000
        rounds and five per variable. It ends with status "step limit" after 150,000,000 / n rounds
        in all.

    Notes
    -----
    The search begins with hill climbing and ends with it. In between it looks at orders: given an
    order and a list of candidate parent sets, the best structure is found by taking for
    each variable its best set among its predecessors. A round disturbs the order, then moves
    variables to their best places until none gains, and keeps what is no worse. When the rounds
    gain no more, every family of the best structure is looked at with each parent added or left
    out, whatever the list; what gains joins the list, and the rounds go on. Four searches (two
    for more than 100 variables) with random numbers of their own run side by side; threads share
    them, and the result does not depend on the number of threads.

    Statements about paths and open edges are no matter of single families. The search first tries
    without them (where A must not be an ancestor of B, B comes before A); a structure that breaks
    one is replaced by one from narrower limits under which none can be broken.

    References
    ----------
    .. [1] Teyssier and Koller (2005). "Ordering-based search: a simple and effective algorithm for
       learning Bayesian networks." UAI.
    .. [2] Scanagatta, de Campos, Corani and Zaffalon (2015). "Learning Bayesian networks with
       thousands of variables." NIPS.
    .. [3] Andrews, Ramsey, Sanchez Romero, Camchong and Kummerfeld (2023). "Fast scalable and
       accurate discovery of DAGs using the best order score search and grow-shrink trees."
       NeurIPS.

    Examples
    --------
    >>> from bestdag.data.readers import read
    >>> from bestdag.examples import example
    >>> from bestdag.scores.scorer import Scorer
    >>> scorer = Scorer(read(example("asia.csv")), "bdeu")
    >>> OrderSearch().run(Problem(scorer)).dag.parents("dysp")
    ('bronc', 'either')
    """

    name: ClassVar[str] = "order"

    max_sets: int = 10_000_000
    patience: int = 5

    def __post_init__(self) -> None:
        require_count("order", "max_sets", self.max_sets, minimum=1)
        require_count("order", "patience", self.patience, minimum=1)

    def run(self, problem: Problem) -> SearchResult:
        """Search; a time limit or Ctrl-C gives the best structure so far."""
        run = OrderRun(problem, self.max_sets, self.patience)
        status = run.search()
        best = run.best
        return SearchResult(
            dag=best.dag,
            score=best.score,
            bound=None,
            status=status,
            search=self.name,
            seconds=problem.seconds,
            settings=asdict(self),
            trace=tuple(run.trace),
        )
