"""What a search may ask of scores: the score of a family, and many of them at once."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, overload

import numpy as np
import numpy.typing as npt

from bestdag.errors import GraphError, InvalidParameterError, require_count, unknown_name
from bestdag.graph._names import check_nodes
from bestdag.graph.dag import Dag
from bestdag.machine import memory_left, require_memory
from bestdag.scores.parent_sets.limits import parent_sets
from bestdag.wording import first_names

if TYPE_CHECKING:
    from bestdag.scores.engine import NativeScores
    from bestdag.scores.prior import StructurePrior
    from bestdag.scores.support import Support

__all__ = ["Family", "HasDag", "LocalScores", "dag_of", "describe", "pairs_of", "parent_set"]

# Scores are remembered up to so many bytes, and fewer where they would take more than this share of
# the memory there is, which is looked up once, when there are many. A full memory is emptied, never
# searched. Of a family, and of each of its parents in a set of names:
_MOST_BYTES, _ALWAYS_BYTES, _SHARE_OF_MEMORY = 8e8, 3e6, 0.1
_BYTES_PER_SCORE, _BYTES_PER_PARENT = 600, 110
# Families scored in Python between two looks at the clock.
_BETWEEN_LOOKS = 16

Family = tuple[str, Collection[str]]
_Key = tuple[str, frozenset[str]]
_Floats = npt.NDArray[np.float64]


class LocalScores:
    r"""Scores of families, whose sum over the families of a structure is the structure's score.

    .. math:: S(G) = \sum_i s(X_i, \mathrm{Pa}_G(X_i))

    All that searches, exact engines and reports ask for goes through these members, so whatever has
    them can be searched over: a score bound to a table (`Scorer`), lists from a file
    (`ScoreTable`), or a score of your own over any data, which needs names and a function of a
    child and its parents, as below. Natural logarithms, or any unit; higher is better.

    Parameters
    ----------
    names : sequence of str
        The variables, in any order.

    Attributes
    ----------
    name : str
        For messages and results.
    is_score_equivalent : bool
        Whether equivalent structures have equal scores. GES and classes of structures rely on it.
    n_rows : int
        Rows that the score of one family looks at: searches estimate their time by it.
    total_weight : int or float or None
        The number of cases; None where there is no such thing.
    is_per_row : bool
        Whether scores are means over rows, not sums.
    native : NativeScores or None
        The work of a native kernel, without the prior over structures; None where there is none.
    structure_prior : StructurePrior or None
        What is in the scores beside the data.
    support : Support or None
        The limit of support, if there is one.

    Notes
    -----
    A subclass defines ``family(child, parents)``, with the parents in name order, and may define
    ``upper_bound(child, parents)``: a number that no family of this child with these parents and at
    least one more exceeds, rounding included. Lists of parent sets then end before every set is
    scored; without it they are complete all the same, as long as there is time to score all sets.

    Examples
    --------
    >>> near = LocalScores.of(["a", "b", "c"], lambda child, parents: -abs(len(parents) - 1))
    >>> near.families([("a", []), ("a", ["b"]), ("c", ["a", "b"])]).tolist()
    [-1.0, 0.0, -1.0]
    """

    name: str = "own score"
    is_score_equivalent: bool = False
    n_rows: int = 1
    total_weight: int | float | None = None
    is_per_row: bool = False
    native: NativeScores | None = None
    structure_prior: StructurePrior | None = None
    support: Support | None = None
    # Passes over rows that are not in memory, who reads them, and where they are.
    passes: int | None = None
    workers: int = 1
    rows_in: Literal["memory", "disk", "cluster"] | None = None
    # Families that are scored together, and whether bounds are worth asking for beyond the smallest
    # sets.
    _together: int = _BETWEEN_LOOKS
    bounds_every_set: ClassVar[bool] = True

    def __init__(self, names: Sequence[str]) -> None:
        self.names: tuple[str, ...] = tuple(sorted(check_nodes("scores", names)))

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        family: Callable[[str, tuple[str, ...]], float],
        *,
        is_score_equivalent: bool = False,
        description: str | None = None,
        name: str = "own score",
    ) -> LocalScores:
        """Make from a function of a child and its parents.

        Parameters
        ----------
        names : sequence of str
            The variables.
        family : callable
            ``family(child, parents) -> float``, the parents in name order.
        is_score_equivalent : bool, default False
            Say True only if it is so.
        description : str, optional
            A text that differs wherever scores may, data and settings included. A run with a
            checkpoint needs it, to be sure that it goes on with the same scores.
        name : str
            For messages.
        """
        return _OfFunction(names, family, is_score_equivalent, description, name)

    @property
    def score(self) -> Any:
        """What scores a family: a `Score` of counts, or these scores themselves."""
        return self

    def description(self) -> str | None:
        """Return a text that differs wherever scores may; None where nothing is sure to tell them.

        A dataclass is described by its fields; any other subclass defines this if its runs are to
        be resumed.
        """
        return _fields_of(self) if is_dataclass(self) else None

    def family(self, child: str, parents: Collection[str] = ()) -> float:
        """Score one family."""
        raise NotImplementedError(f"{type(self).__name__} must define family(child, parents)")

    def families(self, families: Iterable[Family]) -> _Floats:
        """Score many families, each given as (child, parents); every score is remembered."""
        keys = [(child, parent_set(child, parents)) for child, parents in families]
        memory = self._memory
        new = memory.unknown(keys)
        if new:
            memory.keep(new, self._computed(new))
        return memory.recall(keys)

    def _computed(self, families: Sequence[Family]) -> _Floats:
        """Score families without remembering them."""
        self._require_known(families)
        return np.array(
            [self._checked(child, tuple(sorted(parents))) for child, parents in families],
            np.float64,
        )

    def _checked(self, child: str, parents: tuple[str, ...]) -> float:
        value = self.family(child, parents)
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not number < math.inf:  # nan too
            raise InvalidParameterError(
                f"{self.name}: family() must give a number below infinity, got {value!r:.60} for "
                f"{child!r} given {', '.join(map(repr, parents)) or 'no parents'}"
            )
        return number

    def _require_known(self, families: Sequence[Family]) -> None:
        known = self._number
        for child, parents in families:
            if child in parents:
                raise GraphError(f"family: {child!r} cannot be its own parent")
            for one in (child, *parents):
                if one not in known:
                    raise unknown_name("variable", one, self.names)

    @cached_property
    def _memory(self) -> _Memory:
        return _Memory()

    @cached_property
    def _number(self) -> Mapping[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def changes(self, child: str, parents: Collection[str] = ()) -> _Floats:
        """Score every single-parent change of one family.

        Returns
        -------
        array
            One entry per variable, in the order of `names`: the score after dropping it where it is
            a parent, the score of the family as it is where it is the child, and the score after
            adding it everywhere else.
        """
        return self.additions(child, parents, self.names)

    def additions(self, child: str, parents: Collection[str], candidates: Sequence[str]) -> _Floats:
        """Score one family after adding each candidate, in one call.

        A candidate that is a parent already is dropped instead, as in `changes`.
        """
        own, *others = map(self.number, (child, *sorted(parent_set(child, parents))))
        if own in others:
            raise GraphError(f"family: {child!r} cannot be its own parent")
        numbers = np.array([self.number(name) for name in candidates], np.int32)
        return self.numbered_changes([(own, sorted(others))], [numbers])[0]

    def number(self, name: str) -> int:
        """Return the place of a variable in `names`."""
        try:
            return self._number[name]
        except (KeyError, TypeError):
            raise unknown_name("variable", name, self.names) from None

    def numbered_changes(
        self,
        families: Sequence[tuple[int, Sequence[int]]],
        candidates: Sequence[npt.NDArray[np.int32]],
        time_limit: float = math.inf,
    ) -> list[_Floats]:
        """Score `additions` to several families in one call; variables are known by number.

        What is not done after `time_limit` seconds is nan.
        """
        end = time.monotonic() + time_limit
        groups = [self._changed(*pair) for pair in zip(families, candidates, strict=True)]
        return [self._scored_until(end, group, self.families) for group in groups]

    def _scored_until(
        self, end: float, families: Sequence[Family], score: Callable[[Sequence[Family]], _Floats]
    ) -> _Floats:
        scores = np.full(len(families), math.nan)
        for first in range(0, len(families), self._together):
            if time.monotonic() >= end:
                break
            some = slice(first, first + self._together)
            scores[some] = score(families[some])
        return scores

    def _changed(
        self, family: tuple[int, Sequence[int]], candidates: npt.NDArray[np.int32]
    ) -> list[Family]:
        """List a family after each of its changes, by name."""
        own, parents = self.names[family[0]], frozenset(self.names[p] for p in family[1])
        return [(own, (parents ^ {self.names[c]}) - {own}) for c in candidates.tolist()]

    def pair_scores(
        self,
        names: Sequence[str],
        given: Collection[str] = (),
        *,
        out: _Floats | None = None,
        time_limit: float = math.inf,
    ) -> _Floats:
        """Score each variable with each other one as its parent.

        Parameters
        ----------
        names : sequence of str
        given : collection of str
            Parents that every variable has; none of `names`.
        out : array, optional
            Filled instead of a new array: what is done before Ctrl-C is in it.
        time_limit : float
            Seconds; what is not done by then is nan.

        Returns
        -------
        array, n x n
            ``[i, j]`` is the score of variable j with the parents i and `given`, and ``[j, j]``
            that of variable j with the parents `given`.
        """
        n = len(names)
        require_memory("score", f"{n:,} x {n:,} scores", 16 * n * n, "use fewer variables")
        common = parent_set("each variable", given)
        scores = np.empty((n, n)) if out is None else out
        scores.fill(math.nan)
        self._fill_pairs(names, common, scores, time_limit)
        return scores

    def _fill_pairs(
        self, names: Sequence[str], given: frozenset[str], out: _Floats, time_limit: float
    ) -> None:
        end = time.monotonic() + time_limit
        step = max(1, self._together // max(1, len(names)))
        for first in range(0, len(names), step):
            if time.monotonic() >= end:
                return
            some = names[first : first + step]
            families = [family for name in some for family in pairs_of(name, names, given)]
            out[first : first + step] = self._computed(families).reshape(len(some), -1)

    @overload
    def all_families(self, max_parents: int) -> dict[str, _Floats]: ...

    @overload
    def all_families(self, max_parents: int, time_limit: float) -> dict[str, _Floats] | None: ...

    def all_families(
        self, max_parents: int, time_limit: float = math.inf
    ) -> dict[str, _Floats] | None:
        """Score every family with at most `max_parents` parents.

        Returns
        -------
        dict of str to array, or None
            For each child the scores of all sets of the other variables in name order: smaller
            sets first, sets of one size in colexicographic order, as
            `scores.parent_sets.limits.parent_sets` lists them. None when it took longer than
            `time_limit` seconds.
        """
        most = require_count("score", "max_parents", max_parents)
        return self._all_families(min(most, len(self.names) - 1), time_limit)

    def _all_families(self, most: int, time_limit: float) -> dict[str, _Floats] | None:
        end = time.monotonic() + time_limit
        scores = {}
        for child in self.names:
            families = list(self._families_of(child, most))
            scores[child] = self._scored_until(end, families, self._computed)
            if time.monotonic() >= end and np.isnan(scores[child]).any():
                return None
        return scores

    def _families_of(self, child: str, max_parents: int) -> Iterator[Family]:
        others = [name for name in self.names if name != child]
        return ((child, parents) for parents in parent_sets(others, max_parents))

    def upper_bounds(self, families: Sequence[Family]) -> _Floats | None:
        """Bound the scores of all families with more parents than each of these, without prior.

        None where nothing is known.
        """
        bound = getattr(self, "upper_bound", None)
        if bound is None:
            return None
        return np.array([float(bound(child, tuple(sorted(group)))) for child, group in families])

    def refusals(self) -> AbstractContextManager[None]:
        """Let the score say why its native kernel refused a family."""
        return nullcontext()

    def lacking_support(
        self, families: Iterable[tuple[str, frozenset[str]]]
    ) -> list[tuple[str, frozenset[str]]]:
        """Return those of the families that are not admissible, each once."""
        return []

    def exempting(self, families: Collection[tuple[str, frozenset[str]]]) -> LocalScores:
        """Return the same scores, with these families admissible whatever their support."""
        return self

    def total(self, dag: Dag | HasDag) -> float:
        """Score a structure, or that of a network: the sum over its families, rounded once."""
        return math.fsum(self.families(_families_in(dag_of(dag), self.names)).tolist())

    def by_child(self, dag: Dag | HasDag) -> dict[str, float]:
        """Score each family of a structure; keys are the children."""
        return self._by_child(dag_of(dag), self.names)

    def _by_child(self, dag: Dag, names: Sequence[str]) -> dict[str, float]:
        return dict(zip(names, self.families(_families_in(dag, names)).tolist(), strict=True))

    @property
    def bulk(self) -> LocalScores:
        """These scores: the name that searches know them by until they are all merged."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_memory"}


