"""Structural EM: structure and parameters in turn, from expected counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bestdag.counts.engine import CountingEngine
from bestdag.data.dataset import Dataset
from bestdag.errors import InvalidParameterError, require_count, require_not_negative
from bestdag.graph.dag import Dag
from bestdag.incomplete.base import Task
from bestdag.network.fitting import fitted_network
from bestdag.network.network import Network
from bestdag.parameters import em_with
from bestdag.parameters.base import Estimator
from bestdag.parameters.dirichlet import HasPriors
from bestdag.parameters.em import EM
from bestdag.registry import setting
from bestdag.scores.base import Score, require_fractional_counts
from bestdag.scores.prior import StructurePrior
from bestdag.scores.scorer import Scorer
from bestdag.search.result import SearchResult
from bestdag.wording import arg, as_option

__all__ = ["StructuralEM"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuralEM:
    r"""Learn structure and parameters in turn, each from the expected counts under the other.

    A round works out, under the network so far, how probable the states of all missing values are;
    searches with scores of the expected counts, which every family has, whatever the search; and
    goes on with EM from the expected counts of the structure found. It ends when no structure
    scores more than the one it has. Cells are taken to be missing at random.

    Parameters
    ----------
    restarts : int, default 0
        Further runs from random changes of the best structure so far; the best run is kept.
    max_rounds : int, default 100
        At least 1, in each run.
    tolerance : float, default 1e-6
        Of the EM of each round, see `EM`.
    max_iterations : int, default 1000
        Of the EM of each round.
    max_cells : int, default 4096
        Missing values that depend on each other have counts that are exact up to so many states
        together; beyond, their counts come from draws. The notes of a result say so.
    draws : int, default 200
        How many, for each.

    Notes
    -----
    With LL, AIC, BIC, HQC and qNML a score is the log-likelihood of what the rows show at the end
    of EM, minus the penalty of the structure. It never falls from round to round as long as counts
    are exact: expected log-likelihood minus penalty does not, since the structure so far
    competes, and so neither does this [1]_. Bayesian scores of expected counts are an
    approximation of the expected score [1]_: what is reported is the approximation of Cheeseman
    and Stutz [2]_ of the logarithm of the marginal likelihood; it may fall, the notes say so, and
    the best round is returned. With draws nothing is guaranteed.

    The result is a local optimum without a bound, also when each round has the best structure.

    References
    ----------
    .. [1] Friedman (1998). "The Bayesian structural EM algorithm." UAI '98. And (1997) "Learning
       belief networks in the presence of missing values and hidden variables." ICML '97.
    .. [2] Cheeseman and Stutz (1996). "Bayesian classification (AutoClass): theory and results."
    """

    name: ClassVar[str] = "em"
    reads_as: ClassVar[str] = "keep"
    idle: ClassVar[str | None] = "structural EM has nothing to do"
    summary: ClassVar[str] = "missing values were estimated (EM)"
    keeps_missing: ClassVar[bool] = True
    has_expected_counts: ClassVar[bool] = True
    has_mean_scores: ClassVar[bool] = False

    restarts: int = setting(0, "Number of further runs from random changes of the best structure.")
    max_rounds: int = setting(100, "Maximum number of rounds (structure, then parameters) per run.")
    max_iterations: int = setting(1000, "Maximum number of EM iterations per round.")
    tolerance: float = setting(
        1e-6, "Relative change of the log-likelihood at which EM has converged."
    )
    max_cells: int = setting(
        4096, "Maximum number of joint states of missing values to sum exactly."
    )
    draws: int = setting(200, "Number of draws for each group of missing values with more.")

    def __post_init__(self) -> None:
        for name in ("restarts", "max_rounds", "max_iterations", "max_cells", "draws"):
            least, option = int(name != "restarts"), as_option(f"em_{name}")
            require_count("StructuralEM", name, getattr(self, name), minimum=least, option=option)
        require_not_negative("StructuralEM", "tolerance", self.tolerance, option="--em-tolerance")

    def refusal(self, score: Score) -> str | None:
        """Say why it cannot be used with a score; None where it can."""
        if getattr(score, "is_per_row", False):
            return f"sums over rows, and {score.name} is a mean per row"
        if getattr(score, "needs_whole_counts", False) and not getattr(
            score, "needs_whole_total", False
        ):
            return f"has expected counts, which are not whole, and {score.name} needs whole ones"
        return None

    def settle(self, dataset: Dataset, score: Score) -> Dataset:
        """Return the data as they are."""
        reason = self.refusal(score)
        if reason is not None:
            raise InvalidParameterError(
                f"learn: {arg('missing', 'em')} {reason}; choose another score, or leave "
                f"incomplete rows out with {arg('missing', 'drop')}"
            )
        require_fractional_counts(score, dataset)
        return dataset.in_memory("EM")

    def learn(
        self, dataset: Dataset, score: Score, task: Task, scorer: Scorer | None
    ) -> SearchResult:
        """Learn with any search."""
        if task.near_optimal is not None:
            raise InvalidParameterError(
                "learn: structural EM ends in a local optimum, without near-optimal structures; "
                f"leave out {arg('near_optimal')}"
            )
        from bestdag.incomplete.rounds import Rounds  # most of its imports serve nothing else

        return Rounds(self, dataset, score, task).run()

    def fit(
        self,
        dag: Dag,
        dataset: Dataset,
        estimator: Estimator,
        threads: int | None,
        counts: CountingEngine | None = None,
    ) -> Network:
        """Fit by EM that ends with what the estimator makes of counts."""
        return fitted_network(dag, dataset, em_with(estimator), threads=threads)[0]

    def scorer(
        self,
        dataset: Dataset,
        score: Score,
        structure_prior: StructurePrior | None,
        *,
        support: float = 0.0,
        threads: int | None = None,
        dag: Dag | None = None,
    ) -> Scorer | None:
        """Score expected counts under the structure, its parameters fitted by EM."""
        if dag is None:
            return None
        from bestdag.incomplete.scoring import expected_scorer
        from bestdag.network.fitting import run_em

        em = EM(
            prior=score if isinstance(score, HasPriors) else None,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
        )
        return expected_scorer(
            run_em(dag, dataset, em, threads=threads).network,
            dataset,
            score,
            structure_prior,
            max_cells=self.max_cells,
            draws=self.draws,
            threads=threads,
        )
