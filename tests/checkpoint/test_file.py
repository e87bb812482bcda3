"""The file of a run: when it is written, what it is refused for, and what it answers."""

from __future__ import annotations

import os

import numpy as np
import pytest

from bestdag.checkpoint import Checkpoint
from bestdag.checkpoint.format import read_state, write_state
from bestdag.data.readers import read
from bestdag.errors import FileError, FormatError, InvalidParameterError
from bestdag.examples import example
from bestdag.learning import learn
from bestdag.search import Exact, make_search


@pytest.fixture(scope="module")
def asia():
    return read(example("asia.csv"))


def test_a_tree_of_values_and_arrays_comes_back(tmp_path):
    state = {
        "numbers": [1, 2.5, 2**64 - 1, float("inf"), None, True],
        "deep": {"array": np.arange(6, dtype=np.uint64).reshape(2, 3), "text": "ä\n\udc80"},
    }
    write_state(tmp_path / "file", state)
    found = read_state(tmp_path / "file")
    assert found["numbers"] == state["numbers"]
    assert found["deep"]["text"] == state["deep"]["text"]
    assert found["deep"]["array"].dtype == np.uint64
    assert np.array_equal(found["deep"]["array"], state["deep"]["array"])


def test_nothing_in_a_file_is_run(tmp_path):
    hostile = np.empty(1, object)
    hostile[0] = os.system
    np.savez(tmp_path / "file.npz", tree=hostile)
    with pytest.raises(FormatError, match="is not a bestdag checkpoint, or is damaged"):
        read_state(tmp_path / "file.npz")


def test_a_file_that_is_cut_short_is_refused(asia, tmp_path):
    path = tmp_path / "run"
    learn(asia, search="hill_climb", checkpoint=path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(
        FormatError, match=r"run: is not a bestdag checkpoint, or is damaged: .*name another"
    ):
        learn(asia, search="hill_climb", checkpoint=path, resume=True)


def test_parts_are_given_what_they_said_in_their_order(tmp_path):
    first = Checkpoint(tmp_path / "run")
    with first.part("outer", lambda: 1), first.part("inner", lambda: [2]):
        first.keep()
    again = Checkpoint(tmp_path / "run", saved=read_state(tmp_path / "run"))
    with again.part("outer", lambda: None) as outer:
        again.keep(now=True)  # the inner part is yet to come: nothing is lost
        with again.part("inner", lambda: None) as inner:
            assert (outer, inner) == (1, [2])
        with again.part("inner", lambda: None) as another:
            assert another is None
    assert read_state(tmp_path / "run")["parts"] == [["outer", 1], ["inner", [2]]]


def test_another_part_than_the_one_kept_begins_anew(tmp_path):
    first = Checkpoint(tmp_path / "run")
    with first.part("outer", lambda: 1), first.part("inner", lambda: 2):
        first.keep()
    again = Checkpoint(tmp_path / "run", saved=read_state(tmp_path / "run"))
    with again.part("other", lambda: None) as other, again.part("inner", lambda: None) as inner:
        assert other is None
        assert inner is None


def test_a_file_that_is_there_needs_a_word(asia, tmp_path):
    path = tmp_path / "run"
    first = learn(asia, search="hill_climb", checkpoint=path)
    with pytest.raises(FileError, match=r"exists already; pass resume=True .* or force=True"):
        learn(asia, search="hill_climb", checkpoint=path)
    found = learn(asia, search="hill_climb", checkpoint=path, force=True)
    assert found.dag == first.dag
    assert found.resumed_seconds == 0
    with pytest.raises(InvalidParameterError, match="choose one"):
        learn(asia, search="hill_climb", checkpoint=path, force=True, resume=True)


def test_a_finished_file_answers_at_once_and_stays(asia, tmp_path, monkeypatch):
    path = tmp_path / "run"
    first = learn(asia, search="exact", checkpoint=path, k_best=3)
    before = path.read_bytes()
    monkeypatch.setattr(Exact, "run", lambda *_: pytest.fail("a search was begun"))
    found = learn(asia, search="exact", checkpoint=path, k_best=3, resume=True)
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
    ],
)
def test_a_file_of_other_settings_is_refused_by_their_name(asia, tmp_path, changed, message):
    path = tmp_path / "run"
    learn(asia, search="hill_climb", checkpoint=path)
    with pytest.raises(FormatError, match=message):
        learn(asia, **{"search": "hill_climb", **changed}, checkpoint=path, resume=True)


