"""`bestdag learn`: the best structure, the one JSON shape, exit codes."""

import json

import pytest

from bestdag import learn
from bestdag.examples import example

CSV = str(example("asia.csv"))
SCORES = "3\na 2\n-1 1 b\n-2 0\nb 2\n-1.5 1 a\n-4 0\nc 1\n-1 0\n"


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "s.jkl"
    path.write_text(SCORES)
    return path


def test_json_has_the_one_shape_of_structures(cli):
    result = json.loads(cli("learn", CSV, "--score", "bic", "--json").out)
    assert list(result) == [
        "search", "engine", "score_name", "status", "score", "bound", "gap", "seconds",
        "variables", "arcs", "settings",
    ]  # fmt: skip
    expected = learn(CSV, "bic")
    assert result["status"] == "optimum proved"
    assert result["score"] == expected.found.score
    assert [tuple(arc) for arc in result["arcs"]] == list(expected.dag.arcs)
    assert result["gap"] == 0.0


def test_from_a_file_of_scores(cli, scores):
    for engine in ("dp", "bnc", "auto"):
        result = json.loads(cli("learn", "--from-scores", scores, "--engine", engine, "--json").out)
        assert (result["score"], result["score_name"]) == (-4.5, None)
        assert result["arcs"] == [["a", "b"]]


def test_knowledge_from_statements_and_files(cli, tmp_path):
    path = tmp_path / "k.toml"
    path.write_text('forbidden_arcs = [["bronc", "dysp"]]\n')
    arguments = ["--knowledge", path, "--know", "xray -> smoke", "--max-parents", "2"]
    arcs = json.loads(cli("learn", CSV, *arguments, "--json").out)["arcs"]
    assert ["xray", "smoke"] in arcs
    assert ["bronc", "dysp"] not in arcs


def test_table_for_people(cli):
    shown = cli("learn", CSV)
    assert "optimum proved" in shown.out
    assert "natural logarithm" in shown.out


def test_require_optimal_exits_1_without_a_proof(cli):
    shown = cli("learn", CSV, "--time-limit", "0.000001", "--require-optimal", "--json")
    assert json.loads(shown.out)["status"] == "time limit"
    assert shown.code == 1
    assert cli("learn", CSV, "--require-optimal").code == 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "either DATA or --from-scores"),
        ([CSV, "--from-scores", CSV], "either DATA or --from-scores"),
        ([CSV, "--search", "exakt"], "did you mean 'exact'"),
        ([CSV, "--engine", "gpu"], "engine must be one of"),
        ([CSV, "--know", "smoke -> nobody"], "nobody"),
        ([CSV, "--know", "smoke => lung"], "smoke => lung"),
        ([CSV, "--time-limit", "-1"], "time_limit"),
        ([CSV, "--max-parents", "-1"], "--max-parents"),
        (["--from-scores", "no.jkl"], "no.jkl"),
    ],
)
def test_wrong_input_is_one_line_and_code_2(cli, arguments, expected):
    shown = cli("learn", *arguments)
    assert shown.code == 2
    assert expected in shown.err
    assert shown.err.count("\n") == 1
