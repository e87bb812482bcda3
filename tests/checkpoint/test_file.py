"""The file of a run: when it is written, what it is refused for, and what it answers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pytest

from bestdag.checkpoint import Checkpoint, RunState
from bestdag.checkpoint.description import text_of
from bestdag.checkpoint.file import read_any
from bestdag.data.readers import read
from bestdag.errors import FileError, FormatError, InvalidParameterError
from bestdag.examples import example
from bestdag.graph.dag import Dag
from bestdag.learning import learn
from bestdag.network.random_network import random_network
from bestdag.scores.bd import BD
from bestdag.scores.bde import BDe
from bestdag.scores.table import ScoreTable
from bestdag.search import Exact, make_search


@dataclass(frozen=True)
class Weighted:
    """A score of the user's own that says its settings."""

    weight: float = 1.0
    name: ClassVar[str] = "weighted"
    is_score_equivalent: ClassVar[bool] = False

    def family(self, counts):
        return -self.weight * len(counts.parents)

    def kernel(self):
        return None


@pytest.fixture(scope="module")
def asia():
    return read(example("asia.csv"))


@dataclass(frozen=True)
class Value:
    """What a finding may be made of."""

    numbers: tuple[float | None, ...]
    array: npt.NDArray[np.uint64]
    dag: Dag
    lists: ScoreTable
    named: dict[str, list[int]]


def state_of(path, **settings):
    return Checkpoint(path, **settings).open("learn", {})


def test_values_of_all_kinds_come_back(tmp_path):
    lists = ScoreTable.from_lists(["a", "b"], {"a": [(-1.0, []), (-0.5, ["b"])], "b": [(-2.0, [])]})
    value = Value(
        (1.0, 2.5, float("inf"), None),
        np.arange(6, dtype=np.uint64).reshape(2, 3),
        Dag(["a", "b"], [("a", "b")]),
        lists,
        {"ä": [2**63]},
    )
    with state_of(tmp_path / "run") as state:
        state.put("value", value)
        state.keep(now=True)
    with state_of(tmp_path / "run", resume=True) as again:
        copy = again.get("value", Value)
        assert (copy.numbers, copy.dag, copy.named) == (value.numbers, value.dag, value.named)
        assert copy.lists == lists
        assert copy.array.dtype == np.uint64
        assert np.array_equal(copy.array, value.array)
        assert again.get("another", Value) is None
        again.keep(now=True)  # what was not asked for stays, too
    with state_of(tmp_path / "run", resume=True) as last:
        assert last.get("value", Value).lists == lists


def test_what_cannot_be_saved_is_an_error_and_not_a_file_of_code(tmp_path):
    with state_of(tmp_path / "run") as state:
        state.put("value", os.system)
        with pytest.raises(NotImplementedError, match="cannot be saved"):
            state.keep(now=True)


@pytest.mark.parametrize("place", [5, 25, 60, -1])
@pytest.mark.parametrize("kind", ["cut", "changed"])
def test_a_file_that_is_damaged_is_refused(asia, tmp_path, place, kind):
    path = tmp_path / "run"
    learn(asia, search="hill_climb", checkpoint=path)
    content = bytearray(path.read_bytes())
    if kind == "cut":
        content = content[:place]
    else:
        content[place] ^= 1
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"run: .*name another file"):
        learn(asia, search="hill_climb", checkpoint=Checkpoint(path, resume=True))


def test_a_finding_of_another_kind_is_an_error_in_one_line(asia, tmp_path):
    path = tmp_path / "run"
    learn(asia, search="hill_climb", checkpoint=path)
    saved = read_any(path)
    with Checkpoint(path, force=True).open("learn", saved.description) as state:
        state.put("best", {"dag": "__import__('os')", "score": []})
        state.keep(now=True)
    with pytest.raises(FormatError, match="run: is damaged, or cut short; name another file"):
        learn(asia, search="hill_climb", checkpoint=Checkpoint(path, resume=True))


def test_any_other_file_is_refused(asia, tmp_path):
    (tmp_path / "run").write_text("asia,tub\nyes,no\n")
    with pytest.raises(FormatError, match="run: is not a bestdag checkpoint; name another file"):
        learn(asia, search="hill_climb", checkpoint=Checkpoint(tmp_path / "run", resume=True))


