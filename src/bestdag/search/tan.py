"""The best tree-augmented naive Bayes network, for any decomposable score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bestdag.errors import require_flag
from bestdag.registry import setting
from bestdag.search.naive_bayes import require_target
from bestdag.search.problem import Problem
from bestdag.search.spanning import best_tree
from bestdag.search.steps import Steps

__all__ = ["TAN"]


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
    >>> found = learn(example("asia.csv"), "bic", search=TAN(target="dysp"))
    >>> found.dag.parents("xray"), found.notes
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
        yield from best_tree(self, problem, kinds=kinds, target=self.target)
