"""What the documentation states as fact is compared with the code."""

import importlib
import math
import pydoc
import re
import shlex
import shutil
from dataclasses import fields
from pathlib import Path

import pytest
from tools.write_lists import PAGES, filled

import bestdag
from bestdag.cli.main import COMMANDS, run
from bestdag.counts.family import FamilyCounts
from bestdag.examples import example
from bestdag.parameters import ESTIMATORS, estimator_for
from bestdag.scores import SCORES, make_score
from bestdag.search import SEARCHES

_ROOT = Path(__file__).parents[1]


def rows_of_the_table(page, n_columns):
    """Yield the rows that begin with a name."""
    for line in (_ROOT / "docs/guide" / page).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if re.fullmatch(r"`\w+`", cells[0]) and len(cells) == n_columns:
            yield cells


def test_score_table_lists_every_score_with_its_facts():
    rows = {row[0].strip("`"): row[1:] for row in rows_of_the_table("counts-and-scores.md", 6)}
    assert list(rows) == list(SCORES)
    for name, (class_name, settings, *facts) in rows.items():
        score = SCORES[name]
        assert class_name == f"`{score.__name__}`"
        assert re.findall(r"\w+", settings) == [field.name for field in fields(score)]
        stated = (score.is_score_equivalent, score.is_hyperparameter_free, score.is_regular)
        assert facts == ["yes" if fact else "no" for fact in stated]


def test_table_of_estimators_lists_every_one_with_its_facts():
    rows = {row[0].strip("`"): row[1:] for row in rows_of_the_table("parameters.md", 5)}
    assert list(rows) == list(ESTIMATORS)
    for name, (class_name, settings, scores, zeros) in rows.items():
        estimator = ESTIMATORS[name]
        assert class_name == f"`{estimator.__name__}`"
        assert re.findall(r"\w+", settings) == [field.name for field in fields(estimator)]
        own = [score for score in SCORES if estimator_for(make_score(score)).name == name]
        assert re.findall(r"\w+", scores) == own
        unseen = estimator().rows(FamilyCounts.of([[5, 0]]))[0, 1]
        assert zeros == ("yes" if unseen == 0 else "no")


def names_in_the_reference():
    """List what the reference documents, by its public name or as a member of a module."""
    api = (_ROOT / "docs/api.md").read_text()
    yield from re.findall(r"^\.\. auto(?:class|function):: bestdag\.(\w+)$", api, re.M)
    for module, options in re.findall(r"^\.\. automodule:: (\S+)\n((?:   :.*\n)*)", api, re.M):
        if ":members:" in options:
            (without,) = re.findall(r":exclude-members: (.*)", options) or [""]
            yield from {*importlib.import_module(module).__all__} - {*without.split(", ")}


def test_whatever_the_reference_names_is_there():
    for page in sorted((_ROOT / "docs").rglob("*.md")):
        for name in re.findall(r"^\.\. auto\w+:: (bestdag\.\S+)$", page.read_text(), re.M):
            assert pydoc.locate(name) is not None, (page.name, name)


def test_every_public_name_is_in_the_reference():
    assert sorted({*bestdag.__all__} - {"__version__"} - {*names_in_the_reference()}) == []


def test_the_reference_documents_errors_and_no_helpers_of_theirs():
    helpers = [n for n in names_in_the_reference() if n not in bestdag.__all__]
    assert helpers == []


def test_every_score_search_and_estimator_is_public_by_its_own_name():
    for listed in (*SCORES.values(), *SEARCHES.values(), *ESTIMATORS.values()):
        assert getattr(bestdag, listed.__name__) is listed


@pytest.mark.parametrize("page", PAGES)
def test_lists_are_those_of_the_code(page):
    text = (_ROOT / page).read_text()
    assert "begin list: " in text
    assert filled(text) == text, "run: make lists"


def test_every_command_is_in_the_guide():
    guide = (_ROOT / "docs/guide/command-line.md").read_text()
    assert all(f"bestdag {name}" in guide for name in COMMANDS)


def test_python_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    readme = (_ROOT / "README.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", readme, re.S)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    shown = capsys.readouterr().out
    stated = re.findall(r"# (-[\d.]+)\.\.\.", code)
    assert len(stated) == 2
    assert all(number in shown for number in stated)
    assert "optimum proved" in shown


def lines_of(page, program):
    """List the code in the rows of a program."""
    for line in page.splitlines():
        if line.startswith(f"| {program} | "):
            yield from (code.replace("\\|", "|") for code in re.findall(r"`([^`]+)`", line))


def test_every_line_of_bestdag_for_those_who_come_from_elsewhere_runs(
    tmp_path, monkeypatch, capsys
):
    page = (_ROOT / "docs/howto/coming-from.md").read_text()
    for name in ("asia.csv", "asia.bif"):
        shutil.copy(example(name), tmp_path)
    monkeypatch.chdir(tmp_path)
    (opening,) = re.findall(r"```python\n(.*?)```", page, re.S)
    session: dict[str, object] = {}
    exec(opening, session)
    in_python = list(lines_of(page, "bestdag"))
    in_shell = list(lines_of(page, "shell"))
    assert len(in_python) > 15
    assert len(in_shell) > 8
    given = {}  # what a line gives
    # The files that commands write are read by the lines after them.
    for code in (*(c for c in in_shell if "score-table" in c), *in_python):
        if code.startswith("bestdag "):
            assert run(shlex.split(code)[1:]) == 0, code
        elif re.match(r"\w+ = ", code):
            exec(code, session)
        else:
            given[code] = eval(code, session)
    for code in in_shell:
        if "score-table" not in code:
            assert run(shlex.split(code)[1:]) == 0, code
    assert given['bd.learn(data, "bdeu", search="exact").is_proved']
    assert given["bd.learn(table).is_proved"]
    known = given["bd.learn(data, knowledge=known, max_parents=2)"].dag
    assert ("smoke", "lung") in known.arcs
    assert ("xray", "dysp") not in known.arcs
    assert given["dag.to_model_string()"] in in_python[1]
    (asked,) = given['fitted.predict_proba("lung", {"smoke": ["yes"]})']
    assert f"P(lung = yes | smoke = yes) = {asked[1]:.4f}" in page
    assert (tmp_path / "predicted.csv").read_text().startswith("lung,P(lung=no),P(lung=yes)\n")


def test_the_numbers_beside_those_of_other_programs():
    page = (_ROOT / "docs/howto/coming-from.md").read_text()
    data, dag = bestdag.read(example("asia.csv")), bestdag.Network.load(example("asia.bif")).dag
    rows = re.findall(r"\| `(\w+)`(?:, (\d+))? \| (-[\d.]+) \| (.*) \|", page)
    assert len(rows) == 8
    for name, ess, stated, others in rows:
        score = make_score(name, **({"ess": float(ess)} if ess else {}))
        assert f"{bestdag.Scorer(data, score).total(dag):.6f}" == stated
        bits, nats = (cell.strip() for cell in others.split("|")[-2:])
        if bits:
            assert float(bits) * math.log(2) == pytest.approx(float(nats), abs=2e-6)


@pytest.mark.parametrize("page", sorted(_ROOT.glob("docs/**/*.md")) + sorted(_ROOT.glob("*.md")))
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([\w./-]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target
