"""Rows on three workers, which live in this process until it ends."""

from __future__ import annotations

import atexit
from functools import cache

from bestdag.cluster.reading import spread
from bestdag.cluster.rows import ClusterRows
from bestdag.data.dataset import Dataset

__all__ = ["on_cluster"]


@cache
def client():
    """Start the workers."""
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=3, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
    )
    made = Client(cluster)
    atexit.register(lambda: (made.close(), cluster.close()))
    return made


def on_cluster(dataset: Dataset) -> ClusterRows:
    """Return the data set as one whose rows are on workers."""
    return spread(client(), dataset)
