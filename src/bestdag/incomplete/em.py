"""Structural EM: structure and parameters in turn, from expected counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

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
from bestdag.scores.base import Score
from bestdag.scores.prior import StructurePrior
from bestdag.scores.scorer import Scorer
from bestdag.scores.whole_counts import require_fractional_counts
from bestdag.search.result import SearchResult

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

    restarts: int = 0
    max_rounds: int = 100
    tolerance: float = 1e-6
    max_iterations: int = 1000
    max_cells: int = 4096
    draws: int = 200

    def __post_init__(self) -> None:
        require_count("StructuralEM", "restarts", self.restarts)
        require_count("StructuralEM", "max_rounds", self.max_rounds, minimum=1)
        require_count("StructuralEM", "max_iterations", self.max_iterations, minimum=1)
        require_count("StructuralEM", "max_cells", self.max_cells, minimum=1)
        require_count("StructuralEM", "draws", self.draws, minimum=1)
        require_not_negative("StructuralEM", "tolerance", self.tolerance)

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
            advice = "choose another score, or leave incomplete rows out"
            raise InvalidParameterError(
                f"learn: missing='em' {reason}; {advice} with missing='drop'"
            ).with_option(f"learn: --missing em {reason}; {advice} with --missing drop")
        require_fractional_counts(score, dataset)
        return dataset.in_memory("EM")

    def learn(self, dataset: Dataset, score: Score, task: Task) -> SearchResult:
        """Learn with any search."""
        if task.near_optimal is not None:
            what = "learn: structural EM ends in a local optimum, without near-optimal structures"
            raise InvalidParameterError(
                f"{what}; leave out k_best, all_optimal and collect_within"
            ).with_option(f"{what}; leave out --k-best, --all-optimal and --collect-within")
        if task.bound:
            raise InvalidParameterError(
                "learn: structural EM ends in a local optimum, which cannot be bounded; leave out "
                "bound"
            ).with_option(
                "learn: structural EM ends in a local optimum, which cannot be bounded; leave out "
                "--bound"
            )
        from bestdag.incomplete.rounds import Rounds  # most of what it needs, nobody else does

        return Rounds(self, dataset, score, task).run()

    def fit(self, dag: Dag, dataset: Dataset, estimator: Estimator, threads: int | None) -> Network:
        """Fit by EM that ends with what the estimator makes of counts."""
        return fitted_network(dag, dataset, em_with(estimator), threads=threads)[0]

    def scorer(
        self,
        dag: Dag,
        dataset: Dataset,
        score: Score,
        structure_prior: StructurePrior | None,
        threads: int | None,
    ) -> Scorer:
        """Score expected counts under the structure, its parameters fitted by EM."""
        from bestdag.incomplete.scoring import expected_scorer
        from bestdag.network.em import run_em

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
