"""Classifiers tried on the same rows: what is learned from where, against slow code."""

import math

import numpy as np
import pytest

from bestdag import TAN, NaiveBayes
from bestdag.classification.model import Recipe
from bestdag.classification.trial import Trial
from bestdag.classification.uncut import read_uncut
from bestdag.errors import DataError, InvalidParameterError

COLOURS = ["red", "blue", "red", "blue", "red", "blue", "blue", "red"]
SIZES = ["small", "large", "small", "large", "large", "small", "large", "small"]
CLASSES = ["yes", "no", "yes", "no", "yes", "no", "no", "yes"]


def raw(columns, **settings):
    return read_uncut(columns, target="class", **settings)


def table(**more):
    return {"colour": COLOURS, "size": SIZES, "class": CLASSES, **more}


def naive(**settings):
    return Recipe(search=NaiveBayes(target="class"), **settings)


def test_naive_bayes_by_hand():
    # Trained on the first seven rows, tested on the last (red, small, yes).
    # MLE: P(yes) = 3/7, P(red | yes) = 1, P(small | yes) = 2/3; P(no) = 4/7, P(red | no) = 0.
    # So P(yes | row) = 1 and the log loss is 0.
    trial = Trial(raw(table()), "class", n_held_out=1)
    ((_, found),) = trial.run({"mle": naive(parameters="mle")})
    assert found.confusion.tolist() == [[0, 0], [0, 1]]
    assert found.log_loss == 0.0


def test_smoothed_naive_bayes_by_hand():
    # Posterior means with ess 1: 1/2 for each class, 1/4 for each cell of a 2 x 2 table.
    # P(yes) = (3 + 1/2) / 8; P(red | yes) = (3 + 1/4) / 3.5; P(small | yes) = (2 + 1/4) / 3.5.
    # P(no) = (4 + 1/2) / 8; P(red | no) = (0 + 1/4) / 4.5; P(small | no) = (1 + 1/4) / 4.5.
    yes = 3.5 / 8 * 3.25 / 3.5 * 2.25 / 3.5
    no = 4.5 / 8 * 0.25 / 4.5 * 1.25 / 4.5
    trial = Trial(raw(table()), "class", n_held_out=1)
    ((_, found),) = trial.run({"dirichlet": naive(parameters="dirichlet")})
    assert found.log_loss == pytest.approx(-math.log(yes / (yes + no)), rel=1e-12)


def test_a_test_table_of_its_own():
    train = raw(table())
    test = raw({"colour": ["blue"], "size": ["small"], "class": ["no"]}, like=train)
    trial = Trial(train, "class", test)
    ((_, found),) = trial.run({"one": naive()})
    assert found.confusion.tolist() == [[1, 0], [0, 0]]


def test_every_row_is_predicted_once_in_cross_validation():
    trial = Trial(raw(table()), "class", n_folds=4)
    results = dict(trial.run({"a": naive(), "b": Recipe(search=TAN(target="class"), score="k2")}))
    assert set(results) == {"a", "b"}
    assert all(found.n_rows == 8 for found in results.values())


def test_numbers_are_cut_in_the_training_rows_alone():
    # The number parts the classes in the training rows at 0.5; the held-out row would move it.
    numbers = [0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.85, 0.45]
    given = raw({"x": numbers, "class": CLASSES})
    assert list(given.numbers) == ["x"]
    trial = Trial(given, "class", n_held_out=1)
    (part,) = trial.parts(naive())
    assert part.train.variable("x").cuts == (0.5,)
    ((_, found),) = trial.run({"one": naive()})
    assert found.n_right == 1


def test_incomplete_rows_are_predicted_but_not_learned_from():
    colours = [None, *COLOURS[1:-1], None]
    given = raw({"colour": colours, "size": SIZES, "class": CLASSES})
    trial = Trial(given, "class", n_held_out=1)
    (part,) = trial.parts(naive())
    assert part.train.n_rows == 6
    ((_, found),) = trial.run({"one": naive(parameters="mle")})
    # Rows 2 to 7: P(yes) = 2/6, P(small | yes) = 1/2; P(no) = 4/6, P(small | no) = 1/4; the colour
    # is summed over: both products are 1/6.
    assert found.log_loss == pytest.approx(math.log(2), rel=1e-12)


def test_unknown_values_are_summed_over():
    train = raw(table())
    test = raw({"colour": ["green"], "size": ["small"], "class": ["no"]}, like=train)
    ((_, found),) = Trial(train, "class", test).run({"one": naive()})
    assert found.n_rows == 1


def test_kept_numbers_of_a_test_table_count_as_the_nearest():
    train = raw(table(grade=[1, 2, 3, 1, 2, 3, 1, 2]))
    assert train.numbers == {}
    rows = {"colour": ["red"] * 4, "size": ["small"] * 4, "class": ["no"] * 4}
    test = raw({**rows, "grade": [-7, 1.5, 1.75, 99]}, like=train)
    assert test.dataset.variable("grade").states == ("1", "2", "3")
    assert test.dataset.codes("grade").tolist() == [0, 0, 1, 2]
    with pytest.raises(DataError, match="'grade': was a numeric column in training, got 'high'"):
        raw({**rows, "grade": [1, 2, 3, "high"]}, like=train)


def test_a_column_is_cut_in_every_part_or_in_none():
    # 21 values in all, so it is cut, although 20 are left when the last row is held out.
    given = raw({"x": [*range(20), *range(20), 20], "class": ["a", "b"] * 20 + ["a"]})
    assert list(given.numbers) == ["x"]
    (part,) = Trial(given, "class", n_held_out=1).parts(naive())
    assert part.train.variable("x").arity < 20


