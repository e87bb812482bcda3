"""`python -m bestdag.examples`: the main job on the bundled data, as a user would type it."""

from __future__ import annotations

import importlib.util
import os
import shlex
import sys
import tempfile
from pathlib import Path

from bestdag.cli.main import run
from bestdag.examples import EXAMPLES, example

_CAN_DRAW = importlib.util.find_spec("fast_sugiyama") is not None
_NO_REPORT = "No report: pictures need pip install 'bestdag[draw]'"


def main() -> int:
    """Run each command in the folder of the examples; stop at the first that fails."""
    os.chdir(example(EXAMPLES[0]).parent)
    # A folder of our own: in the shared one, others may have put a link under a known name.
    report = Path(tempfile.mkdtemp(prefix="bestdag-demo-")) / "report.html"
    commands = (
        "info asia.csv",
        "learn asia.csv --score bdeu"
        + (f" --report {shlex.quote(str(report))}" if _CAN_DRAW else ""),
        "score asia.csv asia.bif --score all",
    )
    for command in commands:
        print(f"$ bestdag {command}", flush=True)
        code = run(shlex.split(command))
        if code:
            return code
        print(flush=True)
    print(f"Report: {report.as_uri()}" if _CAN_DRAW else _NO_REPORT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
