"""Running a study: trials that are not in the file yet, on all processors, then the summary."""

from __future__ import annotations

import math
import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bestdag.checkpoint.run import require_word
from bestdag.errors import require_positive
from bestdag.machine import thread_count
from bestdag.papers.data_folder import DataFolder
from bestdag.papers.store import RowFile
from bestdag.papers.study import Row, Size, Study, Trial, generator_of
from bestdag.papers.summary import Summary
from bestdag.workers import run_all

__all__ = ["ROWS", "Forecast", "Progress", "reproduce"]

_WHO = "reproduce"
ROWS = "rows.jsonl"
# No trial but one begins for a forecast alone after so many seconds.
_TO_FORECAST = 120.0


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a run will take: seconds on so many idle processors, from the groups' known trials.

    Attributes
    ----------
    n_trials : int
        Those to come.
    seconds : float
    processors : int
    n_groups, n_known : int
        Groups of trials, and those of which a trial has been run; the others are expected to take
        as much longer or shorter as these than the study says.
    """

    n_trials: int
    seconds: float
    processors: int
    n_groups: int
    n_known: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is; the time left is None before anything is known of it."""

    n_done: int
    n_trials: int
    seconds_left: float | None


def reproduce(
    study: Study,
    folder: str | os.PathLike[str],
    *,
    size: Size = "quick",
    data: str | os.PathLike[str] | None = None,
    seed: int = 0,
    resume: bool = False,
    force: bool = False,
    threads: int | None = None,
    executor: Executor | None = None,
    forecast_only: bool = False,
    time_limit: float | None = None,
    command: str | None = None,
    on_forecast: Callable[[Forecast], None] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Summary:
    """Run a study and write its summary into a folder.

    Parameters
    ----------
    study : Study
    folder : path
        For ``rows.jsonl``, ``summary.md``, ``summary.html`` and the figures.
    size : {"quick", "full"}, default "quick"
    data : path, optional
        The folder with ``uci/`` and ``networks/``. Trials that need a file that is not there are
        left out, and the summary names it.
    seed : int, default 0
        Same seed, same rows, on any number of processors.
    resume : bool, default False
        Keep the rows that are there and run what is missing; where there are none, begin.
    force : bool, default False
        Begin anew in a folder that has rows.
    threads : int, optional
        One process per processor unless given.
    executor : concurrent.futures.Executor, optional
        Who runs the trials, instead of processes of this machine; its workers need the data
        folder at the same place.
    forecast_only : bool, default False
        Run one trial of each group, as far as two minutes allow, and forecast the others; the
        summary is of these.
    time_limit : float, optional
        Seconds from now after which trials are stopped: those that are not done are dropped, and
        run when the run is resumed. The summary is of the rows there are. Trials come in an order
        in which all groups fill alike.
    command : str, optional
        By what the summary says that it was made.
    on_forecast, on_progress : callable, optional

    Raises
    ------
    FileError
        If the folder has rows, and neither `resume` nor `force` says what becomes of them.
    """
    import bestdag

    if time_limit is not None:
        require_positive(_WHO, "time_limit", time_limit)
    end = math.inf if time_limit is None else time.monotonic() + time_limit
    place = Path(folder)
    require_word(_WHO, place / ROWS, (place / ROWS).exists(), resume=resume, force=force)
    files = DataFolder(data)
    planned = list(study.trials(size, seed))
    missing = files.missing(name for trial in planned for name in trial.files)
    possible = [trial for trial in planned if not missing.keys() & set(trial.files)]
    about = {"study": study.name, "seed": seed, "version": bestdag.__version__}
    rows = RowFile(place / ROWS, about)
    with rows.opened(fresh=force and not resume) as kept:
        run = _Run(study, files, rows, kept, threads, executor, on_progress)
        wanted = [trial for trial in _evenly(possible) if trial.key not in kept]
        if size == "full" or forecast_only:
            soon = min(end, time.monotonic() + _TO_FORECAST)
            run.run(_one_of_each(wanted, kept, possible, seed), end, begin_until=soon)
            if on_forecast is not None:
                on_forecast(run.forecast([t for t in wanted if t.key not in kept], possible))
        if not forecast_only:
            run.run([trial for trial in wanted if trial.key not in kept], end)
        found = [_row(trial, kept[trial.key]) for trial in possible if trial.key in kept]
        seconds = math.fsum(kept[t.key]["seconds"] for t in possible if t.key in kept)
    summary = Summary.of(
        study,
        found,
        command=command or f"reproduce({study.name}, {size}, seed {seed})",
        n_planned=len(planned),
        seconds=seconds,
        missing=missing,
        time_limit=time_limit if len(found) < len(possible) and not forecast_only else None,
    )
    summary.write(place)
    return summary


def _row(trial: Trial, entry: Mapping[str, Any]) -> Row:
    return {**trial.settings, **entry["row"]}


def _evenly(trials: Sequence[Trial]) -> list[Trial]:
    """Order trials so that the same share of each group is done at any time."""
    sizes = Counter(trial.group for trial in trials)
    before: Counter[str] = Counter()
    places = []
    for trial in trials:
        places.append((before[trial.group] + 0.5) / sizes[trial.group])
        before[trial.group] += 1
    return [trials[k] for k in sorted(range(len(trials)), key=places.__getitem__)]


def _one_of_each(
    wanted: Sequence[Trial], kept: Mapping[str, Any], possible: Sequence[Trial], seed: int
) -> list[Trial]:
    """Return one trial of each group of which none is known yet, groups in a random order."""
    known = {trial.group for trial in possible if trial.key in kept}
    first: dict[str, Trial] = {}
    for trial in wanted:
        if trial.group not in known:
            first.setdefault(trial.group, trial)
    chosen = list(first.values())
    return [chosen[k] for k in generator_of("forecast", seed).permutation(len(chosen))]


def _tried(
    trial: Trial,
    _threads: int,
    *,
    run: Callable[[Trial, DataFolder], Mapping[str, Any]],
    files: DataFolder,
) -> tuple[dict[str, Any], float]:
    # Of the processor: what else runs on the machine does not count.
    start = time.process_time()
    row = dict(run(trial, files))
    return row, time.process_time() - start


class _Run:
    """Trials on their way into the file."""

    def __init__(
        self,
        study: Study,
        files: DataFolder,
        rows: RowFile,
        kept: dict[str, dict[str, Any]],
        threads: int | None,
        executor: Executor | None,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self._study = study
        self._files = files
        self._rows = rows
        self._kept = kept
        self._processors = thread_count(threads, who=_WHO)
        self._executor = executor
        self._on_progress = on_progress

    def run(self, trials: Sequence[Trial], end: float, *, begin_until: float = math.inf) -> None:
        """Run them in any order, each in the file when it is done.

        Those that are not done by `end` are dropped; after `begin_until` none begins, but the
        first.
        """
        if not trials:
            return
        begun = time.monotonic()
        first = iter([True])
        n_done = 0

        def keep(number: int, answer: tuple[dict[str, Any], float]) -> None:
            nonlocal n_done
            trial, (row, seconds) = trials[number], answer
            self._rows.add(trial, row, seconds)
            self._kept[trial.key] = {"row": row, "seconds": seconds}
            n_done += 1
            if self._on_progress is not None:
                spent = time.monotonic() - begun
                left = spent * (len(trials) - n_done) / n_done
                left = min(left, max(0.0, end - time.monotonic()))
                self._on_progress(Progress(n_done, len(trials), left if n_done > 1 else None))

        run_all(
            partial(_tried, run=self._study.run, files=self._files),
            trials,
            threads=self._processors if self._executor is None else None,
            who=_WHO,
            on_answer=keep,
            may_begin=lambda: next(first, False) or time.monotonic() < begin_until,
            end=end,
            apart=True,
            executor=self._executor,
        )

    def forecast(self, left: Sequence[Trial], possible: Sequence[Trial]) -> Forecast:
        """Take each trial for the mean of those of its group that are known.

        Where none is, for what the study expects of it, on the scale of those that are known.
        """
        known: dict[str, list[float]] = defaultdict(list)
        expected: dict[str, float] = {}
        for trial in possible:
            expected.setdefault(trial.group, trial.expected)
            if trial.key in self._kept:
                known[trial.group].append(self._kept[trial.key]["seconds"])
        means = {group: math.fsum(times) / len(times) for group, times in known.items()}
        scale = 1.0
        if means:
            scale = math.fsum(means.values()) / math.fsum(expected[group] for group in means)
        total = math.fsum(means.get(t.group, scale * expected[t.group]) for t in left)
        seconds = total / self._processors
        return Forecast(len(left), seconds, self._processors, len(expected), len(means))
