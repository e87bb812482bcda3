"""interruptible: Ctrl-C at any moment ends the query and leaves nothing running."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import duckdb
import pytest

from bestdag.data.readers import read
from bestdag.data.sources import connection as interrupts
from bestdag.data.sources.connection import connection, interruptible, temporary_folder, to_the_end
from bestdag.data.sources.csv import csv_table
from tests.signals import GUARD

SLOW = "SELECT sum(hash(i * j)) FROM range(10000000) a(i), range(1000000) b(j)"


def readers():
    return [t for t in threading.enumerate() if t.name == "bestdag-read" and not t._is_stopped]


def test_an_interrupt_before_the_thread_starts_means_the_work_never_runs(monkeypatch):
    def start(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(interrupts.Task, "start", start)
    ran = []
    with duckdb.connect() as con, pytest.raises(KeyboardInterrupt):
        interruptible(lambda: ran.append(1), con)
    assert not ran


def test_an_interrupt_while_the_thread_starts_ends_the_query(monkeypatch):
    whole = threading.Thread.start

    def start(self):
        whole(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(interrupts.Task, "start", start)
    with duckdb.connect() as con, pytest.raises(KeyboardInterrupt):
        interruptible(lambda: con.execute(SLOW).fetchall(), con)
    for thread in readers():
        thread.join(GUARD)
    assert not readers()


LOADING = """
import os, signal, sys
import bestdag.data.readers

class CtrlC:
    def find_spec(self, name, path=None, target=None):
        if name in ("_duckdb", "duckdb.duckdb"):  # as older versions call it
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, CtrlC())
try:
    bestdag.data.readers.read(sys.argv[1])
except KeyboardInterrupt:
    import duckdb
    print(duckdb.sql("SELECT 7").fetchall())
