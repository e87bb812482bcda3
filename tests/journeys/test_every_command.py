"""Every command with every kind of file: the answer is that for the CSV, or for the BIF."""

import json
import re

import click
import pytest

import bestdag as bd
from bestdag.cli.main import COMMANDS, cli, run
from bestdag.network.formats import FORMATS
from tests.journeys.ways_in import DATA, FILES

# What a command is told beside its files; OUT is a file to write.
TABLE_COMMANDS = {
    "bootstrap": ["TABLE", "--replicates", "2"],
    "classify": ["TABLE", "--target", "wet", "--cv", "2"],
    "classify --test": ["rows.csv", "--test", "TABLE", "--target", "wet"],
    "discretize": ["TABLE", "-o", "OUT.csv"],
    "evaluate": ["TABLE", "--cv", "2", "--search", "exact", "--score", "bic"],
    "fit": ["TABLE", "net.bif", "-o", "OUT.bif"],
    "impute": ["TABLE", "net.bif", "-o", "OUT.csv"],
    "info": ["TABLE"],
    "learn": ["TABLE", "-o", "OUT.bif"],
    "learn --report": ["TABLE", "--report", "OUT.html"],
    "pc": ["TABLE"],
    "posterior": ["TABLE"],
    "predict": ["TABLE", "net.bif", "--target", "wet", "-o", "OUT.csv"],
    "score": ["TABLE", "net.bif"],
    "score-table": ["TABLE", "-o", "OUT.jkl"],
    "tan": ["TABLE", "--target", "wet"],
    "tree": ["TABLE"],
    "verify": ["proof.json", "TABLE"],
}
NETWORK_COMMANDS = {
    "compare": ["net.bif", "NETWORK"],
    "convert": ["NETWORK", "OUT.bif"],
    "draw": ["NETWORK", "-o", "OUT.svg"],
    "explain": ["NETWORK", "--given", "rain=yes"],
    "fit": ["rows.csv", "NETWORK", "-o", "OUT.bif"],
    "impute": ["rows.csv", "NETWORK", "-o", "OUT.csv"],
    "info": ["NETWORK"],
    "predict": ["rows.csv", "NETWORK", "--target", "wet", "-o", "OUT.csv"],
    "query": ["NETWORK", "wet", "--given", "rain=yes"],
    "sample": ["NETWORK", "-n", "20", "-o", "OUT.csv"],
    "score": ["rows.csv", "NETWORK"],
}
NO_FILE = {"random"}
TABLES = [name for name in FILES if name != "rows.csv"]
NETWORKS = [f"net{suffix}{gz}" for suffix in FORMATS for gz in ("", ".gz")]


@pytest.fixture(scope="module")
def files(folder):
    """Add the networks and a certificate to the folder with the tables."""
    bd.learn(DATA).certificate().save(folder / "proof.json")
    network = bd.fit_network(bd.Dag(DATA.names, [("rain", "wet")]), DATA)
    for name in NETWORKS:
        network.save(folder / name)
    return folder


def _without_clock(value):
    if isinstance(value, dict):
        return {
            key: _without_clock(inner)
            for key, inner in value.items()
            if "seconds" not in key and key != "peak_bytes"
        }
    return [_without_clock(inner) for inner in value] if isinstance(value, list) else value


@pytest.fixture
def answer(files, tmp_path, monkeypatch, capsys):
    """Run a command; return what it shows and writes, without seconds and the name of the file."""
    monkeypatch.chdir(files)

    def of(command, file):
        is_table = file in FILES
        arguments = (TABLE_COMMANDS if is_table else NETWORK_COMMANDS)[command]
        place = "TABLE" if is_table else "NETWORK"
        name = command.partition(" ")[0]
        words = [file if word == place else word for word in arguments]
        words = [word.replace("OUT", str(tmp_path / "out")) for word in words]
        code = run([name, *words, *(["--json"] if "--json" in _options(name) else [])])
        shown = capsys.readouterr()
        assert (code, shown.err) == (0, "")
        out = shown.out.replace(file, "FILE").replace(str(tmp_path), "OUT")
        if "--json" in _options(name):
            out = _without_clock(json.loads(out))
        written = {path.name: path.read_text() for path in sorted(tmp_path.iterdir())}
        if command == "learn":  # a network is called as the file of its table, if it is one
            written["out.bif"] = re.sub(r"^network .*", "network", written["out.bif"])
        for name in written:
            (tmp_path / name).unlink()
        if "out.html" in written:  # it tells the time
            written["out.html"] = re.findall(r"<svg.*?</svg>", written["out.html"], re.DOTALL)[0]
        return out, written

    return of


def _options(name):
    return {option for parameter in _command(name).params for option in parameter.opts}


def _command(name):
    return cli.get_command(click.Context(cli), name)


def _names(commands):
    return {command.partition(" ")[0] for command in commands}


def test_every_command_is_on_the_list_of_the_files_it_takes():
    reading = {name for name in COMMANDS if "--separator" in _options(name)}
    assert reading == _names(TABLE_COMMANDS)
    assert set(COMMANDS) == _names(TABLE_COMMANDS) | _names(NETWORK_COMMANDS) | NO_FILE


@pytest.fixture(scope="module")
def remembered():
    return {}


# Their road is that of another kind after the first line.
SHARED_ROAD = {"rows.txt", "rows.tsv.gz", "rows.ndjson.gz", "rows.zip"}


@pytest.mark.parametrize(
    ("command", "file"),
    [
        (command, file)
        for command in TABLE_COMMANDS
        for file in TABLES
        if file not in SHARED_ROAD or command in ("info", "learn", "predict", "classify")
    ],
)
def test_a_table_gives_the_same_from_every_file(command, file, answer, remembered):
    if command not in remembered:
        remembered[command] = answer(command, "rows.csv")
    assert answer(command, file) == remembered[command]


@pytest.mark.parametrize("file", NETWORKS)
@pytest.mark.parametrize("command", NETWORK_COMMANDS)
def test_a_network_gives_the_same_from_every_file(command, file, answer, remembered):
    network = f"{command} on a network"
    if network not in remembered:
        remembered[network] = answer(command, "net.bif")
    assert answer(command, file) == remembered[network]
