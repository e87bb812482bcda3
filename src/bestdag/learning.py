"""`learn`: from a table of data to the best structure, in one call."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

from bestdag.advice import advice_on
from bestdag.checkpoint import Checkpoint, RunState, describe
from bestdag.counts.engine import CountingEngine
from bestdag.data.dataset import Dataset
from bestdag.data.discretization import make_method
from bestdag.data.discretization.base import Method
from bestdag.data.discretize import discretize as cut_numbers
from bestdag.data.readers import Place, Rows, read_rows
from bestdag.errors import (
    BestdagError,
    ClusterError,
    InvalidParameterError,
    require_not_negative,
    require_positive,
)
from bestdag.graph.knowledge import Knowledge
from bestdag.graph.knowledge.knowledge import known_as
from bestdag.incomplete import Refuse, Treatment, make_treatment
from bestdag.incomplete.base import Task
from bestdag.learned import Result
from bestdag.machine import memory_limit as limited_memory
from bestdag.progress import current_reporter, listening, unwatched, warn_of_interrupt
from bestdag.scores import chosen_or_default
from bestdag.scores.base import Score
from bestdag.scores.local_scores import LocalScores
from bestdag.scores.node_average import NodeAverage
from bestdag.scores.prior import StructurePrior, make_prior
from bestdag.scores.scorer import Scorer
from bestdag.scores.support import DEFAULT_SUPPORT
from bestdag.search import make_search
from bestdag.search.near_optimal.request import NearOptimal
from bestdag.search.result import SearchResult
from bestdag.search.steps import Search, checked_search
from bestdag.search.ties import tie_width
from bestdag.wording import by_reader, count_of
from bestdag.workers import Workers, resolve_workers

__all__ = ["known_as", "learn"]


def learn(
    data: Any,
    score: Score | str | None = None,
    *,
    search: Search | str = "auto",
    structure_prior: StructurePrior | str | None = None,
    knowledge: Knowledge | Sequence[str] | None = None,
    max_parents: int | None = None,
    support: float = DEFAULT_SUPPORT,
    missing: Treatment | str = "error",
    discretize: Method | str | int | bool | None = None,
    near_optimal: NearOptimal | int | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    workers: int | Executor | Any | str | None = None,
    checkpoint: Checkpoint | str | os.PathLike[str] | None = None,
) -> Result:
    """Learn the structure of a Bayesian network.

    Parameters
    ----------
    data : Dataset, path, frame or LocalScores
        A Dataset, or anything that `read` takes; or local scores: a `Scorer`, whose own score,
        prior and support hold, a `ScoreTable`, from data or from a ``.jkl`` file, or a score of
        your own over any data (`LocalScores`). Only a `Scorer` has rows to fit parameters to.
    score : Score or str, optional
        qNML unless given, with the structure prior "sparse". `LocalScores` are scores already.
    search : Search or str, default "auto"
        "auto" finds a good structure at once, raises it while there is time, bounds the best score
        and proves the optimum where it can; the notes of the result say what it did. A search
        that improves a structure begins with the one of its setting `start_from`.
    structure_prior : StructurePrior, "sparse" or "uniform", optional
        "sparse" corrects for the number of variables that there are to choose parents from, see
        `SparsePrior`. It is the default where no score is named; "uniform", no prior at all, where
        one is.
    knowledge : Knowledge or list of str, optional
        Arcs, tiers, orders that the structure must obey; statements such as ``"A -> B"`` are what
        `Knowledge.parse` takes. `pc_skeleton` makes the statement that arcs run along the links
        that tests of independence leave; what is proved is proved within it.
    max_parents : int, optional
        At most so many parents for every variable.
    support : float, default 5.0
        At least so many rows, on average, for each occupied cell of a family's table: the values
        that a variable and its parents take together may be a fifth of the rows at most. Families
        that a statement requires are kept and noted. 0 is no limit.
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
    near_optimal : NearOptimal or int, optional
        Also list the structures next to the best, with proof, in `structures` of the result: so
        many, or what `NearOptimal` says. That takes exact search ("auto" is exact then).
    time_limit : float, optional
        Seconds, from when the data are read. "auto" uses them unless a proof comes first; without
        a limit it ends when nothing improves any more, after 60 s at the latest.
    seed : int, default 0
        For searches that draw at random.
    workers : int, Executor, distributed.Client or str, optional
        Who works: so many threads of this machine, one per processor unless given; an `Executor` of
        concurrent.futures, such as a pool of processes or Dask's ``client.get_executor()``, for
        what can be done in parallel (tables of parent sets, restarts of climbing; each of its
        workers is sent all rows); or machines that hold the rows and count: the client of a Dask
        cluster, which stays open, the address of its scheduler, or "local" for processes of this
        machine (needs ``bestdag[cluster]``; Parquet files that all of them see are read by them,
        anything else is read here and sent). The result is the same.
    checkpoint : Checkpoint or path, optional
        A file in which the run is kept while it works, so that it can go on after whatever ended
        it, by ``Checkpoint(path, resume=True)``; at the end it has the answer. The time limit is
        for all parts together.

    See Also
    --------
    memory_limit : Limit the memory of everything in a block.
    watching : Follow the progress of everything in a block.
    Result.bounded : Bound the best score after any search.

    Warns
    -----
    InterruptedWarning
        After Ctrl-C, which is answered with the best structure so far; as an error
        (``warnings.simplefilter("error", bestdag.InterruptedWarning)``) it ends a loop too, and
        has that structure as `best`.

    Examples
    --------
    >>> from bestdag import NearOptimal
    >>> from bestdag.examples import example
    >>> result = learn(example("asia.csv"), "bdeu")
    >>> result.status, result.dag.parents("dysp")
    ('optimum proved', ('bronc', 'either'))
    >>> learn(example("asia.csv"), "bdeu", knowledge=["dysp !- either"]).dag.parents("dysp")
    ('bronc', 'lung')
    >>> result = learn(example("asia.csv"), "bdeu", near_optimal=NearOptimal(k=3, per_class=True))
    >>> [round(result.score - one.score, 3) for one in result.structures]
    [0.0, 0.446, 0.52]
    """
    require_not_negative("learn", "support", support)
    settings = {
        "data": data if isinstance(data, str | os.PathLike) else None,
        "search": search,
        "knowledge": knowledge,
        "max_parents": max_parents,
        "support": support,
        "missing": None if missing == "error" else missing,
        "discretize": None if discretize is False else discretize,
        "near_optimal": near_optimal,
        "time_limit": time_limit,
        "seed": seed,
    }
    listed = NearOptimal.of(near_optimal)
    who_works = resolve_workers("learn", workers, holds_rows=True)
    threads = who_works.threads
    file = Checkpoint.of("learn", checkpoint)
    with limited_memory(None), listening(current_reporter()), ExitStack() as stack:
        client = None
        if who_works.cluster is not None:
            from bestdag.cluster.session import joined

            client = stack.enter_context(joined(who_works.cluster, threads=threads))
        if isinstance(data, LocalScores):
            source = _scored(data, score, structure_prior, missing, discretize)
        else:
            source = _read_and_scored(data, score, structure_prior, missing, discretize, client)
        if isinstance(search, str):
            search = make_search(search)
        known = known_as(knowledge)
        if known is not None and known.skeleton is not None:
            links = count_of(len(known.skeleton), "link")
            source.notes.append(f"arcs run along the {links} of a skeleton")
        begun, state = time.monotonic(), RunState()
        if file is not None:
            description = describe(
                "learn",
                source.described,
                checked_search(search),
                score=source.score,
                structure_prior=source.prior,
                missing=source.treatment,
                max_parents=max_parents,
                support=support,
                knowledge=known,
                near_optimal=listed,
                seed=seed,
            )
            state = file.open("learn", description)
        stack.callback(state.close)
        if time_limit is not None:
            require_positive("learn", "time_limit", time_limit)
            time_limit = state.limited(time_limit, begun)
        task = Task(
            search=search,
            near_optimal=listed,
            structure_prior=source.prior,
            knowledge=known,
            max_parents=max_parents,
            support=support,
            time_limit=time_limit,
            seed=seed,
            workers=Workers(threads=threads, executor=who_works.executor),
            state=state,
        )
        changes: dict[str, Any] = {"resumed_seconds": state.seconds_before}
        solve = source.solver(support, threads)
        result = state.result(SearchResult)
        if result is None:
            result = solve(task)
            changes["seconds"] = result.seconds + state.seconds_before
            changes["notes"] = (*result.notes, *source.notes)
            if result.status in ("time limit", "interrupted"):
                state.stop(at_once=result.status == "interrupted")
            else:
                rungs = tuple(rung.without_certificates() for rung in result.ladder)
                state.finish(replace(result, certificates=(), ladder=rungs, **changes))
        elif result.is_proved:
            again = partial(solve, replace(task, state=None))
            changes["certificates"] = (_ProofBySolvingAgain(result.score, again),)
    dataset = source.dataset
    learned = Result(
        **{one.name: getattr(result, one.name) for one in fields(result)} | changes,
        dataset=dataset,
        scored_by=source.score,
        treatment=source.treatment,
        structure_prior=source.prior,
        advice=()
        if dataset is None
        else advice_on(result, dataset, partial(source.counts, threads)),
        data_notes=tuple(source.notes),
        asked={name: value for name, value in settings.items() if value is not None},
        knowledge=known,
        scores=source.scores,
    )
    lost = getattr(dataset, "lost", None)
    if lost is not None and learned.status == "interrupted":
        raise ClusterError.after(lost, learned)
    if learned.was_interrupted:
        warn_of_interrupt("learn", learned, _how_to_go_on(has_file=file is not None))
    return learned


@dataclass(slots=True)
class _Source:
    """What is learned from: rows and a score for them, or scores alone."""

    treatment: Treatment
    dataset: Dataset | None = None
    score: Score | None = None
    prior: StructurePrior | None = None
    scores: LocalScores | None = None
    is_scored: bool = False  # whether the scores were given
    notes: list[str] = field(default_factory=list)  # what became of the rows

    @property
    def described(self) -> Dataset | LocalScores:
        """What a checkpoint is about."""
        source = self.scores if self.is_scored else self.dataset
        assert source is not None
        return source

    def solver(self, support: float, threads: int | None) -> Callable[[Task], SearchResult]:
        """Return what does a task, by the scores there are or by those of the rows."""
        if self.is_scored:
            assert self.scores is not None
            return partial(Task.solve, scores=self.scores)
        assert self.dataset is not None
        assert self.score is not None
        scorer = self.treatment.scorer(
            self.dataset, self.score, self.prior, support=support, threads=threads
        )
        self.scores = scorer
        return partial(self.treatment.learn, self.dataset, self.score, scorer=scorer)

    def counts(self, threads: int | None) -> CountingEngine:
        """Return what counts the rows."""
        if isinstance(self.scores, Scorer):
            return self.scores.counts
        assert self.dataset is not None
        return CountingEngine(self.dataset, missing="available", threads=threads)


def _scored(
    data: LocalScores,
    score: Score | str | None,
    structure_prior: StructurePrior | str | None,
    missing: Treatment | str,
    discretize: Method | str | int | bool | None,
) -> _Source:
    """Learn by scores that are given."""
    treatment = make_treatment(missing)
    _refuse_beside_scores(
        data,
        score=score,
        structure_prior=structure_prior,
        missing=None if isinstance(treatment, Refuse) else missing,
        discretize=discretize or None,
    )
    if not isinstance(data, Scorer):
        return _Source(treatment, scores=data, is_scored=True)
    chosen: Any = data.score
    if isinstance(chosen, NodeAverage):
        chosen, treatment = chosen.score, make_treatment("available")
    return _Source(treatment, data.dataset, chosen, data.structure_prior, data, is_scored=True)


def _read_and_scored(
    data: Any,
    score: Score | str | None,
    structure_prior: StructurePrior | str | None,
    missing: Treatment | str,
    discretize: Method | str | int | bool | None,
    client: Any,
) -> _Source:
    """Read the table, decide what becomes of missing values, and choose a score."""
    treatment = make_treatment(missing)
    chosen, structure_prior = chosen_or_default(score, structure_prior)
    notes: list[str] = []
    if not isinstance(data, Dataset) or discretize:
        reporter = current_reporter()
        if reporter is not None:
            reporter.report("reading the table")
        rows = _read(data, treatment, discretize, client)
        data = rows.dataset
        notes += rows.notes
    if treatment.idle is not None and not data.has_missing:
        what = "the table is learned like any complete one"
        notes.append(f"no missing values: {treatment.idle}, and {what}")
        treatment = Refuse()
    dataset = treatment.settle(data, chosen)
    if dataset.n_rows < data.n_rows:
        share = f"{dataset.n_rows:,} of {data.n_rows:,} rows"
        notes.append(f"learned from the {share} that have no missing values")
    if client is not None:
        from bestdag.cluster.reading import spread

        dataset = spread(client, dataset)
    prior = make_prior(structure_prior, len(dataset.names))
    return _Source(treatment, dataset, chosen, prior, notes=notes)


def _how_to_go_on(*, has_file: bool) -> str:
    again = by_reader("Checkpoint(path, resume=True)", "--resume")
    if has_file:
        return f"to continue from the checkpoint, learn again with {again}"
    return (
        f"a run with {by_reader('a checkpoint', '--checkpoint FILE')} can be continued by {again}"
    )


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
    place: str | Place = "auto"
    if client is not None:
        from bestdag.cluster.reading import Workers as RowsOnWorkers

        place = RowsOnWorkers(client)
    return read_rows(data, rows_in=place, missing=treatment.reads_as)


@dataclass(frozen=True, slots=True, eq=False)
class _ProofBySolvingAgain:
    """The proof of a result that was read from a file, which has none: it is found once more."""

    score: float
    again: Callable[[], SearchResult]

    def verify(self) -> None:
        """Solve again, check that proof, and compare the scores."""
        with unwatched():
            result = self.again()
        result.verify()
        if abs(result.score - self.score) > tie_width(self.score) + result.resolution:
            raise BestdagError(
                f"verify: the file says {self.score!r}, and the best is {result.score!r}"
            )


def _refuse_beside_scores(data: LocalScores, **settings: object) -> None:
    for name, value in settings.items():
        if value is not None:
            raise InvalidParameterError(
                f"learn: a {type(data).__name__} has its scores already; leave out {name}"
            )
