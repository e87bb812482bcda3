"""Lanes of branch and cut: open nodes, and the work on several of them in step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bestdag.search.exact.bnc.master import Master, Solving

__all__ = ["Lane", "OpenNode", "Stopped", "solve_together"]


class Stopped(Exception):  # noqa: N818 (not an error)
    """The caller asked to stop."""


@dataclass
class Way:
    """How far the rounds of cuts at a node are."""

    progress: list[int] = field(default_factory=list)  # bounds after rounds
    first: int | None = None  # of them
    primal: bool = False
    thorough: bool = False


@dataclass(order=True)
class OpenNode:
    """A node that is yet to be worked on, or is worked on at present."""

    bound: int
    number: int  # position in the certificate, and the tie-break
    allowed: NDArray[np.bool_] = field(compare=False)
    required: tuple[tuple[int, int], ...] = field(compare=False)
    best: NDArray[np.int64] | None = field(compare=False, default=None)  # proved `bound`, if here
    cuts: tuple[int, ...] = field(compare=False, default=())  # that proved it above
    way: Way = field(compare=False, default_factory=lambda: Way())


@dataclass(slots=True)
class Lane:
    """A linear program, and the node that it is for at present."""

    master: Master
    node: OpenNode | None = None


def solve_together(
    works: Sequence[Solving[OpenNode | None]], threads: int
) -> list[OpenNode | None]:
    """Run works in step: all linear programs that they ask for, then each of them on in its turn.

    What they share they change in their order, whatever the number of threads. When one raises,
    the others are told to stop.
    """
    answers: list[OpenNode | None] = [None] * len(works)
    waiting: dict[int, Callable[[], float | None]] = {}

    def advance(number: int, objective: float | None) -> None:
        try:
            work = works[number]
            waiting[number] = work.send(objective)
        except StopIteration as end:
            waiting.pop(number, None)
            answers[number] = end.value

    try:
        for number in range(len(works)):
            advance(number, None)
        if len(works) == 1 or threads == 1:
            while waiting:
                for number, objective in [(n, solve()) for n, solve in sorted(waiting.items())]:
                    advance(number, objective)
            return answers
        with ThreadPoolExecutor(min(threads, len(works))) as pool:
            while waiting:
                numbers = sorted(waiting)
                found = list(pool.map(lambda n: waiting[n](), numbers))
                for number, objective in zip(numbers, found, strict=True):
                    advance(number, objective)
        return answers
    except BaseException:
        for work in works:  # so that each leaves what it has proved
            with suppress(Stopped, StopIteration, RuntimeError):
                work.throw(Stopped())
        raise
