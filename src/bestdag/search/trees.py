"""The best tree, and the best tree-augmented naive Bayes network, for any decomposable score."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.errors import GraphError, require_flag, require_known
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge, NodeKnowledge
from bestdag.registry import setting
from bestdag.scores.local_scores import LocalScores
from bestdag.search.arc_weights import ArcWeights
from bestdag.search.naive_bayes import (
    class_arcs,
    class_families,
    class_knowledge,
    require_class,
    require_target,
)
from bestdag.search.problem import Problem
from bestdag.search.result import Status
from bestdag.search.steps import Class, Found, Phase, SearchEnd, Steps
from bestdag.search.ties import tie_width

__all__ = ["TAN", "ChowLiu"]

# Rows of a matrix of all pairs that are filled in one step.
_ROWS_AT_ONCE = 64
# Whole numbers up to here are exact, and so are their differences.
_MAX_WHOLE = 2.0**51
# To find the best tree, for each pair: a reserve of a time limit. After Ctrl-C, what takes longer
# than this is left out.
_SECONDS_PER_PAIR, _WITH_RULES, _AT_ONCE = 4e-8, 1.2e-7, 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class ChowLiu:
    r"""Find the best structure in which every variable has one parent, but for one root.

    The arc from X to Y has the weight

    .. math:: w(X \to Y) = \mathrm{score}(Y \mid X) - \mathrm{score}(Y)

    and the best tree is the one of greatest total weight. For scores that are equal on
    equivalent structures (and structure priors that are, too) the weights are symmetric, and Prim's
    algorithm finds the maximum spanning tree; with log-likelihood that is the tree of Chow and
    Liu, the weight being N times the mutual information. For others Edmonds' algorithm finds the
    maximum directed spanning tree.

    Parameters
    ----------
    root : str, optional
        Root of the tree. Not given, it is the best one, and of equally good ones the
        first by name; for symmetric weights all are equally good.
    forest : bool, default False
        Keep only arcs that raise the score: the best of all structures in which no variable has
        more than one parent.

    Notes
    -----
    The status is "local optimum", since a structure that is no tree may score more; a note says
    among which structures the result is the best. Differences that rounding alone may cause do
    not count: such trees are equal, and ties go to the first names. Time is that of counting all
    pairs, and O(n^2) for the tree.

    Knowledge about arcs, edges, tiers, orders, roots and leaves is honoured; where it rules out one
    tree over all variables, the result has as few roots as possible. Two required parents, and
    statements about ancestors that the best tree breaks, are refused.

    References
    ----------
    .. [1] Chow and Liu (1968). "Approximating discrete probability distributions with dependence
       trees." IEEE Transactions on Information Theory 14.
    .. [2] Heckerman, Geiger and Chickering (1995). "Learning Bayesian networks: the combination
       of knowledge and statistical data." Machine Learning 20.
    .. [3] Carvalho (2009). "Scoring functions for learning Bayesian networks." INESC-ID
       Technical Report 54, Algorithms 2-4.
    .. [4] Tarjan (1977). "Finding optimum branchings." Networks 7.

    Examples
    --------
    >>> from bestdag import learn
    >>> from bestdag.examples import example
    >>> result = learn(example("asia.csv"), "bic", search=ChowLiu(root="smoke"))
    >>> result.dag.children("smoke"), result.notes
    (('bronc',), ("best of all trees with root 'smoke'",))
    """

    name: ClassVar[str] = "tree"

    root: str | None = setting(None, "Root of the tree.")
    forest: bool = setting(False, "Keep only arcs that increase the score.")

    def __post_init__(self) -> None:
        require_flag(self.name, "forest", self.forest)

    def steps(self, problem: Problem) -> Steps:
        """Score all pairs and find the tree; after the time limit, from the pairs scored."""
        yield from _best_tree(self, problem, kinds=("trees", "forests"))


@dataclass(frozen=True, slots=True, kw_only=True)
class TAN:
    r"""Find the best structure of a class, attributes below it, and a tree over the attributes.

    The class C is a parent of every attribute, and every attribute but one has one more
    parent. The arc from X to Y has the weight

    .. math:: w(X \to Y) = \mathrm{score}(Y \mid X, C) - \mathrm{score}(Y \mid C)

    which for log-likelihood is N times the conditional mutual information of X and Y given C. For
    scores that are equal on equivalent structures (and structure priors that are, too) weights are
    symmetric and Prim's algorithm finds the tree; for others Edmonds' algorithm does.

    Parameters
    ----------
    target : str
        The class.
    root : str, optional
        Attribute whose only parent is the class. Not given, it is the best one, and of equally
        good ones the first by name.
    forest : bool, default False
        Keep only arcs between attributes that raise the score.

    Notes
    -----
    The status is "local optimum", since a structure of another form may score more; a note says
    among which structures the result is the best. What `ChowLiu` says about ties and knowledge
    holds here for the attributes; knowledge against an arc from the class to an attribute is
    refused. With `max_parents` 1 the result is naive Bayes.

    References
    ----------
    .. [1] Friedman, Geiger and Goldszmidt (1997). "Bayesian network classifiers." Machine
       Learning 29.
    .. [2] Carvalho (2009). "Scoring functions for learning Bayesian networks." INESC-ID
       Technical Report 54, section 3, Algorithms 5-7.

    Examples
    --------
    >>> from bestdag import learn
    >>> from bestdag.examples import example
    >>> result = learn(example("asia.csv"), "bic", search=TAN(target="dysp"))
    >>> result.dag.parents("xray"), result.notes
    (('dysp', 'either'), ("best of all TAN networks with class 'dysp'",))
    """

    name: ClassVar[str] = "tan"

    target: str | None = setting(None, "Class variable.")
    root: str | None = setting(None, "Attribute whose only parent is the class.")
    forest: bool = setting(False, "Keep only arcs that increase the score.")

    def __post_init__(self) -> None:
        require_target(self.name, self.target)
        require_flag(self.name, "forest", self.forest)

    def steps(self, problem: Problem) -> Steps:
        """Score all pairs given the class and find the tree over the attributes."""
        kinds = (
            f"TAN networks with class {self.target!r}",
            f"forest-augmented naive Bayes networks with class {self.target!r}",
        )
        yield from _best_tree(self, problem, kinds=kinds, target=self.target)


def _best_tree(
    settings: ChowLiu | TAN,
    problem: Problem,
    *,
    kinds: tuple[str, str],
    target: str | None = None,
) -> Steps:
    """Find the best tree over all variables, or over all but the class, the parent of all.

    `kinds` says what the structure is among, as a tree and as a forest.
    """
    who = settings.name
    if target is not None:
        require_class(who, problem, target)
        problem.require_families(class_families(target, problem.names))
    scorer = problem.scorer(who)
    common_parents = () if target is None else (target,)
    names = tuple(name for name in problem.names if name != target)
    how = _choice(settings, problem, names, common_parents)
    takes = _choosing_takes(len(names), how)
    status: Status = "interrupted"  # unless it gets further
    scores = _nothing_scored(len(names))
    parents: npt.NDArray[np.int32] | None = None
    try:
        yield Phase(f"search {who}", "scoring pairs of variables")
        if takes > _AT_ONCE:  # so that its score is known when Ctrl-C comes
            scorer.total(
                _structure(problem, names, _required_parents(len(names), how), common_parents)
            )
        scores, status = _pair_scores(problem, scorer, names, common_parents, takes)
        is_scored = status != "interrupted" and scores.strides != (0, 0)
        if is_scored or takes <= _AT_ONCE:
            parents = _best_parents(scores, how)
    except KeyboardInterrupt:
        status = "interrupted"
    if parents is None:
        scores = _nothing_scored(len(names))
        parents = _required_parents(len(names), how)
    dag = _structure(problem, names, parents, common_parents)
    _refuse_violations(who, problem.knowledge, dag)
    n_roots = int((parents < 0).sum())
    yield Class(
        "trees" if target is None else "tan",
        _words(settings, problem, kinds, n_roots, status),
        _weights(names, scores, common_parents, how),
    )
    yield Found(dag, _total(scorer, dag, scores, parents, common_parents))
    if status == "interrupted":
        raise KeyboardInterrupt
    if status != "local optimum":
        raise SearchEnd(status)


def _structure(
    problem: Problem,
    names: tuple[str, ...],
    parents: npt.NDArray[np.int32],
    common_parents: tuple[str, ...],
) -> Dag:
    arcs = [(names[p], names[c]) for c, p in enumerate(parents) if p >= 0]
    return Dag(
        problem.names, [*(class_arcs(common_parents[0], names) if common_parents else ()), *arcs]
    )


def _weights(
    names: tuple[str, ...],
    scores: npt.NDArray[np.float64],
    common_parents: tuple[str, ...],
    how: _Choice,
) -> ArcWeights | None:
    """Return what each arc is worth; None for a large matrix of which nothing was scored."""
    if scores.strides == (0, 0) and _choosing_takes(len(names), how) > _AT_ONCE:
        return None
    return ArcWeights.of(names, scores, common_parents, symmetric=how.symmetric)


def _total(
    scorer: LocalScores,
    dag: Dag,
    scores: npt.NDArray[np.float64],
    parents: npt.NDArray[np.int32],
    common_parents: tuple[str, ...],
) -> float:
    """Return the score of the structure, from the scores of pairs where they are known."""
    children = np.arange(len(parents))
    local = scores[np.where(parents < 0, children, parents), children]
    if np.isnan(local).any():
        return scorer.total(dag)
    return math.fsum([*local, *scorer.families([(name, ()) for name in common_parents])])


def _words(
    settings: ChowLiu | TAN, problem: Problem, kinds: tuple[str, str], n_roots: int, status: Status
) -> str:
    """Say among which structures the result is the best."""
    needs_roots = n_roots > 1 and not settings.forest
    text = f"best of all {kinds[bool(settings.forest or needs_roots)]}"
    if settings.root is not None:
        text += f" {'and' if ' with ' in text else 'with'} root {settings.root!r}"
    if not problem.knowledge.is_empty:
        text += " that satisfy your constraints"
    if status != "local optimum":
        return f"{text}, over the pairs scored so far"
    return f"{text}, with the fewest roots there can be" if needs_roots else text


def _pair_scores(
    problem: Problem,
    scorer: LocalScores,
    names: tuple[str, ...],
    common_parents: tuple[str, ...],
    reserve: float,
) -> tuple[npt.NDArray[np.float64], Status]:
    """Return the scores of all pairs, nan where the limit or Ctrl-C came first, and the status."""
    limit = problem.seconds_left - reserve
    if limit <= 0:
        return _nothing_scored(len(names)), "time limit"
    is_filled = False
    try:
        scores = np.empty((len(names), len(names)))
        for start in range(0, len(names), _ROWS_AT_ONCE):  # Ctrl-C is heard in between
            scores[start : start + _ROWS_AT_ONCE] = math.nan
        is_filled = True
        scorer.pair_scores(names, common_parents, out=scores, time_limit=limit)
    except KeyboardInterrupt:
        return (scores if is_filled else _nothing_scored(len(names))), "interrupted"
    return scores, "time limit" if np.isnan(scores).any() else "local optimum"


def _nothing_scored(n: int) -> npt.NDArray[np.float64]:
    return np.broadcast_to(np.float64(math.nan), (n, n))


def _choosing_takes(n: int, how: _Choice) -> float:
    """Seconds to find the best tree when pairs are scored, about."""
    return (_SECONDS_PER_PAIR if how.rules is None else _WITH_RULES) * n * n


def _required_parents(n: int, how: _Choice) -> npt.NDArray[np.int32]:
    """Return the required parents alone; required edges run where they may."""
    if how.rules is None:
        return np.full(n, -1, np.int32)
    parents = how.rules.parents.astype(np.int32)
    for edge in how.rules.edges:
        for parent, child in (edge, edge[::-1]):
            if parents[child] < 0 and child != how.root and how.rules.allowed[parent, child]:
                parents[child] = parent
                break
    return parents


class _Choice(NamedTuple):
    """How to choose: see `_best_parents`."""

    rules: _ArcRules | None
    root: int | None
    spanning: bool
    symmetric: bool
    total_weight: float


def _choice(
    settings: ChowLiu | TAN,
    problem: Problem,
    names: tuple[str, ...],
    common_parents: tuple[str, ...],
) -> _Choice:
    """Check the settings and the knowledge, before anything is counted."""
    who, scorer = settings.name, problem.scorer(settings.name)
    nodes, root, rules = problem.nodes, None, None
    if common_parents:
        require_class(who, problem, common_parents[0])
    if common_parents and not _can_be_above_all(nodes, problem.names.index(common_parents[0])):
        nodes = class_knowledge(who, problem, common_parents[0]).for_nodes(problem.names)
    if settings.root is not None:
        root = names.index(require_known("root", settings.root, names, who=who))
    if not (problem.knowledge.is_empty and problem.max_parents is None):
        rules = _ArcRules.of(who, nodes, problem.max_parents, common_parents)
        if root is not None and rules.parents[root] >= 0:
            raise GraphError(
                f"{who}: {settings.root!r} cannot be the root, its parent "
                f"{names[rules.parents[root]]!r} is required; choose another root"
            )
    weight = 1.0 if scorer.is_per_row else float(scorer.total_weight or 1.0)
    return _Choice(rules, root, not settings.forest, scorer.is_score_equivalent, weight)


def _can_be_above_all(nodes: NodeKnowledge, target: int) -> bool:
    """Whether no knowledge is against the class as a parent of every other variable."""
    others = np.arange(len(nodes.names)) != target
    above_all = nodes.allowed[target, others].all() and (nodes.max_parents[others] >= 1).all()
    return bool(above_all and not nodes.required[:, target].any())


def _best_parents(scores: npt.NDArray[np.float64], how: _Choice) -> npt.NDArray[np.int32]:
    """Return the parents of the best tree, -1 for roots; arcs with nan only where required.

    Symmetric weights without rules: Prim's algorithm. Otherwise Edmonds' algorithm. Spanning
    means as few roots as possible; otherwise arcs are there only where they raise the score.
    """
    parents = np.full(len(scores), -1, np.int32)
    if len(scores) == 0 or (how.rules is None and np.isnan(scores.diagonal()).all()):
        return parents
    weights, root_weights = _whole_weights(scores, how.total_weight)
    if how.symmetric:
        weights = weights + weights.T
        weights /= 2
        np.rint(weights, out=weights)
    if how.symmetric and how.rules is None and not root_weights.any():
        if not how.spanning:
            weights[weights <= 0] = -np.inf
        _core.maximum_spanning_tree(weights, how.root or 0, parents)
        return parents
    if how.rules is not None:
        _apply(how.rules, weights, root_weights, np.isnan(scores))
    if how.root is not None:
        weights[:, how.root] = -np.inf
    if not _core.maximum_branching(weights, root_weights, how.spanning, parents):
        raise GraphError(
            "search: no tree satisfies your constraints and scores more than minus "
            "infinity; state less, "
            "use another structure prior, or leave out columns that no row shows together"
        )
    return parents


def _whole_weights(
    scores: npt.NDArray[np.float64], total_weight: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return weights of arcs and of having no parent as whole multiples of what rounding may do.

    It must not decide between equal trees. Sums of this size went into the scores.
    """
    is_finite = np.isfinite(scores)
    weights = np.where(is_finite, scores, 0.0)
    largest = max(float(weights.max()), -float(weights.min()))
    scale = max(1.0, largest, total_weight * math.log(total_weight + 1.0))
    step = 2.0 ** math.ceil(math.log2(tie_width(scale)))
    alone = np.diag(scores)
    # Where a prior forbids having no parent, arcs are compared with each other only.
    base = np.where(np.isfinite(alone), alone, weights.max(axis=0))
    weights -= base
    weights /= step
    np.rint(weights, out=weights)
    weights[~is_finite] = -np.inf
    return weights, np.where(np.isneginf(alone), -np.inf, 0.0)


