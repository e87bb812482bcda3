"""Trees of greatest score from scores of pairs: what the searches for trees share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.errors import GraphError, InvalidParameterError, require_known
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge
from bestdag.graph.node_knowledge import NodeKnowledge
from bestdag.scores.scorer import Scorer
from bestdag.search.base import Problem, Status
from bestdag.search.edge_weights import EdgeWeights

__all__ = ["Branching", "TreeSettings", "best_branching", "refuse_violations"]

# Weights count in steps of this share of the largest score, or of the largest sum that rounding
# went into. Below it is rounding noise, which must not decide between equal trees.
_STEP = 2.0**-43
# Whole numbers up to here are exact, and so are their differences.
_MAX_WHOLE = 2.0**51


@dataclass(frozen=True, slots=True, eq=False)
class _ArcRules:
    """Which arcs a tree may have and which it must, by index.

    Attributes
    ----------
    allowed : array of bool, n x n
        ``allowed[p, c]``: the arc p -> c may be there.
    parents : array of int32
        The required parent of each node, or -1.
    edges : tuple of (int, int)
        Pairs that one arc must join, either way.
    """

    allowed: npt.NDArray[np.bool_]
    parents: npt.NDArray[np.int32]
    edges: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(
        cls, who: str, nodes: NodeKnowledge, max_parents: int | None, given: tuple[str, ...] = ()
    ) -> _ArcRules:
        """Take from what is known what concerns a tree over the nodes that are not `given`."""
        names = nodes.names
        kept = np.array([i for i, name in enumerate(names) if name not in given], np.intp)
        required = nodes.required[np.ix_(kept, kept)]
        limits = (
            nodes.max_parents if max_parents is None else np.minimum(nodes.max_parents, max_parents)
        )
        room = limits[kept] - len(given)
        for place, child in enumerate(kept):
            above = [repr(names[kept[p]]) for p in np.flatnonzero(required[:, place])]
            if len(above) > min(1, room[place]):
                fits = "no parent" if room[place] < 1 else "one"
                raise GraphError(
                    f"{who}: {names[child]!r} has the required parents {', '.join(above)}"
                    f"{' beside the class' if given else ''}, and there is room for {fits}; "
                    "use another search, or require fewer arcs"
                )
        parents = np.full(len(kept), -1, np.int32)
        above_of, child_of = np.nonzero(required)
        parents[child_of] = above_of
        allowed = nodes.allowed[np.ix_(kept, kept)] & (room >= 1)
        place_of = {int(node): place for place, node in enumerate(kept)}
        edges = tuple((place_of[a], place_of[b]) for a, b in nodes.required_edges)
        return cls(allowed, parents, edges)

    def with_root(self, who: str, names: tuple[str, ...], root: int) -> _ArcRules:
        """Keep one node without parents."""
        above = int(self.parents[root])
        if above >= 0:
            raise GraphError(
                f"{who}: {names[root]!r} cannot be the root, its parent {names[above]!r} is "
                "required; choose another root"
            )
        allowed = self.allowed.copy()
        allowed[:, root] = False
        return _ArcRules(allowed, self.parents, self.edges)


class TreeSettings(Protocol):
    """What the searches for trees have in common."""

    @property
    def name(self) -> str:
        """Name of the search."""
        ...

    @property
    def root(self) -> str | None:
        """The root, if it is given."""
        ...

    @property
    def forest(self) -> bool:
        """Whether only arcs that raise the score are kept."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Branching:
    """The best tree over some variables: its arcs, how many roots, and what was weighed."""

    arcs: tuple[tuple[str, str], ...]
    n_roots: int
    status: Status
    weights: EdgeWeights

    def note(self, kind: str, forest: str, settings: TreeSettings, *, is_known: bool) -> str:
        """Say among which structures it is the best; `kind` and `forest` name them."""
        needs_roots = self.n_roots > 1 and not settings.forest
        text = f"best of all {forest if settings.forest or needs_roots else kind}"
        if settings.root is not None:
            text += f" {'and' if ' with ' in text else 'with'} root {settings.root!r}"
        if is_known:
            text += " that obey the knowledge"
        if self.status != "local optimum":
            return f"{text}, over the pairs scored by then"
        return f"{text}, with the fewest roots there can be" if needs_roots else text


def best_branching(
    settings: TreeSettings, problem: Problem, knowledge: Knowledge, given: tuple[str, ...] = ()
) -> Branching:
    """Find the best tree over the variables that are not `given`, which are parents of all."""
    who, scorer = settings.name, problem.scorer(settings.name)
    names = tuple(name for name in problem.names if name not in given)
    root = None
    if settings.root is not None:
        root = names.index(require_known("root", settings.root, names, who=who))
    symmetric = scorer.is_score_equivalent
    rules = None
    if not (symmetric and problem.knowledge.is_empty and problem.max_parents is None):
        rules = _ArcRules.of(who, knowledge.for_nodes(problem.names), problem.max_parents, given)
        if root is not None:
            rules = rules.with_root(who, names, root)
    scores, status = _pair_scores(problem, scorer, names, given)
    how = _Choice(rules, root, not settings.forest, symmetric, scorer.dataset.total_weight)
    try:
        parents = _best_parents(scores, how)
    except KeyboardInterrupt:  # what must be there, at once
        status = "interrupted"
        parents = _best_parents(np.full_like(scores, math.nan), how)
    arcs = tuple((names[p], names[c]) for c, p in enumerate(parents) if p >= 0)
    weights = EdgeWeights.of(names, scores, given, symmetric=symmetric)
    return Branching(arcs, len(names) - len(arcs), status, weights)


