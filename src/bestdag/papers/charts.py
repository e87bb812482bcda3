"""Charts as SVG: lines with bars, points against a diagonal, names in layers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Line", "layers_chart", "line_chart", "scatter_chart"]

_WIDTH, _HEIGHT = 640, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 150, 20, 50
# Okabe and Ito's colours, which most colour-blind people can tell apart.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")


@dataclass(frozen=True, slots=True)
class Line:
    """One line: a name, points, and where given the ends of a bar at each of them."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


def line_chart(
    lines: Sequence[Line],
    *,
    x: str,
    y: str,
    log_x: bool = False,
    log_y: bool = False,
    names: Sequence[str] | None = None,
) -> str:
    """Draw lines over one pair of axes; with names, the places 0, 1, ... of x are called so."""
    xs = [value for line in lines for value in line.x]
    ys = [v for line in lines for part in (line.y, line.low, line.high) if part for v in part]
    across = _axis(xs, log_x) if names is None else list(range(max(len(names), 2)))
    plane = _Plane(across, _axis(ys, log_y), log_x, log_y)
    drawn = [plane.frame(x, y, names)]
    for number, line in enumerate(lines):
        colour = _COLOURS[number % len(_COLOURS)]
        places = [plane.place(a, b) for a, b in zip(line.x, line.y, strict=True)]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
        drawn.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        drawn += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in places]
        if line.low and line.high:
            for at, low, high in zip(line.x, line.low, line.high, strict=True):
                (a, b), (_, c) = plane.place(at, low), plane.place(at, high)
                shift = 2 * (number - (len(lines) - 1) / 2)
                drawn.append(
                    f'<line x1="{a + shift:.1f}" y1="{b:.1f}" x2="{a + shift:.1f}" y2="{c:.1f}" '
                    f'stroke="{colour}" opacity="0.6"/>'
                )
        drawn.append(_key(line.name, colour, number))
    return _svg(drawn)


def scatter_chart(
    points: Sequence[tuple[str, float, float, float, float]], *, x: str, y: str
) -> str:
    """Draw named points (x, y and the half lengths of their bars) and the diagonal."""
    every = [v for _, a, b, da, db in points for v in (a - da, a + da, b - db, b + db)]
    axis = _axis(every, False)
    plane = _Plane(axis, axis, False, False)
    (a, b), (c, d) = plane.place(axis[0], axis[0]), plane.place(axis[-1], axis[-1])
    drawn = [plane.frame(x, y)]
    drawn.append(f'<line x1="{a:.1f}" y1="{b:.1f}" x2="{c:.1f}" y2="{d:.1f}" stroke="#999999"/>')
    colour = _COLOURS[0]
    for name, at_x, at_y, half_x, half_y in points:
        a, b = plane.place(at_x, at_y)
        for one, other in (
            (plane.place(at_x - half_x, at_y), plane.place(at_x + half_x, at_y)),
            (plane.place(at_x, at_y - half_y), plane.place(at_x, at_y + half_y)),
        ):
            drawn.append(
                f'<line x1="{one[0]:.1f}" y1="{one[1]:.1f}" x2="{other[0]:.1f}" '
                f'y2="{other[1]:.1f}" stroke="{colour}"/>'
            )
        drawn.append(
            f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"><title>{escape(name)}'
            "</title></circle>"
        )
    return _svg(drawn)


def layers_chart(layers: Sequence[Sequence[str]], links: Sequence[tuple[str, str]]) -> str:
    """Draw names in layers, the first at the bottom, with lines between those that are linked."""
    places = {}
    for up, layer in enumerate(layers):
        y = _HEIGHT - 30 - up * (_HEIGHT - 60) / max(1, len(layers) - 1)
        for k, name in enumerate(layer):
            places[name] = ((k + 0.5) * _WIDTH / len(layer), y)
    drawn = []
    for below, above in links:
        (a, b), (c, d) = places[below], places[above]
        drawn.append(
            f'<line x1="{a:.1f}" y1="{b - 14:.1f}" x2="{c:.1f}" y2="{d + 14:.1f}" '
            'stroke="#999999"/>'
        )
    for name, (x, y) in places.items():
        drawn.append(
            f'<rect x="{x - 48:.1f}" y="{y - 14:.1f}" width="96" height="28" rx="4" '
            f'fill="#ffffff" stroke="{_COLOURS[0]}"/>'
            f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle" xml:space="preserve">'
            f"{escape(name)}</text>"
        )
    return _svg(drawn)


