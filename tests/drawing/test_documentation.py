"""The pictures and the code of the documentation are what the code makes of them."""

import re
from pathlib import Path

import pytest

pytest.importorskip("fast_sugiyama")

from tools.write_pictures import FOLDER, pictures

_GUIDE = Path(__file__).parents[2] / "docs/guide/pictures.md"


def test_pictures_are_those_of_the_code():
    made = pictures()
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(made)
    for name, picture in made.items():
        assert (FOLDER / name).read_text() == picture.svg, "run: make docs"


def test_python_of_the_guide_runs(tmp_path, monkeypatch):
    (code,) = re.findall(r"```python\n(.*?)```", _GUIDE.read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    session = {}
    exec(compile(code, "pictures.md", "exec"), session)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["asia.html", "asia.svg"]
    assert f"{session['result'].arc_losses()['bronc', 'dysp']:.1f}" in code