class HasDag(Protocol):
    """A network, or anything else that has a structure."""

    @property
    def dag(self) -> Dag:
        """The structure."""
        ...


class _OfFunction(LocalScores):
    """Scores by a function."""

    def __init__(
        self,
        names: Sequence[str],
        function: Callable[[str, tuple[str, ...]], float],
        is_score_equivalent: bool,
        description: str | None,
        name: str,
    ) -> None:
        super().__init__(names)
        self._function = function
        self.is_score_equivalent = is_score_equivalent
        self._description = description
        self.name = name

    def family(self, child: str, parents: Collection[str] = ()) -> float:
        return self._function(child, tuple(sorted(parents)))

    def description(self) -> str | None:
        return self._description

    def __repr__(self) -> str:
        return f"<{self.name} over {len(self.names):,} variables>"


class _Memory:
    """Scores of families that were asked for."""

    def __init__(self) -> None:
        self._scores: dict[_Key, float] = {}
        self._n_bytes, self._most_bytes = 0.0, _ALWAYS_BYTES

    def unknown(self, keys: Sequence[_Key]) -> list[_Key]:
        """Return the families whose scores are to be computed, each once: the new ones.

        Where there is no room for them beside the others, all are forgotten, and all of these new.
        """
        new = [key for key in dict.fromkeys(keys) if key not in self._scores]
        if not new:
            return new
        n_bytes = self._n_bytes + _bytes_of(new)
        if n_bytes > self._most_bytes == _ALWAYS_BYTES:  # looked up once
            room = self._n_bytes + _SHARE_OF_MEMORY * memory_left()
            self._most_bytes = min(_MOST_BYTES, room)
        if n_bytes > self._most_bytes:
            self._scores.clear()
            self._n_bytes = 0.0
            new = list(dict.fromkeys(keys))
        return new

    def keep(self, new: Sequence[_Key], scores: _Floats) -> None:
        """Remember scores of families that were unknown."""
        self._n_bytes += _bytes_of(new)
        self._scores.update(zip(new, scores.tolist(), strict=True))

    def recall(self, keys: Sequence[_Key]) -> _Floats:
        """Return the scores of families that are known."""
        return np.array(list(map(self._scores.__getitem__, keys)), np.float64)


