"""Conditional tables: what they hold and what they refuse."""

import copy
import pickle

import numpy as np
import pytest

from bestdag.data.schema import Variable
from bestdag.errors import DataError, UnknownNameError
from bestdag.network.table import ConditionalTable

A = Variable("a", ("no", "yes"))
B = Variable("b", ("x", "y", "z"))
C = Variable("c", ("0", "1"))
VALUES = np.full((2, 3, 2), 0.5)


def test_shape_is_parents_then_child():
    values = VALUES.copy()
    values[1, 2] = [0.25, 0.75]
    table = ConditionalTable(C, (A, B), values)
    assert table.n_configurations == 6
    assert table.n_parameters == 6
    assert table.row(b="z", a="yes").tolist() == [0.25, 0.75]
    assert table.rows[5].tolist() == [0.25, 0.75]  # 1 * 3 + 2


def test_values_are_a_read_only_copy():
    given = np.array([0.5, 0.5])
    table = ConditionalTable(A, (), given)
    given[0] = 7
    assert table.values.tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        table.values[0] = 1.0
    for twin in (pickle.loads(pickle.dumps(table)), copy.deepcopy(table)):
        assert twin == table
        assert hash(twin) == hash(table)
        assert not twin.values.flags.writeable


def test_numbers_are_never_rescaled():
    values = [0.3333333, 0.3333333, 0.3333333]  # off by 1e-7, as published networks are
    assert ConditionalTable(B, (), values).values.tolist() == values


def test_equality_is_to_the_last_bit():
    table = ConditionalTable(A, (), [0.3, 0.7])
    assert table == ConditionalTable(A, (), [0.3, 0.7])
    assert table != ConditionalTable(A, (), [np.nextafter(0.3, 1), 0.7])
    assert table != ConditionalTable(C, (), [0.3, 0.7])
    assert table != "table"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([0.5, 0.4], r"for a=yes, b=y must sum to 1, got 0\.9 \(0\.5, 0\.4\)"),
        ([0.5, 0.500002], r"for a=yes, b=y must sum to 1, got 1\.000002"),
        ([-0.5, 1.5], r"for a=yes, b=y must be at least 0, got -0\.5"),
        ([np.nan, 1.0], r"for a=yes, b=y must be finite numbers, got nan"),
        ([np.inf, 0.0], r"for a=yes, b=y must be finite numbers, got inf"),
        ([1e308, 1e308], r"for a=yes, b=y must sum to 1, got inf"),
    ],
)
def test_refuses_a_row_that_is_no_distribution(row, message):
    values = VALUES.copy()
    values[1, 1] = row
    with pytest.raises(DataError, match="table of 'c': values " + message):
        ConditionalTable(C, (A, B), values)


def test_refuses_other_shapes_and_things():
    with pytest.raises(DataError, match=r"'c': values must have the shape \(3, 2\), got \(2, 3\)"):
        ConditionalTable(C, (B,), np.full((2, 3), 1 / 3))
    with pytest.raises(DataError, match="'c': values must be an array of numbers"):
        ConditionalTable(C, (), ["many", "few"])
    with pytest.raises(DataError, match="'c': 'a' is listed twice"):
        ConditionalTable(C, (A, A), np.full((2, 2, 2), 0.5))
    with pytest.raises(DataError, match="'c': 'c' is listed twice"):
        ConditionalTable(C, (C,), np.full((2, 2), 0.5))


def test_row_names_what_is_missing():
    table = ConditionalTable(C, (A, B), VALUES)
    with pytest.raises(DataError, match="a state is needed for each of a, b, got a"):
        table.row(a="no")
    with pytest.raises(UnknownNameError, match="unknown state of 'a' 'nein'; known: no, yes"):
        table.row(a="nein", b="x")


def test_repr_tells_the_family():
    assert repr(ConditionalTable(C, (A, B), VALUES)) == "<ConditionalTable: c | a, b, 6 parameters>"


def lines_of(table):
    return str(table).splitlines()


def test_prints_a_line_for_each_configuration():
    values = VALUES.copy()
    values[1, 2] = [1 / 3, 2 / 3]
    assert lines_of(ConditionalTable(C, (A, B), values)) == [
        "P(c | a, b)",
        "  a    b         0         1",
        "  no   x       0.5       0.5",
        "  no   y       0.5       0.5",
        "  no   z       0.5       0.5",
        "  yes  x       0.5       0.5",
        "  yes  y       0.5       0.5",
        "  yes  z  0.333333  0.666667",
    ]
    assert lines_of(ConditionalTable(A, (), [1, 0])) == ["P(a)", "  no  yes", "   1    0"]


def test_prints_a_large_table_in_part():
    wide = Variable("w", tuple(map(str, range(100))))
    shown = lines_of(ConditionalTable(wide, (Variable("v", wide.states),), np.eye(100)))
    assert shown[1].split() == ["v", *map(str, range(12)), "..."]
    assert shown[3].split() == ["1", "0", "1", *["0"] * 10, "..."]
    assert (len(shown), shown[-1]) == (63, "  ... and 40 more rows")


def test_prints_names_with_line_breaks_in_one_line():
    odd = Variable("a\nb", ("x\ty", ""))
    assert lines_of(ConditionalTable(odd, (), [0.5, 0.5]))[:2] == [
        "P('a\\nb')",
        "  'x\\ty'   ''",
    ]
