"""`load` opens whatever bestdag writes, and refuses other files by their names."""

import pytest

from bestdag import Knowledge, Network, ScoreTable, learn, load, read
from bestdag.errors import FileError, FormatError, UnknownNameError
from bestdag.examples import example
from tests.network.examples import asia


@pytest.mark.parametrize("name", ["net.bif", "net.json", "net.xdsl.gz", "net.uai"])
def test_networks(tmp_path, name):
    asia().save(tmp_path / name)
    assert load(str(tmp_path / name)) == Network.load(tmp_path / name)


def test_a_network_under_any_name(tmp_path):
    asia().save(tmp_path / "net.bif")
    (tmp_path / "net.bif").rename(tmp_path / "model")
    assert load(tmp_path / "model") == asia()


@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv", "rows.csv.gz", "rows.txt"])
def test_tables(tmp_path, name):
    data = asia().sample(2000, seed=1)
    data.to_csv(tmp_path / name)
    assert load(tmp_path / name) == read(tmp_path / name)


# Knowledge is written as JSON, and so may networks be.
def test_knowledge_is_told_from_a_network(tmp_path):
    known = Knowledge(required_arcs=[("a", "b")], tiers=[["a"], ["b"]])
    known.save(tmp_path / "known.json")
    assert load(tmp_path / "known.json") == known
    (tmp_path / "known.toml").write_text('required_arcs = [["a", "b"]]\n')
    assert load(tmp_path / "known.toml") == Knowledge(required_arcs=[("a", "b")])
    asia().save(tmp_path / "net.json")
    assert load(tmp_path / "net.json") == asia()


def test_local_scores(tmp_path):
    table = ScoreTable.from_lists(["a", "b"], {"a": [(-1.0, "")], "b": [(-1.0, ""), (-0.5, "a")]})
    table.save(tmp_path / "scores.jkl")
    assert load(tmp_path / "scores.jkl") == ScoreTable.load(tmp_path / "scores.jkl")


def test_other_files_are_refused_by_name(tmp_path):
    learn(example("asia.csv"), search="order", checkpoint=tmp_path / "run.ckpt")
    with pytest.raises(FormatError, match=r"run.ckpt is the checkpoint of a run; .*resume=True"):
        load(tmp_path / "run.ckpt")
    asia().save(tmp_path / "graph.dot")
    with pytest.raises(FormatError, match=r"graph\.dot: \.dot files hold a graph without tables"):
        load(tmp_path / "graph.dot")
    (tmp_path / "notes.doc").write_bytes(b"\xd0\xcf\x11\xe0")
    with pytest.raises(UnknownNameError, match=r"notes.doc: unknown file format '.doc'; known: "):
        load(tmp_path / "notes.doc")
    (tmp_path / "list.json").write_text("[1]")
    with pytest.raises(FormatError, match=r"list\.json"):
        load(tmp_path / "list.json")
    with pytest.raises(FileError, match="nowhere: cannot be read"):
        load(tmp_path / "nowhere")