def _apply(
    rules: _ArcRules,
    weights: npt.NDArray[np.float64],
    root_weights: npt.NDArray[np.float64],
    is_unknown: npt.NDArray[np.bool_],
) -> None:
    """Put the rules into the weights."""
    one, other = np.array([(*edge, *edge[::-1]) for edge in rules.edges], int).reshape(-1, 2).T
    weights[one, other] = np.where(is_unknown[one, other], 0.0, weights[one, other])
    must = rules.parents >= 0
    child, parent = np.flatnonzero(must), rules.parents[must]
    required_weights = weights[parent, child]
    weights[~rules.allowed] = -np.inf
    weights[:, must] = -np.inf
    weights[parent, child] = np.where(np.isfinite(required_weights), required_weights, 0.0)
    root_weights[must] = -np.inf
    if not rules.edges:
        return
    # A tree has each edge once at most, so a bonus above all else makes it have all it can.
    n = len(weights)
    largest = float(np.abs(weights[np.isfinite(weights)]).max(initial=1.0))
    coarse = max(1.0, 2.0 ** math.ceil(math.log2(4.0 * n * largest / _MAX_WHOLE)))
    weights[:] = np.rint(weights / coarse)
    weights[one, other] += 2.0 * n * math.ceil(largest / coarse + 1.0)


