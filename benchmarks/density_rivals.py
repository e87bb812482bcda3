"""The best BIC that each program finds for a table in the same time, side by side.

    python benchmarks/density_rivals.py TABLE.csv[.gz] ... [--limit 10] [--programs auto,blip]
        [--threads 2]

Every program gets the same rows (columns with one state left out), the same seconds and at most
`--threads` threads, one program at a time. Every structure is scored again by our own Scorer, so
that all are compared by the same number. Prints, per table, one line for each program: wall
seconds from the moment its data are read (BLIP: from its start), score, nats below the best, arcs.
Programs that know of a time limit are told of it. An answer that comes later than the limit and a
twentieth is marked as late and is not the best, whatever its score; a program that has none
after one and a half of the limit is stopped, and said to have none, as is one that is not installed
or fails.

The programs, beside searches of ours by their names:

- blip: parent sets by scorer.is in half of the time, then solver.winasobs.adv (sampler ent).
  BESTDAG_BLIP names its jar; `java` is on the PATH.
- bnlearn_hc, bnlearn_tabu: the R package. `Rscript` is on the PATH, or BESTDAG_RSCRIPT names it;
  R_LIBS names the library where the package is, unless R knows it.
- pyagrum_hc, pyagrum_tabu, pybnesian_hc: BESTDAG_PEERS names a Python interpreter that has
  pyagrum, pybnesian and pandas; without it this one is tried.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OURS = ("auto", "order", "tabu", "annealing", "hill_climb", "k2", "ges")
RIVALS = ("blip", "bnlearn_hc", "bnlearn_tabu", "pyagrum_hc", "pyagrum_tabu", "pybnesian_hc")
START = 60.0  # seconds to start and read the table, which do not count
BLIP_SHARE = 0.5  # of the time for listing parent sets

Arcs = list[tuple[str, str]]


class NoAnswerError(Exception):
    """A program has no structure to show, and why."""


@dataclass(frozen=True)
class Table:
    """The same rows in the formats of all programs: states are whole numbers from 0 on."""

    names: tuple[str, ...]
    csv: Path
    dat: Path
    folder: Path


@dataclass(frozen=True)
class Terms:
    """What every program gets."""

    limit: float
    threads: int


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", metavar="TABLE")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds for each program")
    parser.add_argument("--programs", default=",".join((*OURS, *RIVALS)))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--as-peer", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.as_peer:
        _run_as_peer(*options.as_peer)
        return
    for table in options.tables:
        _compare(table, options.programs.split(","), Terms(options.limit, options.threads))


def _compare(source: str, programs: list[str], terms: Terms) -> None:
    from bestdag.data.readers import read
    from bestdag.graph.dag import Dag
    from bestdag.scores.scorer import Scorer

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = read(source)
    data = data.drop([v.name for v in data.variables if v.arity == 1])
    scorer = Scorer(data, "bic")
    print(f"\n{source}: {data.n_variables} variables, {data.n_rows:,} rows, {terms.limit:g} s")
    lines: list[tuple[str, float, float, int]] = []
    silent: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        table = _write(data, Path(folder))
        for program in programs:
            try:
                arcs, seconds = _run_program(program, table, terms)
                score = scorer.total(Dag(data.names, arcs))
            except Exception as error:  # whatever a rival does must not stop the others
                silent.append((program, f"{error}" or type(error).__name__))
                continue
            lines.append((program, seconds, score, len(arcs)))
            print(f"  {program} done in {seconds:.1f} s", file=sys.stderr, flush=True)
    in_time = 1.05 * terms.limit
    best = max((line[2] for line in lines if line[1] <= in_time), default=float("nan"))
    print(f"{'program':14}{'seconds':>9}{'BIC':>18}{'below':>12}{'arcs':>7}")
    for program, seconds, score, n_arcs in sorted(lines, key=lambda line: -line[2]):
        late = "  late" if seconds > in_time else ""
        print(f"{program:14}{seconds:9.2f}{score:18.3f}{best - score:12.3f}{n_arcs:7}{late}")
    for program, why in silent:
        print(f"{program:14}{'-':>9}  {why}")
    sys.stdout.flush()


def _write(data: Any, folder: Path) -> Table:
    import numpy as np

    codes = np.column_stack([data.codes(name) for name in data.names])
    names = tuple(f"v{i}" for i in range(data.n_variables))  # no program minds these
    table = Table(data.names, folder / "table.csv", folder / "table.dat", folder)
    np.savetxt(table.csv, codes, fmt="%d", delimiter=",", header=",".join(names), comments="")
    header = f"{' '.join(names)}\n{' '.join(str(v.arity) for v in data.variables)}"
    np.savetxt(table.dat, codes, fmt="%d", delimiter=" ", header=header, comments="")
    return table


def _run_program(program: str, table: Table, terms: Terms) -> tuple[Arcs, float]:
    """Return the arcs by the names of the table's columns, and the seconds."""
    if program == "blip":
        arcs, seconds = _blip(table, terms)
    elif program.startswith("bnlearn_"):
        arcs, seconds = _bnlearn(program.removeprefix("bnlearn_"), table, terms)
    elif program in _PEERS or program in OURS:
        arcs, seconds = _python(program, table, terms)
    else:
        raise NoAnswerError(f"unknown program; known: {', '.join((*OURS, *RIVALS))}")
    return [(table.names[int(a[1:])], table.names[int(b[1:])]) for a, b in arcs], seconds


