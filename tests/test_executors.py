"""Work for any executor: the same results, whoever works; refusals before work begins."""

from __future__ import annotations

import io
import os
import pickle
import threading
import warnings
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import astuple, dataclass

import numpy as np
import pytest

from bestdag import BestdagError, DataError, DataWarning, InvalidParameterError, learn
from bestdag.averaging.bootstrap import bootstrap
from bestdag.averaging.posterior import posterior
from bestdag.classification.model import Recipe
from bestdag.classification.trial import Trial
from bestdag.classification.uncut import read_uncut
from bestdag.data.readers import read
from bestdag.examples import example
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.scores.scorer import Scorer
from bestdag.search.exact.search import Exact
from bestdag.search.hill_climb import HillClimb
from bestdag.search.naive_bayes import NaiveBayes
from bestdag.validation.cross_validation import cross_validate
from bestdag.validation.learning_curve import learning_curve
from bestdag.workers import run_all


class Elsewhere(Executor):
    """Works in this process, on what would arrive in another; remembers how much that was."""

    def __init__(self):
        self.n_tasks = self.n_bytes = 0

    def submit(self, work, /, *items, **more):
        self.n_tasks += 1
        sent = pickle.dumps((work, items))
        self.n_bytes += len(sent)
        work, items = pickle.loads(sent)
        future = Future()
        with pytest.MonkeyPatch.context() as there:
            there.setattr("bestdag.workers._OWN", {})  # another process
            try:
                future.set_result(pickle.loads(pickle.dumps(work(*items, **more))))
            except BaseException as error:
                future.set_exception(error)
        return future


@pytest.fixture
def elsewhere():
    return Elsewhere()


@pytest.fixture(scope="module")
def asia():
    return read(example("asia.csv")).select(rows=slice(0, 400))


def squared(item, threads):
    return item * item, threads


def failing(item, threads):
    if item == 2:
        raise DataError("two is refused")
    warnings.warn(DataWarning(f"{item} is odd"), stacklevel=1)
    return item


def dying(item, threads):
    os._exit(9)


def test_answers_come_in_order_and_each_has_its_threads():
    done, told = [], {}
    with ProcessPoolExecutor(2) as pool:
        found = run_all(
            squared,
            range(5),
            threads=None,
            who="test",
            on_done=done.append,
            on_answer=told.__setitem__,
            executor=pool,
        )
    assert found == [(i * i, 1) for i in range(5)]
    assert sorted(done) == list(range(5))
    assert told == dict(enumerate(found))


def test_errors_and_warnings_come_from_there(elsewhere):
    with (
        pytest.warns(DataWarning, match="1 is odd"),
        pytest.raises(DataError, match="two is refused"),
    ):
        run_all(failing, [1, 2, 3], threads=None, who="test", executor=elsewhere)


def test_a_worker_that_dies_is_said():
    with (
        ProcessPoolExecutor(1) as pool,
        pytest.raises(BestdagError, match="test: a worker of the executor was ended"),
    ):
        run_all(dying, [1], threads=None, who="test", executor=pool)


def test_what_cannot_be_sent_is_refused_before_work_begins(elsewhere):
    with pytest.raises(InvalidParameterError, match="must be possible to pickle"):
        run_all(lambda item, _: item, [1], threads=None, who="test", executor=elsewhere)
    assert elsewhere.n_tasks == 0


@dataclass(frozen=True)
class Large:
    """Work that holds many rows."""

    rows: bytes

    def __call__(self, item, threads):
        return (self.rows[item], threads) if item >= 0 else id(self.rows)


LARGE = Large(bytes(range(256)) * 4096)


