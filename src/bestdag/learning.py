"""`learn`: from a table of data to the best structure, in one call."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from bestdag.advice import advice_on
from bestdag.checkpoint import Checkpoint, RunState, describe
from bestdag.constraint.confined import confined
from bestdag.data.dataset import Dataset
from bestdag.data.discretization import make_method
from bestdag.data.discretization.base import Method
from bestdag.data.discretize import discretize as cut_numbers
from bestdag.data.rows import Rows, read_rows
from bestdag.errors import (
    BestdagError,
    ClusterError,
    InvalidParameterError,
    require_not_negative,
    require_positive,
)
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge
from bestdag.graph.knowledge.given import known_as
from bestdag.graph.pdag import Pdag
from bestdag.incomplete import Treatment, make_treatment
from bestdag.incomplete.base import Task
from bestdag.learned import Result
from bestdag.machine import memory_limit as limited_memory
from bestdag.progress import Told, listening, reporter_for, warn_of_interrupt
from bestdag.scores import chosen_or_default
from bestdag.scores.base import Score
from bestdag.scores.prior import StructurePrior, make_prior
from bestdag.scores.support import DEFAULT_SUPPORT
from bestdag.scores.table import ScoreTable
from bestdag.search import make_search
from bestdag.search.near_optimal.request import Request
from bestdag.search.result import SearchResult
from bestdag.search.steps import Search, checked_search
from bestdag.search.ties import tie_width

__all__ = ["known_as", "learn"]


def learn(
    data: Any,
    score: Score | str | None = None,
    *,
    search: Search | str = "auto",
    missing: Treatment | str = "error",
    discretize: Method | str | int | bool | None = None,
    max_parents: int | None = None,
    support: float = DEFAULT_SUPPORT,
    knowledge: Knowledge | Sequence[str] | None = None,
    skeleton: str | Pdag | None = None,
    alpha: float | None = None,
    structure_prior: StructurePrior | str | None = None,
    time_limit: float | None = None,
    memory_limit: float | str | None = None,
    bound: bool = False,
    k_best: int | None = None,
    per_class: bool | None = None,
    all_optimal: bool = False,
    collect_within: float | None = None,
    threads: int | None = None,
    seed: int = 0,
    start: Dag | None = None,
    cluster: Any = None,
    executor: Executor | None = None,
    progress: Told | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float | None = None,
    resume: bool = False,
    force: bool = False,
) -> Result:
    """Learn the structure of a Bayesian network.

    Parameters
    ----------
    data : Dataset, path, frame or ScoreTable
        A Dataset, or anything that `read` takes; or a table of local scores, from data or from a
        ``.jkl`` file. The result of such a table has no rows to fit parameters to.
    score : Score or str, optional
        qNML unless given, with the structure prior "sparse". A ScoreTable has its scores already.
    search : Search or str, default "auto"
        "auto" finds a good structure at once, raises it while there is time, bounds the best score
        and proves the optimum where it can; the notes of the result say what it did.
    missing : {"error", "drop", "state", "em", "available"} or StructuralEM, default "error"
        What to do about missing values: refuse them, and say which of the others suits; learn from
        the complete rows; make a state of them; learn structure and parameters in turn
        (`StructuralEM`, for all scores but fNML and PNAL), which assumes that values are missing at
        random, and has nothing to do where none is; score each family by its mean log-likelihood
        over the rows that show all of it (`NodeAverage`; for LL, AIC, BIC, HQC and PNAL), which
        assumes that values are missing completely at random.
    discretize : str, int, bool or Method, optional
        Cut numeric columns into intervals as the table is read: "quantile" (what True means) or
        "uniform", so many quantiles, or a method with its settings. What `discretize` of the table
        with a target makes is given as the data.
    max_parents : int, optional
        At most so many parents for every variable.
    support : float, default 5.0
        At least so many rows, on average, for each occupied cell of a family's table: the values
        that a variable and its parents take together may be a fifth of the rows at most. Families
        that a statement requires are kept and noted. 0 is no limit.
    knowledge : Knowledge or list of str, optional
        Arcs, tiers, orders that the structure must obey; statements such as ``"A -> B"`` are what
        `Knowledge.parse` takes.
    skeleton : "pc" or Pdag, optional
        Arcs run along these links only, for every search: those that the PC algorithm leaves, or
        those of a graph. What is proved is proved within the skeleton.
    alpha : float, optional
        Level of significance of the tests of the skeleton "pc"; 0.05 unless given. The tests
        take at most half of a time limit.
    structure_prior : StructurePrior, "sparse" or "uniform", optional
        "sparse" corrects for the number of variables that there are to choose parents from, see
        `SparsePrior`. It is the default where no score is named; "uniform", no prior at all, where
        one is.
    time_limit : float, optional
        Seconds, from when the data are read. "auto" uses them unless a proof comes first; without
        a limit it ends when nothing improves any more, after 60 s at the latest.
    memory_limit : float or str, optional
        What all of it may take beyond what the process has already, reading included: bytes, or a
        text such as "2 GB"; four fifths of what is free unless given. A search that can do with
        less memory does; one that cannot is refused with a forecast before it begins.
    bound : bool, default False
        Bound the best score after any search, so that the result has a `gap`. That takes a quarter
        of the time limit; without one as long as the search took, at least two seconds, or less
        when the bound is reached.
    k_best : int, optional
        List so many structures, the best there are, in `structures` of the result, with proof: by
        exact search ("auto" is exact then).
    per_class : bool, optional
        List one structure for each class of equivalent ones. The score must be the same for all
        members. False unless given, and True for `collect_within`.
    all_optimal : bool, default False
        List all structures that tie with the best.
    collect_within : float, optional
        List all that score no less than the best minus so many nats: of Bayes factor
        ``exp(collect_within)`` or less, where the score is a log marginal likelihood or BIC.
        `k_best` limits their number.
    threads : int, optional
        One per processor unless given.
    seed : int, default 0
        For searches that draw at random.
    start : Dag, optional
        The structure to begin with, for searches that improve one; others note that they do not
        use it.
    cluster : distributed.Client or str, optional
        Machines that hold the rows and count: the client of a Dask cluster, the address of its
        scheduler, or "local" for processes of this machine; needs ``bestdag[cluster]``. Parquet
        files that all of them see are read by them; anything else is read here and sent. The
        structure and its score are those of one machine. A client stays open, so that the result
        can be fitted.
    executor : concurrent.futures.Executor, optional
        Who does what can be done apart, such as a pool of processes or Dask's
        ``client.get_executor()``: tables of parent sets, some children to each task, and restarts
        of climbing. Each worker needs all rows, which are sent to it. The result is the same.
    progress : callable, optional
        Called a few times a second, from the calling thread, with a `Progress`: phase, best score
        so far, bound, time. What it raises is raised here; KeyboardInterrupt does what Ctrl-C does.
    checkpoint : path, optional
        A file in which the run is kept while it works, so that it can go on after whatever ended
        it; at the end it has the answer.
    checkpoint_every : float, optional
        Seconds between two writes; 30 unless given.
    resume : bool, default False
        Go on from the file, where there is one, with all that was found: the best structure,
        bounds, lists of parent sets, proofs of components. The search may take another way from
        there than without a break. The time limit is for all parts together. A file of other data
        or settings is refused, and so is a score of your own that does not say its settings.
    force : bool, default False
        Begin anew although there is a file.

    Warns
    -----
    InterruptedWarning
        After Ctrl-C, which is answered with the best structure so far; as an error
        (``warnings.simplefilter("error", bestdag.InterruptedWarning)``) it ends a loop too, and
        has that structure as `best`.

    Examples
    --------
    >>> from bestdag.examples import example
    >>> result = learn(example("asia.csv"), "bdeu")
    >>> result.status, result.dag.parents("dysp")
    ('optimum proved', ('bronc', 'either'))
    >>> learn(example("asia.csv"), "bdeu", knowledge=["dysp !- either"]).dag.parents("dysp")
    ('bronc', 'lung')
    >>> result = learn(example("asia.csv"), "bdeu", k_best=3, per_class=True)
    >>> [round(result.score - one.score, 3) for one in result.structures]
    [0.0, 0.446, 0.52]
    """
    require_not_negative("learn", "support", support)
    request = Request.of(k_best, per_class, all_optimal, collect_within)
    asked = _asked(
        data=data if isinstance(data, str | os.PathLike) else None,
        search=search,
        max_parents=max_parents,
        support=support,
        knowledge=knowledge,
        skeleton=skeleton,
        alpha=alpha,
        time_limit=time_limit,
        memory_limit=memory_limit,
        bound=bound or None,
        seed=seed,
        start=start,
        missing=None if missing == "error" else missing,
        discretize=None if discretize is False else discretize,
        k_best=k_best,
        per_class=per_class,
        all_optimal=all_optimal or None,
        collect_within=collect_within,
    )
    told = reporter_for("learn", progress)
    with limited_memory(memory_limit), listening(told), ExitStack() as stack:
        client = None
        if cluster is not None:
            from bestdag.cluster.session import joined

            client = stack.enter_context(joined(cluster, threads=threads))
        dataset, chosen, prior = None, None, None
        notes: list[str] = []
        treatment = make_treatment(missing)
        if isinstance(data, ScoreTable):
            _refuse_beside_scores(
                score=score,
                structure_prior=structure_prior,
                missing=None if treatment.name == "error" else missing,
                discretize=discretize or None,
            )
        else:
            chosen, structure_prior = chosen_or_default(score, structure_prior)
            if not isinstance(data, Dataset) or discretize:
                if told is not None:
                    told.tell("reading the table")
                rows = _read(data, treatment, discretize, client)
                data = rows.dataset
                notes += rows.notes
            if treatment.idle is not None and not data.has_missing:
                what = "the table is learned like any complete one"
                notes.append(f"no missing values: {treatment.idle}, and {what}")
                treatment = make_treatment("error")
            dataset = treatment.settle(data, chosen)
            prior = make_prior(structure_prior, len(dataset.names))
            if dataset.n_rows < data.n_rows:
                those = f"{dataset.n_rows:,} of {data.n_rows:,} rows"
                notes.append(f"learned from the {those} that have no missing values")
            if client is not None:
                from bestdag.cluster.reading import spread

                dataset = spread(client, dataset)
        if isinstance(search, str):
            search = make_search(search)
        known = known_as(knowledge)
        has_statements = known is not None and known != Knowledge()
        begun = time.monotonic()
        file = Checkpoint.of("learn", checkpoint, checkpoint_every, resume, force)
        state = RunState()
        if file is not None:
            description = describe(
                "learn",
                data if dataset is None else dataset,
                checked_search(search),
                score=chosen,
                structure_prior=prior,
                missing=treatment,
                max_parents=max_parents,
                support=support,
                knowledge=known,
                skeleton=skeleton,
                alpha=alpha,
                bound=bound,
                near_optimal=request,
                seed=seed,
                start=start,
            )
            state = file.open("learn", description)
        stack.callback(state.close)
        if time_limit is not None:
            require_positive("learn", "time_limit", time_limit)
            time_limit = state.limited(time_limit, begun)
        tested = 0.0  # seconds
        is_confined = skeleton is not None or alpha is not None
        result_before = state.result(SearchResult)
        if is_confined and result_before is None:
            begun = time.monotonic()
            known, note = confined(known, skeleton, alpha, dataset, time_limit, threads, told)
            notes.append(note)
            tested = time.monotonic() - begun
            if time_limit is not None:
                time_limit = max(time_limit - tested, 1e-3)
        task = Task(
            search=search,
            bound=bound,
            near_optimal=request,
            structure_prior=prior,
            knowledge=known,
            max_parents=max_parents,
            support=support,
            time_limit=time_limit,
            threads=threads,
            seed=seed,
            start=start,
            progress=told,
            executor=executor,
            state=state,
        )

        def solved(task: Task) -> SearchResult:
            if dataset is None or chosen is None:
                return task.solve(data)
            return treatment.learn(dataset, chosen, task)

        if result_before is not None:
            found = replace(result_before, resumed_seconds=state.seconds_before)
            if found.is_proved:
                again = partial(solved, replace(task, state=None, progress=None))
                found = replace(found, certificates=(_ProofBySolvingAgain(found.score, again),))
            if is_confined:
                notes.append(found.notes[-1])
        else:
            found = solved(task)
            found = replace(
                found,
                seconds=found.seconds + tested + state.seconds_before,
                resumed_seconds=state.seconds_before,
                limits=replace(
                    found.limits,
                    has_statements=has_statements,
                    has_skeleton=skeleton is not None,
                ),
                notes=(*found.notes, *notes),
            )
            if found.status in ("time limit", "interrupted"):
                state.stop(at_once=found.status == "interrupted")
            else:
                state.finish(replace(found, certificates=()))
    values = {field.name: getattr(found, field.name) for field in fields(found)}
    result = Result(
        **values,
        dataset=dataset,
        scored_by=chosen,
        treatment=treatment,
        structure_prior=prior,
        advice=() if dataset is None else advice_on(found, dataset),
        data_notes=tuple(note for note in notes if note in found.notes),
        asked=asked,
    )
    lost = getattr(dataset, "lost", None)
    if lost is not None and result.status == "interrupted":
        raise ClusterError.after(lost, result)
    if result.was_interrupted:
        warn_of_interrupt("learn", result, _how_to_go_on(has_file=checkpoint is not None))
    return result


def _how_to_go_on(*, has_file: bool) -> str:
    if has_file:
        return "to continue from the checkpoint, call learn again with resume=True"
    return "a run with checkpoint=FILE can be continued by resume=True"


def _read(
    data: Any, treatment: Treatment, cutting: Method | str | int | bool | None, client: Any
) -> Rows:
    """Read a table, here or on the machines that will count it; numbers are cut here."""
    if cutting:
        if isinstance(data, Dataset):
            raise InvalidParameterError(
                "learn: discretize bins numbers as a table is read, and a Dataset has its states "
                "already; give what it was read from"
            )
        bins = cutting if isinstance(cutting, int) and cutting is not True else None
        how = "quantile" if isinstance(cutting, int) else cutting
        method = make_method("learn: discretize", how, bins)
        if method.needs_target:
            raise InvalidParameterError(
                f"learn: discretize: the method {method.name!r} needs a class; give "
                "learn(discretize(data, target=...)), or choose a method without one: quantile, "
                "uniform"
            )
        return Rows(cut_numbers(data, method=method, missing=treatment.reads_as))
    if client is not None:
        from bestdag.cluster.reading import is_read_there, read_on

        if is_read_there(data):
            return Rows(read_on(client, data, missing=treatment.reads_as))
    return read_rows(data, missing=treatment.reads_as)


@dataclass(frozen=True, slots=True, eq=False)
class _ProofBySolvingAgain:
    """The proof of a result that was read from a file, which has none: it is found once more."""

    score: float
    again: Callable[[], SearchResult]

    def verify(self) -> None:
        """Solve again, check that proof, and compare the scores."""
        result = self.again()
        result.verify()
        if abs(result.score - self.score) > tie_width(self.score) + result.resolution:
            raise BestdagError(
                f"verify: the file says {self.score!r}, and the best is {result.score!r}"
            )


def _asked(**given: Any) -> dict[str, Any]:
    """Keep what was given."""
    return {name: value for name, value in given.items() if value is not None}


def _refuse_beside_scores(**settings: object) -> None:
    for name, value in settings.items():
        if value is not None:
            raise InvalidParameterError(
                f"learn: a ScoreTable has its scores already; leave out {name}"
            )
