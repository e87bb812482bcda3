"""Random networks: a random DAG, and parameters drawn from Dirichlet distributions."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.data.schema import Variable
from bestdag.errors import InvalidParameterError, bad_setting, require_count, require_prior_count
from bestdag.graph.dag import Dag
from bestdag.graph.generators import Generator, random_dag
from bestdag.machine import require_memory
from bestdag.network.network import Network
from bestdag.network.table import MAX_AXES, ConditionalTable
from bestdag.wording import arg

__all__ = ["random_network"]

_WHO = "random"
_MAX_ARITY = 65_535


def random_network(
    n: int | Dag,
    generator: Generator | str = "markov_chain",
    *,
    arities: int | tuple[int, int] = 2,
    ess: float | None = None,
    pseudo_count: float | None = None,
    seed: int = 0,
    **settings: Any,
) -> Network:
    r"""Draw a random network.

    Parameters
    ----------
    n : int or Dag
        Number of variables, or the structure.
    generator, **settings
        What draws the structure, as in `random_dag`: ``max_degree=6``, say, for the default.
    arities : int or (int, int), default 2
        The number of states of every variable, or the least and the greatest one, drawn with
        the same probability for each.
    ess : float, optional
        Draw the tables from the BDeu prior with this equivalent sample size. Their rows are from
        :math:`Dir(s/(r q), ...)`, with r states and q configurations of the parents.
    pseudo_count : float, optional
        Draw the rows of tables from Dirichlet(a, ..., a) (1 unless one of both is given). With 1
        they are uniform; 1/2 makes structures easier to find.
    seed : int, default 0
        Random seed; the same seed gives the same network.

    Notes
    -----
    Silander, Roos and Myllymäki (2010), section 5.1, draw 5-node networks with 4 or 7 arcs,
    arities 2 to 4, and either ``ess=1`` or ``pseudo_count=0.5``.

    Examples
    --------
    >>> random_network(40, max_degree=6, seed=1)
    <Network 'random': 40 variables, 107 arcs, 499 parameters>
    >>> random_network(5, "order", n_arcs=7, arities=(2, 4), pseudo_count=0.5).dag.arcs[:1]
    (('v1', 'v2'),)
    """
    if ess is not None and pseudo_count is not None:
        raise InvalidParameterError(
            f"{_WHO}: give one of {arg('ess')} and {arg('pseudo_count')}, got both"
        )
    if ess is not None:
        require_prior_count(_WHO, "ess", ess)
    if pseudo_count is not None:
        require_prior_count(_WHO, "pseudo_count", pseudo_count)
    least, most = _arity_range(arities)
    seed = require_count(_WHO, "seed", seed)
    dag = n if isinstance(n, Dag) else random_dag(n, generator, seed=seed, **settings)
    # A stream of its own: parameters do not repeat what drew the structure.
    rng = np.random.default_rng([seed, 1])
    sizes = rng.integers(least, most, len(dag.nodes), endpoint=True).tolist()
    variables = {
        name: Variable(name, tuple(map(str, range(size))))
        for name, size in zip(dag.nodes, sizes, strict=True)
    }
    _require_tables(dag, variables)
    tables = []
    for name, variable in variables.items():
        parents = [variables[parent] for parent in dag.parents(name)]
        shape = (*(parent.arity for parent in parents), variable.arity)
        count = 1.0 if pseudo_count is None else pseudo_count
        count = count if ess is None else ess / prod(shape)
        rows = dirichlet_rows(rng, count, (prod(shape[:-1]), variable.arity))
        tables.append(ConditionalTable(variable, parents, rows.reshape(shape)))
    return Network(tables, name="random")


def dirichlet_rows(
    rng: np.random.Generator, count: float, shape: tuple[int, int]
) -> npt.NDArray[np.float64]:
    """Draw rows from Dir(count, ..., count), for counts however small.

    A gamma variable of shape a is one of shape a + 1 times U^(1/a), whose logarithm does not
    underflow.
    """
    # 1 - random() is never 0.
    logs = np.log(rng.standard_gamma(count + 1, shape)) + np.log1p(-rng.random(shape)) / count
    logs -= logs.max(axis=1, keepdims=True)
    rows = np.exp(logs)
    shares: npt.NDArray[np.float64] = rows / rows.sum(axis=1, keepdims=True)
    return shares


def _arity_range(arities: int | tuple[int, int]) -> tuple[int, int]:
    pair = (arities, arities) if isinstance(arities, int) else arities
    is_pair = isinstance(pair, tuple | list) and len(pair) == 2
    if (
        not is_pair
        or any(isinstance(one, bool) or not isinstance(one, int) for one in pair)
        or not 1 <= pair[0] <= pair[1] <= _MAX_ARITY
    ):
        needed = "a number of states, or the least and the greatest one, 1 to 65,535"
        raise bad_setting(_WHO, "arities", needed, arities)
    return pair[0], pair[1]


def _require_tables(dag: Dag, variables: dict[str, Variable]) -> None:
    n_cells, largest = 0, 0
    for name, variable in variables.items():
        parents = dag.parents(name)
        if len(parents) >= MAX_AXES:
            needed = f"at most {MAX_AXES - 1} for a table of random numbers"
            raise bad_setting(_WHO, "max_parents", needed, len(parents))
        cells = variable.arity * prod(variables[parent].arity for parent in parents)
        n_cells, largest = n_cells + cells, max(largest, cells)
    require_memory(
        _WHO,
        "drawing the tables",
        8 * n_cells + 40 * largest,
        f"bound the number of parents with {arg('max_parents')}, or lower {arg('arities')}",
    )
