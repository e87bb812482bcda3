"""What a run keeps while it works: a stack of parts, each of which says where it stands.

A search is a part, and so is each loop in it that has something to remember. At its natural steps
the innermost one calls `keep`; when it is time, all parts of the stack are asked for their state,
outermost first. A run that goes on enters the same parts in the same order, and each is given what
it said.
"""

from __future__ import annotations

import math
import os
import platform
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

from bestdag.checkpoint.format import write_state
from bestdag.checkpoint.lock import Lock

__all__ = ["Checkpoint", "State", "text_of"]

# Mappings, lists, texts, numbers and arrays.
State = Any
# A limit of zero would be refused.
_LEAST_SECONDS = 1e-3
# Writing takes no larger part of the time than one in so many, unless that is asked for.
_BETWEEN_WRITES = 20.0
# Of what the last write took, what the next one may take; and who presses Ctrl-C waits no longer.
_MARGIN, _AT_ONCE = 1.25, 0.05


class Checkpoint:
    """The state of one run, in a file, or nowhere.

    Parameters
    ----------
    path : path, optional
        Where it is kept; without one nothing is, and nothing is asked for.
    about : mapping, optional
        What the run is about: version, data, settings.
    every : float
        Seconds between two writes, at least; 0 writes at every step.
    saved : mapping, optional
        What was read from the file of an earlier part of the run.
    lock : Lock, optional
        The right to write the file, given up by `close`.

    Examples
    --------
    >>> nowhere = Checkpoint()
    >>> with nowhere.part("count", lambda: {"next": 3}) as saved:
    ...     nowhere.keep()
    >>> saved is None, nowhere.seconds_before
    (True, 0.0)
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        about: Mapping[str, str] | None = None,
        every: float = 0.0,
        saved: Mapping[str, Any] | None = None,
        lock: Lock | None = None,
    ) -> None:
        self._lock = lock
        self._path = path
        self._about = dict(about or {})
        self._every = every
        saved = {} if saved is None else saved
        self.seconds_before: float = saved.get("seconds", 0.0)
        self.answer: State = saved.get("answer")
        self._kept: list[Any] = saved.get("parts", [])
        self._saved = list(self._kept)  # what is yet to be given to its parts
        self._parts: list[tuple[str, Callable[[], State]]] = []
        self._n_paused = 0
        self._began = time.monotonic()
        self._end = math.inf  # when the time is up
        self._seconds_to_write = self._reserve = 0.0
        self._due = self._began + every
        self._is_last = False  # whether what was written last is how it ended

    @property
    def is_kept(self) -> bool:
        """Whether there is a file."""
        return self._path is not None

    @property
    def seconds(self) -> float:
        """Seconds of all parts of the run so far."""
        return self.seconds_before + time.monotonic() - self._began

    def limited(self, time_limit: float, begun: float) -> float:
        """Take a time limit for all parts of the run, and return what is left; never nothing.

        This part has begun at `begun`. The last write is done within the limit.
        """
        if not self.is_kept:
            return time_limit
        self._began = begun
        left = max(time_limit - self.seconds, min(time_limit, _LEAST_SECONDS))
        self._end = time.monotonic() + left
        self._plan()
        return left

    @property
    def reserve(self) -> float:
        """Seconds before the time limit at which work must end for the last write."""
        return 0.0 if math.isinf(self._end) else self._reserve

    @contextmanager
    def part(self, name: str, state: Callable[[], State]) -> Iterator[State]:
        """Enter a part of the run; yields what it said when it was kept, or None.

        `state` is called from `keep`, which only the part itself and those inside it call.
        """
        if self._path is None or self._n_paused:
            yield None
            return
        saved = self._taken(name)
        self._parts.append((name, state))
        try:
            yield saved
        finally:
            self._parts.pop()
            self._saved = []

    def _taken(self, name: str) -> State:
        """Return the state of the next part of the stack that was kept, if it is this one."""
        if self._saved and self._saved[0][0] == name:
            return self._saved.pop(0)[1]
        self._saved = []
        return None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Keep nothing meanwhile: what is inside is short, or cannot be told apart."""
        self._n_paused += 1
        try:
            yield
        finally:
            self._n_paused -= 1

    def keep(self, *, now: bool = False) -> None:
        """Write the state of all parts if it is time, or now."""
        # Parts that are yet to be entered again would be lost.
        if self._path is None or self._n_paused or self._saved:
            return
        begun = time.monotonic()
        if now or begun >= self._due:
            self._kept = [[name, state()] for name, state in self._parts]
            self._write({"parts": self._kept}, begun)
            self._is_last = self._is_last or now

    def write(self) -> None:
        """Write what was kept last, with the seconds of now."""
        if self._path is not None and self.answer is None:
            self._write({"parts": self._kept}, time.monotonic())

    def stop(self, *, at_once: bool = False) -> None:
        """Write the seconds of a run that ended without its answer, unless that was done.

        With `at_once` only where that takes no time: what was done since the last write is lost
        then, and its seconds do not count.
        """
        if not (self._is_last or (at_once and self._seconds_to_write > _AT_ONCE)):
            self.write()

    def finish(self, answer: State) -> None:
        """Write the answer in place of the state; it is what the file gives from now on."""
        if self._path is not None:
            self.answer = answer
            self._write({"answer": answer}, time.monotonic())

    def close(self) -> None:
        """Let other runs write the file."""
        if self._lock is not None:
            self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, body: Mapping[str, Any], begun: float) -> None:
        assert self._path is not None
        seconds = self.seconds
        self._is_last = begun >= self._end - self._reserve
        if self._is_last and self.answer is None:
            seconds = max(seconds, self.seconds_before + self._end - self._began)
        writer = [os.getpid(), platform.node()]  # whom others must wait for
        state = {"about": self._about, "seconds": seconds, "writer": writer, **body}
        write_state(self._path, state, None if self._lock is None else self._lock.move)
        self._seconds_to_write = time.monotonic() - begun
        self._due = math.inf
        if not self._is_last:
            self._plan()

    def _plan(self) -> None:
        """Say when the next write is due: more often towards a time limit, and in time for it."""
        now = time.monotonic()
        left = self._end - now
        self._reserve = min(_MARGIN * self._seconds_to_write, max(0.0, left / 2.0))
        often = max(left / 2.0, _BETWEEN_WRITES * self._seconds_to_write)
        self._due = min(now + min(self._every, often), self._end - self._reserve)


def text_of(value: object) -> str:
    """Return a text that is the same for equal settings, in every process.

    Examples
    --------
    >>> text_of({"b", "a"}), text_of(0.5), text_of(None)
    ("{'a', 'b'}", '0.5', 'none')
    """
    if value is None:
        return "none"
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(map(repr, value))) + "}"
    if hasattr(value, "to_dict"):
        return repr(value.to_dict())
    # An object without a text of its own is known by its kind.
    return re.sub(r" at 0x[0-9a-f]+", "", value if isinstance(value, str) else repr(value))
