"""Claims of each study on made-up rows: those that hold, those that do not, those left open."""

import numpy as np
import pytest

from studies.carvalho2009.claims import MAIN, SCORES
from studies.carvalho2009.claims import TABLES as CARVALHO_TABLES
from studies.carvalho2009.claims import claims as carvalho
from studies.data import TABLES
from studies.everything.claims import SCORES as EVERY_SCORE
from studies.everything.claims import claims as everything
from studies.jensen2007.claims import PRIORS
from studies.jensen2007.claims import claims as jensen
from studies.scanagatta2014.claims import SIZES as ROWS
from studies.scanagatta2014.claims import claims as scanagatta
from studies.silander2010.claims import RANKED
from studies.silander2010.claims import SIZES as RANK_SIZES
from studies.silander2010.claims import claims as silander2010
from studies.silander2018.claims import NETWORKS, SIZES
from studies.silander2018.claims import claims as silander2018

YES, NO, OPEN = "holds", "does not hold", "cannot be told"


def verdicts(claims, rows):
    return {claim.name: claim.verdict for claim in claims(rows)}


def noisy(rng, value, scale=0.02):
    return float(value * np.exp(scale * rng.normal()))


def ranks(factors, *, arcs=None, n=12, samples=2):
    """Rows whose ranks are factors[edges, scheme][score] times what falls with the rows."""
    rng = np.random.default_rng(0)
    for (edges, scheme), by_score in factors.items():
        for network in range(n):
            for sample in range(samples):
                row = {"part": "rank", "edges": edges, "scheme": scheme, "network": network}
                for score in RANKED:
                    mids = [noisy(rng, 1e4 * by_score[score] / size) for size in RANK_SIZES]
                    found = [edges + (arcs or {}).get(score, 0)] * len(RANK_SIZES)
                    row[score] = {"mid": mids, "rank": mids, "arcs": found}
                yield {**row, "sample": sample}


def halves(losses, *, spread=None, n=8):
    """Rows of all tables with these mean losses and deviations of the three methods."""
    rng = np.random.default_rng(1)
    for table in TABLES:
        for half in range(n):
            both = rng.normal()
            found = {
                method: loss + (spread or {}).get(method, 0.01) * both + 1e-4 * rng.normal()
                for method, loss in losses.items()
            }
            yield {
                "part": "halves",
                "table": table,
                "missing": "filled",
                "half": half,
                "losses": found,
            }


OWN = {"BDeu": 1.0, "fNML": 1.1, "AIC": 4.0, "BIC": 8.0}
HALF = {"BDeu": 3.0, "fNML": 1.0, "AIC": 4.0, "BIC": 8.0}
MILD = {"BDeu": 1.5, "fNML": 1.0, "AIC": 4.0, "BIC": 8.0}


def test_silander2010_as_the_paper_says():
    factors = {(4, "bdeu"): OWN, (7, "bdeu"): OWN, (4, "half"): MILD, (7, "half"): HALF}
    spread = {"fNML": 0.01, "BDeu": 0.02, "BD1/2": 0.03}
    rows = [
        *ranks(factors, arcs={"BIC": -2}),
        *halves({"fNML": 5.0, "BDeu": 5.2, "BD1/2": 5.04}, spread=spread),
    ]
    assert verdicts(silander2010, rows) == dict.fromkeys([f"R{k}" for k in range(1, 9)], YES)


def test_silander2010_against_the_paper():
    turned = {"BDeu": 2.0, "fNML": 1.0, "AIC": 1.0, "BIC": 0.5}
    dense = {"BDeu": 1.0, "fNML": 9.0, "AIC": 2.0, "BIC": 1.0}
    factors = {(4, "bdeu"): turned, (7, "bdeu"): dense, (4, "half"): HALF, (7, "half"): dense}
    rows = [
        *ranks(factors, arcs={"BIC": 1}),
        *halves({"fNML": 5.3, "BDeu": 5.0, "BD1/2": 5.0}, spread={"fNML": 0.05}),
    ]
    found = verdicts(silander2010, rows)
    assert found == dict.fromkeys([f"R{k}" for k in range(1, 9)], NO)


def test_silander2010_too_few_to_tell():
    factors = {(e, s): OWN for e in (4, 7) for s in ("bdeu", "half")}
    rows = list(ranks(factors, n=1))
    assert set(verdicts(silander2010, rows).values()) <= {OPEN, NO}
    assert verdicts(silander2010, rows)["R1"] == OPEN


