"""Runs the code on the pages of the documentation, and writes what it prints beneath it.

Run: python -m tools.pages, or `make outputs`: every output on every page is written anew. The
tests run the same code and compare. On a page,

- blocks of ``python`` share one session, blocks of ``sh`` one folder, which is empty but for the
  bundled examples; both are one after the other, from the top;
- ``<!-- setup ... -->`` holds Python that runs there and is not shown;
- ``<!-- output -->`` before a block of ``text`` means: what the block of code before it prints.
  ``<!-- output 5 -->`` keeps the first five lines;
- ``<!-- fails -->`` before a block of code means that its last statement, or command, fails;
  what it says is its output;
- ``<!-- slow -->`` anywhere: the page takes more than a few seconds.

Lines of ``sh`` that install, build or take minutes are not run: `unrunnable` says which, and the
tests check what can be checked of them.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

from bestdag.cli.main import run
from bestdag.examples import EXAMPLES, example

__all__ = ["ROOT", "Block", "blocks", "pages", "shell_lines", "steady", "unrunnable", "written"]

os.environ.setdefault("MPLBACKEND", "Agg")  # no windows

ROOT = Path(__file__).parents[1]
_PIECES = re.compile(
    r"^<!-- setup\n(?P<setup>.*?)^-->$"
    r"|^(?:<!-- (?P<mark>output(?: \d+)?|fails) -->\n)?^```(?P<language>\w+)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a page that is run, or an output that is written."""

    kind: str  # "python", "sh", "output" or another language, which is left alone
    code: str
    start: int  # of the code, in the text of the page
    fails: bool = False
    n_lines: int | None = None


def pages() -> list[Path]:
    """List the pages with code: the documentation without its decisions, and README."""
    listed = sorted((ROOT / "docs").rglob("*.md"))
    return [
        ROOT / "README.md",
        *(page for page in listed if not {"decisions", "_build"} & {*page.parts}),
    ]


def blocks(text: str) -> Iterator[Block]:
    """Cut a page into its blocks, in their order."""
    for found in _PIECES.finditer(text):
        if found["setup"] is not None:
            yield Block("python", found["setup"], found.start("setup"))
            continue
        mark, kind = found["mark"] or "", found["language"]
        n_lines = re.findall(r"\d+", mark)
        if mark.startswith("output"):
            kind = "output"
        lines = int(n_lines[0]) if n_lines else None
        yield Block(kind, found["code"], found.start("code"), mark == "fails", lines)


def written(text: str) -> str:
    """Run a page, and return its text with every output as it is now."""
    pieces, end, shown = [], 0, ""
    with _session() as session:
        for block in blocks(text):
            if block.kind in ("python", "sh"):
                shown = session.run(block)
            elif block.kind == "output":
                lines = shown.rstrip().splitlines()
                if block.n_lines is not None and len(lines) > block.n_lines:
                    lines = [*lines[: block.n_lines], "..."]
                made = "".join(f"{line.rstrip()}\n" for line in lines)
                keep = steady(made) == steady(block.code)  # but for seconds
                pieces += [text[end : block.start], block.code if keep else made]
                end = block.start + len(block.code)
    return "".join(pieces) + text[end:]


def steady(text: str) -> str:
    """Leave out what differs from run to run: seconds, and the width of columns with them."""
    return re.sub(r" +", " ", re.sub(r"\b\d+\.\d+ s\b", "0 s", text))


def shell_lines(code: str) -> Iterator[str]:
    """List the commands of a block of sh, without comments; a backslash joins lines."""
    for line in code.replace("\\\n", " ").splitlines():
        command = re.sub(r"(^|\s+)#.*", "", line)
        if command.strip():
            yield command


def unrunnable(command: str) -> bool:
    """Say whether a line of sh is for people alone: it installs, builds, measures, needs a GPU."""
    measures = r"python benchmarks/\w+\.py|python -m studies"
    return bool(re.match(rf"(make|pip|cd|\.|git|{measures})\s|bestdag .*--engine gpu", command))


class _Session:
    """What the blocks of one page share."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}

    def run(self, block: Block) -> str:
        said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            if block.kind == "python":
                self._python(block, said)
            else:
                self._shell(block, said)
        return _text(said)

    def _python(self, block: Block, said: IO[str]) -> None:
        try:
            exec(compile(block.code, "page", "exec"), self.names)
        except Exception as error:
            if not block.fails:
                raise RuntimeError(f"this block fails:\n{block.code}") from error
            said.write(f"{type(error).__name__}: {error}\n")
        else:
            assert not block.fails, f"this block does not fail:\n{block.code}"

    def _shell(self, block: Block, said: IO[str]) -> None:
        commands = [line for line in shell_lines(block.code) if not unrunnable(line)]
        for number, command in enumerate(commands):
            fails = block.fails and number == len(commands) - 1
            if command.startswith("bestdag ") and not re.search(r"[|<>] ", command):
                words = shlex.split(command)[1:]
                _make_room(words)
                code = run(words)
            else:
                code = _in_shell(command, said)
            if bool(code) != fails:
                raise RuntimeError(f"exit code {code} of: {command}\n{_text(said)}")


def _text(said: IO[str]) -> str:
    said.seek(0)
    return said.read()


def _make_room(words: list[str]) -> None:
    """Remove what a command would not replace: each line of a page stands for itself."""
    for option, value in pairwise(words):
        if option in ("-o", "--report", "--draw", "--save-cut-points", "--edge-weights"):
            Path(value).unlink(missing_ok=True)


def _in_shell(command: str, said: IO[str]) -> int:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        env={**os.environ, "PATH": programs},
        capture_output=True,
        text=True,
        check=False,
    )
    said.write(done.stdout + done.stderr)
    return 0 if done.returncode == 141 else done.returncode  # `head` has read enough


@contextlib.contextmanager
def _session() -> Iterator[_Session]:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in EXAMPLES:
            shutil.copy(example(name), folder)
        with contextlib.chdir(folder):
            yield _Session()
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def main() -> None:
    """Write the outputs of every page, or of those that are named."""
    named = [Path(name).resolve() for name in sys.argv[1:]]
    for page in named or pages():
        old = page.read_text(encoding="utf-8")
        new = written(old)
        if new != old:
            page.write_text(new, encoding="utf-8")
            print(f"{page.relative_to(ROOT)}: outputs written")


if __name__ == "__main__":
    main()
