"""What the book prints, and J1 to J7, judged by rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bestdag import BD, BDeu, Score
from studies.claims import Claim, Verdict
from studies.study import Row

__all__ = [
    "EPSILONS",
    "PARTS",
    "PRIORS",
    "ROWS_OF_SPREAD",
    "SIZES",
    "TABLE_7_3",
    "claims",
    "independence_at",
]

ROWS_OF_SPREAD = 7  # of the data sets of Figure 7.21
PARTS = 20  # equal parts of all data sets there

# Mutual information in bits.
TABLE_7_3 = {
    ("Cold", "Angina"): 0.0,
    ("Fever?", "Angina"): 0.015076,
    ("SoreThroat?", "Angina"): 0.018016,
    ("SeeSpots?", "Angina"): 0.0180588,
    ("Cold", "Fever?"): 0.014392,
    ("Cold", "SoreThroat?"): 0.0210122,
    ("Cold", "SeeSpots?"): 0.0,
    ("SoreThroat?", "Fever?"): 0.0015214,
    ("Fever?", "SeeSpots?"): 0.0017066,
    ("SeeSpots?", "SoreThroat?"): 0.0070697,
}
SIZES = (10, 100, 1000, 10000)
EPSILONS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)
PRIORS: dict[str, Score] = {
    "Dir(1, ..., 1)": BD(pseudo_count=1.0),
    **{f"BDeu({ess})": BDeu(ess=ess) for ess in (1, 2, 4, 8)},
}


_SAID = 0.6
_NEAR = 0.05
_TOLERANCE = 1e-9


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Judge what the text says."""
    return list(_claims(rows))


def _claims(rows: Sequence[Row]) -> Iterator[Claim]:
    tree = _first(rows, "tree")
    yield Claim(
        "J1",
        "Example 7.3, Table 7.3",
        "Kruskal's algorithm finds the maximal-weight spanning tree.",
        _when(tree is not None, tree is not None and tree["links"] == tree["best"]),
        "no trial" if tree is None else _links(tree),
        "the tree must be the best of all trees over five nodes",
    )
    sizes = _first(rows, "sizes")
    yield Claim(
        "J2",
        "Exercise 7.6",
        "The network of Figure 7.13(c) is larger than that of 7.13(a).",
        _when(sizes is not None, sizes is not None and sizes["n_larger"] == sizes["n_cases"]),
        "no trial" if sizes is None else f"{sizes['n_larger']} of {sizes['n_cases']} cases",
        "for all numbers of states from 2 to 6",
    )
    ternary = _first(rows, "size of 7.3(c)")
    yield Claim(
        "J3",
        "Exercise 7.7",
        "The network of Figure 7.3(c) with ternary variables has size 46.",
        _when(ternary is not None, ternary is not None and set(ternary["sizes"]) == {46}),
        "no trial" if ternary is None else f"sizes {ternary['sizes']} for both directions of A - C",
        "by equation 7.3",
    )
    yield Claim(
        "J4",
        "Exercise 7.9",
        "The BIC score of the insemination model on the database of Example 6.2.",
        "cannot be told",
        "none",
        "missing: the incomplete database of Example 6.2 (chapter 6) and the model of section "
        "3.1.3 (chapter 3); chapter 7 has neither",
    )
    both = [(row["by_rows"], row["by_counts"]) for row in rows if row["part"] == "bic"]
    apart = max((abs(a - b) for a, b in both), default=np.nan)
    yield Claim(
        "J5",
        "Exercise 7.11",
        "The two expressions for the BIC score, equations 7.4 and 7.5, are identical.",
        _when(bool(both), bool(apart < _TOLERANCE)),
        f"largest difference {apart:.1e} on {len(both)} random tables",
        f"it must be below {_TOLERANCE:g}",
    )
    yield _figure_7_22(rows)
    spread = {row["structure"]: row for row in rows if row["part"] == "spread"}
    order = [spread[name]["entropy"] for name in ("empty", "chain", "complete") if name in spread]
    yield Claim(
        "J7",
        "section 7.3.4, Figure 7.21",
        "A complex structure spreads its probability over more data sets than a simple one.",
        _when(len(order) == 3, order == sorted(order)),
        "entropies (nats) of empty, chain, complete: " + ", ".join(f"{v:.3f}" for v in order),
        f"they must grow; over tables of {ROWS_OF_SPREAD} rows, probabilities add to 1 for each",
    )


def independence_at(rows: Sequence[Row], n: int, epsilon: float) -> dict[str, np.ndarray]:
    """Return P(independence | D) for each prior: with one rival structure, and with two."""
    some = [
        row
        for row in rows
        if row["part"] == "independence" and (row["rows"], row["epsilon"]) == (n, epsilon)
    ]
    return {name: np.mean([row[name] for row in some], axis=0) for name in PRIORS} if some else {}


def _figure_7_22(rows: Sequence[Row]) -> Claim:
    found = independence_at(rows, 100, 0.2)
    near = [
        f"{name}, {rivals}"
        for name, values in found.items()
        for value, rivals in zip(values, ("one rival", "two rivals"), strict=True)
        if abs(value - _SAID) <= _NEAR
    ]
    shown = "; ".join(f"{name} {a:.2f} and {b:.2f}" for name, (a, b) in found.items())
    return Claim(
        "J6",
        "section 7.3.4, Figure 7.22",
        "With 100 cases and epsilon 0.2, P(independence | D) is about 0.6.",
        _when(bool(found), bool(near)),
        f"with one rival structure and with two: {shown or 'no trials'}",
        f"some prior must give 0.6 to within {_NEAR:g}: {', '.join(near) or 'none does'}",
    )


def _links(tree: Row) -> str:
    shown = ", ".join(f"{a} - {b}" for a, b in tree["links"])
    return f"{shown}: {tree['weight']:.6f} bits, the best of {tree['n_trees']} trees"


def _first(rows: Sequence[Row], part: str) -> Row | None:
    return next((row for row in rows if row["part"] == part), None)


def _when(is_known: bool, is_so: bool) -> Verdict:
    if not is_known:
        return "cannot be told"
    return "holds" if is_so else "does not hold"
