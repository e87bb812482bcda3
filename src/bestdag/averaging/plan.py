"""How a posterior is worked out: the method, chosen where that is left to us, and its run."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

from bestdag.averaging.arc_probabilities import ArcProbabilities
from bestdag.averaging.chains import run_chains
from bestdag.averaging.deadline import Deadline
from bestdag.averaging.diagnostics import UNMIXED
from bestdag.averaging.draws import arcs_of_masks, draw_from_orders, weighted_uniformly
from bestdag.averaging.exact import (
    MOST_OF_DAGS,
    MOST_OF_ORDERS,
    ancestors_by_sums,
    has_room_for_ancestors,
    is_small_for_orders,
    order_seconds,
    sum_over_dags,
    sum_over_orders,
    uniform_seconds,
)
from bestdag.averaging.local_weights import LocalWeights
from bestdag.averaging.weighted_dags import WeightedDags
from bestdag.checkpoint import RunState

__all__ = ["WHO", "PosteriorPlan"]

WHO = "posterior"
# "auto" sums over all DAGs where that takes one processor no longer, whatever there are, and over
# all orders up to so many variables.
_SECONDS_OF_DAGS = 5.0
_MOST_ORDERS_OF_AUTO = 25
_N_DRAWS = 10_000
_DRAWS_PER_CHAIN = 1_000  # of each chain


@dataclass(frozen=True, slots=True, kw_only=True)
class PosteriorPlan:
    """The settings of `posterior`, checked, and what its methods share."""

    prior: str
    method: str
    ancestors: bool
    samples: int | None
    weighting: str
    chains: int
    steps: int | None
    burn_in: int | None
    deadline: Deadline
    seed: int
    threads: int
    progress: Callable[[float], None] | None
    state: RunState
    executor: Executor | None = None

    def chosen(self, n: int) -> PosteriorPlan:
        """Choose the method where that was left to us."""
        if self.method != "auto":
            return self
        if self.prior == "uniform" and n <= MOST_OF_DAGS:
            forecast = uniform_seconds(n)
            if forecast <= _SECONDS_OF_DAGS and self._fits(forecast):
                return replace(self, method="exact")
        most = min(MOST_OF_ORDERS, _MOST_ORDERS_OF_AUTO)
        if not (n <= most and is_small_for_orders(n) and self._fits(order_seconds(n))):
            return replace(self, method="chains")
        return replace(self, method="exact" if self.prior == "order" else "sampling")

    def _fits(self, forecast: float) -> bool:
        """Whether so many seconds of one processor leave half of the time limit."""
        return forecast / self.threads <= self.deadline.seconds_left / 2.0

    def settings(self, method: str) -> dict[str, Any]:
        """Say what the result depends on."""
        made: dict[str, Any] = {"prior": self.prior, "seed": self.seed}
        if "chain" in method:
            made["chains"] = self.chains
            if self.steps is not None:
                burn_in = self.steps // 5 if self.burn_in is None else self.burn_in
                made |= {"steps": self.steps, "burn_in": burn_in}
        return made

    def run(self, weights: LocalWeights) -> ArcProbabilities:
        """Work it out by the method chosen."""
        if self.method == "chains":
            return self._by_chains(weights)
        if self.method == "sampling":
            return self._by_draws(weights)
        if self.prior == "uniform":
            return self._over_dags(weights)
        return self._over_orders(weights)

    def _over_orders(self, weights: LocalWeights) -> ArcProbabilities:
        n = len(weights.names)
        by_sums = self.ancestors and has_room_for_ancestors(n)
        must_draw = self.samples is not None or (self.ancestors and not by_sums)
        if must_draw:
            weights = weights.by_weight()
        sums, native = sum_over_orders(WHO, weights, progress=self.progress, **self._limits())
        answer = ArcProbabilities(
            names=weights.names,
            matrix=sums.arcs,
            method="exact order",
            notes=("exact: a sum over all orders",),
            parent_sets=sums.parent_sets,
            log_evidence=sums.log_total,
        )
        if must_draw:
            masks, _ = self._draw(weights, native)
            answer = replace(
                answer, dags=WeightedDags.of_draws(weights.names, arcs_of_masks(masks, n))
            )
        if by_sums:
            paths = ancestors_by_sums(WHO, weights, **self._limits())
            return replace(answer, ancestors=paths)
        return self._with_drawn_paths(answer)

    def _over_dags(self, weights: LocalWeights) -> ArcProbabilities:
        sums = sum_over_dags(WHO, weights, **self._limits())
        answer = ArcProbabilities(
            names=weights.names,
            matrix=sums.arcs,
            method="exact uniform",
            notes=("exact: a sum over all DAGs",),
            parent_sets=sums.parent_sets,
            log_evidence=sums.log_total,
        )
        if self.samples is None and not self.ancestors:
            return answer
        drawn = self._by_draws(weights, sums.log_total)
        notes = (*answer.notes, *drawn.notes)
        return replace(answer, dags=drawn.dags, ancestors=drawn.ancestors, notes=notes)

    def _by_draws(
        self, weights: LocalWeights, log_uniform: float | None = None
    ) -> ArcProbabilities:
        weights = weights.by_weight()
        sums, native = sum_over_orders(WHO, weights, progress=self.progress, **self._limits())
        masks, logs = self._draw(weights, native)
        n = len(weights.names)
        if self.prior == "uniform":
            dags, note = weighted_uniformly(
                weights.names,
                masks,
                logs,
                sums.log_total,
                how=self.weighting,
                **self._limits(),
                log_uniform=log_uniform,
            )
        else:
            dags = WeightedDags.of_draws(weights.names, arcs_of_masks(masks, n))
            note = f"{len(masks):,} structures drawn independently"
        answer = ArcProbabilities(
            names=weights.names, matrix=dags.arcs(), method="sampled", notes=(note,), dags=dags
        )
        return self._with_drawn_paths(answer)

    def _draw(self, weights: LocalWeights, native: Any) -> Any:
        n_draws = _N_DRAWS if self.samples is None else self.samples
        return draw_from_orders(WHO, weights, native, n_draws, seed=self.seed, **self._limits())

    def _limits(self) -> dict[str, Any]:
        return {"threads": self.threads, "deadline": self.deadline}

    def _with_drawn_paths(self, answer: ArcProbabilities) -> ArcProbabilities:
        if not self.ancestors or answer.dags is None:
            return answer
        notes = (*answer.notes, f"paths: of {len(answer.dags):,} distinct structures drawn")
        return replace(answer, ancestors=answer.dags.ancestors(), notes=notes)

    def _by_chains(self, weights: LocalWeights) -> ArcProbabilities:
        over_partitions = self.prior == "uniform"
        run = run_chains(
            WHO,
            weights.by_weight(),
            over_partitions=over_partitions,
            n_chains=self.chains,
            n_steps=self.steps,
            n_before=self.burn_in,
            n_kept=_DRAWS_PER_CHAIN if self.samples is None else self.samples,
            with_paths=self.ancestors,
            seed=self.seed,
            state=self.state,
            executor=self.executor,
            **self._limits(),
        )
        notes = ["an estimate by Markov chains"]
        if run.ended != "done":
            what = "the time limit" if run.ended == "time limit" else "Ctrl-C"
            notes.append(f"{what} ended the chains: these are the structures drawn so far")
        if not run.diagnostics.is_mixed:
            notes.append(UNMIXED)
        dags = WeightedDags.of_draws(weights.names, run.arcs)
        dags = replace(dags, effective_size=run.diagnostics.least_effective_size)
        answer = ArcProbabilities(
            names=weights.names,
            matrix=dags.arcs(),
            method="partition chain" if over_partitions else "order chain",
            notes=tuple(notes),
            dags=dags,
            diagnostics=run.diagnostics,
            status=run.ended,
        )
        return self._with_drawn_paths(answer)
