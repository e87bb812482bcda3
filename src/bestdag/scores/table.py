"""Local score tables: for each child its candidate parent sets and their scores."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.errors import GraphError, InvalidParameterError, unknown_name
from bestdag.graph._names import check_nodes, show
from bestdag.graph.dag import Dag
from bestdag.scores.local_scores import Family, HasDag, LocalScores, dag_of, describe

if TYPE_CHECKING:
    from bestdag.scores.scorer import Scorer

__all__ = ["ParentSets", "ScoreTable", "split_sets"]


@dataclass(frozen=True, slots=True, eq=False)
class ParentSets:
    """The candidate parent sets of one child, best first.

    Equal scores: fewer parents first, then the set that comes first when the ascending parent
    numbers are compared one by one. The arrays cannot be written to.

    Attributes
    ----------
    scores : float64 array of length m
        Local scores, finite, highest first.
    offsets : int64 array of length m + 1
        Set k is ``members[offsets[k]:offsets[k + 1]]``.
    members : int32 array
        Parent numbers (positions in the table's names), ascending within each set.

    Examples
    --------
    >>> sets = ParentSets.of([-3.0, -2.5], [[], [0, 2]])
    >>> sets.scores.tolist(), sets.parents(0)
    ([-2.5, -3.0], (0, 2))
    """

    scores: npt.NDArray[np.float64]
    offsets: npt.NDArray[np.int64]
    members: npt.NDArray[np.int32]

    def __post_init__(self) -> None:
        for array in (self.scores, self.offsets, self.members):
            array.setflags(write=False)

    @classmethod
    def of(cls, scores: Sequence[float], sets: Sequence[Sequence[int]]) -> ParentSets:
        """Make from scores and sets in any order; each set's members are distinct."""
        ordered = sorted(
            (-float(score), len(members), sorted(members))
            for score, members in zip(scores, sets, strict=True)
        )
        offsets = np.zeros(len(ordered) + 1, np.int64)
        np.cumsum([size for _, size, _ in ordered], out=offsets[1:])
        return cls(
            # Adding zero turns the -0.0 of a negated score of 0 back into 0.
            np.array([-score + 0.0 for score, _, _ in ordered], np.float64),
            offsets,
            np.array([m for _, _, members in ordered for m in members], np.int32),
        )

    def parents(self, k: int) -> tuple[int, ...]:
        """Return the parent numbers of the k-th best set, ascending."""
        first, last = self.offsets[k], self.offsets[k + 1]
        return tuple(self.members[first:last].tolist())

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[tuple[float, tuple[int, ...]]]:
        """Go through (score, parent numbers), best first."""
        members, offsets = self.members.tolist(), self.offsets.tolist()
        groups = map(tuple, map(members.__getitem__, map(slice, offsets, offsets[1:])))
        return zip(self.scores.tolist(), groups, strict=True)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ParentSets):
            return NotImplemented
        return (
            np.array_equal(self.scores, other.scores)
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.members, other.members)
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[ParentSets], tuple[Any, ...]]:
        return ParentSets, (self.scores, self.offsets, self.members)

    def __repr__(self) -> str:
        return f"<ParentSets: {len(self):,} sets>"


def split_sets(
    first_sets: npt.NDArray[np.int64],
    scores: npt.NDArray[np.float64],
    offsets: npt.NDArray[np.int64],
    members: npt.NDArray[np.int32],
) -> list[ParentSets]:
    """Make one list for each child of flat arrays.

    Child i has the sets ``first_sets[i]`` to ``first_sets[i + 1]``, and set k the parents
    ``members[offsets[k]:offsets[k + 1]]``.
    """
    starts = first_sets.tolist()
    ends = offsets[first_sets].tolist()
    return [
        ParentSets(
            scores[starts[i] : starts[i + 1]],
            offsets[starts[i] : starts[i + 1] + 1] - ends[i],
            members[ends[i] : ends[i + 1]],
        )
        for i in range(len(starts) - 1)
    ]


