"""The package as installed: light to import, its stub true, its names there."""

import pickle
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import bestdag

_ROOT = Path(__file__).parents[1]
_SOURCE = _ROOT / "src" / "bestdag"


def modules_after(statement):
    code = f"import sys; {statement}; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


def test_make_demo_says_what_each_step_does_before_it():
    lines = (_ROOT / "Makefile").read_text().splitlines()
    for step in ("-m venv", "--editable .", "-m bestdag.examples"):
        (place,) = [k for k, line in enumerate(lines) if step in line]
        assert lines[place - 1].strip().startswith("@echo")


def test_import_loads_nothing_heavy():
    heavy = {
        "dask",
        "distributed",
        "duckdb",
        "scipy",
        "rich",
        "click",
        "highspy",
        "pandas",
        "polars",
        "networkx",
        "numpy",
    }
    assert not heavy & modules_after("import bestdag")


def test_help_loads_click_only():
    heavy = {"dask", "distributed", "duckdb", "scipy", "rich", "numpy"}
    assert not heavy & modules_after("from bestdag.cli.main import run; run(['--help'])")


@pytest.mark.parametrize("name", [n for n in bestdag.__all__ if n != "__version__"])
def test_every_public_name_loads_and_is_documented(name):
    value = getattr(bestdag, name)
    assert value.__doc__
    assert pickle.loads(pickle.dumps(value)) is value


def test_unknown_attribute_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'laern'"):
        _ = bestdag.laern
    assert "read" in dir(bestdag)


def test_dir_lists_public_names_only():
    assert dir(bestdag) == sorted(bestdag.__all__)
    assert not {"annotations", "Any", "importlib", "data", "network"} & set(dir(bestdag))


def test_every_place_says_the_same_version():
    declared = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", declared)
    command = [sys.executable, "-m", "bestdag", "--version"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    changes = re.search(
        r"^## (?:Unreleased \()?([\d.]+)", (_ROOT / "CHANGELOG.md").read_text(), re.M
    )
    cited = re.search(r"^version: (\S+)$", (_ROOT / "CITATION.cff").read_text(), re.M)
    said = {
        "bestdag.__version__": bestdag.__version__,
        "bestdag --version": shown.removeprefix("bestdag ").strip(),
        "the first heading of CHANGELOG.md": changes[1],
        "CITATION.cff": cited[1],
    }
    assert said == dict.fromkeys(said, declared)


def test_stub_is_that_of_the_native_module(tmp_path):
    made = tmp_path / "_core.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "bestdag._core", "-o", made]
    subprocess.run(command, check=True)
    assert made.read_text() == (_SOURCE / "_core.pyi").read_text(), "run: make stub"


_OPTIONAL = (
    *("networkx", "pandas", "polars", "pyarrow", "openpyxl", "matplotlib", "resvg_py", "cupy"),
    *("sklearn", "dask", "distributed", "PIL"),
)


def test_pictures_and_reports_need_the_core_requirements_only(tmp_path):
    code = f"""
import sys
sys.modules.update(dict.fromkeys({_OPTIONAL!r}))
from bestdag.cli.main import run
from bestdag.examples import example
table, network = str(example("asia.csv")), str(example("asia.bif"))
page, picture = sys.argv[1:]
sys.exit(run(["learn", table, "--report", page]) or run(["draw", network, "-o", picture]))
"""
    page, picture = tmp_path / "r.html", tmp_path / "n.svg"
    subprocess.run([sys.executable, "-c", code, page, picture], capture_output=True, check=True)
    assert "<svg" in page.read_text()
    assert picture.read_text().startswith("<svg")
