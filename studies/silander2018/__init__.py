"""Silander, Leppä-aho, Jääsaari and Roos (2018): structures, predictions and sizes under qNML."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from bestdag import (
    BIC,
    FNML,
    QNML,
    BDeu,
    ConditionalTable,
    Dag,
    FamilyCounts,
    Network,
    Score,
    compare,
)
from studies.data import TABLES, UNWHOLE, DataFolder, load_table, table_file
from studies.fits import best_structures, loss_of
from studies.silander2018.claims import APPROXIMATE, DRAWN, METHODS, NETWORKS, SIZES, claims
from studies.silander2018.tables import sections
from studies.study import Size, Study, Trial, generator_of

__all__ = ["STUDY", "member_of_class"]

SCORES: dict[str, Score] = dict(zip(METHODS, (BDeu(), BIC(), FNML(), QNML()), strict=True))
# Beside the exact regret, the approximation that the paper used.
WITH_APPROXIMATION = {
    **SCORES,
    APPROXIMATE: QNML(regret="szpankowski"),
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
    yield from _predictions("prediction", "", TABLES, 20 if is_quick else 1000, is_quick, seed)
    yield from _predictions(
        "missing a state", ", missing a state", UNWHOLE, 2 if is_quick else 100, is_quick, seed
    )
    yield from _other_choices(is_quick, seed)


def _other_choices(is_quick: bool, seed: int) -> Iterator[Trial]:
    """List networks with tables drawn anew, and predictions by other members of the classes."""
    for drawn in DRAWN:
        for network in NETWORKS:
            for rows in SIZES:
                for repetition in range(10 if is_quick else 100):
                    yield Trial(
                        f"structure of {network}, {rows} rows, drawn tables",
                        {
                            "part": "drawn tables",
                            "network": network,
                            "rows": rows,
                            "tables": drawn,
                            "repetition": repetition,
                            "seed": seed,
                        },
                        (f"networks/{network}.bif",),
                    )
    yield from _predictions(
        "other members", ", other members", TABLES, 2 if is_quick else 10, is_quick, seed
    )


def _predictions(
    part: str, which: str, tables: Iterable[str], n_permutations: int, is_quick: bool, seed: int
) -> Iterator[Trial]:
    for table in tables:
        for fraction in QUICK_FRACTIONS if is_quick else FRACTIONS:
            for permutation in range(n_permutations):
                yield Trial(
                    f"prediction of {table}, {fraction} %{which}",
                    {
                        "part": part,
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
    if settings["part"] in ("structure", "drawn tables"):
        rng = generator_of("silander2018", *(settings[k] for k in sorted(settings)))
        truth = folder.network(f"networks/{settings['network']}.bif")
        if settings["part"] == "drawn tables":
            truth = _with_drawn_tables(truth, DRAWN[str(settings["tables"])], rng)
        drawn = truth.sample(int(settings["rows"]), seed=int(rng.integers(2**62)), threads=1)
        found = best_structures(drawn, WITH_APPROXIMATION)
        return {
            "shd": {label: compare(truth, dag).shd_cpdag for label, dag in found.items()},
            "arcs": {label: len(dag.arcs) for label, dag in found.items()},
        }
    # The same permutations for all fractions, both ways to take missing cells, and all members.
    drawn_by = (settings["permutation"], settings["seed"], settings["table"])
    rng = generator_of("silander2018", "prediction", *drawn_by)
    filled = "state" if settings["part"] == "missing a state" else "filled"
    data = load_table(folder, str(settings["table"]), filled)
    order = rng.permutation(data.n_rows)
    n_train = round(data.n_rows * int(settings["percent"]) / 100)
    train = data.select(rows=np.sort(order[:n_train]))
    test = data.select(rows=np.sort(order[n_train:]))
    if settings["part"] == "other members":
        dags = best_structures(train, SCORES)
        losses = {
            # fNML is not score equivalent: its best structure stands alone.
            label: loss_of(
                dag if label == "fNML" else member_of_class(dag, rng), SCORES[label], train, test
            )
            for label, dag in dags.items()
        }
        return {"losses": losses}
    dags = best_structures(train, WITH_APPROXIMATION)
    return {
        "losses": {
            label: loss_of(dag, WITH_APPROXIMATION[label], train, test)
            for label, dag in dags.items()
        },
        "parameters": {label: dag.n_parameters(data) for label, dag in dags.items()},
    }


def _with_drawn_tables(network: Network, count: float, rng: np.random.Generator) -> Network:
    """Return the structure and states with other tables, their rows from Dir(count, ...)."""
    tables = []
    for table in network.tables:
        shape = (*(parent.arity for parent in table.parents), table.child.arity)
        rows = _dirichlet_rows(rng, count, (math.prod(shape[:-1]), shape[-1]))
        tables.append(ConditionalTable(table.child, table.parents, rows.reshape(shape)))
    return Network(tables, name=network.name)


def _dirichlet_rows(rng: np.random.Generator, count: float, shape: tuple[int, int]) -> np.ndarray:
    """Draw rows from Dir(count, ..., count): Gamma(a) is Gamma(a + 1) times U^(1/a)."""
    logs = np.log(rng.standard_gamma(count + 1, shape)) + np.log1p(-rng.random(shape)) / count
    rows: np.ndarray = np.exp(logs - logs.max(axis=1, keepdims=True))
    rows /= rows.sum(axis=1, keepdims=True)
    return rows


def member_of_class(dag: Dag, rng: np.random.Generator) -> Dag:
    """Return a random member of the class: the one that fits a random order of the names best."""
    order = rng.permutation(len(dag.nodes)).tolist()
    there = {node: f"{place:02}" for node, place in zip(dag.nodes, order, strict=True)}
    back = {name: node for node, name in there.items()}
    renamed = Dag(there.values(), [(there[a], there[b]) for a, b in dag.arcs])
    return Dag(dag.nodes, [(back[a], back[b]) for a, b in renamed.cpdag().to_dag().arcs])


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
    alike = FamilyCounts.of([[n] + [0] * (r - 1)])
    return {
        "asymptotic": asymptotic,
        # What is taken from the greatest likelihood, which is 1 where all cases are alike.
        "szpankowski": -QNML(regret="szpankowski").family(alike),
        "exact": -QNML().family(alike),
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
        "structures only. Tables drawn anew for each sample, from Dir(1, ..., 1) and from "
        "Dir(1/2, ..., 1/2), run beside them, with a tenth of the repetitions.",
        "SHD is the number of pairs of nodes whose mark differs between the two CPDAGs, as in the "
        "work that the full paper names (Tsamardinos et al. 2006).",
        "Ranks: 1 is best, equal values share the mean of their ranks; the least of their ranks "
        "is shown beside.",
        "Sizes: 10, 20, 50, ... 10,000 and 300; the paper names 10 and 10,000 as the ends. Each "
        "size is judged by itself, with samples of its own, so that no verdict on a size depends "
        "on which others there are.",
        "Which member of its class a structure is: BIC and qNML give all members the same score, "
        "but the sequential NML parameters of the members predict differently; the paper does not "
        "say which one it took. Random members run beside those that the search found, with a "
        "hundredth of the permutations.",
        "Numbers of training rows are rounded to whole rows: one row more or less.",
        "Missing cells get the most frequent state of their column, as in silander2010; missing "
        "as a state runs beside it, with a tenth of the permutations.",
        "The regret of qNML is exact; the approximation of the paper runs beside it.",
        "The table of numbers of parameters is headed 10 % in the paper, but the printed sample "
        "sizes are 20 % for ten tables; both are shown.",
    ),
)
