"""Figures of numbers by matplotlib, one function each; the extra ``plot``.

Each function takes a finished value and, if you like, the axes to draw on, and returns the axes.
Structures are drawn by `plot` methods of their own, without matplotlib.
"""

from __future__ import annotations

from bestdag.plots.arc_probabilities import arc_probabilities
from bestdag.plots.confusion_matrix import confusion_matrix
from bestdag.plots.learning_curve import learning_curve
from bestdag.plots.score_by_parents import score_by_parents
from bestdag.plots.search_trace import search_trace

__all__ = [
    "arc_probabilities",
    "confusion_matrix",
    "learning_curve",
    "score_by_parents",
    "search_trace",
]
