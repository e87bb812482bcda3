"""Reading by workers: states, missing values, weights and refusals are those of one machine."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest

from bestdag.cluster.reading import FileFacts, divided, read_on, spread
from bestdag.cluster.rows import ClusterRows
from bestdag.counts.engine import CountingEngine
from bestdag.data.readers import read
from bestdag.data.sinks.disk import scan
from bestdag.errors import BestdagError, ClusterError, DataWarning
from tests.cluster.test_counts import all_families, assert_counts_agree

N_ROWS = 240


@pytest.fixture(scope="module")
def holes(tmp_path_factory):
    """A file with missing values; one state is in incomplete rows alone."""
    random = np.random.default_rng(3)
    a = random.integers(0, 3, N_ROWS).tolist()
    b = [("x", "y", "z")[value] for value in random.integers(0, 2, N_ROWS)]
    a[5] = a[200] = None
    b[200] = "z"
    frame = pl.DataFrame({"b": b, "a": a, "n": random.integers(0, 4, N_ROWS)})
    path = tmp_path_factory.mktemp("holes") / "holes.parquet"
    frame.write_parquet(path, row_group_size=50)
    return path


@pytest.mark.parametrize(
    ("missing", "weights"), [("drop", "n"), ("drop", None), ("state", None), ("keep", "n")]
)
def test_missing_cells_and_weights(client, holes, missing, weights):
    with warnings.catch_warnings(record=True) as said_here:
        warnings.simplefilter("always")
        here = read(holes, missing=missing, weights=weights)
    with warnings.catch_warnings(record=True) as said_there:
        warnings.simplefilter("always", DataWarning)
        there = read_on(client, holes, missing=missing, weights=weights)
    assert [str(w.message) for w in said_there] == [str(w.message) for w in said_here]
    assert there.variables == here.variables
    assert there.missing_counts == here.missing_counts
    assert there.total_weight == here.total_weight
    if weights is None:  # rows of weight 0 are not held
        assert (there.n_rows, there.n_complete) == (here.n_rows, here.n_complete)
    how = "available" if missing == "keep" else "error"
    assert_counts_agree(there, here, missing=how)


def test_refusals_are_those_of_one_machine(client, holes, table):
    for path, settings in (
        (holes, {"missing": "error"}),
        (table, {"max_states": 3}),
        (table, {"states": {"b": ["low", "mid"]}}),
        (table, {"columns": ["a", "nobody"]}),
    ):
        said = []
        for how in (read, lambda p, **s: read_on(client, p, **s)):
            with pytest.raises(BestdagError) as raised:
                how(path, **settings)
            said.append((str(raised.value), raised.value.on_command_line))
        assert said[0] == said[1]


@pytest.mark.slow
def test_many_files_are_one_table(client, dataset, table, tmp_path):
    frame = pl.read_parquet(table)
    for k in range(3):
        frame[1000 * k : 1000 * (k + 1)].write_parquet(tmp_path / f"part-{k}.parquet")
    for source in (tmp_path / "part-*.parquet", sorted(tmp_path.glob("*.parquet"))):
        rows = read_on(client, source)
        assert rows.variables == dataset.variables
        assert_counts_agree(rows, dataset)
    frame.drop("a").write_parquet(tmp_path / "part-3.parquet")
    with pytest.raises(BestdagError, match="files must have the same columns"):
        read_on(client, tmp_path / "part-*.parquet")


def test_chosen_columns_and_declared_states(client, table):
    settings = {"columns": ["c", "a"], "states": {"a": ["20", "10", "0", "30"]}}
    here, there = read(table, **settings), read_on(client, table, **settings)
    assert there.variables == here.variables
    assert_counts_agree(there, here)
    assert_counts_agree(there.select(["a"]), here.select(["a"]))


def test_real_weights_agree_but_for_rounding(client, dataset):
    weights = np.random.default_rng(4).random(dataset.n_rows)
    codes = [dataset.codes(name) for name in dataset.names]
    weighted = type(dataset)(dataset.variables, codes, weights)
    engines = [CountingEngine(weighted), CountingEngine(spread(client, weighted))]
    for one, other in zip(*(e.count(all_families(dataset.names)) for e in engines), strict=True):
        np.testing.assert_array_equal(one.configurations, other.configurations)
        np.testing.assert_allclose(one.table, other.table, rtol=1e-12)


def test_what_needs_rows_is_refused_in_one_sentence(client, table):
    rows = read_on(client, table)
    assert isinstance(rows, ClusterRows)
    for ask in (
        lambda: rows.codes("a"),
        lambda: rows.select(rows=[1]),
        rows.to_pandas,
        lambda: rows.split(0.5),
        lambda: rows.with_states({}),
        lambda: rows["a"],
        rows.head,
    ):
        with pytest.raises(ClusterError, match=r"are on 2 workers and cannot be had one by one"):
            ask()
    assert str(rows) == repr(rows)
    assert "&lt;ClusterRows" in rows._repr_html_()


@pytest.mark.parametrize("n_parts", [1, 2, 3, 7, 50])
def test_parts_have_every_row_once_and_about_as_many(n_parts):
    files = [FileFacts("a", 1, (10, 10, 5), ()), FileFacts("b", 1, (40, 1), ())]
    parts = divided(files, n_parts)
    rows = [(p.path, row) for part in parts for p in part for row in range(p.first, p.last)]
    assert rows == [("a", row) for row in range(25)] + [("b", row) for row in range(41)]
    if n_parts > 1:
        sizes = [sum(piece.n_rows for piece in part) for part in parts]
        assert max(sizes) <= 2 * -(-66 // n_parts)


def test_a_declared_state_takes_the_missing_values_everywhere(client, holes):
    states = {"b": ["x", "y", "z", "missing"]}
    here = read(holes, missing="state", states=states)
    assert here.variable("b").states == ("x", "y", "z", "missing")
    there = read_on(client, holes, missing="state", states=states)
    assert (there.variables, there.missing_counts) == (here.variables, {})
    assert scan(holes, missing="state", states=states) == here
    assert_counts_agree(there, here)
