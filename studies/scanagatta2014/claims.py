"""Rows of scanagatta2014 by network and by size, and S1 to S8."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from studies.claims import Claim, Interval, all_of, is_above, is_below, mean_interval
from studies.study import Row

__all__ = [
    "FEW",
    "FEWEST",
    "FRESH",
    "KNOWN",
    "LIMITS",
    "METHODS",
    "OTHER_ESS",
    "OTHER_TABLES",
    "SIZES",
    "VARIANTS",
    "by_network",
    "claims",
    "curves",
    "random_claims",
]

SIZES = tuple(10 * 2**i for i in range(1, 11))
KNOWN = ("child", "insurance", "water", "alarm")
METHODS = ("BDeu", "Min-BDeu", "Max-BDeu", "Empty")
LIMITS = (1, 2, 3, 4, 5, 6)
# Beside 1, where there are few rows and priors matter most.
OTHER_ESS, FEW = (0.5, 2.0), 160
# Parts of the trials beside the main ones, for 20 nodes.
FRESH, OTHER_TABLES = "fresh rows", "tables from Dir(1/2)"
VARIANTS = (FRESH, OTHER_TABLES)


def by_network(
    rows: Sequence[Row], part: str, value: Callable[[Row], float], *, least: int = 0, most: int
) -> list[float]:
    """Return the mean of a value over sample sizes from `least` to `most`, network by network."""
    found: dict[tuple[Any, ...], list[float]] = defaultdict(list)
    for row in rows:
        if row["part"] == part and least <= row["rows"] <= most:
            key = (row.get("name", ""), row.get("nodes", 0), row["network"])
            found[key].append(value(row))
    return [float(np.mean(found[key])) for key in sorted(found)]


def curves(
    rows: Sequence[Row], value: Callable[[Row], float]
) -> tuple[list[int], list[float], list[float], list[float]]:
    """Return sample sizes with the mean of a value and its quartiles."""
    found: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        found[row["rows"]].append(value(row))
    sizes = sorted(found)
    low, high = (
        [float(np.quantile(found[size], share)) for size in sizes] for share in (0.25, 0.75)
    )
    return sizes, [float(np.mean(found[size])) for size in sizes], low, high


FEWEST = 80  # rows: the paper's "smaller than 100 to 200"
_VERYFEWEST = 40
_SATURATED = 1280  # the first size after 1,000
_MUCH = 0.1  # of the fall before the saturation


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Judge S1 to S8."""
    return sorted([*random_claims(rows), _known(rows), _limits(rows)], key=lambda one: one.name)


def _apart(
    rows: Sequence[Row], part: str, entry: str, one: str, other: str, most: int = FEWEST
) -> Interval:
    """Return the mean of `one` minus `other` over networks, for samples of up to so many rows."""
    return mean_interval(
        by_network(rows, part, lambda row: row[one][entry] - row[other][entry], most=most)
    )


def random_claims(rows: Sequence[Row]) -> Iterator[Claim]:
    """Judge S1, S2 and S4 to S7, which are about random networks."""
    minimum = _apart(rows, "random", "accuracy", "BDeu", "Min-BDeu")
    maximum = _apart(rows, "random", "accuracy", "Max-BDeu", "BDeu")
    yield Claim(
        "S1",
        "section 4.1, Figure 1",
        "Min-BDeu is more accurate than BDeu below 100 to 200 rows.",
        is_above(minimum),
        f"accuracy score of BDeu minus Min-BDeu (per cent), up to {FEWEST} rows: {minimum}",
        "must be above 0; units are networks",
    )
    yield Claim(
        "S2",
        "section 4.1, Figure 1",
        "Max-BDeu is less accurate than BDeu.",
        is_above(maximum),
        f"accuracy score of Max-BDeu minus BDeu, up to {FEWEST} rows: {maximum}",
        "must be above 0; units are networks",
    )
    fewer = _apart(rows, "random", "mismatches", "BDeu", "Max-BDeu")
    more = _apart(rows, "random", "mismatches", "Min-BDeu", "BDeu")
    yield Claim(
        "S4",
        "section 4.1, Figure 3",
        "Max-BDeu's moral graphs have fewer mismatches than BDeu's, Min-BDeu's more.",
        all_of([is_above(fewer), is_above(more)]),
        f"up to {FEWEST} rows: BDeu minus Max-BDeu {fewer}; Min-BDeu minus BDeu {more}",
        "both must be above 0",
    )
    denser = _apart(rows, "random", "n_arcs", "Max-BDeu", "BDeu", max(SIZES))
    sparser = _apart(rows, "random", "n_arcs", "BDeu", "Min-BDeu", max(SIZES))
    yield Claim(
        "S5",
        "section 4.1, Figure 4",
        "Max-BDeu learns denser networks than BDeu, Min-BDeu sparser ones.",
        all_of([is_above(denser), is_above(sparser)]),
        f"arcs, all sizes: Max-BDeu minus BDeu {denser}; BDeu minus Min-BDeu {sparser}",
        "both must be above 0",
    )
    twenty = [row for row in rows if row["part"] == "random" and row["nodes"] == 20]
    over = {
        o: _apart(twenty, "random", "accuracy_many", o, "Max-BDeu") for o in ("BDeu", "Min-BDeu")
    }
    yield Claim(
        "S6",
        "section 4.1, Figure 5",
        "With parameters from 5,000 rows Max-BDeu is the most accurate.",
        all_of(map(is_above, over.values())),
        f"20 nodes, up to {FEWEST} rows, minus Max-BDeu's: "
        + "; ".join(f"{name} {interval}" for name, interval in over.items()),
        "both must be above 0",
    )
    yield _saturation(rows)


