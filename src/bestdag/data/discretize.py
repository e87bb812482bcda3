"""`discretize`: a table with numeric columns as a table of discrete data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy.typing as npt

from bestdag.data.cutting import Cutter
from bestdag.data.dataset import Dataset
from bestdag.data.discretization import METHODS, default_method, make_method
from bestdag.data.discretization.base import Method
from bestdag.data.discretization.cuts import check_cuts, cut_variable
from bestdag.data.readers import read_cut, read_matching
from bestdag.data.schema import DEFAULT_MAX_STATES, DEFAULT_MAX_VALUES, Variable
from bestdag.data.settings import choose, text_list
from bestdag.errors import InvalidParameterError, require_count
from bestdag.wording import arg

__all__ = ["discretize"]


def discretize(
    source: Any,
    *,
    target: str | None = None,
    method: Method | str | None = None,
    bins: int | None = None,
    cut: str | Iterable[str] | None = None,
    cuts: Mapping[str, Sequence[float]] | None = None,
    like: Dataset | Iterable[Variable] | None = None,
    max_values: int = DEFAULT_MAX_VALUES,
    states: Mapping[str, Sequence[str]] | None = None,
    missing: str = "error",
    missing_values: Iterable[str] = ("",),
    max_states: int = DEFAULT_MAX_STATES,
    weights: str | npt.ArrayLike | None = None,
    columns: str | Iterable[str] | None = None,
    drop: str | Iterable[str] | None = None,
    allow_few_rows: bool = False,
    separator: str | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
) -> Dataset:
    """Read a table and cut its numeric columns into intervals.

    Parameters
    ----------
    source : path, stream or table
        Whatever `read` takes.
    target : str, optional
        The class column, which is never cut. The method ``fayyad_irani`` needs it.
    method : {"fayyad_irani", "quantile", "uniform"} or Method, optional
        Entropy splits that tell the classes of `target` apart, with the MDL criterion to stop;
        equally many cases per interval; equal widths. By default ``fayyad_irani`` where there is
        a target, else ``quantile``.
    bins : int, optional
        Number of intervals of ``quantile`` and ``uniform``, 5 by default.
    cut : str or iterable of str, optional
        The columns to cut. By default those whose values are all numbers, one of them not whole
        or more than `max_values` of them distinct. Columns with declared states (by `states`,
        pandas Categorical, polars Enum, Arrow dictionary, Dataset) are cut only when named here.
        An empty list leaves all columns as they are but those in `cuts`.
    cuts : mapping of str to sequence of float, optional
        Known cut points of some columns, ascending. An empty list makes one interval.
    like : Dataset or iterable of Variable, optional
        Apply the cut points and states of these variables, instead of making new ones: for new
        rows of an old table. Every column must be among them.
    max_values : int, default 20
        Most distinct values, all whole, that a numeric column keeps as states, if `cut` does not
        name it.
    states, missing, missing_values, max_states, weights, columns, drop, allow_few_rows
        As in `read`, and so are `separator`, `sheet` and `encoding`. In a numeric column a missing
        value that is a number is compared as one.

    Returns
    -------
    Dataset
        Each variable that was cut has its cut points in `Variable.cuts`; the others have None.

    Raises
    ------
    DataError
        If the table cannot be used as it is; the message says where and what to do.
    InvalidParameterError
        If settings do not go together.
    UnknownNameError
        If a name is no column, or the method is not known.

    Notes
    -----
    A value x is in interval number (how many cut points are < x), so beyond all cut points it is
    in an outer one. Numbers are float64: whole numbers beyond 2**53 that round to one float are
    equal. Cut points are made from the rows that count: not from missing values, nor from rows of
    weight 0, nor (``fayyad_irani``) rows without a class, nor rows that ``missing="drop"`` drops.
    A column without cut points, because it is constant, is all missing or gets no cut, has one
    state, ``all``, and a DataWarning says so.

    Examples
    --------
    >>> table = {"dose": [0.1, 0.2, 0.3, 0.7, 0.8, 0.9], "ill": ["yes"] * 3 + ["no"] * 3}
    >>> data = discretize(table, target="ill")
    >>> data.variable("dose")
    Variable(name='dose', states=('<=0.5', '>0.5'), cuts=(0.5,))
    >>> discretize({"dose": [9.5], "ill": ["no"]}, like=data).codes("dose")
    array([1], dtype=uint8)
    >>> discretize(table, bins=3).variable("dose").cuts  # equally many rows in each
    (0.25, 0.75)
    """
    made = make_method("discretize", default_method(target) if method is None else method, bins)
    if like is not None:
        other_settings = {
            "target": target,
            "bins": bins,
            "cut": cut,
            "cuts": cuts,
            "states": states,
        }
        for setting, value in (other_settings | {"columns": columns}).items():
            if value is not None:
                raise InvalidParameterError(
                    f"discretize: like= says what every column becomes; leave out {setting}="
                )
        return read_matching(
            source,
            like.variables if isinstance(like, Dataset) else like,
            missing=missing,
            missing_values=missing_values,
            max_states=max_states,
            weights=weights,
            drop=drop,
            allow_few_rows=allow_few_rows,
            separator=separator,
            sheet=sheet,
            encoding=encoding,
            owner="like=",
        )
    chosen = None if cut is None else frozenset(text_list("cut", cut))
    if made.needs_target and target is None and chosen != frozenset():
        others = ", ".join(name for name, kind in METHODS.items() if not kind.needs_target)
        raise InvalidParameterError(
            f"discretize: {arg('method', made.name)} needs {arg('target')}; name the class column, "
            f"or choose a method without one: {others}"
        )
    cutter = Cutter(
        method=made,
        target=target,
        cut=chosen,
        known={
            name: cut_variable(name, check_cuts("discretize", name, points))
            for name, points in (cuts or {}).items()
        },
        max_values=require_count("discretize", "max_values", max_values),
    )
    choice = choose(
        source,
        states=states,
        missing=missing,
        missing_values=missing_values,
        max_states=max_states,
        weights=weights,
        columns=columns,
        drop=drop,
        allow_few_rows=allow_few_rows,
        separator=separator,
        sheet=sheet,
        encoding=encoding,
    )
    return read_cut(source, choice, cutter, cuts_are_chosen=True).dataset
