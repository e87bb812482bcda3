"""What a proof is about, as a value and in words."""

import pytest

from bestdag import Checkpoint, Dag, Knowledge, Scorer, learn, read
from bestdag.examples import example
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.search import SEARCHES, make_search
from bestdag.search.problem import Problem
from bestdag.search.result import Limits, SearchResult

ASIA = read(example("asia.csv"))


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({}, "all networks"),
        ({"max_parents": 0}, "all networks with at most 0 parents per variable"),
        ({"max_parents": 1}, "all networks with at most 1 parent per variable"),
        ({"support": 1.0}, "all networks with at least 1 row per table cell on average"),
        ({"support": 2.5}, "all networks with at least 2.5 rows per table cell on average"),
        (
            {"max_parents": 3, "support": 5},
            "all networks with at most 3 parents per variable and at least 5 rows per table cell "
            "on average",
        ),
        ({"has_statements": True}, "all networks that satisfy your constraints"),
        ({"has_skeleton": True}, "all networks within the skeleton"),
        (
            {"has_statements": True, "has_skeleton": True, "support": 5},
            "all networks that satisfy your constraints within the skeleton with at least 5 rows "
            "per table cell on average",
        ),
    ],
)
def test_words(limits, words):
    assert Limits(**limits).words() == words


def test_exceptions_are_those_of_the_structure_and_few_are_named():
    exempt = tuple((child, frozenset({"a"})) for child in "bcdef")
    dag = Dag(list("abcdef"), [("a", child) for child in "bcde"])
    found = SearchResult(
        dag=dag,
        score=0.0,
        status="local optimum",
        search="tan",
        seconds=0.0,
        limits=Limits(support=1, exempt=exempt),
        notes=("a note",),
    )
    said = "required, although fewer than 1 row per table cell: "
    assert found.remarks() == ("a note", f"{said}'b' given a; 'c' given a; 'd' given a; ...")


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("bound", [False, True])
def test_every_search_says_what_left_structures_out(search, bound):
    made = make_search(search, **({"target": "lung"} if search in ("tan", "naive_bayes") else {}))
    found = learn(ASIA, "bdeu", search=made, support=4, time_limit=30)
    assert found.limits == Limits(support=4)
    if search in ("tree", "tan", "naive_bayes"):  # none of them takes such limits
        return
    known = ["smoke -> lung"]
    found = learn(ASIA, "bdeu", search=made, max_parents=2, knowledge=known, support=0)
    assert found.limits == Limits(max_parents=2, has_statements=True)


def test_no_limit_is_none():
    assert Problem(Scorer(ASIA)).limits == Limits()
    assert Problem(Scorer(ASIA), max_parents=7).limits == Limits()
    assert Problem(Scorer(ASIA), max_parents=6).limits == Limits(max_parents=6)
    assert Problem(Scorer(ASIA), knowledge=Knowledge()).limits == Limits()
    table = build_score_table(Scorer(ASIA, support=5))
    assert Problem(table).limits == Limits()  # what the table was made with it does not say
    assert learn(table).is_among_listed


def test_a_list_of_structures_has_them_too():
    found = learn(ASIA, "bdeu", near_optimal=3, max_parents=2, knowledge=["smoke -> lung"])
    assert found.limits == Limits(max_parents=2, support=5, has_statements=True)


def test_a_resumed_run_has_the_limits_and_notes_of_the_first(tmp_path):
    given = {
        "score": "bdeu",
        "max_parents": 3,
        "knowledge": ["smoke -> lung", "skeleton: smoke lung | smoke bronc"],
        "support": 7,
    }
    checkpoint = Checkpoint(tmp_path / "run", resume=True)
    first = learn(ASIA, **given, checkpoint=checkpoint)
    again = learn(ASIA, **given, checkpoint=checkpoint)
    assert again.resumed_seconds > 0
    limits = Limits(max_parents=3, support=7, has_statements=True, has_skeleton=True)
    assert again.limits == first.limits == limits
    assert again.notes == first.notes
    assert again.data_notes == first.data_notes != ()
