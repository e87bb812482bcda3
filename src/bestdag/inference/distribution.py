"""What a question to a network returns: distributions, explanations and estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestdag.data.schema import Variable
from bestdag.errors import DataError, import_optional, unknown_name
from bestdag.tabular import Table, Tabular, html_of, shown_text
from bestdag.wording import aligned, count_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Distribution", "Estimate", "Explanation", "Explanations", "Marginals", "condition_text"]

_Floats = npt.NDArray[np.float64]

# Rows that text and HTML show.
_SHOWN = 40
_BAR = 20  # signs of a bar in text
_CONDITIONS = 8  # pieces of evidence in a title


class Distribution:
    """The distribution of one variable, or the joint distribution of several.

    Parameters
    ----------
    variables : sequence of Variable
        What it is about, in the order of the axes.
    values : array of float64
        The probability of each configuration, the last variable varying fastest; any shape.
    standard_errors : array of float64, optional
        Of the probabilities, where these were estimated by sampling.
    effective_sample_size : float, optional
        How many independent rows the sample was worth.
    condition : sequence of str
        Evidence and interventions, as text: printed, and no part of comparisons.

    Examples
    --------
    >>> lung = Variable("lung", ("no", "yes"))
    >>> posterior = Distribution([lung], np.array([0.9, 0.1]), condition=["smoke = yes"])
    >>> posterior["yes"], posterior.most_probable(), posterior.to_dict()
    (0.1, 'no', {'no': 0.9, 'yes': 0.1})
    >>> print(posterior)
    P(lung | smoke = yes)
      no   0.9  ##################
      yes  0.1  ##
    """

    __slots__ = ("_errors", "_values", "condition", "effective_sample_size", "variables")

    def __init__(
        self,
        variables: Sequence[Variable],
        values: _Floats,
        *,
        standard_errors: _Floats | None = None,
        effective_sample_size: float | None = None,
        condition: Sequence[str] = (),
    ) -> None:
        self.variables: tuple[Variable, ...] = tuple(variables)
        self._values = values
        self._errors = standard_errors
        self.effective_sample_size = effective_sample_size
        self.condition: tuple[str, ...] = tuple(condition)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables, in the order of the axes."""
        return tuple(variable.name for variable in self.variables)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of states of each variable."""
        return tuple(variable.arity for variable in self.variables)

    @property
    def values(self) -> _Floats:
        """The probabilities, with an axis for each variable."""
        return self._values.reshape(self.shape)

    @property
    def standard_errors(self) -> _Floats | None:
        """Standard errors of the probabilities; None where these are exact."""
        return None if self._errors is None else self._errors.reshape(self.shape)

    @property
    def is_exact(self) -> bool:
        """Whether the probabilities were worked out, not sampled."""
        return self._errors is None

    def __getitem__(self, states: str | tuple[str, ...] | Mapping[str, str]) -> float:
        """Return the probability of a state; of one state for each variable, or by names."""
        return float(self._values.reshape(-1)[self._number(states)])

    def _number(self, states: str | tuple[str, ...] | Mapping[str, str]) -> int:
        if isinstance(states, Mapping):
            for name in states:
                if name not in self.names:
                    raise unknown_name("variable", name, self.names, who="Distribution")
            chosen: tuple[Any, ...] = tuple(states[name] for name in self.names if name in states)
        else:
            chosen = states if isinstance(states, tuple) else (states,)
        if len(chosen) != len(self.variables):
            raise DataError(
                f"Distribution: a state is needed for each of {', '.join(self.names)}, "
                f"got {len(chosen)}"
            )
        number = 0
        for variable, state in zip(self.variables, chosen, strict=True):
            number = number * variable.arity + variable.code(state)
        return number

    def _states(self, number: int) -> tuple[str, ...]:
        chosen = []
        for variable in reversed(self.variables):
            number, code = divmod(number, variable.arity)
            chosen.append(variable.states[code])
        return tuple(chosen[::-1])

    def _key(self, number: int) -> Any:
        states = self._states(number)
        return states[0] if len(states) == 1 else states

    def most_probable(self) -> Any:
        """Return the most probable state, or a tuple of states of several; ties to the first.

        Of several variables it is the most probable joint configuration, which need not be made of
        the states that are most probable one by one.
        """
        return self._key(int(self._values.argmax()))

    def to_dict(self) -> dict[Any, float]:
        """Return the probabilities by state, or by tuples of states of several variables."""
        return {self._key(i): p for i, p in enumerate(self._values.reshape(-1).tolist())}

    def to_pandas(self) -> pd.Series[float]:
        """Return a pandas Series, indexed by the states of each variable."""
        pandas = import_optional("pandas", who="Distribution.to_pandas")
        if len(self.variables) == 1:
            index = pandas.Index(self.variables[0].states, name=self.names[0])
        else:
            index = pandas.MultiIndex.from_product(
                [variable.states for variable in self.variables], names=self.names
            )
        series: pd.Series[float] = pandas.Series(
            self._values.reshape(-1), index=index, name="probability"
        )
        return series

    def marginal(self, *names: str) -> Distribution:
        """Return the distribution of some of the variables: the others are summed over.

        Parameters
        ----------
        *names : str
            The variables that stay, in the order of the result's axes.

        Raises
        ------
        DataError
            If the distribution was sampled: the errors of sums are not known.
        UnknownNameError
            A name that is not a variable.

        Examples
        --------
        >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
        >>> joint = Distribution([rain, wet], np.array([[0.72, 0.08], [0.0, 0.2]]))
        >>> round(joint.marginal("wet")["yes"], 6)
        0.28
        """
        if not self.is_exact:
            raise DataError("Distribution: a sampled one has no marginals; ask for them by query()")
        for name in names:
            if name not in self.names:
                raise unknown_name("variable", name, self.names, who="Distribution")
        rest = tuple(i for i, name in enumerate(self.names) if name not in names)
        summed = self.values.sum(axis=rest)
        left = [name for name in self.names if name in names]
        values = summed.transpose([left.index(name) for name in names])
        chosen = [self.variables[self.names.index(n)] for n in names]
        return Distribution(chosen, values, condition=self.condition)

    def entropy(self) -> float:
        r"""Return the entropy in nats, :math:`-\sum_x P(x) \ln P(x)`.

        Between 0 and the logarithm of the number of configurations.

        Examples
        --------
        >>> coin = Distribution([Variable("coin", ("heads", "tails"))], np.array([0.5, 0.5]))
        >>> round(coin.entropy(), 6)
        0.693147
        """
        positive = self._values[self._values > 0]
        return float(-(positive * np.log(positive)).sum()) + 0.0

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        values = self.values
        return np.array(values, dtype=dtype) if copy is not False else np.asarray(values, dtype)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Distribution):
            return NotImplemented
        return self.variables == other.variables and bool(
            np.array_equal(self._values.reshape(-1), other._values.reshape(-1))
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        what = (self.variables, self._values, self._errors, self.effective_sample_size)
        return _rebuilt, (*what, self.condition)

    def _lines(self) -> list[tuple[tuple[str, ...], float, str]]:
        shown = self._values.reshape(-1)[:_SHOWN].tolist()
        errors = [] if self._errors is None else self._errors.reshape(-1)[:_SHOWN].tolist()
        return [
            (self._states(i), p, f" ± {errors[i]:.2g}" if errors else "")
            for i, p in enumerate(shown)
        ]

    @property
    def _title(self) -> str:
        names = ", ".join(map(shown_text, self.names))
        return f"P({names} | {condition_text(self.condition)})" if self.condition else f"P({names})"

    @property
    def _more(self) -> str:
        n_more = self._values.size - _SHOWN
        return f"... and {count_of(n_more, 'more configuration')}" if n_more > 0 else ""

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.shape))
        kind = "" if self.is_exact else ", sampled"
        return f"<Distribution of {', '.join(self.names)}: {shape} states{kind}>"

    def __str__(self) -> str:
        header = [(*map(shown_text, self.names), "", "")] if len(self.variables) > 1 else []
        rows = [
            (*map(shown_text, states), f"{p:.6g}{error}", "#" * round(p * _BAR))
            for states, p, error in self._lines()
        ]
        text = [self._title, *(f"  {line}" for line in aligned([*header, *rows]))]
        if self._more:
            text.append(f"  {self._more}")
        if self.effective_sample_size is not None:
            text.append(f"  effective sample size {self.effective_sample_size:,.0f}")
        return "\n".join(text)

    def _table(self) -> Table:
        errors = () if self._errors is None else ("standard_error",)
        numbers = [self._values.reshape(-1)]
        if self._errors is not None:
            numbers.append(self._errors.reshape(-1))
        notes = []
        if self.effective_sample_size is not None:
            notes.append(f"effective sample size {self.effective_sample_size:,.0f}")
        return Table(
            names=(*self.names, "probability", *errors),
            rows=(
                (*self._states(i), *(float(n[i]) for n in numbers)) for i in range(len(numbers[0]))
            ),
            n_rows=len(numbers[0]),
            n_labels=len(self.variables),
            title=self._title,
            notes=notes,
            bars="probability",
        )

    def _repr_html_(self) -> str:
        return html_of(self._table())


class Marginals(dict[str, Distribution], Tabular):
    """The distribution of each variable, by name: a dict of `Distribution`.

    Probabilities of different variables given the same evidence; what they say together takes
    `Network.query` with several targets.
    """

    def _table(self) -> Table:
        shown = next(iter(self.values()), None)
        condition = shown.condition if shown is not None else ()
        return Table(
            names=("variable", "state", "probability"),
            rows=(
                (name, state, p) for name, one in self.items() for state, p in one.to_dict().items()
            ),
            n_rows=sum(len(one.variables[0].states) for one in self.values()),
            n_labels=2,
            title=f"marginals given {condition_text(condition)}" if condition else "marginals",
            bars="probability",
        )


def condition_text(condition: Sequence[str]) -> str:
    """Write evidence and interventions, of many the first.

    Examples
    --------
    >>> condition_text(["do(tub = no)", "smoke = yes"])
    'do(tub = no), smoke = yes'
    """
    shown = ", ".join(map(shown_text, condition[:_CONDITIONS]))
    n_more = len(condition) - _CONDITIONS
    return f"{shown}, and {n_more:,} more" if n_more > 0 else shown


def _rebuilt(
    variables: tuple[Variable, ...],
    values: _Floats,
    errors: _Floats | None,
    effective_sample_size: float | None,
    condition: tuple[str, ...],
) -> Distribution:
    return Distribution(
        variables,
        values,
        standard_errors=errors,
        effective_sample_size=effective_sample_size,
        condition=condition,
    )


@dataclass(frozen=True, slots=True)
class Explanation:
    """One of the most probable configurations.

    Attributes
    ----------
    states : dict of name to state
        The configuration; variables of the evidence have their states there.
    log_probability : float
        Natural logarithm of its probability given the evidence.
    """

    states: dict[str, str]
    log_probability: float

    @property
    def probability(self) -> float:
        """Its probability given the evidence; 0 where that is too small for a double."""
        return exp(self.log_probability)

    def __str__(self) -> str:
        lines = [f"probability {self.probability:.6g}, log {self.log_probability:.6f}"]
        states = [tuple(map(shown_text, pair)) for pair in self.states.items()]
        return "\n".join([*lines, *(f"  {line}" for line in aligned(states))])


class Explanations(list[Explanation], Tabular):
    """The most probable configurations, the best first: a list of `Explanation`."""

    def _table(self) -> Table:
        names = list(self[0].states) if self else []
        return Table(
            names=("probability", *names),
            rows=((one.probability, *one.states.values()) for one in self),
            n_rows=len(self),
            title="most probable configurations",
            bars="probability",
        )


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number, exact or sampled; ``float`` gives the value.

    Attributes
    ----------
    value : float
        The number.
    standard_error : float
        Zero where the number is exact.
    n_samples : int
        Rows drawn; 0 where the number is exact.

    Examples
    --------
    >>> estimate = Estimate(1.5)
    >>> float(estimate), estimate.is_exact
    (1.5, True)
    """

    value: float
    standard_error: float = 0.0
    n_samples: int = 0

    @property
    def is_exact(self) -> bool:
        """Whether the number was worked out, not sampled."""
        return self.n_samples == 0

    def __float__(self) -> float:
        return self.value
