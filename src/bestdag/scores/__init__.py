"""The scores, each in its own file, and the one list that names them.

base, NAME         what a score is; the scores
local_scores       `LocalScores`: what a search may ask, and all it sees; scores of a user's own
scorer             `Scorer`: a score bound to a table, with structure prior (prior), a limit of
                   support (support), and a memory
engine             families, changes and pairs in bulk by a native kernel, from rows or from counts
table, jkl         `ScoreTable`, the parent sets of each child, and its files
explanation        the terms of a family's score, and what each arc adds
parent_sets        listing the parent sets that a search may need, from rows or fed with scores
"""

from __future__ import annotations

from typing import Any

from bestdag.registry import listed, make
from bestdag.scores.base import Score as Score
from bestdag.scores.prior import StructurePrior

# The list: one line for each score, in the order that help and docs show.
# isort: off
from bestdag.scores.ll import LL as LL
from bestdag.scores.aic import AIC as AIC
from bestdag.scores.bic import BIC as BIC
from bestdag.scores.hqc import HQC as HQC
from bestdag.scores.pnal import PNAL as PNAL
from bestdag.scores.fnml import FNML as FNML
from bestdag.scores.qnml import QNML as QNML
from bestdag.scores.mit import MIT as MIT
from bestdag.scores.k2 import K2 as K2
from bestdag.scores.bd import BD as BD
from bestdag.scores.bdq import BDq as BDq
from bestdag.scores.bde import BDe as BDe
from bestdag.scores.bdeu import BDeu as BDeu
from bestdag.scores.min_bdeu import MinBDeu as MinBDeu
from bestdag.scores.max_bdeu import MaxBDeu as MaxBDeu
# isort: on

SCORES: dict[str, Any] = listed(globals(), __name__)
# What `learn` uses where no score is named: docs/decisions/0045 has the gate that they passed.
DEFAULT_SCORE, DEFAULT_PRIOR = "qnml", "sparse"
ALIASES = {"mdl": "bic", "nml": "fnml"}


def make_score(name: str, **settings: Any) -> Score:
    """Make a score from its name and its settings.

    Parameters
    ----------
    name : str
        One of `SCORES` or `ALIASES`, in any case, such as "bdeu" or "mdl".
    **settings
        Fields of its class.

    Raises
    ------
    UnknownNameError
        A name or a setting that does not exist; the message offers the nearest one.
    InvalidParameterError
        A setting out of range.

    Examples
    --------
    >>> make_score("bdeu", ess=10)
    BDeu(ess=10)
    """
    score: Score = make("score", name, SCORES, ALIASES, settings)
    return score


def chosen_or_default(
    score: Score | str | None, structure_prior: StructurePrior | str | None
) -> tuple[Score, StructurePrior | str | None]:
    """Return the score and the prior of a call; where no score is named, the defaults of both.

    Examples
    --------
    >>> chosen_or_default(None, None), chosen_or_default("bic", None)
    ((QNML(regret='exact'), 'sparse'), (BIC(), None))
    >>> chosen_or_default(None, "uniform")
    (QNML(regret='exact'), 'uniform')
    """
    if score is None:
        return make_score(DEFAULT_SCORE), structure_prior or DEFAULT_PRIOR
    return make_score(score) if isinstance(score, str) else score, structure_prior
