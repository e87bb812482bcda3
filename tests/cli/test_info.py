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
    (either,) = [v for v in result["variables"] if v["name"] == "either"]
    assert either == {
        "name": "either",
        "states": ["no", "yes"],
        "parents": ["lung", "tub"],
        "table_cells": 8,
        "table_bytes": 64,
    }
    # Three pairs and three triples, as in any good tree of the chest clinic.
    tree = result["junction_tree"]
    assert (tree["treewidth"], tree["cliques"], tree["cells"]) == (2, 6, 40)


def test_shows_what_score_would_refuse(cli, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,x\n" + "".join(f"{i},{'a' if i % 2 else ''}\n" for i in range(60)))
    shown = cli("info", path)
    assert shown.code == 0
    assert (
        "too many distinct values (> 50); drop or bin them, or raise --max-states: id" in shown.out
    )
    variables = json.loads(cli("info", path, "--json").out)["variables"]
    assert variables[1] == {"name": "x", "states": ["a"], "missing": 30}


def test_columns_that_cannot_be_variables_are_described(cli, tmp_path):
    # Every tenth of 74,000 cells is empty: 66,600 different values are left, more than 65,535.
    path = tmp_path / "t.csv"
    rows = (
        f"{'' if i % 10 == 0 else i / 8},k{i},,{'ab'[i % 2]},{'' if i % 10 == 0 else f'n{i}'}\n"
        for i in range(74_000)
    )
    path.write_text("number,key,empty,plain,name\n" + "".join(rows))
    shown = cli("info", path)
    assert shown.code == 0
    words = {line.split()[0]: line.split()[1:] for line in shown.out.splitlines() if line}
    assert words["number"] == [
        "more",
        "than",
        "65,535",
        "7,400",
        "numbers",
        "from",
        "0.125",
        "to",
        "9249.875",
    ]
    assert words["key"] == ["more", "than", "65,535", "0", "texts"]
    assert words["name"] == ["more", "than", "65,535", "7,400", "texts"]
    assert words["empty"] == ["0", "74,000"]
    assert words["plain"] == ["2", "0", "a,", "b"]
    assert "bin or --drop them: number, key, empty, name" in shown.out
    assert json.loads(cli("info", path, "--json").out)["variables"] == [
        {"name": "number", "states": None, "range": [0.125, 9249.875], "missing": 7400},
        {"name": "key", "states": None, "missing": 0},
        {"name": "empty", "states": [], "missing": 74_000},
        {"name": "plain", "states": ["a", "b"], "missing": 0},
        {"name": "name", "states": None, "missing": 7400},
    ]


def test_a_table_of_nothing_but_empty_cells_is_described(cli, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n,\n,\n")
    assert json.loads(cli("info", path, "--json").out)["variables"] == [
        {"name": "x", "states": [], "missing": 2},
        {"name": "y", "states": [], "missing": 2},
    ]


def test_missing_file_is_one_line(cli):
    shown = cli("info", "nowhere.csv")
    assert shown.code == 2
    assert shown.err.count("\n") == 1


def test_shows_a_table_as_it_would_be_cut(cli, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("dose,ill\n" + "".join(f"{k / 7:.3f},{'ab'[k > 9]}\n" for k in range(20)))
    states = {
        v["name"]: v["states"] for v in json.loads(cli("info", path, "--json").out)["variables"]
    }
    assert len(states["dose"]) == 20
    shown = json.loads(cli("info", path, "--bins", "2", "--json").out)
    assert shown["variables"][0]["states"] == ["<=1.3575", ">1.3575"]
    assert "too many distinct values (> 15)" in cli("info", path, "--max-states", "15").out


def test_shows_what_is_left_when_missing_cells_are_treated(cli, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\nx,u\n,v\ny,u\ny,v\n")
    assert json.loads(cli("info", path, "--json").out)["rows"] == 4
    assert json.loads(cli("info", path, "--missing", "drop", "--json").out)["rows"] == 3
    shown = json.loads(cli("info", path, "--missing", "state", "--json").out)
    assert shown["variables"][0]["states"] == ["x", "y", "missing"]
    assert cli("info", path, "--missing", "error").code == 2
    assert "leave out --rows-in disk" in cli("info", path, "--rows-in", "disk").err
