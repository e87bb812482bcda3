"""Jensen and Nielsen (2007), chapter 7: small examples and exercises on learning structures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np

from bestdag import BD, Dag, Dataset, GraphError, Scorer, Variable
from studies.data import DataFolder
from studies.jensen2007.claims import (
    EPSILONS,
    PARTS,
    PRIORS,
    ROWS_OF_SPREAD,
    SIZES,
    TABLE_7_3,
    claims,
)
from studies.jensen2007.tables import sections
from studies.study import Size, Study, Trial, generator_of

__all__ = ["STUDY"]

_BINARY = ("0", "1")
# Over three nodes: too simple, the one that data come from, too complex.
_THREE = {
    "empty": Dag(list("ABC"), []),
    "chain": Dag(list("ABC"), [("A", "B"), ("B", "C")]),
    "complete": Dag(list("ABC"), [("A", "B"), ("B", "C"), ("A", "C")]),
}


def trials(size: Size, seed: int) -> Iterator[Trial]:
    """List one trial for each example, and samples for Figure 7.22."""
    for part in ("tree", "sizes", "size of 7.3(c)", "classes"):
        yield Trial(part, {"part": part})
    for sample in range(20):
        yield Trial("bic", {"part": "bic", "sample": sample, "seed": seed})
    for structure in _THREE:
        yield Trial("spread", {"part": "spread", "structure": structure})
    for n_rows in SIZES:
        for epsilon in EPSILONS:
            for block in range(2 if size == "quick" else 20):
                yield Trial(
                    "independence",
                    {
                        "part": "independence",
                        "rows": n_rows,
                        "epsilon": epsilon,
                        "block": block,
                        "seed": seed,
                    },
                )


def run(trial: Trial, folder: DataFolder) -> dict[str, Any]:
    """Work out one of the examples."""
    settings = trial.settings
    part = settings["part"]
    if part == "tree":
        return _tree()
    if part == "sizes":
        return _sizes()
    if part == "size of 7.3(c)":
        dag = Dag(list("ABCDE"), [("A", "D"), ("B", "D"), ("C", "E"), ("D", "E"), ("A", "C")])
        turned = dag.reverse("A", "C")
        return {"sizes": [one.n_parameters(dict.fromkeys("ABCDE", 3)) for one in (dag, turned)]}
    if part == "classes":
        return _classes()
    if part == "bic":
        return _bic(settings)
    return _spread(str(settings["structure"])) if part == "spread" else _independence(settings)


def _tree() -> dict[str, Any]:
    """Kruskal's tree of Table 7.3, and the best of all 125 trees."""
    names = sorted({name for pair in TABLE_7_3 for name in pair})
    chosen: list[tuple[str, str]] = []
    for pair in sorted(TABLE_7_3, key=lambda pair: -TABLE_7_3[pair]):
        if _is_forest([*chosen, pair]):
            chosen.append(pair)
    trees = [t for t in combinations(TABLE_7_3, len(names) - 1) if _is_forest(t)]
    best = max(trees, key=lambda tree: math.fsum(TABLE_7_3[pair] for pair in tree))
    return {
        "links": sorted(sorted(pair) for pair in chosen),
        "best": sorted(sorted(pair) for pair in best),
        "n_trees": len(trees),
        "weight": math.fsum(TABLE_7_3[pair] for pair in chosen),
    }


def _is_forest(links: Any) -> bool:
    """Whether no link closes a cycle."""
    part: dict[str, str] = {}

    def root(node: str) -> str:
        while part.get(node, node) != node:
            node = part[node]
        return node

    for a, b in links:
        if root(a) == root(b):
            return False
        part[root(a)] = root(b)
    return True


def _sizes() -> dict[str, Any]:
    """Compare the sizes of Figures 7.13(a) and (c) for all numbers of states from 2 to 6."""
    first = Dag(list("ABCD"), [("D", "A"), ("A", "C"), ("B", "C")])
    third = Dag(list("ABCD"), [("D", "A"), ("C", "A"), ("B", "A"), ("B", "C"), ("C", "D")])
    larger = [
        third.n_parameters(arities) > first.n_parameters(arities)
        for arities in (dict(zip("ABCD", n, strict=True)) for n in product(range(2, 7), repeat=4))
    ]
    return {"n_larger": sum(larger), "n_cases": len(larger)}


