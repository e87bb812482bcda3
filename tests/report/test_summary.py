"""The first lines of the page: the table, the main findings and how sure they are, in words."""

from dataclasses import replace

import pytest

from bestdag import Dag, learn, read
from bestdag.examples import example
from bestdag.incomplete import make_treatment
from bestdag.report.page import report_page
from bestdag.report.summary import TableRead, certainty, findings, table_in_words, title_of


@pytest.fixture(scope="module")
def result():
    return learn(example("asia.csv"), "bdeu", workers=1)


def test_the_table_is_named_with_what_was_done_to_its_columns():
    rows = {"age": [str(k) for k in range(40)], "ill": ["yes", "no", "", "no"] * 10}
    data = read(rows, missing="keep")
    table = TableRead("folder/people.csv", ("id", "name"))
    assert table_in_words(data, table, make_treatment("em")) == [
        "people.csv: 40 rows, 2 columns.",
        "Dropped columns: id, name.",
        "10 missing values in 1 column; missing values were estimated (EM).",
    ]
    assert title_of(Dag(data.names), table) == "people.csv: 2 variables, 0 arcs"
    assert title_of(Dag(data.names), TableRead()) == "bestdag report: 2 variables, 0 arcs"


def test_binned_columns_are_listed_up_to_six():
    from bestdag import discretize

    rows = {f"x{k}": [j + k / 10 for j in range(60)] for k in range(8)}
    said = table_in_words(
        discretize(rows, method="quantile", bins=3), TableRead(), make_treatment("error")
    )
    assert said == [
        "Table: 60 rows, 8 columns.",
        "Numeric columns binned: x0, x1, x2, x3, x4, x5 and 2 more.",
        "No missing values.",
    ]


@pytest.mark.parametrize(
    ("treatment", "said"),
    [
        ("drop", "Rows with missing values were dropped, if there were any."),
        ("state", "Missing values count as a category of their own, if there were any."),
        ("error", "No missing values."),
    ],
)
def test_what_was_done_about_missing_values(result, treatment, said):
    assert table_in_words(result.dataset, TableRead(), make_treatment(treatment))[-1] == said


def test_the_strongest_dependencies_come_first_whichever_way_they_point():
    arcs = [("thal", "disease"), ("disease", "vessels"), ("age", "bp"), ("disease", "sex")]
    losses = dict(zip(arcs, [75.0, 60.0, 20.0, 10.0], strict=True))
    dag = Dag(["age", "alone", "bp", "disease", "sex", "thal", "vessels"], arcs)
    assert findings(dag, losses, {arcs[0]}) == [
        "disease depends most on thal, vessels and sex.",
        "age depends most on bp.",
        "Direction determined for 1 of 4 arcs.",
        "Unconnected: alone.",
    ]


def test_each_variable_is_said_to_depend_on_others_once():
    arcs = [("hub", name) for name in "abcdefgh"]
    losses = {arc: 9.0 - k for k, arc in enumerate(arcs)}
    assert findings(Dag(["hub", *"abcdefgh"], arcs), losses, set()) == [
        "hub depends most on a, b and c.",
        "Direction determined for 0 of 8 arcs.",
    ]


def test_arcs_that_lower_the_score_are_no_finding():
    dag = Dag(["a", "b"], [("a", "b")])  # required by the user, say
    assert findings(dag, {("a", "b"): -3.0}, set()) == ["Direction determined for 0 of 1 arc."]


def test_without_arcs_there_is_nothing_that_depends():
    said = findings(Dag(["a", "b"]), {}, set())
    assert said == ["No dependencies found: by this score the variables are independent."]


def test_whether_it_is_proved_is_one_plain_sentence(result):
    best = "Proved: the best of all networks with"
    assert certainty(result) == f"{best} at least 5 rows per table cell on average."
    limited = learn(example("asia.csv"), "bdeu", max_parents=1, workers=1)
    assert certainty(limited).startswith(f"{best} at most 1 parent per variable and at least")
    for status, said in (
        ("local optimum", "Not proved: a good network, but a better one may exist."),
        ("time limit", "Not proved: the time limit ended the search; a better network may exist."),
        ("interrupted", "Stopped early (Ctrl-C): the best network so far, not proved best."),
    ):
        assert certainty(replace(result, status=status)) == said


def test_the_page_begins_with_these_lines_and_folds_the_rest(result):
    text = report_page(result, read=TableRead("my table.csv", ("id",)))
    head = text[text.index("<header>") : text.index("</header>")]
    lead, _, folded = head.partition("<details>")
    assert "<h1>my table.csv: 8 variables, 7 arcs</h1>" in lead
    assert "my table.csv: 2,000 rows, 8 columns. Dropped columns: id." in lead
    assert "depends most on" in lead
    assert f"<p>{certainty(result)}</p>" in lead
    assert f"{result.score:.6f}" not in lead
    assert f"{result.score:.6f}" in folded
    sections = text[text.index("</header>") :].split("<section ")[2:]
    assert len(sections) >= 6
    assert all(part.partition(">")[2].startswith("<details><summary><h2>") for part in sections)
