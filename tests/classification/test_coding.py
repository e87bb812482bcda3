"""Raw columns to codes: what is learned from training rows, and what happens to other ones."""

import numpy as np
import pandas as pd
import pytest

from bestdag.classification.model import Coding
from bestdag.classification.uncut import UncutTable, codes_under, refuse_unknown
from bestdag.data.dataset import Dataset
from bestdag.data.discretization.quantile import Quantile
from bestdag.data.schema import MAX_ARITY, Variable
from bestdag.data.settings import choose
from bestdag.data.sources.frame import FrameSource
from bestdag.data.table import Table
from bestdag.errors import BestdagError, DataError, InvalidParameterError, UnknownNameError

CLASS = Variable("class", ("no", "yes"))


def opened(raw):
    choice = choose(raw, missing="keep", missing_values=(), max_states=MAX_ARITY)
    return Table(FrameSource([("x", raw)], choice.options.source), choice), choice.options


def coded(raw, classes=None, *, weights=None, **settings):
    """Return the variable that is learned from training rows, and their codes."""
    classes = np.zeros(len(raw), int) if classes is None else np.array(classes)
    coding = Coding(**settings)
    table, options = opened(np.asarray(raw) if isinstance(raw, list) else raw)
    found = coding.cut(coding.uncut(table, CLASS, classes, options), "class", weights)
    return found.variable("x"), found.codes("x").tolist()


def codes_of(variable, new, *, ignore_unknown=False):
    (codes,), unknown = codes_under(*opened(new), [variable])
    if not ignore_unknown:
        refuse_unknown([variable], unknown)
    return codes.tolist()


def objects(*values):
    out = np.empty(len(values), object)
    out[:] = values
    return out


def test_numbers_are_cut_where_the_classes_part():
    # Classes part between 0.3 and 0.7: the only cut is their midpoint.
    raw = [0.1, 0.2, 0.25, 0.3, 0.7, 0.8, 0.9, 0.95]
    variable, codes = coded(raw, [0] * 4 + [1] * 4)
    assert variable == Variable("x", ("<=0.5", ">0.5"), (0.5,))
    assert codes == [0] * 4 + [1] * 4
    new = np.array([-1e9, 0.5, 0.51, np.inf, np.nan])
    assert codes_of(variable, new) == [0, 0, 1, 1, 2]


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float64, np.float32])
def test_few_whole_numbers_keep_their_values(kind):
    variable, codes = coded(np.array([1, 2, 5, 2], kind))
    assert variable.states == ("1", "2", "5")
    assert codes == [0, 1, 2, 1]
    # A number that was not seen counts as the nearest; halfway it goes down, as in every interval.
    new = np.array([0, 3, 3.5, 4, 99, np.nan])
    assert codes_of(variable, new) == [0, 1, 1, 2, 2, 3]


def test_many_whole_numbers_are_cut():
    raw = np.arange(30)
    variable, _ = coded(raw, (raw > 14).astype(int))
    assert variable.cuts == (14.5,)
    variable, _ = coded(raw, (raw > 14).astype(int), max_values=30)
    assert variable.arity == 30


def test_text_keeps_its_values_in_order():
    variable, codes = coded(objects("b", "a", "b"))
    assert variable.states == ("a", "b")
    assert codes == [1, 0, 1]


def test_unknown_text_is_refused_or_missing():
    variable, _ = coded(objects("b", "a"))
    new = objects("a", "c", None)
    with pytest.raises(
        DataError, match=r"column 'x': value 'c' in row 1 .* was not seen .* 'a', 'b'"
    ):
        codes_of(variable, new)
    assert codes_of(variable, new, ignore_unknown=True) == [0, 2, 2]


def test_declared_values_count_unseen():
    variable, codes = coded(pd.Series(pd.Categorical(["b", "b"], ["c", "b", "a"])))
    assert variable.states == ("c", "b", "a")
    assert codes == [1, 1]


