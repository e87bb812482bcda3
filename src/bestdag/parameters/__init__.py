"""The estimators of parameters, each in its own file, and the one list that names them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bestdag.errors import InvalidParameterError
from bestdag.parameters.base import Estimator
from bestdag.parameters.dirichlet import Dirichlet, HasPriors
from bestdag.parameters.fsnml import FSNML
from bestdag.parameters.mle import MLE
from bestdag.registry import canonical, make
from bestdag.scores.aic import AIC
from bestdag.scores.base import Score
from bestdag.scores.bic import BIC
from bestdag.scores.fnml import FNML
from bestdag.scores.hqc import HQC
from bestdag.scores.ll import LL
from bestdag.scores.mit import MIT
from bestdag.scores.qnml import QNML

__all__ = ["ESTIMATORS", "choose_estimator", "estimator_for", "make_estimator"]

ESTIMATORS: dict[str, Any] = {e.name: e for e in (MLE, Dirichlet, FSNML)}


def make_estimator(name: str, **settings: Any) -> Estimator:
    """Make an estimator from its name and its settings.

    Examples
    --------
    >>> make_estimator("dirichlet", ess=10)
    Dirichlet(ess=10)
    """
    estimator: Estimator = make("estimator", name, ESTIMATORS, {}, settings)
    return estimator


def estimator_for(score: Score) -> Estimator:
    """Return the estimator that belongs to a score.

    The posterior mean under its own prior for a score with Dirichlet priors, fsNML for the others:
    fNML, qNML, LL, AIC, BIC, HQC and MIT. What was merely not seen never has probability zero. A
    score of your own that has ``priors(counts)`` gets the posterior mean; for another one the
    choice is yours.

    Examples
    --------
    >>> from bestdag.scores import make_score
    >>> estimator_for(make_score("bdeu", ess=4)), estimator_for(make_score("qnml"))
    (Dirichlet(prior=BDeu(ess=4)), FSNML())
    """
    if isinstance(score, HasPriors):
        return Dirichlet(prior=score)
    if isinstance(score, FNML | QNML | LL | AIC | BIC | HQC | MIT):
        return FSNML()
    raise InvalidParameterError(
        f"fit: no parameters belong to the score {score.name!r}; "
        f"choose one of {', '.join(ESTIMATORS)}"
    )


def choose_estimator(
    score: Score, parameters: Estimator | str | None, settings: Mapping[str, Any]
) -> Estimator:
    """Return the estimator asked for, or else the one that belongs to the score.

    The name of the one that belongs to the score means just that one: learned with
    ``BDeu(ess=10)``, "dirichlet" has the same prior. Settings without a name are settings of the
    one that belongs to the score.

    Examples
    --------
    >>> from bestdag.scores import make_score
    >>> score = make_score("bdeu", ess=10)
    >>> choose_estimator(score, None, {}), choose_estimator(score, "dirichlet", {})
    (Dirichlet(prior=BDeu(ess=10)), Dirichlet(prior=BDeu(ess=10)))
    >>> choose_estimator(score, "dirichlet", {"ess": 2}), choose_estimator(score, "mle", {})
    (Dirichlet(ess=2), MLE())
    """
    if parameters is None:
        own = estimator_for(score)
        return make_estimator(own.name, **settings) if settings else own
    if not isinstance(parameters, str):
        if settings:
            raise InvalidParameterError(
                f"fit: {parameters!r} has its settings already, got {', '.join(settings)} too"
            )
        return parameters
    parameters = canonical(parameters, ESTIMATORS)
    if parameters == Dirichlet.name and isinstance(score, HasPriors) and not settings:
        return estimator_for(score)
    return make_estimator(parameters, **settings)
