"""Small random networks, and every question answered from the joint distribution written out."""

from __future__ import annotations

from itertools import product

import numpy as np

from bestdag.data.schema import Variable
from bestdag.network.network import Network
from bestdag.network.table import ConditionalTable


def random_table(rng, shape):
    """Rows that are anything, with zeros, or certain."""
    rows = rng.dirichlet(np.ones(shape[-1]), shape[:-1])
    kind = rng.integers(4)
    if kind == 0:  # certain
        best = rows.argmax(axis=-1)
        rows = np.eye(shape[-1])[best]
    elif kind == 1 and shape[-1] > 1:  # with zeros
        rows = np.where(rows < rows.max(axis=-1, keepdims=True) / 3, 0.0, rows)
        rows /= rows.sum(axis=-1, keepdims=True)
    return rows


def random_network(rng, most=6):
    """One to six variables of one to four states, in any order, often in several pieces."""
    n = int(rng.integers(1, most + 1))
    names = [f"v{i}" for i in rng.permutation(n)]
    variables = [
        Variable(name, tuple(f"s{k}" for k in range(rng.choice([1, 2, 2, 3, 4])))) for name in names
    ]
    density = rng.random()
    tables = []
    for i, child in enumerate(variables):
        parents = [v for v in variables[:i] if rng.random() < density][:3]
        shape = (*(p.arity for p in parents), child.arity)
        tables.append(ConditionalTable(child, parents, random_table(rng, shape)))
    return Network([tables[i] for i in rng.permutation(n)])


def random_findings(rng, network):
    """Some states and some weights of states; they may be impossible together."""
    given, likelihood = {}, {}
    share = rng.random() * 0.7
    for variable in network.variables:
        if rng.random() < share:
            if rng.random() < 0.3:
                weights = rng.random(variable.arity) * (rng.random(variable.arity) < 0.8)
                weights[rng.integers(variable.arity)] = rng.random() + 0.1
                likelihood[variable.name] = weights.tolist()
            else:
                given[variable.name] = variable.states[rng.integers(variable.arity)]
    return given, likelihood


def full_joint(network, given=None, likelihood=None):
    """P of every configuration together with what is known; likelihoods over their largest."""
    names = network.names
    out = np.ones([network.arities[name] for name in names])
    for table in network.tables:
        axes = [names.index(v.name) for v in (*table.parents, table.child)]
        values = table.values.transpose(np.argsort(axes))
        shape = [network.arities[n] if i in axes else 1 for i, n in enumerate(names)]
        out = out * values.reshape(shape)
    for name, state in (given or {}).items():
        weights = np.zeros(network.arities[name])
        weights[network.variable(name).states.index(state)] = 1.0
        out = out * along(network, name, weights)
    for name, weights in (likelihood or {}).items():
        out = out * along(network, name, np.array(weights) / max(weights))
    return out


def along(network, name, weights):
    shape = [1] * len(network.names)
    shape[network.names.index(name)] = len(weights)
    return np.asarray(weights).reshape(shape)


def marginal(network, joint, targets):
    """Sum over all other variables, targets in the order given."""
    places = [network.names.index(name) for name in targets]
    rest = tuple(i for i in range(joint.ndim) if i not in places)
    left = sorted(places)
    return joint.sum(axis=rest).transpose([left.index(place) for place in places])


def configurations(network, names):
    """Every configuration of some variables: the states by name."""
    states = [network.variable(name).states for name in names]
    return [dict(zip(names, each, strict=True)) for each in product(*states)]
