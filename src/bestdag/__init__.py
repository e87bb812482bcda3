"""Best-scoring Bayesian networks, and whether that is proven.

The public names load on first use, so ``import bestdag`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bestdag.counts.family import FamilyCounts as FamilyCounts
    from bestdag.data.dataset import Dataset as Dataset
    from bestdag.data.readers import read as read
    from bestdag.data.schema import Variable as Variable
    from bestdag.errors import BestdagError as BestdagError
    from bestdag.graph.dag import Dag as Dag
    from bestdag.graph.pdag import Pdag as Pdag
    from bestdag.network.network import Network as Network
    from bestdag.scores.bdeu import BDeu as BDeu
    from bestdag.scores.bic import BIC as BIC
    from bestdag.scores.fnml import FNML as FNML
    from bestdag.scores.qnml import QNML as QNML
    from bestdag.scores.scorer import Scorer as Scorer

_HOME = {
    "BDeu": "bestdag.scores.bdeu",
    "BIC": "bestdag.scores.bic",
    "BestdagError": "bestdag.errors",
    "Dag": "bestdag.graph.dag",
    "Dataset": "bestdag.data.dataset",
    "FNML": "bestdag.scores.fnml",
    "FamilyCounts": "bestdag.counts.family",
    "Network": "bestdag.network.network",
    "Pdag": "bestdag.graph.pdag",
    "QNML": "bestdag.scores.qnml",
    "Scorer": "bestdag.scores.scorer",
    "Variable": "bestdag.data.schema",
    "read": "bestdag.data.readers",
}

__all__ = [*sorted(_HOME), "__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("bestdag")
    if name not in _HOME:
        raise AttributeError(f"module 'bestdag' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
