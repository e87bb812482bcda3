"""Parent sets of every variable with the logarithms of their weights: what posteriors sum over."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.averaging.deadline import Deadline
from bestdag.errors import InvalidParameterError
from bestdag.machine import memory_left, require_memory
from bestdag.scores.local_scores import LocalScores
from bestdag.scores.parent_sets.limits import n_parent_sets
from bestdag.scores.table import ScoreTable
from bestdag.search.problem import Problem
from bestdag.wording import arg

__all__ = ["LocalWeights", "default_max_parents", "local_weights", "require_log_probability"]

_Words = npt.NDArray[np.uint64]
# Scores that are no logarithms of probabilities, and why.
_NO_PROBABILITY = {
    "ll": "grows with every parent, whatever the data",
    "mit": "is a sum of differences from chi-square quantiles",
}
# So many families are scored where `max_parents` is not set: all of 20 variables.
_MOST_FAMILIES = 12_000_000
# Where not all parent sets are, so many.
_SOME_FAMILIES = 1_000_000
_BYTES_PER_FAMILY = 60
_LEAST_OF_EVERY_SET = 6  # variables; of fewer every family is scored at once anyway


@dataclass(frozen=True, slots=True, eq=False)
class LocalWeights:
    """Parent sets and the logarithms of their weights, variable after variable.

    Attributes
    ----------
    names : tuple of str
        The variables in name order.
    begin : int64 array
        Variable v has the sets ``begin[v]`` to ``begin[v + 1] - 1``.
    sets : uint64 array, sets x words
        Bit k of the words is variable k.
    logs : float64 array
        Local scores, with what a structure prior adds.
    """

    names: tuple[str, ...]
    begin: npt.NDArray[np.int64]
    sets: _Words
    logs: npt.NDArray[np.float64]

    def native(self) -> _core.ParentWeights:
        """Return what the kernels sum over."""
        return _core.ParentWeights(self.begin, self.sets.reshape(-1), self.logs)

    def by_weight(self) -> LocalWeights:
        """Return the same with the sets of each variable by descending weight."""
        order = np.concatenate(
            [
                first + np.argsort(-self.logs[first:end], kind="stable")
                for first, end in zip(self.begin[:-1], self.begin[1:], strict=True)
            ]
        )
        return LocalWeights(self.names, self.begin, self.sets[order], self.logs[order])

    def parents(self, i: int) -> tuple[str, ...]:
        """Return the names of the members of one set."""
        words = self.sets[i].tolist()
        return tuple(name for k, name in enumerate(self.names) if words[k // 64] >> k % 64 & 1)


def require_log_probability(who: str, name: str) -> None:
    """Refuse scores whose exponentials are no probabilities."""
    if name in _NO_PROBABILITY:
        raise InvalidParameterError(
            f"{who}: needs a score that is the logarithm of a probability, got {name}, which "
            f"{_NO_PROBABILITY[name]}; use bdeu, bic or qnml"
        )


def default_max_parents(n: int) -> int | None:
    """Return None where all parent sets can be scored, else the most parents for some of them."""
    if n * 2.0 ** (n - 1) <= _MOST_FAMILIES:
        return None
    most = 1
    while n * n_parent_sets(n, most + 1) <= _SOME_FAMILIES:
        most += 1
    return most


def local_weights(
    who: str, problem: Problem, max_parents: int | None, deadline: Deadline | None = None
) -> LocalWeights:
    """Score every family with at most `max_parents` parents that your constraints allow."""
    deadline = deadline or Deadline(who, None)
    nodes = problem.nodes
    if nodes.required_edges or nodes.has_ancestral:
        raise InvalidParameterError(
            f"{who}: knowledge about arcs, orders, tiers and numbers of parents can be used, and "
            "none about edges of either direction or about paths; leave those statements out"
        )
    if isinstance(problem.scores, ScoreTable):
        return _from_table(problem, problem.scores)
    scorer: LocalScores = problem.scores
    n = len(problem.names)
    most = n - 1 if max_parents is None else min(max_parents, n - 1)
    n_families = n * float(n_parent_sets(n, most))
    need = f"a list of {n_families:,.0f} families"
    require_memory(
        who,
        need,
        _BYTES_PER_FAMILY * n_families,
        f"use a smaller {arg('max_parents')}",
    )
    groups, logs = [], []
    scored = _scored(scorer, most, deadline, f"scoring {n_families:,.0f} families")
    for child, (sets, scores) in enumerate(scored):
        is_usable = _is_allowed(problem, child, sets) & (scores > -math.inf)
        groups.append(sets[is_usable])
        logs.append(scores[is_usable])
    return _assembled(who, problem.names, groups, logs)


def _scored(
    scorer: LocalScores, most: int, deadline: Deadline, what: str
) -> Iterator[tuple[_Words, npt.NDArray[np.float64]]]:
    """Score all families of one variable after the other, with as many parents as `most`."""
    n, native = len(scorer.names), scorer.native
    is_whole = most == n - 1 and n >= _LEAST_OF_EVERY_SET and scorer.structure_prior is None
    needed = native.forecast_every_set(leave_out=False) if native and is_whole else None
    if native is not None and needed is not None and needed[0] <= memory_left():
        numbers = np.arange(1 << (n - 1), dtype=np.uint64)
        every = native.scores_of_every_set(deadline.seconds_left)
        deadline.require_scored(every is not None, what)
        assert every is not None
        for child, scores in enumerate(every):
            deadline.require_scored(deadline.seconds_left > 0, what)
            low = np.uint64((1 << child) - 1)
            yield ((numbers & low) | (numbers & ~low) << np.uint64(1))[:, None], scores
        return
    families = scorer.all_families(most, deadline.seconds_left)
    deadline.require_scored(families is not None, what)
    assert families is not None
    for child, name in enumerate(scorer.names):
        yield _sets_without(n, child, most), families.pop(name)


def _from_table(problem: Problem, table: ScoreTable) -> LocalWeights:
    n = len(problem.names)
    groups, logs = [], []
    for child in range(n):
        listed = list(table.child(child))
        sets = np.zeros((len(listed), _n_words(n)), np.uint64)
        for i, (_, parents) in enumerate(listed):
            for p in parents:
                sets[i, p // 64] |= np.uint64(1 << p % 64)
        is_usable = _is_allowed(problem, child, sets)
        groups.append(sets[is_usable])
        logs.append(np.array([score for score, _ in listed], np.float64)[is_usable])
    return _assembled("posterior", problem.names, groups, logs)


def _assembled(
    who: str,
    names: Sequence[str],
    groups: list[_Words],
    logs: list[npt.NDArray[np.float64]],
) -> LocalWeights:
    for name, group in zip(names, groups, strict=True):
        if not len(group):
            raise InvalidParameterError(
                f"{who}: no parent set of {name!r} is left that your constraints allow; leave out "
                "statements, or allow more parents"
            )
    begin = np.concatenate([[0], np.cumsum([len(group) for group in groups])]).astype(np.int64)
    return LocalWeights(tuple(names), begin, np.concatenate(groups), np.concatenate(logs))


def _n_words(n: int) -> int:
    return (n + 63) // 64


def _sets_without(n: int, child: int, most: int) -> _Words:
    """List the sets of the other variables as `parent_sets` does: by size, then colexicographic."""
    others = [k for k in range(n) if k != child]
    levels = [np.zeros((1, _n_words(n)), np.uint64)]
    for size in range(1, most + 1):
        before, grown = levels[-1], []
        for place in range(size - 1, len(others)):  # the largest member
            with_it = before[: math.comb(place, size - 1)].copy()
            with_it[:, others[place] // 64] |= np.uint64(1 << others[place] % 64)
            grown.append(with_it)
        levels.append(np.concatenate(grown))
    return np.concatenate(levels)


def _is_allowed(problem: Problem, child: int, sets: _Words) -> npt.NDArray[np.bool_]:
    nodes = problem.nodes
    n_words = sets.shape[1]

    def words(numbers: npt.NDArray[np.int64]) -> _Words:
        bits = [0] * n_words
        for k in numbers.tolist():
            bits[k // 64] |= 1 << k % 64
        return np.array(bits, np.uint64)

    required = words(np.flatnonzero(nodes.required[:, child]))
    allowed = words(np.flatnonzero(nodes.allowed[:, child]))
    sizes = np.unpackbits(sets.view(np.uint8), axis=1).sum(axis=1, dtype=np.int64)
    is_allowed: npt.NDArray[np.bool_] = (
        ((sets & required) == required).all(axis=1)
        & ((sets & ~(allowed | required)) == 0).all(axis=1)
        & (sizes <= int(nodes.max_parents[child]))
    )
    return is_allowed
