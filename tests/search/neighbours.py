"""Structures one arc apart, by definition, and data to climb on."""

import numpy as np

from bestdag.errors import CycleError
from tests.conftest import make_dataset


def neighbours(dag, knowledge=None, max_parents=None):
    """Every structure one addition, removal or reversal away that your constraints allow."""
    found = []
    for one in dag.nodes:
        for other in dag.nodes:
            if one == other:
                continue
            changes = []
            if dag.has_arc(one, other):
                changes = [dag.remove, dag.reverse]
            elif not dag.has_arc(other, one):
                changes = [dag.add]
            for change in changes:
                try:
                    found.append(change(one, other))
                except CycleError:
                    continue
    if max_parents is not None:
        found = [d for d in found if max(len(d.parents(v)) for v in d.nodes) <= max_parents]
    return [d for d in found if knowledge is None or knowledge.allows(d)]


class Slow:
    """A score as a user writes it: the formula of another one, and no native twin."""

    def __init__(self, score):
        self._score = score
        self.name = f"slow {score.name}"
        self.is_score_equivalent = score.is_score_equivalent

    def family(self, counts):
        return self._score.family(counts)

    def kernel(self):
        return None


def linked_data(seed, n=6, n_rows=80):
    """Columns that depend on up to two others, in an order of names drawn by the seed."""
    rng = np.random.default_rng(seed)
    names = rng.permutation([f"v{i}" for i in range(n)]).tolist()
    columns = {}
    for i, name in enumerate(names):
        parents = rng.choice(names[:i], size=min(i, 2), replace=False) if i else []
        table = rng.dirichlet([0.4] * 3, size=3 ** len(parents)).cumsum(axis=1)
        number = np.zeros(n_rows, int)
        for parent in parents:
            number = number * 3 + columns[parent]
        columns[name] = (table[number] < rng.random(n_rows)[:, None]).sum(axis=1).clip(0, 2)
    return make_dataset({k: v.tolist() for k, v in columns.items()}, dict.fromkeys(names, 3))
