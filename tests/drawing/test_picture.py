"""Pictures: valid SVG with names as text, the same for the same graph, saved as SVG and PNG."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

import bestdag
from bestdag import Dag, Network, Pdag, Scorer, learn, read
from bestdag.drawing.text import escaped
from bestdag.errors import InvalidParameterError, MissingPackageError, UnknownNameError
from bestdag.examples import example

SVG = "{http://www.w3.org/2000/svg}"
STRANGE = ["<script>", "a & b", '"quoted"', "]]>", "naïve 名前", "tab\there", "\x00nul", "x" * 200]


def drawn(picture):
    return ET.fromstring(picture.svg)


def labels(root):
    return [text.text for text in root.iterfind(f".//{SVG}g[@class='node']/{SVG}text")]


def arcs(root):
    return [g for g in root.iter(f"{SVG}g") if g.get("class", "").startswith("arc ")]


def test_names_are_text_whatever_they_are():
    dag = Dag(STRANGE, [(STRANGE[0], STRANGE[1]), (STRANGE[1], STRANGE[2])])
    picture = dag.plot()
    root = drawn(picture)
    assert {*STRANGE[:3], STRANGE[4]} <= set(labels(root))
    assert not root.findall(f".//{SVG}script")
    assert "<script" not in picture.svg
    assert max(map(len, labels(root))) == 32
    assert "x" * 200 in [title.text for title in root.iter(f"{SVG}title")]


def test_compelled_and_reversible_arcs_differ():
    collider = Dag(list("abcd"), [("a", "c"), ("b", "c"), ("c", "d")])
    assert {g.get("class") for g in arcs(drawn(collider.plot()))} == {"arc compelled"}
    chain = drawn(Dag(list("ab"), [("a", "b")]).plot())
    (arc,) = arcs(chain)
    assert arc.get("class") == "arc reversible"
    assert arc.find(f"{SVG}path").get("stroke-dasharray")


def test_edges_have_no_head():
    root = drawn(Pdag(list("abc"), [("a", "b")], [("b", "c")]).plot())
    heads = {g.get("class"): len(g.findall(f"{SVG}path")) for g in arcs(root)}
    assert heads == {"arc compelled": 2, "arc edge": 1}


def test_width_follows_the_score_lost_without_the_arc():
    result = learn(example("asia.csv"), "bic")
    scorer, losses = Scorer(result.dataset, "bic"), result.arc_losses()
    for arc, loss in losses.items():
        without = scorer.total(result.dag.remove(*arc))
        assert loss == pytest.approx(result.score - without, abs=1e-8)
    names = sorted(result.dag.nodes)
    widths = {
        (names[int(g.get("data-start"))], names[int(g.get("data-end"))]): float(
            g.find(f"{SVG}path").get("stroke-width")
        )
        for g in arcs(drawn(result.plot()))
    }
    by_loss, by_width = sorted(losses, key=losses.get), sorted(widths, key=widths.get)
    assert by_loss[-1] == by_width[-1]
    assert [widths[arc] for arc in by_loss] == sorted(widths.values())


def test_a_structure_learned_from_local_scores_is_drawn_plainly():
    from bestdag import ScoreTable

    table = ScoreTable.build(Scorer(read(example("asia.csv")), "bic"))
    root = drawn(learn(table).plot())
    assert {g.find(f"{SVG}path").get("stroke-width") for g in arcs(root)} == {"1.5"}


_PRINT = """
import sys, bestdag
from bestdag.examples import example
result = bestdag.learn(example("asia.csv"), workers=int(sys.argv[1]))
print(result.plot(threads=int(sys.argv[1])).svg)
"""


def test_the_same_text_whatever_threads_and_hash_seed():
    texts = {
        subprocess.run(
            [sys.executable, "-c", _PRINT, threads],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for threads, seed in (("1", "1"), ("2", "77"))
    }
    assert len(texts) == 1


def test_column_order_does_not_matter():
    data = read(example("asia.csv"))
    turned = data.select(columns=list(reversed(data.names)))
    assert learn(data).plot().svg == learn(turned).plot().svg


def test_saved_as_svg_and_png(tmp_path):
    pytest.importorskip("resvg_py")
    picture = Network.load(example("asia.bif")).plot()
    picture.save(tmp_path / "asia.svg")
    picture.save(tmp_path / "asia.png")
    assert (tmp_path / "asia.svg").read_text() == picture.svg
    png = (tmp_path / "asia.png").read_bytes()
    assert png.startswith(b"\x89PNG\r\n")
    width = int.from_bytes(png[16:20], "big")
    assert width == pytest.approx(2 * float(drawn(picture).get("width")), abs=2)
    with pytest.raises(UnknownNameError, match=r"unknown picture format '.gif'; known: .svg, .png"):
        picture.save(tmp_path / "asia.gif")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["asia.png", "asia.svg"]


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf"), 1e9, 1e-9])
def test_a_scale_that_makes_no_picture_is_refused(scale):
    pytest.importorskip("resvg_py")
    with pytest.raises(InvalidParameterError, match="png: scale must be"):
        Dag(["a"]).plot().png(scale=scale)


def test_notebooks_show_pictures():
    network = Network.load(example("asia.bif"))
    assert network.dag._repr_svg_() == network.plot().svg
    assert network.plot().svg in network._repr_html_()
    result = learn(example("asia.csv"))
    assert result.plot().svg in result._repr_html_()
    assert Dag([f"n{k}" for k in range(1000)])._repr_svg_() is None


def test_only_png_needs_a_package_which_is_named_where_it_is_missing(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    picture = Dag(list("ab"), [("a", "b")]).plot()
    picture.save(tmp_path / "ab.svg")
    with pytest.raises(MissingPackageError, match=r"pip install 'bestdag\[draw\]'"):
        picture.save(tmp_path / "ab.png")
    assert [path.name for path in tmp_path.iterdir()] == ["ab.svg"]


def test_importing_the_package_loads_nothing_that_draws():
    code = "import sys, bestdag; print([m for m in sys.modules if 'draw' in m])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def test_text_of_xml_has_no_signs_that_xml_lacks():
    assert ET.fromstring(f"<a>{escaped(chr(0) + chr(11) + chr(0xFFFF))}</a>").text == "\ufffd" * 3


def test_picture_is_public():
    assert isinstance(Dag(list("a")).plot(), bestdag.Picture)