def test_rows_that_are_left_out_may_hold_unknown_values():
    train = raw(table())
    rows = {"colour": ["green", "red"], "size": [None, "small"], "class": ["no", "maybe"]}
    test = raw(rows, like=train)
    assert test.is_missing().tolist() == [True, False]
    assert not test.is_missing_in("colour").any()
    kept = test.rows(~test.is_missing())
    with pytest.raises(DataError, match="class in row 1 'maybe' is not in the training data"):
        dict(Trial(train, "class", kept).run({"one": naive()}))


def test_classes_without_a_training_row_are_declared_and_noted():
    # Rows 7 and 8 are held out; "maybe" is there alone. It is a state of the class in training:
    # its posterior mean with ess 1 is (0 + 1/3) / 7, and no attribute tells it apart.
    given = raw({"size": ["one"] * 8, "class": ["yes", "no"] * 3 + ["maybe"] * 2})
    ((_, found),) = Trial(given, "class", n_held_out=2).run({"one": naive(parameters="dirichlet")})
    assert found.log_loss == pytest.approx(-math.log(1 / 21), rel=1e-12)
    assert found.notes == (
        "2 of 2 predicted rows have a class that none of their training rows has: 'maybe' (2)",
    )


def test_values_without_a_training_row_are_declared_and_noted():
    colours = [*COLOURS[:6], "green", None]
    given = raw({"colour": colours, "size": SIZES, "class": CLASSES})
    ((_, found),) = Trial(given, "class", n_held_out=2).run({"one": naive()})
    assert found.notes == (
        "1 cell of 2 predicted rows has a value that none of their training rows has, "
        "in 'colour' (1)",
    )


def test_notes_of_a_cross_validation_add_up():
    # Each letter is there once, so every row has a value that its training rows lack.
    given = raw({"letter": list("abcdefgh"), "size": SIZES, "class": CLASSES})
    ((_, found),) = Trial(given, "class", n_folds=4).run({"one": naive()})
    assert found.notes == (
        "8 cells of 8 predicted rows have values that none of their training rows has, "
        "in 'letter' (8)",
    )


def test_ignored_values_of_a_test_table_are_noted():
    train = raw(table())
    rows = {"colour": ["green", "red"], "size": ["tiny", "huge"], "class": ["no", "no"]}
    trial = Trial(train, "class", raw(rows, like=train))
    ((_, found),) = trial.run({"one": naive()})
    assert found.notes == (
        "3 cells of 2 predicted rows have values that none of their training rows has, "
        "in 'colour' (1), 'size' (2)",
    )


def test_a_test_table_without_a_column_is_refused():
    with pytest.raises(DataError, match="column 'size' is missing from the data"):
        raw({"colour": ["red"], "class": ["no"]}, like=raw(table()))
    with pytest.raises(DataError, match="column 'x' is missing from the data"):
        raw(table(), like=raw(table(x=[0.5] * 8)))


def test_seen_values_and_numbers_need_no_note():
    numbers = [0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.85, 0.45]
    ((_, found),) = Trial(raw(table(x=numbers)), "class", n_folds=2).run({"one": naive()})
    assert found.notes == ()


def test_a_class_that_training_does_not_know():
    train = raw(table())
    test = raw({"colour": ["red"], "size": ["small"], "class": ["maybe"]}, like=train)
    with pytest.raises(DataError, match="class in row 1 'maybe' is not in the training data"):
        dict(Trial(train, "class", test).run({"one": naive()}))


@pytest.mark.parametrize("n", [0, 8, 99])
def test_some_rows_must_be_left_on_both_sides(n):
    with pytest.raises(InvalidParameterError, match="between 1 and 7 of 8 rows"):
        dict(Trial(raw(table()), "class", n_held_out=n).run({"one": naive()}))


def test_shuffled_rows_follow_the_seed():
    given = raw({"x": [str(i) for i in range(20)], "class": ["a", "b"] * 10})

    def held_out(seed):
        trial = Trial(given, "class", n_held_out=5, shuffle=True, seed=seed)
        (part,) = trial.parts(naive())
        return part.test.codes("x").tolist()

    assert held_out(1) == held_out(1) != held_out(2)
    assert len(held_out(1)) == 5


def test_no_complete_row_is_an_error():
    given = raw({"colour": [None, None], "class": ["a", "b"]}, max_states=5)
    with pytest.raises(
        DataError, match=r"no complete row is left .* column 'colour' has no values"
    ):
        dict(Trial(given, "class", n_held_out=1).run({"one": naive()}))


def test_probabilities_of_a_network_classifier_equal_those_of_its_joint():
    # P(class | row) by Bayes' rule from the joint probabilities of the row with each class.
    rng = np.random.default_rng(0)
    data = {f"v{i}": [str(v) for v in rng.integers(0, 3, 60)] for i in range(4)}
    data["class"] = [str(v) for v in rng.integers(0, 2, 60)]
    trial = Trial(raw(data), "class", n_held_out=10)
    (part,) = trial.parts(naive())
    model = Recipe(search=TAN(target="class")).fit(part.train, "class")
    found = model.log_probabilities(part.test)
    rows = {v.name: [v.states[c] for c in part.test.codes(v.name)] for v in part.test.variables}
    joint = np.stack(
        [model.network.log_probability({**rows, "class": [label] * 10}) for label in ("0", "1")],
        axis=1,
    )
    expected = joint - np.logaddexp(joint[:, 0], joint[:, 1])[:, None]
    np.testing.assert_allclose(found, expected, rtol=1e-10)
