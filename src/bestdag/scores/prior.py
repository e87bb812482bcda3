"""Prior probabilities of structures, family by family."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from bestdag.errors import InvalidParameterError, bad_setting, require_count, unknown_name
from bestdag.graph.dag import Dag

__all__ = [
    "ArcDifferencePrior",
    "ArcPrior",
    "SparsePrior",
    "StructurePrior",
    "UniformPrior",
    "make_prior",
]


@runtime_checkable
class StructurePrior(Protocol):
    """A prior over structures that is a product over families, up to a constant.

    A prior of your own needs these two members and nothing else. One that is also a product
    over arcs may have ``arc(parent, child)``, the logarithm of what an arc adds to its family;
    then score tables are made without a call for every family.

    Examples
    --------
    A prior of one's own, under which ``a`` has no parents:

    >>> from bestdag import learn
    >>> class RootPrior:
    ...     is_score_equivalent = False
    ...
    ...     def family(self, child, parents):
    ...         return -math.inf if child == "a" and parents else 0.0
    >>> data = {"a": [0, 0, 1, 1] * 9, "b": [0, 0, 1, 1] * 9}
    >>> learn(data, "bic", structure_prior=RootPrior()).dag.arcs
    (('a', 'b'),)
    """

    @property
    def is_score_equivalent(self) -> bool:
        """Whether structures with the same independences have the same probability."""
        ...

    def family(self, child: str, parents: frozenset[str]) -> float:
        """Return the natural logarithm of a family's factor; minus infinity forbids it."""
        ...


@runtime_checkable
class ArcPrior(Protocol):
    """A prior over structures that is a sum over arcs.

    ``family(child, parents)`` is ``family(child, ())`` plus the sum of ``arc(parent, child)``.
    """

    def family(self, child: str, parents: frozenset[str]) -> float:
        """Return the natural logarithm of a family's factor."""
        ...

    def arc(self, parent: str, child: str) -> float:
        """Return what an arc adds to its family."""
        ...


@dataclass(frozen=True, slots=True)
class UniformPrior:
    """Every structure is equally likely: each family adds 0.

    Examples
    --------
    >>> UniformPrior().family("wet", frozenset({"rain"}))
    0.0
    """

    is_score_equivalent: ClassVar[bool] = True

    def family(self, child: str, parents: frozenset[str]) -> float:
        """Return 0, the logarithm of 1."""
        return 0.0

    def arc(self, parent: str, child: str) -> float:
        """Return what an arc adds: 0."""
        return 0.0


@dataclass(frozen=True, slots=True)
class SparsePrior:
    r"""Each variable has about one parent, a priori: an arc has the odds :math:`1 : n - 1`.

    .. math::

        P(S) \propto \left(\frac{1}{n - 1}\right)^{|S|},

    with :math:`|S|` the number of arcs and n that of variables. Each arc adds
    :math:`-\ln(n - 1)` to its family.

    Under a uniform prior, the more variables there are to choose from, the more arcs come up by
    chance: n (n - 1) / 2 pairs are looked at, and the best of them become arcs. This corrects for
    that, as priors do for the number of regressors [1]_ and the extended BIC for that of features
    [2]_. A penalty for each arc is the same for all members of an equivalence class.

    Parameters
    ----------
    n_variables : int
        Number of variables, at least 1.

    References
    ----------
    .. [1] Scott and Berger (2010). "Bayes and empirical-Bayes multiplicity adjustment in the
       variable-selection problem." Annals of Statistics 38(5), 2587-2619.
    .. [2] Chen and Chen (2008). "Extended Bayesian information criteria for model selection with
       large model spaces." Biometrika 95(3), 759-771.

    Examples
    --------
    >>> prior = SparsePrior(n_variables=11)
    >>> round(prior.family("wet", frozenset({"rain", "wind"})), 6)  # -2 ln 10
    -4.60517
    """

    is_score_equivalent: ClassVar[bool] = True

    n_variables: int

    def __post_init__(self) -> None:
        require_count("SparsePrior", "n_variables", self.n_variables, minimum=1)

    @property
    def per_arc(self) -> float:
        """What each arc adds."""
        return -math.log(max(1, self.n_variables - 1))

    def family(self, child: str, parents: frozenset[str]) -> float:
        """Return what the arcs of a family add."""
        return -len(parents) * math.log(max(1, self.n_variables - 1))

    def arc(self, parent: str, child: str) -> float:
        """Return what an arc adds."""
        return self.per_arc