class ScoreTable(LocalScores):
    """For each child the candidate parent sets and their local scores, best first.

    What an exact search works on. Scores are natural logarithms, finite, and higher is better.
    Every child has at least one candidate set, not necessarily the empty one. A table never
    changes.

    Parameters
    ----------
    names : sequence of str
        The variables; a parent's number is its position here.
    children : sequence of ParentSets
        One for each name.
    complete : bool, default True
        Whether every candidate set is listed that an optimal network may need: False for a
        table whose making was cut short by a time limit.
    n_scored : int, optional
        How many families were scored to make the table; by default those it lists.
    open_sets : sequence of ParentSets or None, optional
        For a table that is not complete, what is known of the sets it lacks: see `open_sets`.
    max_parents : int, optional
        The table is about sets of at most so many parents (or a variable's required ones, where
        these are more): complete then means that no such set is missing.

    Examples
    --------
    >>> table = ScoreTable.from_lists(
    ...     ["rain", "wet"], {"rain": [(-2.5, [])], "wet": [(-4.0, []), (-3.25, ["rain"])]}
    ... )
    >>> table.n_sets
    3
    >>> table.child(1).scores.tolist()
    [-3.25, -4.0]
    >>> table.total(Dag(["rain", "wet"], [("rain", "wet")]))
    -5.75
    """

    name = "local scores"
    complete: bool
    n_scored: int
    max_parents: int | None
    names: tuple[str, ...]
    _children: tuple[ParentSets, ...]
    _open: tuple[ParentSets | None, ...] | None

    def __init__(
        self,
        names: Sequence[str],
        children: Sequence[ParentSets],
        *,
        complete: bool = True,
        n_scored: int | None = None,
        open_sets: Sequence[ParentSets | None] | None = None,
        max_parents: int | None = None,
    ) -> None:
        checked = check_nodes("score table", names)
        if not checked:
            raise GraphError("score table: at least one variable is needed")
        if len(children) != len(checked):
            raise InvalidParameterError(
                f"score table: {len(checked)} variables need as many lists of parent sets, "
                f"got {len(children)}"
            )
        for name, sets in zip(checked, children, strict=True):
            if not len(sets):
                raise GraphError(f"score table: {show(name)} has no candidate parent set")
            if not np.isfinite(sets.scores).all():
                raise InvalidParameterError(
                    f"score table: every score of {show(name)} must be a finite number"
                )
        object.__setattr__(self, "names", checked)
        object.__setattr__(self, "_children", tuple(children))
        object.__setattr__(self, "complete", bool(complete))
        if open_sets is not None and len(open_sets) != len(checked):
            raise InvalidParameterError(
                f"score table: {len(checked)} variables need as many lists of open sets, "
                f"got {len(open_sets)}"
            )
        known = None if complete or open_sets is None else tuple(open_sets)
        object.__setattr__(self, "_open", known)
        object.__setattr__(self, "n_scored", self.n_sets if n_scored is None else n_scored)
        object.__setattr__(self, "max_parents", max_parents)

    @classmethod
    def from_lists(
        cls,
        names: Sequence[str],
        sets: Mapping[str, Iterable[tuple[float, Iterable[str]]]],
    ) -> ScoreTable:
        """Make from each child's list of (score, parents), in any order.

        Raises
        ------
        UnknownNameError
            A child or parent that is not among the names.
        GraphError
            A child without a set, its own parent, a parent or a set listed twice.
        """
        checked = check_nodes("score table", names)
        numbers = {name: i for i, name in enumerate(checked)}
        for child in sets:
            if child not in numbers:
                raise unknown_name("child", child, checked, who="score table")
        children = []
        for child in checked:
            listed = [(score, tuple(parents)) for score, parents in sets.get(child, ())]
            numbered = [_numbered(child, parents, numbers) for _, parents in listed]
            if len(set(numbered)) != len(numbered):
                seen: set[tuple[int, ...]] = set()
                twice = next(s for s in numbered if s in seen or seen.add(s))  # type: ignore[func-returns-value]
                shown = ", ".join(show(checked[p]) for p in twice)
                raise GraphError(f"score table: {show(child)} has the parent set {{{shown}}} twice")
            children.append(ParentSets.of([score for score, _ in listed], numbered))
        return cls(checked, children)

    @classmethod
    def from_arrays(
        cls,
        names: Sequence[str],
        first_sets: npt.NDArray[np.int64],
        scores: npt.NDArray[np.float64],
        offsets: npt.NDArray[np.int64],
        members: npt.NDArray[np.int32],
        *,
        complete: bool = True,
        n_scored: int | None = None,
        open_sets: Sequence[ParentSets | None] | None = None,
        max_parents: int | None = None,
    ) -> ScoreTable:
        """Make from flat arrays that native code filled, sets in order (see `split_sets`)."""
        children = split_sets(first_sets, scores, offsets, members)
        return cls(
            names,
            children,
            complete=complete,
            n_scored=n_scored,
            open_sets=open_sets,
            max_parents=max_parents,
        )

    @classmethod
    def build(cls, scorer: Scorer, **limits: Any) -> ScoreTable:
        """Score the candidate parent sets of data; `limits` as in `build_score_table`."""
        from bestdag.scores.parent_sets.build import build_score_table

        return build_score_table(scorer, **limits)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ScoreTable:
        """Read a ``.jkl`` or ``.scores`` file, compressed when its name ends in ``.gz``."""
        from bestdag.scores.jkl import read_jkl

        return read_jkl(path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a ``.jkl`` file (compressed when its name ends in ``.gz``), complete or not at all.

        Scores are written so that reading them gives the same numbers.
        """
        from bestdag.scores.jkl import write_jkl

        write_jkl(self, path)

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def n_sets(self) -> int:
        """Number of candidate sets, over all children."""
        return sum(map(len, self._children))

    def child(self, i: int) -> ParentSets:
        """Return the candidate sets of child number i."""
        return self._children[i]

    def sets(self, child: str) -> list[tuple[float, tuple[str, ...]]]:
        """List a child's candidate sets by name, best first: (score, parents)."""
        if child not in self._number:
            raise unknown_name("child", child, self.names, who="score table")
        names = self.names
        return [
            (score, tuple(names[p] for p in parents))
            for score, parents in self._children[self._number[child]]
        ]

    def open_sets(self, i: int) -> ParentSets | None:
        """Return what is known of the sets of child number i that are not listed.

        Returns
        -------
        ParentSets or None
            Sets with upper bounds in place of scores. Each set of the child that is allowed (and
            has at most `max_parents`), neither listed nor dominated by a subset, contains one of
            these and scores no more than its bound. Empty when nothing is missing; None when
            nothing is known.
        """
        if self.complete:
            return _NO_SETS
        return None if self._open is None else self._open[i]

    @property
    def is_bounded(self) -> bool:
        """Whether the sets that are not listed are bounded, for every child."""
        return self.complete or (self._open is not None and None not in self._open)

    def optimistic(self, most: int | None = None, *, threads: int = 1) -> ScoreTable:
        """Return a table whose best acyclic choice scores no less than that of all sets there are.

        Parameters
        ----------
        most : int, optional
            At most so many sets for each child: of those with the lowest scores some members
            are left out, and of sets that become equal the best stays.
        threads : int, default 1

        Returns
        -------
        ScoreTable
            The sets of this table and the open sets with their bounds for scores, without those
            that a subset beats.

        Notes
        -----
        Take any structure of undominated sets. Put for each set that is not listed the open set
        inside it: that leaves out arcs, so no cycle is closed, and no score falls. The result is a
        choice of the optimistic table. So whatever bounds the acyclic choices of that table from
        above, by any cuts that are valid for acyclic choices, bounds the score of every structure.

        Examples
        --------
        >>> sets = ParentSets.of([-2.0], [[]])
        >>> table = ScoreTable(
        ...     ["a", "b"],
        ...     [sets, sets],
        ...     complete=False,
        ...     open_sets=[ParentSets.of([-1.5], [[1]]), ParentSets.of([], [])],
        ... )
        >>> table.optimistic().sets("a"), table.optimistic().sets("b")
        ([(-1.5, ('b',)), (-2.0, ())], [(-2.0, ())])
        """
        if not self.is_bounded:
            raise InvalidParameterError(
                "score table: nothing bounds the parent sets that are not listed; list all of them"
            )
        if most is None and self.complete:
            return self
        lists = [
            sets
            for i, child in enumerate(self._children)
            for sets in (child, self.open_sets(i))
            if sets is not None
        ]
        sizes = np.concatenate([np.diff(sets.offsets) for sets in lists])
        n_sets = [len(sets) for sets in lists]
        arrays = _core.optimistic_sets(
            np.concatenate([[0], np.cumsum(n_sets)])[::2].astype(np.int64),
            np.concatenate([sets.scores for sets in lists]),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.concatenate([sets.members for sets in lists]),
            max(n_sets) * 2 if most is None else most,
            threads,
        )
        return ScoreTable.from_arrays(self.names, *arrays, max_parents=self.max_parents)

    def by_child(self, dag: Dag | HasDag) -> dict[str, float]:
        """Score each family of a structure.

        Raises
        ------
        GraphError
            When the graph has other nodes, or a family that is not in the table.
        """
        structure = dag_of(dag)
        if set(structure.nodes) != set(self.names):
            raise GraphError("score table: graph and table must have the same variables")
        return {child: self.family(child, structure.parents(child)) for child in self.names}

    def description(self) -> str:
        """Return a text that differs wherever scores do."""
        arrays = [(sets.scores, sets.offsets, sets.members) for sets in self._children]
        return str(describe((self.names, arrays)))

    def _computed(self, families: Sequence[Family]) -> npt.NDArray[np.float64]:
        return np.array([self.family(*family) for family in families], np.float64)

    def family(self, child: str, parents: Collection[str] = ()) -> float:
        """Return the score of a listed family; one that is not listed is refused."""
        wanted = tuple(sorted(map(self.number, parents)))
        for score, members in self._children[self.number(child)]:
            if members == wanted:
                return score
        shown = ", ".join(map(show, parents))
        raise GraphError(
            f"score table: {{{shown}}} is not a candidate parent set of {show(child)}; "
            "it was pruned or not allowed"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScoreTable):
            return NotImplemented
        return (self.names, self._children, self.complete, self._open, self.max_parents) == (
            other.names,
            other._children,
            other.complete,
            other._open,
            other.max_parents,
        )

    __hash__ = None  # type: ignore[assignment]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a ScoreTable never changes: {name!r} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a ScoreTable never changes: {name!r} cannot be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (
            self.names,
            self._children,
            self.complete,
            self.n_scored,
            self._open,
            self.max_parents,
        )

    def __repr__(self) -> str:
        text = f"<ScoreTable: {self.n_variables:,} variables, {self.n_sets:,} parent sets"
        if self.max_parents is not None:
            text += f" of at most {self.max_parents}"
        return text + (">" if self.complete else ", incomplete>")


_NO_SETS = ParentSets.of([], [])


def _rebuilt(
    names: tuple[str, ...],
    children: tuple[ParentSets, ...],
    complete: bool,
    n_scored: int,
    open_sets: tuple[ParentSets | None, ...] | None,
    max_parents: int | None,
) -> ScoreTable:
    return ScoreTable(
        names,
        children,
        complete=complete,
        n_scored=n_scored,
        open_sets=open_sets,
        max_parents=max_parents,
    )


def _numbered(child: str, parents: Sequence[str], numbers: Mapping[str, int]) -> tuple[int, ...]:
    for parent in parents:
        if parent not in numbers:
            raise unknown_name("parent", parent, numbers, who=f"score table: {show(child)}")
        if parent == child:
            raise GraphError(f"score table: {show(child)} cannot be its own parent")
    found = tuple(sorted({numbers[parent] for parent in parents}))
    if len(found) != len(parents):
        raise GraphError(f"score table: a set of {show(child)} lists a parent twice")
    return found
