"""A study of one number, for the tests of what runs studies."""

import os
import signal
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

from studies.claims import Claim, is_above, mean_interval
from studies.sections import Figure, Line, Table, line_chart
from studies.study import Study, Trial, generator_of


def trials(size, seed):
    for k in range(6 if size == "quick" else 12):
        files = ("networks/asia.bif",) if k == 5 else ()
        yield Trial(f"group {k % 2}", {"k": k, "seed": seed}, files)


def run(trial, folder):
    rng = generator_of("toy", trial.settings["k"], trial.settings["seed"])
    row = {"value": float(rng.normal()), "timing": {}}
    if trial.files:
        row["nodes"] = len(folder.network(trial.files[0]).names)
    return row


def sections(rows):
    values = [row["value"] for row in rows]
    cells = [[str(row["k"]), f"{row['value']:.3f}"] for row in rows]
    line = Line("a & b", list(range(len(rows))), values)
    return [
        Table("Values | all", ["k", "value"], cells, "of < and >"),
        Figure("curve", "The curve", line_chart([line], x="k", y="value")),
    ]


def claims(rows):
    found = mean_interval(row["value"] for row in rows)
    return [Claim("T1", "nowhere", "The mean is positive.", is_above(found), str(found), "> 0")]


TOY = Study("toy", "A toy", "Nobody (2000).", trials, run, sections, claims, ("Nothing is open.",))


def deadly(trial, folder, *, place, parent):
    """Kill the first process when three trials are in its file."""
    if trial.settings["k"] == 3:
        while (place / "rows.jsonl").read_bytes().count(b"\n") < 1 + 3:
            time.sleep(0.01)
        (place / "worker").write_text(str(os.getpid()))
        os.kill(parent, signal.SIGKILL)
        time.sleep(600)
    return run(trial, folder)


if __name__ == "__main__":
    from studies.runner import reproduce
    from studies.tests import toy

    here = Path(sys.argv[1])
    reproduce(
        replace(toy.TOY, run=partial(toy.deadly, place=here, parent=os.getpid())), here, threads=1
    )
