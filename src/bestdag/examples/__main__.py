"""`python -m bestdag.examples`: the main job on the bundled data, as a user would type it."""

from __future__ import annotations

import os
import shlex
import sys

from bestdag.cli.main import run
from bestdag.examples import EXAMPLES, example

_COMMANDS = (
    "info asia.csv",
    "learn asia.csv --score bdeu",
    "score asia.csv asia.bif --score all",
)


def main() -> int:
    """Run each command in the folder of the examples; stop at the first that fails."""
    os.chdir(example(EXAMPLES[0]).parent)
    for command in _COMMANDS:
        print(f"$ bestdag {command}", flush=True)
        code = run(shlex.split(command))
        if code:
            return code
        print(flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
