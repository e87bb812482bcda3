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
    from bestdag.graph.knowledge import Knowledge as Knowledge
    from bestdag.graph.pdag import Pdag as Pdag
    from bestdag.learning import learn as learn
    from bestdag.network.network import Network as Network
    from bestdag.scores.aic import AIC as AIC
    from bestdag.scores.bd import BD as BD
    from bestdag.scores.bde import BDe as BDe
    from bestdag.scores.bdeu import BDeu as BDeu
    from bestdag.scores.bic import BIC as BIC
    from bestdag.scores.fnml import FNML as FNML
    from bestdag.scores.k2 import K2 as K2
    from bestdag.scores.ll import LL as LL
    from bestdag.scores.max_bdeu import MaxBDeu as MaxBDeu
    from bestdag.scores.min_bdeu import MinBDeu as MinBDeu
    from bestdag.scores.mit import MIT as MIT
    from bestdag.scores.prior import EdgeDifferencePrior as EdgeDifferencePrior
    from bestdag.scores.prior import UniformPrior as UniformPrior
    from bestdag.scores.qnml import QNML as QNML
    from bestdag.scores.scorer import Scorer as Scorer
    from bestdag.scores.table import ScoreTable as ScoreTable
    from bestdag.search.auto import Auto as Auto
    from bestdag.search.exact.search import Exact as Exact
    from bestdag.search.hill_climb import HillClimb as HillClimb
    from bestdag.search.order import OrderSearch as OrderSearch

_HOME = {
    "AIC": "bestdag.scores.aic",
    "BD": "bestdag.scores.bd",
    "BDe": "bestdag.scores.bde",
    "BDeu": "bestdag.scores.bdeu",
    "BIC": "bestdag.scores.bic",
    "BestdagError": "bestdag.errors",
    "Dag": "bestdag.graph.dag",
    "Dataset": "bestdag.data.dataset",
    "EdgeDifferencePrior": "bestdag.scores.prior",
    "FNML": "bestdag.scores.fnml",
    "FamilyCounts": "bestdag.counts.family",
    "HillClimb": "bestdag.search.hill_climb",
    "K2": "bestdag.scores.k2",
    "Knowledge": "bestdag.graph.knowledge",
    "LL": "bestdag.scores.ll",
    "MIT": "bestdag.scores.mit",
    "MaxBDeu": "bestdag.scores.max_bdeu",
    "MinBDeu": "bestdag.scores.min_bdeu",
    "Network": "bestdag.network.network",
    "Pdag": "bestdag.graph.pdag",
    "QNML": "bestdag.scores.qnml",
    "ScoreTable": "bestdag.scores.table",
    "Scorer": "bestdag.scores.scorer",
    "UniformPrior": "bestdag.scores.prior",
    "Variable": "bestdag.data.schema",
    "Auto": "bestdag.search.auto",
    "Exact": "bestdag.search.exact.search",
    "OrderSearch": "bestdag.search.order",
    "learn": "bestdag.learning",
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
