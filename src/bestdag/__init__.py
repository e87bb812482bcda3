"""Best-scoring Bayesian networks, and whether that is proven.

The public names load on first use, so ``import bestdag`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bestdag.averaging.arc_probabilities import ArcProbabilities as ArcProbabilities
    from bestdag.averaging.averaged_network import AveragedNetwork as AveragedNetwork
    from bestdag.averaging.averaged_network import average_networks as average_networks
    from bestdag.averaging.bootstrap import bootstrap as bootstrap
    from bestdag.averaging.posterior import posterior as posterior
    from bestdag.certificate import OptimalityCertificate as OptimalityCertificate
    from bestdag.certificate import Verification as Verification
    from bestdag.certificate import verify as verify
    from bestdag.checkpoint import Checkpoint as Checkpoint
    from bestdag.constraint.pc import pc as pc
    from bestdag.constraint.pc import pc_skeleton as pc_skeleton
    from bestdag.constraint.result import Conflict as Conflict
    from bestdag.constraint.result import PCResult as PCResult
    from bestdag.constraint.settings import PC as PC
    from bestdag.counts.family import FamilyCounts as FamilyCounts
    from bestdag.data.dataset import Dataset as Dataset
    from bestdag.data.discretize import discretize as discretize
    from bestdag.data.readers import read as read
    from bestdag.data.schema import Variable as Variable
    from bestdag.data.sinks.disk import Scan as Scan
    from bestdag.data.sinks.disk import scan as scan
    from bestdag.data.sources.connection import sql as sql
    from bestdag.drawing.picture import Picture as Picture
    from bestdag.errors import *  # noqa: F403
    from bestdag.evaluation.networks import NetworkEvaluation as NetworkEvaluation
    from bestdag.evaluation.networks import distance_score as distance_score
    from bestdag.evaluation.networks import evaluate_network as evaluate_network
    from bestdag.evaluation.ranks import StructuralRank as StructuralRank
    from bestdag.evaluation.ranks import structural_rank as structural_rank
    from bestdag.evaluation.sensitivity import Sensitivity as Sensitivity
    from bestdag.evaluation.sensitivity import SensitivityGrid as SensitivityGrid
    from bestdag.evaluation.sensitivity import sensitivity as sensitivity
    from bestdag.evaluation.structures import StructureComparison as StructureComparison
    from bestdag.evaluation.structures import compare as compare
    from bestdag.graph.dag import Dag as Dag
    from bestdag.graph.generators import random_dag as random_dag
    from bestdag.graph.knowledge import Knowledge as Knowledge
    from bestdag.graph.pdag import Pdag as Pdag
    from bestdag.incomplete.em import StructuralEM as StructuralEM
    from bestdag.incomplete.scoring import ObservedScore as ObservedScore
    from bestdag.incomplete.scoring import expected_scorer as expected_scorer
    from bestdag.incomplete.scoring import observed_score as observed_score
    from bestdag.independence import G2Test as G2Test
    from bestdag.independence import IndependenceTest as IndependenceTest
    from bestdag.independence import PermutationTest as PermutationTest
    from bestdag.independence import X2Test as X2Test
    from bestdag.independence.asking import (
        conditional_mutual_information as conditional_mutual_information,
    )
    from bestdag.independence.asking import independence_test as independence_test
    from bestdag.independence.base import Independence as Independence
    from bestdag.independence.oracle import Oracle as Oracle
    from bestdag.independence.oracle import StatedIndependences as StatedIndependences
    from bestdag.inference.distribution import Distribution as Distribution
    from bestdag.inference.distribution import Estimate as Estimate
    from bestdag.inference.distribution import Explanation as Explanation
    from bestdag.inference.distribution import Marginals as Marginals
    from bestdag.learned import Result as Result
    from bestdag.learning import learn as learn
    from bestdag.machine import memory_limit as memory_limit
    from bestdag.network.compiled import CompiledNetwork as CompiledNetwork
    from bestdag.network.fitting import EMResult as EMResult
    from bestdag.network.fitting import fit_network as fit_network
    from bestdag.network.fitting import run_em as run_em
    from bestdag.network.loading import load as load
    from bestdag.network.network import Network as Network
    from bestdag.network.random_network import random_network as random_network
    from bestdag.network.table import ConditionalTable as ConditionalTable
    from bestdag.network.uai import read_evidence as read_evidence
    from bestdag.network.uai import write_evidence as write_evidence
    from bestdag.parameters import *  # noqa: F403
    from bestdag.progress import Progress as Progress
    from bestdag.progress import watching as watching
    from bestdag.scores import *  # noqa: F403
    from bestdag.scores.local_scores import LocalScores as LocalScores
    from bestdag.scores.prior import ArcDifferencePrior as ArcDifferencePrior
    from bestdag.scores.prior import SparsePrior as SparsePrior
    from bestdag.scores.prior import UniformPrior as UniformPrior
    from bestdag.scores.scorer import Scorer as Scorer
    from bestdag.scores.table import ScoreTable as ScoreTable
    from bestdag.search import *  # noqa: F403
    from bestdag.search.naive_bayes import augmented as augmented
    from bestdag.search.near_optimal.request import NearOptimal as NearOptimal
    from bestdag.search.rung import Rung as Rung
    from bestdag.validation.comparison import CrossValidation as CrossValidation
    from bestdag.validation.cross_validation import cross_validate as cross_validate
    from bestdag.validation.ess_grid import EssGrid as EssGrid
    from bestdag.validation.ess_grid import ess_grid as ess_grid
    from bestdag.validation.learning_curve import LearningCurve as LearningCurve
    from bestdag.validation.learning_curve import learning_curve as learning_curve
    from bestdag.validation.saturation import Saturation as Saturation
    from bestdag.validation.saturation import saturation as saturation

# Names with homes of their own; those in the lists of scores, searches, estimators and tests,
# and all errors, are public without a line here.
_HOME = {
    "ArcDifferencePrior": "bestdag.scores.prior",
    "SparsePrior": "bestdag.scores.prior",
    "ArcProbabilities": "bestdag.averaging.arc_probabilities",
    "AveragedNetwork": "bestdag.averaging.averaged_network",
    "Checkpoint": "bestdag.checkpoint",
    "CompiledNetwork": "bestdag.network.compiled",
    "ConditionalTable": "bestdag.network.table",
    "Conflict": "bestdag.constraint.result",
    "CrossValidation": "bestdag.validation.comparison",
    "Dag": "bestdag.graph.dag",
    "Dataset": "bestdag.data.dataset",
    "Distribution": "bestdag.inference.distribution",
    "EMResult": "bestdag.network.fitting",
    "EssGrid": "bestdag.validation.ess_grid",
    "Estimate": "bestdag.inference.distribution",
    "Estimator": "bestdag.parameters",
    "Explanation": "bestdag.inference.distribution",
    "FamilyCounts": "bestdag.counts.family",
    "Independence": "bestdag.independence.base",
    "IndependenceTest": "bestdag.independence",
    "Knowledge": "bestdag.graph.knowledge",
    "LearningCurve": "bestdag.validation.learning_curve",
    "Marginals": "bestdag.inference.distribution",
    "NearOptimal": "bestdag.search.near_optimal.request",
    "Network": "bestdag.network.network",
    "NetworkEvaluation": "bestdag.evaluation.networks",
    "ObservedScore": "bestdag.incomplete.scoring",
    "OptimalityCertificate": "bestdag.certificate",
    "Oracle": "bestdag.independence.oracle",
    "PC": "bestdag.constraint.settings",
    "PCResult": "bestdag.constraint.result",
    "Pdag": "bestdag.graph.pdag",
    "Picture": "bestdag.drawing.picture",
    "Progress": "bestdag.progress",
    "Result": "bestdag.learned",
    "Rung": "bestdag.search.rung",
    "Saturation": "bestdag.validation.saturation",
    "Scan": "bestdag.data.sinks.disk",
    "Score": "bestdag.scores",
    "LocalScores": "bestdag.scores.local_scores",
    "ScoreTable": "bestdag.scores.table",
    "Scorer": "bestdag.scores.scorer",
    "Search": "bestdag.search",
    "Sensitivity": "bestdag.evaluation.sensitivity",
    "SensitivityGrid": "bestdag.evaluation.sensitivity",
    "StatedIndependences": "bestdag.independence.oracle",
    "StructuralEM": "bestdag.incomplete.em",
    "StructuralRank": "bestdag.evaluation.ranks",
    "StructureComparison": "bestdag.evaluation.structures",
    "UniformPrior": "bestdag.scores.prior",
    "Variable": "bestdag.data.schema",
    "Verification": "bestdag.certificate",
    "augmented": "bestdag.search.naive_bayes",
    "average_networks": "bestdag.averaging.averaged_network",
    "bootstrap": "bestdag.averaging.bootstrap",
    "compare": "bestdag.evaluation.structures",
    "conditional_mutual_information": "bestdag.independence.asking",
    "cross_validate": "bestdag.validation.cross_validation",
    "discretize": "bestdag.data.discretize",
    "distance_score": "bestdag.evaluation.networks",
    "ess_grid": "bestdag.validation.ess_grid",
    "evaluate_network": "bestdag.evaluation.networks",
    "expected_scorer": "bestdag.incomplete.scoring",
    "fit_network": "bestdag.network.fitting",
    "independence_test": "bestdag.independence.asking",
    "learn": "bestdag.learning",
    "learning_curve": "bestdag.validation.learning_curve",
    "load": "bestdag.network.loading",
    "memory_limit": "bestdag.machine",
    "observed_score": "bestdag.incomplete.scoring",
    "pc": "bestdag.constraint.pc",
    "pc_skeleton": "bestdag.constraint.pc",
    "posterior": "bestdag.averaging.posterior",
    "random_dag": "bestdag.graph.generators",
    "random_network": "bestdag.network.random_network",
    "read": "bestdag.data.readers",
    "read_evidence": "bestdag.network.uai",
    "run_em": "bestdag.network.fitting",
    "saturation": "bestdag.validation.saturation",
    "scan": "bestdag.data.sinks.disk",
    "sensitivity": "bestdag.evaluation.sensitivity",
    "sql": "bestdag.data.sources.connection",
    "structural_rank": "bestdag.evaluation.ranks",
    "verify": "bestdag.certificate",
    "watching": "bestdag.progress",
    "write_evidence": "bestdag.network.uai",
}


def _listed() -> dict[str, Any]:
    """Return the public classes that need no line above."""
    homes = {
        "scores": "SCORES",
        "search": "SEARCHES",
        "parameters": "ESTIMATORS",
        "independence": "TESTS",
    }
    lists = [getattr(importlib.import_module(f"bestdag.{m}"), name) for m, name in homes.items()]
    classes = [entry for listed in lists for entry in listed.values()]
    raised = vars(importlib.import_module("bestdag.errors")).values()
    classes += [kind for kind in raised if isinstance(kind, type) and issubclass(kind, Exception)]
    return {entry.__name__: entry for entry in classes}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("bestdag")
    if name == "__all__":
        return [*sorted({*_HOME, *_listed()}), "__version__"]
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif not name[:1].isupper() or name not in _listed():  # modules are written small
        raise AttributeError(f"module 'bestdag' has no attribute {name!r}")
    else:
        value = _listed()[name]
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__getattr__("__all__"))
