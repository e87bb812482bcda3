"""Rows on three worker processes, which live until this one ends."""

from __future__ import annotations

import atexit
import hashlib
from functools import cache

from bestdag.cluster.reading import spread
from bestdag.cluster.rows import ClusterRows
from bestdag.data.dataset import Dataset

__all__ = ["on_cluster"]

# Data sets that stay on the workers, for tests that ask for them again.
MOST_KEPT = 64
kept: dict[bytes, ClusterRows] = {}


@cache
def client():
    """Start the workers."""
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address="127.0.0.1:0")
    made = Client(cluster)
    atexit.register(lambda: (made.close(), cluster.close()))
    return made


def on_cluster(dataset: Dataset) -> ClusterRows:
    """Return the data set as one whose rows are on workers; equal ones are sent once."""
    content = _content(dataset)
    rows = kept.pop(content, None) or spread(client(), dataset)
    kept[content] = rows
    if len(kept) > MOST_KEPT:
        del kept[next(iter(kept))]
    return rows


def _content(dataset: Dataset) -> bytes:
    digest = hashlib.blake2b(repr((dataset.variables, dataset.n_rows)).encode())
    weights = dataset.weights
    for array in (*map(dataset.codes, dataset.names), *(() if weights is None else (weights,))):
        digest.update(f"{array.dtype} ".encode())
        digest.update(array.tobytes())
    return digest.digest()
