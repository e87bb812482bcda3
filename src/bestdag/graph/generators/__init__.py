"""Generators of random DAGs, each in its own file, and the one list that names them."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from bestdag.graph.dag import Dag
from bestdag.registry import listed, make

# The list: one line for each generator, in the order that help and docs show.
# isort: off
from bestdag.graph.generators.markov_chain import MarkovChain as MarkovChain
from bestdag.graph.generators.order import OrderBased as OrderBased
from bestdag.graph.generators.uniform import UniformDags as UniformDags

# isort: on
from bestdag.errors import require_count

GENERATORS: dict[str, Any] = listed(globals(), __name__)


class Generator(Protocol):
    """A generator of random DAGs over numbered nodes; its fields are its settings.

    A new one is a file in this package and a line in the list above. `arcs` is a function of the
    number of nodes, the seed and the settings alone; `random_dag` gives the nodes their names.
    """

    name: ClassVar[str]

    def arcs(self, n: int, seed: int) -> npt.NDArray[np.int64]:
        """Draw a DAG over the nodes 0 to n - 1: one row (parent, child) for each arc."""
        ...


def make_generator(name: str, **settings: Any) -> Generator:
    """Make a generator from its name and its settings.

    Examples
    --------
    >>> make_generator("order", n_arcs=4)
    OrderBased(arc_probability=None, n_arcs=4, max_parents=None)
    """
    generator: Generator = make("generator", name, GENERATORS, {}, settings)
    return generator


def random_dag(
    n: int, generator: Generator | str = "markov_chain", *, seed: int = 0, **settings: Any
) -> Dag:
    """Draw a random DAG.

    Parameters
    ----------
    n : int
        Number of nodes; they are called v1, v2, ..., with zeros before so that the order of
        names is that of numbers.
    generator : Generator or str, default "markov_chain"
        "markov_chain": connected, within limits, uniformly; "order": each arc of a random order
        for itself, for many nodes; "uniform": all DAGs with the same probability.
    seed : int, default 0
        Same seed, same DAG.
    **settings
        Settings of a generator that is named, such as ``max_degree=6``.

    Raises
    ------
    UnknownNameError
        A generator or a setting that does not exist.
    InvalidParameterError
        A setting out of range, or more nodes than the generator is for.

    Examples
    --------
    >>> dag = random_dag(20, max_degree=4, seed=1)
    >>> max(len(dag.adjacent(node)) for node in dag.nodes)
    4
    >>> len(random_dag(5, "order", n_arcs=7).arcs)
    7
    """
    n = require_count("random", "n", n, minimum=1)
    seed = require_count("random", "seed", seed)
    if isinstance(generator, str):
        generator = make_generator(generator, **settings)
    names = node_names(n)
    parents: dict[str, list[str]] = {name: [] for name in names}
    for parent, child in generator.arcs(n, seed).tolist():
        parents[names[child]].append(names[parent])
    return Dag._trusted(names, {name: tuple(sorted(group)) for name, group in parents.items()})


def node_names(n: int) -> tuple[str, ...]:
    """Name n nodes.

    Examples
    --------
    >>> node_names(10)[0], node_names(3)
    ('v01', ('v1', 'v2', 'v3'))
    """
    width = len(str(n))
    return tuple(f"v{k:0{width}d}" for k in range(1, n + 1))
