"""Number columns into intervals: the methods, listed once, and the reading they need."""

from __future__ import annotations

from bestdag.data.discretization.base import Method
from bestdag.data.discretization.fayyad_irani import FayyadIrani
from bestdag.data.discretization.quantile import Quantile
from bestdag.data.discretization.uniform import Uniform

__all__ = ["METHODS"]

METHODS: dict[str, type[Method]] = {m.name: m for m in (FayyadIrani, Quantile, Uniform)}
