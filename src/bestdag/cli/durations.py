"""Durations on the command line: a number of seconds, or parts with units."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["DURATION", "time_limit_option"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_SECONDS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "min": 60.0, "s": 1.0, "ms": 1e-3}
_PART = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(d|h|min|ms|m|s)", re.IGNORECASE)


class _Duration(click.types.FloatParamType):
    """Seconds: a number, or such as 30s, 5m, 2h or 1h30m."""

    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        text = str(value)
        try:
            return float(text)
        except ValueError:
            pass
        parts = list(_PART.finditer(text))
        units = [_SECONDS[part[2].lower()] for part in parts]
        is_whole = "".join(part[0] for part in parts) == text.rstrip()
        if not parts or not is_whole or units != sorted(set(units), reverse=True):
            self.fail(
                f"{value!r} is not a duration; give seconds, or such as 30s, 5m, 2h or 1h30m",
                param,
                ctx,
            )
        return sum(float(part[1]) * unit for part, unit in zip(parts, units, strict=True))


DURATION = _Duration()


def time_limit_option(
    text: str = "Time limit, e.g. 30s, 5m.",
) -> Callable[[_Function], _Function]:
    """Return the option --time-limit."""
    return click.option("--time-limit", type=DURATION, metavar="TIME", help=text)
