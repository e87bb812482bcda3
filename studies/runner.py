"""Running a study: trials that are not in the file yet, on all processors, then the summary."""

from __future__ import annotations

import fcntl
import json
import math
import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import bestdag
from bestdag import BestdagError, DataWarning, FileError, FormatError, WriteError
from studies.data import DataFolder
from studies.study import Size, Study, Trial, generator_of
from studies.summary import Summary

__all__ = ["ROWS", "Forecast", "Progress", "reproduce"]

ROWS = "rows.jsonl"
# No trial but one begins for a forecast alone after so many seconds.
_TO_FORECAST = 120.0
# Seconds that a process which was killed may take to let go of the file.
_PATIENCE = 1.0


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
    end = math.inf if time_limit is None else time.monotonic() + time_limit
    place = Path(folder)
    if resume and force:
        raise FileError("resume continues and force starts over; choose one")
    if (place / ROWS).exists() and not (resume or force):
        what = f"{place / ROWS} exists already"
        raise FileError(f"{what}; pass --resume to continue, or --force to start over")
    files = DataFolder(data)
    planned = list(study.trials(size, seed))
    missing = files.missing(name for trial in planned for name in trial.files)
    possible = [trial for trial in planned if not missing.keys() & set(trial.files)]
    about = {"study": study.name, "seed": seed, "version": bestdag.__version__}
    processors = threads or _processors()
    with (
        _opened(place / ROWS, about, fresh=force) as rows,
        _working(executor, processors, min(processors, len(possible))) as work,
    ):
        run = partial(_run, study, files, rows, work, on_progress=on_progress)
        wanted = [trial for trial in _evenly(possible) if trial.key not in rows.known]
        if size == "full" or forecast_only:
            soon = min(end, time.monotonic() + _TO_FORECAST)
            run(_one_of_each(wanted, rows.known, possible, seed), end=end, begin_until=soon)
            if on_forecast is not None:
                left = [trial for trial in wanted if trial.key not in rows.known]
                on_forecast(_forecast(left, possible, rows.known, processors))
        if not forecast_only:
            run([trial for trial in wanted if trial.key not in rows.known], end=end)
    entries = [(t, rows.known[t.key]) for t in possible if t.key in rows.known]
    done = [{**trial.settings, **entry["row"]} for trial, entry in entries]
    summary = Summary.of(
        study,
        done,
        command=command or f"reproduce({study.name}, {size}, seed {seed})",
        n_planned=len(planned),
        seconds=math.fsum(entry["seconds"] for _, entry in entries),
        missing=missing,
        time_limit=time_limit if len(done) < len(possible) and not forecast_only else None,
    )
    summary.write(place)
    return summary


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
    wanted: Sequence[Trial], known: Mapping[str, Any], possible: Sequence[Trial], seed: int
) -> list[Trial]:
    """Return one trial of each group of which none is known yet, groups in a random order."""
    groups = {trial.group for trial in possible if trial.key in known}
    first: dict[str, Trial] = {}
    for trial in wanted:
        if trial.group not in groups:
            first.setdefault(trial.group, trial)
    chosen = list(first.values())
    return [chosen[k] for k in generator_of("forecast", seed).permutation(len(chosen))]


def _forecast(
    left: Sequence[Trial], possible: Sequence[Trial], known: Mapping[str, Any], processors: int
) -> Forecast:
    """Take each trial for the mean of those of its group that are known.

    Where none is, for what the study expects of it, on the scale of those that are known.
    """
    times: dict[str, list[float]] = defaultdict(list)
    expected: dict[str, float] = {}
    for trial in possible:
        expected.setdefault(trial.group, trial.expected)
        if trial.key in known:
            times[trial.group].append(known[trial.key]["seconds"])
    means = {group: math.fsum(seconds) / len(seconds) for group, seconds in times.items()}
    scale = 1.0
    if means:
        scale = math.fsum(means.values()) / math.fsum(expected[group] for group in means)
    total = math.fsum(means.get(t.group, scale * expected[t.group]) for t in left)
    return Forecast(len(left), total / processors, processors, len(expected), len(means))


def _processors() -> int:
    has_affinity = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1


# Trials at work.


@dataclass(frozen=True, slots=True)
class _Work:
    """Who runs trials, and how many at once: others may have any number."""

    executor: Executor
    at_once: float


@contextmanager
def _working(executor: Executor | None, processors: int, n_workers: int) -> Iterator[_Work]:
    """Give an executor; processes of our own are ended with what they do."""
    if executor is not None or not n_workers:
        yield _Work(executor, math.inf)  # type: ignore[arg-type]
        return
    before = set(multiprocessing.active_children())
    # Not copies of this process, which may have threads by now.
    context = multiprocessing.get_context("forkserver")
    with ProcessPoolExecutor(n_workers, context, initializer=_begin_worker) as pool:
        try:
            yield _Work(pool, n_workers)
        finally:
            for child in set(multiprocessing.active_children()) - before:
                child.kill()


