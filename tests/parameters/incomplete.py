"""Small incomplete tables and networks for the tests of EM and what stands on it."""

import numpy as np
from hypothesis import strategies as st

from bestdag import ConditionalTable, Dag, Dataset, Network, Variable

NAMES = "abcde"


def variables_of(arities):
    return [Variable(n, tuple(map(str, range(k)))) for n, k in zip(NAMES, arities, strict=False)]


def dataset_of(rows, arities, weights=None):
    """Make a Dataset of rows in which None is a missing value."""
    columns = [
        np.array([n if row[i] is None else row[i] for row in rows]) for i, n in enumerate(arities)
    ]
    return Dataset(variables_of(arities), columns, weights)


@st.composite
def incomplete(draw, max_variables=4, max_rows=8, max_arity=3):
    """Draw (arities, parents, rows): a structure over a, b, ... and rows with holes."""
    n = draw(st.integers(1, max_variables))
    arities = draw(st.lists(st.integers(1, max_arity), min_size=n, max_size=n))
    parents = [[p for p in range(i) if draw(st.booleans())] for i in range(n)]
    cell = [st.one_of(st.none(), st.integers(0, k - 1)) for k in arities]
    rows = draw(st.lists(st.tuples(*cell), min_size=1, max_size=max_rows))
    return arities, parents, rows


def dag_of(arities, parents):
    names = NAMES[: len(arities)]
    return Dag.from_parents({names[i]: [names[p] for p in g] for i, g in enumerate(parents)})


def random_tables(arities, parents, seed):
    """Draw conditional tables without zeros."""
    random = np.random.default_rng(seed)
    tables = []
    for child, group in enumerate(parents):
        shape = (*(arities[p] for p in group), arities[child])
        cells = random.random(shape) + 0.05
        tables.append(cells / cells.sum(axis=-1, keepdims=True))
    return tables


def network_of(arities, parents, tables):
    variables = variables_of(arities)
    return Network(
        ConditionalTable(variables[i], [variables[p] for p in group], tables[i])
        for i, group in enumerate(parents)
    )


def tables_of(network):
    return [table.values for table in network.tables]
