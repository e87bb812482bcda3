"""The search trace as a small picture: the score after each step."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from bestdag.drawing.text import escaped

__all__ = ["trace_svg"]

_WIDTH, _HEIGHT, _LEFT, _BELOW = 640.0, 180.0, 96.0, 26.0
# More steps are thinned out; a screen has no more points.
_MOST_POINTS = 400


def trace_svg(scores: Sequence[float]) -> str:
    """Draw scores against steps; steps before the first finite score are left out."""
    steps = [(k + 1, score) for k, score in enumerate(scores) if isfinite(score)]
    if len(steps) < 2:
        return ""
    if len(steps) > _MOST_POINTS:
        last = len(steps) - 1
        steps = [steps[round(k * last / (_MOST_POINTS - 1))] for k in range(_MOST_POINTS)]
    low, high = min(s for _, s in steps), max(s for _, s in steps)
    first, last = steps[0][0], steps[-1][0]
    tall = (high - low) or 1.0
    points = " ".join(
        f"{_LEFT + (_WIDTH - _LEFT - 12) * (k - first) / (last - first):.1f},"
        f"{10 + (_HEIGHT - _BELOW - 10) * (high - score) / tall:.1f}"
        for k, score in steps
    )
    foot = _HEIGHT - _BELOW
    says = f"Score after each step, from {low:.6g} to {high:.6g}"
    return (
        f'<svg class="trace" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img">'
        f"<title>{escaped(says)}</title>"
        f'<path class="axis" d="M{_LEFT:g} 4V{foot + 4:g}H{_WIDTH - 8:g}"/>'
        f'<text x="{_LEFT - 6:g}" y="14" text-anchor="end">{high:.6g}</text>'
        f'<text x="{_LEFT - 6:g}" y="{foot:g}" text-anchor="end">{low:.6g}</text>'
        f'<text x="{_LEFT:g}" y="{_HEIGHT - 6:g}">step {first:,}</text>'
        f'<text x="{_WIDTH - 8:g}" y="{_HEIGHT - 6:g}" text-anchor="end">step {last:,}</text>'
        f'<polyline points="{points}"/></svg>'
    )
