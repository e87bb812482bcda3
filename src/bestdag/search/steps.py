"""What a search is: settings, and a generator of what it finds.

A search has no clock, no file, no Ctrl-C and no progress bar: `bestdag.search.driver` runs it and
looks after those. It yields

- `Found`: a structure and its score, whenever there is a better one;
- `Step`: a move, for the trace of the result;
- `Point`: nothing new, but a moment at which the run may stop or be written to a file;
- `Bounded`, `Proved`, `Rung`, `Note`, `Kept`, `Class`, `Listed`, `Phase`: what else there is to
  say.

At a `Step` or a `Point` the driver may close the generator: the limit is reached, and the best
structure found is the answer. So an inner loop yields one of them for each move, which costs next
to nothing, and work that takes longer is given `problem.seconds_left`. What is not yielded by then
is lost: a search says what it has before the point. Ctrl-C is a KeyboardInterrupt wherever the
search is; it may be caught to say something more, and is raised again. A search that ends by
itself has reached a local optimum, unless it has yielded a proof; one that stops for another
reason, such as a number of steps, raises `SearchEnd` with that status.

Examples
--------
The best of some random structures, as a search of your own:

>>> import random
>>> from dataclasses import dataclass
>>> from typing import ClassVar
>>> from bestdag.graph.dag import Dag
>>> @dataclass(frozen=True)
... class BestOfMany:
...     name: ClassVar[str] = "best_of_many"
...     tries: int = 100
...
...     def steps(self, problem):
...         scorer, names = problem.scorer(self.name), list(problem.names)
...         draw, best = random.Random(problem.seed), -float("inf")
...         for _ in range(self.tries):
...             draw.shuffle(names)
...             dag = Dag(names, list(zip(names, names[1:])))
...             score = scorer.total(dag)
...             if score > best:
...                 best = score
...                 yield Found(dag, score)
...             yield POINT
>>> from bestdag.learning import learn
>>> from bestdag.examples import example
>>> learn(example("asia.csv"), "bic", search=BestOfMany()).status
'local optimum'
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, cast

from bestdag.errors import InvalidParameterError, bad_setting
from bestdag.graph.dag import Dag
from bestdag.search.arc_weights import ArcWeights
from bestdag.search.result import BoundSource, Status, Step
from bestdag.search.rung import Rung
from bestdag.search.structures import Structures
from bestdag.search.ties import is_better

if TYPE_CHECKING:
    from bestdag.search.problem import Problem

__all__ = [
    "POINT",
    "Bounded",
    "Class",
    "Event",
    "Found",
    "Kept",
    "Listed",
    "Note",
    "Outcome",
    "Phase",
    "Point",
    "Proved",
    "Rung",
    "Search",
    "SearchEnd",
    "Step",
    "Steps",
    "can_stop",
    "checked_search",
    "follow",
    "posed",
    "require_start",
    "result_of",
]


_Value = TypeVar("_Value")


class Found(NamedTuple):
    """A structure and its score.

    Attributes
    ----------
    dag : Dag or callable
        The structure, or what makes it when it is asked for, at any later time.
    score : float
    move : str
        What led to it, for the trace of a search that takes no other steps.
    by : str
        The search that found it, where one runs others and says so.
    engine : str or None
        The engine, for searches that have several.
    """

    dag: Dag | Callable[[], Dag]
    score: float
    move: str = ""
    by: str = ""
    engine: str | None = None

    @property
    def structure(self) -> Dag:
        """The structure."""
        return self.dag if isinstance(self.dag, Dag) else self.dag()


class Bounded(NamedTuple):
    """No structure scores more than `value` plus what the arithmetic can hide.

    `value` is None where nothing is known, and `source` says why.
    """

    value: float | None
    source: BoundSource
    resolution: float = 0.0

    @property
    def height(self) -> float:
        """What no score exceeds."""
        return math.inf if self.value is None else self.value + self.resolution


class Proved(NamedTuple):
    """A best structure, with what a check of the proof needs."""

    dag: Dag
    score: float
    resolution: float = 0.0
    certificates: tuple[Any, ...] = ()
    by: str = ""
    engine: str | None = None


class Note(NamedTuple):
    """What a reader of the result should know: a text, or what gives it when the run is over."""

    text: str | Callable[[], str]


class Class(NamedTuple):
    """The structures among which the last one found is the best: "trees", say, and in words."""

    among: str
    words: str
    weights: ArcWeights | None = None


class Kept(NamedTuple):
    """What a run that goes on should find again, beside the best structure and the bound.

    It asks ``problem.state.get(name, kind)`` for it. The value does not change afterwards; what it
    may be made of says `bestdag.checkpoint.RunState.put`.
    """

    name: str
    value: Any


class Listed(NamedTuple):
    """The structures next to the best."""

    structures: Structures


class Phase(NamedTuple):
    """What is under way from now on, for a progress bar: in words, and how much of it is done."""

    text: str
    detail: str = ""
    share: float | None = None


class Point(NamedTuple):
    """A moment at which the run may stop."""


POINT = Point()

Event = Found | Step | Point | Phase | Bounded | Proved | Rung | Note | Class | Kept | Listed
Steps = Generator[Event, None, None]


class SearchEnd(Exception):  # noqa: N818 (not an error)
    """The search ends with what it has, for this reason."""

    def __init__(self, status: Status) -> None:
        super().__init__(status)
        self.status: Status = status


class Search(Protocol):
    """Settings, as a frozen dataclass, and steps.

    A search that consists of independent ones, such as restarts, may list them in
    ``independent()``: where there is an executor, each becomes a task, and the best is the answer.
    One that does not end by itself says in ``seconds_without_limit`` what it takes at most.
    """

    @property
    def name(self) -> str:
        """Name in the list of searches."""
        ...

    def steps(self, problem: Problem) -> Steps:
        """Search; keeps nothing between calls."""
        ...


def checked_search(search: object) -> Search:
    """Return a search, or say that something else was given."""
    if isinstance(search, type):
        name = search.__name__
        raise InvalidParameterError(
            f"search: must be a search, got the class {name}; give an instance, {name}()"
        )
    if not callable(getattr(search, "steps", None)):
        raise InvalidParameterError(f"search: must be a search or its name, got {search!r:.60}")
    return cast(Search, search)


def posed(problem: Problem, search: Search) -> Problem:
    """Return the problem that a search gets: with the structure that its settings begin with."""
    start = getattr(search, "start_from", None)
    return problem.starting_from(start) if isinstance(start, Dag) else problem


def require_start(who: str, start_from: object, *names: str) -> None:
    """Refuse a first structure that is neither a `Dag` nor one of the names."""
    if not isinstance(start_from, Dag) and start_from not in names:
        listed = "".join(f"{name!r}, " for name in names)
        raise bad_setting(who, "start_from", f"{listed}or a Dag", start_from)


@dataclass(slots=True)
class Outcome:
    """What a search has come to: the last of each kind of event, and why it ended."""

    status: Status = "local optimum"
    best: Found | None = None
    bound: Bounded | None = None
    proof: Proved | None = None
    rungs: dict[int | None, Rung] = field(default_factory=dict)

    @property
    def ladder(self) -> tuple[Rung, ...]:
        """The rungs from below."""
        order = sorted(self.rungs, key=lambda most: math.inf if most is None else most)
        return tuple(self.rungs[most] for most in order)

    def take(self, event: Event) -> None:
        """Take an event into account: the best structure, the lowest bound, the proof.

        Of structures that score the same but for rounding, the last one.
        """
        if isinstance(event, Found):
            if self.best is None or not is_better(self.best.score, event.score):
                self.best = event
        elif isinstance(event, Bounded):
            if self.bound is None or event.height < self.bound.height:
                self.bound = event
        elif isinstance(event, Proved):
            self.proof, self.status = event, "optimum proved"
            self.best = Found(event.dag, event.score, by=event.by, engine=event.engine)
        elif isinstance(event, Rung):
            self.rungs[event.max_parents] = event.joined(self.rungs.get(event.max_parents))


def can_stop(outcome: Outcome, problem: Problem) -> bool:
    """Whether a limit may end a search: there is a structure, or any may be scored; no proof."""
    return outcome.proof is None and (outcome.best is not None or problem.has_data)


def follow(
    search: Search, problem: Problem, *, by: str = "", as_move: str | None = None
) -> Generator[Event, None, Outcome]:
    """Run a search as a part of another one: its events pass, and what it came to is returned.

    It ends at the deadline of its own problem, which may be earlier than that of the whole.

    Parameters
    ----------
    search : Search
    problem : Problem
        Often made by ``problem.within(seconds)``.
    by : str, optional
        Whom the result names in place of the search that is run, if the structure is from here.
    as_move : str, optional
        Its steps are left out of the trace, and it counts as one step of this name.
    """
    outcome = Outcome()
    steps = search.steps(posed(problem, search))
    is_named = False
    try:
        for event in steps:
            outcome.take(event)
            if by and isinstance(event, Found | Proved):
                event = event._replace(by=by)
            may_stop = isinstance(event, Step | Point)
            yield POINT if as_move is not None and isinstance(event, Step) else event
            if isinstance(event, Found) and not is_named:
                is_named = True
                yield Phase(f"search {search.name}")
            if may_stop and problem.out_of_time() and can_stop(outcome, problem):
                outcome.status = "time limit"
                break
    except SearchEnd as end:
        outcome.status = end.status
    finally:
        steps.close()
    return outcome


def result_of(steps: Generator[Any, None, _Value]) -> _Value:
    """Run steps to their end, whatever they say on the way, and return what they return."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            value: _Value = end.value
            return value
