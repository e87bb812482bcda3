"""Every score on every table and network, from few rows to many: which score when."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bestdag import Dataset, compare, learn
from studies.data import OTHER_TABLES, TABLES, DataFolder, load_table, table_file
from studies.everything.claims import LARGE_NETWORKS, MEASURED, NETWORKS, SCORES, claims
from studies.everything.tables import sections
from studies.fits import loss_of
from studies.study import Size, Study, Trial, generator_of

__all__ = ["STUDY"]

_Settings = dict[str, str | int | float]
_PERCENTS = (10, 50, 90)
_ROWS = (30, 100, 300, 1000, 3000, 10000)
_HELD_OUT = 5000
_LARGE_ROWS, _LARGE_REPETITIONS = (100, 1000, 10000), 2
# Seconds: the full size takes at most 22 h on two processors.
_MAX_PARENTS, _CAP = 3, 20
_COMPRESSED = ("barley", "diabetes", "mildew", "pathfinder")
# Tables of at most so many columns, and networks of so few nodes, in the quick run.
_FEW_COLUMNS, _QUICK_NETWORKS = 11, 5
# About how many seconds a search takes, by _ROWS, where that is more than a moment, and what it
# takes on the others, on tables of many columns by _PERCENTS, and where the clock ends it: for
# forecasts alone.
_EXPECTED = {
    "insurance": (0.6, 0.4, 0.4, 0.6, 1.0, 3.4),
    "water": (15.0, 0.5, 0.5, 0.5, 0.7, 1.2),
    "alarm": (10.0, 2.5, 1.2, 1.6, 4.0, 20.0),
}
_EXPECTED_SMALL, _EXPECTED_CHILD = 0.02, 0.2
_EXPECTED_TABLES = {11: (0.02, 0.02, 0.02), 20: (0.1, 0.2, 0.4), 40: (3.0, 12.0, 15.0)}


def trials(size: Size, seed: int) -> Iterator[Trial]:
    """List tables and networks by sizes, and each of these by scores."""
    is_quick = size == "quick"
    n_repetitions = 3 if is_quick else 10
    for table in TABLES | OTHER_TABLES:
        if is_quick and (TABLES | OTHER_TABLES)[table][1] > _FEW_COLUMNS:
            continue
        for percent in _PERCENTS:
            for repetition in range(n_repetitions):
                for score in SCORES:
                    settings: _Settings = {"part": "table", "on": table, "percent": percent}
                    settings |= {"repetition": repetition, "score": score, "seed": seed}
                    yield Trial(
                        f"{table}, {percent} %, {score}",
                        settings,
                        (table_file(table),),
                        _expected_of_table(table, percent),
                    )
    for network in NETWORKS[:_QUICK_NETWORKS] if is_quick else NETWORKS:
        yield from _of_network(network, _ROWS, n_repetitions, seed)
    for network in () if is_quick else LARGE_NETWORKS:
        yield from _of_network(network, _LARGE_ROWS, _LARGE_REPETITIONS, seed)


def _of_network(
    network: str, sizes: Sequence[int], n_repetitions: int, seed: int
) -> Iterator[Trial]:
    file = f"networks/{network}.bif{'.gz' if network in _COMPRESSED else ''}"
    for rows in sizes:
        for repetition in range(n_repetitions):
            for score in SCORES:
                settings: _Settings = {"part": "network", "on": network, "rows": rows}
                settings |= {"repetition": repetition, "score": score, "seed": seed}
                yield Trial(
                    f"{network}, {rows} rows, {score}",
                    settings,
                    (file,),
                    _expected_of_network(network, rows),
                )


def _expected_of_table(table: str, percent: int) -> float:
    n_columns = (TABLES | OTHER_TABLES)[table][1]
    most = next(most for most in _EXPECTED_TABLES if n_columns <= most)
    return _EXPECTED_TABLES[most][_PERCENTS.index(percent)]


def _expected_of_network(network: str, rows: int) -> float:
    if network in LARGE_NETWORKS:
        return float(_CAP)
    if network in _EXPECTED:
        return _EXPECTED[network][_ROWS.index(rows)]
    return _EXPECTED_CHILD if network == "child" else _EXPECTED_SMALL


def run(trial: Trial, folder: DataFolder) -> dict[str, Any]:
    """Learn by one score, and measure."""
    settings = trial.settings
    drawn = [settings["part"], settings["on"], settings["repetition"], settings["seed"]]
    rng = generator_of("everything", *drawn)
    truth = None
    if settings["part"] == "network":
        truth = folder.network(trial.files[0])
        seeds = rng.integers(2**62, size=2)
        every = truth.sample(max(_ROWS), seed=int(seeds[0]), threads=1)
        train = every.select(rows=slice(int(settings["rows"])))
        test = truth.sample(_HELD_OUT, seed=int(seeds[1]), threads=1)
    else:
        train, test = _divided(
            load_table(folder, str(settings["on"])), rng, int(settings["percent"])
        )
    score = SCORES[str(settings["score"])]
    search = "auto" if settings["on"] in LARGE_NETWORKS else "exact"
    found = learn(
        train, score, search=search, max_parents=_MAX_PARENTS, time_limit=_CAP, support=0, workers=1
    )
    loss = loss_of(found.dag, score, train, test)
    row: dict[str, Any] = {
        "n_train": train.n_rows,
        "loss": loss if math.isfinite(loss) else None,
        "arcs": len(found.dag.arcs),
        "parameters": found.dag.n_parameters(train),
        "gap": 0.0 if found.is_proved else found.gap,
        "timing": {"seconds": found.seconds},
    }
    if truth is not None:
        apart = compare(truth, found.dag)
        row |= {"shd": apart.shd_cpdag, "moral": apart.moral_mismatches}
    assert set(row) - {"n_train", "gap", "timing"} <= set(MEASURED)
    return row


def _divided(data: Dataset, rng: np.random.Generator, percent: int) -> tuple[Dataset, Dataset]:
    order = rng.permutation(data.n_rows)
    n_train = round(data.n_rows * percent / 100)
    first, rest = np.sort(order[:n_train]), np.sort(order[n_train:])
    return data.select(rows=first), data.select(rows=rest)


STUDY = Study(
    name="everything",
    title="Every score on every table and network",
    paper="A study of our own: held-out log loss, distance to the true structure, arcs and time to "
    "proof, for thirteen scores from few rows to many.",
    trials=trials,
    run=run,
    sections=sections,
    claims=claims,
    choices=(
        "At most three parents for every score, because LL has no other bound; each search has "
        f"{_CAP} seconds for its proof, and what is not proved is counted. The nine "
        'networks from mildew to link (35 to 724 nodes) are searched by "auto" for as long.',
        "Each score is searched on its own, counts and all, so that times can be compared.",
        "Parameters are those that belong to each score: the posterior mean under its own prior, "
        "else fsNML. BDe without a prior network is BDeu, and is left out. The fsNML parameters of "
        "equivalent structures predict a little differently; the one that the search found is "
        "taken (silander2018 shows how much that matters).",
        "Tables are cut as in silander2010; missing cells get the most frequent state.",
        "Ranks are among all scores on the same rows; equal values share the mean of their ranks.",
    ),
)
