"""What a run has found so far, in a file or nowhere, and going on from it.

A file holds what counts, by name: the best structure, bounds, solved components with their proofs,
lists of parent sets, finished resamples. It does not hold where a search stands: a run that is
resumed begins its search anew, with everything that was found before, and may take another way.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar

from bestdag.errors import (
    FileError,
    InvalidParameterError,
    bad_setting,
    require_flag,
    require_not_negative,
)
from bestdag.files import shown_path
from bestdag.wording import arg, by_reader

if TYPE_CHECKING:
    from bestdag.checkpoint.file import Lock, Saved

__all__ = ["Checkpoint", "RunState", "require_word"]

_Type = TypeVar("_Type")

_EVERY = 30.0  # seconds
# A limit of zero would be refused.
_LEAST_SECONDS = 1e-3
# Writing takes no larger part of the time than one in so many, unless `every` is set.
_BETWEEN_WRITES = 20.0
# Of what the last write took, what the next one may take; and how long Ctrl-C may wait, in seconds.
_MARGIN, _AT_ONCE = 1.25, 0.05
_RESULT = "result"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A file that a long run is saved to while it works, and can be resumed from.

    Parameters
    ----------
    path : path
    every : float, default 30.0
        Seconds between two writes.
    resume : bool, default False
        Go on from the file where there is one. It must be of the same data and settings.
    force : bool, default False
        Begin anew although there is a file.

    Raises
    ------
    InvalidParameterError
        Both `resume` and `force`, or a setting that is out of range.

    Notes
    -----
    The file has the best structure, bounds and proofs so far, not the state of the search: a
    resumed run loses nothing that was found, and may take another way from there. A file of other
    data or settings is refused by name of what differs. Each write puts a new file in place of the
    old one, so that a run killed while writing leaves the old file.

    Examples
    --------
    >>> Checkpoint("wide.run", every=60)
    Checkpoint(path='wide.run', every=60, resume=False, force=False)
    """

    path: str | os.PathLike[str]
    every: float = _EVERY
    resume: bool = False
    force: bool = False

    def __post_init__(self) -> None:
        require_not_negative("Checkpoint", "every", self.every, option="--checkpoint-every")
        require_flag("Checkpoint", "resume", self.resume)
        require_flag("Checkpoint", "force", self.force)

    @classmethod
    def of(
        cls, who: str, checkpoint: Checkpoint | str | os.PathLike[str] | None
    ) -> Checkpoint | None:
        """Return the value of an argument, whose path alone is a new run's."""
        if checkpoint is None or isinstance(checkpoint, cls):
            return checkpoint
        if isinstance(checkpoint, str | os.PathLike):
            return cls(checkpoint)
        raise bad_setting(who, "checkpoint", "a path or a Checkpoint", checkpoint)

    def open(self, who: str, description: Mapping[str, str]) -> RunState:
        """Begin a run, or go on with the one in the file.

        Parameters
        ----------
        who : str
            For messages.
        description : mapping of str to str
            What must be the same for a run to go on, see `describe`.

        Raises
        ------
        FileError
            A file that is there, with neither `resume` nor `force`; or that another process writes.
        FormatError
            A file of another run; the message names what differs.
        """
        from bestdag.checkpoint.file import Lock, read_saved

        lock = Lock(self.path)
        try:
            if not lock.is_held:
                return self._finished(who, description)
            is_there = os.path.exists(self.path) and os.path.getsize(self.path) > 0
            require_word(who, self.path, is_there, resume=self.resume, force=self.force)
            saved = read_saved(self.path, description) if is_there and self.resume else None
            state = RunState(self.path, description, self.every, saved, lock)
            if saved is None:
                state._write()  # what cannot be written is said now
            elif saved.is_finished:  # others may read it, too
                lock.close()
            return state
        except BaseException:
            lock.close()
            raise

    def _finished(self, who: str, description: Mapping[str, str]) -> RunState:
        """Return a run that has ended although its file is in use; refuse one that is written."""
        from bestdag.checkpoint.file import read_saved, writer_of

        writer, is_finished = writer_of(self.path)
        if self.resume and is_finished:
            return RunState(self.path, description, saved=read_saved(self.path, description))
        raise FileError(
            f"{who}: {shown_path(self.path)} is being written by {writer}; wait until it has "
            f"ended, or name another file with {arg('checkpoint')}"
        )


