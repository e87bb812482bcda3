"""`bestdag learn --k-best`, `--per-class`, `--all-optimal`, `--collect-within`."""

import json
import math

from bestdag import NearOptimal, learn
from bestdag.examples import example

CSV = str(example("asia.csv"))
# Two variables whose best sets close a cycle; the file is what a pruned one looks like.
SCORES = "2\na 2\n-1 1 b\n-2 0\nb 2\n-1.5 1 a\n-4 0\n"


def test_json_has_the_structures(cli):
    shown = cli("learn", CSV, "--score", "bdeu", "--k-best", 4, "--json")
    assert shown.code == 0
    found = json.loads(shown.out)
    expected = learn(CSV, "bdeu", near_optimal=4).structures
    assert [one["score"] for one in found["structures"]] == [item.score for item in expected]
    assert found["structures"][0]["arcs"] == found["arcs"]
    assert found["structures_status"] == "complete"
    assert found["structures_proved"] == 4
    assert found["structures_bound"] == expected.rest
    factors = [one["bayes_factor"] for one in found["structures"]]
    assert factors[0] == 1.0
    assert factors == sorted(factors)


def test_classes_have_arcs_and_edges(cli):
    found = json.loads(
        cli("learn", CSV, "--score", "bdeu", "--k-best", 3, "--per-class", "--json").out
    )
    expected = learn(CSV, "bdeu", near_optimal=NearOptimal(k=3, per_class=True)).structures
    assert found["per_class"]
    for one, item in zip(found["structures"], expected, strict=True):
        assert one["arcs"] == [list(arc) for arc in item.cpdag.arcs]
        assert one["edges"] == [list(edge) for edge in item.cpdag.edges]
        assert one["member"] == [list(arc) for arc in item.dag.arcs]


def test_no_list_where_none_was_asked_for(cli):
    assert "structures" not in json.loads(cli("learn", CSV, "--json").out)


def test_people_read_what_is_different(cli):
    shown = cli("learn", CSV, "--score", "bdeu", "--collect-within", 2.0)
    assert shown.code == 0
    lines = shown.out.splitlines()
    expected = learn(CSV, "bdeu", near_optimal=NearOptimal(within=2.0)).structures
    assert expected.summary() in lines
    (header,) = [line for line in lines if "drop in log score  Bayes factor" in line]
    first = lines.index(header) + 1
    rows = lines[first : lines.index("", first)]
    assert len(rows) == len(expected)
    assert rows[0].split()[:3] == ["1", "0.000000", "1"]
    assert rows[0].endswith("the best")
    second = math.exp(expected[0].score - expected[1].score)
    assert rows[1].split()[2] == f"{second:.4g}"
    assert "with " in rows[1]


def test_a_file_of_local_scores(cli, tmp_path):
    path = tmp_path / "s.jkl"
    path.write_text(SCORES)
    found = json.loads(cli("learn", "--from-scores", path, "--k-best", 9, "--json").out)
    assert [one["score"] for one in found["structures"]] == [-3.5, -5.0, -6.0]
    assert found["structures_bound"] is None
    assert "bayes_factor" not in found["structures"][0]


def test_refusals_name_options(cli):
    shown = cli("learn", CSV, "--score", "k2", "--k-best", 2, "--per-class")
    assert shown.code == 2
    assert "pass --no-per-class" in shown.err
    shown = cli("learn", CSV, "--per-class")
    assert shown.code == 2
    assert "--per-class is for --k-best" in shown.err
    shown = cli("learn", CSV, "--all-optimal", "--collect-within", 1)
    assert shown.code == 2
    assert "--all-optimal and --collect-within" in shown.err
    shown = cli("learn", CSV, "--k-best", 2, "--search", "tabu")
    assert shown.code == 2
    assert "pass --search exact" in shown.err
    shown = cli("learn", CSV, "--collect-within", -1)
    assert shown.code == 2
    assert "--collect-within must be" in shown.err


def test_a_list_that_is_not_complete_is_not_what_was_required(cli):
    arguments = ("learn", CSV, "--k-best", 10**7, "--require-optimal", "--time-limit", 1)
    assert cli(*arguments).code == 1
