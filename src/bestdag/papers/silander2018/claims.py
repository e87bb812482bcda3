"""Q1 to Q8, judged by rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bestdag.papers.claims import (
    Claim,
    Interval,
    Verdict,
    all_of,
    bootstrap_interval,
    is_above,
    is_below,
    mean_interval,
)
from bestdag.papers.silander2018.rows import (
    METHODS,
    NETWORKS,
    SIZES,
    mean_parameters,
    prediction_ranks,
    shared_ranks,
    structure_values,
)
from bestdag.papers.study import Row
from bestdag.papers.uci_tables import TABLES

__all__ = ["LARGE", "claims", "prediction_claims", "structure_claims"]

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
