"""How fast a network answers for many rows: probabilities and predictions, complete or not.

python benchmarks/network_rows.py [NET.bif] [rows]

Without a file only the classifiers are timed: a random TAN of 20 attributes. Best of several runs;
CPU seconds are those of all threads.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from bestdag import Dataset, Network, Variable
from bestdag.network.table import ConditionalTable

_REPEATS = 3
_SHARES = (0.01, 0.1)


def main() -> None:
    if len(sys.argv) > 3:
        sys.exit("usage: python benchmarks/network_rows.py [NET.bif] [rows]")
    n_rows = int(sys.argv[2]) if len(sys.argv) == 3 else 1_000_000
    if len(sys.argv) > 1:
        _time_probabilities(Network.load(sys.argv[1]), n_rows)
    for n_classes in (2, 10):
        _time_predictions(_tan(20, n_classes, 4), n_rows)


def _time_probabilities(network: Network, n_rows: int) -> None:
    data = network.sample(n_rows, seed=1)
    print(f"{network!r}, {n_rows:,} rows")
    for threads in (1, 2):
        work = partial(network.log_probability, data, threads=threads)
        _show(f"log_probability, {threads} thread(s)", work)
    _show("product of tables in NumPy", partial(_product_of_tables, network, data))
    _show("log_loss", partial(network.log_loss, data))
    for share in _SHARES:
        work = partial(network.log_probability, _with_holes(data, share))
        _show(f"log_probability, {share:.0%} of cells missing", work)


def _time_predictions(network: Network, n_rows: int) -> None:
    data = network.sample(n_rows, seed=1).drop("class")
    n_classes = network.arities["class"]
    print(f"TAN of 20 attributes, {n_classes} classes, {n_rows:,} rows")
    for threads in (1, 2):
        work = partial(network.predict_proba, "class", data, threads=threads)
        _show(f"predict_proba, {threads} thread(s)", work)
    _show("predict", partial(network.predict, "class", data))
    for share in _SHARES:
        work = partial(network.predict_proba, "class", _with_holes(data, share))
        _show(f"predict_proba, {share:.0%} of cells missing", work)


def _show(what: str, work: Callable[[], object]) -> None:
    best, cpu = float("inf"), float("inf")
    for _ in range(_REPEATS):
        start, start_cpu = time.perf_counter(), time.process_time()
        work()
        best = min(best, time.perf_counter() - start)
        cpu = min(cpu, time.process_time() - start_cpu)
    print(f"  {what:<42} {best:8.3f} s   {cpu:8.3f} s CPU", flush=True)


def _product_of_tables(network: Network, data: Dataset) -> np.ndarray:
    total = np.zeros(data.n_rows)
    with np.errstate(divide="ignore"):
        for table in network.tables:
            place = tuple(data.codes(v.name) for v in (*table.parents, table.child))
            total += np.log(table.values)[place]
    return total


def _with_holes(data: Dataset, share: float) -> Dataset:
    rng = np.random.default_rng(7)
    columns = []
    for variable in data.variables:
        codes = data.codes(variable.name).copy()
        codes[rng.random(len(codes), dtype=np.float32) < share] = variable.arity
        columns.append(codes)
    return Dataset(data.variables, columns)


def _tan(n_attributes: int, n_classes: int, n_states: int) -> Network:
    rng = np.random.default_rng(1)
    target = Variable("class", tuple(map(str, range(n_classes))))
    tables = [ConditionalTable(target, (), rng.dirichlet(np.ones(n_classes)))]
    attributes: list[Variable] = []
    for i in range(n_attributes):
        attribute = Variable(f"x{i:02}", tuple(map(str, range(n_states))))
        parents = (target, attributes[rng.integers(i)]) if i else (target,)
        shape = [parent.arity for parent in parents]
        values = rng.dirichlet(np.ones(n_states), shape)
        tables.append(ConditionalTable(attribute, parents, values))
        attributes.append(attribute)
    return Network(tables)


if __name__ == "__main__":
    main()
