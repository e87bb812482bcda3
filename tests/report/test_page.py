"""The report: one file that fetches nothing, with the numbers of the library, and safe names."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import bestdag
from bestdag import NearOptimal, Network, Scorer, ScoreTable, learn, random_network, read
from bestdag.examples import example
from bestdag.report.page import report_page
from bestdag.report.sections import citation, references_of, trace_svg
from bestdag.report.whatif import why_no_whatif
from bestdag.scores import SCORES

_ROOT = Path(__file__).parents[2]
_VOID = {"meta", "input", "br"}


class Page(HTMLParser):
    """Reads a page: what is open must be closed in turn; keeps tags, texts and scripts."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts, self.scripts = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        (self.scripts if self.open[-1:] == ["script"] else self.texts).append(text)

    @property
    def facts(self):
        return json.loads(self.scripts[0])


@pytest.fixture(scope="module")
def result():
    return learn(example("asia.csv"), "bdeu", workers=1)


def test_the_numbers_are_those_of_the_library(result):
    facts = Page(report_page(result)).facts
    scorer, network = Scorer(result.dataset, result.scored_by), result.fit()
    assert [node["name"] for node in facts["nodes"]] == sorted(result.dag.nodes)
    for node in facts["nodes"]:
        name, parents = node["name"], result.dag.parents(node["name"])
        assert [facts["nodes"][k]["name"] for k in node["parents"]] == list(parents)
        assert node["score"] == pytest.approx(scorer.family(name, parents), abs=1e-9)
        assert sum(value for _, value in node["terms"]) == pytest.approx(node["score"], abs=1e-9)
        assert node["marginal"] == pytest.approx(network.query(name).values.tolist(), rel=1e-3)
        table = network.table(name)
        assert node["table"]["more"] == 0
        for labels, numbers in node["table"]["rows"]:
            states = dict(zip(node["table"]["parents"], labels, strict=True))
            assert numbers == pytest.approx(table.row(**states).tolist(), rel=1e-3)


def test_both_scores_after_structural_em_are_named_and_differ_by_the_entropy_of_missing_cells():
    columns = {"a": ["x", "x", "x", "y", "y", "y"] * 9, "b": ["u", "u", "v", "v", "v", "u"] * 9}
    columns["b"][0] = columns["a"][4] = None
    result = learn(columns, "bic", missing="em")
    network, completed = result.fit("mle"), result.scorer().total(result.dag)
    cells = [network.query("b", given={"a": "x"}), network.query("a", given={"b": "v"})]
    entropy = -sum(float((one.values * np.log(one.values)).sum()) for one in cells)
    assert result.score - completed == pytest.approx(entropy, rel=1e-4)
    said = " ".join(Page(report_page(result)).texts)
    assert f"{result.score:.6f}, at the top: the score of the observed values" in said
    assert f"{completed:.6f}: the score of the completed table" in said
    assert f"They differ by {result.score - completed:.6f}, how uncertain the missing" in said


def test_says_what_was_read_every_score_the_settings_and_how_to_cite(result):
    text = " ".join(Page(report_page(result, command="bestdag learn 'my table.csv'")).texts)
    assert result.headline() in text
    assert "asia.csv: 2,000 rows, 8 columns. No missing values." in text
    assert "bestdag learn 'my table.csv'" in text
    assert f"version {bestdag.__version__}" in text
    assert "Heckerman, Geiger and Chickering (1995)" in text
    for score in SCORES.values():
        total = Scorer(result.dataset, score()).total(result.dag)
        shown = f"{total:.6g}" if abs(total) < 1e3 else f"{total:,.3f}"
        assert shown in text, score


def test_says_what_learn_was_given():
    given = {"knowledge": ["smoke -> lung"], "max_parents": 2, "seed": 7, "search": "hill_climb"}
    found = learn(example("asia.csv"), "bic", **given, workers=1)
    assert found.asked == {"data": example("asia.csv"), "support": 5.0, **given}
    rows = re.findall(r"<tr><td>([^<]*)</td><td>([^<]*)</td></tr>", report_page(found))
    stated = dict(rows)
    assert stated["max_parents"] == "2"
    assert stated["knowledge"] == "[&#x27;smoke -&gt; lung&#x27;]"
    assert stated["seed"] == "7"
    assert stated["data"].endswith("asia.csv")


def test_a_column_called_script_is_text():
    names = ["<script>alert(1)</script>", "</script><b>", "a & b", "\x01\u2028", "'\"", "x"]
    rows = {name: ["<i>", "&amp;", "</td>"] * 20 for name in names[:-1]}
    made = learn(read({**rows, "x": ["</script>", "-->", "u"] * 20}), "bic", search="hill_climb")
    text = report_page(made, command="bestdag learn '</pre><script>'")
    page = Page(text)
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert not {"b", "i"} & {tag for tag, _ in page.tags}
    assert [node["name"] for node in page.facts["nodes"]] == sorted(names)
    assert names[0] in page.texts


