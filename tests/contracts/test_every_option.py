"""Every numeric option of every command: it works, or one line names it and says what is needed."""

import re
from dataclasses import fields
from functools import cache

import click
import pytest

from bestdag.cli.main import run
from bestdag.graph.generators import GENERATORS
from bestdag.independence import TESTS
from bestdag.learning import learn
from bestdag.scores import SCORES
from bestdag.search import SEARCHES
from tests.contracts.test_every_message import click_commands, python_words

VALUES = ["0", "-1", "99999999999999999999", "1e308", "1e400", "nan", "inf", "text", ""]

TABLE = "a,b,c,w\n" + "0,1,0,1.5\n1,1,1,2\n0,0,0,1\n1,0,1,2.5\n0,1,1,1\n1,1,0,1.25\n" * 2
NET = """network n {}
variable a { type discrete [ 2 ] { 0, 1 }; }
variable b { type discrete [ 2 ] { 0, 1 }; }
variable c { type discrete [ 2 ] { 0, 1 }; }
probability ( a ) { table 0.5, 0.5; }
probability ( b | a ) { (0) 0.25, 0.75; (1) 0.5, 0.5; }
probability ( c ) { table 0.5, 0.5; }
"""

# What a command cannot do without; a file that it reads is there, one that it writes is not.
NEEDED = {
    "bootstrap": ["t.csv", "--drop", "w", "--replicates", "2"],
    "classify": ["t.csv", "--target", "a"],
    "discretize": ["t.csv", "--method", "quantile", "-o", "out.csv"],
    "draw": ["net.bif", "-o", "out.png"],
    "evaluate": ["t.csv", "--drop", "w", "--search", "hill_climb", "--cv", "2"],
    "explain": ["net.bif"],
    "fit": ["t.csv", "net.bif", "--ignore-extra", "-o", "out.bif"],
    "impute": ["t.csv", "net.bif", "--ignore-extra", "--method", "draw", "-o", "out.csv"],
    "info": ["t.csv"],
    "learn": ["t.csv", "--drop", "w", "-o", "out.bif"],
    "pc": ["t.csv", "--drop", "w"],
    "posterior": ["t.csv", "--drop", "w", "--method", "chains", "--steps", "50"],
    "predict": ["net.bif", "t.csv", "--target", "a"],
    "query": ["net.bif", "--method", "sampling"],
    "random": ["-o", "out.bif"],
    "sample": ["net.bif"],
    "score": ["t.csv", "net.bif", "--ignore-extra"],
    "score-table": ["t.csv", "--drop", "w", "-o", "out.jkl"],
    "tan": ["t.csv", "--target", "a", "--drop", "w"],
    "tree": ["t.csv", "--drop", "w"],
    "verify": ["proof.json", "t.csv", "--drop", "w"],
}
# What an option needs beside it to mean something.
BESIDE = {
    "--certificate-of": ["--certificate", "out.json"],
    "--kappa": ["--structure-prior", "net.bif"],
    "--perturb": ["--restarts", "1"],
}


def owners(listed, setting):
    return [name for name, entry in listed.items() if setting in {f.name for f in fields(entry)}]


def numeric_options():
    """List (command, option, what is given beside it), for each search and score that has it."""
    found = []
    for name, command in click_commands().items():
        for option in command.params:
            number = click.types.IntParamType | click.types.FloatParamType
            if not isinstance(option, click.Option) or not isinstance(option.type, number):
                continue
            flag = option.opts[-1]
            beside = BESIDE.get(flag, []) if name not in ("tan", "tree") else []
            has = {one for other in command.params for one in other.opts}
            scores = owners(SCORES, option.name) if "--score" in has and name != "fit" else []
            searches = owners(SEARCHES, option.name) if name == "learn" else []
            if name == "learn" and not (scores or searches):
                beside = [*beside, "--search", "exact"]
            if name == "classify" and flag == "--max-parents":
                beside = ["--classifier", "network", "--search", "hill_climb"]
            ways = [["--search", search] for search in searches]
            ways += [["--score", score] for score in scores]
            if name == "pc":
                ways = [["--test", test] for test in owners(TESTS, option.name)]
            found += [(name, flag, (*beside, *way)) for way in ways or [[]]]
            if name == "sample" and flag != "-n":
                found[-1] = (name, flag, ("-n", "3"))
            if name == "random" and flag != "-n":
                chosen = owners(GENERATORS, option.name) or ["markov_chain"]
                found[-1:] = [(name, flag, ("-n", "3", "--generator", one)) for one in chosen]
    return found


EVERY = numeric_options()
# A setting of a score is checked by the score: all values are tried where it comes first.
FEWER = ["nan", "text"]
_FIRST = {}
for _name, _flag, _beside in EVERY:
    _FIRST.setdefault((_flag, _beside), _name)


def values_of(name, flag, beside):
    """List the values to try for an option of a command."""
    is_of_a_score = "--score" in beside
    return VALUES if not is_of_a_score or _FIRST[flag, beside] == name else FEWER


@cache
def certificate():
    rows = [line.split(",")[:3] for line in TABLE.split()]
    columns = zip(*rows, strict=True)
    return learn({name: list(column) for name, *column in columns}).certificate()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text(TABLE)
    certificate().save(tmp_path / "proof.json")
    (tmp_path / "net.bif").write_text(NET)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_options_were_found():
    assert {name for name, _, _ in EVERY} == set(NEEDED)
    assert ("sample", "-n", ()) in EVERY
    assert ("learn", "--initial-temperature", ("--search", "annealing")) in EVERY
    assert ("score", "--epsilon", ("--score", "min_bdeu")) in EVERY
    assert ("fit", "--pseudo-count", ()) in EVERY


@pytest.mark.parametrize(("name", "flag", "beside"), EVERY, ids=lambda part: str(part))
def test_works_or_is_refused_by_name(name, flag, beside, folder, capsys):
    for value in values_of(name, flag, beside):
        for written in folder.glob("out.*"):
            written.unlink()
        arguments = [name, *NEEDED[name], *beside, flag, value]
        code = run(arguments)
        shown = capsys.readouterr()
        lines = [line for line in shown.err.splitlines() if ": warning: " not in line]
        if code == 0:
            assert lines == [], arguments
            assert shown.out, arguments
            continue
        assert code in (1, 2), arguments
        (line,) = lines
        assert line.startswith("bestdag"), arguments
        assert len(line) < 400, arguments
        assert flag in re.findall(r"-[-a-z]+", line.partition("(see ")[0]), (arguments, line)
        assert python_words(line) == [], (arguments, line)
        assert not list(folder.glob("out.*")), arguments
