"""Marginals, given findings, beside pyAgrum on every benchmark network."""

import numpy as np
import pytest

from bestdag import Network
from bestdag.network.bif import plain_names
from tests.shared_data import shared_file

SMALL = ("alarm", "andes", "asia", "cancer", "child", "earthquake", "hailfinder", "insurance")
SMALL += ("pathfinder.gz", "pigs", "sachs", "survey", "water", "mildew.gz", "diabetes.gz")
LARGE = ("barley.gz",)  # link takes it more memory than most machines have


@pytest.mark.parametrize(
    "name", [*SMALL, *(pytest.param(n, marks=pytest.mark.slow) for n in LARGE)]
)
def test_all_marginals(name, tmp_path):
    gum = pytest.importorskip("pyagrum")
    stem, _, packed = name.partition(".")
    network = Network.load(shared_file(f"networks/{stem}.bif" + (".gz" if packed else "")))
    network.save(tmp_path / "net.bif")  # with names that it reads
    names = dict(zip(network.names, plain_names(network.names), strict=True))
    other = gum.loadBN(str(tmp_path / "net.bif"))
    row = network.sample(1, seed=1)
    chosen = np.random.default_rng(2).permutation(network.names)[:3].tolist()
    codes = {n: int(row.codes(n)[0]) for n in chosen}
    for known in ({}, codes):
        theirs = gum.LazyPropagation(other)
        theirs.setEvidence({names[n]: code for n, code in known.items()})
        theirs.makeInference()
        ours = network.marginals({n: network.variable(n).states[c] for n, c in known.items()})
        for n in network.names:
            # It reads tables in 32 bits.
            expected = theirs.posterior(names[n]).toarray()
            assert ours[n].values == pytest.approx(expected, abs=2e-5)
