"""The code on every page of the documentation runs, and prints what the page shows."""

import re
import tomllib

import pytest
from tools.pages import ROOT, blocks, pages, shell_lines, steady, unrunnable, written

from bestdag.cli.main import cli

PAGES = {str(page.relative_to(ROOT)): page.read_text(encoding="utf-8") for page in pages()}


def cases():
    for name, text in PAGES.items():
        if any(block.kind in ("python", "sh") for block in blocks(text)):
            slow = [pytest.mark.slow] if "<!-- slow -->" in text else []
            yield pytest.param(text, marks=slow, id=name)


@pytest.mark.parametrize("text", list(cases()))
def test_code_runs_and_prints_what_is_shown(text):
    assert steady(written(text)) == steady(text), "run: make outputs"


@pytest.mark.parametrize("name", list(PAGES))
def test_no_code_hides_in_another_kind_of_block(name):
    allowed = {"python", "sh", "output", "text", "json"}
    synopsis = "bestdag bootstrap DATA"
    for block in blocks(PAGES[name]):
        assert block.kind in allowed, block.code
        if block.kind == "text" and not block.code.startswith(synopsis):
            assert not re.match(r"(bestdag|python|pip|make|import|from) ", block.code), block.code
        if block.kind == "output":
            assert block.code.strip(), "run: make outputs"


def unrun():
    for name, text in PAGES.items():
        for block in blocks(text):
            if block.kind == "sh":
                yield from ((name, line) for line in shell_lines(block.code) if unrunnable(line))


def test_lines_that_are_not_run_name_what_exists():
    makefile = (ROOT / "Makefile").read_text()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    checked = 0
    for name, line in unrun():
        program, *words = line.split()
        if program == "make":
            assert re.search(rf"^{words[0]}:", makefile, re.M), (name, line)
        elif program == "python":
            assert (ROOT / words[0]).exists(), (name, line)
        elif program == "pip":
            for extra in re.findall(r"\[([\w,]+)\]", line):
                assert {*extra.split(",")} <= {*extras["optional-dependencies"]}, (name, line)
        elif program == "bestdag":
            command = cli.get_command(None, words[0])
            known = {
                text for option in command.params for text in (*option.opts, *option.secondary_opts)
            }
            assert {word for word in words if word.startswith("-")} <= known, (name, line)
        elif program == "cd":
            assert (ROOT / words[0]).is_dir(), (name, line)
        else:
            assert line.startswith(". .venv/bin/activate"), (name, line)
        checked += 1
    assert checked > 3


def page(code, kind="python", mark="", shown="old\n"):
    return f"{mark}```{kind}\n{code}\n```\n\n<!-- output -->\n```text\n{shown}```\n"


def test_outputs_are_written_beneath_the_code():
    assert written(page("print(2 + 3)")) == page("print(2 + 3)", shown="5\n")
    told = written(page("bestdag --version", "sh"))
    assert re.search(r"```text\nbestdag[^\n]* \d+\.\d+", told)


def test_only_seconds_may_differ():
    assert written(page("print('done in 0.21 s')", shown="done in 9.87 s\n")).count("9.87 s") == 1
    assert "2 rows" in written(page("print('2 rows in 0.21 s')", shown="3 rows in 0.21 s\n"))


def test_blocks_share_a_session_and_a_folder():
    first = "```python\nopen('x.txt', 'w').write('a')\nn = 3\n```\n"
    assert "3 a\n" in written(first + page("print(n, open('x.txt').read())"))
    assert "a\n```" in written(first + page("cat x.txt", "sh"))


def test_code_that_fails_is_found_out():
    with pytest.raises(RuntimeError, match="this block fails"):
        written(page("1 / 0"))
    with pytest.raises(RuntimeError, match="exit code 2"):
        written(page("bestdag learn nowhere.csv", "sh"))
    mark = "<!-- fails -->\n"
    assert "ZeroDivisionError: division by zero\n" in written(page("1 / 0", mark=mark))
    assert "there is no file 'nowhere.csv'" in written(page("bestdag info nowhere.csv", "sh", mark))
    with pytest.raises(AssertionError, match="does not fail"):
        written(page("1", mark=mark))
    with pytest.raises(RuntimeError, match="exit code 0"):
        written(page("bestdag --version", "sh", mark))
