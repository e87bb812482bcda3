"""Writes the pictures of the documentation, from the code they show.

Run: python -m tools.write_pictures; `make docs` does. Pictures of graphs are the same everywhere,
are kept in docs/pictures, and a test compares them with the code. Figures by matplotlib depend on
its version: they go to docs/figures, which is not kept.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from bestdag import (
    Knowledge,
    Network,
    Scorer,
    Tabu,
    discretize,
    learn,
    learning_curve,
    plots,
    posterior,
    read,
)
from bestdag.drawing.picture import Picture
from bestdag.evaluation.classification import evaluate
from bestdag.examples import example

__all__ = ["FIGURES", "FIGURE_FOLDER", "FOLDER", "figure", "heart", "heart_with_tiers", "pictures"]

_DOCS = Path(__file__).parents[1] / "docs"
FOLDER = _DOCS / "pictures"
FIGURE_FOLDER = _DOCS / "figures"
# Inches; about the width of the text.
_SIZE = (6.4, 4.0)


def pictures() -> dict[str, Picture]:
    """Make every picture of a graph, by the name of its file."""
    truth = Network.load(example("asia.bif"))
    return {
        "asia-learned.svg": learn(example("asia.csv"), "bdeu").plot(),
        "asia-class.svg": truth.dag.cpdag().plot(),
        "heart-learned.svg": learn(heart(), missing="em").plot(),
    }


def heart() -> Any:
    """Cut the table of the tutorial as it does."""
    return discretize(example("heart.csv"), method="quantile", bins=3, missing="keep")


def heart_with_tiers() -> Any:
    """Learn from it with what step 5 of the tutorial states."""
    data, first = heart(), ["hospital", "age", "sex"]
    tiers = [first, [name for name in data.names if name not in first]]
    return learn(data, missing="em", knowledge=Knowledge(tiers=tiers))


def _score_by_parents(ax: Any) -> None:
    data = read(example("asia.csv"))
    scorers = [Scorer(data, name) for name in ("ll", "aic", "bic", "bdeu", "qnml")]
    plots.score_by_parents(scorers, "smoke", max_parents=4, ax=ax)


def _search_trace(ax: Any) -> None:
    search = Tabu(patience=60)
    plots.search_trace(learn(example("asia.csv"), "bic", search=search).bounded(), ax)


def _learning_curve(ax: Any) -> None:
    plots.learning_curve(learning_curve(example("asia.csv"), ["bic", "bdeu", "aic"], "exact"), ax)


def _confusion_matrix(ax: Any) -> None:
    data = heart()
    train, test = data.split(0.7, seed=1)
    chances = learn(train, missing="em").fit().predict_log_proba("disease", test)
    states = data.variable("disease").states
    plots.confusion_matrix(evaluate(states, test.codes("disease"), chances), ax)


def _arc_probabilities(ax: Any) -> None:
    plots.arc_probabilities(posterior(example("asia.csv"), "bdeu"), ax)


FIGURES: dict[str, Callable[[Any], None]] = {
    "score-by-parents.svg": _score_by_parents,
    "search-trace.svg": _search_trace,
    "learning-curve.svg": _learning_curve,
    "confusion-matrix.svg": _confusion_matrix,
    "arc-probabilities.svg": _arc_probabilities,
}


def figure(name: str) -> Figure:
    """Draw one figure."""
    made = Figure(figsize=_SIZE, layout="constrained")
    FIGURES[name](made.add_subplot())
    return made


def main() -> None:
    """Write all of them."""
    for name, picture in pictures().items():
        picture.save(FOLDER / name)
    FIGURE_FOLDER.mkdir(exist_ok=True)
    for name in FIGURES:
        with mpl.rc_context({"svg.hashsalt": name}):
            figure(name).savefig(FIGURE_FOLDER / name, metadata={"Date": None})


if __name__ == "__main__":
    main()
