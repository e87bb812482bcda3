"""Rows of silander2018 as arrays, what the paper prints, and Q1 to Q8."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from studies.claims import (
    Claim,
    Interval,
    Verdict,
    all_of,
    bootstrap_interval,
    is_above,
    is_below,
    mean_interval,
)
from studies.data import TABLES
from studies.study import Row

__all__ = [
    "APPROXIMATE",
    "DRAWN",
    "LARGE",
    "METHODS",
    "NETWORKS",
    "PRINTED_PARAMETERS",
    "PRINTED_RANKS",
    "PRINTED_REGRETS",
    "SIZES",
    "claims",
    "least_ranks",
    "mean_parameters",
    "prediction_claims",
    "prediction_ranks",
    "shared_ranks",
    "structure_claims",
    "structure_values",
]

# The paper's own regret of qNML, beside the exact one.
APPROXIMATE = "qNML, approximate regret"
METHODS = ("BDeu", "BIC", "fNML", "qNML")
# Whence tables are drawn beside the published ones, and the counts of these distributions.
DRAWN = {"Dir(1)": 1.0, "Dir(1/2)": 0.5}
NETWORKS = ("asia", "cancer", "earthquake", "sachs", "survey")
SIZES = (10, 20, 50, 100, 200, 300, 500, 1000, 2000, 5000, 10000)
# Average predictive ranks in the order of METHODS, tables in the order of TABLES.
PRINTED_RANKS: dict[str, tuple[float, ...]] = dict(
    zip(
        TABLES,
        (
            (2.79, 1.20, 3.06, 2.94), (2.82, 2.37, 2.27, 2.54), (3.23, 1.88, 2.67, 2.22),
            (3.61, 3.09, 1.42, 1.88), (2.55, 3.21, 1.80, 2.44), (3.12, 1.39, 3.12, 2.37),
            (3.09, 1.41, 2.97, 2.53), (3.18, 1.66, 2.90, 2.27), (3.46, 1.38, 2.99, 2.17),
            (3.20, 3.53, 1.24, 2.04), (3.17, 2.39, 2.69, 1.75), (3.35, 1.91, 1.59, 3.16),
            (3.06, 2.03, 2.89, 2.02), (2.91, 2.70, 2.68, 1.71), (3.44, 2.71, 1.31, 2.53),
            (2.60, 3.76, 1.55, 2.10), (2.60, 3.64, 1.04, 2.72), (2.24, 3.61, 1.31, 2.83),
            (3.23, 3.77, 1.00, 2.00), (1.44, 3.78, 1.56, 3.22),
        ),
        strict=True,
    )
)  # fmt: skip
PRINTED_PARAMETERS: dict[str, tuple[int, ...]] = dict(
    zip(
        TABLES,
        (
            (1217, 19, 397, 146), (37, 23, 33, 29), (16521, 70, 807, 205), (1677, 48, 506, 97),
            (40, 23, 66, 28), (16861, 44, 1110, 256), (25797, 49, 3767, 844),
            (1634, 43, 792, 90), (34381, 47, 1433, 404), (182, 31, 162, 77), (45, 15, 61, 24),
            (20, 24, 49, 611), (4630, 42, 603, 89), (39, 22, 216, 34), (13701, 25, 1969, 767),
            (71, 31, 265, 75), (91, 46, 150, 63), (703, 45, 380, 56), (699, 479, 1555, 945),
            (535, 99, 717, 130),
        ),
        strict=True,
    )
)  # fmt: skip
# (n, r): asymptotic formula, Szpankowski and Weinberger, exact.
PRINTED_REGRETS = {
    (50, 10): (13.24, 13.26, 13.24), (50, 100): (62.00, 60.01, 60.00),
    (50, 1000): (491.63, 153.28, 153.28), (50, 10000): (25635.15, 265.28, 265.28),
    (500, 10): (22.67, 22.69, 22.67), (500, 100): (144.10, 144.03, 144.03),
    (500, 1000): (624.35, 603.93, 603.93), (500, 10000): (4927.24, 1533.38, 1533.38),
    (5000, 10): (32.74, 32.76, 32.74), (5000, 100): (247.97, 247.97, 247.97),
    (5000, 1000): (1452.51, 1451.78, 1451.78), (5000, 10000): (6247.83, 6043.16, 6043.16),
}  # fmt: skip


def shared_ranks(values: np.ndarray) -> np.ndarray:
    """Rank along the last axis, the least value first; equal values share the mean of their ranks.

    Examples
    --------
    >>> shared_ranks(np.array([3.0, 1.0, 3.0, 2.0])).tolist()
    [3.5, 1.0, 3.5, 2.0]
    """
    less = (values[..., None, :] < values[..., :, None]).sum(axis=-1)
    equal = (values[..., None, :] == values[..., :, None]).sum(axis=-1)
    ranks: np.ndarray = less + (equal + 1) / 2
    return ranks


def least_ranks(values: np.ndarray) -> np.ndarray:
    """Rank along the last axis; equal values share the least of their ranks.

    Examples
    --------
    >>> least_ranks(np.array([3.0, 1.0, 3.0, 2.0])).tolist()
    [3, 1, 3, 2]
    """
    ranks: np.ndarray = 1 + (values[..., None, :] < values[..., :, None]).sum(axis=-1)
    return ranks


def structure_values(
    rows: Sequence[Row], entry: str, methods: Sequence[str] = METHODS
) -> dict[tuple[str, int], np.ndarray]:
    """Return an entry, "shd" or "arcs", by network and size: repetitions by methods."""
    found: dict[tuple[str, int], list[list[float]]] = defaultdict(list)
    for row in rows:
        if row["part"] == "structure":
            found[row["network"], row["rows"]].append([row[entry][m] for m in methods])
    return {key: np.array(values, np.float64) for key, values in found.items()}


def prediction_ranks(
    rows: Sequence[Row],
    part: str = "prediction",
    methods: Sequence[str] = METHODS,
    rank: Callable[[np.ndarray], np.ndarray] = shared_ranks,
) -> tuple[list[str], np.ndarray]:
    """Return tables, and mean ranks over training fractions: permutations by tables by methods.

    Only permutations of which every table has all fractions; losses that are equal to nine digits
    share their ranks.
    """
    found: dict[tuple[int, str], dict[int, np.ndarray]] = defaultdict(dict)
    for row in rows:
        if row["part"] == part:
            losses = np.array([row["losses"][m] for m in methods])
            ranks = rank(np.round(losses, 9))
            found[row["permutation"], row["table"]][row["percent"]] = ranks
    tables = [table for table in TABLES if any(key[1] == table for key in found)]
    most = max((len(parts) for parts in found.values()), default=0)
    whole = [
        p
        for p in sorted({permutation for permutation, _ in found})
        if all(len(found.get((p, table), ())) == most for table in tables)
    ]
    means = [[np.mean(list(found[p, t].values()), axis=0) for t in tables] for p in whole]
    return tables, np.array(means, np.float64).reshape(len(whole), len(tables), len(methods))


def mean_parameters(rows: Sequence[Row], percent: int) -> dict[str, np.ndarray]:
    """Return the mean numbers of parameters at a training fraction, by table."""
    found: dict[str, list[list[float]]] = defaultdict(list)
    for row in rows:
        if row["part"] == "prediction" and row["percent"] == percent:
            found[row["table"]].append([row["parameters"][m] for m in METHODS])
    return {table: np.mean(found[table], axis=0) for table in TABLES if table in found}


BDEU, BIC, FNML, QNML = range(len(METHODS))
_TRUE_ARCS = {"asia": 8, "cancer": 4, "earthquake": 4, "sachs": 17, "survey": 6}
LARGE, _SMALL = 300, 100  # rows: above the first, up to the second
_ALMOST_ALL = 18  # of 20 tables


def claims(rows: Sequence[Row]) -> list[Claim]:
    """Judge Q1 to Q8."""
    return [*structure_claims(rows), *prediction_claims(rows), _parameter_claim(rows)]


def structure_claims(rows: Sequence[Row]) -> Iterator[Claim]:
    """Judge Q1 to Q4: by all five networks, or not at all."""
    shd = structure_values(rows, "shd")
    if {network for network, _ in shd} != set(NETWORKS):
        rows, shd = [], {}
    ranks = {
        size: np.concatenate(
            [shared_ranks(shd[n, size]) for n in NETWORKS if (n, size) in shd]
            or [np.zeros((0, len(METHODS)))]
        )
        for size in SIZES
    }
    means = {size: found.mean(axis=0) for size, found in ranks.items() if len(found)}
    others = (BDEU, BIC, FNML)
    leads = {
        (size, o): mean_interval(found[:, o] - found[:, QNML])
        for size, found in ranks.items()
        for o in others
    }
    large = [size for size in SIZES if size > LARGE]
    best = [size for size in large if size in means and means[size].argmin() == QNML]
    yield Claim(
        "Q1",
        "Structure Learning",
        "Above 300 rows qNML has the best average rank of SHD.",
        all_of(is_above(leads[size, o]) for size in large for o in others),
        f"best mean rank at {len(best)} of {len(large)} sizes; "
        + "; ".join(f"{size:,} rows: {_shown(means.get(size))}" for size in large),
        "at each size above 300 qNML must rank clearly (paired 95 % intervals) before each other",
    )
    worst = {size: others[int(found[list(others)].argmax())] for size, found in means.items()}
    never = [is_above(leads[size, worst[size]]) for size in means]
    at = [size for size in means if means[size].argmax() == QNML]
    yield Claim(
        "Q2",
        "Structure Learning",
        "qNML never has the worst average rank.",
        all_of(never),
        f"worst mean rank at {_named(at)}; clearly not the worst at "
        f"{never.count('holds')} of {len(means)} sizes",
        "at each size another score must rank clearly after it",
    )
    yield _bic_claim(rows, ranks)
    yield _named_networks_claim(shd)


def _bic_claim(rows: Sequence[Row], ranks: dict[int, np.ndarray]) -> Claim:
    few = np.concatenate([ranks[size] for size in SIZES if size <= _SMALL])
    behind = mean_interval(few[:, [BDEU, FNML, QNML]].mean(axis=1) - few[:, BIC])
    arcs = structure_values(rows, "arcs")
    shares = np.array(
        [
            row[BIC] / _TRUE_ARCS[network]
            for (network, size), found in arcs.items()
            if size <= _SMALL
            for row in found
        ]
    )
    empty = mean_interval(shares)
    return Claim(
        "Q3",
        "Structure Learning",
        "BIC does well on few rows, where it learns nearly empty graphs.",
        all_of([is_above(behind), is_below(empty, 0.5)]),
        f"up to {_SMALL} rows: mean rank of the others minus BIC's {behind}; its arcs per true arc "
        f"{empty}",
        "the first must be above 0, the second below 1/2",
    )


def _named_networks_claim(shd: dict[tuple[str, int], np.ndarray]) -> Claim:
    verdicts: list[Verdict] = []
    places = []
    for network in ("asia", "earthquake"):
        for size in SIZES:
            found = shd.get((network, size))
            if found is None:
                continue
            over = [mean_interval(found[:, o] - found[:, QNML]) for o in (BDEU, BIC, FNML)]
            clearly_before = sum(is_below(one) == "holds" for one in over)
            behind_or_equal = sum(is_above(one) == "holds" or _is_zero(one) for one in over)
            verdict: Verdict = "cannot be told"
            if clearly_before >= 2:
                verdict = "does not hold"
            elif behind_or_equal >= 2:
                verdict = "holds"
            verdicts.append(verdict)
            means = found.mean(axis=0)
            place = 1 + int((np.delete(means, QNML) < means[QNML]).sum())
            places.append(f"{network} {size:,}: {place}")
    return Claim(
        "Q4",
        "Structure Learning",
        "On asia and earthquake qNML is first or second by SHD.",
        all_of(verdicts),
        f"clearly so at {verdicts.count('holds')} of {len(verdicts)} sizes, clearly not at "
        f"{verdicts.count('does not hold')}; places: {', '.join(places) or 'no trials'}",
        "at each size at least two others must be clearly after it or equal",
    )


def _is_zero(interval: Interval) -> bool:
    return interval.n > 1 and interval.low == interval.high == 0


def prediction_claims(rows: Sequence[Row]) -> Iterator[Claim]:
    """Judge Q5 to Q7: by all twenty tables, or not at all."""
    tables, ranks = prediction_ranks(rows)
    if len(tables) < len(TABLES):
        ranks = ranks[:0]
    means = ranks.mean(axis=(0, 1)) if ranks.size else None
    first = _behind(ranks, QNML, FNML)
    second = [_behind(ranks, other, QNML) for other in (BDEU, BIC)]
    yield Claim(
        "Q5",
        "Prediction, table",
        "By mean predictive rank fNML is first and qNML second.",
        all_of(map(is_above, [first, *second])),
        f"mean ranks {_shown(means)} over {len(tables)} tables (paper: BDeu 2.95, BIC 2.57, "
        f"fNML 2.10, qNML 2.37); qNML minus fNML {first}",
        "the differences must be above 0; units are permutations, the tables are as given",
    )
    yield _steadiness_claim(tables, ranks)
    half = len(tables) // 2
    small, large = ranks[:, :half], ranks[:, half:]
    wins = [_behind(small, other, BIC) for other in (BDEU, FNML, QNML)]
    loses = [_behind(large, BIC, other) for other in (BDEU, FNML, QNML)]
    shown = "; ".join(
        f"{name} {_shown(found.mean(axis=(0, 1)) if found.size else None)}"
        for name, found in (("smaller half", small), ("larger half", large))
    )
    yield Claim(
        "Q7",
        "Prediction, table",
        "BIC predicts best on small tables and worst on large ones.",
        all_of(map(is_above, [*wins, *loses])),
        f"mean ranks: {shown}",
        "on the smaller half of the tables BIC's mean rank must be clearly the lowest, on the "
        "larger half clearly the highest",
    )


def _behind(ranks: np.ndarray, one: int, other: int) -> Interval:
    """Return the mean rank of one minus that of another over tables; units are permutations."""
    if not ranks.size:
        return mean_interval([])
    return mean_interval((ranks[..., one] - ranks[..., other]).mean(axis=1))


def _steadiness_claim(tables: Sequence[str], ranks: np.ndarray) -> Claim:
    def lead(sample: np.ndarray) -> float:
        spread = sample.reshape(len(sample), len(tables), -1).mean(axis=0).std(axis=0, ddof=1)
        return float(np.delete(spread, QNML).min() - spread[QNML])

    steady, spread = mean_interval([]), None
    if ranks.size and len(tables) > 1:
        steady = bootstrap_interval(ranks.reshape(len(ranks), -1), lead)
        spread = ranks.mean(axis=0).std(axis=0, ddof=1)
    return Claim(
        "Q6",
        "Prediction, table",
        "qNML is the steadiest: its mean ranks vary least between tables.",
        is_above(steady),
        f"standard deviations {_shown(spread)} (paper: BDeu 0.49, BIC 0.90, fNML 0.76, qNML "
        f"0.43); least of the others minus qNML's {steady}",
        "must be above 0; permutations are drawn again",
    )


def _parameter_claim(rows: Sequence[Row]) -> Claim:
    texts = []
    verdict: Verdict = "cannot be told"
    for percent in (10, 20):
        found = mean_parameters(rows, percent)
        smaller = sum(v[QNML] < v[FNML] for v in found.values())
        larger = sum(v[QNML] > v[BIC] for v in found.values())
        largest = sum(v.argmax() == FNML for v in found.values())
        texts.append(
            f"{percent} %: qNML below fNML on {smaller}, above BIC on {larger}, fNML largest on "
            f"{largest} of {len(found)}"
        )
        if percent == 10 and len(found) == 20:
            is_so = smaller >= _ALMOST_ALL and larger >= _ALMOST_ALL
            verdict = "holds" if is_so else "does not hold"
    return Claim(
        "Q8",
        "number of parameters",
        "qNML learns smaller networks than fNML on 19 of 20 tables and larger ones than BIC; "
        "fNML's are the largest on 7.",
        verdict,
        "; ".join(texts),
        f"the first two must be so on at least {_ALMOST_ALL} of 20 tables, from 10 % of the rows",
    )


def _shown(values: np.ndarray | None) -> str:
    if values is None:
        return "unknown"
    return ", ".join(f"{m} {v:.2f}" for m, v in zip(METHODS, values.tolist(), strict=True))


def _named(sizes: Sequence[int]) -> str:
    return f"{', '.join(f'{size:,}' for size in sizes)} rows" if sizes else "no size"
