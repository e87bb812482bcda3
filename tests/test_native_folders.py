"""Folders of native code: nothing includes upwards, and a score is one file and one line."""

import re
from pathlib import Path

import pytest
from tools.check_includes import FOLDERS, problems

from bestdag import _core

CPP = Path(__file__).parents[1] / "cpp"

LIST = CPP / "kernels" / "scores" / "list.hpp"
NAMES = re.findall(r"SCORE\((\w+), ", LIST.read_text()) if LIST.exists() else []

pytestmark = pytest.mark.skipif(not CPP.exists(), reason="needs the source tree")


def tree(folder: Path, **files: str) -> Path:
    """Write files, named with two underscores for a slash; a good file is always there."""
    for name, text in {"kernels__base__parallel": "#include <vector>\n", **files}.items():
        path = folder / (name.replace("__", "/") + ".hpp")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_nothing_includes_upwards():
    assert problems(CPP) == []


def test_every_folder_is_there():
    assert {p.name for p in (CPP / "kernels").iterdir()} == set(FOLDERS)


def test_including_downwards_or_beside_is_allowed(tmp_path):
    text = '#include "base/parallel.hpp"\n#include "scores/kernel.hpp"\n'
    cpp = tree(tmp_path, kernels__scores__bdeu=text, bindings__exact__dp=text)
    assert problems(cpp) == []


@pytest.mark.parametrize(
    "line",
    [
        '#include "scoring/families.hpp"',
        '  #  include "exact/dp.hpp"  // later',
        "#include <data/x>",
    ],
)
@pytest.mark.parametrize("where", ["kernels", "bindings"])
def test_including_upwards_is_refused(tmp_path, where, line):
    cpp = tree(tmp_path, **{f"{where}__scores__bdeu": f"#pragma once\n{line}\n"})
    (problem,) = problems(cpp)
    assert "scores/bdeu.hpp: includes" in problem
    assert problem.endswith("lies above scores/")


@pytest.mark.parametrize("name", ["kernels__bdeu", "kernels__misc__bdeu", "kernels__scores__a__b"])
def test_a_kernel_outside_the_folders_is_refused(tmp_path, name):
    (problem,) = problems(tree(tmp_path, **{name: ""}))
    assert "must lie in one of the folders base, special, " in problem


def test_a_binding_in_a_folder_that_the_kernels_lack_is_refused(tmp_path):
    (problem,) = problems(tree(tmp_path, bindings__misc__bdeu="", bindings__common=""))
    assert "misc/bdeu.hpp: must lie in a folder that cpp/kernels has" in problem


@pytest.mark.parametrize(
    "line", ["#include <nanobind/nanobind.h>", '#include "bindings/common.hpp"']
)
def test_python_in_a_kernel_is_refused(tmp_path, line):
    (problem,) = problems(tree(tmp_path, kernels__base__word=line))
    assert problem.endswith("kernels know nothing of Python")


def test_an_include_without_its_folder_is_refused(tmp_path):
    (problem,) = problems(tree(tmp_path, kernels__base__word='#include "parallel.hpp"'))
    assert problem.endswith("write base/parallel.hpp")


def test_the_native_scores_are_found():
    assert {"ll", "bic", "bdeu", "max_bdeu"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_native_score_is_one_file_and_one_line(name):
    maker = re.compile(rf"\bmake_{name}\b|\bSCORE\({name},")
    places = [
        (path.relative_to(CPP).as_posix(), line)
        for folder in ("kernels", "bindings")
        for path in sorted((CPP / folder).rglob("*.?pp"))
        for line in path.read_text().splitlines()
        if maker.search(line)
    ]
    assert {path for path, _ in places} == {f"kernels/scores/{name}.cpp", "kernels/scores/list.hpp"}
    assert sum(path.endswith("list.hpp") for path, _ in places) == 1
    assert isinstance(getattr(_core, name), type(_core.ll))