def test_truth_values_and_mixed_objects():
    variable, codes = coded(np.array([True, False, True]))
    assert (variable.states, codes) == (("False", "True"), [1, 0, 1])
    variable, codes = coded(objects("x", 3, 1.5))
    assert variable.states == ("1.5", "3", "x")
    assert codes == [2, 1, 0]
    assert codes_of(variable, objects(3.0, "3")) == [1, 1]
    variable, codes = coded(objects("x", True, 1, 0, False))
    assert variable.states == ("0", "1", "False", "True", "x")
    assert codes == [4, 3, 1, 0, 2]


@pytest.mark.parametrize("raw", [np.array([1.0, np.nan]), objects("a", None)])
def test_training_rows_must_be_complete(raw):
    with pytest.raises(DataError, match="column 'x': has missing values in the training data"):
        coded(raw)


def test_text_in_a_number_column_is_named():
    variable, _ = coded([0.5, 1.5])
    with pytest.raises(DataError, match="'x': was a numeric column in training, got 'low'"):
        codes_of(variable, objects(0.5, "low"), ignore_unknown=True)


def test_constant_and_all_equal_columns_have_one_state():
    assert coded([2.5, 2.5])[1] == [0, 0]
    assert coded(objects("a", "a"))[0].states == ("a",)


def test_weights_change_the_cuts_as_repetition_does():
    raw, classes = np.array([0.1, 0.4, 0.6, 0.9]), np.array([0, 1, 1, 1])
    weights = np.array([9, 1, 1, 9])
    once, _ = coded(raw, classes, weights=weights)
    assert once == coded(np.repeat(raw, weights), np.repeat(classes, weights))[0]
    assert once.cuts == (0.25,)


def test_settings_are_checked_at_once():
    with pytest.raises(UnknownNameError, match="quantile"):
        Coding(method="quantil")
    with pytest.raises(BestdagError):
        Coding(method="uniform", bins=0)
    with pytest.raises(UnknownNameError, match="fayyad_irani: unknown setting 'bins'"):
        Coding(bins=5)
    with pytest.raises(
        InvalidParameterError, match=r"method must be one of fayyad_irani, .* got 5"
    ):
        Coding(method=5)
    with pytest.raises(InvalidParameterError, match=r"Quantile\(bins=3\) has its settings already"):
        Coding(method=Quantile(bins=3), bins=5)
    with pytest.raises(BestdagError, match="max_values"):
        Coding(max_values=-1)


def test_a_table_without_attributes_is_refused():
    alone = UncutTable(("class",), Dataset([CLASS], [[0, 1]]), {})
    with pytest.raises(DataError, match="at least one attribute beside the class is needed"):
        Coding().cut(alone, "class")


def test_text_that_spells_numbers_is_text_in_typed_columns():
    variable, _ = coded(objects("0.5", "1.5"))
    assert variable == Variable("x", ("0.5", "1.5"))
    assert codes_of(variable, objects(1.5, "0.5")) == [1, 0]
    variable, _ = coded([0.5, 1.5], [0, 1])
    assert codes_of(variable, objects("0.5", "1.5")) == [0, 1]


def test_intervals_may_stand_for_the_numbers_of_a_cut_column():
    variable, _ = coded([0.5, 1.5], [0, 1])
    assert codes_of(variable, objects(">1", "<=1")) == [1, 0]


def test_declared_numbers_are_found_by_their_value():
    variable, _ = coded(pd.Series(pd.Categorical([1.0, 2.5])))
    assert variable.states == ("1.0", "2.5")
    assert codes_of(variable, np.array([2.5, 1.0])) == [1, 0]
    assert codes_of(variable, np.array([1])) == [0]


@pytest.mark.parametrize(
    ("raw", "codes"),
    [
        (np.array([2**53, 2**53 + 1, 2**53 + 2, 2**53 + 4]), [0, 0, 1, 2]),
        (np.array([2**63, 2**63 + 1, 2**63 + 4096, 2**63], np.uint64), [0, 0, 1, 0]),
        (np.array([1e300, 1e300, 1e300]), [0, 0, 0]),
        (np.array([-1e300, 1e300, 1e300]), [0, 1, 1]),
    ],
)
def test_whole_numbers_that_are_one_float_are_one_state(raw, codes):
    assert coded(raw)[1] == codes
