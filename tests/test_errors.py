"""Errors: either of two types catches them, and they help."""

import pytest

from bestdag import errors


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


def test_missing_package_says_how_to_install_it():
    with pytest.raises(errors.MissingPackageError, match="pip install no_such_package"):
        errors.import_optional("no_such_package.sub", who="plot")


@pytest.mark.parametrize("value", [-1, 1.5, "3", None, True])
def test_counts_must_be_whole(value):
    with pytest.raises(errors.InvalidParameterError, match="must be a whole number >= 0"):
        errors.require_count("x", "n", value)