def test_nothing_is_fetched(result):
    text = report_page(result)
    page = Page(text)
    attributes = {key for _, given in page.tags for key in given}
    assert not attributes & {"src", "href", "srcset", "data", "action", "xlink:href"}
    assert not re.findall(r"@import|url\(|fetch\(|XMLHttp|import\(", text)
    links = set(re.findall(r"https?://[^\s\"'<]+", text))
    assert links == {"http://www.w3.org/2000/svg"}
    (policy,) = [g["content"] for t, g in page.tags if "Security" in g.get("http-equiv", "")]
    assert policy.startswith("default-src 'none'")


@pytest.mark.filterwarnings("ignore:fit")
def test_below_a_megabyte_for_a_hundred_nodes_with_large_tables():
    made = random_network(
        100, "order", arc_probability=0.06, max_parents=4, arities=(6, 12), seed=1
    )
    found = learn(made.sample(3000, seed=1), "ll", search="hill_climb", max_parents=2, support=0)
    assert sorted(len(found.dag.parents(name)) for name in found.dag.nodes)[10] == 2
    assert len(report_page(found).encode()) < 1_000_000


_PRINT = """
import sys, bestdag
from dataclasses import replace
from bestdag.examples import example
from bestdag.report.page import report_page
threads = int(sys.argv[1])
result = bestdag.learn(example("asia.csv"), search="hill_climb", workers=threads)
print(report_page(replace(result, seconds=1.0), threads=threads))
"""


