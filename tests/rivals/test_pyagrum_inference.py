"""Marginals, given findings, beside pyAgrum on every benchmark network."""

import gzip

import numpy as np
import pytest

from bestdag import Network
from tests.shared_data import shared_file

SMALL = ("alarm", "andes", "asia", "cancer", "child", "earthquake", "hailfinder", "insurance")
SMALL += ("pathfinder.gz", "pigs", "sachs", "survey", "water", "mildew.gz", "diabetes.gz")
LARGE = ("barley.gz", "link")


@pytest.mark.parametrize(
    "name", [*SMALL, *(pytest.param(n, marks=pytest.mark.slow) for n in LARGE)]
)
def test_all_marginals(name, tmp_path):
    gum = pytest.importorskip("pyagrum")
    stem, _, packed = name.partition(".")
    path = shared_file(f"networks/{stem}.bif" + (".gz" if packed else ""))
    network = Network.load(path)
    plain = tmp_path / f"{stem}.bif"
    plain.write_bytes(gzip.decompress(path.read_bytes()) if packed else path.read_bytes())
    other = gum.loadBN(str(plain))
    row = network.sample(1, seed=1)
    chosen = np.random.default_rng(2).permutation(network.names)[:3].tolist()
    codes = {n: int(row.codes(n)[0]) for n in chosen}
    given = {n: network.variable(n).states[code] for n, code in codes.items()}
    for known in ({}, codes):
        theirs = gum.LazyPropagation(other)
        theirs.setEvidence(dict(known))
        theirs.makeInference()
        ours = network.marginals({n: given[n] for n in known})
        for n in network.names:
            # It reads tables in 32 bits, and scales rows that miss the sum 1.
            assert ours[n].values == pytest.approx(theirs.posterior(n).toarray(), abs=2e-5)
