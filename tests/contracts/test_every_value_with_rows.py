"""Every value that is a table has a pandas frame and a view in notebooks, whatever names it has.

A value is found by its class, `Tabular`; one that has no example here fails.
"""

import importlib
import pkgutil
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

import bestdag  # noqa: E402
from bestdag import (  # noqa: E402
    Dag,
    Dataset,
    Network,
    Scorer,
    Variable,
    bootstrap,
    compare,
    cross_validate,
    ess_grid,
    evaluate_network,
    learn,
    learning_curve,
    posterior,
    saturation,
    sensitivity,
    structural_rank,
)
from bestdag.evaluation.classification import evaluate  # noqa: E402
from bestdag.tabular import Table, Tabular, html_of, measures  # noqa: E402

# Names that would break a page, mathematics, a line, or a frame whose labels are no index.
NAMES = ("<script>alert(1)</script>", "$x_1$ & co", "two\nlines", '"quoted"')
STATES = ("<b>", "", "two\nlines")


@cache
def network():
    rng = np.random.default_rng(0)
    variables = [Variable(name, STATES) for name in NAMES]
    tables = [
        bestdag.ConditionalTable(
            child, variables[:k], rng.dirichlet(np.full(3, 0.5), (3,) * k if k else None)
        )
        for k, child in enumerate(variables)
    ]
    return Network(tables)


@cache
def data():
    return network().sample(120, seed=1)


@cache
def sure():
    return bootstrap(data(), replicates=5)


def chains():
    settings = {"steps": 200, "burn_in": 10, "samples": 20}
    return posterior(data(), method="chains", **settings)


def close():
    settings = {"score": ["bic", "bdeu"], "search": "tree", "k": 2}
    return cross_validate(data(), **settings)


def classified():
    truth = np.array([0, 1, 2])
    return evaluate(STATES, truth, np.log(np.eye(3) * 0.7 + 0.1), notes=("<i>",))


# Each with how many rows its frame has.
EXAMPLES = {
    "Distribution": lambda: (network().query([NAMES[0], NAMES[1]]), 9),
    "Marginals": lambda: (network().marginals({NAMES[0]: "<b>"}), 12),
    "Explanations": lambda: (network().most_probable(n=5), 5),
    "Explanation": lambda: (Scorer(data()).explain(NAMES[0], [NAMES[1]]), 3),
    "WeightedDags": lambda: (sure().dags, len(sure().dags)),
    "ChainDiagnostics": lambda: (chains().diagnostics, 8),
    "ConditionalTable": lambda: (network().table(NAMES[2]), 9),
    "ArcProbabilities": lambda: (sure(), len(sure().edges())),
    "TruthComparison": lambda: (sure().compare(network()), 2),
    "StructureComparison": lambda: (compare(network(), Dag(NAMES)), 6),
    "CrossValidation": lambda: (close(), 2),
    "MethodResult": lambda: (close().best, 2),
    "PairedDifference": lambda: (close().differences()[0], 4),
    "NetworkEvaluation": lambda: (evaluate_network(network(), data()), 5),
    "Evaluation": lambda: (classified(), 3),
    "Sensitivity": lambda: (sensitivity(Dag(NAMES), data()), 6),
    "SensitivityGrid": lambda: (sensitivity(Dag(NAMES), data(), ess=[1, 2]), 2),
    "StructuralRank": lambda: (structural_rank(Dag(NAMES), Scorer(data())), 8),
    "Structures": lambda: (learn(data(), "bdeu", near_optimal=4).structures, 4),
    "Saturation": lambda: (saturation(data(), sizes=[60, 120]), 2),
    "EssGrid": lambda: (ess_grid(data(), grid=[1, 5]), 2),
    "LearningCurve": lambda: (learning_curve(data(), "bic", sizes=[40, 60], repeats=1), 2),
}


def every_tabular():
    for module in pkgutil.walk_packages(bestdag.__path__, "bestdag."):
        if module.name.split(".")[1] not in ("sklearn", "cluster", "__main__"):  # of extras
            importlib.import_module(module.name)
    ours = (kind for kind in Tabular.__subclasses__() if kind.__module__.startswith("bestdag."))
    return {kind.__name__ for kind in ours}


class Page(HTMLParser):
    """Elements that are open, and the text of all."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], set(), ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_every_table_has_an_example():
    assert every_tabular() | {"Distribution"} == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_its_frame_has_a_row_for_each(name):
    value, n_rows = EXAMPLES[name]()
    frame = value.to_pandas()
    assert isinstance(frame, pd.DataFrame | pd.Series)
    assert len(frame) == n_rows


@pytest.mark.parametrize("name", EXAMPLES)
def test_its_view_is_whole_and_escapes_names(name):
    value, _ = EXAMPLES[name]()
    page = Page(value._repr_html_())
    assert not page.open
    assert page.tags <= {"div", "b", "table", "thead", "tbody", "tr", "th", "td"}
    assert "$" not in value._repr_html_()
    assert page.text.count("\n") == 0


def test_numbers_of_frames_are_numbers_by_name():
    frame = network().query(NAMES[0]).to_pandas()
    assert frame["<b>"] == network().query(NAMES[0])["<b>"]
    frame = network().marginals().to_pandas()
    assert frame.loc[(NAMES[1], ""), "probability"] == network().query(NAMES[1])[""]
    table = network().table(NAMES[1])
    assert table.to_pandas().loc["<b>"].tolist() == table.row(**{NAMES[0]: "<b>"}).tolist()
    edge = sure().edges()[0]
    assert tuple(sure().to_pandas().iloc[0]) == edge
    assert classified().to_pandas().to_numpy().tolist() == classified().confusion.tolist()


def test_a_frame_whose_child_is_called_as_a_state_of_it():
    a, b = Variable("x", ("x", "y")), Variable("y", ("x", "y"))
    table = bestdag.ConditionalTable(b, (a,), [[0.25, 0.75], [0.5, 0.5]])
    frame = table.to_pandas()
    assert frame.index.tolist() == ["x", "y"]
    assert frame.loc["y"].tolist() == [0.5, 0.5]


def test_a_sparse_table_has_its_listed_rows_and_one_for_all_others():
    days = Variable("day", tuple(map(str, range(20_000))))
    wet = Variable("wet", ("no", "yes"))
    table = bestdag.ConditionalTable.of_rows(wet, (days,), [[7]], [[0.9, 0.1]], [0.5, 0.5])
    frame = table.to_pandas()
    assert frame.index.tolist() == ["7", "all others"]
    assert "all others" in table._repr_html_()


# What is not shown is not worked out: rows come one by one.
def test_only_what_is_shown_is_worked_out():
    def rows():
        yield from ((k, 0.5) for k in range(40))
        raise AssertionError

    shown = html_of(Table(names=("number", "share"), rows=rows(), n_rows=10**9, bars="share"))
    assert "... and 999,999,960 more rows" in shown


def test_a_value_of_its_own_rows_is_a_table():
    class Own(Tabular):
        def _table(self):
            return measures({"a": 1, "b": "x", "c": 2.5}, "<title>")

    assert Own().to_pandas()["value"].to_dict()["a"] == 1
    assert "&lt;title&gt;" in Own()._repr_html_()


def test_a_dataset_shows_its_first_rows():
    page = Page(Dataset(data().variables, [data().codes(n) for n in NAMES])._repr_html_())
    assert not page.open
    assert "script" not in page.tags