def test_large_work_reaches_a_worker_once(elsewhere, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    n_read = []
    load = pickle.loads
    monkeypatch.setattr(
        "bestdag.workers.pickle.loads", lambda sent: n_read.append(len(sent) > 9999) or load(sent)
    )
    found = run_all(LARGE, [5, 260, 7], threads=None, who="test", executor=elsewhere)
    assert found == [(5, 1), (4, 1), (7, 1)]
    assert elsewhere.n_bytes < 3000
    assert sum(n_read) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("there", [None, b"something else"])
def test_a_worker_of_another_machine_gets_it_with_its_items(elsewhere, there, monkeypatch):
    class File(io.BytesIO):
        def __init__(self, *_):
            if there is None:
                raise FileNotFoundError
            super().__init__(there)

    monkeypatch.setattr("bestdag.workers.open", File, raising=False)
    monkeypatch.setattr("bestdag.workers._LAST", threading.local())
    found = run_all(LARGE, [5, 260], threads=None, who="test", executor=elsewhere)
    assert found == [(5, 1), (4, 1)]
    assert elsewhere.n_tasks == 4  # each is asked for once more


def test_threads_share_what_this_process_has():
    with ThreadPoolExecutor(2) as pool:
        found = run_all(LARGE, [-1, -1], threads=None, who="test", executor=pool)
    assert found == [id(LARGE.rows)] * 2


def test_what_is_no_executor_is_refused():
    with pytest.raises(InvalidParameterError, match=r"must be an Executor .* got 2"):
        run_all(squared, [1], threads=None, who="test", executor=2)


def test_bootstrap(asia, elsewhere):
    here = bootstrap(asia, "bic", replicates=4)
    there = bootstrap(asia, "bic", replicates=4, workers=elsewhere)
    np.testing.assert_array_equal(here.matrix, there.matrix)
    assert elsewhere.n_tasks == 4


def test_folds(asia, elsewhere):
    settings = {"score": ["bic", "bdeu"], "search": "hill_climb", "k": 3}
    here = cross_validate(asia, **settings)
    there = cross_validate(asia, **settings, workers=elsewhere)
    assert [m.log_losses for m in here.methods] == [m.log_losses for m in there.methods]
    assert elsewhere.n_tasks == 6


def test_learning_curves(asia, elsewhere):
    settings = {"search": "hill_climb", "sizes": [50, 100], "repeats": 2}
    here = learning_curve(asia, **settings)
    there = learning_curve(asia, **settings, workers=elsewhere)
    assert here.to_dict() == there.to_dict()
    assert elsewhere.n_tasks == 4


@pytest.mark.parametrize("steps", [None, 200])
def test_chains(asia, elsewhere, steps):
    settings = {"method": "chains", "chains": 3, "steps": steps, "samples": 50, "seed": 7}
    here = posterior(asia, "bic", **settings)
    there = posterior(asia, "bic", **settings, workers=elsewhere)
    np.testing.assert_array_equal(here.matrix, there.matrix)
    for one, other in zip(astuple(here.diagnostics), astuple(there.diagnostics), strict=True):
        np.testing.assert_array_equal(one, other)
    assert elsewhere.n_tasks % 3 == 0


def test_restarts_of_climbing(asia, elsewhere):
    search = HillClimb(restarts=4, start_from="random")
    here = learn(asia, "bdeu", search=search, seed=3)
    there = learn(asia, "bdeu", search=search, seed=3, workers=elsewhere)
    assert (here.dag, here.score, here.status) == (there.dag, there.score, there.status)
    assert elsewhere.n_tasks == 5


def test_restarts_from_the_best_so_far_stay_here(asia, elsewhere):
    search = HillClimb(restarts=2, perturb=3)
    here = learn(asia, "bdeu", search=search)
    assert learn(asia, "bdeu", search=search, workers=elsewhere).dag == here.dag
    assert elsewhere.n_tasks == 0


@pytest.mark.parametrize("limits", [{}, {"max_parents": 2, "prune": False}])
def test_score_tables_by_child(asia, elsewhere, limits):
    scorer = Scorer(asia, "bdeu")
    here = build_score_table(scorer, **limits)
    there = build_score_table(scorer, **limits, workers=elsewhere)
    for name in asia.names:
        # Scores of families that are counted together differ in their last digits.
        one, other = ({set_: score for score, set_ in t.sets(name)} for t in (here, there))
        assert one == pytest.approx(other, rel=1e-12)
    assert (here.n_scored, here.complete) == (there.n_scored, there.complete)
    assert elsewhere.n_tasks == 8


def test_a_search_over_a_score_table(asia, elsewhere):
    here = learn(asia, "bdeu", search=Exact(engine="bnc"))
    there = learn(asia, "bdeu", search=Exact(engine="bnc"), workers=elsewhere)
    assert (here.dag, elsewhere.n_tasks) == (there.dag, 8)


def test_classifiers(elsewhere):
    table = read_uncut(example("asia.csv"), target="dysp")
    recipes = {"naive": Recipe(search=NaiveBayes(target="dysp"))}
    here = dict(Trial(table, "dysp", n_folds=3).run(recipes))
    there = dict(Trial(table, "dysp", n_folds=3, workers=elsewhere).run(recipes))
    assert here["naive"].log_loss == there["naive"].log_loss
    assert elsewhere.n_tasks == 3
