"""scan: rows on disk are the rows that `read` gives; caches, refusals, and nothing left behind."""

import json
import os
import pickle
import resource
import shutil
import signal
import subprocess
import sys
import warnings

import duckdb
import numpy as np
import pytest

import bestdag
from bestdag import Dataset, InvalidParameterError, Scan, read, scan, sql
from bestdag.data.readers import match, read_rows
from bestdag.errors import DataError, DataWarning, NotEnoughMemoryError, WriteError
from bestdag.machine import memory_limit
from tests.signals import GUARD

ROWS = {
    "colour": ["red", "blue", None, "red", "blue", "red", "green", "red"],
    "size": [10, 9, 10, 10, 9, 10, 9, 10],
    "is_new": [True, True, False, True, True, True, None, True],
    "n": [1, 2, 3, 1, 2, 1, 5, 4],
}


@pytest.fixture
def parts(tmp_path):
    """A folder of Parquet parts: 8 rows in two files."""
    folder = tmp_path / "rows"
    folder.mkdir()
    con = duckdb.connect()
    con.execute("CREATE TABLE t(colour VARCHAR, size INTEGER, is_new BOOLEAN, n INTEGER)")
    con.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", list(zip(*ROWS.values(), strict=True)))
    con.execute(f"COPY (FROM t LIMIT 5) TO '{folder / 'part-0.parquet'}'")
    con.execute(f"COPY (FROM t LIMIT 3 OFFSET 5) TO '{folder / 'part-1.parquet'}'")
    return folder


