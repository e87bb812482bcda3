"""What the user says is known: names and states turned into positions and codes, or refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestdag.data.schema import Variable
from bestdag.errors import DataError, bad_setting, unknown_name
from bestdag.inference.junction_tree import Known

if TYPE_CHECKING:
    from bestdag.network.answers import Answers

    Given = Mapping[str, str]
    Likelihood = Mapping[str, Sequence[float] | Mapping[str, float]]

__all__ = ["condition_of", "interventions_text", "known_of", "positions_of", "said"]


def known_of(
    variables: Mapping[str, tuple[int, Variable]],
    given: Given | None,
    likelihood: Likelihood | None,
    who: str,
) -> Known:
    """Look up findings: the state of some variables, and weights of the states of others.

    `variables` has the position of each variable by name.
    """
    codes: dict[int, int] = {}
    weights: dict[int, npt.NDArray[np.float64]] = {}
    for name, state in _items(given, "given", "names with states", who):
        place, variable = _looked_up(variables, name, who)
        codes[place] = variable.code(state)
    for name, values in _items(likelihood, "likelihood", "names with numbers", who):
        place, variable = _looked_up(variables, name, who)
        if place in codes:
            raise DataError(f"{who}: the state of {name!r} is known, so it needs no likelihood")
        weights[place] = _weights(variable, values, who)
    return Known(codes, weights)


def positions_of(
    variables: Mapping[str, tuple[int, Variable]], names: str | Iterable[str], what: str, who: str
) -> list[int]:
    """Look up one variable or several, each once."""
    if isinstance(names, str):
        names = [names]
    if not isinstance(names, Iterable):
        raise bad_setting(who, what, "a name or a list of names", names)
    listed = list(names)
    for i, name in enumerate(listed):
        if name in listed[:i]:
            raise DataError(f"{who}: variable {name!r} is named twice")
    return [_looked_up(variables, name, who)[0] for name in listed]


def said(variable: Variable, code: int | None) -> str:
    """Write a finding."""
    return f"{variable.name}={variable.states[code]}" if code is not None else variable.name


def condition_of(answers: Answers, known: Known) -> tuple[str, ...]:
    """Write what was set and what is known, one by one, for a title."""
    variables = answers.variables
    named = [(variables[place], code) for place, code in known.codes.items()]
    return (
        *interventions_text(answers.done),
        *(f"{variable.name} = {variable.states[code]}" for variable, code in named),
        *(f"likelihood of {variables[place].name}" for place in known.weights),
    )


def interventions_text(done: Mapping[str, str]) -> tuple[str, ...]:
    """Write what `do` has set, variable by variable.

    Examples
    --------
    >>> interventions_text({"smoke": "yes"})
    ('do(smoke = yes)',)
    """
    return tuple(f"do({name} = {state})" for name, state in done.items())


def _items(given: Any, what: str, needed: str, who: str) -> Iterable[tuple[Any, Any]]:
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        raise bad_setting(who, what, needed, given)
    return given.items()


def _looked_up(
    variables: Mapping[str, tuple[int, Variable]], name: Any, who: str
) -> tuple[int, Variable]:
    found = variables.get(name) if isinstance(name, str) else None
    if found is None:
        raise unknown_name("variable", name, variables, who=who)
    return found


def _weights(variable: Variable, values: Any, who: str) -> npt.NDArray[np.float64]:
    if isinstance(values, Mapping):
        for state in values:
            variable.code(state)
        values = [values.get(state, 0.0) for state in variable.states]
    what = f"likelihood of {variable.name!r}"
    try:
        found = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise bad_setting(who, what, "a list of numbers, one per state", values) from None
    if found.shape != (variable.arity,):
        needed = f"{variable.arity} numbers, one per state ({', '.join(variable.states[:6])}"
        raise bad_setting(who, what, needed + (", ...)" if variable.arity > 6 else ")"), values)
    if not (np.isfinite(found).all() and (found >= 0).all() and (found > 0).any()):
        raise bad_setting(who, what, "finite numbers >= 0, some of them above zero", values)
    scaled: npt.NDArray[np.float64] = found / found.max()  # only ratios matter
    return scaled
