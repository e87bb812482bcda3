"""Questions to a network, by names: distributions, explanations, interventions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestdag.data.schema import Variable
from bestdag.errors import DataError, bad_setting, require_choice, require_count, unknown_name
from bestdag.inference.distribution import Distribution, Explanation, Explanations, Marginals
from bestdag.inference.junction_tree import Known
from bestdag.inference.sampling import WeightedSample, draw_weighted
from bestdag.network.table import ConditionalTable

if TYPE_CHECKING:
    from bestdag.network.answers import Answers
    from bestdag.network.content import NetworkContent
    from bestdag.network.network import Network

__all__ = [
    "condition_of",
    "distributions",
    "explanations",
    "intervened",
    "interventions_text",
    "known_of",
    "mutual_information",
    "positions_of",
    "probability",
    "query",
    "said",
    "sampled_marginals",
    "sampled_query",
]

if TYPE_CHECKING:
    Evidence = Mapping[str, str]
    Likelihood = Mapping[str, Sequence[float] | Mapping[str, float]]


def known_of(
    variables: Mapping[str, tuple[int, Variable]],
    evidence: Evidence | None,
    likelihood: Likelihood | None,
    who: str,
) -> Known:
    """Look up evidence: the state of some variables, and weights of the states of others.

    `variables` has the position of each variable by name.
    """
    codes: dict[int, int] = {}
    weights: dict[int, npt.NDArray[np.float64]] = {}
    for name, state in _items(evidence, "given", "names with states", who):
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
    """Write one piece of evidence: name=state, or the name alone for a likelihood."""
    return f"{variable.name}={variable.states[code]}" if code is not None else variable.name


def condition_of(answers: Answers, known: Known) -> tuple[str, ...]:
    """Write interventions and evidence, one by one, for a title."""
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


def _items(mapping: Any, what: str, needed: str, who: str) -> Iterable[tuple[Any, Any]]:
    if mapping is None:
        return ()
    if not isinstance(mapping, Mapping):
        raise bad_setting(who, what, needed, mapping)
    return mapping.items()


def _looked_up(
    variables: Mapping[str, tuple[int, Variable]], name: Any, who: str
) -> tuple[int, Variable]:
    entry = variables.get(name) if isinstance(name, str) else None
    if entry is None:
        raise unknown_name("variable", name, variables, who=who)
    return entry


def _weights(variable: Variable, values: Any, who: str) -> npt.NDArray[np.float64]:
    if isinstance(values, Mapping):
        for state in values:
            variable.code(state)
        values = [values.get(state, 0.0) for state in variable.states]
    what = f"likelihood of {variable.name!r}"
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise bad_setting(who, what, "a list of numbers, one per state", values) from None
    if numbers.shape != (variable.arity,):
        needed = f"{variable.arity} numbers, one per state ({', '.join(variable.states[:6])}"
        raise bad_setting(who, what, needed + (", ...)" if variable.arity > 6 else ")"), values)
    if not (np.isfinite(numbers).all() and (numbers >= 0).all() and (numbers > 0).any()):
        raise bad_setting(who, what, "finite numbers >= 0, some of them above zero", values)
    scaled: npt.NDArray[np.float64] = numbers / numbers.max()  # only ratios matter
    return scaled


_Floats = npt.NDArray[np.float64]


def query(
    answers: Answers,
    targets: str | Iterable[str],
    evidence: Evidence | None,
    likelihood: Likelihood | None,
    *,
    who: str = "query",
    whole: bool = False,
) -> Distribution:
    """Answer `query` exactly."""
    places = _targets(answers, targets, who)
    known = known_of(answers.by_name, evidence, likelihood, who)
    _, values = answers.joint(places, known, who, whole=whole)
    variables = [answers.variables[i] for i in places]
    return Distribution(variables, values, condition=condition_of(answers, known))


def distributions(
    answers: Answers, evidence: Evidence | None, likelihood: Likelihood | None
) -> Marginals:
    """Answer `marginals` exactly."""
    known = known_of(answers.by_name, evidence, likelihood, "marginals")
    _, marginals = answers.marginals(known, "marginals")
    condition = condition_of(answers, known)
    return Marginals(
        (variable.name, Distribution((variable,), values, condition=condition))
        for variable, values in zip(answers.variables, marginals, strict=True)
    )


def sampled_query(
    network: NetworkContent,
    targets: str | Iterable[str],
    evidence: Evidence | None,
    likelihood: Likelihood | None,
    *,
    samples: int,
    seed: int,
    threads: int | None,
) -> Distribution:
    """Answer `query` by likelihood weighting."""
    answers = network._answers()
    places = _targets(answers, targets, "query")
    known = known_of(answers.by_name, evidence, likelihood, "query")
    sample = _drawn(network, places, known, samples, seed, threads, "query")
    return _estimated(answers, places, sample, condition_of(answers, known))


def sampled_marginals(
    network: NetworkContent,
    evidence: Evidence | None,
    likelihood: Likelihood | None,
    *,
    samples: int,
    seed: int,
    threads: int | None,
) -> Marginals:
    """Answer `marginals` by likelihood weighting."""
    answers = network._answers()
    known = known_of(answers.by_name, evidence, likelihood, "marginals")
    every = range(len(answers.variables))
    sample = _drawn(network, every, known, samples, seed, threads, "marginals")
    condition = condition_of(answers, known)
    return Marginals(
        (answers.variables[i].name, _estimated(answers, [i], sample, condition)) for i in every
    )


def _drawn(
    network: NetworkContent,
    places: Sequence[int],
    known: Known,
    samples: int,
    seed: int,
    threads: int | None,
    who: str,
) -> WeightedSample:
    n = require_count(who, "samples", samples, minimum=2)
    tables = network._answers().tables
    return draw_weighted(tables, network._logs(), places, known, n, seed=seed, threads=threads)


def _estimated(
    answers: Answers, places: Sequence[int], sample: WeightedSample, condition: tuple[str, ...]
) -> Distribution:
    values, errors = sample.distribution(places, answers.tables.arities)
    return Distribution(
        [answers.variables[i] for i in places],
        values,
        standard_errors=errors,
        effective_sample_size=sample.effective_size,
        condition=condition,
    )


def probability(
    answers: Answers, evidence: Evidence | None, likelihood: Likelihood | None, *, log: bool
) -> float:
    """Answer `probability`."""
    known = known_of(answers.by_name, evidence, likelihood, "probability")
    log_probability = answers.log_probability(known, "probability")
    return log_probability if log else exp(log_probability)


def explanations(
    answers: Answers,
    variables: str | Iterable[str] | None,
    evidence: Evidence | None,
    likelihood: Likelihood | None,
    n: int,
) -> Explanations:
    """Answer `most_probable`."""
    who = "most_probable"
    n = require_count(who, "n", n, minimum=1)
    known = known_of(answers.by_name, evidence, likelihood, who)
    if variables is None:
        places = list(range(len(answers.variables)))
        log, codes, logs = answers.most_probable(known, n, who)
    else:
        places = _targets(answers, variables, who, what="variables")
        log, codes, logs = answers.marginal_map(places, known, n, who)
    listed = Explanations()
    for row, log_joint in zip(codes.tolist(), logs.tolist(), strict=True):
        states = {
            answers.variables[place].name: answers.variables[place].states[code]
            for place, code in zip(places, row, strict=True)
        }
        listed.append(Explanation(states, min(0.0, log_joint - log)))
    return listed


def mutual_information(
    answers: Answers,
    first: str | Iterable[str],
    second: str | Iterable[str],
    evidence: Evidence | None,
    conditional_on: str | Iterable[str],
) -> float:
    """Answer `mutual_information`, in nats."""
    who = "mutual_information"
    groups = [
        positions_of(answers.by_name, names, what, who)
        for names, what in ((first, "a"), (second, "b"), (conditional_on, "conditional_on"))
    ]
    listed = [place for group in groups for place in group]
    for i, place in enumerate(listed):
        if place in listed[:i]:
            raise DataError(f"{who}: variable {answers.variables[place].name!r} is named twice")
    if not groups[0] or not groups[1]:
        raise DataError(f"{who}: two variables, or two groups of them, are needed")
    known = known_of(answers.by_name, evidence, None, who)
    _, joint = answers.joint(listed, known, who)
    sizes = [int(np.prod([answers.tables.arities[i] for i in group])) for group in groups]
    table = joint.reshape(sizes)
    # I(A; B | C) = H(A, C) + H(B, C) - H(A, B, C) - H(C).
    parts = _entropy(table.sum(axis=1)) + _entropy(table.sum(axis=0))
    return max(0.0, parts - _entropy(table) - _entropy(table.sum(axis=(0, 1))))


def _entropy(table: _Floats) -> float:
    positive = table[table > 0]
    return float(-(positive * np.log(positive)).sum())


def intervened(network: NetworkContent, states: Mapping[str, str]) -> Network:
    """Answer `do`: the variables that are set lose their parents and have one possible state."""
    from bestdag.network.network import Network

    if not isinstance(states, Mapping):
        raise DataError(f"do: names with states are needed, got {states!r:.60}")
    answers = network._answers()
    codes = known_of(answers.by_name, states, None, "do").codes
    tables = []
    for place, table in enumerate(network.tables):
        if place in codes:
            values = np.zeros(table.child.arity)
            values[codes[place]] = 1.0
            table = ConditionalTable(table.child, (), values)
        tables.append(table)
    made = Network(
        tables,
        name=network.name,
        properties=network.properties,
        variable_properties={name: network.properties_of(name) for name in network.names},
    )
    made._done = {**network.interventions, **states}
    return made


def require_method(method: str, who: str) -> bool:
    """Return whether to answer exactly."""
    require_choice(who, "method", method, ["exact", "sampling"])
    return method == "exact"


def _targets(
    answers: Answers, targets: str | Iterable[str], who: str, what: str = "targets"
) -> list[int]:
    places = positions_of(answers.by_name, targets, what, who)
    if not places:
        raise DataError(f"{who}: at least one variable is needed, got none")
    return places
