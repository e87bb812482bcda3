"""Every study in small: its trials run, its tables and claims are made of any rows."""

import ast
import json
import re
from itertools import islice
from pathlib import Path

import pytest
from tests.shared_data import shared_file
from tools.write_study_page import DOCS, claims_table, verdicts

import bestdag
from bestdag.cli.classify import COMPARED
from bestdag.scores import make_score
from studies import STUDIES, load_study
from studies.carvalho2009.claims import SCORES
from studies.data import CHECKSUMS, DataFolder
from studies.sections import Figure
from studies.summary import Summary

ROOT = Path(__file__).parents[2]
# Groups of trials that are soon done.
SHORT = {
    "carvalho2009": ("iris, inside", "iris, outside", "vote, inside"),
    "everything": ("iris, 10 %", "asia, 30 rows"),
    "jensen2007": ("",),
    "scanagatta2014": (
        "10 nodes, 20 rows",
        "child, 20 rows",
        "at most 1 parents, 20 rows",
        "ess 2, 80 rows",
        "fresh rows, 80 rows",
        "tables from Dir(1/2), 80 rows",
    ),
    "silander2010": ("rank, 4 edges", "halves of post-operative"),
    "silander2018": ("regret", "structure of asia, 10 rows", "prediction of iris"),
}


@pytest.fixture(params=STUDIES)
def study(request):
    return load_study(request.param)


def summary_of(study, rows):
    return Summary.of(study, rows, command="made", n_planned=len(rows), seconds=0.0, missing={})


def test_trials_have_keys_of_their_own_and_known_files(study):
    for size in ("quick", "full"):
        trials = list(islice(study.trials(size, 3), 4_000))
        assert len({trial.key for trial in trials}) == len(trials)
        assert {file for trial in trials for file in trial.files} <= set(CHECKSUMS)


def test_the_scores_of_carvalho_are_those_of_classify():
    assert {label: make_score(score, **given) for label, score, given in COMPARED} == SCORES


def test_without_rows_every_claim_is_open(study):
    claims = study.claims([])
    assert claims
    assert {claim.verdict for claim in claims} == {"cannot be told"}
    assert study.sections([]) == []


def test_short_trials_run_and_their_rows_make_a_summary(study):
    folder = DataFolder(shared_file("."))
    first = {}
    for trial in study.trials("quick", 1):
        if trial.group.startswith(SHORT[study.name]):
            first.setdefault(trial.group, trial)
    rows = []
    for trial in first.values():
        row = study.run(trial, folder)
        assert json.loads(json.dumps(row, allow_nan=False)) == row
        rows.append({**trial.settings, **row})
    again = study.run(next(iter(first.values())), folder)
    assert {name: rows[0][name] for name in again if name != "timing"} == {
        name: value for name, value in again.items() if name != "timing"
    }
    made = summary_of(study, rows)
    assert made.sections
    assert made.markdown().startswith(f"# {study.title}")
    assert "<h2>Claims</h2>" in made.html()
    for section in made.sections:
        if isinstance(section, Figure):
            assert "nan" not in section.svg


def test_the_first_page_of_the_documentation_has_the_claims_of_all_pages():
    table = claims_table()
    assert table in (DOCS / "index.md").read_text(), "run: python tools/write_study_page.py"
    for name in STUDIES:
        claims = load_study(name).claims([])
        assert set(verdicts((DOCS / f"{name}.md").read_text())) == {one.name for one in claims}


def test_studies_use_public_names_alone():
    """What is in `bestdag` itself, or in the reference in docs/api.md."""
    reference = (ROOT / "docs/api.md").read_text()
    documented = set(re.findall(r"(?:class|function):: (bestdag\.\S+)", reference))
    documented |= {f"bestdag.{name}" for name in bestdag.__all__}
    used = set()
    for path in ROOT.glob("studies/**/*.py"):
        if "tests" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "bestdag":
                used |= {f"{node.module}.{alias.name}" for alias in node.names}
            if isinstance(node, ast.Import):
                used |= {a.name for a in node.names if a.name.startswith("bestdag.")}
            if isinstance(node, ast.Attribute):
                assert not re.match("_[a-z]", node.attr) or ast.unparse(node.value) in (
                    "self",
                    "os",
                )
                if isinstance(node.value, ast.Name) and node.value.id == "bestdag":
                    used.add(f"bestdag.{node.attr}")
    assert {"bestdag.Dag", "bestdag.__version__"} <= used
    assert used <= documented