def test_the_same_bytes_whatever_threads_and_hash_seed():
    pages = {
        subprocess.run(
            [sys.executable, "-c", _PRINT, threads],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for threads, seed in (("1", "3"), ("2", "4"))
    }
    assert len(pages) == 1


def test_a_structure_learned_from_local_scores_has_a_page_without_rows():
    table = ScoreTable.build(Scorer(read(example("asia.csv")), "bic"))
    page = Page(report_page(learn(table)))
    assert "score" not in page.facts["nodes"][0]
    assert "Data" not in page.texts


@pytest.mark.filterwarnings("ignore:fit")
def test_a_table_too_large_for_the_page_says_how_many_rows_are_left_out():
    draw = random.Random(1)
    rows = {name: [f"s{draw.randrange(40)}" for _ in range(3000)] for name in "abc"}
    found = learn(read(rows), "ll", search="hill_climb", knowledge=["a -> c", "b -> c"])
    facts = Page(report_page(found)).facts
    for node in facts["nodes"]:
        table = node["table"]
        cells = sum(len(labels) + len(numbers) for labels, numbers in table["rows"])
        assert cells <= 2_000 + 80
    (last,) = [node for node in facts["nodes"] if node["name"] == "c"]
    n_configurations = found.fit().table("c").n_configurations
    assert len(last["table"]["rows"]) + last["table"]["more"] == n_configurations == 1600
    assert last["table"]["more"] > 0


def test_the_trace_is_thinned_out_and_keeps_its_ends():
    points = re.search(r'points="([^"]*)"', trace_svg(list(range(5000)))).group(1).split()
    assert len(points) == 400
    assert trace_svg([float("-inf"), -5.0]) == ""
    assert "step 5,000" in trace_svg(list(range(5000)))


def test_references_are_those_of_the_docstrings():
    for score in SCORES.values():
        assert all("(" in text for text in references_of(score)), score
    assert references_of(None) == []


def test_the_citation_is_that_of_the_repository():
    asked = (_ROOT / "CITATION.cff").read_text()
    authors = re.search(r"- name: (.*)", asked).group(1)
    assert citation("1.2").startswith(f"{authors}. bestdag, version 1.2.")


def test_written_by_the_result(result, tmp_path):
    result.report(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text() == report_page(result)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_script_parses():
    folder = Path(bestdag.__file__).parent / "report"
    for name in ("page.js", "whatif.js"):
        subprocess.run(["node", "--check", folder / name], check=True)


def test_of_a_network_that_was_drawn_from(tmp_path):
    data = Network.load(example("asia.bif")).sample(100, seed=1)
    learn(data, "k2", search="hill_climb").report(tmp_path / "r.html")
    assert "K2" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize("missing", ["em", "available"])
def test_a_structure_from_missing_cells_has_the_scores_it_was_chosen_by(missing, tmp_path):
    data = {"a": ["x", "y", "x", "", "y", "x"] * 20, "b": ["u", "v", "u", "v", "v", ""] * 20}
    result = learn(data, "bic", search="hill_climb", missing=missing)
    assert len(result.dag.arcs) == 1
    result.report(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "missing" in text
    assert "<svg" in text
    scorer, page = result.scorer(), Page(text)
    for node in page.facts["nodes"]:
        parents = result.dag.parents(node["name"])
        assert node["score"] == pytest.approx(scorer.family(node["name"], parents), abs=1e-9)
        assert sum(node["marginal"]) == pytest.approx(1.0, abs=1e-3)
    ((arc, lost),) = result.arc_losses().items()
    without = scorer.family(arc[1], [])
    assert lost == pytest.approx(scorer.family(arc[1], [arc[0]]) - without, rel=1e-9)
    assert f"{lost:.6g}" in page.texts
    assert "<svg" in result.plot().svg


def test_lists_the_structures_next_to_the_best_where_they_were_computed(result):
    assert "Near-optimal structures" not in Page(report_page(result)).texts
    found = learn(
        example("asia.csv"), "bdeu", near_optimal=NearOptimal(k=4, per_class=True), workers=1
    )
    texts = Page(report_page(found)).texts
    assert found.structures.summary() in texts
    for number, one in enumerate(found.structures):
        assert found.structures.difference(number) in texts
        assert f"{found.score - one.score:.6f}" in texts


def test_shows_what_other_scores_choose_side_by_side(result):
    page = Page(report_page(result))
    (grid,) = [given for _, given in page.tags if given.get("class") == "graphs"]
    assert grid
    chosen = {name: learn(example("asia.csv"), name).dag for name in ("bic", "aic", "fnml")}
    own = {frozenset(arc) for arc in result.dag.arcs}
    rows = re.findall(r"<tr>(.*?)</tr>", report_page(result))
    for name, dag in chosen.items():
        links = {frozenset(arc) for arc in dag.arcs}
        (row,) = [
            re.findall(r">([^<]*)</td>", r)
            for r in rows
            if r.startswith(f"<td>{SCORES[name]()!r}</td><td>optimum proved")
        ]
        numbers = [len(links), len(links & own), len(links - own), len(own - links)]
        assert [row[k] for k in (2, 3, 5, 6)] == [str(number) for number in numbers]


def test_arc_probabilities_are_widths_and_columns(result):
    sure = bestdag.bootstrap(example("asia.csv"), replicates=4, seed=1)
    page = Page(report_page(result, probabilities=sure))
    assert "wider: more probable" in " ".join(page.texts)
    for arc in result.dag.arcs:
        assert f"{sure.edge(*arc):.3f}" in page.texts
        assert f"probability {sure.edge(*arc):.3g}" in " ".join(page.texts)


def test_a_graph_that_cannot_be_drawn_is_left_out_and_the_page_is_written(
    result, monkeypatch, tmp_path
):
    def fails(*_):
        raise RuntimeError("no place for <node>")

    monkeypatch.setattr("bestdag.drawing.picture.lay_out", fails)
    result.report(tmp_path / "r.html")
    page = Page((tmp_path / "r.html").read_text())
    says = [text for text in page.texts if "could not be drawn" in text]
    assert says[0] == (
        "The graph could not be drawn (RuntimeError: no place for <node>). "
        "The rest of this page is complete."
    )
    assert "Arcs" in page.texts
    assert page.facts["model"]


def test_the_legend_is_outside_the_picture_so_that_its_size_does_not_depend_on_the_graph(result):
    text = report_page(result)
    picture = text[text.index('<div id="picture">') : text.index("<aside")]
    assert 'class="key"' not in picture
    legend = text[text.index('<ul class="legend">') : text.index("</ul>", text.index("legend"))]
    assert "direction not determined by the data" in legend
    assert set(re.findall(r'<svg [^>]*width="([\d.]+)"', legend)) == {"34"}


@pytest.mark.filterwarnings("ignore:fit")
def test_where_the_page_cannot_answer_what_if_it_says_why(result):
    text = report_page(result)
    assert "Not on this page" not in text
    rows = {name: [f"s{(3 * k * k + j) % 35}" for k in range(900)] for j, name in enumerate("abcd")}
    found = learn(read(rows), "bic", knowledge=["a -> c", "b -> c"], search="hill_climb")
    assert why_no_whatif(found.fit()) in " ".join(Page(report_page(found)).texts)
    local = learn(ScoreTable.build(Scorer(read(example("asia.csv")), "bic")))
    assert "Not on this page: local scores were learned from" in " ".join(
        Page(report_page(local)).texts
    )
