"""How far one call walks through the package: files, crossings between rooms, depth, engines.

A file is entered when one of its functions runs; importing it does not count, nor what runs in the
bodies of classes and modules meanwhile (`--imports` counts both). A crossing is a call
from a room of the package (a folder or a module beside them) into another one. The depth is that
of calls within the package. An engine is a `CountingEngine`, which counts a table.

    python benchmarks/walk.py [--imports] [TABLE]
"""

from __future__ import annotations

import contextlib
import csv
import subprocess
import sys
import tempfile
import threading
from inspect import CO_OPTIMIZED
from pathlib import Path

PACKAGE = "bestdag"


class Walk:
    """Counts calls between the files of the package, by a profile function."""

    def __init__(self, root: str, with_imports: bool) -> None:
        self.root = root
        self.with_imports = with_imports
        self.files: set[str] = set()
        self.crossings = 0
        self.depth = 0
        self.engines = 0
        self._rooms: dict[str, str] = {}
        self._local = threading.local()

    def __call__(self, frame, event, arg) -> None:
        """Take notice of one call or return."""
        if event not in ("call", "return"):
            return
        name = frame.f_code.co_filename
        if not name.startswith(self.root):
            return
        if not self.with_imports and self._is_import(frame):
            return
        stack = self._local.__dict__.setdefault("stack", [])
        if event == "return":
            if stack and stack[-1][0] is frame:
                stack.pop()
            return
        while stack and not is_below(frame, stack[-1][0]):
            stack.pop()
        room = self._rooms.get(name)
        if room is None:
            room = self._rooms[name] = Path(name).relative_to(self.root).parts[0]
        self.files.add(name)
        if stack and stack[-1][1] != room:
            self.crossings += 1
        stack.append((frame, room))
        self.depth = max(self.depth, len(stack))
        if frame.f_code.co_name == "__init__" and name.endswith("counts/engine.py"):
            self.engines += "CountingEngine" in frame.f_code.co_qualname

    def _is_import(self, frame) -> bool:
        """Whether a frame is the body of a module or class, or was called by one."""
        while frame is not None and frame.f_code.co_filename.startswith(self.root):
            if not frame.f_code.co_flags & CO_OPTIMIZED:
                return True
            frame = frame.f_back
        return False

    def line(self, what: str) -> str:
        """Return the row of the table."""
        numbers = (len(self.files), f"{self.crossings:,}", self.depth, self.engines)
        return f"| `{what}` | " + " | ".join(str(n) for n in numbers) + " |"


def is_below(frame, other) -> bool:
    """Whether a frame was called, at any distance, from another one."""
    while frame is not None:
        if frame is other:
            return True
        frame = frame.f_back
    return False


def run(what: str, table: str, with_imports: bool) -> None:
    """Walk one way and print what it took."""
    import bestdag

    walk = Walk(str(Path(bestdag.__file__).parent) + "/", with_imports)
    with tempfile.TemporaryDirectory() as folder:
        if what == "learn(dict)":
            with open(table, newline="") as file:
                rows = list(csv.DictReader(file))
            columns = {name: [row[name] for row in rows] for name in rows[0]}
            learn = bestdag.learn
            threading.setprofile(walk)
            sys.setprofile(walk)
            learn(columns)
            sys.setprofile(None)
        else:
            from bestdag.cli import entry

            sys.argv = ["bestdag", "learn", table, "-o", f"{folder}/net.bif", "--quiet"]
            if "--report" in what:
                sys.argv += ["--report", f"{folder}/report.html"]
            threading.setprofile(walk)
            sys.setprofile(walk)
            with contextlib.suppress(SystemExit):
                entry.main()
            sys.setprofile(None)
    threading.setprofile(None)
    print(walk.line(what))


def main() -> None:
    """Walk each way in a process of its own."""
    arguments = [one for one in sys.argv[1:] if one != "--imports"]
    ways = ["learn(dict)", "bestdag learn -o", "bestdag learn -o --report"]
    if arguments and arguments[0] == "--one":
        run(arguments[1], arguments[2], "--imports" in sys.argv)
        return
    from bestdag.examples import example

    table = arguments[0] if arguments else str(example("asia.csv"))
    print("| | files entered | crossings between rooms | depth | counting engines |")
    print("|---|---|---|---|---|")
    extra = ["--imports"] if "--imports" in sys.argv else []
    for what in ways:
        command = [sys.executable, __file__, "--one", what, table, *extra]
        print(
            subprocess.run(command, capture_output=True, text=True, check=True)
            .stdout.strip()
            .splitlines()[-1]
        )


if __name__ == "__main__":
    main()