def test_a_link_is_not_written_through(asia, tmp_path):
    (tmp_path / "precious").write_text("")
    (tmp_path / "run").symlink_to(tmp_path / "precious")
    with pytest.raises(FileError, match="is a symbolic link to"):
        learn(asia, search="hill_climb", checkpoint=tmp_path / "run")
    assert (tmp_path / "precious").read_text() == ""
    assert sorted(one.name for one in tmp_path.iterdir()) == ["precious", "run"]


def test_a_file_that_is_there_needs_a_word(asia, tmp_path):
    path = tmp_path / "run"
    first = learn(asia, search="hill_climb", checkpoint=path)
    with pytest.raises(
        FileError, match=r"exists already; pass Checkpoint\(path, resume=True\) .* or force=True"
    ):
        learn(asia, search="hill_climb", checkpoint=path)
    found = learn(asia, search="hill_climb", checkpoint=Checkpoint(path, force=True))
    assert found.dag == first.dag
    assert found.resumed_seconds == 0
    with pytest.raises(InvalidParameterError, match="choose one"):
        learn(asia, search="hill_climb", checkpoint=Checkpoint(path, resume=True, force=True))


def test_a_finished_file_answers_at_once_and_stays(asia, tmp_path, monkeypatch):
    path = tmp_path / "run"
    first = learn(asia, search="exact", checkpoint=path, near_optimal=3)
    before = path.read_bytes()
    monkeypatch.setattr(Exact, "steps", lambda *_: pytest.fail("a search was begun"))
    found = learn(asia, search="exact", checkpoint=Checkpoint(path, resume=True), near_optimal=3)
    assert path.read_bytes() == before
    assert (found.dag, found.score, found.bound) == (first.dag, first.score, first.bound)
    assert found.structures.items == first.structures.items
    assert found.seconds == first.seconds
    monkeypatch.undo()
    assert found.verify()  # the proof is found once more


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": 4}, "was made with seed 0, and 4 is asked for"),
        ({"search": "tabu"}, "was made with search hill_climb, and tabu is asked for"),
        ({"search": make_search("hill_climb", restarts=2)}, "was made with restarts 0, and 2"),
        ({"score": "bic"}, "was made with score"),
        ({"knowledge": ["asia -> dysp"]}, "was made with knowledge none, and"),
        ({"max_parents": 2}, "was made with max parents none, and 2"),
        ({"score": Weighted(2.0)}, "was made with score"),
    ],
)
def test_a_file_of_other_settings_is_refused_by_their_name(asia, tmp_path, changed, message):
    path = tmp_path / "run"
    learn(asia, search="hill_climb", checkpoint=path)
    with pytest.raises(FormatError, match=message):
        learn(asia, **{"search": "hill_climb", **changed}, checkpoint=Checkpoint(path, resume=True))


def test_a_file_of_other_data_or_another_version_is_refused(asia, tmp_path, monkeypatch):
    path = tmp_path / "run"
    learn(asia, search="hill_climb", checkpoint=path)
    with pytest.raises(FormatError, match="was made with other data; name another file"):
        learn(
            asia.select(rows=range(99)),
            search="hill_climb",
            checkpoint=Checkpoint(path, resume=True),
        )
    monkeypatch.setattr("bestdag.__version__", "0.0")
    with pytest.raises(FormatError, match=r"was made with version .*, and 0\.0 is asked for"):
        learn(asia, search="hill_climb", checkpoint=Checkpoint(path, resume=True))


def test_resume_without_a_file_begins(asia, tmp_path):
    found = learn(asia, search="hill_climb", checkpoint=Checkpoint(tmp_path / "run", resume=True))
    assert (tmp_path / "run").exists()
    assert found.resumed_seconds == 0


def test_a_place_that_cannot_be_written_is_said_before_the_search(asia, tmp_path):
    with pytest.raises(FileError, match="cannot be written"):
        learn(asia, search="hill_climb", checkpoint=tmp_path / "no" / "run")


def test_the_time_limit_is_for_all_parts_together(asia, tmp_path):
    path = tmp_path / "run"
    slow = make_search("hill_climb", restarts=10**6)
    first = learn(asia, "bdeu", search=slow, checkpoint=path, time_limit=0.3)
    assert first.status == "time limit"
    assert read_any(path).seconds >= 0.3
    again = learn(
        asia, "bdeu", search=slow, checkpoint=Checkpoint(path, resume=True), time_limit=0.3
    )
    assert (again.status, again.dag) == ("time limit", first.dag)
    assert again.score == pytest.approx(first.score, rel=1e-12)
    assert again.resumed_seconds >= 0.3
    assert len(again.trace) <= 1  # nothing is left of the limit
    limit = again.seconds + 0.3
    more = learn(
        asia, "bdeu", search=slow, checkpoint=Checkpoint(path, resume=True), time_limit=limit
    )
    assert more.score >= again.score - 1e-9
    assert more.trace


