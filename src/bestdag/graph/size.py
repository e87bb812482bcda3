"""How many free parameters a Dag has over discrete variables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol

from bestdag.errors import require_count, unknown_name
from bestdag.graph._names import show
from bestdag.graph.dag import Dag

__all__ = ["HasArities", "n_parameters"]


class HasArities(Protocol):
    """An object that knows the number of states of each variable, such as a Dataset."""

    @property
    def arities(self) -> Mapping[str, int]:
        """Number of states by variable name."""
        ...


def n_parameters(dag: Dag, data: HasArities | Mapping[str, int]) -> int:
    r"""Return the number of free parameters, exactly.

    .. math::

        \sum_i q_i (r_i - 1),

    with :math:`r_i` the arity of node i and :math:`q_i` the product of its parents' arities
    (1 without parents).

    Parameters
    ----------
    dag : Dag
        The graph.
    data : object with `arities`, or mapping from name to arity
        Variables that are no node do not matter.

    References
    ----------
    .. [1] Jensen and Nielsen (2007). "Bayesian Networks and Decision Graphs." Section 7.2,
       equation 7.3, with the number of configurations of the parents for `pa(X)`.

    Examples
    --------
    >>> n_parameters(Dag.from_parents({"wet": ["rain"]}), {"wet": 2, "rain": 3})
    5
    """
    arities = data if isinstance(data, Mapping) else data.arities
    sizes = {}
    for node in dag.nodes:
        if node not in arities:
            raise unknown_name("variable", node, arities, who="n_parameters")
        sizes[node] = arities[node]
        if arities is data:
            what = f"the arity of {show(node)}"
            sizes[node] = require_count("n_parameters", what, sizes[node], minimum=1)
    return sum(
        math.prod(map(sizes.__getitem__, parents)) * (sizes[node] - 1)
        for node, parents in dag.families.items()
    )