@dataclass(frozen=True, slots=True)
class _Plane:
    """Where values are on the page; the axes are their marks."""

    x: Sequence[float]
    y: Sequence[float]
    log_x: bool
    log_y: bool

    def place(self, x: float, y: float) -> tuple[float, float]:
        across = _share(x, self.x, self.log_x)
        up = _share(y, self.y, self.log_y)
        return (
            _LEFT + across * (_WIDTH - _LEFT - _RIGHT),
            _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM),
        )

    def frame(self, x: str, y: str, names: Sequence[str] | None = None) -> str:
        left, bottom = self.place(self.x[0], self.y[0])
        right, top = self.place(self.x[-1], self.y[-1])
        drawn = [
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
            f'height="{bottom - top:.1f}" fill="none" stroke="#444444"/>'
        ]
        for number, mark in enumerate(self.x):
            at, _ = self.place(mark, self.y[0])
            how, text, down = 'text-anchor="middle"', f"{mark:g}", bottom + 16
            if names is not None:
                text = escape(names[number][:9]) if number < len(names) else ""
                turn = f"rotate(-20 {at:.1f} {down:.1f})"
                how = f'text-anchor="middle" font-size="9" transform="{turn}"'
            drawn.append(f'<text x="{at:.1f}" y="{down:.1f}" {how}>{text}</text>')
        for mark in self.y:
            _, at = self.place(self.x[0], mark)
            drawn.append(
                f'<line x1="{left:.1f}" y1="{at:.1f}" x2="{right:.1f}" y2="{at:.1f}" '
                'stroke="#dddddd"/>'
                f'<text x="{left - 6:.1f}" y="{at + 4:.1f}" text-anchor="end">{mark:g}</text>'
            )
        middle = (left + right) / 2
        drawn.append(
            f'<text x="{middle:.1f}" y="{bottom + 38:.1f}" text-anchor="middle">{escape(x)}</text>'
        )
        up = (top + bottom) / 2
        drawn.append(
            f'<text x="16" y="{up:.1f}" text-anchor="middle" '
            f'transform="rotate(-90 16 {up:.1f})">{escape(y)}</text>'
        )
        return "\n".join(drawn)


def _share(value: float, axis: Sequence[float], is_log: bool) -> float:
    low, high = axis[0], axis[-1]
    if is_log:
        value, low, high = math.log(max(value, low)), math.log(low), math.log(high)
    return (value - low) / (high - low)


def _axis(values: Sequence[float], is_log: bool) -> list[float]:
    """Return round marks from below the least value to above the greatest."""
    finite = [v for v in values if math.isfinite(v) and (v > 0 or not is_log)] or [1.0]
    low, high = min(finite), max(finite)
    if is_log:
        first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
        return [10.0**k for k in range(first, max(last, first + 1) + 1)]
    span = (high - low) or abs(high) or 1.0
    step = 10.0 ** math.floor(math.log10(span / 4))
    step *= next(times for times in (1, 2, 5, 10) if span / (step * times) <= 6)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(k * step, 12) for k in range(first, max(last, first + 1) + 1)]


def _key(name: str, colour: str, number: int) -> str:
    at, y = _WIDTH - _RIGHT + 12, _TOP + 14 + 18 * number
    return (
        f'<line x1="{at}" y1="{y - 4}" x2="{at + 20}" y2="{y - 4}" stroke="{colour}" '
        f'stroke-width="2"/><text x="{at + 26}" y="{y}">{escape(name)}</text>'
    )


def _svg(drawn: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>\n'
        + "\n".join(drawn)
        + "\n</svg>"
    )
