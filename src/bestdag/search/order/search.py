"""Search over orders of the variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bestdag.errors import bad_setting, require_count
from bestdag.graph.dag import Dag
from bestdag.registry import setting
from bestdag.scores.table import ScoreTable
from bestdag.search.order.improve import Improver
from bestdag.search.order.listed import search_listed
from bestdag.search.order.tuning import TUNING
from bestdag.search.problem import Problem
from bestdag.search.steps import POINT, Phase, SearchEnd, Steps, require_start

__all__ = ["OrderSearch"]

# Each chain has its own orders and scores, however few threads there are.
_MOST_CHAINS = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderSearch:
    """Move variables within an order in which each has good parents from those before it.

    Parameters
    ----------
    max_sets : int, default 10,000,000
        About so many small parent sets are listed (a hundredth of it for a score that has no
        native kernel): all sets of at most three of the parents that gain most on their own.
    patience : int, default 20
        The search ends after so many rounds without a better structure; a round takes a
        fraction of a second.
    rounds : int, optional
        End after so many rounds in all, with status "step limit".
    chains : int, default 4
        So many searchers work from the same structure; half of them, where there are more than
        100 variables, search among listed sets. Threads work them off: the result depends on the
        chains, and not on the threads.
    start_from : Dag, optional
        The structure to begin with, which must obey the knowledge.

    Notes
    -----
    The first round is GES, where the score is equal on equivalent structures and native, and tabu
    search; with more than 200 variables hill climbing, and then variables are cut loose and
    reinserted for as long as that gains much. Then come rounds over orders. Given an order, a
    variable's parents grow among its predecessors: the one that raises the score most is added
    until none does, then parents whose loss raises it are dropped, and single parents exchanged.
    There is no limit on their number. Which changes raise the score of a family is worked out in
    one native call and remembered (up to 512 MB). Because parents that help only together are
    missed in this way, all small sets are listed meanwhile, some variables at a time, and taken
    where they are better.

    Every variable is moved to its best place in the order, then a round disturbs the order, moves
    the variables touched to their best places, and keeps what is no worse; where nothing better
    has been found for a while, what is some nats worse too. Several searchers with random numbers
    of their own work from the same structure, and improvements of different parts are put together.
    Threads share the searchers, and where there are more threads than these and many rows, the
    counting for each; the result does not depend on the number of threads, nor on the speed of the
    machine unless a time limit ends the search. It ends with hill climbing, so that
    no single arc change improves a "local optimum".

    Statements about paths and open edges are no matter of single families. The search first tries
    without them (where A must not be an ancestor of B, B comes before A); a structure that breaks
    one is replaced by one from narrower limits under which none can be broken.

    In a file of local scores only the sets of the file are searched.

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
    >>> Problem(scorer).solve(OrderSearch()).dag.parents("dysp")
    ('bronc', 'either')
    """

    name: ClassVar[str] = "order"

    max_sets: int = setting(10_000_000, "Approximate number of parent sets to list.")
    patience: int = setting(20, "Number of rounds without improvement before stopping.")
    rounds: int | None = setting(
        None, "Stop after this number of rounds, for reproducible results."
    )
    chains: int = setting(4, "Number of parallel searches.")
    start_from: Dag | None = setting(None, "First structure: a network file.", load="structure")

    def __post_init__(self) -> None:
        if self.start_from is not None:
            require_start("order", self.start_from)
        require_count("order", "max_sets", self.max_sets, minimum=1)
        require_count("order", "patience", self.patience, minimum=1)
        if self.rounds is not None:
            require_count("order", "rounds", self.rounds, minimum=1)
        if require_count("order", "chains", self.chains, minimum=1) > _MOST_CHAINS:
            raise bad_setting("order", "chains", f"at most {_MOST_CHAINS:,}", self.chains)

    def steps(self, problem: Problem) -> Steps:
        """Improve a structure round by round until nothing has come of it for a while."""
        if isinstance(problem.scores, ScoreTable):
            turns = max(1, round(TUNING.turns_per_round * self.patience))
            yield from search_listed(problem, turns, self.chains)
            return
        start = problem.feasible_dag("order")
        improver = Improver(problem, start, max_sets=self.max_sets, chains=self.chains)
        while True:
            if self.rounds is not None and improver.n_rounds >= self.rounds:
                raise SearchEnd("step limit")
            yield from improver.round()
            idle = f"{improver.n_idle} of {self.patience} without improvement"
            yield Phase("search order", f"round {improver.n_rounds:,}, {idle}")
            yield POINT
            if improver.n_idle >= self.patience and improver.is_searched:
                if not (yield from improver.climb()):
                    return
                improver.n_idle = 0
