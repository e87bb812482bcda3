"""The estimators of parameters, each in its own file, and the one list that names them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bestdag.errors import InvalidParameterError, unknown_name
from bestdag.parameters.base import Estimator as Estimator
from bestdag.parameters.dirichlet import HasPriors
from bestdag.registry import canonical, listed, make
from bestdag.scores.base import Score
from bestdag.scores.bd import BD

# The list: one line for each estimator, in the order that help and docs show.
# isort: off
from bestdag.parameters.mle import MLE as MLE
from bestdag.parameters.dirichlet import Dirichlet as Dirichlet
from bestdag.parameters.fsnml import FSNML as FSNML
from bestdag.parameters.em import EM as EM
# isort: on

ESTIMATORS: dict[str, Any] = listed(globals(), __name__)
# What networks are fitted by unless another is named, for every score: docs/decisions/0045.
DEFAULT_ESTIMATOR = FSNML.name
# A name for the estimator that belongs to the score.
OF_SCORE = "score"


def make_estimator(name: str, **settings: Any) -> Estimator:
    """Make an estimator from its name and its settings.

    Parameters
    ----------
    name : str
        One of `ESTIMATORS`, in any case: "mle", "dirichlet", "fsnml" or "em".
    **settings
        Fields of its class.

    Raises
    ------
    UnknownNameError
        A name or a setting that does not exist.
    InvalidParameterError
        A setting out of range.

    Examples
    --------
    >>> make_estimator("dirichlet", ess=10)
    Dirichlet(ess=10)
    """
    estimator: Estimator = make("estimator", name, ESTIMATORS, {}, settings)
    return estimator


def estimator_for(score: Score) -> Estimator:
    """Return the estimator that belongs to a score.

    The posterior mean under its own prior for a score that has ``priors(counts)``; else the one
    that the score names as its `estimator`, fsNML for all likelihood scores. What was merely not
    seen never has probability zero. For a score of your own that has neither the choice is yours.

    Raises
    ------
    InvalidParameterError
        A score that has neither.

    Examples
    --------
    >>> from bestdag.scores import make_score
    >>> estimator_for(make_score("bdeu", ess=4)), estimator_for(make_score("qnml"))
    (Dirichlet(prior=BDeu(ess=4)), FSNML())
    """
    if isinstance(score, HasPriors):
        return Dirichlet(prior=score)
    name = getattr(score, "estimator", None)
    if name is not None:
        return make_estimator(name)
    raise InvalidParameterError(
        f"fit: no parameters belong to the score {score.name!r}; "
        f"choose one of {', '.join(ESTIMATORS)}"
    )


def em_with(estimator: Estimator) -> EM:
    """Return EM that ends with what an estimator makes of counts, for incomplete rows.

    Examples
    --------
    >>> em_with(FSNML()).smooth, em_with(Dirichlet(ess=4)).ess, em_with(MLE()) == EM()
    ('fsnml', 4, True)
    """
    match estimator:
        case EM():
            return estimator
        case MLE():
            return EM()
        case FSNML():
            return EM(smooth=FSNML.name)
        case Dirichlet(ess=ess, pseudo_count=None, tables=None, prior=prior):
            return EM(ess=ess, prior=prior)
        case Dirichlet():
            return EM(prior=BD(pseudo_count=estimator.pseudo_count, tables=estimator.tables))
    raise InvalidParameterError(
        f"fit: EM goes with the estimators {', '.join(ESTIMATORS)}, got {estimator.name}"
    )


def choose_estimator(
    score: Score, parameters: Estimator | str | None, settings: Mapping[str, Any]
) -> Estimator:
    """Return the estimator that is named, or else fsNML for every score.

    "score" is the one that belongs to the score, see `estimator_for`. Its own name means just that
    one: learned with ``BDeu(ess=10)``, "dirichlet" and "em" have the same prior.

    Examples
    --------
    >>> from bestdag.scores import make_score
    >>> score = make_score("bdeu", ess=10)
    >>> choose_estimator(score, None, {}), choose_estimator(score, "score", {})
    (FSNML(), Dirichlet(prior=BDeu(ess=10)))
    >>> choose_estimator(score, "dirichlet", {})
    Dirichlet(prior=BDeu(ess=10))
    >>> choose_estimator(score, "dirichlet", {"ess": 2}), choose_estimator(score, "mle", {})
    (Dirichlet(ess=2), MLE())
    """
    if parameters is None:
        parameters = DEFAULT_ESTIMATOR
    if not isinstance(parameters, str):
        if settings:
            raise InvalidParameterError(
                f"fit: {parameters!r} has its settings already, got {', '.join(settings)} too"
            )
        return parameters
    named = [*ESTIMATORS, OF_SCORE]
    parameters = canonical(parameters, named)
    if parameters not in named:
        raise unknown_name("estimator", parameters, named)
    if parameters == OF_SCORE:
        own = estimator_for(score)
        return make_estimator(own.name, **settings) if settings else own
    if parameters == Dirichlet.name and isinstance(score, HasPriors) and not settings:
        return estimator_for(score)
    if (
        parameters == EM.name
        and isinstance(score, HasPriors)
        and settings.keys().isdisjoint(["ess", "prior", "smooth"])
    ):
        return make_estimator(EM.name, prior=score, **settings)
    return make_estimator(parameters, **settings)
