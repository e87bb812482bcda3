"""Errors: either of two types catches them, and they help."""

import math

import numpy as np
import pytest

from bestdag import errors
from bestdag.errors import (
    InvalidParameterError,
    require_count,
    require_flag,
    require_prior_count,
    shown_value,
)


def test_every_error_is_also_a_standard_one():
    standard = {
        errors.InvalidParameterError: ValueError,
        errors.UnknownNameError: KeyError,
        errors.DataError: ValueError,
        errors.CycleError: ValueError,
        errors.FormatError: ValueError,
        errors.MissingPackageError: ImportError,
        errors.NotEnoughMemoryError: MemoryError,
    }
    for ours, theirs in standard.items():
        assert issubclass(ours, errors.BestdagError)
        assert issubclass(ours, theirs)


def test_unknown_name_prints_plainly_and_offers_the_nearest():
    error = errors.unknown_name("state of 'smoke'", "Yes", ["no", "yes"])
    assert str(error) == ("unknown state of 'smoke' 'Yes'; known: no, yes (did you mean 'yes'?)")


def test_long_lists_are_cut_and_counted():
    assert "(40 in all)" in str(errors.unknown_name("x", "?", [f"n{i}" for i in range(40)]))
    assert "known: a b, 'c\\nd'" in str(errors.unknown_name("x", "?", ["a b", "c\nd"]))


def test_missing_package_says_how_to_install_it():
    with pytest.raises(errors.MissingPackageError, match="pip install no_such_package"):
        errors.import_optional("no_such_package.sub", who="plot")


@pytest.mark.parametrize("value", [-1, 1.5, "3", None, True])
def test_counts_must_be_whole(value):
    with pytest.raises(errors.InvalidParameterError, match="must be a whole number >= 0"):
        errors.require_count("x", "n", value)


def test_values_are_shown_on_one_line_and_not_for_ever():
    assert shown_value(3) == "3"
    assert shown_value(10**5000) == "a number of thousands of digits"
    assert len(shown_value(10**400)) == 80
    assert "\n" not in shown_value(np.zeros((3, 3)))


@pytest.mark.parametrize("value", [1e-101, 1e101, 10**400, 0, -1, math.nan, "1", None, True])
def test_prior_counts_have_a_range(value):
    with pytest.raises(InvalidParameterError, match=r"^BDeu: ess must be "):
        require_prior_count("BDeu", "ess", value)


@pytest.mark.parametrize("value", [2**63, -1, 0.5, True, None, "3"])
def test_counts_are_below_2_to_the_63(value):
    with pytest.raises(InvalidParameterError, match=r"^x: n must be a whole number >= 0"):
        require_count("x", "n", value)
    assert require_count("x", "n", 2**63 - 1) == 2**63 - 1


@pytest.mark.parametrize("value", [0, 1, "yes", None, 1.0])
def test_flags_are_true_or_false(value):
    with pytest.raises(InvalidParameterError, match=r"^x: f must be True or False, got "):
        require_flag("x", "f", value)
    require_flag("x", "f", np.bool_(True))
