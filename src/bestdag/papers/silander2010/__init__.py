"""Silander, Roos and Myllymäki (2010): ranks of true structures, and predictions on UCI tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from bestdag.evaluation.ranks import every_structure, scores_of_structures
from bestdag.network.random_network import random_network
from bestdag.papers.data_folder import DataFolder
from bestdag.papers.fits import held_out_losses
from bestdag.papers.silander2010.claims import claims
from bestdag.papers.silander2010.rows import RANKED, SIZES
from bestdag.papers.silander2010.tables import sections
from bestdag.papers.study import Size, Study, Trial, generator_of
from bestdag.papers.uci_tables import TABLES, UNWHOLE, load_table, table_file
from bestdag.scores import make_score
from bestdag.scores.scorer import Scorer
from bestdag.search.ties import tie_width

__all__ = ["STUDY"]

SCHEMES: dict[str, dict[str, float]] = {"bdeu": {"ess": 1.0}, "half": {"pseudo_count": 0.5}}
SCORES = {
    "fNML": make_score("fnml"),
    "BDeu": make_score("bdeu"),
    "BD1/2": make_score("bd", pseudo_count=0.5),
}


def trials(size: Size, seed: int) -> Iterator[Trial]:
    """List networks with their data sets, then tables with their halves."""
    n_networks, n_samples, n_halves = (50, 10, 50) if size == "quick" else (100, 100, 100)
    for edges in (4, 7):
        for sample in range(n_samples):
            for network in range(n_networks):
                for scheme in SCHEMES:
                    yield Trial(
                        f"rank, {edges} edges",
                        {
                            "part": "rank",
                            "edges": edges,
                            "scheme": scheme,
                            "network": network,
                            "sample": sample,
                            "seed": seed,
                        },
                    )
    for table in TABLES:
        for half in range(min(n_halves, 10) if size == "quick" and table == "adult" else n_halves):
            for missing in ("filled", "state") if table in UNWHOLE else ("filled",):
                yield Trial(
                    f"halves of {table}, {missing}",
                    {
                        "part": "halves",
                        "table": table,
                        "missing": missing,
                        "half": half,
                        "seed": seed,
                    },
                    (table_file(table),),
                )


def run(trial: Trial, folder: DataFolder) -> dict[str, Any]:
    """Rank the true structure, or predict one half of a table from the other."""
    settings = trial.settings
    if settings["part"] == "rank":
        return _ranks(settings)
    data = load_table(folder, str(settings["table"]), str(settings["missing"]))
    rng = generator_of("silander2010", settings["table"], settings["half"], settings["seed"])
    order = rng.permutation(data.n_rows)
    middle = data.n_rows // 2
    train = data.select(rows=np.sort(order[:middle]))
    test = data.select(rows=np.sort(order[middle:]))
    return {"losses": held_out_losses(train, test, SCORES)}


def _ranks(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Rank the structure among all, for each score and size; and count the arcs of the best."""
    edges, scheme = settings["edges"], settings["scheme"]
    drawn = generator_of("silander2010", edges, settings["network"], settings["seed"])
    truth = random_network(
        5,
        "order",
        n_arcs=edges,
        arities=(2, 4),
        seed=int(drawn.integers(2**62)),
        **SCHEMES[scheme],
    )
    again = generator_of("silander2010", *(settings[k] for k in sorted(settings)))
    data = truth.sample(SIZES[-1], seed=int(again.integers(2**62)), threads=1)
    names = sorted(truth.names)
    masks = [sum(1 << names.index(p) for p in truth.dag.parents(name)) for name in names]
    every = every_structure(len(names))
    own = int(np.flatnonzero((every.masks == masks).all(axis=1))[0])
    n_arcs = (every.masks[:, :, None] >> np.arange(len(names)) & 1).sum(axis=(1, 2))
    found: dict[str, Any] = {}
    for label, score in RANKED.items():
        mids, ranks, arcs = [], [], []
        for size in SIZES:
            scorer = Scorer(data.select(rows=slice(size)), score, threads=1)
            totals, scale = scores_of_structures(scorer)
            width = max(tie_width(float(totals[own])), 1e-12 * scale)
            better = int(np.count_nonzero(totals > totals[own] + width))
            equal = int(np.count_nonzero(np.abs(totals - totals[own]) <= width))
            ranks.append(1 + better)
            mids.append(1 + better + (equal - 1) / 2)
            arcs.append(int(n_arcs[int(totals.argmax())]))
        found[label] = {"mid": mids, "rank": ranks, "arcs": arcs}
    return found


STUDY = Study(
    name="silander2010",
    title="Locally minimax optimal networks: fNML against BDeu, AIC and BIC",
    paper="T. Silander, T. Roos, P. Myllymäki: Learning locally minimax optimal Bayesian networks. "
    "International Journal of Approximate Reasoning 51 (2010).",
    trials=trials,
    run=run,
    sections=sections,
    claims=claims,
    choices=(
        "Structures: each has its number of arcs placed at random over a random order of five "
        "nodes; arities 2 to 4 are equally likely. Both parameter schemes have the same "
        "structures.",
        "Ranks: structures of equal score share the middle of their ranks (BDeu, AIC and BIC give "
        "equivalent structures equal scores, fNML does not). rows.jsonl also has 1 + the number of "
        "strictly better ones.",
        "Tables are cut by the rule that reproduces the printed numbers of columns and mean "
        "arities: "
        "number columns into three intervals of equal width, at most six different values kept.",
        "Missing cells: the paper's arities leave no room for a state of their own; here they "
        "get the "
        "most frequent state, and beside that all trials are run with missing as a state.",
    ),
)
