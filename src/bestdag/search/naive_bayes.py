"""Naive Bayes: a class and attributes that depend on nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from bestdag.data.dataset import Dataset
from bestdag.errors import GraphError, InvalidParameterError, require_known
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge
from bestdag.registry import setting
from bestdag.search.problem import Problem
from bestdag.search.steps import POINT, Class, Found, Steps
from bestdag.wording import arg, by_reader

__all__ = [
    "NaiveBayes",
    "augmented",
    "class_arcs",
    "class_families",
    "class_knowledge",
    "require_class",
    "require_target",
]


def augmented(target: str, variables: Dataset | Iterable[str]) -> Knowledge:
    """Say that the class is a parent of every other variable.

    With this knowledge any search learns an augmented naive Bayes network [1]_: the class at the
    root, and arcs between the attributes where they raise the score.

    Parameters
    ----------
    target : str
        The class.
    variables : Dataset or iterable of str
        A Dataset, which must have the class among its columns, or names: all of them, or those
        of the attributes alone.

    Raises
    ------
    UnknownNameError
        If the class is no column of the Dataset.

    References
    ----------
    .. [1] Friedman, Geiger and Goldszmidt (1997). "Bayesian network classifiers." Machine
       Learning 29.

    Examples
    --------
    >>> print(augmented("play", ["play", "rain", "wind"]))
    play -> rain
    play -> wind
    """
    if isinstance(variables, Dataset):
        require_known("target", target, variables.names, who="augmented")
        variables = variables.names
    return Knowledge(required_arcs=class_arcs(target, variables))


def class_arcs(target: str, names: Iterable[str]) -> list[tuple[str, str]]:
    """Return the arcs from the class to every other variable."""
    return [(target, name) for name in names if name != target]


def class_families(target: str, names: Iterable[str]) -> list[tuple[str, frozenset[str]]]:
    """Return the families of every other variable with the class as the only parent."""
    return [(name, frozenset([target])) for name in names if name != target]


def require_target(who: str, target: object) -> None:
    """Refuse a search that has no class."""
    if not isinstance(target, str):
        python = f"must be the name of the class variable, got {target!r}"
        option = "must be given, the name of the class variable"
        raise InvalidParameterError(f"{who}: {arg('target')} {by_reader(python, option)}")


def require_class(who: str, problem: Problem, target: str) -> None:
    """Refuse a class that is no variable, or that cannot be a parent."""
    require_known("target", target, problem.names, who=who)
    limit = problem.max_parents
    if limit is not None and limit < 1 < len(problem.names):
        raise GraphError(
            f"{who}: every variable has the class {target!r} as a parent, and "
            f"{arg('max_parents', limit)} leaves no room for it"
        )


def class_knowledge(who: str, problem: Problem, target: str) -> Knowledge:
    """Return what the user knows together with the arcs from the class; refuse a clash."""
    require_class(who, problem, target)
    return problem.knowledge | augmented(target, problem.names)


@dataclass(frozen=True, slots=True, kw_only=True)
class NaiveBayes:
    r"""Make the class the only parent of every other variable.

    .. math:: P(c, x_1, \ldots, x_n) = P(c) \prod_i P(x_i \mid c)

    Nothing is searched: there is one such structure. `TAN` adds a tree over the attributes.

    Parameters
    ----------
    target : str
        The class.

    Raises
    ------
    InvalidParameterError
        No class.
    UnknownNameError, GraphError
        On running, a class that is no variable, or knowledge that the structure violates.

    References
    ----------
    .. [1] Duda and Hart (1973). "Pattern Classification and Scene Analysis."

    Examples
    --------
    >>> from bestdag import learn
    >>> result = learn({"a": ["x", "y"], "c": ["u", "v"]}, search=NaiveBayes(target="c"))
    >>> result.dag.arcs
    (('c', 'a'),)
    """

    name: ClassVar[str] = "naive_bayes"

    target: str | None = setting(None, "Class variable.")

    def __post_init__(self) -> None:
        require_target(self.name, self.target)

    def steps(self, problem: Problem) -> Steps:
        """Build the structure and score it."""
        assert self.target is not None
        class_knowledge(self.name, problem, self.target)
        problem.require_families(class_families(self.target, problem.names))
        dag = Dag(problem.names, class_arcs(self.target, problem.names))
        broken = problem.knowledge.violations(dag)
        if broken:
            raise GraphError(
                f"naive_bayes: the only structure violates the constraint '{broken[0]}'; leave it "
                "out, or use another search"
            )
        words = f"the only naive Bayes network with class {self.target!r}"
        yield Class("naive bayes", words)
        yield Found(dag, problem.scorer(self.name).total(dag))
        yield POINT
