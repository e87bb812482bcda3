"""Rows on a cluster: the counts, states and refusals of one machine."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest

from bestdag import Checkpoint, learn
from bestdag.averaging.bootstrap import bootstrap
from bestdag.cli.main import run
from bestdag.cluster.reading import read_on, spread
from bestdag.counts.engine import CountingEngine
from bestdag.errors import BestdagError, ClusterError


def all_families(names):
    return [
        (child, parents)
        for child in names
        for size in range(len(names))
        for parents in combinations([name for name in names if name != child], size)
    ]


def assert_counts_agree(rows, dataset, families=None, **settings):
    families = families or all_families(dataset.names)
    here = CountingEngine(dataset, **settings).count(families)
    there = CountingEngine(rows, **settings).count(families)
    for one, other in zip(here, there, strict=True):
        assert one.child == other.child
        assert one.parents == other.parents
        np.testing.assert_array_equal(one.configurations, other.configurations)
        np.testing.assert_array_equal(one.table, other.table)
        assert one.table.dtype == other.table.dtype


def test_workers_read_what_one_machine_reads(client, table, dataset):
    rows = read_on(client, table)
    assert rows.variables == dataset.variables
    assert (rows.n_rows, rows.total_weight) == (dataset.n_rows, dataset.total_weight)
    assert (rows.rows_in, rows.n_workers, rows.missing_counts) == ("cluster", 2, {})
    assert_counts_agree(rows, dataset)


def test_one_batch_is_one_pass(client, table):
    provider = read_on(client, table).count_provider()
    engine = CountingEngine(read_on(client, table))
    provider.count(engine.encode(all_families("abcd")), max_cells=1e6)
    assert (provider.passes, provider.workers, provider.rows_in) == (1, 2, "cluster")


def test_a_table_in_memory_is_sent(client, dataset):
    assert_counts_agree(spread(client, dataset), dataset)


@pytest.mark.parametrize("search", ["hill_climb", "exact", "tree"])
@pytest.mark.parametrize("score", ["bdeu", "bic"])
def test_what_is_learned_is_what_one_machine_learns(client, table, dataset, search, score):
    here = learn(dataset, score, search=search)
    there = learn(table, score, search=search, workers=client)
    assert (there.dag, there.status) == (here.dag, here.status)
    assert there.score == pytest.approx(here.score, rel=1e-12)
    assert there.fit() == here.fit()


def test_a_run_on_a_cluster_is_kept_and_known_by_its_counts(client, table, dataset, tmp_path):
    path = tmp_path / "run"
    first = learn(table, "bic", search="hill_climb", workers=client, checkpoint=path)
    again = learn(
        table, "bic", search="hill_climb", workers=client, checkpoint=Checkpoint(path, resume=True)
    )
    assert (again.dag, again.score) == (first.dag, first.score)
    fewer = dataset.select(rows=slice(1, None))
    with pytest.raises(BestdagError, match="other data"):
        learn(
            fewer,
            "bic",
            search="hill_climb",
            workers=client,
            checkpoint=Checkpoint(path, resume=True),
        )


def test_the_command_line_says_what_one_machine_says(client, table, capsys):
    words = ["learn", str(table), "--search", "hill_climb", "--json"]
    found = []
    for more in ([], ["--cluster", client.scheduler.address]):
        assert run([*words, *more]) == 0
        found.append(json.loads(capsys.readouterr().out))
    here, there = found
    assert (there["arcs"], there["data"]) == (here["arcs"], here["data"])
    assert there["score"] == pytest.approx(here["score"], rel=1e-12)


@pytest.mark.slow
def test_a_cluster_of_this_machine_is_closed_at_the_end(table, dataset):
    here = learn(dataset, "bic", search="hill_climb")
    there = learn(table, "bic", search="hill_climb", workers="local")
    assert there.dag == here.dag
    with pytest.raises(ClusterError, match="the client of the rows is closed"):
        there.fit()


def test_an_executor_of_the_cluster_learns_the_same(client, dataset):
    with client.get_executor() as executor:
        there = bootstrap(dataset, "bic", replicates=4, workers=executor)
    np.testing.assert_array_equal(there.matrix, bootstrap(dataset, "bic", replicates=4).matrix)
