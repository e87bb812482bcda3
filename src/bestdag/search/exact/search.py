"""Exact search: the best structure there is, with a proof."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import ClassVar, Literal

from bestdag.errors import GraphError, require_choice
from bestdag.graph.dag import Dag
from bestdag.machine import SHARE_OF_MEMORY, available_memory
from bestdag.scores.table import ScoreTable
from bestdag.search.base import Problem, SearchResult, Status
from bestdag.search.exact.bnc import solve_bnc
from bestdag.search.exact.components import Component, decompose
from bestdag.search.exact.dp import forecast, solve_dp
from bestdag.search.exact.engine import EngineResult
from bestdag.search.exact.verification import verify_engine_result

__all__ = ["ComponentProof", "Exact"]

# Up to here 2^n steps take about a second at most, and nothing is faster for sure.
_SURELY_DP = 25
# With so many candidate sets linear programs grow slow, and 2^30 steps are the better bet.
_MANY_SETS, _PERHAPS_DP = 5_000, 30


@dataclass(frozen=True, slots=True, eq=False)
class ComponentProof:
    """What was proven about one component of the problem, and by which engine."""

    component: Component
    engine: str
    result: EngineResult

    def verify(self) -> None:
        """Check the claim by other means than those that found it."""
        verify_engine_result(self.component.table, self.result)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """Find a best structure and prove it.

    Parameters
    ----------
    engine : {"auto", "dp", "bnc"}, default "auto"
        Dynamic programming over subsets (memory and time grow as 2^n in the number of variables
        that depend on each other), or branch-and-cut-and-price. "auto" chooses for each
        component of the problem by its numbers of variables and candidate sets, never by a
        stopwatch.

    Notes
    -----
    Statements about ancestors and required edges are not known to the engines. Where the best
    structure without them obeys them, it is the best with them; otherwise the search says that it
    cannot help. All other knowledge is honoured while parent sets are listed.
    """

    name: ClassVar[str] = "exact"

    engine: Literal["auto", "dp", "bnc"] = "auto"

    def __post_init__(self) -> None:
        require_choice("exact", "engine", self.engine, ("auto", "dp", "bnc"))

    def run(self, problem: Problem) -> SearchResult:
        """Solve; a time limit or Ctrl-C gives the best structure so far and a bound."""
        status: Status = "optimum proved"
        try:
            table = problem.table()
        except KeyboardInterrupt:  # what little can be listed at once gives a structure
            table = problem.table(time_limit=0.0)
            status = "interrupted"
        if status == "optimum proved" and not table.complete:
            status = "time limit"
        problem.progress(f"searching among {table.n_sets:,} parent sets")
        chosen = [0] * len(table.names)
        proofs: list[ComponentProof] = []
        for part in sorted(decompose(table), key=lambda part: len(part.variables)):
            stopped = status != "optimum proved"
            engine = self._engine_for(part.table)
            # Once stopped, the rest gets no time: engines then give their first structure.
            deadline = time.monotonic() if stopped else problem.deadline
            solved = _ENGINES[engine](part.table, problem.threads, deadline)
            proofs.append(ComponentProof(part, engine, solved))
            for place, variable in enumerate(part.variables):
                chosen[variable] = int(part.origins[place][solved.parents[place]])
            if not stopped and solved.status != "optimum proved":
                status = solved.status
        return self._result(problem, table, chosen, proofs, status)

    def _engine_for(self, table: ScoreTable) -> str:
        if self.engine != "auto":
            return self.engine
        n = table.n_variables
        wanted = n <= _SURELY_DP or (n <= _PERHAPS_DP and table.n_sets >= _MANY_SETS)
        return "dp" if wanted and _fits(n, table.n_sets) else "bnc"

    def _result(
        self,
        problem: Problem,
        table: ScoreTable,
        chosen: list[int],
        proofs: list[ComponentProof],
        status: Status,
    ) -> SearchResult:
        parents = {
            name: [table.names[p] for p in table.child(i).parents(chosen[i])]
            for i, name in enumerate(table.names)
        }
        dag = Dag(problem.names, [(p, child) for child in parents for p in parents[child]])
        score = math.fsum(float(table.child(i).scores[k]) for i, k in enumerate(chosen))
        # A bound over some of the sets is none over all of them.
        bound = math.fsum(proof.result.bound for proof in proofs) if table.complete else None
        broken = problem.knowledge.violations(dag)
        if broken:
            raise GraphError(
                f"exact: the best structure breaks the statement '{broken[0]}', which the engines "
                "do not know; state it as arcs or tiers, or leave it out"
            )
        engines = sorted({p.engine for p in proofs if len(p.component.variables) > 1})
        return SearchResult(
            dag=dag,
            score=score,
            bound=None if bound is None else max(bound, score),
            status=status,
            search=self.name,
            engine="+".join(engines) or "none needed",
            seconds=problem.seconds,
            settings=asdict(self),
            resolution=math.fsum(proof.result.resolution for proof in proofs),
            certificates=tuple(proofs),
        )


def _dp(table: ScoreTable, threads: int | None, deadline: float | None) -> EngineResult:
    return solve_dp(table, threads=threads, deadline=deadline)


def _bnc(table: ScoreTable, threads: int | None, deadline: float | None) -> EngineResult:
    return solve_bnc(table, threads=threads or 1, deadline=deadline)


_ENGINES: dict[str, Callable[[ScoreTable, int | None, float | None], EngineResult]] = {
    "dp": _dp,
    "bnc": _bnc,
}


def _fits(n: int, n_sets: int) -> bool:
    free = available_memory()
    return free is None or forecast(n, n_sets=n_sets).n_bytes <= SHARE_OF_MEMORY * free
