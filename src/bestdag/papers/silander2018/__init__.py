"""Silander, Leppä-aho, Jääsaari and Roos (2018): structures, predictions and sizes under qNML."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from bestdag.evaluation.structures import compare
from bestdag.papers.data_folder import DataFolder
from bestdag.papers.fits import best_structures, loss_of
from bestdag.papers.silander2018.claims import claims
from bestdag.papers.silander2018.rows import APPROXIMATE, METHODS, NETWORKS, SIZES
from bestdag.papers.silander2018.tables import sections
from bestdag.papers.study import Size, Study, Trial, generator_of
from bestdag.papers.uci_tables import TABLES, UNWHOLE, load_table, table_file
from bestdag.scores import make_score
from bestdag.special import regret, szpankowski_regret

__all__ = ["STUDY"]

SCORES = {label: make_score(label.lower()) for label in METHODS}
# Beside the exact regret, the approximation that the paper used.
WITH_APPROXIMATION = {
    **SCORES,
    APPROXIMATE: make_score("qnml", regret="szpankowski"),
}
FRACTIONS = (10, 20, 30, 40, 50, 60, 70, 80, 90)  # per cent of the rows
QUICK_FRACTIONS = (10, 20, 50, 90)


def trials(size: Size, seed: int) -> Iterator[Trial]:
    """List samples of networks, parts of tables, and the numbers of the regret table."""
    is_quick = size == "quick"
    for n, r in _REGRETS:
        yield Trial("regret", {"part": "regret", "n": n, "r": r})
    for network in NETWORKS:
        for rows in SIZES:
            for repetition in range(100 if is_quick else 1000):
                yield Trial(
                    f"structure of {network}, {rows} rows",
                    {
                        "part": "structure",
                        "network": network,
                        "rows": rows,
                        "repetition": repetition,
                        "seed": seed,
                    },
                    (f"networks/{network}.bif",),
                )
    for table in TABLES:
        for fraction in QUICK_FRACTIONS if is_quick else FRACTIONS:
            for permutation in range(20 if is_quick else 1000):
                yield Trial(
                    f"prediction of {table}, {fraction} %",
                    {
                        "part": "prediction",
                        "table": table,
                        "percent": fraction,
                        "permutation": permutation,
                        "seed": seed,
                    },
                    (table_file(table),),
                )
    for table in UNWHOLE:
        for fraction in QUICK_FRACTIONS if is_quick else FRACTIONS:
            for permutation in range(2 if is_quick else 100):
                yield Trial(
                    f"prediction of {table}, {fraction} %, missing a state",
                    {
                        "part": "missing a state",
                        "table": table,
                        "percent": fraction,
                        "permutation": permutation,
                        "seed": seed,
                    },
                    (table_file(table),),
                )


_REGRETS = tuple((n, r) for n in (50, 500, 5000) for r in (10, 100, 1000, 10000))


def run(trial: Trial, folder: DataFolder) -> dict[str, Any]:
    """Learn by all scores from the same rows."""
    settings = trial.settings
    if settings["part"] == "regret":
        return _regrets(int(settings["n"]), int(settings["r"]))
    if settings["part"] == "structure":
        rng = generator_of("silander2018", *(settings[k] for k in sorted(settings)))
        truth = folder.network(f"networks/{settings['network']}.bif")
        drawn = truth.sample(int(settings["rows"]), seed=int(rng.integers(2**62)), threads=1)
        found = best_structures(drawn, WITH_APPROXIMATION)
        return {
            "shd": {label: compare(truth, dag).shd_cpdag for label, dag in found.items()},
            "arcs": {label: len(dag.arcs) for label, dag in found.items()},
        }
    # The same permutations for all fractions, and for both ways to take missing cells.
    drawn_by = (settings["permutation"], settings["seed"], settings["table"])
    rng = generator_of("silander2018", "prediction", *drawn_by)
    filled = "filled" if settings["part"] == "prediction" else "state"
    data = load_table(folder, str(settings["table"]), filled)
    order = rng.permutation(data.n_rows)
    n_train = round(data.n_rows * int(settings["percent"]) / 100)
    train = data.select(rows=np.sort(order[:n_train]))
    test = data.select(rows=np.sort(order[n_train:]))
    dags = best_structures(train, WITH_APPROXIMATION)
    return {
        "losses": {
            label: loss_of(dag, WITH_APPROXIMATION[label], train, test)
            for label, dag in dags.items()
        },
        "parameters": {label: dag.n_parameters(data) for label, dag in dags.items()},
    }


def _regrets(n: int, r: int) -> dict[str, float]:
    """Work out the regret by the asymptotic formula, by Szpankowski and Weinberger's, exactly."""
    asymptotic = (
        (r - 1) / 2 * math.log(n / 2)
        + math.log(math.sqrt(math.pi)) - math.lgamma(r / 2)
        + math.sqrt(2.0) * r * math.exp(math.lgamma(r / 2) - math.lgamma(r / 2 - 0.5))
        / (3.0 * math.sqrt(n))
        + ((3.0 + r * (r - 2) * (2 * r + 1)) / 36.0
           - math.exp(2 * (math.lgamma(r / 2) - math.lgamma(r / 2 - 0.5))) * r * r / 9.0) / n
    )  # fmt: skip
    return {
        "asymptotic": asymptotic,
        "szpankowski": float(szpankowski_regret(n, r)),
        "exact": float(regret(n, r)),
    }


STUDY = Study(
    name="silander2018",
    title="Quotient normalized maximum likelihood: structures, predictions, sizes",
    paper="T. Silander, J. Leppä-aho, E. Jääsaari, T. Roos: Quotient normalized maximum likelihood "
    "criterion for learning Bayesian network structures. AISTATS 2018.",
    trials=trials,
    run=run,
    sections=sections,
    claims=claims,
    choices=(
        "Parameters of the five networks are those of their published files; the paper says "
        "structures only.",
        "SHD is the number of pairs of nodes whose mark differs between the two CPDAGs.",
        "Ranks: 1 is best, equal values share the mean of their ranks; the least of their ranks "
        "is shown beside.",
        "Sizes: 10, 20, 50, ... 10,000 and 300; the paper names 10 and 10,000 as the ends.",
        "Missing cells get the most frequent state of their column, as in silander2010; missing "
        "as a state runs beside it, with a tenth of the permutations.",
        "The regret of qNML is exact; the approximation of the paper runs beside it.",
        "The table of numbers of parameters is headed 10 % in the paper, but the printed sample "
        "sizes are 20 % for ten tables; both are shown.",
    ),
)
