"""The table of what a scan does and refuses, in the guide, is what a scan does and refuses."""

import pickle
from pathlib import Path

import pytest

import bestdag
from bestdag.cli.main import run
from bestdag.errors import BestdagError

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "rows-beyond-memory.md"
HEADING = "## What a scan does, and what it refuses"
NUMBERS = "x,y\n" + "".join(f"{i % 7}.5,{i % 2}\n" for i in range(60))
TABLE = "a,b,c\n" + "".join(f"{i % 2},{i // 2 % 2},{i % 3}\n" for i in range(24))


def documented():
    """What is asked for, and what the page says about it."""
    lines = PAGE.read_text().split(HEADING)[1].split("\n## ")[0].splitlines()
    cells = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]
    return dict(cells[2:])


def a_dag(rows):
    return bestdag.Dag(rows.names, [("a", "b")])


# By the first words of each line.
ASKED = {
    "`names`": [
        lambda r: (r.names, r.variables, r.arities, r.missing_counts, r.total_weight),
    ],
    "`codes(name)`": [lambda r: r.codes("a")],
    "`select(columns)`": [
        lambda r: r.select(["a", "b"]),
        lambda r: r.drop("c"),
        lambda r: r.select(rows=slice(3, 9)),
    ],
    "`select(rows=...)`": [
        lambda r: r.select(rows=[1, 5]),
        lambda r: r.split(0.5),
        lambda r: r.with_states({"a": ("1", "0")}),
        lambda r: r.missing("a"),
    ],
    "`==`": [lambda r: r == r.select(["a", "b", "c"]), hash],
    "scores": [
        lambda r: bestdag.Scorer(r, "bdeu").total(a_dag(r)),
        lambda r: bestdag.learn(r, "bic", search="hill_climb"),
        lambda r: bestdag.fit_network(a_dag(r), r),
    ],
    "`to_pandas`": [
        lambda r: r.to_pandas(),
        lambda r: r.to_polars(),
        lambda r: r.to_arrow(),
        lambda r: r.to_csv("t.csv"),
    ],
    "EM": [
        lambda r: bestdag.run_em(a_dag(r), r),
        lambda r: bestdag.learn(r, "bic", missing="em"),
    ],
    "pickling": [pickle.dumps],
    "cutting": [],  # see below
    "PC": [
        lambda r: bestdag.learn(r, "bic", search="exact"),
        bestdag.pc,
    ],
    "bootstrap": [
        lambda r: bestdag.bootstrap(r, "bic", replicates=2),
        lambda r: bestdag.cross_validate(r, "bic", k=2),
        lambda r: bestdag.evaluate_network(bestdag.fit_network(a_dag(r), r), r),
    ],
    "`bestdag predict`": [],  # see below
}


@pytest.fixture(scope="module")
def scanned(tmp_path_factory):
    """A complete table, and one with a missing value."""
    folder = tmp_path_factory.mktemp("table")
    for name, more in (("complete.csv", ""), ("missing.csv", ",1,2\n")):
        (folder / name).write_text(TABLE + more)
    complete = bestdag.scan(folder / "complete.csv")
    return complete, bestdag.scan(folder / "missing.csv", missing="keep")


def test_every_line_of_the_table_is_tried():
    for line in documented():
        assert sum(line.startswith(begin) for begin in ASKED) == 1, line
    assert len(documented()) == len(ASKED)


@pytest.mark.parametrize("begin", [begin for begin, tries in ASKED.items() if tries])
def test_a_scan_refuses_what_the_table_says_and_nothing_else(scanned, begin):
    rows = scanned[begin == "EM"]
    (says,) = [says for line, says in documented().items() if line.startswith(begin)]
    for ask in ASKED[begin]:
        if says.startswith("refused"):
            with pytest.raises(BestdagError) as error:
                ask(rows)
            assert "\n" not in str(error.value)
        else:
            assert ask(rows) is not None


def test_numbers_are_not_cut_by_a_scan(tmp_path, capsys):
    data, cuts = tmp_path / "numbers.csv", tmp_path / "cuts.json"
    data.write_text(NUMBERS)
    made = ["--save-cut-points", str(cuts), "-o", str(tmp_path / "cut.csv")]
    assert run(["discretize", str(data), "--method", "quantile", *made]) == 0
    assert run(["learn", str(data), "--cut-points", str(cuts)]) == 0
    capsys.readouterr()
    assert run(["learn", str(data), "--cut-points", str(cuts), "--rows-in", "disk"]) == 2
    assert "--cut-points bins numeric columns in memory" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["predict", "impute", "classify", "discretize"])
def test_commands_that_read_into_memory_have_no_rows_in(command, capsys):
    arguments = ["x.csv", "--target", "y"] if command == "classify" else []
    assert run([command, *arguments, "--rows-in", "disk"]) == 2
    assert "--rows-in" in capsys.readouterr().err
