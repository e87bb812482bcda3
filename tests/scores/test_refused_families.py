"""Scores whose settings name variables: what their native twins refuse, and Ctrl-C."""

from math import log

import numpy as np
import pytest

from bestdag import machine
from bestdag.data.dataset import Dataset
from bestdag.data.schema import Variable
from bestdag.errors import (
    DataError,
    InvalidParameterError,
    NotEnoughMemoryError,
    UnknownNameError,
)
from bestdag.scores.bd import BD
from bestdag.scores.bde import BDe
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.scores.scorer import Scorer
from tests.conftest import make_dataset
from tests.scores.prior_networks import PriorNet, bd_for, knotted_net
from tests.signals import ctrl_c_in_native_work


# A network's states in another order than those of the data are other states.
def test_states_in_another_order_are_refused_by_every_road():
    net = PriorNet({"a": ([], [0.5, 0.5]), "b": (["a"], [[0.2, 0.8], [0.6, 0.4]])})
    variables = [Variable("a", ("0", "1")), Variable("b", ("1", "0"))]
    dataset = Dataset(variables, [np.array([0, 1], np.uint8)] * 2)
    scorer = Scorer(dataset, BDe(prior=net))
    assert scorer.family("a") == pytest.approx(log(1 / 8))
    for road in every_road(scorer, "a"):
        with pytest.raises(DataError, match="states of 'b' are '1', '0' in the data and '0', '1'"):
            road()


def every_road(scorer, child):
    return (
        lambda: scorer.families([(child, n) for n in ([], ["b"])]),
        lambda: scorer.changes(child),
        lambda: scorer.pair_scores([v.name for v in scorer.variables]),
        lambda: scorer.all_families(1),
        lambda: build_score_table(scorer, max_parents=1),
        lambda: build_score_table(scorer),
    )


def test_unknown_variables_are_refused_by_every_road():
    scorer = Scorer(
        make_dataset({"a": [0, 1], "b": [0, 1]}), BDe(prior=PriorNet({"a": ([], [0.5, 0.5])}))
    )
    assert scorer.family("a") == pytest.approx(log(1 / 8))
    for road in every_road(scorer, "a"):
        with pytest.raises(UnknownNameError, match="the prior network: unknown variable 'b'"):
            road()


@pytest.mark.parametrize("threads", [1, 4])
def test_families_without_a_table_are_refused_by_every_road(threads):
    rng = np.random.default_rng(3)
    dataset = make_dataset({n: rng.integers(0, 2, 50_000).tolist() for n in "abc"})
    tables = dict(bd_for(dataset).tables)
    del tables["a", frozenset("b")]
    scorer = Scorer(dataset, BD(tables=tables), threads=threads)
    for road in every_road(scorer, "a"):
        with pytest.raises(
            InvalidParameterError, match=r"no table is given for the family 'a' given 'b'$"
        ):
            road()
    assert np.isfinite(scorer.family("a", ["c"]))  # the scorer lives on


def test_tables_of_the_wrong_shape_are_refused_by_every_road():
    dataset = make_dataset({"a": [0, 1], "b": [0, 1]})
    tables = {**bd_for(dataset).tables, ("a", frozenset("b")): [[1, 1]]}
    scorer = Scorer(dataset, BD(tables=tables))
    for road in every_road(scorer, "a"):
        with pytest.raises(InvalidParameterError, match=r"must have the shape \(2, 2\)"):
            road()


def test_tables_are_needed_for_the_families_asked_for_only():
    dataset = make_dataset({"a": [0, 1, 1], "b": [0, 1, 0], "c": [0, 0, 1]})
    tables = {(n, ()): [[1, 1]] for n in "abc"}
    tables |= {family: [[1, 2], [3, 4]] for family in (("a", ("b",)), ("b", ("a",)), ("c", ("a",)))}
    score = BD(tables={**tables, ("unknown", ("a",)): [[1, 1]]})
    candidates = {"a": ["b"], "b": ["a"], "c": ["a"]}
    for max_parents in (1, None):
        table = build_score_table(
            Scorer(dataset, score), candidates=candidates, max_parents=max_parents, prune=False
        )
        assert sorted(parents for _, parents in table.sets("c")) == [(), ("a",)]


def test_what_does_not_fit_is_refused_with_a_forecast(monkeypatch):
    net, last = knotted_net(45)
    scorer = Scorer(make_dataset({last: [0, 1]}), BDe(prior=net))
    with pytest.raises(
        NotEnoughMemoryError, match=r"BDe: the joint distribution of 'x989' and its 0 parents .*PiB"
    ):
        scorer.family(last)
    small, name = knotted_net(4)
    monkeypatch.setattr("bestdag.scores.bde.memory_left", lambda: 8)
    scorer = Scorer(make_dataset({name: [0, 1]}), BDe(prior=small))
    with pytest.raises(NotEnoughMemoryError, match="make a new Scorer"):  # enough by now
        scorer.changes(name)
    monkeypatch.setattr(machine, "available_memory", lambda: 10)
    with pytest.raises(NotEnoughMemoryError, match="10 bytes are available; use a prior network"):
        scorer.family(name)


def interrupted_changes(scorer, child, parents=()):
    """Ask for changes again and again until Ctrl-C comes, while native code works."""
    with ctrl_c_in_native_work():
        while True:
            scorer.changes(child, parents)


def test_ctrl_c_is_answered_in_a_large_product():
    net, last = knotted_net(24)  # several seconds
    scorer = Scorer(make_dataset({last: [0, 1, 1], "h00": [0, 1, 0]}), BDe(prior=net), threads=2)
    with pytest.raises(KeyboardInterrupt):
        interrupted_changes(scorer, last)
    assert np.isfinite(scorer.family("h00"))


def test_ctrl_c_is_answered_among_many_rows():
    net, last = knotted_net(8)
    names = [last, *net.names[:8], *net.names[-20:-1]]
    rng = np.random.default_rng(1)
    dataset = make_dataset({name: rng.integers(0, 2, 200_000).tolist() for name in names})
    scorer = Scorer(dataset, BDe(prior=net), threads=2)
    with pytest.raises(KeyboardInterrupt):
        interrupted_changes(scorer, last, names[1:])
    assert np.isfinite(scorer.family("h00"))
