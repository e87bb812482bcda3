"""read: states, limits, missing values, weights and the choice of columns, whatever the source."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestdag.data.dataset import Dataset
from bestdag.data.readers import read
from bestdag.errors import DataError, DataWarning, InvalidParameterError, UnknownNameError

HOLES = {"a": ["1", None, "3", "2"], "b": ["x", "y", "", "z"], "c": ["p", "q", "p", "q"]}


def as_csv(columns, path):
    names = list(columns)
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(names)] + [",".join("" if c is None else str(c) for c in r) for r in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(params=["memory", "csv"])
def holes(request, tmp_path):
    return HOLES if request.param == "memory" else as_csv(HOLES, tmp_path / "t.csv")


def test_missing_cells_are_refused_by_default_with_columns_counts_and_remedies(holes):
    with pytest.raises(DataError) as caught:
        read(holes)
    assert str(caught.value).partition(": ")[2].partition(": ")[2] == (
        "2 columns have 2 missing values: 'a' (1), 'b' (1); "
        "pass missing='drop', missing='state' or missing='keep', or leave the columns out with drop"
    )
    with pytest.raises(DataError, match="column 'a' has 1 missing value; pass missing="):
        read(holes, drop="b")


def test_missing_drop_says_how_many_and_equals_reading_the_complete_rows(holes):
    with pytest.warns(DataWarning, match="dropped 2 of 4 rows") as caught:
        data = read(holes, missing="drop")
    assert all(w.filename == __file__ for w in caught)
    # Rows 0 and 3 are complete; 'y' and '3' were seen in dropped rows only.
    assert data == read({"a": ["1", "2"], "b": ["x", "z"], "c": ["p", "q"]})


def test_missing_drop_keeps_declared_states(holes):
    with pytest.warns(DataWarning, match="dropped"):
        data = read(holes, missing="drop", states={"a": ["3", "2", "1"]})
    assert data.variable("a").states == ("3", "2", "1")


def test_missing_drop_refuses_to_leave_nothing():
    with pytest.raises(DataError, match="every row has a missing value"):
        read({"a": ["x", None], "b": [None, "y"]}, missing="drop")


def test_missing_state_is_last_and_only_where_needed(holes):
    data = read(holes, missing="state")
    assert data.variable("a").states == ("1", "2", "3", "missing")
    assert data.codes("a").tolist() == [0, 3, 2, 1]
    assert data.variable("c").states == ("p", "q")
    assert not data.has_missing
    with pytest.raises(DataError, match="already has a state called 'missing'"):
        read({"a": ["missing", None, "x"]}, missing="state")


def test_missing_state_may_need_the_wider_type():
    values = [f"s{i:03}" for i in range(255)]
    data = read({"a": [*values, None]}, missing="state", max_states=300)
    assert data.variable("a").arity == 256
    assert data.codes("a").dtype == np.uint16
    assert data.codes("a")[-1] == 255


def test_missing_keep_keeps_the_code_past_the_last_state(holes):
    data = read(holes, missing="keep")
    assert data.codes("a").tolist() == [0, 3, 2, 1]
    assert data.codes("b").tolist() == [0, 1, 3, 2]
    assert data.missing_counts == {"a": 1, "b": 1}


def test_missing_values_are_texts_of_cells_of_any_type():
    data = read(
        {"a": [1, -9, 2], "b": ["NA", "u", "v"]}, missing_values=("-9", "NA"), missing="keep"
    )
    assert data.variable("a").states == ("1", "2")
    assert data.missing_counts == {"a": 1, "b": 1}


def test_empty_cells_that_are_not_called_missing_are_a_state_with_a_warning(tmp_path):
    columns = {"a": ["", "x", "NA"], "b": ["u", "v", "u"]}
    for source in (columns, as_csv(columns, tmp_path / "t.csv")):
        with pytest.warns(DataWarning, match="column 'a' has the state '' .*missing_values") as got:
            kept = read(source, missing_values=("NA",), missing="keep")
        assert len(got) == 1
        assert kept.variable("a").states == ("", "x")
        declared = read(source, missing_values=("NA",), missing="keep", states={"a": ["x", ""]})
        assert declared.variable("a").states == ("x", "")  # asked for: no warning
    assert read(kept, missing_values=(), missing="keep") == kept


def test_a_column_without_values_needs_declared_states(tmp_path):
    for source in (
        {"a": ["", None], "b": [1, 2]},
        as_csv({"a": ["", ""], "b": [1, 2]}, tmp_path / "t.csv"),
    ):
        with pytest.raises(DataError, match="column 'a' has no values, all 2 values are missing"):
            read(source, missing="keep")
        data = read(source, missing="keep", states={"a": ["u", "v"]})
        assert data.codes("a").tolist() == [2, 2]


def test_declared_states_set_order_and_stay_when_unseen(holes):
    data = read(holes, missing="keep", states={"c": ["r", "q", "p"]})
    assert data.variable("c").states == ("r", "q", "p")
    assert data.codes("c").tolist() == [2, 1, 2, 1]


def test_a_value_that_is_not_declared_is_named(holes):
    with pytest.raises(
        UnknownNameError, match=r"unknown value in column 'c': 'q'; known: p, Q .did you"
    ):
        read(holes, missing="keep", states={"c": ["p", "Q"]})


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ({"c": "pq"}, "must be a list of texts"),
        ({"c": ["p", ""]}, "missing_values calls missing"),
        ({"c": ["p", "p"]}, "listed twice"),
        ({"c": [0, 1]}, "must be text"),
        ({"d": ["p"]}, "unknown column 'd'"),
    ],
)
def test_states_that_make_no_sense_are_refused(states, message):
    with pytest.raises((InvalidParameterError, DataError, UnknownNameError), match=message):
        read({"c": ["p", "q"]}, states=states)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"missing": "em"}, "missing must be one of 'error', 'drop', 'state', 'keep', got 'em'"),
        ({"max_states": 0}, "max_states must be a whole number >= 1"),
        ({"max_states": 2.5}, "max_states must be a whole number >= 1"),
    ],
)
def test_settings_outside_their_range_are_refused(setting, message):
    with pytest.raises(InvalidParameterError, match=message):
        read({"c": ["p", "q"]}, **setting)


@pytest.mark.parametrize("kind", ["memory", "csv"])
def test_too_many_distinct_values_name_column_count_and_remedy(kind, tmp_path):
    columns = {
        "k": [i % 2 for i in range(400)],
        "id": list(range(400)),
        "j": [i % 51 for i in range(400)],
    }
    source = columns if kind == "memory" else as_csv(columns, tmp_path / "t.csv")
    with pytest.raises(
        DataError, match=r"2 columns .* max_states=50.: 'id' \(400\), 'j' \(51\); bin those"
    ):
        read(source)
    with pytest.raises(
        DataError,
        match=r"column 'j' has too many distinct values \(51 > max_states=50\); "
        r"bin it if it holds numbers, drop it, or raise max_states",
    ):
        read(source, drop=["id"])
    assert read(source, max_states=51, drop="id").arities["j"] == 51
    # A missing text is no state, so it does not count.
    assert read(source, drop="id", missing_values=["7"], missing="keep").arities["j"] == 50
    # Declared states are no surprise.
    declared = [str(i) for i in range(51)]
    assert read(source, drop="id", states={"j": declared}).arities["j"] == 51


@pytest.mark.parametrize("kind", ["memory", "csv"])
def test_more_states_than_codes_are_refused(kind, tmp_path):
    columns = {"id": list(range(65_536))}
    source = columns if kind == "memory" else as_csv(columns, tmp_path / "t.csv")
    with pytest.raises(
        DataError, match=r"65,536 distinct values, at most 65,535 states are possible"
    ):
        read(source, max_states=1_000_000)


def test_as_many_states_as_codes_fit():
    data = read({"id": list(range(65_535))}, max_states=65_535)
    assert data.codes("id").tolist() == list(range(65_535))


def test_a_number_column_of_distinct_values_reports_how_many(tmp_path):
    path = as_csv(
        {"x": [i / 7 for i in range(30_000)], "y": [i % 2 for i in range(30_000)]},
        tmp_path / "t.csv",
    )
    with pytest.raises(DataError, match=r"column 'x' has too many distinct values \(30,000 >"):
        read(path)


def test_one_state_is_allowed_with_a_warning():
    with pytest.warns(DataWarning, match="column 'a' has one state, 'x'"):
        assert read({"a": ["x", "x"], "b": ["u", "v"]}).arities["a"] == 1


def message_of(source, **options):
    with pytest.warns(DataWarning) as caught:
        read(source, **options)
    (warning,) = caught  # one for all columns
    return str(warning.message)


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (1, "column 'v0' has one state, 'x'"),
        (2, "columns 'v0' and 'v1' have one state each"),
        (5, "columns 'v0', 'v1', 'v2', 'v3' and 'v4' have one state each"),
        (6, "columns 'v0', 'v1', 'v2', 'v3', 'v4' and 1 more have one state each"),
        (60, "columns 'v0', 'v1', 'v2', 'v3', 'v4' and 55 more have one state each"),
    ],
)
def test_one_warning_names_the_first_columns_with_one_state(n, said):
    table = {f"v{i}": ["x", "x"] for i in range(n)} | {"b": ["u", "v"]}
    assert message_of(table) == f"read: the dict: {said}"


# Declared states are no surprise; only what was seen is warned about.
def test_one_warning_names_the_first_columns_with_empty_text():
    table = {f"v{i}": ["", "x"] for i in range(7)}
    message = message_of(table, states={"v1": ["", "x"]}, missing_values=())
    assert message == (
        "read: the dict: columns 'v0', 'v2', 'v3', 'v4', 'v5' and 1 more have the state '' "
        "(empty cells); if they are missing, add '' to missing_values"
    )


@pytest.mark.parametrize("kind", ["memory", "csv"])
def test_weights_from_a_column_or_an_array(kind, tmp_path):
    columns = {"a": ["x", "y", "x"], "n": [2, 0, 3]}
    source = columns if kind == "memory" else as_csv(columns, tmp_path / "t.csv")
    data = read(source, weights="n")
    assert data.names == ("a",)
    assert data.weights.tolist() == [2, 0, 3]
    assert data.total_weight == 5
    assert read(source, drop="n", weights=[2, 0, 3]) == data
    assert read(source, columns=["a"], weights="n") == data
    assert read(source, drop="n", weights=[0.5, 1, 1]).total_weight == 2.5


@pytest.mark.parametrize("kind", ["memory", "csv"])
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (["2", "z"], r"weights in column 'n' must be numbers, got 'z' in row 2"),
        (["2", ""], r"must be numbers, got .* in row 2"),
        (["2", "-1"], r"finite numbers >= 0, got -1.0 in row 2"),
        (["inf", "1"], r"finite numbers >= 0, got inf in row 1"),
        (["nan", "1"], r"must be numbers, got .* in row 1"),
        (["0", "0"], "all are 0"),
    ],
)
def test_bad_weights_name_the_row(kind, weights, message, tmp_path):
    columns = {"a": ["x", "y"], "n": weights}
    source = columns if kind == "memory" else as_csv(columns, tmp_path / "t.csv")
    with pytest.raises(DataError, match=message):
        read(source, weights="n")


def test_dropped_rows_take_their_weights_along():
    with pytest.warns(DataWarning, match="dropped 1"):
        data = read({"a": ["x", None, "y"]}, missing="drop", weights=[1, 2, 4])
    assert data.weights.tolist() == [1, 4]


def test_columns_and_drop_choose_and_check_names(holes):
    assert read(holes, columns=["c", "b"], drop="b").names == ("c",)
    for setting in ({"columns": ["C"]}, {"drop": "C"}, {"weights": "C"}):
        with pytest.raises(UnknownNameError, match=r"unknown column 'C'.*did you mean 'c'"):
            read(holes, **setting)
    with pytest.raises(DataError, match="lists 'c' twice"):
        read(holes, columns=["c", "c"])
    with pytest.raises(DataError, match="no columns to read"):
        read(holes, drop=["a", "b", "c"])


@given(
    st.lists(st.tuples(st.integers(-3, 12), st.sampled_from("qwe")), min_size=2, max_size=12),
    st.randoms(),
)
@pytest.mark.filterwarnings("ignore::bestdag.errors.DataWarning")
def test_the_order_of_rows_and_columns_changes_no_states(rows, random):
    shuffled = random.sample(rows, len(rows))
    first = read({"n": [r[0] for r in rows], "t": [r[1] for r in rows]})
    second = read({"t": [r[1] for r in shuffled], "n": [r[0] for r in shuffled]})
    assert set(first.variables) == set(second.variables)


def test_a_dataset_reads_as_itself_and_keeps_cut_points():
    from bestdag.data.schema import Variable

    cut = Variable("a", ("low", "high"), (1.5,))
    data = Dataset([cut], [np.array([0, 1, 1])], [1, 2, 3])
    assert read(data) == data
    assert read(data, states={"a": ["high", "low"]}).codes("a").tolist() == [1, 0, 0]


def with_holes(n_complete, n_holes):
    return {"a": ["x", "y"] * 50, "b": (["u", "v"] * 50)[:n_complete] + [None] * n_holes}


def test_dropping_most_rows_is_refused_unless_told_to():
    with pytest.raises(DataError, match=r"33 of 100 rows .* less than a third; .*'b' \(67\)"):
        read(with_holes(33, 67), missing="drop")
    with pytest.warns(DataWarning, match="dropped 67 of 100 rows"):
        assert read(with_holes(33, 67), missing="drop", allow_few_rows=True).n_rows == 33


def test_a_third_of_the_rows_is_enough():
    table = {name: column[:99] for name, column in with_holes(33, 67).items()}
    with pytest.warns(DataWarning, match="dropped 66 of 99 rows"):
        assert read(table, missing="drop").n_rows == 33


def test_one_warning_for_each_kind():
    table = {f"c{i}": ["same", "same", None if i == 7 else "same"] for i in range(55)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read(table, missing="drop")
    shown = [str(warning.message) for warning in caught]
    assert len(shown) == 2
    assert "dropped 1 of 3 rows" in shown[0]
    assert "and 50 more have one state each" in shown[1]


def said(table, **settings):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read(table, **settings)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("mark", ["NA", "N/A", "?", "nan", "null", "NULL", "NaN"])
def test_marks_of_missing_cells_are_counted_and_stay_states(mark):
    table = {
        "a": [mark, "x", mark, "y"],
        "b": ["x", mark, "y", "y"],
        "c": ["x", "y", mark + "x", "x"],
    }
    (line,) = said(table)
    assert f"columns 'a' and 'b' have 3 {mark!r} as states" in line
    assert f"missing_values={tuple(sorted(['', mark]))!r}" in line
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert mark in read(table).variable("a").states
    assert said(table, missing_values=("", mark), missing="keep") == []
    states = {"a": [mark, "x", "y"], "b": ["x", "y", mark]}
    assert said(table, states=states) == []


def test_columns_of_decimals_are_named():
    table = {
        "dose": [0.5, 1.5, 0.5],
        "holes": ["1.5", "2", "NA"],
        "whole": [1.0, 2.0, 2.0],
        "text": ["x", "1.5", "2"],
    }
    lines = said(table)
    assert len(lines) == 2
    assert (
        "columns 'dose' and 'holes' have decimals; every distinct number is treated as a category"
        in lines[1]
    )
    assert "discretize(..., method='quantile') bins them" in lines[1]
    declared = {"dose": ["0.5", "1.5"], "holes": ["1.5", "2", "NA"]}
    assert said(table, states=declared) == []
