"""Data sets whose rows are held in different ways, for tests that run on each.

`PROVIDERS` lists them: a way to hold rows is a function of a data set that returns an equal one.
Whole suites run on one of them with ``BESTDAG_ROWS=blocks pytest tests/contracts``.
"""

from __future__ import annotations

from collections.abc import Callable

from bestdag.data.dataset import Dataset
from tests.providers.blocks import in_blocks
from tests.providers.cluster import on_cluster

__all__ = ["PROVIDERS"]

PROVIDERS: dict[str, Callable[[Dataset], Dataset]] = {
    "memory": lambda dataset: dataset,
    "blocks": in_blocks,
    "cluster": on_cluster,
}
