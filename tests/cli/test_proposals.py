"""What `learn` proposes instead of a refusal: it names what to leave out and why, and it works."""

import random
import shlex

import pytest

from bestdag import Network
from tests.contracts.test_every_message import click_commands
from tests.shared_data import shared_file

N = 120


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def to(name, header, *columns, separator=","):
        rows = (separator.join(map(str, row)) for row in zip(*columns, strict=True))
        (tmp_path / name).write_text("\n".join([header, *rows]) + "\n")
        return name

    return to


def column(*values, seed=0):
    return random.Random(seed).choices(values, k=N)


def proposed(cli, *arguments):
    """Return the words of the command that a refusal ends with, which must work."""
    refused = cli(*arguments)
    assert refused.code == 2, refused.err
    said, _, command = refused.err.splitlines()[-1].partition(". Try: ")
    program, *words = shlex.split(command)
    assert program == "bestdag"
    done = cli(*words)
    assert done.code == 0, done.err
    return said, words[len(arguments) :], done


A, B = column("x", "y"), column("u", "v", seed=1)
IDENTIFIERS = {
    "row numbers": list(range(1, N + 1)),
    "customer numbers": random.Random(2).sample(range(1000, 2000), N),
    "long codes with repeats": column(*range(1_000_000, 1_000_100)),
    "of 10^18": [10**18 + k for k in random.Random(3).sample(range(10**6), N)],
    "of 10^18 next to each other": [10**18 + k for k in range(N)],
    "of 10^30": [10**30 + k for k in range(N)],
}


@pytest.mark.parametrize("kind", IDENTIFIERS)
def test_identifiers_are_left_out_with_the_reason(cli, write, kind):
    said, more, _ = proposed(cli, "learn", write("t.csv", "id,a,b", IDENTIFIERS[kind], A, B))
    n = len(set(IDENTIFIERS[kind]))
    reason = f"an identifier or a weight: {n} different whole numbers in {N} rows"
    assert said.endswith(f"; leave out 'id' ({reason})")
    assert more == ["--drop", "id"]


QUANTITIES = {
    "decimals that all differ": [k / 7 for k in range(N)],
    "incomes": random.Random(4).sample(range(20_000, 90_000), N),
    "cholesterol": [int(random.Random(k).gauss(240, 50)) for k in range(N)],
    "long numbers that repeat": column(*range(1_000_000, 60_000_000, 1_000_000)),
}


@pytest.mark.parametrize("kind", QUANTITIES)
def test_quantities_are_cut(cli, write, kind):
    said, more, _ = proposed(cli, "learn", write("t.csv", "q,a,b", QUANTITIES[kind], A, B))
    assert "leave out 'q'" not in said
    assert more == ["--discretize"]


@pytest.mark.parametrize(
    ("table", "left_out"),
    [
        ("breast-cancer-wisconsin.csv", ["sample_code"]),
        ("adult.csv.gz", ["fnlwgt"]),
        ("glass.csv", ["id"]),
        ("wine.csv", []),
        ("hepatitis.csv", []),
        ("heart-hungarian.csv", []),
        ("page-blocks.csv", []),
    ],
)
def test_the_rule_on_uci_tables(cli, table, left_out):
    refused = cli("learn", shared_file(f"uci/{table}"))
    words = shlex.split(refused.err.partition(". Try: ")[2])
    dropped = [words[i + 1] for i, word in enumerate(words) if word == "--drop"]
    assert dropped == left_out, refused.err


def test_all_marks_of_missing_values_are_named_at_once(cli, write):
    table = write("t.csv", "a,b,c", column("x", "y", "NA"), column("u", "v", "?"), column("p", ""))
    _, more, done = proposed(cli, "learn", table)
    assert more[:-1] == ["--missing-value", "NA", "--missing-value", "?", "--missing"]
    assert "as states" not in done.err
    values = [*random.Random(5).choices(range(90), k=N - 2), "NA", "NA"]
    _, more, done = proposed(cli, "learn", write("n.csv", "n,a,b", values, A, column("u", "-")))
    assert more[:5] == ["--missing-value", "NA", "--missing-value", "-", "--discretize"]
    assert "as states" not in done.err


def test_a_row_index_is_left_out(cli, write):
    said, more, _ = proposed(cli, "learn", write("t.csv", ",a,b", range(N), A, B))
    assert said.endswith("; leave out '' (a row index without a name)")
    assert more == ["--drop", ""]
    assert cli("info", "t.csv", "--drop", "").code == 0


@pytest.mark.parametrize(
    ("texts", "separator", "options"),
    [
        ([f'"${1000 + 13 * k:,}"' for k in range(N)], ",", []),
        ([f"{k},{k % 10}" for k in range(N)], ";", ["--separator", ";"]),
        ([f"{k}%" for k in range(N)], "\t", ["--separator", "tab"]),
    ],
)
def test_written_numbers_are_read_by_a_query(cli, write, texts, separator, options):
    table = write("t.csv", separator.join(["price", "a", "b"]), texts, A, B, separator=separator)
    refused = cli("learn", table, *options, "-o", "net.json")
    said, _, command = refused.err.partition(". Try: ")
    assert said.endswith(
        f"holds numbers written as '{texts[0].strip(chr(34))}'; write them plainly"
    )
    done = cli(*shlex.split(command)[1:])
    assert done.code == 0, done.err
    assert Network.load("net.json").variable("price").arity == 5


def test_a_table_that_is_parted_by_blanks_is_not_one_column(cli, write):
    table = write("t.txt", "a  b", A, B, separator="   ")
    refused = cli("learn", table)
    assert (refused.code, "pass --separator space" in refused.err) == (2, True)
    assert "2 columns of 2 states" in cli("learn", table, "--separator", "space").out


def test_numbers_that_may_mark_missing_values_are_asked_about_where_they_are_cut(cli, write):
    table = write("t.csv", "n,a,b", [*range(N - 1), 9999], A, B)
    _, more, done = proposed(cli, "learn", table)
    assert more == ["--discretize"]
    assert "column 'n' has 1 '9999', far from the other numbers" in done.err
    assert done.err.endswith("pass --missing-value 9999\n")
    assert "has 1 '9999', far from" in cli("classify", table, "--target", "a").err
    told = cli("learn", table, *more, "--missing-value", "9999", "--missing", "drop")
    assert (told.code, "far from" in told.err) == (0, False)


def test_every_command_that_reads_a_table_is_told_how(cli):
    options = {
        name: {one for parameter in command.params for one in parameter.opts}
        for name, command in click_commands().items()
    }
    reading = {name for name in options if "--separator" in options[name]}
    assert {"learn", "info", "predict"} <= reading
    for name in reading:
        assert {"--encoding", "--sql", "--sheet"} <= options[name], name