def _known(rows: Sequence[Row]) -> Claim:
    known = (
        _apart(rows, "known", "accuracy", "BDeu", "Min-BDeu"),
        _apart(rows, "known", "accuracy", "Max-BDeu", "BDeu"),
    )
    return Claim(
        "S3",
        "section 4.1, Figure 2",
        "The same is so on known networks.",
        all_of(map(is_above, known)),
        f"up to {FEWEST} rows: BDeu minus Min-BDeu {known[0]}; Max-BDeu minus BDeu {known[1]}",
        "both must be above 0; units are samples of the networks",
    )


def _saturation(rows: Sequence[Row]) -> Claim:
    found: dict[tuple[int, int], list[tuple[int, float, float]]] = defaultdict(list)
    for row in rows:
        if row["part"] == "random":
            point = (row["rows"], row["BDeu"]["accuracy"], row["sensitivity"])
            found[row["nodes"], row["network"]].append(point)
    correlations, falls = [], []
    for points in found.values():
        sizes, accuracy, measured = (np.array(v) for v in zip(*sorted(points), strict=True))
        if len(sizes) < 4 or sizes[-1] <= _SATURATED:
            continue
        correlations.append(float(np.corrcoef(_order(accuracy), _order(measured))[0, 1]))
        at = int(np.searchsorted(sizes, _SATURATED))
        for curve in (accuracy, measured):
            falls.append(float((curve[at] - curve[-1]) / (curve[0] - curve[at])))
    together, fall = mean_interval(correlations), mean_interval(falls)
    return Claim(
        "S7",
        "section 4.2, Figure 6",
        "The sensitivity of BDeu's optimum follows its accuracy, and both are flat from about "
        "1,000 "
        "rows on.",
        all_of([is_above(together, 0.8), is_below(fall, _MUCH)]),
        f"rank correlation over sample sizes {together}; fall after {_SATURATED:,} rows as a "
        "share of "
        f"that before {fall}",
        f"the first must be above 0.8, the second below {_MUCH:g}",
    )


def _order(values: np.ndarray) -> np.ndarray:
    return values.argsort().argsort().astype(np.float64)


def _limits(rows: Sequence[Row]) -> Claim:
    chosen = [row for row in rows if row["part"] == "limits"]
    found: dict[tuple[int, int], dict[int, float]] = defaultdict(dict)
    for row in chosen:
        found[row["network"], row["rows"]][row["limit"]] = row["BDeu"]["accuracy"]
    few: dict[int, list[float]] = defaultdict(list)
    for (network, size), by_limit in found.items():
        if size <= _VERYFEWEST and len(by_limit) > 1:
            few[network].append(by_limit[max(by_limit)] - by_limit[min(by_limit)])
    gain = mean_interval(float(np.mean(v)) for v in few.values())
    limits = sorted({row["limit"] for row in chosen})
    shown = f"{limits[-1]} parents minus {limits[0]}" if limits else "no trials"
    return Claim(
        "S8",
        "section 4.2, Figure 7",
        "Few rows favour tight limits on the number of parents.",
        is_above(gain),
        f"accuracy score with at most {shown}, up to {_VERYFEWEST} rows: {gain}",
        "must be above 0",
    )
