"""Greedy equivalence search: processor seconds, wall seconds and scores, one run.

Rows are sampled from random sparse networks of binary and ternary variables (one or two parents
each) and from the networks in the folder given. Every search begins with the empty structure. The
score of the true structure is shown beside. --known adds tiers that agree with the true structure,
tiers that do not, and a limit of two parents.

Run: python benchmarks/ges.py [FOLDER] [--sizes 300,1000] [--rows 5000] [--score bic] [--threads 2]
     [--known] [--time-limit 600]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bestdag import GES, Knowledge, Network, Variable
from bestdag.network.table import ConditionalTable
from bestdag.scores.scorer import Scorer
from bestdag.search.problem import Problem

_NETWORKS = ("alarm", "hailfinder", "andes", "munin1", "pigs", "link")
_TERNARY = 0.3
# Parents come from so many variables before, in a random order: cycles of dependence stay short.
_REACH = 30


def random_network(n: int, seed: int) -> Network:
    """Draw a sparse network whose tables are uniform over distributions."""
    rng = np.random.default_rng(seed)
    variables = [
        Variable(f"v{i:05d}", ("0", "1", "2")[: 2 + int(rng.random() < _TERNARY)]) for i in range(n)
    ]
    order = rng.permutation(n)
    tables = []
    for place, v in enumerate(order):
        first = max(0, place - _REACH)
        n_parents = min(place, int(rng.integers(1, 3)))
        chosen = order[first + rng.choice(place - first, n_parents, replace=False)] if place else []
        parents = tuple(variables[p] for p in sorted(chosen))
        arity = variables[v].arity
        values = rng.dirichlet(np.ones(arity), tuple(p.arity for p in parents))
        tables.append(ConditionalTable(variables[v], parents, values))
    return Network(tables)


def statements(network: Network) -> Iterator[tuple[str, Knowledge]]:
    """Yield kinds of knowledge about a network."""
    yield "nothing known", Knowledge()
    order = list(network.dag.topological_order())
    mixed = np.random.default_rng(0).permutation(order).tolist()
    quarter = -(-len(order) // 4)
    for text, names in (("true tiers", order), ("false tiers", mixed)):
        tiers = [sorted(names[i : i + quarter]) for i in range(0, len(names), quarter)]
        yield text, Knowledge(tiers=tiers)
    yield "2 parents", Knowledge(max_parents=2)


def run(name: str, network: Network, args: argparse.Namespace) -> None:
    """Search on a sample of one network, and print a line for each kind of knowledge."""
    data = network.sample(args.rows, seed=1)
    for text, known in statements(network) if args.known else [("nothing known", Knowledge())]:
        for turning in (False, True):
            scorer = Scorer(data, args.score, threads=args.threads)
            wall, processor = time.perf_counter(), time.process_time()
            found = Problem(scorer, knowledge=known, time_limit=args.time_limit).solve(
                GES(turning=turning)
            )
            wall, processor = time.perf_counter() - wall, time.process_time() - processor
            print(
                f"{name:<12} {len(data.names):>6,} {text:<14} {'turning' if turning else '':<8}"
                f"{processor:>8.2f} {wall:>8.2f} {len(found.trace):>7,} {len(found.dag.arcs):>7,} "
                f"{found.score:>16.2f} {scorer.total(network):>16.2f}  {found.status}",
                flush=True,
            )


def main() -> None:
    """Run all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="folder with BIF files")
    parser.add_argument("--sizes", default="300,1000", help="random networks, by variables")
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--score", default="bic")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--known", action="store_true", help="with knowledge, too")
    parser.add_argument("--time-limit", type=float, default=600.0, help="seconds for each search")
    args = parser.parse_args()
    print(
        f"{'network':<12} {'vars':>6} {'knowledge':<14} {'':<8}{'cpu s':>8} {'wall s':>8} "
        f"{'steps':>7} {'arcs':>7} {'score':>16} {'of the truth':>16}"
    )
    for size in filter(None, args.sizes.split(",")):
        run("random", random_network(int(size), seed=1), args)
    for name in _NETWORKS if args.folder is not None else ():
        run(name, Network.load(args.folder / f"{name}.bif"), args)


if __name__ == "__main__":
    main()