def _python(program: str, table: Table, terms: Terms) -> tuple[Arcs, float]:
    peers = os.environ.get("BESTDAG_PEERS", sys.executable)
    python = sys.executable if program in OURS else peers
    out = table.folder / "arcs.json"
    out.unlink(missing_ok=True)
    command = [python, __file__, "--as-peer", program, str(table.csv), str(out)]
    seconds = _timed([*command, str(terms.limit), str(terms.threads)], terms.limit, terms)
    return [(a, b) for a, b in json.loads(out.read_text())], seconds


_R = """
if (!requireNamespace("bnlearn", quietly = TRUE)) {
  message("the R package bnlearn is not installed"); quit(status = 3)
}
args <- commandArgs(trailingOnly = TRUE)
table <- read.csv(args[2], colClasses = "factor")
cat("ready\\n"); flush(stdout())
search <- getExportedValue("bnlearn", args[1])
found <- search(table, score = "bic")
write.table(found$arcs, args[3], row.names = FALSE, col.names = FALSE, quote = FALSE)
"""


def _bnlearn(search: str, table: Table, terms: Terms) -> tuple[Arcs, float]:
    r = os.environ.get("BESTDAG_RSCRIPT") or shutil.which("Rscript")
    if r is None:
        raise NoAnswerError("not installed: no Rscript on the PATH, and no BESTDAG_RSCRIPT")
    script, out = table.folder / "search.R", table.folder / "arcs.txt"
    script.write_text(_R)
    out.unlink(missing_ok=True)
    seconds = _timed([r, str(script), search, str(table.csv), str(out)], terms.limit, terms)
    return [tuple(line.split()) for line in out.read_text().splitlines()], seconds  # type: ignore[misc]


def _blip(table: Table, terms: Terms) -> tuple[Arcs, float]:
    jar, java = os.environ.get("BESTDAG_BLIP"), shutil.which("java")
    if jar is None or java is None:
        raise NoAnswerError("not installed: BESTDAG_BLIP names no jar, or java is not on the PATH")
    sets, out = table.folder / "sets.jkl", table.folder / "arcs.res"
    for old in (sets, out):
        old.unlink(missing_ok=True)
    shared = [java, "-jar", jar]
    end = ["-d", str(table.dat), "-j", str(sets), "-b", str(terms.threads), "-t"]
    # Its limits are whole seconds, without the start of a Java machine.
    first = max(1, int(BLIP_SHARE * terms.limit))
    scoring = _timed([*shared, "scorer.is", "-c", "bic", *end, str(first)], terms.limit, terms)
    second = max(1, int(terms.limit - scoring - 0.5))
    solver = [*shared, "solver.winasobs.adv", "-smp", "ent", "-r", str(out), *end, str(second)]
    solving = _timed(solver, terms.limit - scoring, terms)
    arcs: Arcs = []
    for line in out.read_text().splitlines():
        child, colon, rest = line.partition(":")
        if colon and child.isdigit() and "(" in rest:
            parents = rest[rest.index("(") + 1 : rest.index(")")]
            arcs += [(f"v{parent}", f"v{child}") for parent in parents.split(",")]
    return arcs, scoring + solving


