"""The bundled example: our own files, made again and compared."""

from importlib.resources import as_file, files

import numpy as np

from bestdag.network import bif
from bestdag.network.network import Network
from tests.network.examples import asia

FOLDER = files("bestdag") / "examples"


def test_network_is_the_published_one():
    assert (FOLDER / "asia.bif").read_bytes() == bif.render(asia())
    with as_file(FOLDER / "asia.bif") as path:
        assert Network.load(path) == asia()
    assert asia().n_parameters == 18


def test_table_is_a_sample_of_the_network(tmp_path):
    data = asia().sample(2000, seed=1)
    lines = (FOLDER / "asia.csv").read_text().splitlines()
    assert lines[0] == ",".join(asia().names)
    rows = [line.split(",") for line in lines[1:]]
    assert len(rows) == 2000
    for place, variable in enumerate(data.variables):
        labels = np.array(variable.states)[data.codes(variable.name)]
        assert [row[place] for row in rows] == labels.tolist()
    data.to_csv(tmp_path / "asia.csv")
    assert (tmp_path / "asia.csv").read_bytes() == (FOLDER / "asia.csv").read_bytes()
