"""What goes wrong with machines: equal answers where that can be, else one clear sentence."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import duckdb
import pytest
from distributed import Client, LocalCluster
from distributed.scheduler import KilledWorker

from bestdag import learn, watching
from bestdag.cluster import reading, session
from bestdag.cluster.reading import read_on, spread
from bestdag.errors import ClusterError, DataError, NotEnoughMemoryError
from bestdag.scores.scorer import Scorer
from tests.cluster.plain_score import PlainBIC
from tests.cluster.test_counts import assert_counts_agree
from tests.signals import GUARD


def pids(client):
    return client.run(os.getpid)


@pytest.mark.parametrize("source", ["files", pytest.param("memory", marks=pytest.mark.slow)])
def test_a_worker_killed_in_the_middle_changes_nothing(client, table, dataset, source):
    rows = read_on(client, table) if source == "files" else spread(client, dataset)
    before = pids(client)
    client.run(_die_counting, workers=[min(before)])
    assert_counts_agree(rows, dataset)
    client.wait_for_workers(2, timeout=GUARD)
    assert len(set(before.values()) & set(pids(client).values())) == 1


def _die_counting():
    from bestdag.cluster.part import Part

    Part.count = lambda *_: os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_cannot_have_the_memory_is_said(client, table, monkeypatch):
    # Asked for while the part is loaded, as by rows that do not fit.
    monkeypatch.setattr(reading, "load_part", _greedy)
    with pytest.raises(NotEnoughMemoryError, match=r"cluster: a worker ran out of memory over '.*"):
        read_on(client, table)


def _greedy(*_):
    return bytearray(1 << 62)


@pytest.mark.slow
def test_workers_that_die_of_what_they_load_are_said(client, table, monkeypatch):
    # As the system ends a process that takes too much memory; once is enough here.
    monkeypatch.setattr(reading, "load_part", _fatal)
    before = client.run_on_scheduler(_allow_failures, 0)
    try:
        with pytest.raises(NotEnoughMemoryError, match=r"workers kept dying over '.*'"):
            read_on(client, table)
    finally:
        client.run_on_scheduler(_allow_failures, before)
        client.wait_for_workers(2, timeout=GUARD)


def _fatal(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def _allow_failures(n, dask_scheduler):
    before, dask_scheduler.allowed_failures = dask_scheduler.allowed_failures, n
    return before


@pytest.fixture
def small():
    """One worker of little memory, which its nanny ends and starts again when it takes more."""
    with (
        LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            memory_limit="220MB",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.mark.slow
def test_a_worker_ended_for_its_memory_is_made_up_for(small, table, dataset):
    rows = read_on(small, table)
    before = set(pids(small).values())
    with pytest.raises((KilledWorker, OSError)):
        small.submit(_hold, 1 << 28, retries=0, key="hold").result(timeout=GUARD)
    assert_counts_agree(rows, dataset)  # loaded again by who came instead
    assert not before & set(pids(small).values())


def _hold(n_bytes):
    """Have more memory than a worker may, until that is noticed."""
    held = bytes([1]) * n_bytes
    time.sleep(30)
    return len(held)


@pytest.mark.slow
def test_rows_that_really_do_not_fit_into_a_worker_are_said(small, tmp_path, monkeypatch):
    path = tmp_path / "wide.parquet"
    cells = ", ".join(f"((i // {k + 1}) % 3)::UTINYINT AS c{k:02}" for k in range(50))
    duckdb.sql(f"COPY (SELECT {cells} FROM range(2_000_000) AS t(i)) TO '{path}'")
    with pytest.raises(NotEnoughMemoryError, match=r"take 95.4 MiB, and 1 worker has room for"):
        read_on(small, path)
    roomy = [session.Machine(m.address, 1, 1e12) for m in session.machines(small)]
    monkeypatch.setattr(reading, "machines", lambda _: roomy)
    small.run_on_scheduler(_allow_failures, 0)
    with pytest.raises(NotEnoughMemoryError, match=r"cluster: .* memory"):
        learn(read_on(small, path), "bic", search="hill_climb")


def test_rows_that_cannot_fit_are_refused_before_they_are_loaded(client, table, monkeypatch):
    small = [session.Machine(m.address, 1, 5000.0) for m in session.machines(client)]
    monkeypatch.setattr(reading, "machines", lambda _: small)
    with pytest.raises(
        NotEnoughMemoryError,
        match=r"the codes of '.*' take 11.7 KiB, and 2 workers have room for 6.8 KiB; start more",
    ):
        read_on(client, table)


def test_a_file_that_one_machine_does_not_see_is_refused(client, table):
    other = max(pids(client))
    client.run(_hide, workers=[other])
    try:
        with pytest.raises(
            ClusterError, match=rf"'{other}' of 2 workers does not see it .*no file"
        ):
            read_on(client, table)
        client.run(_change, workers=[other])
        with pytest.raises(ClusterError, match="is not the same on all workers"):
            read_on(client, table)
    finally:
        client.run(_show, workers=[other])
    read_on(client, table)


def _hide():
    from bestdag.cluster import reading as parquet
    from bestdag.errors import DataError

    def facts(path):
        raise DataError(f"read: there is no file {path!r}")

    parquet.kept = parquet.file_facts
    parquet.file_facts = facts


def _change():
    from dataclasses import replace

    from bestdag.cluster import reading as parquet

    parquet.file_facts = lambda path: replace(parquet.kept(path), n_bytes=1)


def _show():
    from bestdag.cluster import reading as parquet

    parquet.file_facts = parquet.kept


def test_a_file_that_nobody_sees_is_said_as_by_one_machine(client):
    with pytest.raises(DataError, match=r"read: there is no file '/nowhere/rows.parquet'"):
        read_on(client, "/nowhere/rows.parquet")


def test_versions_that_differ_are_said(client, table):
    other = max(pids(client))
    client.run(_set_version, "0.0.1", workers=[other])
    try:
        with pytest.raises(
            ClusterError,
            match=rf"the worker at {other} has bestdag 0.0.1, this is .*; install the same version",
        ):
            read_on(client, table)
    finally:
        import bestdag

        client.run(_set_version, bestdag.__version__, workers=[other])


def _set_version(version):
    import bestdag

    bestdag.__version__ = version


def test_no_scheduler_at_an_address_is_said(monkeypatch):
    monkeypatch.setattr(session, "_PATIENCE", 0.5)
    with (
        pytest.raises(ClusterError, match=r"no scheduler answers at tcp://127.0.0.1:9 "),
        session.joined("tcp://127.0.0.1:9"),
    ):
        pass


@pytest.fixture
def mortal():
    """A scheduler and its worker, in a process of their own."""
    code = (
        "from distributed import LocalCluster\n"
        # Within one process Dask speaks without a socket, unless told to.
        "how = {'processes': False, 'protocol': 'tcp', 'dashboard_address': '127.0.0.1:0'}\n"
        "with LocalCluster(n_workers=1, **how) as cluster:\n"
        "    print(cluster.scheduler_address, flush=True)\n"
        "    input()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    yield process
    process.kill()
    process.communicate()


def test_a_scheduler_that_is_gone_is_said_and_the_best_so_far_is_kept(
    mortal, table, dataset, monkeypatch
):
    monkeypatch.setattr(session, "_PATIENCE_WITH_SCHEDULER", 0.2)
    address = mortal.stdout.readline().strip()

    def told(progress):
        if progress.score is not None:
            mortal.kill()

    with (
        pytest.raises(ClusterError, match=f"the scheduler at {address} is gone") as raised,
        watching(told),
    ):
        learn(table, PlainBIC(), search="hill_climb", workers=address)
    best = raised.value.best
    assert best.status == "interrupted"
    assert best.score == pytest.approx(Scorer(dataset, PlainBIC()).total(best.dag), rel=1e-12)