"""


def test_an_interrupt_while_duckdb_is_loaded_waits_until_it_is(tmp_path):
    # Inside nanobind's module initialisation the exception would abort the process.
    (tmp_path / "t.csv").write_text("a\n0\n1\n")
    command = [sys.executable, "-c", LOADING, str(tmp_path / "t.csv")]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=GUARD, check=False)
    assert (shown.returncode, shown.stdout) == (0, "[(7,)]\n")


def test_a_second_interrupt_does_not_leave_the_query_running(monkeypatch):
    class Impatient:
        """A connection whose user presses Ctrl-C again while it is told to stop."""

        def __init__(self, con):
            self.con, self.left = con, 3

        def interrupt(self):
            self.left -= 1
            if self.left >= 0:
                raise KeyboardInterrupt
            self.con.interrupt()

    began = threading.Event()
    with duckdb.connect() as con:

        def work():
            began.set()
            return con.execute(SLOW).fetchall()

        class Task(interrupts.Task):
            def begin(self):
                self.start()
                began.wait(GUARD)
                raise KeyboardInterrupt

        monkeypatch.setattr(interrupts, "Task", Task)
        with pytest.raises(KeyboardInterrupt):
            interruptible(work, Impatient(con))
        assert con.execute("SELECT 1").fetchall() == [(1,)]  # it is free again


@pytest.mark.parametrize("error", [RuntimeError, duckdb.InterruptException])
@pytest.mark.parametrize("own", [True, False])
def test_what_duckdb_calls_interrupted_is_a_keyboard_interrupt(error, own):
    def work():
        raise error("Query interrupted")

    with duckdb.connect() as con, pytest.raises(KeyboardInterrupt):
        interruptible(work, con if own else None)


def test_other_failures_stay_what_they_are():
    with duckdb.connect() as con:
        for where in (con, None):
            with pytest.raises(RuntimeError, match="other"):
                interruptible(lambda: (_ for _ in ()).throw(RuntimeError("other")), where)


def test_every_query_of_a_file_can_be_interrupted(monkeypatch, tmp_path):
    # A query in the main thread is one that Ctrl-C would not end at once.
    seen = []
    connect = duckdb.connect

    class Watched:
        def __init__(self, con):
            self.con = con

        def execute(self, sql):
            seen.append(threading.current_thread().name)
            return self.con.execute(sql)

        def sql(self, sql):
            seen.append(threading.current_thread().name)
            return self.con.sql(sql)

        def __getattr__(self, name):
            return getattr(self.con, name)

    duckdb.sql("SELECT i % 3 AS a, i % 2 AS b FROM range(9) t(i)").write_parquet(
        str(tmp_path / "t.parquet")
    )
    (tmp_path / "t.csv").write_text("a,b\n1,2\n2,1\n")
    (tmp_path / "t.jsonl").write_text('{"a": 1, "b": 2}\n{"a": 2, "b": 1}\n')
    monkeypatch.setattr(duckdb, "connect", lambda *a, **k: Watched(connect(*a, **k)))
    for kind in ("parquet", "csv", "jsonl"):
        read(tmp_path / f"t.{kind}")
    assert set(seen) == {"bestdag-read"}


def test_a_query_that_must_not_be_interrupted_ends_first(monkeypatch):
    began, ended = threading.Event(), []

    class Task(interrupts.Task):
        def begin(self):
            self.start()
            began.wait(GUARD)
            raise KeyboardInterrupt

    def work():
        began.set()
        time.sleep(0.2)
        ended.append(1)

    monkeypatch.setattr(interrupts, "Task", Task)
    with pytest.raises(KeyboardInterrupt):
        to_the_end(work)
    assert ended


def test_a_folder_is_removed_though_its_removal_is_interrupted(monkeypatch):
    whole, left = shutil.rmtree, [KeyboardInterrupt, KeyboardInterrupt]

    def rmtree(path, **settings):
        if left:
            raise left.pop()
        whole(path, **settings)

    monkeypatch.setattr(shutil, "rmtree", rmtree)
    with pytest.raises(KeyboardInterrupt), temporary_folder() as folder:
        assert os.path.isdir(folder)
    assert not os.path.exists(folder)


def test_what_can_be_interrupted_writes_no_parquet(tmp_path):
    # Interrupted while it writes Parquet, DuckDB 2.0 may hang; that is too rare to be provoked.
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n2,1\n")
    with connection() as con:
        table = csv_table(con, [path], [str(path)], ",", "t.csv")
        with table.stored(table.fields, None) as (stored, _):
            assert stored.origin == "stored.main.columns"
            assert stored.select("c0, c1") == [("1", "2"), ("2", "1")]
        assert [name for (name,) in con.execute("SHOW DATABASES").fetchall()] == ["memory"]


@pytest.mark.parametrize("wait", [0, 0.05, 0.2])
def test_a_command_interrupted_while_columns_are_stored_leaves_nothing(wait, tmp_path):
    path, folder, made = tmp_path / "t.csv", tmp_path / "temporary", tmp_path / "made"
    folder.mkdir()
    made.mkdir()
    cells = ", ".join(f"(hash(i * 8 + {k}) % 1000) / 8 AS x{k}" for k in range(8))
    duckdb.sql(f"SELECT i % 3 AS y, {cells} FROM range(500000) t(i)").write_csv(str(path))
    command = [sys.executable, "-m", "bestdag", "discretize", str(path), "--target", "y"]
    process = subprocess.Popen(
        [*command, "--quiet", "-o", str(made / "cut.csv")],
        env={**os.environ, "TMPDIR": str(folder)},
        stderr=subprocess.PIPE,
        text=True,
    )
    while process.poll() is None and not any(folder.glob("bestdag-*/columns.db")):
        time.sleep(0.005)
    time.sleep(wait)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=GUARD)
    assert (process.returncode, err) == (130, "bestdag: interrupted\n")
    assert not any(folder.iterdir())
    assert not any(made.iterdir())
