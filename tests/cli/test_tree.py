"""`bestdag tree` and `bestdag tan`: the one JSON shape, weights, exit codes."""

import csv
import json

import pytest

from bestdag import TAN, ChowLiu, learn
from bestdag.examples import example

CSV = str(example("asia.csv"))
KEYS = [
    "search", "engine", "score_name", "status", "among", "limits", "advice", "score", "bound",
    "gap", "gap_per_row", "empty_score", "proved", "ladder",
    "seconds", "resumed_seconds", "rows_in", "passes", "peak_bytes",
        "workers", "variables", "arcs", "compelled", "score_lost", "notes", "data",
        "settings",
]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "search"),
    [
        (["tree"], ChowLiu()),
        (["tree", "--root", "smoke", "--forest"], ChowLiu(root="smoke", forest=True)),
        (["tan", "--target", "dysp"], TAN(target="dysp")),
        (["tan", "--target", "dysp", "--root", "lung"], TAN(target="dysp", root="lung")),
    ],
)
def test_json_has_the_one_shape_of_structures(cli, arguments, search):
    shown = cli(*arguments, CSV, "--score", "fnml", "--json")
    result = json.loads(shown.out)
    expected = learn(CSV, "fnml", search=search)
    assert (shown.code, list(result)) == (0, KEYS)
    assert (result["search"], result["score_name"]) == (search.name, "fnml")
    assert (result["status"], result["bound"]) == ("local optimum", None)
    assert result["among"] == {"tree": "trees", "tan": "tan"}[search.name]
    assert result["score"] == expected.score
    assert [tuple(arc) for arc in result["arcs"]] == list(expected.dag.arcs)
    assert result["notes"] == list(expected.notes) != []
    assert result["settings"].items() >= expected.settings.items()


def test_table_for_people_says_what_it_is_the_best_of(cli):
    shown = cli("tan", CSV, "--target", "dysp", "--score", "bdeu", "--ess", "2")
    assert shown.out.splitlines()[1].startswith(
        "best of all TAN networks with class 'dysp' (tan search, "
    )
    assert shown.out.count("best of all") == 1
    assert "local optimum" not in shown.out
    assert "(bdeu --ess 2.0, 2,000 rows)" in shown.out


@pytest.mark.parametrize(
    ("arguments", "search"),
    [
        (["--search", "tree", "--root", "lung", "--forest", "yes"], "tree"),
        (["--search", "tan", "--target", "lung"], "tan"),
        (["--search", "naive-bayes", "--target", "lung"], "naive_bayes"),
    ],
)
def test_learn_reaches_them_too(cli, arguments, search):
    result = json.loads(cli("learn", CSV, *arguments, "--json").out)
    assert result["search"] == search
    assert "lung" not in {child for _, child in result["arcs"]}


def test_only_searches_for_trees_are_among_something(cli):
    for name, among in [("tree", "trees"), ("hill_climb", None), ("exact", None)]:
        result = json.loads(cli("learn", CSV, "--search", name, "--json").out)
        assert result["among"] == among


def test_a_tree_that_a_limit_cut_short_is_not_called_the_best(cli):
    shown = cli("tree", CSV, "--time-limit", "1e-9")
    assert shown.out.splitlines()[1].startswith("best network found within the time limit (tree ")
    assert "over the pairs scored so far" in shown.out


def test_knowledge_and_limits(cli):
    arguments = ["--know", "xray -> smoke", "--max-parents", "1", "--time-limit", "60", "--json"]
    result = json.loads(cli("tree", CSV, *arguments).out)
    assert ["xray", "smoke"] in result["arcs"]
    assert result["settings"]["max_parents"] == 1
    assert result["settings"]["time_limit"] == 60


def test_weights_are_written_as_csv(cli, tmp_path):
    path = tmp_path / "weights.csv"
    assert cli("tan", CSV, "--target", "dysp", "--edge-weights", path).code == 0
    weights = learn(CSV, search=TAN(target="dysp")).weights
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 7 * 6
    assert all(float(row["weight"]) == weights.weight(row["parent"], row["child"]) for row in rows)
    refused = cli("tree", CSV, "--edge-weights", path)
    assert (refused.code, "exists already" in refused.err) == (2, True)
    assert cli("tree", CSV, "--edge-weights", path, "--force").code == 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["tan", CSV], "--target"),
        (["tan", CSV, "--target", "dyps"], "did you mean 'dysp'"),
        (["tree", CSV, "--root", "smok"], "did you mean 'smoke'"),
        (["tree", CSV, "--score", "nlm"], "unknown score"),
        (["tree", CSV, "--know", "asia -> dysp", "--know", "xray -> dysp"], "required parents"),
        (["tan", CSV, "--target", "dysp", "--know", "asia -> dysp"], "asia -> dysp"),
        (["tan", CSV, "--target", "dysp", "--max-parents", "0"], "--max-parents 0 leaves no room"),
        (["tree", CSV, "--edge-weights", "-"], "needs a file"),
        (["learn", CSV, "--search", "tan"], "target must be"),
        (["learn", CSV, "--target", "dysp"], "--target dysp: the search auto learns"),
    ],
)
def test_wrong_input_is_one_line_and_code_2(cli, arguments, expected):
    shown = cli(*arguments)
    assert shown.code == 2
    assert expected in shown.err
    assert shown.err.count("\n") == 1
