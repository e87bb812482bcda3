"""Single questions to data, and many at once."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from bestdag.counts.engine import CountingEngine
from bestdag.counts.provider import flat_groups
from bestdag.data.readers import as_dataset
from bestdag.errors import GraphError, InvalidParameterError
from bestdag.independence import make_test
from bestdag.independence.base import REMARKS, Independence, IndependenceTest
from bestdag.wording import arg, by_reader, shown_value

__all__ = ["as_test", "ask_all", "conditional_mutual_information", "independence_test"]


def as_test(test: IndependenceTest | str) -> IndependenceTest:
    """Return a test, also one that is named."""
    if isinstance(test, str):
        return make_test(test)
    if isinstance(test, type) or not callable(getattr(test, "bind", None)):
        raise InvalidParameterError(
            f"{arg('test')} must be {by_reader('a test or its name', 'the name of a test')}, got "
            f"{shown_value(test)}"
        )
    return test


def ask_all(
    counts: CountingEngine,
    test: IndependenceTest,
    questions: Iterable[tuple[str, str, Iterable[str]]],
    *,
    alpha: float = 0.05,
) -> list[Independence]:
    """Answer many questions, each (one, other, given), in one native call."""
    numbered = [_numbered(counts, *question) for question in questions]
    native = test.bind(counts, alpha)
    ones = np.array([one for one, _, _ in numbered], np.int32)
    others = np.array([other for _, other, _ in numbered], np.int32)
    answers: Any = native.ask(
        ones, others, *flat_groups([g for _, _, g in numbered]), counts.threads
    )
    names = [variable.name for variable in counts.variables]
    return [
        Independence(
            one=names[one],
            other=names[other],
            given=tuple(names[i] for i in condition),
            is_independent=bool(answers["is_independent"][k]),
            statistic=float(answers["statistic"][k]),
            df=float(answers["df"][k]),
            log_p_value=float(answers["log_p"][k]),
            remark=REMARKS[int(answers["remark"][k])],
        )
        for k, (one, other, condition) in enumerate(numbered)
    ]


def independence_test(
    data: Any,
    one: str,
    other: str,
    given: Iterable[str] = (),
    *,
    test: IndependenceTest | str = "g2",
    alpha: float = 0.05,
    threads: int | None = None,
) -> Independence:
    """Test whether two variables are independent, perhaps given others.

    Parameters
    ----------
    data : Dataset, path or frame
        A Dataset, or anything that `read` takes.
    one, other : str
        Two different variables.
    given : iterable of str
        The variables to condition on; none of the two.
    test : IndependenceTest or str, default "g2"
        "g2", "x2", "permutation", or one of these with settings, such as ``G2Test(df="declared")``.
    alpha : float, default 0.05
        Level of significance of the decision, between 0 and 1: independent when the p-value is
        above it.
    threads : int, optional
        One per processor unless given.

    Returns
    -------
    Independence
        The decision, with statistic, degrees of freedom and p-value.

    Raises
    ------
    UnknownNameError
        A variable or a test that does not exist.
    GraphError
        A variable tested against itself, or conditioned on as well.

    Notes
    -----
    A single question: a decision about each of many pairs at this level of significance is wrong
    about some of them. `pc` asks in bulk and puts the answers together.

    Examples
    --------
    >>> from bestdag.examples import example
    >>> print(independence_test(example("asia.csv"), "lung", "bronc", given=["smoke"]))
    I(bronc, lung | smoke): independent; statistic 0.315106, df 2, p 0.8542
    """
    dataset = as_dataset(data)
    names = [given] if isinstance(given, str) else list(given)
    counts = CountingEngine(dataset, threads=threads)
    (answer,) = ask_all(counts, as_test(test), [(one, other, names)], alpha=alpha)
    return answer


def conditional_mutual_information(
    data: Any, one: str, other: str, given: Iterable[str] = ()
) -> float:
    r"""Return the conditional mutual information of two variables in the data, in bits.

    .. math::

        CMI(A, B \mid X) = \sum_{x, a, b} P(x, a, b) \log_2 \frac{P(a, b \mid x)}{P(a \mid x)
        P(b \mid x)}

    with P the frequencies of the rows. It is never below 0, and chance raises it above 0 where the
    variables are independent: by about :math:`df / (2 N \ln 2)`. `independence_test` says how much
    of it chance explains; its G2 is :math:`2 N \ln 2` times this.

    Parameters
    ----------
    data : Dataset, path or frame
        A Dataset, or anything that `read` takes.
    one, other : str
        Two different variables.
    given : iterable of str
        The variables X to condition on.

    References
    ----------
    .. [1] Jensen and Nielsen (2007). "Bayesian Networks and Decision Graphs." Equation 7.2.

    Examples
    --------
    >>> same = ["0", "0", "1", "1"]
    >>> round(conditional_mutual_information({"A": same, "B": same}, "A", "B"), 12)
    1.0
    """
    dataset = as_dataset(data)
    answer = independence_test(dataset, one, other, given)
    assert answer.statistic is not None
    return answer.statistic / (2.0 * dataset.total_weight * math.log(2.0))


def _numbered(
    counts: CountingEngine, one: str, other: str, condition: Iterable[str]
) -> tuple[int, int, list[int]]:
    """Return a question by numbers, the two in name order."""
    ends = sorted((counts.number(one), counts.number(other)))
    members = sorted({counts.number(name) for name in condition})
    if ends[0] == ends[1]:
        raise GraphError(f"independence_test: {one!r} cannot be tested against itself")
    for name, end in zip(sorted((one, other)), ends, strict=True):
        if end in members:
            raise GraphError(f"independence_test: {name!r} cannot be among those given, too")
    return ends[0], ends[1], members
