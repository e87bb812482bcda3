"""Numeric columns into intervals: the methods, listed once, and the reading they need."""

from __future__ import annotations

from bestdag.data.discretization.base import Method
from bestdag.data.discretization.fayyad_irani import FayyadIrani
from bestdag.data.discretization.quantile import Quantile
from bestdag.data.discretization.uniform import Uniform
from bestdag.errors import InvalidParameterError
from bestdag.registry import make

__all__ = ["METHODS", "default_method", "make_method"]

METHODS: dict[str, type[Method]] = {m.name: m for m in (FayyadIrani, Quantile, Uniform)}


def default_method(target: str | None) -> str:
    """Name the default method: entropy splits where there is a target, else quantiles."""
    return Quantile.name if target is None else FayyadIrani.name


def make_method(who: str, method: str | Method, bins: int | None = None) -> Method:
    """Make a method from its name and its bins, if it has some; an object is one already."""
    settings = {} if bins is None else {"bins": bins}
    if isinstance(method, str):
        made: Method = make("method", method, METHODS, {}, settings)
        return made
    if not hasattr(method, "cuts") or isinstance(method, type):
        raise InvalidParameterError(
            f"{who}: method must be one of {', '.join(METHODS)} or have cuts(values), "
            f"got {method!r:.60}"
        )
    if settings:
        raise InvalidParameterError(
            f"{who}: {method!r} has its settings already, got bins too; leave them out"
        )
    return method