def _refuse_violations(who: str, knowledge: Knowledge, dag: Dag) -> None:
    """Refuse a structure that violates a constraint about more than single arcs."""
    broken = knowledge.violations(dag)
    if broken:
        raise GraphError(
            f"{who}: the best structure violates the constraint '{broken[0]}', which the search "
            "cannot see to; state it as arcs or tiers, or use another search"
        )


# The knowledge about arcs.


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
        cls,
        who: str,
        nodes: NodeKnowledge,
        max_parents: int | None,
        common_parents: tuple[str, ...] = (),
    ) -> _ArcRules:
        """Take the knowledge that concerns a tree over the nodes that are not common parents."""
        names = nodes.names
        left_out = [names.index(name) for name in common_parents]
        others = np.delete(np.arange(len(names)), left_out)
        required = _without(nodes.required, left_out)
        limits = (
            nodes.max_parents if max_parents is None else np.minimum(nodes.max_parents, max_parents)
        )
        room = limits[others] - len(common_parents)
        above_of, child_of = np.nonzero(required)
        n_above = np.bincount(child_of, minlength=len(others))
        for place in np.flatnonzero(n_above > np.minimum(1, room))[:1]:
            above = [repr(names[others[p]]) for p in above_of[child_of == place]]
            fits = "no parent" if room[place] < 1 else "one"
            raise GraphError(
                f"{who}: {names[others[place]]!r} has the required parents {', '.join(above)}"
                f"{' beside the class' if common_parents else ''}, and there is room for {fits}; "
                "use another search, or require fewer arcs"
            )
        parents = np.full(len(others), -1, np.int32)
        parents[child_of] = above_of
        allowed = _without(nodes.allowed, left_out)
        if not (room >= 1).all():
            allowed = allowed & (room >= 1)
        place_of = {int(node): place for place, node in enumerate(others)}
        edges = tuple(
            (place_of[a], place_of[b])
            for a, b in nodes.required_edges
            if a in place_of and b in place_of  # the class is joined to all
        )
        return cls(allowed, parents, edges)


def _without(flags: npt.NDArray[np.bool_], left_out: list[int]) -> npt.NDArray[np.bool_]:
    """Return the flags of pairs of the other nodes."""
    return np.delete(np.delete(flags, left_out, 0), left_out, 1) if left_out else flags
