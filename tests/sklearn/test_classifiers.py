"""The classifiers as scikit-learn's users use them."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("sklearn")

import pandas as pd
import polars as pl
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline

from bestdag import EM, BDeu, Dirichlet, fit_network
from bestdag.errors import DataError, DataWarning
from bestdag.examples import example
from bestdag.sklearn import (
    BayesianNetworkClassifier,
    FayyadIraniDiscretizer,
    NaiveBayesClassifier,
    TANClassifier,
)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    n = 300
    ill = rng.random(n) < 0.4
    return pd.DataFrame(
        {
            "smokes": np.where(rng.random(n) < 0.2 + 0.5 * ill, "yes", "no"),
            "age": rng.normal(50 + 15 * ill, 10),
            "ward": pd.Categorical(rng.choice(["n", "s"], n), categories=["n", "s", "w"]),
            "old": rng.random(n) < 0.3,
        }
    ), np.where(ill, "ill", "well")


@pytest.mark.parametrize("score", ["ll", "bic", "fnml", "mit", "k2", "bdeu"])
def test_cross_validation_over_scores(iris, score):
    assert cross_val_score(TANClassifier(score=score), *iris).mean() > 0.9


def test_grid_search_over_scores(iris):
    scores = ["ll", "fnml", BDeu(ess=4)]
    search = GridSearchCV(TANClassifier(), {"score": scores}, cv=3).fit(*iris)
    assert search.best_params_["score"] in scores
    assert search.score(*iris) > 0.9


def test_score_is_a_setting_and_a_method(iris):
    model = TANClassifier(score="k2").fit(*iris)
    assert model.get_params()["score"] == "k2"
    assert model.score(*iris) == np.mean(model.predict(iris[0]) == iris[1])
    assert clone(model).get_params()["score"] == "k2"
    assert model.set_params(score="bic").get_params()["score"] == "bic"
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict_proba(iris[0]) == model.predict_proba(iris[0])).all()


def test_discretizer_in_a_pipeline(iris):
    pipeline = make_pipeline(FayyadIraniDiscretizer(), NaiveBayesClassifier())
    inside = NaiveBayesClassifier()
    one, two = (cross_val_score(m, *iris) for m in (pipeline, inside))
    np.testing.assert_array_equal(one, two)


def test_naive_bayes_agrees_with_scikit_learn():
    # CategoricalNB adds alpha to each cell of P(x | c) and nothing to the classes: with BD's
    # constant pseudo-count for the attributes only the class prior differs, so compare the ratios
    # P(x | c): the difference of log-odds between rows.
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 3, (200, 4)), rng.integers(0, 2, 200)
    ours = NaiveBayesClassifier(parameters=Dirichlet(pseudo_count=0.5)).fit(X, y)
    theirs = CategoricalNB(alpha=0.5).fit(X, y)
    odds = [np.diff(m.predict_log_proba(X))[:, 0] for m in (ours, theirs)]
    np.testing.assert_allclose(odds[0] - odds[0][0], odds[1] - odds[1][0], atol=1e-10)


def test_frames_with_text_numbers_categories_and_truth_values(people):
    X, y = people
    model = TANClassifier().fit(X, y)
    assert model.classes_.tolist() == ["ill", "well"]
    assert list(model.feature_names_in_) == list(X.columns)
    assert model.network_.variable("ward").states == ("n", "s", "w")
    assert model.network_.variable("age").cuts
    assert model.network_.variable("old").states == ("False", "True")
    assert model.score(X, y) > 0.75


def test_polars_frames_give_the_same(people):
    X, y = people
    columns = {name: X[name].astype(object).tolist() for name in X.columns}
    frame = pl.DataFrame(columns).with_columns(pl.col("ward").cast(pl.Enum(["n", "s", "w"])))
    one, two = TANClassifier().fit(X, y), TANClassifier().fit(frame, y)
    assert one.network_ == two.network_
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(frame))


def test_unseen_categories(people):
    X, y = people
    new = X.head(2).copy()
    new["smokes"] = ["yes", "often"]
    with pytest.raises(DataError, match=r"'smokes': value 'often' in row 1.*handle_unknown="):
        TANClassifier(handle_unknown="error").fit(X, y).predict(new)
    model = TANClassifier().fit(X, y)
    hidden = new.assign(smokes=["yes", None])
    np.testing.assert_array_equal(model.predict_proba(new), model.predict_proba(hidden))


def test_missing_cells_in_prediction_are_summed_over(people):
    X, y = people
    model = NaiveBayesClassifier().fit(X, y)
    without = NaiveBayesClassifier().fit(X.drop(columns="age"), y)
    hidden = X.assign(age=np.nan)
    np.testing.assert_allclose(
        model.predict_proba(hidden), without.predict_proba(X.drop(columns="age")), rtol=1e-12
    )


def test_missing_cells_in_training_are_left_out_with_a_warning_or_refused(people):
    X, y = people
    holed = X.copy()
    holed.loc[[3, 7], "age"] = np.nan
    holed.loc[9, "smokes"] = None
    with pytest.warns(DataWarning, match="3 of 300 training rows have missing values"):
        model = TANClassifier(missing="drop").fit(holed, y)
    kept = np.delete(np.arange(300), [3, 7, 9])
    assert model.network_ == TANClassifier().fit(X.iloc[kept], y[kept]).network_
    with pytest.raises(DataError, match="3 training rows have missing values"):
        TANClassifier(missing="error").fit(holed, y)


def test_training_rows_with_missing_cells_are_learned_from_where_asked_for(people):
    X, y = people
    holed = X.copy()
    holed.loc[::5, "age"] = np.nan
    holed.loc[1::7, "smokes"] = None
    settings = {"score": "bic", "missing": "available", "parameters": "mle"}
    model = NaiveBayesClassifier(**settings).fit(holed, y)
    # Each table has the rows that show its family: the class has all of them.
    for k, label in enumerate(model.classes_):
        share = model.network_.table("class").row()[k]
        assert share == pytest.approx(np.mean(y == label), rel=1e-12)
        shown = holed.loc[(y == label) & holed["smokes"].notna(), "smokes"]
        row = model.network_.table("smokes").row(**{"class": str(label)})
        want = [np.mean(shown == s) for s in model.network_.variable("smokes").states]
        np.testing.assert_allclose(row, want, rtol=1e-12)
    tree = TANClassifier(score="pnal", missing="available").fit(holed, y)
    assert "missing completely at random" in tree.model_.result.notes[-1]
    assert tree.predict_proba(holed).shape == (len(y), len(model.classes_))


def test_training_rows_with_missing_cells_are_learned_from_by_em(people):
    X, y = people
    holed, partly = X.copy(), np.array(y, object)
    holed.loc[::5, "age"] = np.nan
    holed.loc[1::7, "smokes"] = None
    partly[::6] = None
    settings = {"score": "bic", "unlabelled": "keep", "parameters": "mle"}
    for kind in (NaiveBayesClassifier, TANClassifier):
        model = kind(**settings).fit(holed, partly)
        data = model.model_.result.dataset
        assert data.n_rows == len(y)
        assert data.missing_counts["class"] == len(partly[::6])
        want = fit_network(model.network_.dag, data, EM())
        for got, table in zip(model.network_.tables, want.tables, strict=True):
            np.testing.assert_allclose(got.rows, table.rows, atol=1e-12)
        assert model.predict(holed).shape == y.shape


@pytest.mark.parametrize("mark", [None, np.nan, "", "?"])
def test_marks_of_missing_values_mean_the_same_in_training_and_prediction(people, mark):
    X, y = people
    holed, marked = (X.astype({"smokes": object}) for _ in range(2))
    holed.loc[1::7, "smokes"] = None
    marked.loc[1::7, "smokes"] = mark
    one = TANClassifier().fit(holed, y)
    two = TANClassifier(missing_values=("", "?")).fit(marked, y)
    assert one.network_ == two.network_
    np.testing.assert_array_equal(one.predict_proba(holed), two.predict_proba(marked))


# heart.csv: hospitals one after another, one of them with hardly a complete row, so that parts of
# it have levels that the others lack, numbers to be cut and 299 incomplete rows of 597.
@pytest.mark.parametrize(
    "classifier",
    [
        TANClassifier(),
        NaiveBayesClassifier(),
        BayesianNetworkClassifier(),
        BayesianNetworkClassifier(augmented=False),
    ],
    ids=repr,
)
def test_cross_validation_of_a_table_as_it_comes(classifier):
    table = pd.read_csv(example("heart.csv"))
    X, y = table.drop(columns="disease"), table["disease"]
    losses = -cross_val_score(classifier, X, y, scoring="neg_log_loss", error_score="raise")
    assert np.isfinite(losses).all()
    shuffled = StratifiedKFold(5, shuffle=True, random_state=0)
    assert cross_val_score(classifier, X, y, cv=shuffled, error_score="raise").mean() > 0.8
    assert clone(classifier).fit(X, y).model_.result.dataset.n_rows == len(table)


def test_columns_without_any_value_say_nothing(people):
    X, y = people
    plain = NaiveBayesClassifier().fit(X, y)
    more = X.assign(void=np.nan, nothing=None)
    np.testing.assert_allclose(
        NaiveBayesClassifier().fit(more, y).predict_proba(more), plain.predict_proba(X), rtol=1e-6
    )


@pytest.mark.parametrize("none", [None, np.nan])
def test_rows_without_a_class_are_refused_left_out_or_learned_from(people, none):
    X, y = people
    partly = np.array(y, object)
    partly[::3] = none
    kept = np.arange(len(y)) % 3 > 0
    with pytest.raises(DataError, match="rows without a class; leave them out, set unlabelled="):
        NaiveBayesClassifier().fit(X, partly)
    dropped = NaiveBayesClassifier(unlabelled="drop").fit(X, partly)
    assert dropped.network_ == NaiveBayesClassifier().fit(X[kept], y[kept]).network_
    assert dropped.classes_.tolist() == np.unique(y).tolist()
    settings = {"score": "bic", "missing": "available", "search": "hill_climb", "augmented": False}
    used = BayesianNetworkClassifier(**settings, unlabelled="keep").fit(X, partly)
    # Attributes alone are counted over all rows, with and without a class.
    assert used.model_.result.dataset.n_rows == len(y)
    assert used.model_.result.dataset.missing_counts == {"class": int((~kept).sum())}
    with pytest.raises(ValueError, match="unlabelled='keep' needs missing to be one of 'em', "):
        NaiveBayesClassifier(missing="drop", unlabelled="keep").fit(X, partly)
    with pytest.raises(DataError, match="no training row has a class"):
        NaiveBayesClassifier(unlabelled="drop").fit(X, np.full(len(y), none, object))


def test_weights_count_rows(people):
    X, y = people
    weights = np.random.default_rng(5).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    weighted = TANClassifier().fit(X, y, sample_weight=weights)
    assert weighted.network_ == TANClassifier().fit(X.iloc[rows], y[rows]).network_


def test_many_attributes_and_classes_do_not_underflow():
    # 36 attributes of 16 values, 26 classes: a row's joint probability is near 16^-36 = 1e-43,
    # and with parents as good as random far below.
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 16, (400, 36)), rng.integers(0, 26, 400)
    model = TANClassifier().fit(X, y)
    shares = model.predict_proba(rng.integers(0, 16, (50, 36)))
    assert np.isfinite(model.predict_log_proba(X)).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)


def test_networks_by_any_search(iris):
    free = BayesianNetworkClassifier(augmented=False, search="exact").fit(*iris)
    assert free.model_.result.is_proved
    augmented = BayesianNetworkClassifier(max_parents=2).fit(*iris)
    dag = augmented.network_.dag
    assert all("class" in dag.parents(v) for v in dag.nodes if v != "class")
    assert augmented.score(*iris) > 0.9


def test_a_column_called_class_is_no_obstacle(iris):
    X = pd.DataFrame({"class": iris[0][:, 3], "other": iris[0][:, 2]})
    model = TANClassifier().fit(X, iris[1])
    assert "class_" in model.network_.names
    assert model.score(X, iris[1]) > 0.9


def test_threads_do_not_change_the_answer(iris):
    one, two = (TANClassifier(n_jobs=n).fit(*iris) for n in (1, 2))
    np.testing.assert_array_equal(one.predict_proba(iris[0]), two.predict_proba(iris[0]))


def test_text_columns_of_many_values_are_refused():
    X = pd.DataFrame({"id": [f"n{i}" for i in range(60)], "x": ["u", "v"] * 30})
    y = [0, 1] * 30
    message = r"column 'id': has 60 different values .* more than max_states=50; leave it out"
    for kind in (TANClassifier, NaiveBayesClassifier, BayesianNetworkClassifier):
        with pytest.raises(DataError, match=message):
            kind().fit(X, y)
    with pytest.raises(DataError, match="column 'x0': has 60 different values"):
        TANClassifier().fit(X.to_numpy(), y)
    assert TANClassifier(max_states=60).fit(X, y).network_.variable("id").arity == 60
    declared = X.assign(id=X["id"].astype("category"))
    assert TANClassifier().fit(declared, y).network_.variable("id").arity == 60
    with pytest.raises(ValueError, match="max_states must be a whole number >= 1"):
        TANClassifier(max_states=0).fit(X, y)


def test_parameters_of_the_score_and_parameters_by_name(iris):
    # "score" is the prior of the score, None is fsNML; a name is the estimator with its defaults.
    score = BDeu(ess=16)
    own = TANClassifier(score, parameters="score").fit(*iris).network_
    free = TANClassifier(score, parameters=None).fit(*iris).network_
    assert free == TANClassifier(score, parameters="fsnml").fit(*iris).network_ != own
    assert own == TANClassifier(score, parameters=Dirichlet(ess=16)).fit(*iris).network_
    named = TANClassifier(score, parameters="dirichlet").fit(*iris).network_
    assert named == TANClassifier(score, parameters=Dirichlet(ess=1)).fit(*iris).network_
    with pytest.raises(KeyError, match="did you mean 'score'"):
        TANClassifier(parameters="scor").fit(*iris)


def test_wrong_settings_are_named(iris):
    with pytest.raises(ValueError, match="handle_unknown must be one of"):
        TANClassifier(handle_unknown="skip").fit(*iris)
    with pytest.raises(KeyError, match="bdeu"):
        TANClassifier(score="bdeuu").fit(*iris)


def test_the_known_cuts_of_iris(iris):
    cuts = FayyadIraniDiscretizer().fit(*iris).cuts_
    assert cuts[3].tolist() == [0.8, 1.75]
    out = FayyadIraniDiscretizer().fit_transform(*iris)
    assert sorted(set(out[:, 3])) == [0, 1, 2]


def test_discretizer_keeps_nan_and_names(iris):
    X = pd.DataFrame(iris[0], columns=list("abcd"))
    X.loc[0, "a"] = np.nan
    model = FayyadIraniDiscretizer().set_output(transform="pandas").fit(X, iris[1])
    out = model.transform(X)
    assert list(out.columns) == list("abcd")
    assert np.isnan(out.loc[0, "a"])
    assert int(out.isna().sum().sum()) == 1


@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
def test_an_array_may_follow_a_frame_and_a_frame_an_array(iris):
    X, y = iris
    frames = [pd.DataFrame(X), pd.DataFrame(X, columns=list("abcd")), X]
    expected = TANClassifier().fit(X, y).predict_proba(X)
    for trained in frames:
        model = TANClassifier().fit(trained, y)
        for new in frames:
            np.testing.assert_array_equal(model.predict_proba(new), expected)
        with pytest.raises(ValueError, match="3 features, but TANClassifier is expecting 4"):
            model.predict(X[:, :3])
        with pytest.raises(ValueError, match="3 features, but TANClassifier is expecting 4"):
            model.predict(pd.DataFrame(X[:, :3]))


def test_whole_numbers_of_any_size():
    X = np.array([[2**70, 1], [2**70, 2], [1, 2], [1, 3]] * 5, dtype=object)
    assert TANClassifier().fit(X, [0, 0, 1, 1] * 5).predict(X).tolist() == [0, 0, 1, 1] * 5


def test_discretizer_refuses_bins_that_its_method_has_no_use_for(iris):
    with pytest.raises(KeyError, match="fayyad_irani: unknown setting 'bins'"):
        FayyadIraniDiscretizer(bins=5).fit(*iris)


# Half a search makes no classifier, and cross-validation must not go on to the next part.
def test_ctrl_c_ends_it(iris, monkeypatch):
    def interrupted(*_, **__):
        return SimpleNamespace(was_interrupted=True)

    monkeypatch.setattr("bestdag.classification.model.learn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cross_val_score(TANClassifier(), *iris)
