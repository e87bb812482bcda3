"""SQL is run where it is named, and only to select; texts name files."""

import pickle
import shutil

import duckdb
import pytest

from bestdag import learn, read, scan, sql
from bestdag.cli.main import run
from bestdag.errors import DataError, InvalidParameterError
from bestdag.examples import example


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(example("asia.csv"), "asia.csv")
    return tmp_path


QUERY = "SELECT smoke, lung FROM read_csv('asia.csv', all_varchar = true)"


@pytest.mark.parametrize(
    "query",
    [
        QUERY,
        f"  {QUERY} ;  ",
        f"{QUERY} -- and nothing else",
        f"({QUERY})",
        "FROM read_csv('asia.csv', all_varchar = true) SELECT smoke, lung",
        f"WITH part AS ({QUERY}) SELECT * FROM part",
    ],
)
def test_a_query_is_a_table(folder, query):
    expected = read("asia.csv", columns=["smoke", "lung"])
    assert read(sql(query)) == expected
    assert scan(sql(query)) == expected
    assert learn(sql(query)).dataset == expected
    assert read(pickle.loads(pickle.dumps(sql(query)))) == expected


def test_a_query_may_ask_a_connection(folder):
    with duckdb.connect() as con:
        con.execute("CREATE TABLE t AS SELECT i % 2 AS a, i % 3 AS b FROM range(6) r(i)")
        assert read(sql("SELECT b FROM t", con)).variable("b").states == ("0", "1", "2")


WRITES = {
    "COPY": "COPY (SELECT 1 AS a) TO 'made'",
    "ATTACH": "ATTACH 'made'",
    "LOAD": "INSTALL httpfs",
    "CREATE": "CREATE TABLE made AS SELECT 1 AS a",
    "INSERT": "WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a",
    "EXPORT": "EXPORT DATABASE 'made'",
    "EXPLAIN": "EXPLAIN ANALYZE COPY (SELECT 1 AS a) TO 'made'",
    "SET": "SET threads = 1",
    "SELECT and COPY": "SELECT 1; COPY (SELECT 1 AS a) TO 'made'",
    "SELECT and SELECT": "SELECT 1; SELECT 2",
    "none": ";",
}


@pytest.mark.parametrize("kind", WRITES)
def test_whatever_does_not_select_is_refused_and_not_run(folder, capsys, kind):
    message = r"^sql: one statement that selects is needed \(SELECT, FROM or WITH\), got " + kind
    with pytest.raises(DataError, match=message):
        sql(WRITES[kind])
    assert run(["info", "--sql", WRITES[kind]]) == 2
    assert f"got {kind} in" in capsys.readouterr().err
    assert sorted(path.name for path in folder.iterdir()) == ["asia.csv"]


@pytest.mark.parametrize("query", ["SELECT 1) AS a, (SELECT 2", "SELECT FROM WHERE", "SELECT 1 /*"])
def test_what_is_no_sql_is_refused_in_one_line(query):
    with pytest.raises(DataError, match=r"^sql: .* cannot be parsed: [^\n]*$"):
        sql(query)


@pytest.mark.parametrize("query", [None, "", "  ", 3, b"SELECT 1"])
def test_a_query_is_text(query):
    with pytest.raises(InvalidParameterError, match=r"^sql: a query is needed as text, got"):
        sql(query)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM 'asia.csv'",
        "from 'asia.csv' select 1",
        "WITH a AS (SELECT 1) SELECT * FROM a",
        " (select 1)",
        "COPY (SELECT 1 AS a) TO 'made.csv'",
    ],
)
@pytest.mark.parametrize("take", [read, scan, learn])
def test_a_text_is_a_file_name_whatever_it_begins_with(folder, text, take):
    with pytest.raises(DataError, match=r"^read: there is no file ") as error:
        take(text)
    assert ("give it as sql(...)" in str(error.value)) == (not text.startswith("COPY"))
    assert not (folder / "made.csv").exists()


def test_a_file_whose_name_looks_like_a_query_is_read(folder):
    shutil.copy("asia.csv", "select from.csv")
    assert read("select from.csv") == read("asia.csv")


def test_queries_on_the_command_line(folder, capsys):
    assert run(["learn", QUERY]) == 2
    assert "if it is a query, pass --sql" in capsys.readouterr().err
    assert run(["learn", "--sql", QUERY, "--json"]) == 0
    with_sql = capsys.readouterr().out
    assert f'"score": {learn(sql(QUERY)).score}' in with_sql
    for command in (["info"], ["tree"], ["pc"], ["bootstrap", "--replicates", "2"], ["evaluate"]):
        assert run([*command, "--sql", QUERY, "--quiet"]) == 0, capsys.readouterr().err
    assert run(["discretize", "--sql", QUERY, "--method", "quantile", "-o", "cut.csv"]) == 0
    assert read("cut.csv") == read(sql(QUERY))
    assert run(["learn", "asia.csv", "-o", "net.bif", "--search", "tree"]) == 0
    everything = "FROM read_csv('asia.csv', all_varchar = true)"
    assert run(["score", "--sql", everything, "net.bif"]) == 0
    assert run(["predict", "net.bif", everything, "--target", "lung", "--sql", "-o", "p.csv"]) == 0
