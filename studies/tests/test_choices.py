"""What a paper leaves open, run both ways: which verdicts change, and what is said of it."""

import numpy as np
import pytest
from scipy.stats import ttest_ind

from bestdag.graph.dag import Dag
from studies.claims import AS_ABOVE, Claim, difference_interval, verdict_table
from studies.everything.claims import SCORES
from studies.everything.tables import sections as everything
from studies.scanagatta2014.claims import FRESH, OTHER_TABLES
from studies.scanagatta2014.tables import choices as scanagatta
from studies.silander2018 import member_of_class
from studies.silander2018.claims import APPROXIMATE, DRAWN
from studies.silander2018.tables import choices as silander2018
from studies.tests.test_verdicts import learned, measured, parts, samples

YES, NO = "holds", "does not hold"


def named(sections):
    return {one.title: one for one in sections}


def claim(name, verdict):
    return Claim(name, "", "", verdict, "", "")


def test_the_verdicts_that_change_are_said_in_a_sentence():
    first, other = [claim("A1", YES), claim("A2", NO)], [claim("A1", YES), claim("A2", YES)]
    table = verdict_table({AS_ABOVE: first, "this": first}, "Note.")
    assert table.note == "Note. No verdict changes."
    table = verdict_table({AS_ABOVE: first, "that": other})
    assert table.rows == [[AS_ABOVE, YES, NO], ["that", YES, YES]]
    assert table.note == "Verdicts that change: A2 with that (does not hold: holds)."


def test_the_interval_of_a_difference_is_welchs():
    one, other = [1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0]
    found = difference_interval(one, other)
    low, high = ttest_ind(one, other, equal_var=False).confidence_interval(0.95)
    assert (found.value, found.n) == (-1.5, 3)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_scanagatta2014_says_what_fresh_rows_change():
    as_the_paper, against_it = (
        [row for row in learned(sign) if row["part"] == "random" and row["nodes"] == 20]
        for sign in (1, -1)
    )
    for row in (*as_the_paper, *against_it):
        for entry in ("BDeu", "Min-BDeu", "Max-BDeu"):
            row[entry]["accuracy_bdeu"] = row[entry]["accuracy"]
    rows = [
        *as_the_paper,
        *({**row, "part": OTHER_TABLES} for row in as_the_paper),
        *({**row, "part": FRESH} for row in against_it),
    ]
    found = named(scanagatta(rows))
    changed = found["Verdicts with fresh rows and with other tables"]
    assert [row[0] for row in changed.rows] == [AS_ABOVE, FRESH, OTHER_TABLES]
    assert "S1 with fresh rows (holds: does not hold)" in changed.note
    assert OTHER_TABLES not in changed.note
    apart = found["How much the choices matter: 20 nodes, up to 80 rows"].rows
    by_choice = {(row[0], row[1]): row for row in apart}
    assert by_choice[FRESH, "S1"][-1].startswith("-10")  # from 5 to -5
    assert by_choice[OTHER_TABLES, "S1"][-1].startswith("0 (0 to 0")


def test_scanagatta2014_judges_without_what_is_not_proved():
    rows = [row for row in learned(1) if row["part"] != "known"]
    rows[0]["BDeu"]["gap"] = 2.0
    for row in rows:
        for entry in row.values():
            if isinstance(entry, dict):
                entry["accuracy_bdeu"] = entry["accuracy"]
    table = named(scanagatta(rows))[
        "Verdicts with BDeu's parameters, and without what is not proved"
    ]
    assert table.note.startswith(f"{len(rows) - 1:,} of {len(rows):,} trials have all optima")


def test_silander2018_says_what_drawn_tables_change():
    def with_approximation(row):
        return {**row, "shd": {**row["shd"], APPROXIMATE: row["shd"]["qNML"]}}

    published = list(map(with_approximation, samples(lambda size: (2.0, 3.0, 4.0, 1.0))))
    drawn = list(map(with_approximation, samples(lambda size: (1.0, 3.0, 2.0, 4.0), n=6)))
    first, second = DRAWN
    rows = [
        *published,
        *({**row, "part": "drawn tables", "tables": first} for row in published),
        *({**row, "part": "drawn tables", "tables": second} for row in drawn),
    ]
    found = named(silander2018(rows))
    note = found["Verdicts by the parameters of the five networks"].note
    assert f"Q1 with tables from {second} (holds: does not hold)" in note
    assert f"tables from {first}" not in note
    title = "How much the parameters of the five networks matter: ranks of SHD above 300 rows"
    apart = [row for row in found[title].rows if row[1].startswith("minus")]
    assert apart[0][-1].startswith("0 (")
    assert apart[1][-1].startswith("3 (")  # qNML is fourth instead of first


def test_silander2018_compares_members_on_the_same_permutations():
    def losses(number, permutation):
        return (4.0, 3.0, 1.0, 2.0)

    rows = list(parts(losses, (5, 5, 5, 5)))
    for row in rows:
        row["losses"][APPROXIMATE] = row["losses"]["qNML"]
    few = [row for row in rows if row["permutation"] < 2]
    turned = [{**row, "losses": {**row["losses"], "qNML": 0.5}} for row in few]
    rows += [{**row, "part": "other members"} for row in turned]
    found = named(silander2018(rows))
    table = found["How much the member of the class matters: mean predictive ranks"]
    assert [row[-1].split(" ")[0] for row in table.rows] == ["2", "1", "-1", "1.5", "1.5"]
    assert "Q5 with a random member (holds: does not hold)" in (
        found["Verdicts by the member of the class"].note
    )


def test_a_member_is_one_of_its_class_and_not_always_the_same():
    dag = Dag(list("abcde"), [("a", "b"), ("b", "c"), ("d", "c"), ("c", "e")])
    rng = np.random.default_rng(0)
    drawn = [member_of_class(dag, rng) for _ in range(20)]
    assert all(dag.is_equivalent(one) for one in drawn)
    assert {one.has_arc("a", "b") for one in drawn} == {True, False}


def test_everything_names_the_best_and_counts_what_the_clock_ended():
    order = ("BIC", *(score for score in SCORES if score != "BIC"))
    rows = [
        {**row, "arcs": 3, "parameters": 7, "gap": 0.0, "timing": {"seconds": 0.1}}
        for row in measured([order, ("qNML",), ("fNML",)])
    ]
    rows[0]["gap"], rows[1]["gap"] = 2.5, None
    found = named(everything(rows))
    best = {(row[0], row[1]): row[3:] for row in found["Which score when"].rows}
    few = best["held-out log loss, samples of networks", "up to 100 rows"]
    assert few[0].startswith("BIC (1.0; 0 %)")
    assert few[1] == "none"
    assert few[2].startswith("qNML (13.0; ")
    some = best["held-out log loss, samples of networks", "101 to 1,000 rows"]
    assert some[0].startswith("qNML (1.0; 0 %)")
    assert "(" in some[1]  # six samples do not tell all the others from it
    [stopped] = found["Searches that the clock ended"].rows
    assert stopped == ["a (network)", "39", "2", "1", "2.5", "2.5", "LL, AIC"]
    assert found["Searches that the clock ended"].note.startswith("2 of 234 searches.")
    sizes = {row[0]: row for row in found["Sizes of networks, and time to proof"].rows}
    assert sizes["LL"][5:7] == ["17", "1"]
    assert "Verdicts without what is not proved" in found
