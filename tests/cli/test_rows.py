"""--rows-in, --cache and --collapse: the same answer wherever the rows are."""

import json

import pytest

from bestdag.examples import example

NET, TABLE = str(example("asia.bif")), str(example("asia.csv"))


@pytest.fixture
def parts(cli, tmp_path):
    folder = tmp_path / "rows"
    assert cli("sample", NET, "-n", "3000", "--part-rows", "800", "-o", folder).code == 0
    return folder


def answer(shown):
    assert shown.code == 0, shown.err
    found = json.loads(shown.out)
    return found["score"], found["arcs"], found["data"]["rows"]


def test_learn_answers_the_same_from_memory_disk_cache_and_collapsed_rows(cli, parts, tmp_path):
    given = ("learn", parts, "--score", "bic", "--search", "hill_climb", "--json")
    plain = answer(cli(*given, "--rows-in", "memory"))
    assert plain[2] == 3000
    on_disk = (*given, "--rows-in", "disk", "--cache", tmp_path / "codes")
    for shown in (cli(*on_disk), cli(*on_disk), cli(*given, "--memory-limit", "1GB")):
        assert answer(shown) == plain
    assert len(list((tmp_path / "codes").iterdir())) == 1
    collapsed = cli(*given, "--collapse")
    score, *others = answer(collapsed)
    assert (score, others) == (pytest.approx(plain[0], rel=1e-12), list(plain[1:]))
    data = json.loads(collapsed.out)["data"]
    assert data["different_rows"] < 256
    assert data["total_weight"] == 3000
    assert "3,000 rows, 47 distinct" in cli(*given[:-1], "--collapse").out


@pytest.mark.parametrize("command", [("score", NET, "--score", "bic"), ("fit", NET, "-o", "n.bif")])
def test_other_commands_take_rows_on_disk(cli, parts, monkeypatch, tmp_path, command):
    monkeypatch.chdir(tmp_path)
    name, net, *more = command
    given = (name, parts, net, *more, "--json")
    plain = cli(*given)
    again = ("--force",) if name == "fit" else ()
    assert cli(*given, "--rows-in", "disk", *again).out == plain.out
    collapsed = cli(*given, "--collapse", *again)
    assert "3,000 rows, 47 distinct" in collapsed.err


def test_what_does_not_go_together_is_refused_in_a_line(cli, parts, tmp_path):
    holes = tmp_path / "holes.csv"
    holes.write_text("a,b\n" + "x,\ny,u\nx,v\n" * 5)
    for more, says in (
        (("--rows-in", "memory", "--cache", tmp_path), "--cache is for rows on disk"),
        (("--rows-in", "disk", "--discretize"), "--discretize bins numeric columns in memory"),
        (("--rows-in", "disk", "--missing", "em"), "EM: the rows of a scan stay on disk"),
        (("--rows-in", "disk", "--cache", ""), "--cache must name a folder"),
    ):
        shown = cli("learn", holes if "em" in more else parts, *more)
        assert (shown.code, shown.out) == (2, "")
        assert says in shown.err
        assert shown.err.count("\n") == 1 or "Usage" in shown.err
