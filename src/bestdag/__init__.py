"""Best-scoring Bayesian networks, and whether that is proven.

The public names load on first use, so ``import bestdag`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bestdag.counts.family import FamilyCounts as FamilyCounts
    from bestdag.data.dataset import Dataset as Dataset
    from bestdag.data.discretization.discretize import discretize as discretize
    from bestdag.data.readers import read as read
    from bestdag.data.schema import Variable as Variable
    from bestdag.errors import BestdagError as BestdagError
    from bestdag.graph.dag import Dag as Dag
    from bestdag.graph.knowledge import Knowledge as Knowledge
    from bestdag.graph.pdag import Pdag as Pdag
    from bestdag.learning import learn as learn
    from bestdag.machine import memory_limit as memory_limit
    from bestdag.network.fitting import fit_network as fit_network
    from bestdag.network.network import Network as Network
    from bestdag.parameters.dirichlet import Dirichlet as Dirichlet
    from bestdag.parameters.fsnml import FSNML as FSNML
    from bestdag.parameters.mle import MLE as MLE
    from bestdag.scores.aic import AIC as AIC
    from bestdag.scores.bd import BD as BD
    from bestdag.scores.bde import BDe as BDe
    from bestdag.scores.bdeu import BDeu as BDeu
    from bestdag.scores.bdq import BDq as BDq
    from bestdag.scores.bic import BIC as BIC
    from bestdag.scores.fnml import FNML as FNML
    from bestdag.scores.hqc import HQC as HQC
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
    from bestdag.search.annealing import Annealing as Annealing
    from bestdag.search.auto import Auto as Auto
    from bestdag.search.exact.search import Exact as Exact
    from bestdag.search.ges.search import GES as GES
    from bestdag.search.hill_climb import HillClimb as HillClimb
    from bestdag.search.k2 import K2Search as K2Search
    from bestdag.search.naive_bayes import NaiveBayes as NaiveBayes
    from bestdag.search.naive_bayes import augmented as augmented
    from bestdag.search.order import OrderSearch as OrderSearch
    from bestdag.search.tabu import Tabu as Tabu
    from bestdag.search.tan import TAN as TAN
    from bestdag.search.tree import Tree as Tree

_HOME = {
    "AIC": "bestdag.scores.aic",
    "Annealing": "bestdag.search.annealing",
    "BD": "bestdag.scores.bd",
    "BDe": "bestdag.scores.bde",
    "BDeu": "bestdag.scores.bdeu",
    "BDq": "bestdag.scores.bdq",
    "BIC": "bestdag.scores.bic",
    "BestdagError": "bestdag.errors",
    "Dag": "bestdag.graph.dag",
    "Dataset": "bestdag.data.dataset",
    "Dirichlet": "bestdag.parameters.dirichlet",
    "EdgeDifferencePrior": "bestdag.scores.prior",
    "FNML": "bestdag.scores.fnml",
    "FSNML": "bestdag.parameters.fsnml",
    "FamilyCounts": "bestdag.counts.family",
    "GES": "bestdag.search.ges.search",
    "HQC": "bestdag.scores.hqc",
    "HillClimb": "bestdag.search.hill_climb",
    "K2": "bestdag.scores.k2",
    "K2Search": "bestdag.search.k2",
    "Knowledge": "bestdag.graph.knowledge",
    "LL": "bestdag.scores.ll",
    "MIT": "bestdag.scores.mit",
    "MLE": "bestdag.parameters.mle",
    "MaxBDeu": "bestdag.scores.max_bdeu",
    "MinBDeu": "bestdag.scores.min_bdeu",
    "Network": "bestdag.network.network",
    "Pdag": "bestdag.graph.pdag",
    "QNML": "bestdag.scores.qnml",
    "ScoreTable": "bestdag.scores.table",
    "Scorer": "bestdag.scores.scorer",
    "Tabu": "bestdag.search.tabu",
    "UniformPrior": "bestdag.scores.prior",
    "Variable": "bestdag.data.schema",
    "Auto": "bestdag.search.auto",
    "Exact": "bestdag.search.exact.search",
    "OrderSearch": "bestdag.search.order",
    "fit_network": "bestdag.network.fitting",
    "discretize": "bestdag.data.discretization.discretize",
    "NaiveBayes": "bestdag.search.naive_bayes",
    "TAN": "bestdag.search.tan",
    "Tree": "bestdag.search.tree",
    "augmented": "bestdag.search.naive_bayes",
    "learn": "bestdag.learning",
    "memory_limit": "bestdag.machine",
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
