"""The joint distribution of a network written out cell by cell, and rows read off it."""

from __future__ import annotations

from itertools import product
from math import fsum, prod

import numpy as np
from hypothesis import strategies as st

from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.network.network import Network
from bestdag.network.table import ConditionalTable


def joint(network):
    """Each assignment of codes, in the order of the variables, with its probability."""
    names = network.names
    for codes in product(*(range(network.arities[name]) for name in names)):
        state = dict(zip(names, codes, strict=True))
        yield (
            codes,
            prod(
                float(t.values[(*(state[p.name] for p in t.parents), state[t.child.name])])
                for t in network.tables
            ),
        )


def rows_of(data, names):
    """The codes of each row, None for a missing value or column."""
    for row in range(data.n_rows):
        yield tuple(
            None if n not in data.arities or data.missing(n)[row] else int(data.codes(n)[row])
            for n in names
        )


def agrees(codes, row):
    return all(known is None or known == code for code, known in zip(codes, row, strict=True))


def probabilities(network, data):
    """The probability of what each row shows, by summing the joint."""
    cells = list(joint(network))
    return [
        fsum(p for codes, p in cells if agrees(codes, row)) for row in rows_of(data, network.names)
    ]


def posteriors(network, target, data):
    """The joint with each state of the target, and the distribution: None if that is 0 / 0."""
    cells = list(joint(network))
    place = network.names.index(target)
    for row in rows_of(data, network.names):
        beside = [*row[:place], None, *row[place + 1 :]]
        each = [
            fsum(p for codes, p in cells if codes[place] == k and agrees(codes, beside))
            for k in range(network.arities[target])
        ]
        total = fsum(each)
        yield [value / total for value in each] if total > 0 else None


@st.composite
def networks_with_rows(draw, *, zeros=True):
    """Up to six variables of one to three states, and up to twelve rows, columns shuffled."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(1, 6))
    names = [str(name) for name in rng.permutation(list("abcdef"))[:n]]
    tables, variables = [], []
    for name in names:
        child = Variable(name, tuple(f"s{k}" for k in range(rng.integers(1, 4))))
        n_parents = int(rng.integers(0, min(len(variables), 3) + 1))
        parents = [variables[i] for i in rng.permutation(len(variables))[:n_parents]]
        shape = (*(p.arity for p in parents), child.arity)
        values = rng.gamma(0.5, size=shape) + 1e-9
        if zeros:
            values[(rng.random(shape) < 0.2) & (values < values.max(axis=-1, keepdims=True))] = 0
        tables.append(ConditionalTable(child, parents, values / values.sum(-1, keepdims=True)))
        variables.append(child)
    network = Network([tables[i] for i in rng.permutation(n)])
    n_rows = draw(st.integers(1, 12))
    share = draw(st.sampled_from([0.0, 0.3, 0.8]))
    columns = []
    for variable in variables:
        codes = rng.integers(0, variable.arity, n_rows)
        columns.append(np.where(rng.random(n_rows) < share, variable.arity, codes))
    return network, Dataset(variables, columns)
