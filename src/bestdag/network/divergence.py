"""The Kullback-Leibler divergence between two networks, exact or sampled."""

from __future__ import annotations

from math import fsum, inf
from typing import TYPE_CHECKING

import numpy as np

from bestdag.errors import DataError, NotEnoughMemoryError, require_choice, require_count
from bestdag.inference.distribution import Estimate
from bestdag.inference.junction_tree import Known
from bestdag.inference.sampling import sample_codes
from bestdag.inference.sparse_table import SparseTable
from bestdag.inference.tables import Rows
from bestdag.network.table import ConditionalTable

if TYPE_CHECKING:
    from bestdag.network.answers import Answers
    from bestdag.network.network import Network

__all__ = ["kl_divergence"]

_WHO = "kl_divergence"


def kl_divergence(
    network: Network,
    other: Network,
    method: str,
    *,
    samples: int,
    seed: int,
    threads: int | None,
) -> Estimate:
    """Answer `Network.kl_divergence`."""
    require_choice(_WHO, "method", method, ["auto", "exact", "sampling"])
    n = require_count(_WHO, "samples", samples, minimum=2)
    other = _aligned(network, other)
    if method != "sampling":
        try:
            return Estimate(_exact(network._answers(), network, other))
        except NotEnoughMemoryError:
            if method == "exact":
                raise
    return _sampled(network, other, n, seed, threads)


def _aligned(network: Network, other: Network) -> Network:
    """Give the other network's variables the order of this one, and check that they agree."""
    from bestdag.network.network import Network

    if not isinstance(other, Network):
        raise DataError(f"{_WHO}: another Network is needed, got {other!r:.60}")
    if set(other.names) != set(network.names):
        unshared = sorted(set(other.names) ^ set(network.names))
        raise DataError(f"{_WHO}: {unshared[0]!r} is a variable of one network only")
    for name in network.names:
        if network.variable(name).states != other.variable(name).states:
            raise DataError(f"{_WHO}: {name!r} has other states in the other network")
    return Network([other.table(name) for name in network.names])


# D(P || Q) = -H(P) - sum_i sum P(x_i, pa) ln Q(x_i | pa), over the families of Q; and -H(P) is the
# same sum with P's own families and tables. Each needs the joint of one family under P.
def _exact(answers: Answers, network: Network, other: Network) -> float:
    terms = []
    for own, theirs in zip(network.tables, other.tables, strict=True):
        cross = _mean_log(answers, theirs)
        if cross == -inf:
            return inf
        terms += [_mean_log(answers, own), -cross]
    return max(0.0, fsum(terms))


def _mean_log(answers: Answers, table: ConditionalTable) -> float:
    """Return the mean of the logarithms of a table under the network that answers."""
    places = [answers.by_name[v.name][0] for v in (*table.parents, table.child)]
    _, joint = answers.joint(places, Known(), _WHO)
    some = joint > 0
    with np.errstate(divide="ignore"):
        logs = np.log(table.values.reshape(-1)[some])
    return float((joint[some] * logs).sum())


def _sampled(network: Network, other: Network, n: int, seed: int, threads: int | None) -> Estimate:
    answers = network._answers()
    tables, order = answers.tables, network._logs().order
    if any(_has_zeros(theirs) and _forbids(answers, theirs) for theirs in other.tables):
        return Estimate(inf)
    place = {v: i for i, v in enumerate(order)}
    columns = sample_codes(
        [tables.names[v] for v in order],
        [tables.values[v] for v in order],
        [[place[p] for p in tables.parents[v]] for v in order],
        n,
        seed=seed,
        threads=threads,
    )
    rows = Rows(n, tuple(columns[place[v]] for v in range(len(order))), (False,) * len(order))
    own, cross = np.zeros((n, 1)), np.zeros((n, 1))
    network._logs().add(rows, own, threads=threads)
    other._logs().add(rows, cross, threads=threads)
    if (cross == -inf).any():
        return Estimate(inf)
    ratio = own - cross
    error = float(ratio.std(ddof=1) / np.sqrt(n))
    return Estimate(float(ratio.mean()), error, n)


def _forbids(answers: Answers, table: ConditionalTable) -> bool:
    """Whether the network that answers can do something that a table gives no probability."""
    try:
        return _mean_log(answers, table) == -inf
    except NotEnoughMemoryError:
        pass
    # Configuration by configuration: evidence takes no room.
    places = [answers.by_name[v.name][0] for v in (*table.parents, table.child)]
    for codes in np.argwhere(table.values == 0).tolist():
        known = Known(dict(zip(places, codes, strict=True)))
        if answers.log_probability(known, _WHO) > -inf:
            return True
    return False


def _has_zeros(table: ConditionalTable) -> bool:
    rows = table.sparse.rows if isinstance(table.sparse, SparseTable) else table.values
    return bool((rows == 0).any())
