"""The best tree: Chow-Liu for any decomposable score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bestdag.errors import require_flag
from bestdag.registry import setting
from bestdag.search.problem import Problem
from bestdag.search.spanning import best_tree
from bestdag.search.steps import Steps

__all__ = ["ChowLiu"]


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
    >>> found = learn(example("asia.csv"), "bic", search=ChowLiu(root="smoke"))
    >>> found.dag.children("smoke"), found.notes
    (('bronc',), ("best of all trees with root 'smoke'",))
    """

    name: ClassVar[str] = "tree"

    root: str | None = setting(None, "Root of the tree.")
    forest: bool = setting(False, "Keep only arcs that increase the score.")

    def __post_init__(self) -> None:
        require_flag(self.name, "forest", self.forest)

    def steps(self, problem: Problem) -> Steps:
        """Score all pairs and find the tree; after the time limit, from the pairs scored."""
        yield from best_tree(self, problem, kinds=("trees", "forests"))
