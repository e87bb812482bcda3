"""`bestdag bootstrap` and `bestdag posterior`: JSON, tables, files, wrong input, Ctrl-C."""

import json
import subprocess
import sys

import numpy as np
import pytest

from bestdag import HillClimb, Network, bootstrap, discretize, posterior
from bestdag.examples import example
from tests.signals import pressed_in

CSV = str(example("asia.csv"))
BIF = str(example("asia.bif"))


def test_bootstrap_json(cli):
    shown = cli("bootstrap", CSV, "--score", "bic", "--replicates", "5", "--seed", "2", "--json")
    values = json.loads(shown.out)
    expected = bootstrap(CSV, "bic", replicates=5, seed=2)
    assert (shown.code, shown.err) == (0, "")
    assert values["variables"] == list(expected.names)
    np.testing.assert_array_equal(values["matrix"], expected.matrix)
    assert values["threshold"] == expected.threshold
    assert values["arcs"] == [list(arc) for arc in expected.averaged().arcs]
    assert values["settings"]["replicates"] == 5


def test_bootstrap_with_a_search_a_threshold_and_the_truth(cli):
    shown = cli(
        *("bootstrap", CSV, "--search", "hill_climb", "--reinsert", "no", "--replicates", "3"),
        *("--threshold", "0.9", "--truth", BIF, "--json"),
    )
    values = json.loads(shown.out)
    expected = bootstrap(CSV, search=HillClimb(reinsert=False), replicates=3)
    np.testing.assert_array_equal(values["matrix"], expected.matrix)
    assert values["threshold"] == 0.9
    assert values["truth"] == expected.compare(Network.load(BIF)).to_dict()


def test_bootstrap_for_people_writes_the_averaged_network(cli, tmp_path):
    path = tmp_path / "averaged.bif"
    shown = cli("bootstrap", CSV, "--score", "bic", "--replicates", "3", "-o", str(path))
    assert shown.code == 0
    assert "probabilities are shares of 3 bootstrap resamples" in shown.out
    assert "in the averaged network" in shown.out
    expected = bootstrap(CSV, "bic", replicates=3).averaged()
    assert set(Network.load(path).dag.arcs) == set(expected.arcs)


def test_bootstrap_cuts_numbers_once_on_the_whole_table(cli, tmp_path):
    path = tmp_path / "sizes.csv"
    rows = "".join(f"{i / 7},{'big' if i > 20 else 'small'}\n" for i in range(40))
    path.write_text(f"size,kind\n{rows}")
    options = ("--score", "bic", "--replicates", "4")
    shown = cli("bootstrap", path, *options, "--discretize", "--bins", "3", "--json")
    values = json.loads(shown.out)
    cut = discretize(path, method="quantile", bins=3)
    expected = bootstrap(cut, "bic", replicates=4)
    np.testing.assert_array_equal(values["matrix"], expected.matrix)
    assert values["settings"]["cut"] == ["size"]
    words = "numeric columns binned into up to 3 quantiles: size, using all rows"
    assert values["notes"][0].startswith(words)
    shown = cli("bootstrap", path, *options, "--discretize", "--target", "kind")
    assert "where the classes of kind differ (Fayyad and Irani): size, using all rows" in shown.out


def test_auto_has_a_second_for_each_replicate(cli):
    shown = cli("bootstrap", CSV, "--search", "auto", "--replicates", "2", "--json")
    assert json.loads(shown.out)["settings"]["search"] == "auto"


def test_posterior_json(cli):
    shown = cli("posterior", CSV, "--dag-prior", "order", "--ancestors", "--json")
    values = json.loads(shown.out)
    expected = posterior(CSV, prior="order", ancestors=True)
    assert (shown.code, shown.err) == (0, "")
    np.testing.assert_array_equal(values["matrix"], expected.matrix)
    np.testing.assert_array_equal(values["ancestors"], expected.ancestors)
    assert values["method"] == "exact order"
    assert values["log_evidence"] == expected.log_evidence
    best = values["parent_sets"]["dysp"][0]
    assert best["parents"] == list(expected.parent_sets["dysp"][0].parents)


