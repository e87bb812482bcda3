"""`bestdag info`: tables and networks, also those that other commands refuse."""

import json

from bestdag.examples import example


def test_table(cli):
    shown = cli("info", example("asia.csv"))
    assert shown.code == 0
    assert "2,000 rows, 8 columns" in shown.out
    assert "dysp" in shown.out


def test_network_as_json(cli):
    result = json.loads(cli("info", example("asia.bif"), "--json").out)
    assert (result["nodes"], result["arcs"], result["parameters"]) == (8, 8, 18)
    assert {"name": "either", "states": ["no", "yes"], "parents": ["lung", "tub"]} in result[
        "variables"
    ]


def test_shows_what_score_would_refuse(cli, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,x\n" + "".join(f"{i},{'a' if i % 2 else ''}\n" for i in range(60)))
    shown = cli("info", path)
    assert shown.code == 0
    assert "refused unless --max-states is raised: id" in shown.out
    variables = json.loads(cli("info", path, "--json").out)["variables"]
    assert variables[1] == {"name": "x", "states": ["a"], "missing": 30}


def test_missing_file_is_one_line(cli):
    shown = cli("info", "nowhere.csv")
    assert shown.code == 2
    assert shown.err.count("\n") == 1