def _bic(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Equation 7.4, from the likelihood of rows, and 7.5, from counts, on random data."""
    rng = generator_of("jensen2007", "bic", settings["sample"], settings["seed"])
    columns = rng.integers(0, 3, (3, 50))
    variables = [Variable(name, ("0", "1", "2")) for name in "ABC"]
    data = Dataset(variables, list(columns))
    dag = _THREE["chain"]
    by_counts = Scorer(data, "bic", threads=1).total(dag)
    by_rows = -dag.n_parameters(data) / 2 * math.log(data.n_rows)
    codes = dict(zip("ABC", columns, strict=True))
    for node in dag.nodes:
        given = np.ones(data.n_rows, bool)[:, None] & np.ones(data.n_rows, bool)[None, :]
        for parent in dag.parents(node):
            given &= codes[parent][:, None] == codes[parent][None, :]
        both = given & (codes[node][:, None] == codes[node][None, :])
        by_rows += float(np.log(both.sum(axis=1) / given.sum(axis=1)).sum())
    return {"by_rows": by_rows, "by_counts": by_counts}


def _classes() -> dict[str, Any]:
    """Figure 7.17: the classes of structures over three nodes, and which a single arc joins."""
    dags = [dag for arcs in product(("", ">", "<"), repeat=3) if (dag := _of_three(arcs))]
    n_arcs = {_class_name(dag): len(dag.arcs) for dag in dags}
    links = {
        (_class_name(less), _class_name(more))
        for less in dags
        for more in dags
        if len(more.arcs) == len(less.arcs) + 1 and set(less.arcs) < set(more.arcs)
    }
    return {
        "n_classes": len(n_arcs),
        "by_arcs": [sum(n == k for n in n_arcs.values()) for k in range(4)],
        "levels": [sorted(name for name, n in n_arcs.items() if n == k) for k in range(4)],
        "links": sorted(map(list, links)),
    }


def _of_three(directions: Sequence[str]) -> Dag | None:
    """Return the DAG whose pairs AB, AC and BC have no arc, or one forth or back; None if none."""
    pairs = zip(combinations("ABC", 2), directions, strict=True)
    try:
        return Dag(list("ABC"), [(a, b) if way == ">" else (b, a) for (a, b), way in pairs if way])
    except GraphError:  # a cycle
        return None


def _class_name(dag: Dag) -> str:
    """Write the class of a structure over A, B and C.

    Examples
    --------
    >>> _class_name(Dag(list("ABC"), [("A", "C"), ("B", "C")]))
    'A → C ← B'
    >>> _class_name(Dag(list("ABC"), [("A", "B"), ("B", "C")]))
    'A — B — C'
    >>> _class_name(Dag(list("ABC"), []))
    'A  B  C'
    """
    links = [(a, b) for a, b in combinations("ABC", 2) if b in dag.adjacent(a)]
    if len(links) == 3:
        return "A — B — C — A"
    if len(links) < 2:
        alone = [node for node in dag.nodes if not dag.adjacent(node)]
        return "  ".join(sorted([*(f"{a} — {b}" for a, b in links), *alone]))
    middle = next(node for node in dag.nodes if len(dag.adjacent(node)) == 2)
    first, last = sorted(dag.adjacent(middle))
    marks = (" → ", " ← ") if len(dag.parents(middle)) == 2 else (" — ", " — ")
    return first + marks[0] + middle + marks[1] + last


def _spread(structure: str) -> dict[str, Any]:
    """Figure 7.21: how a structure spreads its probability over all tables of some rows."""
    cells = list(product(range(2), repeat=3))
    variables = [Variable(name, _BINARY) for name in "ABC"]
    tables, logs = [], []
    for rows in combinations_with_replacement(range(len(cells)), ROWS_OF_SPREAD):
        data = Dataset(variables, list(np.array([cells[row] for row in rows]).T))
        scorer = Scorer(data, BD(pseudo_count=1.0), threads=1)
        logs.append(scorer.total(_THREE[structure]))
        orders = math.factorial(len(rows))
        for row in set(rows):
            orders //= math.factorial(rows.count(row))
        tables.append(orders)
    shares = [orders * math.exp(log_p) for orders, log_p in zip(tables, logs, strict=True)]
    return {
        "total": math.fsum(shares),
        "entropy": -math.fsum(share * log_p for share, log_p in zip(shares, logs, strict=True)),
        "greatest": math.exp(max(logs)),
        "curve": _curve(np.array(tables), np.array(logs)),
    }


def _curve(orders: np.ndarray, logs: np.ndarray) -> list[float]:
    """Return the mean probability of data sets in equal parts, the most probable first.

    As a multiple of what each would have if all were equally probable.

    Examples
    --------
    >>> _curve(np.array([1, 3]), np.log([0.7, 0.1]))[::5]
    [2.8, 0.4, 0.4, 0.4]
    """
    first = np.argsort(-logs, kind="stable")
    end = np.concatenate([[0.0], np.cumsum(orders[first])]) / orders.sum()
    below = np.concatenate([[0.0], np.cumsum((orders * np.exp(logs))[first])])
    shares = np.interp(np.linspace(0.0, 1.0, PARTS + 1), end, below)
    return [round(float(v), 12) for v in np.diff(shares) * PARTS]


def _independence(settings: Mapping[str, Any]) -> dict[str, Any]:
    """P(independence | D) in the mean of 50 samples, for some priors and rivals."""
    epsilon, n = float(settings["epsilon"]), int(settings["rows"])
    rng = generator_of("jensen2007", n, epsilon, settings["block"], settings["seed"])
    variables = [Variable(name, _BINARY) for name in ("X1", "X2")]
    apart = Dag(["X1", "X2"], [])
    joined = Dag(["X1", "X2"], [("X1", "X2")])
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in PRIORS}
    for _ in range(50):
        first = rng.random(n) < 0.5
        second = rng.random(n) < 0.5 * np.where(first, 1 + epsilon, 1 - epsilon)
        data = Dataset(variables, [first.astype(np.int64), second.astype(np.int64)])
        for name, score in PRIORS.items():
            scorer = Scorer(data, score, threads=1)
            here = scorer.total(apart)
            there = [scorer.total(joined), scorer.total(joined.reverse("X1", "X2"))]
            found[name].append((_share(here, there[:1]), _share(here, there)))
    return {name: np.mean(values, axis=0).tolist() for name, values in found.items()}


def _share(log_p: float, others: Sequence[float]) -> float:
    """Return the probability of the first among equally likely hypotheses, from logarithms.

    Examples
    --------
    >>> round(_share(0.0, [0.0, 0.0]), 6), _share(-2000.0, [0.0]), _share(2000.0, [0.0])
    (0.333333, 0.0, 1.0)
    """
    return float(np.exp(log_p - np.logaddexp.reduce([log_p, *others])))


STUDY = Study(
    name="jensen2007",
    title="Learning structures: examples and exercises of a textbook",
    paper="F. V. Jensen, T. D. Nielsen: Bayesian Networks and Decision Graphs, second edition, "
    "chapter 7. Springer 2007.",
    trials=trials,
    run=run,
    sections=sections,
    claims=claims,
    choices=(
        "Figure 7.22: neither the prior of the parameters nor the rival structures are named. "
        "Priors: "
        "Dirichlet(1, ..., 1), BDeu with ess 1, 2, 4 and 8; rivals: X1 -> X2 alone, or both "
        "directions; "
        "all structures equally probable. The curves are means over samples; the book may show "
        "one.",
        "Figure 7.22: sizes 10, 100, 1,000 and 10,000; the text names 100 alone.",
        "Exercise 7.9 is left out. Missing: the incomplete database of Example 6.2 (chapter 6), "
        "and the structure of the simplified insemination model of section 3.1.3 (chapter 3); "
        "chapter 7 has neither.",
        "Figure 7.21 is a sketch without numbers; here three structures spread their probability "
        f"over all tables of {ROWS_OF_SPREAD} rows of three binary variables, under "
        "Dirichlet(1, ..., 1), tables ordered by how probable they are.",
        "Figure 7.17 is drawn from the 25 structures over three variables: which classes a single "
        "arc joins.",
    ),
)
