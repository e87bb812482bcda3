"""`bestdag sample`: seeded rows, to a file or a pipe, never over a file."""

import subprocess
import sys

import pytest

from bestdag import Network, read
from bestdag.examples import example
from bestdag.network.sample_parts import write_sample_parts

NET = str(example("asia.bif"))


def test_writes_what_the_library_samples(cli, tmp_path):
    path = tmp_path / "rows.csv"
    assert cli("sample", NET, "-n", "500", "--seed", "7", "-o", path).code == 0
    net = Network.load(NET)
    states = {v.name: v.states for v in net.variables}
    assert read(path, states=states) == net.sample(500, seed=7)


def test_same_seed_same_bytes_whatever_the_threads(cli):
    one = cli("sample", NET, "-n", "300", "--seed", "1", "--threads", "1").out
    two = cli("sample", NET, "-n", "300", "--seed", "1", "--threads", "2").out
    assert one == two
    assert one != cli("sample", NET, "-n", "300", "--seed", "2").out
    assert one.startswith("asia,")


def test_keeps_an_existing_file_unless_forced(cli, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("precious")
    shown = cli("sample", NET, "-n", "5", "-o", path)
    assert shown.code == 2
    assert "--force" in shown.err
    assert path.read_text() == "precious"
    assert cli("sample", NET, "-n", "5", "-o", path, "--force").code == 0
    assert path.read_text().count("\n") == 6


@pytest.mark.parametrize("n", ["0", "-3", "x"])
def test_refuses_a_wrong_number_of_rows(cli, n):
    shown = cli("sample", NET, "-n", n)
    assert shown.code == 2
    assert shown.err.count("\n") == 1


def test_a_reader_that_leaves_is_no_error():
    command = f"{sys.executable} -m bestdag sample {NET} -n 200000 | head -n 2"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 2


def test_parts_are_the_rows_of_one_sample(cli, tmp_path):
    folder = tmp_path / "rows"
    given = ("sample", NET, "-n", "1001", "--seed", "7", "-o", folder, "--part-rows")
    assert cli(*given, "250").code == 0
    assert [path.name for path in sorted(folder.iterdir())] == [
        f"part-{number:05}.parquet" for number in range(5)
    ]
    net = Network.load(NET)
    states = {v.name: v.states for v in net.variables}
    whole = net.sample(1001, seed=7)
    assert read(folder, states=states) == whole
    assert read(folder / "part-00001.parquet", states=states) == whole.select(rows=slice(250, 500))
    shown = cli(*given, "999")
    assert shown.code == 2
    assert "--force" in shown.err
    assert read(folder, states=states) == whole
    assert cli(*given, "999", "--force").code == 0
    assert len(list(folder.iterdir())) == 2
    assert read(folder, states=states) == whole


def test_an_interrupt_leaves_whole_parts_only(tmp_path, monkeypatch):
    net = Network.load(NET)
    drawn = []

    class Stopped:
        def sample(self, n, **settings):
            drawn.append(n)
            if len(drawn) == 6:  # in the middle of the third part
                raise KeyboardInterrupt
            return net.sample(n, **settings)

    monkeypatch.setattr("bestdag.network.sample_parts._GROUP_ROWS", 50)
    with pytest.raises(KeyboardInterrupt):
        write_sample_parts(Stopped(), 1000, tmp_path, part_rows=100)
    assert [path.name for path in sorted(tmp_path.iterdir())] == [
        "part-00000.parquet",
        "part-00001.parquet",
    ]
    assert read(tmp_path).n_rows == 200
