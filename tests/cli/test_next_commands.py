"""What `learn` proposes works when it is pasted: after a refusal, and after "next:"."""

import json
import re
import shlex
import warnings

import pytest

from bestdag.errors import DataWarning
from bestdag.examples import example
from tests.shared_data import shared_file

FEW = ["balance-scale.csv", "iris.csv", "wine.csv", "post-operative.csv", "lymphography.csv"]
OTHERS = [
    *("abalone.csv", "adult.csv.gz", "breast-cancer.csv", "breast-cancer-wisconsin.csv"),
    *("chess.csv", "diabetes.csv", "ecoli.csv", "glass.csv", "heart-cleveland.csv"),
    *("heart-hungarian.csv", "heart-statlog.csv", "hepatitis.csv", "letter.csv.gz", "liver.csv"),
    *("page-blocks.csv", "satimage.csv.gz", "shuttle.csv.gz", "soybean-large.csv"),
    *("thyroid.csv", "tic-tac-toe.csv", "vehicle.csv", "vote.csv", "yeast.csv"),
]
# What these commands may take here.
SHORT = {
    "learn": ["--time-limit", "1"],
    "bootstrap": ["--replicates", "2", "--time-limit", "1"],
    "query": [],
    "draw": [],
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Where what is proposed may write."""
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        yield tmp_path


def proposed(shown):
    """Return the commands after "next:", as a shell would split them."""
    lines = shown.out.splitlines()
    return [shlex.split(line) for line in lines[lines.index("next:") + 1 :]]


def in_short(words):
    """Return a command that was proposed, with a limit of time, as its arguments."""
    program, name, *rest = words
    assert program == "bestdag"
    return [name, *SHORT[name], *rest]


def walk(cli, *given):
    """Learn, follow what a refusal proposes, and run all that comes next."""
    shown = cli("learn", *SHORT["learn"], *given)
    words = ["learn", *SHORT["learn"], *given]
    for _ in range(3):
        if shown.code == 0:
            break
        assert shown.code == 2
        _, sign, command = shown.err.rstrip("\n").splitlines()[-1].partition("Try: ")
        assert sign, shown.err
        _, *words = shlex.split(command)
        shown = cli(*words)
    assert shown.code == 0, shown.err
    commands = proposed(shown)
    assert 1 <= len(commands) <= 3
    for command in commands:
        again = cli(*in_short(command))
        assert again.code == 0, (command, again.err)
    return words, commands


@pytest.mark.parametrize("name", FEW)
def test_every_command_proposed_for_a_table_works(cli, name):
    walk(cli, shared_file(f"uci/{name}"))


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_every_command_proposed_for_any_table_works(cli, name):
    walk(cli, shared_file(f"uci/{name}"))


def row(k):
    """A row whose missing values, numbers, identifier and weight want to be told about."""
    ill = "?" if k == 7 else "ab"[k % 2]
    return f"{k};{k * 0.37 % 5:.2f};{'yes' if k % 3 else 'no'};{ill};{1 + k % 2}"


ROWS = "\n".join(["id;dose;smoke;ill;n", *map(row, range(90))]) + "\n"
HEAD = "--separator ';' --drop id"
# What `learn` was told, and what `bootstrap` is told then.
TOLD = {
    "what the table is": (
        f"{HEAD} --drop=n --missing-value '?' --missing drop --discretize --max-states=60",
        f"{HEAD} --drop n --missing-value '?' --missing drop --discretize --max-states 60",
    ),
    "weights and bins": (
        "--separator=';' --drop id --weights n --bins 3 --missing state",
        f"{HEAD} --weights n --bins 3 --missing state",
    ),
    "a score and statements": (
        f"{HEAD} --discretize --score qnml --seed 3 --regret szpankowski --know 'dose -> ill' "
        "--max-parents 2 --search tabu --patience 9",
        f"{HEAD} --discretize --score qnml --regret szpankowski --know 'dose -> ill' "
        "--max-parents 2",
    ),
    "intervals for a class": (
        f"{HEAD} --discretize --target ill",
        f"{HEAD} --discretize --target ill",
    ),
    "a class that the search has": (
        f"{HEAD} --bins 3 --search tan --target ill",
        f"{HEAD} --bins 3",
    ),
    "where rows are": (
        f"{HEAD} --drop dose --no-collapse --rows-in disk",
        f"{HEAD} --drop dose --no-collapse --rows-in disk",
    ),
    "files": (
        f"{HEAD} --discretize --checkpoint run --require-optimal --report r.html --bootstrap 2 "
        "--force",
        f"{HEAD} --discretize",
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_bootstrap_is_told_what_the_table_is(cli, folder, name):
    given, kept = map(shlex.split, TOLD[name])
    (folder / "my table.csv").write_text(ROWS)
    words, commands = walk(cli, "my table.csv", *given)
    assert "my table.csv" in words
    (again,) = [command for command in commands if command[1] == "bootstrap"]
    assert again == ["bestdag", "bootstrap", "my table.csv", *kept]


def test_missing_cells_that_are_kept_have_no_bootstrap(cli, folder):
    (folder / "t.csv").write_text(ROWS)
    given = ["--separator", ";", "--drop", "id", "--bins", "2", "--missing-value", "?"]
    _, commands = walk(cli, "t.csv", *given, "--missing", "em")
    assert {command[1] for command in commands} == {"learn"}


def test_names_of_files_that_look_like_options_are_quoted(cli, folder):
    (folder / "-t.csv").write_text(ROWS.replace(";", ",").replace("?", "a"))
    shown = cli("learn", "--drop", "id", "--discretize", "-o", "./-net.json", "--", "-t.csv")
    assert shown.code == 0
    for _, *words in proposed(shown):
        assert cli(*words).code == 0, words


def test_a_time_for_a_proof_is_a_forecast_or_not_named(cli):
    # Its 32 columns are too many for a proof over all parent sets.
    shown = cli("learn", shared_file("uci/soybean-large.csv"), "--missing=state", "--time-limit=1s")
    assert shown.code == 0
    assert "would give a proof" not in shown.out
    assert "a proof may take" not in shown.out
    for words in proposed(shown):
        assert words.count("--time-limit") == ("learn" in words)
        assert "10" not in words


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lymphography", "hepatitis", "vehicle"])
def test_the_time_that_is_named_gives_a_proof(cli, name):
    path = shared_file(f"uci/{name}.csv")
    given = ["learn", path, "--discretize", "--missing=drop", "--threads=1", "--time-limit"]
    text = " ".join(cli(*given, "0.1").out.split())
    named = re.search(r"a time limit of (\d+) s would give a proof", text)
    if named is None:  # a fast machine, or one too slow for a forecast
        assert "optimum proved" in text or "had no time" in text
        return
    seconds = named[1]
    assert json.loads(cli(*given, seconds, "--json").out)["status"] == "optimum proved"


def test_numbers_taken_as_categories_are_offered_to_be_binned_first(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i % 25 / 2},{'xy'[i % 25 > 12]}\n" for i in range(200))
    (tmp_path / "t.csv").write_text("size,kind\n" + rows)
    shown = cli("learn", "t.csv").out.splitlines()
    assert shown[shown.index("next:") + 1] == "  bestdag learn t.csv --discretize"
    assert "t.csv --discretize --discretize" not in cli("learn", "t.csv", "--discretize").out


def test_nothing_is_proposed_where_there_is_nothing_to_learn(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a,b\n" + "x,u\ny,v\n" * 3)
    shown = cli("learn", "t.csv").out
    assert "next:" not in shown
    assert shown.startswith(("nothing to learn", "next to nothing to learn"))


@pytest.mark.parametrize(
    "command",
    [
        ["learn", "DATA"],
        ["tree", "DATA"],
        ["tan", "DATA", "--target", "lung"],
        ["bootstrap", "DATA"],
        ["posterior", "DATA"],
        ["score-table", "DATA", "-o", "-"],
        ["classify", "DATA", "--target", "lung"],
    ],
)
def test_commands_that_take_one_score_say_where_several_go(cli, command):
    words = [str(example("asia.csv")) if word == "DATA" else word for word in command]
    shown = cli(*words, "--score", "all")
    assert shown.code == 2
    assert "give one score; bestdag score and bestdag evaluate compare several" in shown.err
    assert shown.err.count("\n") == 1
