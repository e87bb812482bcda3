"""The scores, each in its own file, and the one list that names them."""

from __future__ import annotations

from typing import Any

from bestdag.errors import unknown_name
from bestdag.scores.base import Score
from bestdag.scores.bdeu import BDeu
from bestdag.scores.bic import BIC
from bestdag.scores.fnml import FNML
from bestdag.scores.qnml import QNML

__all__ = ["ALIASES", "SCORES", "make_score"]

SCORES: dict[str, Any] = {score.name: score for score in (BDeu, BIC, FNML, QNML)}
ALIASES = {"mdl": "bic", "nml": "fnml"}


def make_score(name: str, **settings: Any) -> Score:
    """Make a score from its name and its settings.

    Examples
    --------
    >>> make_score("bdeu", ess=10)
    BDeu(ess=10)
    """
    key = ALIASES.get(name, name)
    if key not in SCORES:
        raise unknown_name("score", name, [*SCORES, *ALIASES])
    score: Score = SCORES[key](**settings)
    return score
