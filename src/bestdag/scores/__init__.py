"""The scores, each in its own file, and the one list that names them."""

from __future__ import annotations

from typing import Any

from bestdag.registry import make
from bestdag.scores.aic import AIC
from bestdag.scores.base import Score
from bestdag.scores.bd import BD
from bestdag.scores.bde import BDe
from bestdag.scores.bdeu import BDeu
from bestdag.scores.bdq import BDq
from bestdag.scores.bic import BIC
from bestdag.scores.fnml import FNML
from bestdag.scores.hqc import HQC
from bestdag.scores.k2 import K2
from bestdag.scores.ll import LL
from bestdag.scores.max_bdeu import MaxBDeu
from bestdag.scores.min_bdeu import MinBDeu
from bestdag.scores.mit import MIT
from bestdag.scores.qnml import QNML

__all__ = ["ALIASES", "SCORES", "make_score"]

_ALL = (LL, AIC, BIC, HQC, FNML, QNML, MIT, K2, BD, BDq, BDe, BDeu, MinBDeu, MaxBDeu)

SCORES: dict[str, Any] = {score.name: score for score in _ALL}
ALIASES = {"mdl": "bic", "nml": "fnml"}


def make_score(name: str, **settings: Any) -> Score:
    """Make a score from its name and its settings.

    Examples
    --------
    >>> make_score("bdeu", ess=10)
    BDeu(ess=10)
    """
    score: Score = make("score", name, SCORES, ALIASES, settings)
    return score