@pytest.fixture(autouse=True)
def empty_temporary_folder(tmp_path, monkeypatch):
    """Nothing is left in the folder for temporary files."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    yield
    assert os.listdir(place) == []


@pytest.mark.parametrize(
    "settings",
    [
        {"missing": "keep"},
        {"missing": "drop"},
        {"missing": "state", "weights": "n"},
        {"missing": "keep", "weights": [0.5, 1, 2, 3, 4, 5, 6, 7]},
        {"missing": "drop", "weights": "n", "drop": "size"},
        {"missing": "state", "states": {"colour": ["green", "red", "blue", "missing"]}},
    ],
)
def test_a_scan_is_what_read_gives(parts, settings):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        rows, expected = scan(parts, **settings), read(parts, **settings)
    assert rows.rows_in == "disk"
    assert rows == expected
    assert expected == rows
    assert hash(rows) == hash(expected)
    assert rows.missing_counts == expected.missing_counts
    said = [str(one.message) for one in heard]
    assert said[: len(said) // 2] == said[len(said) // 2 :]


def test_every_kind_of_source_is_one_table(parts, tmp_path):
    expected = read(parts, missing="keep")
    assert expected.n_rows == 8
    con = duckdb.connect()
    con.execute(f"CREATE TABLE t AS FROM '{parts}/*.parquet'")
    query = f"SELECT * FROM '{parts}/*.parquet'"
    pattern = f"{parts}/part-?.parquet"
    for source in (
        parts / "*.parquet",
        pattern,
        sql(query),
        con,
        sql("FROM t", con),
        con.sql("FROM t"),
    ):
        assert scan(source, missing="keep") == expected
    assert scan(con, query="SELECT size FROM t").names == ("size",)
    con.execute("CREATE TABLE u AS SELECT 1 AS a")
    with pytest.raises(DataError, match=r"has 't', 'u'; say what to read with query="):
        scan(con)
    for year, part in (("2020", "0"), ("2021", "1")):
        (tmp_path / "hive" / f"year={year}").mkdir(parents=True)
        shutil.copy(parts / f"part-{part}.parquet", tmp_path / "hive" / f"year={year}")
    by_year = scan(tmp_path / "hive", missing="keep")
    assert by_year == read(tmp_path / "hive", missing="keep")
    assert by_year.variable("year").states == ("2020", "2021")
    assert by_year.codes("year").tolist() == [0, 0, 0, 0, 0, 1, 1, 1]


def test_text_files_are_one_table_too(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,u\n2,v\n")
    (tmp_path / "b.csv").write_text("x,y\n3,u\n")
    assert scan(tmp_path / "*.csv").codes("x").tolist() == [0, 1, 2]
    (tmp_path / "c.csv").write_text("x,z\n3,u\n")
    with pytest.raises(DataError, match=r"c.csv' has other columns than '.*a.csv'"):
        scan(tmp_path / "*.csv")
    (tmp_path / "c.csv").unlink()
    (tmp_path / "d.parquet").write_text("")
    with pytest.raises(DataError, match=r"files of several kinds, .csv and .parquet"):
        scan(tmp_path / "[a-d].*")
    with pytest.raises(DataError, match=r"there is no file '.*none-\*.csv'"):
        scan(tmp_path / "none-*.csv")


def test_a_cache_is_used_until_source_or_settings_change(parts, tmp_path):
    cache = tmp_path / "cache"
    first = scan(parts, missing="keep", cache=cache)
    assert first.folder.parent == cache
    made = os.stat(first.folder).st_ino
    again = scan(parts, missing="keep", cache=cache)
    assert (os.stat(again.folder).st_ino, again) == (made, first)
    assert scan(parts, missing="state", cache=cache).folder != first.folder
    os.utime(parts / "part-0.parquet", (1, 1))
    shutil.copy(parts / "part-0.parquet", parts / "part-1.parquet")
    with pytest.warns(DataWarning, match="dropped 1 of 5 rows"):
        changed = scan(parts / "part-1.parquet", missing="drop", cache=cache)
    with pytest.warns(DataWarning, match="dropped 1 of 5 rows"):  # what was said is said again
        assert scan(parts / "part-1.parquet", missing="drop", cache=cache) == changed
    fresh = scan(parts, missing="keep", cache=cache)
    assert os.stat(fresh.folder).st_ino != made
    assert first.codes("size").tolist() == [1, 0, 1, 1, 0, 1, 0, 1]  # what is open stays
    fresh.remove_cache()
    assert fresh.folder is None
    assert not (cache / first.folder.name).exists()
    scan(sql(f"SELECT * FROM '{parts}/*.parquet'"), missing="keep", cache=cache).codes("size")
    assert len(os.listdir(cache)) == 2  # results of queries are not kept


def test_a_cache_that_is_not_whole_is_never_used(parts, tmp_path):
    cache = tmp_path / "cache"
    whole = scan(parts, missing="keep", cache=cache)
    expected = whole.codes("size").tolist()
    del whole
    (folder,) = cache.iterdir()
    os.truncate(folder / "1", 3)
    assert scan(parts, missing="keep", cache=cache).codes("size").tolist() == expected
    (folder / "manifest.json").write_text("{")
    assert scan(parts, missing="keep", cache=cache).codes("size").tolist() == expected
    abandoned = cache / f".{folder.name}.0123456789ab.tmp"
    abandoned.mkdir()
    (abandoned / "lock").touch()
    shutil.rmtree(folder)
    scan(parts, missing="keep", cache=cache)
    assert not abandoned.exists()


def test_a_full_disk_is_an_error_and_leaves_nothing(parts, tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4, before[1]))  # bytes a file may have
    try:
        with pytest.raises(WriteError, match="no space is left; name a folder on a larger disk"):
            scan(parts, missing="keep", cache=cache)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert os.listdir(cache) == []
    usage = shutil.disk_usage(tmp_path)._replace(free=10)
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    with pytest.raises(WriteError, match="32 bytes are needed, 10 bytes are free"):
        scan(parts, missing="keep", cache=cache)
    assert os.listdir(cache) == []


def test_ctrl_c_ends_a_scan_at_once_and_leaves_nothing(tmp_path):
    cache = tmp_path / "cache"
    query = "SELECT i % 7 AS a, (i * i) % 5 AS b FROM range(3000000) AS t(i)"
    code = (
        "import sys, bestdag\n"
        "from bestdag.data.sinks.disk import ColumnFolder\n"
        "append = ColumnFolder.append\n"
        "def told(self, *rows):\n"
        "    print('.', flush=True)\n"
        "    sys.stdin.readline()\n"
        "    append(self, *rows)\n"
        "ColumnFolder.append = told\n"
        "try:\n"
        f"    bestdag.scan(bestdag.sql({query!r}), cache={str(cache)!r})\n"
        "except KeyboardInterrupt:\n"
        "    print('ended', flush=True)\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert child.stdout.readline() == ".\n"  # codes are being written
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=GUARD)
    assert out.endswith("ended\n")
    assert child.returncode == 0
    assert os.listdir(cache) == []


def test_columns_and_ranges_of_rows_stay_on_disk(parts):
    rows = scan(parts, missing="keep", block_rows=3)
    plain = read(parts, missing="keep")
    part = rows.select(["size", "colour"], rows=slice(2, 7))
    assert isinstance(part, Scan)
    assert part == plain.select(["size", "colour"], rows=slice(2, 7))
    assert part.missing_counts == {"colour": 1}
    assert part.block_rows == 3
    some = rows.select(rows=[0, 3, 5])
    assert type(some) is Dataset
    assert some == plain.select(rows=[0, 3, 5])
    assert rows.drop("n") == plain.drop("n")
    assert rows.split(0.5, seed=1) == plain.split(0.5, seed=1)
    assert repr(rows).startswith("Scan(8 rows")


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda rows: rows.to_pandas(), "to_pandas: the rows of a scan stay on disk"),
        (lambda rows: rows.to_polars(), "to_polars: the rows of a scan stay on disk"),
        (lambda rows: rows.to_arrow(), "to_arrow: the rows of a scan stay on disk"),
        (lambda rows: rows.to_csv("t.csv"), "to_csv: the rows of a scan stay on disk"),
        (pickle.dumps, "rows on disk are not sent to another process"),
        (
            lambda rows: bestdag.learn(rows, "bic", missing="em"),
            "EM: the rows of a scan stay on disk",
        ),
        (
            lambda rows: bestdag.run_em(bestdag.Dag(rows.names, []), rows),
            "EM: the rows of a scan stay on disk",
        ),
    ],
    ids=["pandas", "polars", "arrow", "csv", "pickle", "structural em", "em"],
)
def test_what_a_scan_refuses_in_one_sentence(parts, ask, says):
    with pytest.raises(InvalidParameterError, match=says) as error:
        ask(scan(parts, missing="keep"))
    assert "\n" not in str(error.value)


def test_rows_that_do_not_fit_into_memory_are_not_copied_there(tmp_path):
    path = tmp_path / "t.parquet"
    duckdb.sql(f"COPY (SELECT i % 3 AS a FROM range(3000000) AS t(i)) TO '{path}'")
    rows = scan(path)
    with memory_limit("1 MB"):
        for ask in (
            lambda: rows.select(rows=np.ones(rows.n_rows, bool)),
            lambda: rows.split(0.5),
            lambda: rows.with_states({"a": ("2", "1", "0")}),
        ):
            with pytest.raises(NotEnoughMemoryError, match=r"scan: .* needs .* memory limit"):
                ask()
    dag = bestdag.Dag(rows.names, [])
    network = bestdag.fit_network(dag, rows)
    with memory_limit("10 MB"):  # what they need besides is little
        for ask, says in (
            (lambda: bestdag.bootstrap(rows, "bic"), "bootstrap: drawing among 3,000,000 rows"),
            (lambda: bestdag.cross_validate(rows, "bic"), "cross_validate: the division of 3,000"),
            (lambda: bestdag.learning_curve(rows, "bic"), "learning_curve: .* orders of 3,000,000"),
            (lambda: bestdag.distance_score(dag, rows), "looking up 3,000,000 rows"),
            (lambda: bestdag.evaluate_network(network, rows), "3,000,000"),
        ):
            with pytest.raises(NotEnoughMemoryError, match=rf"{says}.* needs .* memory limit"):
                ask()
        assert bestdag.learn(rows, "bic", search="hill_climb").status == "local optimum"


def test_equal_rows_together_weigh_what_they_did_apart(parts, tmp_path):
    for missing in ("keep", "drop", "state"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            apart = read(parts, missing=missing, drop="n")
            rows = scan(parts, missing=missing, drop="n", collapse=True)
            assert read(parts, missing=missing, drop="n", collapse=True) == rows
        assert rows.variables == apart.variables
        assert rows.total_weight == apart.n_rows
        assert weighed(rows) == weighed(apart)
        assert rows.n_rows == len(weighed(apart))
    by_column = read(parts, missing="keep", weights="n", collapse=True)
    assert weighed(by_column) == weighed(read(parts, missing="keep", weights="n"))
    assert rows.notes == ("identical rows combined: 8 rows, 4 distinct",)
    with pytest.raises(InvalidParameterError, match="in memory already"):
        read({"a": ["x"]}, collapse=True)
    fractions = f"SELECT size, 0.5 AS w FROM '{parts}/*.parquet'"
    with pytest.raises(DataError, match="whole weights, column 'w' has fractions"):
        read(sql(fractions), weights="w", collapse=True)


def weighed(data):
    """The different rows of a table, and their weights."""
    found = {}
    weights = np.ones(data.n_rows, int) if data.weights is None else data.weights
    rows = zip(*(data.codes(name).tolist() for name in data.names), strict=True)
    for row, weight in zip(rows, weights.tolist(), strict=True):
        found[row] = found.get(row, 0) + weight
    return found


def test_a_sample_says_whether_equal_rows_are_put_together(tmp_path):
    few, many = tmp_path / "few.parquet", tmp_path / "many.parquet"
    of = "FROM range(150000) AS t(i)"
    duckdb.sql(f"COPY (SELECT i % 3 AS a, (i // 3) % 4 AS b {of}) TO '{few}'")
    wide = ", ".join(f"hash(i + {k}) % 3 AS c{k}" for k in range(12))
    duckdb.sql(f"COPY (SELECT {wide} {of}) TO '{many}'")
    found = read_rows(few)
    assert found.dataset.n_rows == 12
    assert found.notes == ("identical rows combined: 150,000 rows, 12 distinct",)
    assert read_rows(few, collapse=False).dataset.n_rows == 150_000
    assert read_rows(many).dataset.n_rows == 150_000
    assert read(few).n_rows == 150_000  # `read` keeps rows unless asked
    assert read(few, collapse=None) == found.dataset
    assert "identical rows combined: 150,000 rows, 12 distinct" in bestdag.learn(few, "bic").notes


def test_rows_are_on_disk_where_they_do_not_fit(parts, tmp_path):
    assert type(read_rows(parts, missing="keep").dataset) is Dataset
    assert isinstance(read_rows(parts, missing="keep", rows_in="disk").dataset, Scan)
    path = tmp_path / "t.parquet"
    wide = ", ".join(f"i % {k + 2} AS c{k}" for k in range(20))
    duckdb.sql(f"COPY (SELECT {wide} FROM range(100000) AS t(i)) TO '{path}'")
    with memory_limit("5 MB"):
        found = read_rows(path, collapse=False)
    assert isinstance(found.dataset, Scan)
    assert found.dataset == read(path)
    with pytest.raises(InvalidParameterError, match="cache is for rows on disk"):
        read_rows(path, rows_in="memory", cache=tmp_path / "cache")


def test_columns_of_a_network_are_found_on_disk(parts):
    plain = read(parts, missing="keep")
    rows = match(parts, plain.select("size").variables, rows_in="disk", ignore_extra=True)
    assert (rows.dataset, rows.cut) == (plain.select("size"), ())


@pytest.mark.slow
def test_what_the_tests_of_read_read_is_what_scan_gives():
    names = ["csv", "forms", "options", "tables"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.data.scan_beside_read"]
    # Warnings are said at the line that calls `read`, which is in the plugin then.
    command += ["-k", "not equals_reading_the_complete_rows"]
    command += [f"tests/data/test_read_{name}.py" for name in names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert json.loads(done.stdout.partition("scanned beside read: ")[2].split()[0]) > 200


def test_a_query_with_other_answers_each_time_is_refused():
    query = sql("SELECT (random() * 1e6)::INT::VARCHAR AS a FROM range(40)")
    with pytest.raises(DataError, match="changed while it was read"):
        scan(query)
    assert read(query).n_rows == 40  # asked once