def samples(shd, arcs=None, n=12):
    """Rows of all networks: SHD by size for BDeu, BIC, fNML, qNML."""
    rng = np.random.default_rng(2)
    labels = ("BDeu", "BIC", "fNML", "qNML")
    for network in NETWORKS:
        for size in SIZES:
            for repetition in range(n):
                values = np.array(shd(size)) + 0.1 * rng.random(4)
                yield {
                    "part": "structure",
                    "network": network,
                    "rows": size,
                    "repetition": repetition,
                    "shd": dict(zip(labels, values.tolist(), strict=True)),
                    "arcs": dict(zip(labels, arcs or (5, 0, 5, 5), strict=True)),
                }


def parts(losses, parameters, n=4):
    """Rows of all tables: losses by the number of the table, parameters for all."""
    labels = ("BDeu", "BIC", "fNML", "qNML")
    for number, table in enumerate(TABLES):
        for percent in (10, 20):
            for permutation in range(n):
                yield {
                    "part": "prediction",
                    "table": table,
                    "percent": percent,
                    "permutation": permutation,
                    "losses": dict(zip(labels, losses(number, permutation), strict=True)),
                    "parameters": dict(zip(labels, parameters, strict=True)),
                }


def test_silander2018_as_the_paper_says():
    def shd(size):
        return (3.0, 1.0, 4.0, 2.0) if size <= 300 else (2.0, 3.0, 4.0, 1.0)

    def losses(number, permutation):
        if number >= 10:
            return (3.0, 4.0, 1.0, 2.0)
        return (4.0, 1.0, 3.0, 2.0) if number < 8 else (4.0, 1.0, 2.0, 3.0)

    rows = [*samples(shd), *parts(losses, (50, 10, 40, 20))]
    found = verdicts(silander2018, rows)
    assert found == dict.fromkeys([f"Q{k}" for k in range(1, 9)], YES)


def test_silander2018_without_a_network_and_a_table():
    rows = [
        *samples(lambda size: (2.0, 3.0, 4.0, 1.0)),
        *parts(lambda number, permutation: (4.0, 3.0, 1.0, 2.0), (50, 10, 40, 20)),
    ]
    some = [row for row in rows if row.get("network") != "sachs" and row.get("table") != "iris"]
    assert set(verdicts(silander2018, some).values()) == {OPEN}


def test_silander2018_against_the_paper():
    def losses(number, permutation):
        return (1.0, 2.0, 3.0, 4.0) if number % 2 else (2.0, 3.0, 4.0, 1.0)

    rows = [*samples(lambda size: (1.0, 3.0, 2.0, 4.0), (5, 9, 5, 5)), *parts(losses, (5, 9, 4, 8))]
    found = verdicts(silander2018, rows)
    assert found == dict.fromkeys([f"Q{k}" for k in range(1, 9)], NO)


def classified(right):
    """Rows in which right[table][score] of 1,000 rows are right; nested where they can be."""
    for table in CARVALHO_TABLES:
        given = [right(table, score) for score in SCORES]
        patterns: dict[str, int] = {}
        for row in range(1000):
            pattern = sum((row < n) << bit for bit, n in enumerate(given))
            patterns[str(pattern)] = patterns.get(str(pattern), 0) + 1
        yield {**MAIN, "table": table, "division": 0, "patterns": patterns}


NAMED = ("letter", "vehicle", "soybean-large", "hepatitis")


def paper_like(table, score):
    bayesian = score == "K2" or score.startswith("BDeu")
    if table in ("satimage", "chess", "letter"):
        worse = 0 if table != "letter" else 60
        extra = 25 if score == "K2" and table == "letter" else 0
        return 805 + extra if bayesian else 800 - worse + (5 if score == "LL" else 0)
    if table == "soybean-large":
        steps = {"NML": 900, "K2": 700}
        return steps.get(score, 600 if bayesian else 800)
    if table in NAMED:
        return 700 if bayesian else 790 if score != "NML" else 795
    return {"NML": 803, "LL": 802}.get(score, 800)


def test_carvalho2009_as_the_paper_says():
    found = verdicts(carvalho, list(classified(paper_like)))
    # LL equals K2 on satimage and chess by construction, and is behind on letter.
    assert found == dict.fromkeys([f"C{k}" for k in range(1, 9)], YES)


