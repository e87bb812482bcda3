"""What the page answers itself: the same as Python, for any evidence."""

import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest

import bestdag
from bestdag import ConditionalTable, Network, Variable, random_network
from bestdag.errors import ImpossibleEvidenceError
from bestdag.examples import example
from bestdag.report.whatif import (
    MOST_TABLE_CELLS,
    MOST_TREE_CELLS,
    whatif_facts,
    why_no_whatif,
)

_SCRIPT = Path(bestdag.__file__).parent / "report/whatif.js"
_RUN = """
const { answering } = require(process.argv[1]);
const { model, questions } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const answer = answering(model);
console.log(JSON.stringify(questions.map((pairs) => answer(new Map(pairs)))));
"""
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs node")


def asked(network, questions):
    """Ask the script; questions map names to states."""
    names = sorted(network.names)
    numbered = [
        [[names.index(name), network.variable(name).code(state)] for name, state in given.items()]
        for given in questions
    ]
    ran = subprocess.run(
        ["node", "-e", _RUN, str(_SCRIPT)],
        input=json.dumps({"model": whatif_facts(network), "questions": numbered}),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(ran.stdout)


def network_number(number):
    if number == 0:
        return Network.load(example("asia.bif"))
    if number == 1:  # every clique for itself
        return random_network(6, "order", arc_probability=0.0, seed=9)
    return random_network(12, "order", arc_probability=0.2, arities=(2, 4), seed=number)


@needs_node
@pytest.mark.parametrize("number", range(6))
def test_the_script_answers_as_python_does(number):
    network = network_number(number)
    draw = random.Random(1)
    questions = [{}]
    for n in (1, 2, 3):
        for name in draw.sample(network.names, 2):
            others = draw.sample([other for other in network.names if other != name], n - 1)
            given = {v: draw.choice(network.variable(v).states) for v in (name, *others)}
            questions.append(given)
    for given, found in zip(questions, asked(network, questions), strict=True):
        try:
            expected = network.marginals(given)
        except ImpossibleEvidenceError:
            assert found is None
            continue
        for name, values in zip(sorted(network.names), found, strict=True):
            if name in given:
                assert values[network.variable(name).code(given[name])] == 1
            else:
                assert values == pytest.approx(expected[name].values.tolist(), abs=1e-5)


@needs_node
def test_evidence_that_cannot_be_is_said():
    rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    network = Network(
        [
            ConditionalTable(rain, (), [0.8, 0.2]),
            ConditionalTable(wet, (rain,), [[0.9, 0.1], [0.0, 1.0]]),
        ]
    )
    impossible, possible = asked(network, [{"rain": "yes", "wet": "no"}, {"wet": "no"}])
    assert impossible is None
    assert possible[0] == pytest.approx([1.0, 0.0])


def test_the_tree_is_a_junction_tree():
    model = whatif_facts(random_network(20, "order", arc_probability=0.15, seed=3))
    cliques = [set(clique) for clique in model["cliques"]]
    for table in model["tables"]:
        assert any(set(table["scope"]) <= clique for clique in cliques)
    seen = {0}
    for lower, upper in model["up"]:
        assert upper in seen
        seen.add(lower)
        # What a new clique shares with all before it, its parent has.
        before = set().union(*(cliques[k] for k in seen - {lower}))
        assert cliques[lower] & before <= cliques[upper]
    assert seen == set(range(len(cliques)))


def test_large_networks_are_not_asked_in_the_page():
    settings = {"arc_probability": 0.4, "max_parents": 5, "arities": (4, 4)}
    network = random_network(30, "order", **settings, seed=1)
    assert sum(t.n_configurations * 4 for t in network.tables) > MOST_TABLE_CELLS
    n_cells = sum(t.n_configurations * 4 for t in network.tables)
    assert why_no_whatif(network).startswith(f"the network has {n_cells:,} probabilities")


def test_networks_with_a_large_junction_tree_are_not_asked_in_the_page():
    network = random_network(80, "order", arc_probability=0.1, max_parents=4, seed=1)
    assert network.forecast().n_cells > MOST_TREE_CELLS
    assert why_no_whatif(network).startswith("exact answers need a table of ")
    assert why_no_whatif(Network.load(example("asia.bif"))) == ""