def describe(value: object) -> str | None:
    """Return a text that is the same for equal settings and differs for others, in every process.

    Of plain values, arrays, collections, dataclasses of these, values that say by ``__reduce__``
    what they are made of, and whatever has a ``description()`` of its own; None where something
    else is among them, whose text might be the same for two that differ.

    Examples
    --------
    >>> describe({"ess": 1.0}), describe(object())
    ("{'ess': 1.0}", None)
    """
    if value is None or isinstance(value, bool | int | float | str | bytes | np.generic):
        return repr(value)
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            return describe(value.tolist())
        digest = hashlib.blake2b(np.ascontiguousarray(value).tobytes(), digest_size=16).hexdigest()
        return f"array({value.dtype.str}, {value.shape}, {digest})"
    if isinstance(value, Mapping):
        return _joined("{", [(describe(k), describe(v)) for k, v in value.items()], "}")
    if isinstance(value, list | tuple):
        return _joined("(", [("", describe(item)) for item in value], ")")
    if isinstance(value, set | frozenset):
        texts = [describe(item) for item in value]
        return None if None in texts else "{" + ", ".join(sorted(map(str, texts))) + "}"
    if isinstance(value, type):
        return None
    for way in ("description", "fingerprint"):
        if callable(getattr(value, way, None)):
            text = getattr(value, way)()
            return text if text is None else str(text)
    if is_dataclass(value):
        return _fields_of(value)
    if type(value).__reduce__ is object.__reduce__:
        return None
    parts = value.__reduce__()  # of a value that says itself what it is made of
    made_of = describe(parts[1]) if isinstance(parts, tuple) and len(parts) == 2 else None
    return None if made_of is None else f"{type(value).__qualname__}{made_of}"