def _begin_worker() -> None:
    """Leave signals and what is said of tables to the first process, and end with it."""
    warnings.simplefilter("ignore", DataWarning)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def _tried(
    trial: Trial, *, run: Callable[[Trial, DataFolder], Mapping[str, Any]], files: DataFolder
) -> tuple[dict[str, Any], float]:
    # Of the processor: what else runs on the machine does not count.
    start = time.process_time()
    row = dict(run(trial, files))
    return row, time.process_time() - start


def _run(
    study: Study,
    files: DataFolder,
    rows: _Rows,
    work: _Work,
    trials: Sequence[Trial],
    *,
    end: float,
    begin_until: float = math.inf,
    on_progress: Callable[[Progress], None] | None,
) -> None:
    """Run trials in any order, each in the file when it is done.

    Those that are not done by `end` are dropped; after `begin_until` none begins, but the first.
    """
    begun = time.monotonic()
    tried = partial(_tried, run=study.run, files=files)
    at_work: dict[Future[tuple[dict[str, Any], float]], Trial] = {}
    waiting = list(reversed(trials))
    n_done = 0
    try:
        while (waiting or at_work) and time.monotonic() < end:
            while waiting and len(at_work) < work.at_once:
                if time.monotonic() >= begin_until and len(waiting) < len(trials):
                    waiting.clear()
                    break
                trial = waiting.pop()
                at_work[work.executor.submit(tried, trial)] = trial
            left = max(0.0, end - time.monotonic())
            seconds = None if left == math.inf else left
            for future in wait(at_work, seconds, FIRST_COMPLETED).done:
                trial = at_work.pop(future)
                rows.add(trial, *future.result())
                n_done += 1
                if on_progress is not None:
                    spent = time.monotonic() - begun
                    ahead = min(spent * (len(trials) - n_done) / n_done, left)
                    on_progress(Progress(n_done, len(trials), ahead if n_done > 1 else None))
    except BrokenProcessPool:
        what = "a process that ran trials was ended, perhaps because memory ran out"
        raise BestdagError(f"{what}; use fewer --threads, and --resume") from None
    finally:
        if work.at_once == math.inf:  # own processes are killed
            for future in at_work:
                future.cancel()


# Rows in a file of JSON lines: a line is whole or absent.


class _Rows:
    """The rows of one run; the first line says which study, seed and version made them.

    Attributes
    ----------
    known : dict
        What the lines hold, by the keys of their trials.
    """

    def __init__(self, path: Path, file: BinaryIO, about: Mapping[str, Any]) -> None:
        self._path = path
        self._file = file
        self.known: dict[str, dict[str, Any]] = {}
        file.seek(0)
        text = file.read()
        whole = text.rfind(b"\n") + 1
        file.truncate(whole)  # a killed run may have left a part of a line
        file.seek(0, os.SEEK_END)
        first, *lines = text[:whole].splitlines() or [b""]
        if not first:
            self._write(about)
            return
        try:
            made = json.loads(first)
            for line in lines:
                entry = json.loads(line)
                self.known[Trial("", entry["trial"]).key] = entry
        except (ValueError, KeyError, TypeError):
            what = f"{path}: has a line that is no row of a study"
            raise FormatError(f"{what}; remove it") from None
        for name in about:
            if made.get(name) != about[name]:
                what = f"was made with {name} {made.get(name)}, and {about[name]} is asked for"
                raise FormatError(f"{path}: {what}; name another folder, or pass --force")

    def add(self, trial: Trial, row: Mapping[str, Any], seconds: float) -> None:
        """Add a line, in one piece."""
        self._write({"trial": dict(trial.settings), "row": dict(row), "seconds": seconds})
        self.known[trial.key] = {"row": dict(row), "seconds": seconds}

    def _write(self, value: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(value, separators=(",", ":"), allow_nan=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())


@contextmanager
def _opened(path: Path, about: Mapping[str, Any], *, fresh: bool) -> Iterator[_Rows]:
    """Open the rows of a run to add lines, in no other process; with `fresh` there are none."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "a+b") as file:
            _lock(path, file)
            if fresh:
                file.truncate(0)
            yield _Rows(path, file, about)
    except BestdagError:
        raise
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise WriteError(f"{path}: cannot be written: {reason}") from None


def _lock(path: Path, file: BinaryIO) -> None:
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= end:
                what = f"{path}: another run writes there now"
                raise WriteError(f"{what}; wait, or use another folder") from None
            time.sleep(0.02)