def test_posterior_for_people_says_how_it_was_found(cli):
    shown = cli("posterior", CSV, "--truth", BIF)
    assert "prior: uniform over DAGs" in shown.out
    assert "exact: a sum over all DAGs" in shown.out
    assert "Brier" in shown.out
    chains = cli("posterior", CSV, "--method", "chains", "--steps", "2000", "--chains", "2")
    assert "2 chains of 2,000 steps" in chains.out


def test_draws_that_cover_next_to_nothing_say_so():
    random = np.random.default_rng(0)
    table = {f"v{k}": random.integers(0, 3, 30).tolist() for k in range(9)}
    few = posterior(table, method="sampling", samples=5, seed=1, support=0)
    assert few.dags.covered_mass < 5e-4
    words = "the listed structures cover almost none of it: use the arc probabilities"
    assert words in " ".join(few.notes)
    assert words not in " ".join(posterior(CSV, method="sampling", samples=500).notes)


def test_sampling_says_what_is_covered(cli):
    shown = cli("posterior", CSV, "--method", "sampling", "--samples", "500", "--json")
    values = json.loads(shown.out)
    assert 0.0 < values["dags"]["covered_mass"] <= 1.0
    assert "of the posterior" in " ".join(values["notes"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bootstrap", CSV, "--replicates", "0"), "--replicates must be a whole number >= 1"),
        (("bootstrap", CSV, "--missing", "em"), "pass drop or state, or fill in the values first"),
        (("bootstrap", CSV, "--force"), "--force is for the network written by -o FILE"),
        (("bootstrap", CSV, "--search", "climb"), "unknown search 'climb'"),
        (("posterior", CSV, "--score", "ll"), "logarithm of a probability, got ll"),
        (("posterior", CSV, "--dag-prior", "flat"), "'flat' is not one of"),
        (("posterior", CSV, "--chains", "0"), "--chains must be a whole number >= 1"),
        (("posterior", CSV, "--know", "asia ~> lung"), "none about edges"),
    ],
)
def test_wrong_input_is_one_line(cli, arguments, message):
    shown = cli(*arguments)
    assert shown.code == 2
    assert message in shown.err
    assert shown.err.count("\n") == 1


def test_ctrl_c_says_whether_anything_is_kept(cli, monkeypatch, tmp_path):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("bestdag.cli.bootstrap.bootstrap", stopped)
    assert cli("bootstrap", CSV).err == "bestdag: interrupted; no results are saved\n"
    kept = cli("bootstrap", CSV, "--checkpoint", tmp_path / "kept")
    assert kept.err == "bestdag: interrupted; --resume continues from the checkpoint\n"
    monkeypatch.setattr("bestdag.cli.learn.write_fitted", stopped)
    shown = cli("learn", CSV, "-o", tmp_path / "net.bif")
    assert "(proved; exact" in shown.out
    assert shown.err == "bestdag: interrupted\n"  # the structure was shown


@pytest.mark.parametrize(
    "arguments",
    [
        ("bootstrap", "--replicates", "100000", "--threads", "2"),
        ("bootstrap", "--replicates", "100000", "--threads", "1"),
    ],
)
def test_ctrl_c_is_answered_at_once(arguments, cli, monkeypatch):
    monkeypatch.setattr("bestdag.cli.bootstrap.bootstrap", pressed_in(bootstrap, times=2))
    shown = cli(arguments[0], CSV, *arguments[1:])
    assert (shown.code, shown.out, shown.err.count("\n")) == (130, "", 1)
    assert shown.err.startswith("bestdag: interrupted")


def test_ctrl_c_keeps_what_chains_have_drawn(cli, monkeypatch):
    monkeypatch.setattr("bestdag.cli.posterior.posterior", pressed_in(posterior, times=2))
    shown = cli("posterior", CSV, "--method", "chains", "--steps", "1000000000")
    assert (shown.code, shown.err) == (130, "")
    assert "Ctrl-C ended the chains: these are the structures drawn so far\n" in shown.out


def test_rows_from_standard_input():
    rows = b"a,b\n" + b"x,y\nz,w\n" * 20
    command = [sys.executable, "-m", "bestdag", "posterior", "-", "--json"]
    made = subprocess.run(command, input=rows, capture_output=True, check=True)
    assert json.loads(made.stdout)["edges"][0]["probability"] > 0.99
