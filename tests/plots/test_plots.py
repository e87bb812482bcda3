"""What is drawn are the numbers of the value that is drawn."""

import sys
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from bestdag import Scorer, bootstrap, learn, learning_curve, plots, read
from bestdag.errors import InvalidParameterError, MissingPackageError, UnknownNameError
from bestdag.evaluation.classification import evaluate
from bestdag.examples import example
from bestdag.validation.learning_curve import LearningCurve

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
DATA = read(example("asia.csv"))


@pytest.fixture(autouse=True)
def _closed():
    yield
    from matplotlib import pyplot

    pyplot.close("all")


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def cell_texts(ax):
    return {tuple(map(int, text.get_position()[::-1])): text.get_text() for text in ax.texts}


def test_search_trace_has_the_scores_the_best_so_far_and_the_bound():
    found = learn(DATA, "bic", search="annealing")
    result = replace(found, bound=found.score + 3)
    ax = plots.search_trace(result)
    scores, best, bound = (line.get_ydata() for line in ax.lines)
    assert list(scores) == [step.score for step in result.trace]
    assert list(best) == [max(scores[: k + 1]) for k in range(len(scores))]
    assert set(bound) == {result.bound}
    assert ax.lines[0].get_xdata()[0] == 1
    assert labels(ax) == ["score", "best so far", "no structure scores more"]


def test_search_trace_without_a_bound_has_no_line_for_it():
    assert len(learn(DATA, "bic", search="hill_climb").plot_trace().lines) == 2


def test_search_trace_of_no_steps_is_refused():
    with pytest.raises(InvalidParameterError, match="search_trace: exact took no steps to draw"):
        plots.search_trace(learn(DATA, "bic", search="exact"))


def test_score_by_parents_is_the_best_set_of_each_size():
    scorers = [Scorer(DATA, "bic"), Scorer(DATA, "aic")]
    ax = plots.score_by_parents(scorers, "dysp", max_parents=3)
    assert labels(ax) == ["bic", "aic"]
    others = [name for name in DATA.names if name != "dysp"]
    for scorer, line, top in zip(scorers, ax.lines[:4:2], ax.lines[1:4:2], strict=True):
        by_hand = [
            max(scorer.family("dysp", chosen) for chosen in combinations(others, size))
            - scorer.family("dysp")
            for size in range(4)
        ]
        assert list(line.get_ydata()) == pytest.approx(by_hand)
        assert list(top.get_xdata()) == [by_hand.index(max(by_hand))]
    assert list(ax.lines[1].get_xdata()) == [2]  # bronchitis and either, as in the true network


def test_score_by_parents_of_one_scorer_stops_at_all_other_variables():
    data = DATA.select(columns=["smoke", "lung", "xray"])
    ax = plots.score_by_parents(Scorer(data, "bic"), "lung", max_parents=9)
    assert list(ax.lines[0].get_xdata()) == [0, 1, 2]


def test_score_by_parents_refuses_what_it_does_not_know_and_too_much():
    scorer = Scorer(DATA, "bic")
    with pytest.raises(UnknownNameError, match=r"score_by_parents: .*'lungs'"):
        plots.score_by_parents(scorer, "lungs")
    with pytest.raises(InvalidParameterError, match="at least one scorer"):
        plots.score_by_parents([], "lung")
    wide = read({f"x{k:02}": ["a", "b"] for k in range(60)})
    with pytest.raises(InvalidParameterError, match="up to 5 parents are 5,495,792 sets"):
        plots.score_by_parents(Scorer(wide, "bic"), "x00", max_parents=5)


def test_learning_curve_draws_the_mean_and_the_range():
    found = LearningCurve((10, 100), {"bic": np.array([[3.0, 2.0], [5.0, 2.5]])}, 7)
    ax = found.plot()
    assert ax.lines[0].get_xdata().tolist() == [10, 100]
    assert ax.lines[0].get_ydata().tolist() == [4.0, 2.25]
    (band,) = ax.collections
    corners = {tuple(point) for point in band.get_paths()[0].vertices.tolist()}
    assert corners == {(10, 3), (10, 5), (100, 2), (100, 2.5)}
    assert ax.get_xscale() == "log"
    once = LearningCurve((10, 100), {"bic": np.array([[3.0, 2.0]])}, 7)
    assert not once.plot().collections


def test_confusion_matrix_has_counts_in_cells_and_shares_as_colours():
    chances = np.log([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    ax = evaluate(("no", "$yes"), np.array([0, 0, 1, 1]), chances).plot()
    assert ax.images[0].get_array().tolist() == [[1.0, 0.0], [0.5, 0.5]]
    assert cell_texts(ax) == {(0, 0): "2", (0, 1): "0", (1, 0): "1", (1, 1): "1"}
    assert [text.get_text() for text in ax.get_xticklabels()] == ["no", "$yes"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted", "true")
    assert ax.get_title() == "3 of 4 right: 75.0 % (30.1 to 95.4)"
    ax.figure.canvas.draw()  # a lone dollar is no formula


def test_arc_probabilities_are_the_matrix():
    found = bootstrap(DATA, "bic", search="hill_climb", replicates=3)
    ax = plots.arc_probabilities(found)
    np.testing.assert_array_equal(ax.images[0].get_array(), found.matrix)
    assert [text.get_text() for text in ax.get_yticklabels()] == list(found.names)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("child", "parent")


def test_given_axes_are_drawn_on():
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    assert plots.score_by_parents(Scorer(DATA, "bic"), "lung", max_parents=1, ax=ax) is ax
    assert len(ax.lines) == 3


def test_without_matplotlib_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingPackageError) as raised:
        learning_curve(DATA, "bic", "exact", sizes=[50], repeats=1).plot()
    assert str(raised.value) == (
        "learning_curve: needs the package 'matplotlib', which is not installed; "
        "install it with: pip install 'bestdag[plot]'"
    )


def test_matplotlib_is_imported_when_something_is_drawn():
    import subprocess

    code = "import sys, bestdag.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