def _fields_of(value: Any) -> str | None:
    settings = [(one.name, describe(getattr(value, one.name))) for one in fields(value)]
    return _joined(f"{type(value).__qualname__}(", settings, ")")


def _joined(begin: str, pairs: Sequence[tuple[str | None, str | None]], end: str) -> str | None:
    if any(key is None or text is None for key, text in pairs):
        return None
    return begin + ", ".join(f"{key}: {text}" if key else str(text) for key, text in pairs) + end


def _bytes_of(keys: Sequence[_Key]) -> float:
    return float(sum(_BYTES_PER_SCORE + _BYTES_PER_PARENT * len(parents) for _, parents in keys))


def parent_set(child: str, parents: Collection[str]) -> frozenset[str]:
    """Return the parents as a set; a text is refused, which is a collection of letters."""
    if isinstance(parents, str):
        raise GraphError(
            f"family of {child!r}: parents must be a list of names, got the text {parents!r}"
        )
    return frozenset(parents)


def pairs_of(parent: str, names: Sequence[str], given: frozenset[str]) -> Iterator[Family]:
    """List the families of `pair_scores` with this parent."""
    return ((name, given | {parent} if name != parent else given) for name in names)


def dag_of(structure: object) -> Dag:
    """Return a structure, or that of a network."""
    dag = structure if isinstance(structure, Dag) else getattr(structure, "dag", None)
    if not isinstance(dag, Dag):
        raise GraphError(f"score: a Dag or a network is needed, got {type(structure).__name__}")
    return dag


def _families_in(dag: Dag, names: Sequence[str]) -> list[Family]:
    """Return the families of a structure in the order of these names, which are its nodes."""
    families = dag.families
    if families.keys() != set(names):
        missing = [name for name in names if name not in families]
        raise GraphError(_nodes_differ(missing, [node for node in families if node not in names]))
    return [(name, families[name]) for name in names]


def _nodes_differ(missing: list[str], extra: list[str]) -> str:
    parts = []
    if missing:
        parts.append(f"columns {first_names(missing)} are not in the graph")
    if extra:
        parts.append(f"nodes {first_names(extra)} are not in the data")
    return "score: graph and data must have the same variables; " + ", and ".join(parts)
