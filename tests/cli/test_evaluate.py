"""`bestdag evaluate`: scores and searches compared on one table."""

import json

import pytest

from bestdag import Network, compare, cross_validate, learn
from bestdag.examples import example

DATA, NET = str(example("asia.csv")), str(example("asia.bif"))


def test_json_has_what_the_library_says(cli):
    shown = cli(
        *("evaluate", DATA, "--score", "bdeu", "--score", "bic", "--search", "exact"),
        *("--search", "tree", "--cv", 3, "--seed", 5, "--truth", NET, "--json"),
    )
    assert shown.code == 0
    found = json.loads(shown.out)
    made = cross_validate(DATA, ["bdeu", "bic"], ["exact", "tree"], k=3, seed=5)
    assert [m["label"] for m in found["methods"]] == [m.label for m in made.methods]
    for method, other in zip(found["methods"], made.methods, strict=True):
        assert method["log_losses"] == list(other.log_losses)
        assert method["interval"] == list(other.interval)
    first = found["methods"][0]
    best = learn(DATA, "bdeu", search="exact")
    assert first["arcs"] == [list(arc) for arc in best.dag.arcs]
    assert first["status"] == "optimum proved"
    assert first["gap"] == pytest.approx(0, abs=1e-6)
    assert first["shd"] == compare(Network.load(NET), best.dag).shd_dag
    assert first["parameters"] == 17
    tree = found["methods"][1]
    assert tree["gap"] > 1  # a tree is not the best structure, and the bound says so
    assert found["best"] == made.best.label
    assert len(found["differences"]) == 3


def test_table_for_people(cli):
    shown = cli("evaluate", DATA, "--score", "bic", "--search", "exact", "--cv", 2)
    assert shown.code == 0
    assert "2,000 rows; 2-fold cross-validation" in shown.out
    assert "proved" in shown.out
    assert "SHD" not in shown.out
    shown = cli("evaluate", DATA, "--score", "bic", "--search", "tree", "--cv", 2, "--truth", NET)
    assert "SHD of classes" in shown.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--cv", 1], "--cv must be a whole number >= 2"),
        (["--repeats", 0], "--repeats must be a whole number >= 1"),
        (["--score", "bci"], "unknown score 'bci'"),
        (["--search", "exat"], "unknown search 'exat'"),
        (["--target", "dyps"], "dyps"),
        (["--drop", "asia", "--truth", NET], "DATA lacks 'asia'"),
        (["--structure-prior", NET, "--kappa", 0.5], "takes no --structure-prior"),
    ],
)
def test_refusals(cli, arguments, said):
    shown = cli("evaluate", DATA, "--search", "tree", *arguments)
    assert shown.code == 2
    assert said in shown.err
    assert shown.err.count("\n") == 1
