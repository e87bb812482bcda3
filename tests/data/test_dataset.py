"""Dataset: what it holds, what it refuses, parts and sums, and its life as a Python value."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.errors import DataError, InvalidParameterError, UnknownNameError

A = Variable("a", ("x", "y"))
B = Variable("b", ("0", "1", "2"))


def small(weights=None):
    return Dataset([A, B], [np.array([0, 1, 1, 2]), np.array([0, 2, 3, 1])], weights)


def wide(arity):
    return Variable("w", tuple(f"s{i}" for i in range(arity)))


@st.composite
def datasets(draw):
    arities = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    n = draw(st.integers(2, 12))
    variables = [Variable(f"v{i}", tuple("abcde"[:r])) for i, r in enumerate(arities)]
    columns = [draw(st.lists(st.integers(0, r), min_size=n, max_size=n)) for r in arities]
    weights = draw(st.none() | st.lists(st.integers(1, 9), min_size=n, max_size=n))
    return Dataset(variables, [np.array(c) for c in columns], weights)


def test_holds_names_arities_codes_and_missing_cells():
    data = small()
    assert data.names == ("a", "b")
    assert (data.n_rows, data.n_variables, len(data)) == (4, 2, 4)
    assert dict(data.arities) == {"a": 2, "b": 3}
    assert data.codes("b").tolist() == [0, 2, 3, 1]
    assert data.missing("b").tolist() == [False, False, True, False]
    assert data.missing_counts == {"a": 1, "b": 1}
    assert data.has_missing
    assert data.total_weight == 4
    assert data.variable("b") is B


# The code of a missing value is the arity, so 255 states still fit into 8 bits and 256 do not.
@pytest.mark.parametrize(
    ("arity", "dtype"), [(2, np.uint8), (255, np.uint8), (256, np.uint16), (65_535, np.uint16)]
)
def test_codes_use_the_smallest_type_that_holds_the_missing_code(arity, dtype):
    data = Dataset([wide(arity)], [np.array([0, arity - 1, arity])])
    assert data.codes("w").dtype == dtype
    assert data.codes("w").tolist() == [0, arity - 1, arity]


def test_arrays_are_copies_and_read_only():
    codes, weights = np.array([0, 1], dtype=np.uint8), np.array([1, 2], dtype=np.int64)
    data = Dataset([A], [codes], weights)
    codes[0], weights[0] = 1, 9
    assert data.codes("a").tolist() == [0, 1]
    assert data.total_weight == 3
    with pytest.raises(ValueError, match="read-only"):
        data.codes("a")[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        data.weights[0] = 1
    with pytest.raises(AttributeError):
        data.n_rows = 3
    with pytest.raises(TypeError):
        data.arities["a"] = 3


@pytest.mark.parametrize(
    ("variables", "columns", "weights", "message"),
    [
        ([], [], None, "at least one variable"),
        ([A, A], [[0], [1]], None, "two variables are called 'a'"),
        ([A, B], [[0]], None, "2 variables and 1 columns"),
        ([A, B], [[0], [0, 1]], None, "column 'b' has 2 rows, column 'a' has 1"),
        ([A], [[]], None, "at least one row"),
        ([A], [[0, 3]], None, "got 3 in row 1"),
        ([A], [[0, -1]], None, "got -1 in row 1"),
        ([A], [[0.0, 1.0]], None, "codes must be integers"),
        ([A], [[[0], [1]]], None, "one-dimensional"),
        ([A], [[0, 1]], [1], "2 rows need as many weights, got 1"),
        ([A], [[0, 1]], [1, -1], "got -1.0 in row 2"),
        ([A], [[0, 1]], [np.nan, 1], "got nan in row 1"),
        ([A], [[0, 1]], [0, 0], "all are 0"),
        ([A], [[0, 1]], [2**53, 1], r"below 2\*\*53"),
        ([A], [[0, 1]], [1.5e308, 1.5e308], "must be"),
        ([A], [[0, 1]], ["p", "q"], "weights must be numbers"),
    ],
)
def test_refuses_what_is_no_table(variables, columns, weights, message):
    with pytest.raises(DataError, match=message) as caught:
        Dataset(variables, [np.array(c) for c in columns], weights)
    assert "\n" not in str(caught.value)


def test_whole_weights_are_integers_and_others_floats():
    assert small([1.0, 2.0, 0.0, 4.0]).weights.dtype == np.int64
    assert small([1.0, 2.0, 0.0, 4.0]).total_weight == 7
    assert small([1.5, 2.0, 0.0, 4.0]).weights.dtype == np.float64
    assert small([1.5, 2.0, 0.0, 4.0]).total_weight == 7.5


def test_unknown_variable_offers_the_nearest():
    data = Dataset([Variable("smoke", ("n", "y"))], [np.array([0])])
    with pytest.raises(UnknownNameError, match=r"unknown variable 'smok'.*did you mean 'smoke'"):
        data.codes("smok")


def test_select_takes_columns_in_order_and_rows_of_every_kind():
    data = small([1, 2, 3, 4])
    assert data.select(["b", "a"]).names == ("b", "a")
    assert data.select("b").names == ("b",)
    for rows in (slice(1, 3), [1, 2], np.array([False, True, True, False]), [-3, -2]):
        part = data.select(rows=rows)
        assert part.codes("b").tolist() == [2, 3]
        assert part.weights.tolist() == [2, 3]
    assert data.select(rows=slice(None, None, -1)).codes("b").tolist() == [1, 3, 2, 0]
    assert data.drop("a").names == ("b",)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([4], "row 4 does not exist"),
        ([-5], "row -5 does not exist"),
        ([True], "a mask of 4 rows is needed, got 1"),
        ([], "at least one row"),
        (slice(2, 2), "at least one row"),
        ([False] * 4, "at least one row"),
        ([0.5], "must be integers"),
    ],
)
def test_select_refuses_rows_that_are_not_there(rows, message):
    with pytest.raises(DataError, match=message):
        small().select(rows=rows)


def test_at_least_one_column_and_some_weight_must_remain():
    with pytest.raises(InvalidParameterError, match="at least one column"):
        small().select([])
    with pytest.raises(InvalidParameterError, match="at least one column must remain"):
        small().drop(["a", "b"])
    with pytest.raises(UnknownNameError, match="'c'"):
        small().drop("c")
    with pytest.raises(DataError, match="no weight"):
        small([0, 0, 1, 1]).select(rows=[0, 1])


@given(datasets(), st.floats(0.01, 0.99), st.integers(0, 5))
def test_split_divides_the_rows(data, fraction, seed):
    first, second = data.split(fraction, seed=seed)
    assert first.n_rows + second.n_rows == data.n_rows
    assert first.n_rows == min(max(round(fraction * data.n_rows), 1), data.n_rows - 1)
    assert data.split(fraction, seed=seed) == (first, second)
    both = Dataset.concat([first, second])
    for name in data.names:
        assert sorted(both.codes(name)) == sorted(data.codes(name))
    assert both.total_weight == data.total_weight


@pytest.mark.parametrize("fraction", [0, 1, -0.1, 2, float("nan"), True])
def test_split_refuses_a_fraction_outside_its_range(fraction):
    with pytest.raises(InvalidParameterError, match="between 0 and 1"):
        small().split(fraction)


def test_split_refuses_one_row():
    with pytest.raises(DataError, match="two rows"):
        small().select(rows=[0]).split(0.5)


def test_concat_matches_columns_by_name_and_fills_weights_with_one():
    both = Dataset.concat([small(), small([2, 2, 2, 2]).select(["b", "a"])])
    assert both.names == ("a", "b")
    assert both.codes("b").tolist() == [0, 2, 3, 1] * 2
    assert both.weights.tolist() == [1, 1, 1, 1, 2, 2, 2, 2]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Dataset([A], [np.array([0])]), "Dataset 2 has no variable 'b'"),
        (
            Dataset([A, Variable("b", ("0", "2", "1"))], [np.array([0])] * 2),
            r"'b' has states \('0', '1', '2'\) in the first Dataset and \('0', '2', '1'\)",
        ),
        (
            Dataset([A, Variable("b", B.states, (0.5, 1.5))], [np.array([0])] * 2),
            "'b' has other cut points",
        ),
        (
            Dataset([A, B, Variable("c", ("q",))], [np.array([0])] * 3),
            "has a variable 'c', the first has not",
        ),
    ],
)
def test_concat_names_the_first_difference(other, message):
    with pytest.raises(DataError, match=message):
        Dataset.concat([small(), other])


def test_concat_of_nothing_is_refused():
    with pytest.raises(InvalidParameterError, match="at least one Dataset"):
        Dataset.concat([])


def test_with_states_recodes_and_refuses_to_lose_a_value():
    data = small().with_states({"b": ("2", "1", "0", "9")})
    assert data.codes("b").tolist() == [2, 0, 4, 1]  # the missing value moves to the new arity
    assert data.variable("a") is A
    with pytest.raises(UnknownNameError, match="unknown state of 'b' '1'"):
        small().with_states({"b": ("0", "2")})
    unseen = Dataset([B], [np.array([0, 2])]).with_states({"b": ("0", "2")})
    assert unseen.codes("b").tolist() == [0, 1]


@given(datasets())
def test_equal_content_is_equal_and_hashes_equal(data):
    twins = [pickle.loads(pickle.dumps(data)), copy.deepcopy(data), data.select(data.names)]
    for twin in twins:
        assert twin == data
        assert hash(twin) == hash(data)
        assert not twin.codes("v0").flags.writeable


def test_any_difference_makes_datasets_unequal():
    data = small()
    others = [
        small([1, 1, 1, 1]),
        data.select(["b", "a"]),
        data.select(rows=[1, 0, 2, 3]),
        data.with_states({"a": ("x", "y", "z")}),
        Dataset([Variable("c", A.states), B], [data.codes("a"), data.codes("b")]),
    ]
    for other in others:
        assert other != data
        assert hash(other) != hash(data)
    assert small([1, 2, 3, 4]) != small([1, 2, 3, 5])
    assert data != "data"


def test_hash_is_the_same_in_another_process():
    code = (
        "import numpy as np; from bestdag.data.dataset import Dataset, Variable;"
        "print(hash(Dataset([Variable('a', ('x', 'y'))], [np.array([0, 1])])))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert found == {f"{hash(Dataset([A], [np.array([0, 1])]))}\n".encode()}


def test_prints_rows_columns_arities_weights_and_missing_cells():
    assert repr(small([1, 2, 3, 4])) == (
        "Dataset(4 rows, 2 variables: a[2], b[3]; total weight 10; 2 missing values in 2 columns)"
    )
    many = Dataset([Variable(f"v{i}", ("q",)) for i in range(9)], [np.array([0])] * 9)
    assert repr(many).endswith("v7[1], ...)")
    odd = Dataset([Variable("a\nb", ("q",))], [np.array([0])])
    assert "\n" not in repr(odd)


def test_html_escapes_names_and_states():
    data = Dataset([Variable("<b>", ("<script>", "&"))], [np.array([0, 1, 2])])
    page = data._repr_html_()
    assert ">&lt;b&gt;</th>" in page
    assert ">&lt;script&gt;</td>" in page
    assert "<script>" not in page


def test_labels_and_first_rows():
    data = small()
    assert data["b"].tolist() == [
        None if code == 3 else data.variable("b").states[code] for code in data.codes("b")
    ]
    with pytest.raises(UnknownNameError, match="did you mean 'b'"):
        data["B"]
    assert ("a" in data, "c" in data, 0 in data) == (True, False, False)
    with pytest.raises(TypeError, match="not iterable"):
        iter(data)
    assert data.head(2) == data.select(rows=[0, 1])
    assert data.head(100) == data
    with pytest.raises(InvalidParameterError, match="n must be a whole number >= 1, got 0"):
        data.head(0)
    lines = str(data).splitlines()
    assert lines[0].startswith("Dataset(4 rows, 2 variables: a[2], b[3]; 2 missing values")
    assert lines[1:] == ["a  b", *(f"{a or '':1}  {b or ''}".rstrip() for a, b in rows_of(data))]


def rows_of(data):
    return list(zip(*(data[name] for name in data.names), strict=True))


def test_importing_the_package_and_dataset_loads_no_heavy_module():
    code = (
        "import sys, bestdag, bestdag.data.dataset, bestdag.data.readers;"
        "print([m for m in ('duckdb', 'pandas', 'polars', 'pyarrow', 'scipy') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