def _timed(command: list[str], limit: float, terms: Terms) -> float:
    """Run a program; return the seconds since it said that it is ready, or else since its start."""
    count = str(terms.threads)
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    started = time.monotonic()
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=os.environ | dict.fromkeys(names, count),
        start_new_session=True,
    )
    said: list[str] = []
    ready = threading.Event()
    ready_at = [started]

    def listen() -> None:
        assert process.stderr is not None
        said.append(process.stderr.read())

    def watch() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip() == "ready":
                ready_at[0] = time.monotonic()
                ready.set()

    listeners = [threading.Thread(target=work, daemon=True) for work in (listen, watch)]
    for listener in listeners:
        listener.start()
    allowance = limit + 0.5 * terms.limit
    try:
        if "-jar" not in command:
            while not ready.wait(0.05) and process.poll() is None:
                if time.monotonic() > started + START:
                    raise NoAnswerError(f"not ready after {START:g} s")
        process.wait(max(0.0, ready_at[0] + allowance - time.monotonic()))
        ended = time.monotonic()
    except subprocess.TimeoutExpired:
        raise NoAnswerError(f"no answer in {1.5 * terms.limit:g} s") from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for listener in listeners:
            listener.join(5.0)
    if process.returncode:
        last = ("".join(said).strip().splitlines() or ["nothing said"])[-1]
        raise NoAnswerError(f"failed ({process.returncode}): {last:.100}")
    return ended - ready_at[0]


def _run_as_peer(program: str, csv: str, out: str, limit: str, threads: str) -> None:
    """Work for one Python program in a process of its own."""
    search = _PEERS.get(program, _ours)
    arcs = search(program, csv, float(limit), int(threads))
    Path(out).write_text(json.dumps(arcs))


def _say_ready() -> None:
    print("ready", flush=True)


def _ours(search: str, csv: str, limit: float, threads: int) -> Arcs:
    from bestdag.data.readers import read
    from bestdag.learning import learn

    data = read(csv, max_states=65_535)
    _say_ready()
    return list(learn(data, "bic", search=search, time_limit=limit, workers=threads).dag.arcs)


def _pyagrum(program: str, csv: str, limit: float, threads: int) -> Arcs:
    import pyagrum

    learner = pyagrum.BNLearner(csv)
    learner.setNumberOfThreads(threads)
    learner.useScoreBIC()
    learner.useNoPrior()
    if program == "pyagrum_tabu":
        learner.useLocalSearchWithTabuList()
    else:
        learner.useGreedyHillClimbing()
    learner.setMaxTime(limit)
    _say_ready()
    return [(learner.nameFromId(a), learner.nameFromId(b)) for a, b in learner.learnDAG().arcs()]


def _pybnesian(_: str, csv: str, __: float, ___: int) -> Arcs:
    import pandas as pd
    import pybnesian

    frame = pd.read_csv(csv, dtype=str).astype("category")
    _say_ready()
    kind = pybnesian.DiscreteBNType()
    return list(pybnesian.hc(frame, bn_type=kind, score="bic", operators=["arcs"]).arcs())


_PEERS: dict[str, Callable[[str, str, float, int], Arcs]] = {
    "pyagrum_hc": _pyagrum,
    "pyagrum_tabu": _pyagrum,
    "pybnesian_hc": _pybnesian,
}


if __name__ == "__main__":
    main()
