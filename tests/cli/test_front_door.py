"""`bestdag learn data.csv` alone: what was read, the network, what next, and what is accepted."""

import json
import shlex

import numpy as np
import pytest

from bestdag import Dag, Network, discretize, learn, read
from bestdag.cli.structures import structure_lines
from bestdag.examples import example


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a few tables, from where commands run."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    n = 240
    ill = rng.random(n) < 0.5
    age = np.where(ill, rng.normal(60, 9, n), rng.normal(45, 9, n)).round(1)
    smoke = np.where(rng.random(n) < 0.3 + 0.4 * ill, "yes", "no")
    columns = {
        "id": [str(k + 1) for k in range(n)],
        "who's": [f"p{k}" for k in range(n)],
        "age": [str(a) for a in age],
        "smoke": list(smoke),
        "gone": ["xy"[k % 2] if k % 4 else "" for k in range(n)],
        "few": ["xy"[k % 8 // 4] if k % 4 == 0 else "" for k in range(n)],
        "empty": [""] * n,
        "ill": ["yes" if i else "no" for i in ill],
    }

    def write(name, *chosen):
        rows = zip(*(columns[c] for c in chosen), strict=True)
        lines = [",".join(chosen), *(",".join(row) for row in rows)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        return name

    return write


def commands_in(shown):
    """Return the commands after "next:", as a shell would split them."""
    lines = shown.out.splitlines()
    return [shlex.split(line) for line in lines[lines.index("next:") + 1 :]]


def test_says_what_was_read_the_network_its_strengths_and_settings(cli):
    shown = cli("learn", example("asia.csv")).out
    lines = shown.splitlines()
    assert lines[0].endswith("asia.csv: 2,000 rows, 8 columns of 2 states; no missing values")
    result = learn(example("asia.csv"))
    assert f"\nlog score {result.score:.6f} (qnml with sparse prior, 2,000 rows)\n" in shown
    losses = result.arc_losses()
    assert f"dysp    <- bronc {losses['bronc', 'dysp']:.3g}, either" in shown
    # The class leaves open which way the arc between smoke and bronc points.
    assert f"{losses['bronc', 'smoke']:.3g}~" in shown
    assert "unconnected: asia" in lines


@pytest.mark.filterwarnings("ignore::bestdag.DataWarning")
@pytest.mark.parametrize(
    "arguments",
    [
        ["t.csv"],
        ["t.csv", "-o", "my net.json"],
        ["t.csv", "--time-limit", "1e-9", "-o", "net.bif"],
        ["t.csv", "--discretize", "--report", "r.html", "--score", "bic"],
    ],
)
def test_the_next_commands_work_when_pasted(cli, here, arguments):
    here("t.csv", "age" if "--discretize" in arguments else "smoke", "ill")
    commands = commands_in(cli("learn", *arguments))
    assert 1 <= len(commands) <= 3
    for program, *words in commands:
        assert program == "bestdag"
        shown = cli(*words)
        assert (shown.code, shown.err) == (0, "")


REFUSED = {
    "missing values": ("smoke", "gone", "ill"),
    "many missing values": ("smoke", "few", "ill"),
    "decimals": ("age", "smoke", "ill"),
    "a row number": ("id", "smoke", "ill"),
    "names": ("who's", "smoke", "ill"),
    "no values": ("smoke", "empty", "ill"),
    "all of it": ("id", "who's", "age", "smoke", "gone", "empty", "ill"),
}


@pytest.mark.filterwarnings("ignore::bestdag.DataWarning")
@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("options", [[], ["--score", "bic", "--missing", "drop"]])
def test_a_refusal_ends_with_a_command_that_is_accepted(cli, here, name, options):
    table = here("a table.csv", *REFUSED[name])
    shown = cli("learn", table, *options)
    if shown.code == 0:  # rows with missing values were dropped
        assert name == "missing values"
        return
    assert (shown.code, shown.err.count("\n")) == (2, 1)
    program, *words = shlex.split(shown.err.partition(". Try: ")[2])
    assert [program, *words[: 2 + len(options)]] == ["bestdag", "learn", table, *options]
    again = cli(*words)
    assert again.code == 0, again.err


def test_what_cannot_be_helped_by_options_is_refused_as_it_is(cli, here):
    here("t.csv", "id", "who's")
    shown = cli("learn", "t.csv")
    assert shown.code == 2
    assert "Try:" not in shown.err


def test_discretize_in_one_go_is_said_and_stored_with_the_network(cli, here):
    table = here("t.csv", "age", "smoke", "ill")
    shown = cli("learn", table, "--discretize", "-o", "net.json")
    assert "numeric columns binned into up to 5 quantiles: age" in shown.out
    expected = discretize(table, method="quantile", bins=5)
    network = Network.load("net.json")
    assert network.variable("age") == expected.variable("age")
    assert network.log_loss(table) == network.log_loss(expected)
    said = "numeric columns binned at the cut points of net.json: age"
    assert said in cli("score", table, "net.json").out
    assert said in cli("fit", table, "net.json", "-o", "again.json").out
    found = json.loads(cli("learn", table, "--bins", 3, "--json").out)
    cuts = discretize(table, method="quantile", bins=3).variable("age").cuts
    assert found["data"]["cuts"] == {"age": list(cuts)}
    assert found["settings"]["discretize"] == {"method": "quantile", "bins": 3}


def test_with_a_target_the_cuts_tell_its_classes_apart(cli, here):
    table = here("t.csv", "age", "smoke", "ill")
    cuts = list(discretize(table, target="ill").variable("age").cuts)
    for arguments in (["learn"], ["learn", "--search", "tan"], ["tan"]):
        command, *more = arguments
        found = json.loads(
            cli(command, table, *more, "--discretize", "--target", "ill", "--json").out
        )
        assert found["data"]["cuts"]["age"] == cuts
        assert found["settings"]["discretize"]["method"] == "fayyad_irani"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--discretize", "--cut-points", "c.json"], "leave out --discretize"),
        (["--bins", "3", "--cut-points", "c.json"], "leave out --bins"),
        (["--target", "ill"], "bestdag classify t.csv --target ill"),
        (["--bins", "3", "--target", "ill"], "bestdag classify t.csv --target ill"),
        (["--search", "mmhc"], "--search hill_climb and --skeleton pc"),
        (["--search", "tabo"], "did you mean 'tabu'"),
        (["--discretize", "--target", "il"], "did you mean 'ill'"),
    ],
)
def test_settings_that_do_not_go_together_are_one_line(cli, here, arguments, expected):
    shown = cli("learn", here("t.csv", "age", "smoke", "ill"), *arguments)
    assert (shown.code, shown.err.count("\n")) == (2, 1)
    assert expected in shown.err


def test_lines_are_no_wider_than_the_terminal(cli, here, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    table = here("t.csv", "age", "smoke", "ill")
    lines = cli("learn", table, "--search", "hill_climb", "--discretize").out.splitlines()
    assert max(map(len, lines[: lines.index("next:")])) <= 40
    assert "\x1b" not in "".join(lines)


def test_of_a_large_network_the_strongest_arcs_are_shown_and_the_others_counted():
    names = [f"v{k:03}" for k in range(400)]
    dag = Dag(names, [(names[k], names[k + d]) for k in range(380) for d in (1, 7, 19)][:1000])
    losses = {arc: float(k) for k, arc in enumerate(dag.arcs)}
    lines = list(structure_lines(dag, losses, 60, compelled=dag.cpdag().arcs))
    assert max(map(len, lines)) <= 60
    assert len(lines) < 60
    assert any("999" in line for line in lines)
    assert any("960 more; -o FILE writes all of them" in line for line in lines)


def test_missing_cells_have_expected_strengths(cli, here):
    table = here("t.csv", "smoke", "gone", "ill")
    shown = json.loads(cli("learn", table, "--missing", "em", "--score", "bic", "--json").out)
    result = learn(read(table, missing="keep"), "bic", missing="em")
    scorer = result.scorer()
    assert shown["data"]["missing"] == {"gone": 60}
    for (parent, child), lost in zip(shown["arcs"], shown["score_lost"], strict=True):
        without = [p for p in result.dag.parents(child) if p != parent]
        difference = scorer.family(child, result.dag.parents(child)) - scorer.family(child, without)
        assert lost == pytest.approx(difference, rel=1e-9)