class RunState:
    """What one run has found so far, by name; saved to a file, or nowhere.

    Parameters
    ----------
    path : path, optional
        The file; without one nothing is written.
    description : mapping, optional
        What the run is about: version, data, settings.
    every : float
        Seconds between two writes, at least; 0 writes at every step.
    saved : Saved, optional
        What an earlier part of the run has left in the file.
    lock : Lock, optional
        The right to write the file, given up by `close`.

    Examples
    --------
    >>> state = RunState()
    >>> state.put("replicate 3", ("asia", "tub"))
    >>> state.get("replicate 3", tuple), state.get("replicate 4", tuple)
    (('asia', 'tub'), None)
    >>> state.keep()  # nowhere
    >>> state.is_saved, state.seconds_before
    (False, 0.0)
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        description: Mapping[str, str] | None = None,
        every: float = 0.0,
        saved: Saved | None = None,
        lock: Lock | None = None,
    ) -> None:
        self._path = path
        self._description = dict(description or {})
        self._every = every
        self._lock = lock
        self.seconds_before: float = 0.0 if saved is None else saved.seconds
        self.is_finished = saved is not None and saved.is_finished
        self._encoded: dict[str, Any] = {} if saved is None else dict(saved.findings)
        self._values: dict[str, Any] = {}  # that are yet to be encoded
        self._began = time.monotonic()
        self._end = math.inf  # when the time is up
        self._seconds_to_write = 0.0
        # Seconds before the time limit at which work must end for the last write.
        self.reserve = 0.0
        self._due = self._began + every
        self._is_last = False  # whether what was written last is how it ended

    @property
    def is_saved(self) -> bool:
        """Whether there is a file."""
        return self._path is not None

    @property
    def seconds(self) -> float:
        """Seconds of all parts of the run so far."""
        return self.seconds_before + time.monotonic() - self._began

    def get(self, name: str, kind: type[_Type]) -> _Type | None:
        """Return what was found under a name, as a value of this kind; None if nothing was."""
        if name in self._values:
            value: _Type = self._values[name]
            return value
        if name not in self._encoded:
            return None
        from bestdag.checkpoint.file import decoded

        assert self._path is not None
        return decoded(self._path, self._encoded[name], kind)

    def __contains__(self, name: str) -> bool:
        return name in self._values or name in self._encoded

    def put(self, name: str, value: Any) -> None:
        """Take a finding, to be written when it is time; it must not change afterwards.

        It may be made of numbers, texts, tuples, mappings, arrays, `Dag`, `ScoreTable`, and
        dataclasses whose fields say that they are such.
        """
        self._values[name] = value

    @property
    def is_due(self) -> bool:
        """Whether it is time to write."""
        return self._path is not None and time.monotonic() >= self._due

    def keep(self, *, now: bool = False) -> None:
        """Write the file if it is time, or now."""
        if self._path is not None and not self.is_finished and (now or self.is_due):
            self._write()
            self._is_last = self._is_last or now

    def limited(self, time_limit: float, begun: float) -> float:
        """Take a time limit for all parts of the run, and return what is left; never nothing.

        This part has begun at `begun`. The last write is done within the limit.
        """
        if self._path is None:
            return time_limit
        self._began = begun
        left = max(time_limit - self.seconds, min(time_limit, _LEAST_SECONDS))
        self._end = time.monotonic() + left
        self._plan()
        return left

    def stop(self, *, at_once: bool = False) -> None:
        """Write what a run has that ended without its result, unless that was done.

        With `at_once` only where that takes no time: what was done since the last write is lost
        then, and its seconds do not count.
        """
        if self._path is None or self.is_finished or self._is_last:
            return
        if not (at_once and self._seconds_to_write > _AT_ONCE):
            self._write()

    def finish(self, result: Any) -> None:
        """Write the result in place of what led to it; it is what the file gives from now on."""
        if self._path is not None:
            self._values, self._encoded = {_RESULT: result}, {}
            self.is_finished = True
            self._write()

    def result(self, kind: type[_Type]) -> _Type | None:
        """Return the result of a run that has ended; None of one that has not."""
        return self.get(_RESULT, kind) if self.is_finished else None

    def close(self) -> None:
        """Let other runs write the file."""
        if self._lock is not None:
            self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self) -> None:
        from bestdag.checkpoint.file import encoded, write_saved

        assert self._path is not None
        begun = time.monotonic()
        seconds = self.seconds
        self._is_last = begun >= self._end - self.reserve
        if self._is_last and not self.is_finished:
            seconds = max(seconds, self.seconds_before + self._end - self._began)
        for name in list(self._values):
            self._encoded[name] = encoded(self._values.pop(name))
        write_saved(self._path, self._description, seconds, self._encoded, self.is_finished)
        self._seconds_to_write = time.monotonic() - begun
        self._due = math.inf
        if not self._is_last:
            self._plan()

    def _plan(self) -> None:
        """Say when the next write is due: more often towards a time limit, and in time for it."""
        now = time.monotonic()
        left = self._end - now
        if not math.isinf(self._end):
            self.reserve = min(_MARGIN * self._seconds_to_write, max(0.0, left / 2.0))
        often = max(left / 2.0, _BETWEEN_WRITES * self._seconds_to_write)
        self._due = min(now + min(self._every, often), self._end - self.reserve)


def require_word(
    who: str, path: str | os.PathLike[str], is_there: bool, *, resume: bool, force: bool
) -> None:
    """Refuse a file that is there, unless it is said what becomes of it."""
    if resume and force:
        raise InvalidParameterError(
            f"{who}: {arg('resume')} continues and {arg('force')} starts over; choose one"
        )
    if is_there and not (resume or force):
        raise FileError(
            f"{who}: {shown_path(path)} exists already; "
            f"{by_reader('pass Checkpoint(path, resume=True)', 'pass --resume')} to continue, or "
            f"{arg('force', True)} to start over"
        )
