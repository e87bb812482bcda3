"""Worker processes, started once for all tests of this folder, and a table in row groups."""

from __future__ import annotations

import numpy as np
import pytest

from bestdag.data.readers import read

N_ROWS = 3000


@pytest.fixture(scope="session")
def table(tmp_path_factory):
    """A Parquet file of ten row groups, whose last rows show states that the first do not."""
    import polars as pl

    random = np.random.default_rng(20)
    a = random.integers(0, 3, N_ROWS)
    b = (a + (random.random(N_ROWS) < 0.2)) % 3
    c = (a + b + random.integers(0, 2, N_ROWS)) % 4
    d = random.integers(0, 2, N_ROWS)
    c[-50:] = 4
    frame = pl.DataFrame(
        {
            "d": d == 1,
            "c": [f"c{value}" for value in c],
            "b": [("low", "mid", "high")[value] for value in b],
            "a": a * 10,
        }
    )
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    frame.write_parquet(path, row_group_size=N_ROWS // 10)
    return path


@pytest.fixture(scope="session")
def dataset(table):
    """The same rows in memory."""
    return read(table)


@pytest.fixture(scope="session")
def client():
    """Two worker processes that live as long as the tests."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client
