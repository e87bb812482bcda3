"""`posterior`: the posterior probability of each arc, exactly where that can be done."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Literal

from bestdag.averaging.arc_probabilities import ArcProbabilities
from bestdag.averaging.deadline import Deadline
from bestdag.averaging.local_weights import (
    default_max_parents,
    local_weights,
    require_log_probability,
)
from bestdag.averaging.plan import WHO, PosteriorPlan
from bestdag.checkpoint import Checkpoint, RunState, describe
from bestdag.data.readers import as_dataset
from bestdag.errors import (
    InvalidParameterError,
    bad_setting,
    require_choice,
    require_count,
    require_positive,
)
from bestdag.graph.knowledge import Knowledge
from bestdag.learning import known_as
from bestdag.machine import memory_limit as limited_memory
from bestdag.machine import thread_count
from bestdag.progress import current_reporter, listening, warn_of_interrupt
from bestdag.scores import make_score
from bestdag.scores.base import Score
from bestdag.scores.local_scores import LocalScores
from bestdag.scores.prior import StructurePrior
from bestdag.scores.scorer import Scorer
from bestdag.scores.support import DEFAULT_SUPPORT
from bestdag.scores.table import ScoreTable
from bestdag.search.problem import Problem
from bestdag.wording import arg
from bestdag.workers import resolve_workers

__all__ = ["METHODS", "PRIORS", "WEIGHTINGS", "posterior"]

METHODS = ("auto", "exact", "sampling", "chains")
PRIORS = ("uniform", "order")
WEIGHTINGS = ("auto", "distinct", "extensions")
_PRIOR_NOTES = {
    "uniform": "prior: uniform over DAGs",
    "order": "prior: uniform over orders; a DAG counts once per compatible order",
}


def posterior(
    data: Any,
    score: Score | str = "bdeu",
    *,
    prior: Literal["uniform", "order"] = "uniform",
    method: Literal["auto", "exact", "sampling", "chains"] = "auto",
    max_parents: int | None = None,
    support: float = DEFAULT_SUPPORT,
    knowledge: Knowledge | Sequence[str] | None = None,
    structure_prior: StructurePrior | str | None = None,
    ancestors: bool = False,
    samples: int | None = None,
    weighting: Literal["auto", "distinct", "extensions"] = "auto",
    chains: int = 4,
    steps: int | None = None,
    burn_in: int | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    workers: int | Executor | None = None,
    checkpoint: Checkpoint | str | os.PathLike[str] | None = None,
) -> ArcProbabilities:
    r"""Work out the posterior probability of each arc, edge and parent set.

    The probability of a feature f, such as an arc, is the share of the structures that have it,

    .. math::

        P(f \mid D) = \frac{\sum_G f(G)\, P(G)\, e^{\mathrm{score}(G, D)}}
        {\sum_G P(G)\, e^{\mathrm{score}(G, D)}},

    over all structures or a sample of them, where P(G) is `prior` times `structure_prior`.

    Parameters
    ----------
    data : Dataset, LocalScores, or anything `read` takes
        Of a table of local scores only the listed parent sets count.
    score : Score or str, default "bdeu"
        The logarithm of P(D | G): a BD score, an NML score, or BIC as its approximation. LL and
        MIT are refused.
    prior : {"uniform", "order"}
        Prior over structures: uniform over DAGs, or over orders of the variables (a DAG counts
        once per compatible order). Orders can be summed over exactly for more variables, but
        prefer structures that many of them allow.
    method : {"auto", "exact", "sampling", "chains"}
        Sums over all structures, independent draws, or Markov chains; auto chooses by the number
        of variables and says so. Draws go by way of the sums over orders; chains run over
        partitions (uniform) or orders. "auto" is exact while that takes seconds, then draws,
        then runs chains; the notes of the result say what was done. It follows the number of
        variables and the memory limit, or else
        the memory of the machine, not what is free of it.
    max_parents : int, optional
        Up to 20 variables all parent sets count unless given; beyond, as many parents as a million
        families allow, which the notes say.
    support : float, default 5.0
        As for `learn`: families with fewer rows for each occupied cell have probability zero.
    knowledge : Knowledge or list of str, optional
        Statements about arcs, orders, tiers and numbers of parents; those about edges of either
        direction and about paths are no matter of one family and are refused.
    structure_prior : StructurePrior, optional
        Multiplies either prior.
    ancestors : bool, default False
        Also report probabilities of directed paths. They are exact under the prior "order" for up
        to about 15 variables, else from structures drawn.
    samples : int, optional
        Number of structures to sample, per chain (10,000 by sampling, 1,000 by chains unless
        given). With "exact" they are drawn beside the sums where this is given.
    weighting : {"auto", "distinct", "extensions"}
        How draws are weighted for the uniform prior: distinct structures by P(G, D), or each draw
        by one over its number of orders. "auto" takes the first where they cover nine tenths.
    chains : int, default 4
        Number of Markov chains.
    steps : int, optional
        Number of steps per chain (20,000 unless given, then more until the chains agree, up to
        500,000). Each time twice as many are run, and all before them are discarded; the result
        says whether the chains agree.
    burn_in : int, optional
        Steps to discard at the start of each chain (a fifth of `steps` unless given).
    time_limit : float, optional
        Seconds. Chains give what was drawn so far, at Ctrl-C too, and the result says so; exact
        sums and draws are refused where they would take longer, and "auto" chooses what fits.
    seed : int, default 0
        Seed of samples and chains.
    workers : int or Executor, optional
        The number of threads, one per processor unless given; or the `Executor` of
        concurrent.futures that runs the Markov chains, a task for each. The result is the same.
        With an executor Ctrl-C ends all of it, and `checkpoint` has the chains that were done.
    checkpoint : Checkpoint or path, optional
        As for `learn`: where the chains are, and what they have drawn, is kept. Sums and
        independent draws are not, and begin anew.

    Returns
    -------
    ArcProbabilities

    Raises
    ------
    InvalidParameterError
        If a setting is out of range, the score is no log-probability, no structure is possible, or
        there are too many variables for what ``method="exact"`` sums (30 for orders, 20 for DAGs).
    NotEnoughMemoryError
        If the families or the sums do not fit into memory.

    Notes
    -----
    For n variables a sum over orders takes time in proportion to :math:`n^2 2^n` beside the scoring
    of families [1]_ [2]_, one over all DAGs to :math:`n 3^n` [3]_, the probabilities of paths to
    :math:`n^2 3^n` [4]_. Draws from the order prior become draws from the uniform one by weights
    [5]_. Chains over partitions [7]_ and orders [6]_ give estimates for many more variables.

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
    .. [8] Grzegorczyk and Husmeier (2008). "Improving the structure MCMC sampler for Bayesian
       networks by introducing a new edge reversal move." Machine Learning 71, 265-305.
    .. [9] Goudie and Mukherjee (2016). "A Gibbs sampler for learning DAGs." JMLR 17(30).

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
        require_choice(WHO, what, value, choices)
    file = Checkpoint.of(WHO, checkpoint)
    reporter = current_reporter()
    if reporter is not None:
        reporter.report("scoring parent sets")
    settings: dict[str, Any] = {
        "prior": prior,
        "method": method,
        "ancestors": ancestors,
        "samples": None if samples is None else require_count(WHO, "samples", samples, minimum=1),
        "weighting": weighting,
        "chains": require_count(WHO, "chains", chains, minimum=1),
        "steps": None if steps is None else require_count(WHO, "steps", steps, minimum=1),
        "burn_in": _checked_burn_in(burn_in, steps),
        "seed": require_count(WHO, "seed", seed),
    }
    who_works = resolve_workers(WHO, workers)
    threads = who_works.threads
    n_threads = thread_count(threads, who=WHO)
    if time_limit is not None:
        require_positive(WHO, "time_limit", time_limit)
    begun = time.monotonic()
    with limited_memory(None), listening(reporter), ExitStack() as stack:
        problem = _problem(data, score, knowledge, structure_prior, max_parents, support, threads)
        opening, state = time.monotonic(), RunState()
        if file is not None:
            state = file.open(WHO, _description(problem, max_parents, settings))
        stack.callback(state.close)
        before = state.seconds_before
        limit = None if time_limit is None else state.limited(time_limit, opening)
        plan = PosteriorPlan(
            **settings,
            deadline=Deadline(WHO, limit).earlier(state.reserve),
            threads=n_threads,
            state=state,
            executor=who_works.executor,
            progress=None
            if reporter is None
            else lambda share: reporter.report("summing over orders", share=share),
        )
        notes = [_PRIOR_NOTES[prior]]
        most = max_parents
        if isinstance(problem.scores, ScoreTable):
            notes.append("only the parent sets that the table of local scores lists count")
        elif max_parents is None:
            most = default_max_parents(len(problem.names))
            if most is not None:
                notes.append(f"at most {most} parents, so that all families can be scored")
        limits = problem.limits
        if limits.exempt:
            notes.append(limits.words_on(limits.exempt))
        weights = local_weights(WHO, problem, most, plan.deadline)
        probabilities = plan.chosen(len(weights.names)).run(weights)
        if probabilities.status != "done":
            state.stop(at_once=probabilities.status == "interrupted")
    answer = replace(
        probabilities,
        notes=(*notes, *probabilities.notes),
        settings={**_settings(problem), "max_parents": most, **plan.settings(probabilities.method)},
        seconds=time.monotonic() - begun + before,
        resumed_seconds=before,
    )
    if answer.status == "interrupted":
        warn_of_interrupt(WHO, answer, "more time gives smaller errors")
    return answer


