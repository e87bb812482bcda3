"""Jensen and Nielsen (2007), chapter 7: small examples and exercises on learning structures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np

from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.evaluation.ranks import every_structure
from bestdag.graph.dag import Dag
from bestdag.papers.data_folder import DataFolder
from bestdag.papers.jensen2007.claims import claims
from bestdag.papers.jensen2007.rows import EPSILONS, PARTS, PRIORS, ROWS_OF_SPREAD, SIZES, TABLE_7_3
from bestdag.papers.jensen2007.tables import sections
from bestdag.papers.study import Size, Study, Trial, generator_of
from bestdag.scores import make_score
from bestdag.scores.scorer import Scorer

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
    every = every_structure(3)
    kinds = {
        tuple(masks): int(kind)
        for masks, kind in zip(every.masks.tolist(), every.classes, strict=True)
    }
    shown = {kind: _class_name(masks) for masks, kind in kinds.items()}
    n_arcs = {kind: sum(mask.bit_count() for mask in masks) for masks, kind in kinds.items()}
    links = set()
    for masks, kind in kinds.items():
        for child, parent in product(range(3), repeat=2):
            more = list(masks)
            more[child] |= 1 << parent
            if tuple(more) in kinds and more[child] != masks[child]:
                links.add((shown[kind], shown[kinds[tuple(more)]]))
    return {
        "n_classes": len(n_arcs),
        "by_arcs": [sum(n == k for n in n_arcs.values()) for k in range(4)],
        "levels": [sorted(shown[kind] for kind in shown if n_arcs[kind] == k) for k in range(4)],
        "links": sorted(map(list, links)),
    }


def _class_name(masks: Sequence[int]) -> str:
    """Write the class of a structure over A, B and C.

    Examples
    --------
    >>> _class_name([0, 0, 0b011]), _class_name([0, 0b001, 0b010]), _class_name([0, 0, 0])
    ('A → C ← B', 'A — B — C', 'A  B  C')
    """
    names = "ABC"
    linked = [{j for j in range(3) if masks[i] >> j & 1 or masks[j] >> i & 1} for i in range(3)]
    n_links = sum(map(len, linked)) // 2
    if n_links == 3:
        return "A — B — C — A"
    if n_links < 2:
        pairs = [names[i] + " — " + names[j] for i in range(3) for j in linked[i] if i < j]
        alone = [names[i] for i in range(3) if not linked[i]]
        return "  ".join(sorted([*pairs, *alone]))
    middle = next(i for i in range(3) if len(linked[i]) == 2)
    first, last = sorted(linked[middle])
    marks = (" → ", " ← ") if masks[middle].bit_count() == 2 else (" — ", " — ")
    return names[first] + marks[0] + names[middle] + marks[1] + names[last]


def _spread(structure: str) -> dict[str, Any]:
    """Figure 7.21: how a structure spreads its probability over all tables of some rows."""
    cells = list(product(range(2), repeat=3))
    variables = [Variable(name, _BINARY) for name in "ABC"]
    tables, logs = [], []
    for rows in combinations_with_replacement(range(len(cells)), ROWS_OF_SPREAD):
        data = Dataset(variables, list(np.array([cells[row] for row in rows]).T))
        scorer = Scorer(data, make_score("bd", pseudo_count=1.0), threads=1)
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
        for name, (score, given) in PRIORS.items():
            scorer = Scorer(data, make_score(score, **given), threads=1)
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