SPARSE, UNIFORM = "sparse", "uniform"


def make_prior(prior: StructurePrior | str | None, n_variables: int) -> StructurePrior | None:
    """Return a prior over structures, also one that is named; None is the uniform one.

    Examples
    --------
    >>> make_prior("sparse", 3), make_prior("uniform", 3)
    (SparsePrior(n_variables=3), None)
    """
    if not isinstance(prior, str):
        return prior
    if prior not in (SPARSE, UNIFORM):
        raise unknown_name("structure prior", prior, [SPARSE, UNIFORM])
    return SparsePrior(n_variables) if prior == SPARSE else None


class _HasDag(Protocol):
    @property
    def dag(self) -> Dag: ...


@dataclass(frozen=True, slots=True)
class ArcDifferencePrior:
    r"""The further from a prior network, the less likely.

    .. math::

        P(S) \propto \kappa^{\sum_i \delta_i}, \qquad
        \delta_i = |\mathrm{pa}_S(x_i) \mathbin{\triangle} \mathrm{pa}_P(x_i)|,

    where :math:`\delta_i` is the number of parents of :math:`x_i` that structure and prior
    network disagree on. Each family adds :math:`\delta_i \ln \kappa`.

    Parameters
    ----------
    network : Dag or Network
        The prior network, with every variable of the data; of a Network only the graph counts.
    kappa : float
        Factor for each difference, above 0 and at most 1; 1 is the uniform prior.

    Raises
    ------
    InvalidParameterError
        No graph, or a kappa out of range.
    UnknownNameError
        On scoring, a variable that the prior network does not have.

    Notes
    -----
    The constant of proportionality is left out: it is the same for all structures. Score
    equivalent only if the prior network has no arc (or kappa is 1): reversing one of its arcs
    costs two differences.

    References
    ----------
    .. [1] Jensen and Nielsen (2007). "Bayesian Networks and Decision Graphs", 2nd edition,
       equations 7.10 and 7.11.

    Examples
    --------
    >>> prior = ArcDifferencePrior(Dag(["rain", "wet"], [("rain", "wet")]), kappa=0.5)
    >>> prior.difference("wet", frozenset()), prior.difference("rain", frozenset({"wet"}))
    (1, 1)
    >>> round(prior.family("wet", frozenset()), 6)
    -0.693147
    """

    network: Dag
    kappa: float

    def __init__(self, network: Dag | _HasDag, *, kappa: float) -> None:
        dag = network if isinstance(network, Dag) else getattr(network, "dag", None)
        if not isinstance(dag, Dag):
            raise InvalidParameterError(
                f"ArcDifferencePrior: network must be a Dag or a Network, "
                f"got {type(network).__name__}"
            )
        factor: Any = kappa
        real = isinstance(factor, numbers.Real) and not isinstance(factor, bool)
        if not real or not 0 < factor <= 1:
            needed = "a number above 0 and at most 1"
            raise bad_setting("ArcDifferencePrior", "kappa", needed, kappa)
        object.__setattr__(self, "network", dag)
        object.__setattr__(self, "kappa", kappa)

    @property
    def is_score_equivalent(self) -> bool:
        """Whether equivalent structures are equally likely."""
        return not self.network.arcs or self.kappa == 1

    def difference(self, child: str, parents: frozenset[str]) -> int:
        """Return how many parents of a family the prior network disagrees on."""
        nodes = self.network.nodes
        for name in (child, *sorted(parents)):
            if name not in nodes:
                raise unknown_name("variable", name, nodes, who="ArcDifferencePrior")
        return len(parents.symmetric_difference(self.network.parents(child)))

    def family(self, child: str, parents: frozenset[str]) -> float:
        """Return the logarithm of kappa for each difference."""
        return self.difference(child, parents) * math.log(self.kappa)

    def arc(self, parent: str, child: str) -> float:
        """Return what an arc adds to its family: one difference more, or one less."""
        with_arc = self.difference(child, frozenset({parent}))
        return (with_arc - self.difference(child, frozenset())) * math.log(self.kappa)
