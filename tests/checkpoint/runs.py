"""Runs of a second or more, to be killed in the middle, each with what its answer is compared by.

``python -m tests.checkpoint.runs NAME FILE`` runs one in a process of its own, which begins as a
copy of this one, for each line it reads; it writes the number of that process, then how it ended.
"""

from __future__ import annotations

import os
import sys
import traceback
from dataclasses import astuple, dataclass
from functools import cache

import numpy as np

from bestdag import Checkpoint
from bestdag.averaging.bootstrap import bootstrap
from bestdag.averaging.posterior import posterior
from bestdag.data.dataset import Dataset
from bestdag.graph.dag import Dag
from bestdag.incomplete import StructuralEM
from bestdag.learning import learn
from bestdag.network.random_network import random_network
from bestdag.search import make_search

# Of each search: its settings, and the variables and rows of its table.
SEARCHES = {
    "hill_climb": ({"restarts": 300, "perturb": 3}, (30, 1000)),
    "tabu": ({"patience": 80_000}, (40, 2000)),
    "annealing": ({"levels": 400, "proposals": 2000}, (20, 500)),
    "k2": ({"orders": 1000}, (20, 500)),
    "order": ({"rounds": 200}, (40, 500)),
    "auto": ({"rounds": 3, "budget": 1e4}, (23, 500)),
    "ges": ({"turning": True}, (1000, 3000)),
    "exact": ({"engine": "bnc"}, (23, 500)),
    "tree": ({}, (1200, 5000)),
    "tan": ({"target": "v0001"}, (1200, 5000)),
    "naive_bayes": ({"target": "v0001"}, (1200, 5000)),
}
# Where there is no middle, a run is killed at any moment, before the first write too.
AT_ONCE = {"tree", "tan", "naive_bayes"}


@dataclass(frozen=True)
class Answer:
    """What a search came to."""

    dag: Dag
    score: float
    status: str

    def ends_as_well_as(self, other, best):
        """Whether it ends as another run, or with a proof, and no worse than a score."""
        slack = 1e-9 * abs(self.score)
        if other.status == "optimum proved" and abs(self.score - other.score) > slack:
            return False
        is_as_well = self.status in (other.status, "optimum proved")
        return is_as_well and (best is None or self.score >= best - slack)


@cache
def table(n, n_rows):
    return random_network(n, "order", max_parents=3, seed=1).sample(n_rows, seed=1)


def _short():
    search = make_search("hill_climb", restarts=60, perturb=3)
    return _answer_of(table(30, 1000), search=search)


def _learned(name):
    settings, size = SEARCHES[name]
    return _answer_of(table(*size), search=make_search(name, **settings))


def _by_dp():
    return _answer_of(table(21, 500), search=make_search("exact", engine="dp"))


def _by_rungs():
    return _answer_of(table(30, 1000), search=make_search("auto", rounds=40, budget=1e4))


def _structural_em():
    whole = table(12, 400)
    columns = [whole.codes(name).astype(np.int32) for name in whole.names]
    for k in (1, 4, 7):
        columns[k][k::6] = whole.variables[k].arity  # missing
    holes = Dataset(whole.variables, columns)
    return _answer_of(holes, search="hill_climb", missing=StructuralEM(restarts=6))


def _answer_of(data, **settings):
    def run(checkpoint):
        found = learn(data, "bic", seed=5, workers=1, **settings, checkpoint=checkpoint)
        return Answer(found.dag, found.score, found.status)

    return run


def _bootstrap():
    def run(checkpoint):
        settings = {"replicates": 200, "seed": 5, "workers": 2}
        return bootstrap(table(20, 500), "bic", **settings, checkpoint=checkpoint).matrix.tolist()

    return run


def _chains(prior):
    def run(checkpoint):
        settings = {"method": "chains", "prior": prior, "chains": 2, "steps": 20_000, "seed": 5}
        found = posterior(
            table(20, 500), "bic", max_parents=3, workers=1, **settings, checkpoint=checkpoint
        )
        return found.matrix.tolist(), repr(astuple(found.diagnostics))

    return run


RUNS = {
    **{name: (lambda name=name: _learned(name)) for name in SEARCHES},
    "short": _short,
    "exact by dp": _by_dp,
    "auto by rungs": _by_rungs,
    "structural EM": _structural_em,
    "bootstrap": _bootstrap,
    "chains over DAGs": lambda: _chains("uniform"),
    "chains over orders": lambda: _chains("order"),
}


def serve(name, path):
    run = RUNS[name]()
    for _ in sys.stdin:
        process = os.fork()
        if process == 0:
            try:
                run(Checkpoint(path, every=0.02, resume=True))
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        print(process, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)


if __name__ == "__main__":
    serve(*sys.argv[1:])