def _description(
    problem: Problem, max_parents: int | None, settings: dict[str, Any]
) -> dict[str, str]:
    """Return what decides the answer."""
    return describe(
        WHO,
        problem.scores,
        None,
        knowledge=problem.knowledge,
        max_parents=max_parents,
        **settings,
    )


def _checked_burn_in(burn_in: int | None, steps: int | None) -> int | None:
    """Return how many steps are thrown away; some must remain."""
    if burn_in is None:
        return None
    require_count(WHO, "burn_in", burn_in)
    if steps is None:
        raise InvalidParameterError(
            f"{WHO}: {arg('burn_in')} is a part of the steps, got {burn_in:,} of none; give "
            f"{arg('steps')} too"
        )
    if burn_in >= steps:
        raise bad_setting(WHO, "burn_in", f"less than the {steps:,} steps", burn_in)
    return burn_in


def _problem(
    data: Any,
    score: Score | str,
    knowledge: Knowledge | Sequence[str] | None,
    structure_prior: StructurePrior | str | None,
    max_parents: int | None,
    support: float,
    threads: int | None,
) -> Problem:
    scores: LocalScores
    if isinstance(data, LocalScores):
        scores = data
    else:
        chosen = make_score(score) if isinstance(score, str) else score
        require_log_probability(WHO, getattr(chosen, "name", ""))
        dataset = as_dataset(data)
        scores = Scorer(dataset, chosen, structure_prior, support=support, threads=threads)
    return Problem(scores, knowledge=known_as(knowledge), max_parents=max_parents, workers=threads)


def _settings(problem: Problem) -> dict[str, Any]:
    if isinstance(problem.scores, ScoreTable):
        return {"score": "local scores"}
    scorer = problem.scores
    return {
        "score": repr(scorer.score),
        "rows": scorer.total_weight,
        "support": problem.limits.support,
    }