class Clock:
    """Time that passes when it is told to; a write takes two seconds."""

    def __init__(self, monkeypatch):
        self.now, self.begun, self.written = 1000.0, 1000.0, []
        monkeypatch.setattr("bestdag.checkpoint.run.time", self)
        monkeypatch.setattr("bestdag.checkpoint.file.write_saved", self.write)

    def monotonic(self):
        return self.now

    def write(self, _path, _description, seconds, _findings, _is_finished):
        self.now += 2.0
        self.written.append((self.now - self.begun, seconds))

    def work(self, run, until):
        while self.now < until:
            self.now += 0.5
            run.keep()


def test_the_last_write_is_within_the_time_limit(monkeypatch):
    clock = Clock(monkeypatch)
    run = RunState("run", every=60.0)
    run.keep(now=True)
    left = run.limited(200.0, clock.begun)
    assert left == 198.0  # the first write counts
    clock.work(run, clock.now + left - run.reserve)
    at = [ended for ended, _ in clock.written]
    # Every sixty seconds, never more often than twenty times what a write takes, and at the end.
    assert at == [2.0, 2.0 + 62.0, 64.0 + 62.0, 126.0 + 42.0, 200.0 - 2.5 + 2.0]
    assert clock.written[-1][1] == 200.0  # seconds, when the limit is reached
    run.keep()
    run.stop()
    assert len(clock.written) == len(at)  # how it ended is written


def test_who_presses_ctrl_c_does_not_wait_for_a_long_write(monkeypatch):
    clock = Clock(monkeypatch)
    run = RunState("run", every=60.0)
    run.stop(at_once=True)
    assert len(clock.written) == 1  # how long it takes is not known yet
    run.stop(at_once=True)
    assert len(clock.written) == 1
    run.stop()
    assert len(clock.written) == 2


class Silent:
    """One that does not: its repr is an address."""

    name = "silent"
    is_score_equivalent = False

    def __init__(self, weight):
        self.weight = weight

    def family(self, counts):
        return -self.weight * len(counts.parents)

    def kernel(self):
        return None


def test_a_score_that_does_not_say_what_it_is_is_refused_at_the_start(asia, tmp_path):
    path = tmp_path / "run"
    with pytest.raises(InvalidParameterError, match="must be able to tell the score from another"):
        learn(asia, Silent(1.0), search="hill_climb", checkpoint=path)
    assert not path.exists()
    learn(asia, Silent(1.0), search="hill_climb")
    learn(asia, Weighted(1.0), search="hill_climb", checkpoint=path)
    with pytest.raises(FormatError, match=r"with score Weighted\(.*1.0.*\), and Weighted\(.*2.0"):
        learn(asia, Weighted(2.0), search="hill_climb", checkpoint=Checkpoint(path, resume=True))
    assert learn(asia, Weighted(1.0), search="hill_climb", checkpoint=Checkpoint(path, resume=True))


def test_settings_whose_repr_leaves_something_out_are_told_apart():
    small, large = (BD(tables={("a", ()): [[k, 1.0]]}) for k in (1.0, 2.0))
    assert repr(small) == repr(large)
    assert text_of(small) != text_of(large)
    arrays = [np.zeros(5000), np.zeros(5000)]
    arrays[1][2500] = 1.0
    assert repr(arrays[0]) == repr(arrays[1])
    assert text_of(arrays[0]) != text_of(arrays[1])
    names = [f"v{k}" for k in range(60)]
    dags = [Dag(names, [(names[k], names[k + 1])]) for k in (3, 4)]
    assert text_of(dags[0]) != text_of(dags[1])
    networks = [random_network(5, "order", max_parents=2, seed=seed) for seed in (1, 2)]
    assert text_of(BDe(prior=networks[0])) != text_of(BDe(prior=networks[1]))
    assert text_of(BDe(prior=networks[0])) == text_of(
        BDe(prior=random_network(5, "order", max_parents=2, seed=1))
    )