def _pair_scores(
    problem: Problem, scorer: Scorer, names: tuple[str, ...], given: tuple[str, ...]
) -> tuple[npt.NDArray[np.float64], Status]:
    """Return the scores of all pairs, nan where the limit or Ctrl-C came first, and the status."""
    scores = np.full((len(names), len(names)), math.nan)
    limit = problem.seconds_left
    try:
        if limit > 0:
            scorer.pair_scores(names, given, out=scores, time_limit=limit)
    except KeyboardInterrupt:
        return scores, "interrupted"
    if not np.isnan(scores).any():
        return scores, "time limit" if limit <= 0 else "local optimum"
    if not problem.out_of_time():
        parent, child = (names[k] for k in np.argwhere(np.isnan(scores))[0])
        raise InvalidParameterError(
            f"search: the score {scorer.score!r} of {child!r} with parent {parent!r} must be a "
            "number, got nan"
        )
    return scores, "time limit"


class _Choice(NamedTuple):
    """How to choose: see `_best_parents`."""

    rules: _ArcRules | None
    root: int | None
    spanning: bool
    symmetric: bool
    total_weight: float


def _best_parents(scores: npt.NDArray[np.float64], how: _Choice) -> npt.NDArray[np.int32]:
    """Return the parents of the best tree, -1 for roots; arcs with nan only where required.

    Symmetric weights without rules: Prim's algorithm. Otherwise Edmonds' algorithm. Spanning
    means as few roots as possible; otherwise arcs are there only where they raise the score.
    """
    rules, root, spanning, symmetric, total_weight = how
    n = len(scores)
    parents = np.full(n, -1, np.int32)
    if n == 0:
        return parents
    weights, root_weights = _whole_weights(scores, total_weight)
    if symmetric and rules is None and not root_weights.any():
        whole = np.rint((weights + weights.T) / 2)
        if not spanning:
            whole[whole <= 0] = -np.inf
        _core.maximum_spanning_tree(whole, 0 if root is None else root, parents)
        return parents
    if symmetric:
        weights = np.rint((weights + weights.T) / 2)
    if rules is not None:
        _apply(rules, weights, root_weights)
    if not _core.maximum_branching(weights, root_weights, spanning, parents):
        raise GraphError(
            "search: no tree obeys the knowledge and has a probability above zero; state less, or "
            "use another structure prior"
        )
    return parents


def _whole_weights(
    scores: npt.NDArray[np.float64], total_weight: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return weights of arcs and of having no parent as whole multiples of the noise level."""
    finite = np.where(np.isfinite(scores), scores, 0.0)
    scale = max(1.0, float(np.abs(finite).max()), total_weight * math.log(total_weight + 1.0))
    step = 2.0 ** math.ceil(math.log2(scale * _STEP))
    alone = np.diag(scores)
    # Where a prior forbids having no parent, arcs are compared with each other only.
    base = np.where(np.isfinite(alone), alone, finite.max(axis=0))
    weights = np.where(np.isfinite(scores), np.rint((finite - base) / step), -np.inf)
    return weights, np.where(np.isneginf(alone), -np.inf, 0.0)


def _apply(
    rules: _ArcRules, weights: npt.NDArray[np.float64], root_weights: npt.NDArray[np.float64]
) -> None:
    """Put the rules into the weights."""
    must = rules.parents >= 0
    child, parent = np.flatnonzero(must), rules.parents[must]
    kept = weights[parent, child]
    weights[~rules.allowed] = -np.inf
    weights[:, must] = -np.inf
    weights[parent, child] = np.where(np.isfinite(kept), kept, 0.0)
    root_weights[must] = -np.inf
    if not rules.edges:
        return
    # A tree has each edge once at most, so a bonus above all else makes it have all it can.
    n = len(weights)
    one, other = np.array([(*edge, *edge[::-1]) for edge in rules.edges]).reshape(-1, 2).T
    unknown = np.isneginf(weights[one, other]) & rules.allowed[one, other]
    weights[one[unknown], other[unknown]] = 0.0
    largest = float(np.abs(weights[np.isfinite(weights)]).max(initial=1.0))
    coarse = max(1.0, 2.0 ** math.ceil(math.log2(4.0 * n * largest / _MAX_WHOLE)))
    weights[:] = np.rint(weights / coarse)
    weights[one, other] += 2.0 * n * math.ceil(largest / coarse + 1.0)


def refuse_violations(who: str, knowledge: Knowledge, dag: Dag) -> None:
    """Refuse a structure that breaks a statement about more than single arcs."""
    broken = knowledge.violations(dag)
    if broken:
        raise GraphError(
            f"{who}: the best structure breaks the statement '{broken[0]}', which the search "
            "cannot see to; state it as arcs or tiers, or use another search"
        )