def test_a_file_of_other_data_or_another_version_is_refused(asia, tmp_path, monkeypatch):
    path = tmp_path / "run"
    learn(asia, search="hill_climb", checkpoint=path)
    with pytest.raises(FormatError, match="was made with other data; name another file"):
        learn(asia.select(rows=range(99)), search="hill_climb", checkpoint=path, resume=True)
    monkeypatch.setattr("bestdag.__version__", "0.0")
    with pytest.raises(FormatError, match=r"was made with version .*, and 0\.0 is asked for"):
        learn(asia, search="hill_climb", checkpoint=path, resume=True)


def test_resume_without_a_file_begins_and_without_a_name_is_refused(asia, tmp_path):
    found = learn(asia, search="hill_climb", checkpoint=tmp_path / "run", resume=True)
    assert (tmp_path / "run").exists()
    assert found.resumed_seconds == 0
    for word in ({"resume": True}, {"checkpoint_every": 3.0}, {"force": True}):
        with pytest.raises(InvalidParameterError, match="name its file with checkpoint"):
            learn(asia, search="hill_climb", **word)


def test_a_place_that_cannot_be_written_is_said_before_the_search(asia, tmp_path):
    with pytest.raises(FileError, match="cannot be written"):
        learn(asia, search="hill_climb", checkpoint=tmp_path / "no" / "run")


def last_restart(result):
    """Return the number of the last restart in the trace."""
    moves = [step.move for step in result.trace]
    return max(int(m.split()[1].rstrip(":")) for m in moves if m.startswith("restart "))


def test_the_time_limit_is_for_all_parts_together(asia, tmp_path):
    path = tmp_path / "run"
    slow = make_search("hill_climb", restarts=10**6)
    first = learn(asia, "bdeu", search=slow, checkpoint=path, time_limit=0.3)
    assert first.status == "time limit"
    assert read_state(path)["seconds"] >= 0.3
    again = learn(asia, "bdeu", search=slow, checkpoint=path, time_limit=0.3, resume=True)
    assert (again.status, again.dag) == ("time limit", first.dag)
    assert again.score == pytest.approx(first.score, rel=1e-12)
    assert again.trace == first.trace
    assert again.resumed_seconds >= 0.3
    limit = again.seconds + 0.5
    more = learn(asia, "bdeu", search=slow, checkpoint=path, time_limit=limit, resume=True)
    assert last_restart(more) > last_restart(first)


class Clock:
    """Time that passes when it is told to; a write takes two seconds."""

    def __init__(self, monkeypatch):
        self.now, self.begun, self.written = 1000.0, 1000.0, []
        monkeypatch.setattr("bestdag.checkpoint.checkpoint.time", self)
        monkeypatch.setattr("bestdag.checkpoint.checkpoint.write_state", self.write)

    def monotonic(self):
        return self.now

    def write(self, _path, state, _on_place):
        self.now += 2.0
        self.written.append((self.now - self.begun, state["seconds"]))

    def work(self, run, until):
        while self.now < until:
            self.now += 0.5
            run.keep()


def test_the_last_write_is_within_the_time_limit(monkeypatch):
    clock = Clock(monkeypatch)
    run = Checkpoint("run", every=60.0)
    run.write()
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
    run = Checkpoint("run", every=60.0)
    run.stop(at_once=True)
    assert len(clock.written) == 1  # how long it takes is not known yet
    run.stop(at_once=True)
    assert len(clock.written) == 1
    run.stop()
    assert len(clock.written) == 2
