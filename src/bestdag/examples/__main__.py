"""`python -m bestdag.examples`: the main job on the bundled data, as a user would type it."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from pathlib import Path

from bestdag.cli.main import run
from bestdag.examples import EXAMPLES, example

_COMMANDS = (
    "info asia.csv",
    "learn asia.csv --score bdeu --report {report}",
    "score asia.csv asia.bif --score all",
)


def main() -> int:
    """Run each command in the folder of the examples; stop at the first that fails.

    The report is written to a new folder of the user's own, as a name that is known beforehand
    could be taken by others.
    """
    os.chdir(example(EXAMPLES[0]).parent)
    # A folder of our own: in the shared one, others may have put a link under a known name.
    report = Path(tempfile.mkdtemp(prefix="bestdag-demo-")) / "asia.html"
    for template in _COMMANDS:
        command = template.format(report=shlex.quote(str(report)))
        print(f"$ bestdag {command}", flush=True)
        code = run(shlex.split(command))
        if code:
            return code
        print(flush=True)
    print(f"Report: {report.as_uri()}")
    print("To go on: . .venv/bin/activate; cd src/bestdag/examples; bestdag learn asia.csv")
    return 0


if __name__ == "__main__":
    sys.exit(main())
