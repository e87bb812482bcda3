"""`discretize`: which columns are cut, every kind of table, missing values, weights, new rows."""

import datetime
import io
import json
import pickle
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bestdag import Dataset, Network, Variable, discretize, read
from bestdag.data.discretization.quantile import Quantile
from bestdag.errors import DataError, DataWarning, InvalidParameterError, UnknownNameError
from bestdag.network.table import ConditionalTable

N = 12
# `dose` is cut between 0.6 and 0.7; `code` has few whole numbers; `name` is text.
TABLE = {
    "dose": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2],
    "code": [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3],
    "name": ["ann", "bob"] * 6,
    "ill": ["no"] * 6 + ["yes"] * 6,
}
EXPECTED = Dataset(
    [
        Variable("dose", ("<=0.65", ">0.65"), (0.65,)),
        Variable("code", ("1", "2", "3")),
        Variable("name", ("ann", "bob")),
        Variable("ill", ("no", "yes")),
    ],
    [[0] * 6 + [1] * 6, [0, 1, 2] * 4, [0, 1] * 6, [0] * 6 + [1] * 6],
)


def write_csv(table, path):
    pd.DataFrame(table).to_csv(path, index=False)
    return path


def as_json_lines(table, path):
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


SOURCES = {
    "dict": lambda table, folder: table,
    "text in a dict": lambda table, folder: {k: list(map(str, v)) for k, v in table.items()},
    "pandas": lambda table, folder: pd.DataFrame(table),
    "pandas nullable": lambda table, folder: pd.DataFrame(table).convert_dtypes(),
    "polars": lambda table, folder: pl.DataFrame(table),
    "polars decimal": lambda table, folder: pl.DataFrame(table).with_columns(
        pl.col("dose").cast(pl.Decimal(10, 3))
    ),
    "arrow": lambda table, folder: pa.table(table),
    "csv": lambda table, folder: write_csv(table, folder / "t.csv"),
    "csv.gz": lambda table, folder: write_csv(table, folder / "t.csv.gz"),
    "stream": lambda table, folder: io.StringIO(pd.DataFrame(table).to_csv(index=False)),
    "parquet": lambda table, folder: (
        pq.write_table(pa.table(table), folder / "t.parquet"),
        folder / "t.parquet",
    )[1],
    "json lines": lambda table, folder: as_json_lines(table, folder / "t.jsonl"),
    "text in json lines": lambda table, folder: as_json_lines(
        {k: list(map(str, v)) for k, v in table.items()}, folder / "t.jsonl"
    ),
    "relation": lambda table, folder: duckdb.connect().from_arrow(pa.table(table)),
    "decimals": lambda table, folder: table | {"dose": [Decimal(str(x)) for x in table["dose"]]},
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_kind_of_table_gives_the_same(kind, tmp_path):
    source = SOURCES[kind](TABLE, tmp_path)
    assert discretize(source, target="ill") == EXPECTED


def test_an_array_takes_its_names_from_columns():
    array = np.array([TABLE["dose"], [0] * 6 + [1] * 6]).T
    data = discretize(array, columns=["dose", "ill"], target="ill")
    assert data.variable("dose") == EXPECTED.variable("dose")
    assert data.variable("ill").states == ("0", "1")


def test_columns_are_cut_that_have_fractions_or_too_many_values():
    numbers = list(range(120))
    table = {
        "whole": numbers,
        "few": [i % 20 for i in numbers],
        "more": [i % 21 for i in numbers],
        "text": [f"{i}" for i in numbers],
        "half": [i % 2 + 0.5 for i in numbers],
        "yes": [i % 3 == 0 for i in numbers],
        "state": pd.Categorical([i % 2 + 0.5 for i in numbers]),
        "c": [i // 60 for i in numbers],
    }
    data = discretize(table, method="quantile", states={"half": ["0.5", "1.5"]})
    cut = [v.name for v in data.variables if v.cuts is not None]
    assert cut == ["whole", "more", "text"]
    assert data.variable("text").states == data.variable("whole").states
    assert "half" in [v.name for v in discretize(table, method="quantile").variables if v.cuts]
    assert discretize(table, method="quantile", max_values=21).variable("more").cuts is None
    assert discretize(table, method="quantile", max_values=19).variable("few").cuts
    assert discretize(table, method="quantile", max_states=19).variable("few").cuts
    forced = discretize(table, method="uniform", bins=2, cut="few", drop=["whole", "text"])
    assert [v.name for v in forced.variables if v.cuts is not None] == ["few"]
    assert forced.variable("few").states == ("<=9.5", ">9.5")
    named = discretize(table, method="uniform", bins=2, cut=["state"], columns=["state"])
    assert named.variable("state").cuts == (1.0,)


def test_the_target_is_never_cut():
    table = {"x": [0.5, 1.5, 2.5, 3.5], "c": [0.5, 0.5, 1.5, 1.5]}
    data = discretize(table, target="c")
    assert data.variable("c") == Variable("c", ("0.5", "1.5"))
    assert data.variable("x").cuts == (2.0,)


def test_many_texts_are_refused_as_in_read():
    table = {"x": [0.5] * 60, "id": [f"n{i}" for i in range(60)], "c": ["a", "b"] * 30}
    with pytest.raises(DataError, match=r"column 'id' has too many distinct values .* drop it"):
        discretize(table, target="c")
    with pytest.raises(DataError, match=r"column 'id' has too many distinct values .60 >"):
        discretize(table, target="id")


# One cut column each: constant, all missing, one that tells nothing, one row.
@pytest.mark.parametrize("method", ["fayyad_irani", "quantile", "uniform"])
def test_a_column_without_cuts_has_one_state(method):
    table = {"k": [0.5] * 4, "gone": [None] * 4, "c": ["a", "b", "a", "b"]}
    with pytest.warns(DataWarning, match="columns 'k' and 'gone' have one state each") as caught:
        data = discretize(table, target="c", method=method, missing="keep")
    assert data.variable("k") == Variable("k", ("all",), ())
    assert data.variable("gone") == Variable("gone", ("all",), ())
    assert data.missing_counts == {"gone": 4}
    assert [warning.filename for warning in caught] == [__file__]


def test_one_row_and_no_rows(tmp_path):
    with pytest.warns(DataWarning, match="one state"):
        assert discretize({"x": [0.5], "c": ["a"]}, target="c").n_rows == 1
    (tmp_path / "t.csv").write_text("x,c\n")
    for source in ({"x": [], "c": []}, tmp_path / "t.csv", pd.DataFrame({"x": [1.5][:0]})):
        with pytest.raises(DataError, match="has no rows"):
            discretize(source, method="quantile")


MISSING = {
    "x": [0.5, 1.5, None, 2.5, 3.5, 9.5, 9.6],
    "c": ["a", "a", "b", "b", "b", None, "a"],
    "y": ["u", "v", "u", "u", "v", "u", None],
}


@pytest.mark.parametrize("kind", ["dict", "csv", "parquet", "pandas"])
def test_missing_cells(kind, tmp_path):
    source = SOURCES[kind](MISSING, tmp_path)
    with pytest.raises(DataError, match=r"3 columns have 3 missing values: 'x' \(1\), 'c' \(1\)"):
        discretize(source, target="c")
    # Dropped rows play no part: x = 0.5 1.5 | 2.5 3.5 with classes a a b b.
    source = SOURCES[kind](MISSING, tmp_path)
    with pytest.warns(DataWarning, match="dropped 3 of 7 rows"):
        data = discretize(source, target="c", missing="drop")
    assert data.variable("x") == Variable("x", ("<=2", ">2"), (2.0,))
    assert data.codes("x").tolist() == [0, 0, 1, 1]
    # Kept: the row without a class plays no part, the one without y does.
    # 0.5 a, 1.5 a, 2.5 b, 3.5 b, 9.6 a: N Gain = 5 (0.971) - 3 (0.918) = 2.1 at 1.5 | 2.5, and
    # log2(4) + log2(7) - (2 (0.971) - 2 (0.918)) = 4.7: no cut.
    source = SOURCES[kind](MISSING, tmp_path)
    with pytest.warns(DataWarning, match="one state"):
        data = discretize(source, target="c", missing="keep")
    assert data.variable("x").cuts == ()
    assert data.missing_counts == {"x": 1, "c": 1, "y": 1}


def test_missing_cells_as_a_state_keep_the_cut_points():
    table = {"x": [0.5, None, 2.5], "c": ["a", "b", None]}
    data = discretize(table, method="uniform", bins=2, missing="state")
    assert data.variable("x") == Variable("x", ("<=1.5", ">1.5", "missing"), (1.5,))
    assert data.codes("x").tolist() == [0, 2, 1]
    new = discretize({"x": [9, None], "c": [None, "a"]}, like=data, missing="state")
    assert new.variables == data.variables
    assert new.codes("x").tolist() == [1, 2]
    assert new.codes("c").tolist() == [2, 0]


def test_missing_values_are_texts_or_numbers(tmp_path):
    table = {"x": ["0.5", "NA", "-9", "-9.0", "4.5"], "n": [0.5, 1.5, -9, -9, 4.5]}
    marks = ("", "NA", "-9")
    for source in (table, write_csv(table, tmp_path / "t.csv")):
        data = discretize(source, method="uniform", bins=2, missing="keep", missing_values=marks)
        assert data.missing_counts == {"x": 3, "n": 2}
        assert data.variable("x").cuts == data.variable("n").cuts == (2.5,)
    with pytest.raises(
        DataError, match="column 'x' must hold numbers to be binned, got 'NA' in row 2"
    ):
        discretize(table, method="uniform", cut="x")


@pytest.mark.parametrize("text", ["nan", "1_000", "1,5", "x", "0x10", "True"])
def test_text_that_is_no_number(text, tmp_path):
    table = {"x": ["1.5", "2", text], "c": ["a", "b", "a"]}
    for source in (table, write_csv(table, tmp_path / "t.csv")):
        assert discretize(source, target="c").variable("x").cuts is None
        with pytest.raises(
            DataError, match=rf"column 'x' must hold numbers .* got '{text}' in row 3"
        ):
            discretize(source, target="c", cut=["x"])


@pytest.mark.parametrize("text", ["inf", "-Infinity", " 3 ", "+1.", ".5", "1e400"])
def test_text_that_is_a_number(text, tmp_path):
    table = {"x": ["1.5", "2", text]}
    for source in (table, write_csv(table, tmp_path / "t.csv")):
        data = discretize(source, cuts={"x": [1.75]}, cut=[])
        assert data.codes("x").tolist() == [0, 1, int(float(text) > 1.75)]


def test_json_nulls_are_missing_and_the_text_null_is_not(tmp_path):
    source = as_json_lines({"x": [0.5, None, "NA", 1.5]}, tmp_path / "t.jsonl")
    marks = {"missing": "keep", "missing_values": ("", "NA")}
    data = discretize(source, cuts={"x": [1]}, cut=[], **marks)
    assert data.codes("x").tolist() == [0, 2, 2, 1]
    source = as_json_lines({"x": [0.5, None, "null", True]}, tmp_path / "u.jsonl")
    with pytest.raises(DataError, match="got 'null' in row 3"):
        discretize(source, cuts={"x": [1]}, cut=[], **marks)


def test_dates_and_booleans_are_no_numbers(tmp_path):
    table = {"day": [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)], "b": [True, False]}
    for source in (table, pd.DataFrame(table), pl.DataFrame(table), pa.table(table)):
        assert all(v.cuts is None for v in discretize(source, method="uniform").variables)
        with pytest.raises(DataError, match="column 'b' must hold numbers"):
            discretize(source, method="uniform", cut="b")


def test_weights_are_repeated_rows(tmp_path):
    rng = np.random.default_rng(5)
    x, n = rng.integers(0, 30, 60) / 4, rng.integers(0, 4, 60)
    c = np.where((x > 3) ^ (rng.random(60) < 0.1), "hi", "lo")
    table = {"x": x, "c": c, "n": n}
    repeated = {"x": np.repeat(x, n), "c": np.repeat(c, n)}
    for method in ("fayyad_irani", "quantile"):
        plain = discretize(repeated, target="c", method=method).variable("x")
        for source in (table, pd.DataFrame(table), write_csv(table, tmp_path / "t.csv")):
            data = discretize(source, target="c", method=method, weights="n")
            assert data.variable("x") == plain
            assert data.total_weight == n.sum()
        given = discretize({"x": x, "c": c}, target="c", method=method, weights=n)
        assert given.variable("x") == plain
    assert len(plain.cuts) == 4


# Weights 0.1 and 0.2: N Gain = 0.3 (0.918) = 0.28, Delta = log2(7) - 2 (0.918) = 0.97.
def test_rows_may_weigh_too_little_for_a_cut():
    table = {"x": [1.5, 2.5], "c": ["a", "b"]}
    assert discretize(table, target="c").variable("x").cuts == (2.0,)
    with pytest.warns(DataWarning, match="column 'x' has one state, 'all'"):
        assert discretize(table, target="c", weights=[0.1, 0.2]).variable("x").cuts == ()


def test_new_rows_get_the_old_cut_points(tmp_path):
    new = {"dose": [-5, 0.65, 0.66, 1e9], "code": [3, 3, 1, 1], "name": ["ann"] * 4}
    new["ill"] = ["no"] * 4
    for source in (new, write_csv(new, tmp_path / "n.csv"), pl.DataFrame(new, strict=False)):
        data = discretize(source, like=EXPECTED)
        assert data.variables == EXPECTED.variables
        assert data.codes("dose").tolist() == [0, 0, 1, 1]
    with pytest.raises(DataError, match=r"'dose' must hold numbers .* got 'much' in row 2"):
        discretize(new | {"dose": ["1", "much", "2", "3"]}, like=EXPECTED)
    with pytest.raises(UnknownNameError, match="unknown value in column 'name': 'zoe'"):
        discretize(new | {"name": ["zoe"] * 4}, like=EXPECTED)
    with pytest.raises(DataError, match="column 'extra' is not in like=; leave it out with drop"):
        discretize(new | {"extra": [1] * 4}, like=EXPECTED)
    assert discretize(new | {"extra": [1] * 4}, like=EXPECTED.variables, drop="extra").n_rows == 4
    with pytest.raises(UnknownNameError, match="unknown column 'dose'"):
        discretize({"code": [1]}, like=EXPECTED)
    with pytest.raises(InvalidParameterError, match=r"like= .* leave out target="):
        discretize(new, like=EXPECTED, target="ill")


def test_intervals_come_back_from_every_export(tmp_path):
    EXPECTED.to_csv(tmp_path / "t.csv")
    assert discretize(tmp_path / "t.csv", like=EXPECTED) == EXPECTED
    for table in (EXPECTED.to_pandas(), EXPECTED.to_polars(), EXPECTED.to_arrow(), EXPECTED):
        assert discretize(table, like=EXPECTED) == EXPECTED
        assert read(table).variable("dose").states == ("<=0.65", ">0.65")
    assert pickle.loads(pickle.dumps(EXPECTED)) == EXPECTED
    with pytest.raises(UnknownNameError, match=r"'>0\.9'"):
        discretize({**TABLE, "dose": ["<=0.65"] * 11 + [">0.9"]}, like=EXPECTED)


def test_a_network_file_keeps_the_cut_points(tmp_path):
    variables = [*EXPECTED.variables, Variable("one", ("all",), ())]
    tables = [ConditionalTable(v, (), np.full(v.arity, 1 / v.arity)) for v in variables]
    Network(tables).save(tmp_path / "net.bif")
    net = Network.load(tmp_path / "net.bif")
    with pytest.warns(DataWarning, match="column 'one' has one state"):
        data = discretize(TABLE | {"one": range(N)}, like=net.variables)
    assert data.drop("one") == EXPECTED
    assert data.variable("one").cuts == ()


def test_given_cut_points():
    with pytest.warns(DataWarning, match="column 'code' has one state, 'all'"):
        data = discretize(TABLE, cuts={"dose": [0.25, 1], "code": []}, target="ill")
    assert data.variable("dose").states == ("<=0.25", "0.25 to 1", ">1")
    assert data.variable("code") == Variable("code", ("all",), ())
    assert data.codes("dose").tolist() == [0, 0] + [1] * 8 + [2, 2]


@pytest.mark.parametrize(
    "points",
    [[2, 1], [1, 1], [float("nan")], [float("inf")], "12", 3, ["x"], [10**400]],
)
def test_refuses_wrong_cut_points(points):
    with pytest.raises(InvalidParameterError, match="cut points of 'dose' must be"):
        discretize(TABLE, cuts={"dose": points}, target="ill")


@pytest.mark.filterwarnings("ignore::bestdag.DataWarning")
def test_the_method_goes_by_the_target_and_may_be_an_object():
    assert discretize(TABLE) == discretize(TABLE, method="quantile", bins=5)
    assert discretize(TABLE, bins=3) == discretize(TABLE, method="quantile", bins=3)
    assert discretize(TABLE, target="ill") == discretize(TABLE, target="ill", method="fayyad_irani")
    assert discretize(TABLE, method=Quantile(bins=2)) == discretize(TABLE, bins=2)
    for method, message in ((Quantile, "or have cuts"), (7, "or have cuts")):
        with pytest.raises(InvalidParameterError, match=message):
            discretize(TABLE, method=method)
    with pytest.raises(InvalidParameterError, match="has its settings already, got bins too"):
        discretize(TABLE, method=Quantile(bins=2), bins=3)


def test_refusals():
    with pytest.raises(InvalidParameterError, match=r"'fayyad_irani' needs target.*quantile, unif"):
        discretize(TABLE, method="fayyad_irani")
    with pytest.raises(UnknownNameError, match=r"unknown method 'quantiles'.*'quantile'"):
        discretize(TABLE, method="quantiles")
    with pytest.raises(UnknownNameError, match="fayyad_irani: unknown setting 'bins'"):
        discretize(TABLE, target="ill", bins=3)
    with pytest.raises(UnknownNameError, match=r"unknown column 'il'.*'ill'"):
        discretize(TABLE, target="il")
    with pytest.raises(UnknownNameError, match="unknown column 'dos'"):
        discretize(TABLE, target="ill", cut=["dos"])
    with pytest.raises(InvalidParameterError, match="the target 'ill' cannot be binned"):
        discretize(TABLE, target="ill", cut=["ill"])
    with pytest.raises(DataError, match=r"'sex' must hold numbers to be binned, got 'f' in row 1"):
        discretize({"sex": ["f", "m"]}, method="uniform", cut="sex", states={"sex": ["f", "m"]})
    with pytest.raises(DataError, match="column 'ill' has 2 rows, column 'x' has 3"):
        discretize({"x": [0.5, 1.5, 2.5], "ill": ["a", "b"]}, target="ill")
    with pytest.raises(DataError, match=r"column 'x' holds .*list"):
        discretize({"x": [[1], [2]], "ill": ["a", "b"]}, target="ill")


def test_the_refusal_of_read_is_cured_by_discretize():
    table = {"x": list(range(60)), "c": ["a", "b"] * 30}
    with pytest.raises(DataError, match="bin it if it holds numbers"):
        read(table)
    assert discretize(table, method="quantile").arities["x"] == 5


def test_the_order_of_rows_and_columns_does_not_matter():
    frame = pd.DataFrame(TABLE)
    mixed = frame.sample(frac=1, random_state=1)[["ill", "name", "dose", "code"]]
    data = discretize(mixed, target="ill")
    assert {v.name: v for v in data.variables} == {v.name: v for v in EXPECTED.variables}


def test_a_wide_table_goes_through_a_file_of_its_own(tmp_path):
    rng = np.random.default_rng(0)
    table = {f"x{i:03}": rng.random(40).round(3) for i in range(150)}
    table["c"] = rng.integers(0, 2, 40)
    source = write_csv(table, tmp_path / "t.csv")
    assert discretize(source, method="uniform") == discretize(table, method="uniform")
