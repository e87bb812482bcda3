"""`posterior`: the posterior probability of each arc, exactly where that can be done."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bestdag.averaging.arc_probabilities import ArcProbabilities
from bestdag.averaging.chains import run_chains
from bestdag.averaging.draws import arcs_of_masks, draw_from_orders, weighted_uniformly
from bestdag.averaging.exact import (
    MOST_OF_DAGS,
    MOST_OF_ORDERS,
    ancestors_by_sums,
    has_room_for_ancestors,
    sum_over_dags,
    sum_over_orders,
    top_bits_for,
    uniform_seconds,
)
from bestdag.averaging.local_weights import (
    LocalWeights,
    default_max_parents,
    local_weights,
    require_log_probability,
)
from bestdag.averaging.weighted_dags import WeightedDags
from bestdag.data.dataset import Dataset
from bestdag.data.readers import read
from bestdag.errors import bad_setting, require_choice, require_count
from bestdag.graph.knowledge import Knowledge
from bestdag.learning import known_as
from bestdag.machine import memory_limit as limited_memory
from bestdag.machine import thread_count
from bestdag.progress import Told, listening, reporter_for
from bestdag.scores import make_score
from bestdag.scores.base import Score
from bestdag.scores.prior import StructurePrior
from bestdag.scores.scorer import Scorer
from bestdag.scores.table import ScoreTable
from bestdag.search.problem import Problem

__all__ = ["METHODS", "PRIORS", "WEIGHTINGS", "posterior"]

_WHO = "posterior"
METHODS = ("auto", "exact", "sampling", "chains")
PRIORS = ("uniform", "order")
WEIGHTINGS = ("auto", "distinct", "extensions")
# "auto" sums over all DAGs where that takes one processor no longer, whatever there are, and over
# all orders up to so many variables.
_SECONDS_OF_DAGS = 5.0
_MOST_ORDERS_OF_AUTO = 25
_N_DRAWS = 10_000
_N_KEPT = 1_000  # of each chain
_PRIOR_NOTES = {
    "uniform": "prior: every DAG counts once",
    "order": "prior: a DAG counts once for every order of the variables that it follows",
}


def posterior(
    data: Any,
    score: Score | str = "bdeu",
    *,
    prior: str = "uniform",
    method: str = "auto",
    max_parents: int | None = None,
    knowledge: Knowledge | Sequence[str] | None = None,
    structure_prior: StructurePrior | None = None,
    ancestors: bool = False,
    samples: int | None = None,
    weighting: str = "auto",
    chains: int = 4,
    steps: int = 20_000,
    burn_in: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    memory_limit: float | str | None = None,
    progress: Told | None = None,
) -> ArcProbabilities:
    """Work out the posterior probability of each arc, edge and parent set.

    Parameters
    ----------
    data : Dataset, ScoreTable, or anything `read` takes
        Of a table of local scores only the listed parent sets count.
    score : Score or str, default "bdeu"
        The logarithm of P(D | G): a BD score, an NML score, or BIC as its approximation. LL and
        MIT are refused.
    prior : {"uniform", "order"}
        Every DAG counts once; or once for every order of the variables that it follows, which can
        be summed over exactly for more variables but prefers structures with many orders.
    method : {"auto", "exact", "sampling", "chains"}
        Sums over all structures; independent draws by way of the sums over orders; Markov chains
        over partitions (uniform) or orders. "auto" is exact while that takes seconds, then draws,
        then runs chains; the notes of the result say what was done.
    max_parents : int, optional
        Up to 20 variables all parent sets count unless given; beyond, as many parents as a million
        families allow, which the notes say.
    knowledge : Knowledge or list of str, optional
        Statements about arcs, orders, tiers and numbers of parents.
    structure_prior : StructurePrior, optional
        Multiplies either prior.
    ancestors : bool, default False
        Also work out the probabilities of directed paths: exactly under the prior "order" for up
        to about 15 variables, else from structures drawn.
    samples : int, optional
        Structures to draw, 10,000 by "sampling" and 1,000 of each chain unless given. With "exact"
        they are drawn beside the sums where this is given.
    weighting : {"auto", "distinct", "extensions"}
        How draws are weighted for the uniform prior: distinct structures by P(G, D), or each draw
        by one over its number of orders; "auto" takes the first where they cover nine tenths.
    chains, steps : int, default 4 and 20,000
        Markov chains, and steps of each.
    burn_in : int, optional
        Steps thrown away; a fifth unless given.
    seed : int, default 0
    threads : int, optional
        One per processor unless given; the result is the same.
    memory_limit : float or str, optional
    progress : callable, optional
        Called a few times a second with a `Progress`: the share of the sums that is done, say.

    Returns
    -------
    ArcProbabilities

    References
    ----------
    .. [1] Koivisto and Sood (2004). "Exact Bayesian structure discovery in Bayesian networks."
       JMLR 5, 549-573.
    .. [2] Koivisto (2006). "Advances in exact Bayesian structure discovery in Bayesian networks."
       UAI, 241-248.
    .. [3] Tian and He (2009). "Computing posterior probabilities of structural features in Bayesian
       networks." UAI, 538-547.
    .. [4] Parviainen and Koivisto (2011). "Ancestor relations in the presence of unobserved
       variables." ECML PKDD, 581-596.
    .. [5] Ellis and Wong (2008). "Learning causal Bayesian network structures from experimental
       data." JASA 103, 778-789.
    .. [6] Friedman and Koller (2003). "Being Bayesian about network structure." Machine Learning
       50, 95-125.
    .. [7] Kuipers and Moffa (2017). "Partition MCMC for inference on acyclic digraphs." JASA 112,
       282-299.

    Examples
    --------
    >>> from bestdag.examples import example
    >>> found = posterior(example("asia.csv"))
    >>> found.method, round(found.edge("bronc", "smoke"), 4)
    ('exact uniform', 1.0)
    """
    for what, value, choices in (
        ("prior", prior, PRIORS),
        ("method", method, METHODS),
        ("weighting", weighting, WEIGHTINGS),
    ):
        require_choice(_WHO, what, value, choices)
    told = reporter_for(_WHO, progress)
    if told is not None:
        told.tell("scoring parent sets")
    plan = _Plan(
        prior=prior,
        method=method,
        ancestors=ancestors,
        samples=None if samples is None else require_count(_WHO, "samples", samples, minimum=1),
        weighting=weighting,
        chains=require_count(_WHO, "chains", chains, minimum=1),
        steps=require_count(_WHO, "steps", steps, minimum=1),
        burn_in=_checked_burn_in(burn_in, steps),
        seed=require_count(_WHO, "seed", seed),
        threads=thread_count(threads, who=_WHO),
        progress=None
        if told is None
        else lambda share: told.tell("summing over orders", share=share),
    )
    begun = time.monotonic()
    with limited_memory(memory_limit), listening(told):
        problem = _problem(data, score, knowledge, structure_prior, max_parents, threads)
        notes = [_PRIOR_NOTES[prior]]
        most = max_parents
        if isinstance(problem.scores, ScoreTable):
            notes.append("only the parent sets that the table of local scores lists count")
        elif max_parents is None:
            most = default_max_parents(len(problem.names))
            if most is not None:
                notes.append(f"at most {most} parents, so that all families can be scored")
        weights = local_weights(_WHO, problem, most)
        found = plan.chosen(len(weights.names)).run(weights)
    return replace(
        found,
        notes=(*notes, *found.notes),
        settings={**_settings(problem), "max_parents": most, **plan.settings(found.method)},
        seconds=time.monotonic() - begun,
    )


def _checked_burn_in(burn_in: int | None, steps: int) -> int:
    """Return how many steps are thrown away; some must remain."""
    if burn_in is None:
        return steps // 5
    if require_count(_WHO, "burn_in", burn_in) >= steps:
        raise bad_setting(_WHO, "burn_in", f"less than the {steps:,} steps", burn_in)
    return burn_in


def _problem(
    data: Any,
    score: Score | str,
    knowledge: Knowledge | Sequence[str] | None,
    structure_prior: StructurePrior | None,
    max_parents: int | None,
    threads: int | None,
) -> Problem:
    scores: Scorer | ScoreTable
    if isinstance(data, ScoreTable):
        scores = data
    else:
        chosen = make_score(score) if isinstance(score, str) else score
        require_log_probability(_WHO, getattr(chosen, "name", ""))
        dataset = data if isinstance(data, Dataset) else read(data)
        scores = Scorer(dataset, chosen, structure_prior, threads=threads)
    return Problem(scores, knowledge=known_as(knowledge), max_parents=max_parents, threads=threads)


def _settings(problem: Problem) -> dict[str, Any]:
    if isinstance(problem.scores, ScoreTable):
        return {"score": "local scores"}
    return {"score": repr(problem.scores.score), "rows": problem.scores.dataset.total_weight}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What was asked for."""

    prior: str
    method: str
    ancestors: bool
    samples: int | None
    weighting: str
    chains: int
    steps: int
    burn_in: int
    seed: int
    threads: int
    progress: Callable[[float], None] | None

    def chosen(self, n: int) -> _Plan:
        """Choose the method where that was left to us."""
        if self.method != "auto":
            return self
        is_short = n <= MOST_OF_DAGS and uniform_seconds(n) <= _SECONDS_OF_DAGS
        if self.prior == "uniform" and is_short:
            return replace(self, method="exact")
        most = min(MOST_OF_ORDERS, _MOST_ORDERS_OF_AUTO)
        has_room = n <= most and top_bits_for(n, self.threads) is not None
        if self.prior == "order":
            return replace(self, method="exact" if has_room else "chains")
        return replace(self, method="sampling" if has_room else "chains")

    def settings(self, method: str) -> dict[str, Any]:
        """Say what the result depends on."""
        made: dict[str, Any] = {"prior": self.prior, "seed": self.seed}
        if "chain" in method:
            made |= {"chains": self.chains, "steps": self.steps, "burn_in": self.burn_in}
        return made

    def run(self, weights: LocalWeights) -> ArcProbabilities:
        if self.method == "chains":
            return self._by_chains(weights)
        if self.method == "sampling":
            return self._by_draws(weights)
        if self.prior == "uniform":
            return self._over_dags(weights)
        return self._over_orders(weights)

    def _over_orders(self, weights: LocalWeights) -> ArcProbabilities:
        n = len(weights.names)
        by_sums = self.ancestors and has_room_for_ancestors(n, self.threads)
        must_draw = self.samples is not None or (self.ancestors and not by_sums)
        if must_draw:
            weights = weights.by_weight()
        sums, native = sum_over_orders(_WHO, weights, threads=self.threads, progress=self.progress)
        found = ArcProbabilities(
            names=weights.names,
            matrix=sums.arcs,
            method="exact order",
            notes=("exact: a sum over all orders",),
            parent_sets=sums.parent_sets,
            log_evidence=sums.log_total,
        )
        if must_draw:
            masks, _ = self._draw(weights, native)
            found = replace(
                found, dags=WeightedDags.of_draws(weights.names, arcs_of_masks(masks, n))
            )
        if by_sums:
            paths = ancestors_by_sums(_WHO, weights, threads=self.threads)
            return replace(found, ancestors=paths)
        return self._with_drawn_paths(found)

    def _over_dags(self, weights: LocalWeights) -> ArcProbabilities:
        sums = sum_over_dags(_WHO, weights, threads=self.threads)
        found = ArcProbabilities(
            names=weights.names,
            matrix=sums.arcs,
            method="exact uniform",
            notes=("exact: a sum over all DAGs",),
            parent_sets=sums.parent_sets,
            log_evidence=sums.log_total,
        )
        if self.samples is None and not self.ancestors:
            return found
        drawn = self._by_draws(weights, sums.log_total)
        notes = (*found.notes, *drawn.notes)
        return replace(found, dags=drawn.dags, ancestors=drawn.ancestors, notes=notes)

    def _by_draws(
        self, weights: LocalWeights, log_uniform: float | None = None
    ) -> ArcProbabilities:
        weights = weights.by_weight()
        sums, native = sum_over_orders(_WHO, weights, threads=self.threads, progress=self.progress)
        masks, logs = self._draw(weights, native)
        n = len(weights.names)
        if self.prior == "uniform":
            dags, note = weighted_uniformly(
                weights.names,
                masks,
                logs,
                sums.log_total,
                how=self.weighting,
                threads=self.threads,
                log_uniform=log_uniform,
            )
        else:
            dags = WeightedDags.of_draws(weights.names, arcs_of_masks(masks, n))
            note = f"{len(masks):,} structures drawn independently"
        found = ArcProbabilities(
            names=weights.names, matrix=dags.arcs(), method="sampled", notes=(note,), dags=dags
        )
        return self._with_drawn_paths(found)

    def _draw(self, weights: LocalWeights, native: Any) -> Any:
        n_draws = _N_DRAWS if self.samples is None else self.samples
        return draw_from_orders(
            _WHO, weights, native, n_draws, seed=self.seed, threads=self.threads
        )

    def _with_drawn_paths(self, found: ArcProbabilities) -> ArcProbabilities:
        if not self.ancestors or found.dags is None:
            return found
        notes = (*found.notes, f"paths: of {len(found.dags):,} distinct structures drawn")
        return replace(found, ancestors=found.dags.ancestors(), notes=notes)

    def _by_chains(self, weights: LocalWeights) -> ArcProbabilities:
        over_partitions = self.prior == "uniform"
        arcs, diagnostics = run_chains(
            _WHO,
            weights.by_weight(),
            over_partitions=over_partitions,
            n_chains=self.chains,
            n_steps=self.steps,
            n_before=self.burn_in,
            n_kept=_N_KEPT if self.samples is None else self.samples,
            seed=self.seed,
            threads=self.threads,
        )
        dags = WeightedDags.of_draws(weights.names, arcs)
        dags = replace(dags, effective_size=diagnostics.least_effective_size)
        found = ArcProbabilities(
            names=weights.names,
            matrix=dags.arcs(),
            method="partition chain" if over_partitions else "order chain",
            notes=("an estimate by Markov chains",),
            dags=dags,
            diagnostics=diagnostics,
        )
        return self._with_drawn_paths(found)
