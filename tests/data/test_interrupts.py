"""interruptible: Ctrl-C at any moment ends the query and leaves nothing running."""

import threading

import duckdb
import pytest

from bestdag.data import interrupts
from bestdag.data.interrupts import interruptible
from bestdag.data.readers import read

SLOW = "SELECT sum(hash(i * j)) FROM range(10000000) a(i), range(1000000) b(j)"


def readers():
    return [t for t in threading.enumerate() if t.name == "bestdag-read" and not t._is_stopped]


def test_an_interrupt_before_the_thread_starts_means_the_work_never_runs(monkeypatch):
    def start(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(interrupts._Task, "start", start)
    ran = []
    with duckdb.connect() as con, pytest.raises(KeyboardInterrupt):
        interruptible(lambda: ran.append(1), con)
    assert not ran


def test_an_interrupt_while_the_thread_starts_ends_the_query(monkeypatch):
    whole = threading.Thread.start

    def start(self):
        whole(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(interrupts._Task, "start", start)
    with duckdb.connect() as con, pytest.raises(KeyboardInterrupt):
        interruptible(lambda: con.execute(SLOW).fetchall(), con)
    for thread in readers():
        thread.join(5)
    assert not readers()


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

        class Task(interrupts._Task):
            def begin(self):
                self.start()
                began.wait(10)
                raise KeyboardInterrupt

        monkeypatch.setattr(interrupts, "_Task", Task)
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
    monkeypatch.setattr(duckdb, "connect", lambda *a: Watched(connect(*a)))
    for kind in ("parquet", "csv", "jsonl"):
        read(tmp_path / f"t.{kind}")
    assert set(seen) == {"bestdag-read"}
