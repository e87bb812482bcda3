"""Which score when, how much is lost by another one, sizes, proofs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from studies.claims import AS_ABOVE, Interval, mean_interval, verdict_table
from studies.everything.claims import (
    CLASSES,
    LARGE_NETWORKS,
    SCORES,
    claims,
    excess_by_size,
    ranks_by_rows,
    ranks_by_size,
    size_class,
)
from studies.sections import Figure, Line, Section, Table, in_digits, line_chart
from studies.study import Row

__all__ = ["sections"]

_LABELS = tuple(SCORES)
# What is measured: its name, its unit, on what, and the name of that.
_MEASURES = (
    ("loss", "held-out log loss", "%", "table", "tables"),
    ("loss", "held-out log loss", "%", "network", "samples of networks"),
    ("shd", "SHD to the true class", "arcs", "network", "samples of networks"),
    ("moral", "mismatches of moral graphs", "pairs", "network", "samples of networks"),
)
# As many as there are colours.
_DRAWN = ("AIC", "BIC", "MIT(0.99)", "BD1/2", "BDeu(1)", "Min-BDeu", "fNML", "qNML")
# Twelve scores are compared with the best one: all twelve intervals hold with 95 % probability.
_LEVEL = 1 - 0.05 / (len(_LABELS) - 1)


def sections(rows: Sequence[Row]) -> list[Section]:
    """Print what there are rows of."""
    made = [*_answers(rows), *_one_for_all(rows)]
    for measure, title, unit, part, of in _MEASURES:
        made += _by_score(rows, measure, f"{title}, {of}", unit, part)
    return [*made, *_figures(rows), *_sizes(rows), *_proofs(rows), *_without_unproved(rows)]


def _answers(rows: Sequence[Row]) -> Iterator[Section]:
    """Name the best score of each size, those that may be as good, and what others lose."""
    cells = []
    for measure, title, unit, part, of in _MEASURES:
        ranks = ranks_by_size(rows, measure, part)
        excess = excess_by_size(rows, measure, part)
        for size, found in ranks.items():
            means = found.mean(axis=0)
            order = [int(k) for k in np.argsort(means, kind="stable")]
            best, worst = order[0], order[-1]
            behind = [k for k in order[1:] if _is_behind(found[:, k] - found[:, best])]
            lost = excess[size].mean(axis=0)
            cells.append(
                [
                    f"{title}, {of}",
                    size,
                    str(len(found)),
                    f"{_LABELS[best]} ({means[best]:.1f}; {in_digits(lost[best], 2)} {unit})",
                    _others([k for k in order[1:] if k not in behind], behind, means),
                    f"{_LABELS[worst]} ({means[worst]:.1f}; {in_digits(lost[worst], 2)} {unit})",
                ]
            )
    if cells:
        yield Table(
            "Which score when",
            ["by", "training rows", "units", "best", "not clearly behind it", "worst"],
            cells,
            "Mean ranks of 13, 1 is best, in brackets, and for the best and the worst score how "
            "far it is above the least on the same rows, in the mean. A unit is a table, or a "
            "network. Not clearly behind: the paired difference of ranks to the best score has 0 "
            "in its interval; the intervals hold together with 95 % probability (Bonferroni).",
        )


def _others(level: Sequence[int], behind: Sequence[int], means: np.ndarray) -> str:
    """Name some scores, or where they are most of all the others."""
    few = level if len(level) <= len(behind) else behind
    shown = ", ".join(f"{_LABELS[k]} ({means[k]:.1f})" for k in few)
    if few is level:
        return shown or "none"
    return f"all but {shown}" if shown else "all"


def _is_behind(differences: np.ndarray) -> bool:
    found = mean_interval(differences, _LEVEL)
    return found.n > 1 and found.low > 0


def _one_for_all(rows: Sequence[Row]) -> Iterator[Section]:
    """Show for each score what it loses where it loses most."""
    most: dict[str, dict[str, tuple[Interval, str]]] = defaultdict(dict)
    titles = []
    for measure, title, unit, part, of in _MEASURES:
        excess = excess_by_size(rows, measure, part)
        if set(excess) != set(CLASSES):
            continue
        titles.append(f"{title}, {of} ({unit})")
        for k, score in enumerate(_LABELS):
            means = {size: mean_interval(found[:, k]) for size, found in excess.items()}
            size = max(means, key=lambda name: means[name].value)
            most[score][titles[-1]] = (means[size], size)
    if not titles:
        return
    cells = [
        [score, *(f"{_shown(most[score][t][0])}, {most[score][t][1]}" for t in titles)]
        for score in _LABELS
    ]
    least = [min(_LABELS, key=lambda score: most[score][t][0].value) for t in titles]
    pairs = zip(titles, least, strict=True)
    yield Table(
        "One score for all sizes: what each loses where it loses most",
        ["score", *titles],
        cells,
        "How far a score is above the least on the same rows, mean with 95 % interval over units, "
        "at the size where that is greatest. The least of these: "
        + "; ".join(f"{score} by {title.rsplit(' (', 1)[0]}" for title, score in pairs)
        + ".",
    )


def _by_score(
    rows: Sequence[Row], measure: str, title: str, unit: str, part: str
) -> Iterator[Section]:
    ranks = ranks_by_size(rows, measure, part)
    excess = excess_by_size(rows, measure, part)
    if not ranks:
        return
    cells = [
        [score]
        + [
            f"{found.mean(axis=0)[k]:.2f}; {_shown(mean_interval(excess[size][:, k]))}"
            for size, found in ranks.items()
        ]
        for k, score in enumerate(_LABELS)
    ]
    header = ["score", *ranks]
    units = ", ".join(f"{len(v)} with {name}" for name, v in ranks.items())
    note = f"Mean rank of 13, 1 is best; then how far above the least on the same rows ({unit}), "
    note += f"mean with 95 % interval over units ({units})."
    yield Table(f"{title[0].upper()}{title[1:]}", header, cells, note)


def _shown(interval: Interval) -> str:
    """Show a mean of what is never below 0."""
    if not np.isfinite(interval.low):
        return f"{interval.value:.2f}"
    return f"{interval.value:.2f} ({max(0.0, interval.low):.2f} to {interval.high:.2f})"


def _figures(rows: Sequence[Row]) -> Iterator[Section]:
    """Draw mean ranks against the number of rows, for the scores that are most used."""
    for measure, title in {m: t for m, t, *_ in _MEASURES}.items():
        found = ranks_by_rows(rows, measure)
        if len(found) > 1:
            lines = [
                Line(score, list(found), [float(v[k]) for v in found.values()])
                for k, score in enumerate(SCORES)
                if score in _DRAWN
            ]
            what = f"Mean rank by {title}, by rows drawn from networks"
            svg = line_chart(lines, x="rows", y="mean rank of 13", log_x=True)
            yield Figure(f"ranks-{measure}", what, svg, "1 is best; of 13 scores 8 are drawn.")


def _sizes(rows: Sequence[Row]) -> Iterator[Section]:
    cells = []
    for score in SCORES:
        some = [row for row in rows if row["score"] == score]
        if not some:
            continue
        arcs = [
            f"{np.mean(chosen):.1f}" if chosen else ""
            for name in CLASSES
            for chosen in [[r["arcs"] for r in some if size_class(r["n_train"]) == name]]
        ]
        proved = [row["timing"]["seconds"] for row in some if row["gap"] == 0]
        times = [f"{1000 * v:,.0f}" for v in np.quantile(proved or [0.0], [0.5, 0.9, 1])]
        cells.append(
            [
                score,
                *arcs,
                f"{np.mean([r['parameters'] for r in some]):,.0f}",
                f"{len(proved):,}",
                f"{len(some) - len(proved):,}",
                *(times if proved else ["", "", ""]),
            ]
        )
    if cells:
        header = ["score", *(f"arcs, {name}" for name in CLASSES), "parameters", "proved"]
        header += ["ended by the clock", "median ms to proof", "ms, nine of ten", "ms, longest"]
        note = "Means over all trials; time of searches that ended in a proof, on one processor."
        yield Table("Sizes of networks, and time to proof", header, cells, note)


def _proofs(rows: Sequence[Row]) -> Iterator[Section]:
    """Count the searches that the clock ended, by table and network."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[f"{row['on']} ({row['part']})"].append(row)
    every = [row for row in rows if row["gap"] != 0]
    cells = []
    for name in sorted(found):
        stopped = [row for row in found[name] if row["gap"] != 0]
        if stopped:
            known = [row["gap"] for row in stopped if row["gap"] is not None]
            scores = sorted({row["score"] for row in stopped}, key=_LABELS.index)
            gaps = [in_digits(f(known), 3) for f in (np.median, max)] if known else ["", ""]
            which = "all" if len(scores) == len(_LABELS) else ", ".join(scores)
            counts = [f"{len(found[name]):,}", f"{len(stopped):,}", f"{len(known):,}"]
            cells.append([name, *counts, *gaps, which])
    if rows and not cells:
        counts = [f"{len(rows):,}", "0"]
        yield Table("Searches that the clock ended", ["searches", "ended by the clock"], [counts])
    elif cells:
        header = ["on", "searches", "ended by the clock", "with a bound"]
        header += ["median gap (nats)", "largest gap", "scores"]
        yield Table(
            "Searches that the clock ended",
            header,
            cells,
            f"{len(every):,} of {len(rows):,} searches. The gap is the most that the score of the "
            f"structure can be below the best one's. The networks {', '.join(LARGE_NETWORKS)} are "
            "too large for a proof in this time.",
        )


def _without_unproved(rows: Sequence[Row]) -> Iterator[Section]:
    """Judge the claims again where every score has its proof."""
    stopped = {_sample(row) for row in rows if row["gap"] != 0}
    if stopped:
        proved = [row for row in rows if _sample(row) not in stopped]
        yield verdict_table(
            {AS_ABOVE: claims(rows), "only samples where all scores are proved": claims(proved)},
            title="Verdicts without what is not proved",
        )


def _sample(row: Row) -> tuple[object, ...]:
    return (row["part"], row["on"], row.get("rows", row.get("percent")), row["repetition"])
