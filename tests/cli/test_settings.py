"""Settings are declared once, on their classes: the command line offers every one of them."""

import json

import click
import pytest

from bestdag.cli.fit import command as fit
from bestdag.cli.learn import command as learn
from bestdag.cli.options import parse_choice
from bestdag.examples import example
from bestdag.parameters import ESTIMATORS
from bestdag.registry import settings_of
from bestdag.scores import SCORES
from bestdag.search import SEARCHES
from bestdag.wording import as_option

CSV = str(example("asia.csv"))


def options(command):
    return {name for parameter in command.params for name in parameter.opts}


@pytest.mark.parametrize(
    ("command", "listed"), [(learn, SCORES), (learn, SEARCHES), (fit, ESTIMATORS)]
)
def test_every_setting_has_a_help_text_and_an_option(command, listed):
    for entry in listed.values():
        for one in settings_of(entry):
            assert one.help.endswith((".", "]")), (entry, one.name)
            assert as_option(one.name) in options(command)


def test_no_option_of_a_score_is_one_of_a_search():
    names = [
        {one.name for entry in listed.values() for one in settings_of(entry)}
        for listed in (SCORES, SEARCHES)
    ]
    assert not names[0] & names[1]


def test_help_names_every_search_and_every_default(cli):
    text = " ".join(cli("learn", "--help").out.split())
    assert f"One of {', '.join(SEARCHES)}." in text
    assert "--ess FLOAT bde, bdeu, min_bdeu, max_bdeu: Equivalent sample size. [default: 1.0]" in (
        text
    )
    # One name, two meanings: both are said.
    assert "tabu: Number of moves without improvement before stopping. [default: 100]" in text
    assert "order: Number of rounds without improvement before stopping. [default: 20]" in text


def test_parameters_take_settings(cli, tmp_path):
    files = [tmp_path / "one.json", tmp_path / "ten.json"]
    for file, parameters in zip(files, ["dirichlet,ess=1", "dirichlet, ess = 10"], strict=True):
        shown = cli("learn", CSV, "--score", "bic", "-o", file, "--parameters", parameters)
        assert shown.code == 0, shown.err
    assert files[0].read_text() != files[1].read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dirichlet,ess", "must be a setting and its value"),
        ("mle,ess=1", "ess does not belong to the parameters mle"),
        ("dirichlet,ess=x", "'x' is not a valid float"),
    ],
)
def test_wrong_settings_of_parameters(text, message):
    with pytest.raises(click.UsageError, match=message):
        parse_choice(text, ESTIMATORS, "parameters")


def test_pseudo_counts_come_from_a_file(cli, tmp_path):
    # Two columns, a -> b: with these tables, as with the pseudo-count 2 in every cell.
    data = tmp_path / "data.csv"
    data.write_text("a,b\n0,0\n0,1\n1,1\n1,1\n0,0\n")
    tables = tmp_path / "tables.json"
    families = [("a", []), ("b", []), ("b", ["a"]), ("a", ["b"])]
    tables.write_text(
        json.dumps(
            [
                {"child": child, "parents": parents, "counts": [[2, 2]] * (1 + len(parents))}
                for child, parents in families
            ]
        )
    )
    scores = [
        json.loads(cli("learn", data, "--score", "bd", *given, "--json").out)["score"]
        for given in (["--tables", tables], ["--pseudo-count", 2])
    ]
    assert scores[0] == pytest.approx(scores[1], rel=1e-12)


@pytest.mark.parametrize(
    ("content", "message"),
    [("[", "must be a JSON list"), ('[{"child": "a"}]', "must be a JSON list"), ("5", "JSON list")],
)
def test_a_wrong_file_of_pseudo_counts_is_one_line(cli, tmp_path, content, message):
    file = tmp_path / "tables.json"
    file.write_text(content)
    shown = cli("learn", CSV, "--score", "bd", "--tables", file)
    assert (shown.code, shown.err.count("\n")) == (2, 1)
    assert message in shown.err