def test_carvalho2009_against_the_paper():
    def other(table, score):
        return {"BDeu(4)": 900, "K2": 600, "NML": 690}.get(score, 700)

    found = verdicts(carvalho, list(classified(other)))
    assert found.pop("C3") == YES  # 725 of 1,000 in the mean against 697.5
    assert found == dict.fromkeys(["C1", "C2", "C4", "C5", "C6", "C7", "C8"], NO)


def test_carvalho2009_without_a_table():
    rows = [row for row in classified(paper_like) if row["table"] not in ("letter", "iris")]
    assert set(verdicts(carvalho, rows).values()) == {OPEN}


def learned(sign, n=8):
    """Rows that are as the paper says, or the other way round."""
    rng = np.random.default_rng(3)
    for part in ("random", "known"):
        for nodes in (10, 20):
            for network in range(n):
                for size in ROWS:
                    base = 1000 / size if sign > 0 else size / 10
                    gap = sign * 5.0 + 0.1 * rng.random()
                    row = {"part": part, "nodes": nodes, "network": network, "rows": size}
                    row |= {"true_arcs": 20, "sensitivity": base if sign > 0 else 1000 / size}
                    for label, k in (("BDeu", 0), ("Min-BDeu", -1), ("Max-BDeu", 1), ("Empty", 2)):
                        row[label] = {
                            "accuracy": base + k * gap,
                            "accuracy_many": base - k * gap,
                            "mismatches": 20 - k * gap,
                            "n_arcs": 10 + k * gap,
                            "gap": 0.0,
                        }
                    yield row
    for network in range(n):
        for size in ROWS:
            for limit in (1, 6):
                found = {
                    "accuracy": 10 + sign * limit + 0.1 * rng.random(),
                    "n_arcs": 3,
                    "gap": 0.0,
                }
                row = {"part": "limits", "network": network, "rows": size, "limit": limit}
                yield {**row, "nodes": 20, "BDeu": found}


@pytest.mark.parametrize(("sign", "verdict"), [(1, YES), (-1, NO)])
def test_scanagatta2014(sign, verdict):
    names = [f"S{k}" for k in range(1, 9)]
    assert verdicts(scanagatta, list(learned(sign))) == dict.fromkeys(names, verdict)


def test_scanagatta2014_one_network_is_not_enough():
    rows = [row for row in learned(1, n=1) if row.get("nodes") == 20]
    assert set(verdicts(scanagatta, rows).values()) == {OPEN}


@pytest.mark.parametrize(("share", "verdict"), [(0.61, YES), (0.8, NO)])
def test_jensen2007_the_independence_of_figure_7_22(share, verdict):
    row = {"part": "independence", "rows": 100, "epsilon": 0.2, "block": 0}
    row |= {name: [0.9, share] for name in PRIORS}
    found = verdicts(jensen, [row])
    assert found["J6"] == verdict
    assert found["J3"] == OPEN


@pytest.mark.parametrize(("values", "verdict"), [([46, 46], YES), ([46, 45], NO)])
def test_jensen2007_the_size_of_exercise_7_7(values, verdict):
    assert verdicts(jensen, [{"part": "size of 7.3(c)", "sizes": values}])["J3"] == verdict


def measured(order):
    """Rows in which the scores predict in this order, one for each number of rows."""
    rng = np.random.default_rng(4)
    for unit in "abcdef":
        for n_train, first in zip((50, 500, 5000), order, strict=True):
            for score in EVERY_SCORE:
                place = first.index(score) if score in first else len(first)
                yield {
                    "part": "network",
                    "on": unit,
                    "rows": n_train,
                    "n_train": n_train,
                    "repetition": 0,
                    "score": score,
                    "loss": place + 0.01 * rng.random(),
                    "shd": -place + 0.01 * rng.random(),
                }


def test_everything():
    rows = list(measured([("BIC", "Min-BDeu"), ("qNML",), ("fNML",)]))
    assert verdicts(everything, rows) == dict.fromkeys(["E1", "E2", "E3", "E4"], YES)
    rows = list(measured([("LL", "AIC", "Max-BDeu", "BIC")] * 3))
    found = verdicts(everything, rows)
    assert (found["E1"], found["E2"]) == (NO, NO)
    assert verdicts(everything, [row for row in rows if row["n_train"] < 100])["E1"] == OPEN
