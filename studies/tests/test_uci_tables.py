"""The twenty tables are cut as those of the papers: sizes, mean arities, optimal scores."""

import pytest
from tests.shared_data import shared_file

from bestdag.learning import learn
from studies.data import TABLES, UNWHOLE, DataFolder, load_table


@pytest.mark.parametrize("name", [name for name in TABLES if name not in ("adult", "shuttle")])
def test_sizes_and_mean_arities_are_those_printed(name):
    data = load_table(DataFolder(shared_file(".")), name)
    n_rows, n_columns, mean_arity = TABLES[name]
    assert (data.n_rows, data.n_variables) == (n_rows, n_columns)
    assert sum(data.arities.values()) / n_columns == pytest.approx(mean_arity, abs=0.0501)
    assert not data.has_missing


def test_missing_cells_may_be_a_state():
    folder = DataFolder(shared_file("."))
    filled, state = (load_table(folder, "breast-cancer", how) for how in ("filled", "state"))
    assert "breast-cancer" in UNWHOLE
    assert sum(state.arities.values()) == sum(filled.arities.values()) + 2


# The optima that bene, the authors' own program, finds on its copies of the tables.
@pytest.mark.parametrize(
    ("name", "scores"),
    [
        ("iris", (-465.435, -425.685, -450.901, -448.697, -452.214)),
        ("ecoli", (-1778.743, -1599.910, -1643.643, -1672.799, -1715.923)),
        ("liver", (-1321.963, -1262.216, -1299.383, -1305.010, -1309.673)),
    ],
)
def test_optimal_scores_are_those_of_the_authors(name, scores):
    data = load_table(DataFolder(shared_file(".")), name)
    for score, wanted in zip(("bic", "aic", "fnml", "qnml", "bdeu"), scores, strict=True):
        found = learn(data, score, search="exact", workers=1)
        assert found.is_proved
        assert found.score == pytest.approx(wanted, abs=6e-4)
