"""What is proved within a minute, and how soon: the best with at most 1, 2, 3, ... parents.

    python benchmarks/ladder.py --output RUNS.jsonl [--data NETWORKS] [--density TABLES]
        [--only alarm,dna] [--rows 1000,10000] [--scores bic,bdeu,qnml] [--orders 3]
        [--max-parents any,3] [--time-limit 60] [--claims]
    python benchmarks/ladder.py --output RUNS.jsonl --show [--claims]

NETWORKS is a folder of BIF files, of which those with 27 to 76 variables are sampled, and TABLES
one of *.train.csv.gz, which are learned with at most 2 and at most 3 parents. Without either, both
are those in the folder that BESTDAG_DATA names. Everything is learned in several orders: in order 0
as it is, in the others with columns in another order under other names, and with states in another
order, all drawn from the number of the order. The best score of a rung is the same in all of them.

Each run adds a line of JSON to RUNS.jsonl; runs that are there are not repeated. Then, or with
--show at once, all runs of the file are printed as Markdown, one row for all orders of a table: the
median of the seconds until the best network with at most k parents, or more, was proved, and how
many of the runs got there, if not all; for the others the largest bound on how much more it may
score than the network found, as a share of what that gains over no arcs. A bound of more than
a quarter of the gain is left out. With --claims also what each run says.

Runs of one table, sample and score are compared with each other: a structure of one run that scores
more than a bound of another one that covers it, or two proofs of one rung that differ, are
printed, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import bestdag as bd

FOLDER = Path(os.environ.get("BESTDAG_DATA", Path(__file__).parents[2] / "shared" / "data"))
# Networks with fewer variables are proved as a whole, with more are not sampled by default.
LEAST, MOST = 27, 76
# Rungs with a column of their own.
SHOWN = (1, 2, 3, 4)
# Bounds that are farther away, as a share of the gain, say nothing.
FAR = 0.25

Run = dict[str, Any]


@dataclass(frozen=True)
class Trial:
    """One run. `n_rows` is the size of a sample, or None for a table as it is."""

    table: str
    n_rows: int | None
    score: str
    max_parents: int | None
    time_limit: float
    order: int


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="JSON lines")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="BIF files")
    parser.add_argument("--density", type=Path, metavar="FOLDER", help="*.train.csv.gz")
    parser.add_argument("--only", default="", help="names of networks and tables")
    parser.add_argument("--variables", default=f"{LEAST}-{MOST}", help="of networks")
    parser.add_argument("--rows", default="1000,10000", help="sizes of samples")
    parser.add_argument("--scores", default="bic,bdeu,qnml")
    parser.add_argument("--orders", type=int, default=3)
    parser.add_argument("--max-parents", help="default: any for networks, 2,3 for tables")
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--claims", action="store_true", help="print what each run says")
    parser.add_argument("--show", action="store_true", help="run nothing")
    options = parser.parse_args()
    runs = list(_recorded(options.output))
    if not options.show:
        warnings.simplefilter("ignore")  # columns with one state
        warnings.simplefilter("error", bd.InterruptedWarning)
        try:
            for run in _new_runs(options, {_trial_of(run) for run in runs}):
                with options.output.open("a") as file:
                    file.write(json.dumps(run) + "\n")
                runs.append(run)
        except (KeyboardInterrupt, bd.InterruptedWarning):
            print("stopped; the same command goes on from here", file=sys.stderr)
    print(*_tables(runs), sep="\n")
    if options.claims:
        print("", *_claims(runs), sep="\n")
    wrong = list(_contradictions(runs))
    print(*wrong, sep="\n")
    return 1 if wrong else 0


# Runs -------------------------------------------------------------------------------------------


def _recorded(path: Path) -> Iterator[Run]:
    """Yield the runs of a file; a last line that was cut short is left out."""
    if path.exists():
        text = path.read_text()
        if not text.endswith("\n"):
            text = text[: text.rfind("\n") + 1]
            path.write_text(text)
        yield from map(json.loads, text.splitlines())


def _trial_of(run: Run) -> Trial:
    return Trial(**run["trial"])


def _new_runs(options: argparse.Namespace, done: set[Trial]) -> Iterator[Run]:
    """Run what is asked for and not done."""
    for table, rows, data, limits in _sources(options):
        for score in options.scores.split(","):
            for most in limits:
                for order in range(options.orders):
                    trial = Trial(table, rows, score, most, options.time_limit, order)
                    if trial not in done:
                        yield _run(trial, data)


Source = tuple[str, int | None, bd.Dataset, list[int | None]]


def _sources(options: argparse.Namespace) -> Iterator[Source]:
    """Yield tables: name, rows of a sample, the table, and the limits of parents to learn with."""
    only = set(filter(None, options.only.split(",")))
    both = options.data is None and options.density is None
    least, most = map(int, options.variables.split("-"))
    networks = FOLDER / "networks" if both else options.data
    for path in sorted(networks.glob("*.bif*")) if networks else []:
        name = path.name.split(".")[0]
        if only and name not in only:
            continue
        network = bd.load(path)
        if least <= len(network.dag.nodes) <= most:
            for rows in map(int, options.rows.split(",")):
                data = network.sample(rows, seed=rows)
                yield name, rows, data, _limits(options.max_parents or "any")
    tables = FOLDER / "density" if both else options.density
    for path in sorted(tables.glob("*.train.csv.gz")) if tables else []:
        name = path.name.split(".")[0]
        if not only or name in only:
            yield name, None, bd.read(path), _limits(options.max_parents or "2,3")


def _limits(text: str) -> list[int | None]:
    return [None if word == "any" else int(word) for word in text.split(",")]


def reordered(data: bd.Dataset, order: int) -> bd.Dataset:
    """Return the same rows with other names, and columns and states in another order."""
    if order == 0:
        return data
    rng = np.random.default_rng([order, len(data.names)])
    variables, columns = [], []
    for place, i in enumerate(rng.permutation(len(data.names))):
        variable = data.variables[int(i)]
        states = rng.permutation(len(variable.states))
        names = tuple(variable.states[int(k)] for k in states)
        variables.append(bd.Variable(f"x{place:04d}", names))
        columns.append(np.argsort(states)[data.codes(variable.name)])
    return bd.Dataset(variables, columns)


def _run(trial: Trial, data: bd.Dataset) -> Run:
    """Learn once, and return what came of it."""
    table = reordered(data, trial.order)
    spent = time.process_time()
    result = bd.learn(
        table, trial.score, max_parents=trial.max_parents, time_limit=trial.time_limit
    )
    spent = time.process_time() - spent
    empty = bd.Scorer(table, trial.score).total(bd.Dag(table.names))
    print(f"{trial}: {result.headline()}", file=sys.stderr, flush=True)
    return {
        "trial": asdict(trial),
        "version": bd.__version__,
        "processors": os.cpu_count(),
        "variables": len(table.names),
        "rows": table.n_rows,
        "status": result.status,
        "proved": result.proved,
        "score": result.score,
        "most_parents": result.most_parents,
        "gain": result.score - empty,
        "bound": result.bound,
        "seconds": result.seconds,
        "processor_seconds": spent,
        "ladder": [rung.as_json() for rung in result.ladder],
        "says": [result.headline(), *result.claims()],
    }


# What runs say ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Level:
    """What a run knows of all structures with at most so many parents; infinity is all."""

    most: float
    bound: float
    proved_after: float | None
    best: float | None


def _levels(run: Run) -> list[Level]:
    """List what a run knows, from below."""
    top = run["trial"]["max_parents"] or np.inf
    levels = []
    for rung in run["ladder"]:
        if rung["bound"] is not None:
            most = top if rung["max_parents"] is None else rung["max_parents"]
            best = rung["score"] if rung["status"] == "optimum proved" else None
            levels.append(Level(most, rung["bound"], rung["proved_after"], best))
    if run["bound"] is not None:
        is_proved = run["status"] == "optimum proved"
        after, best = (run["seconds"], run["score"]) if is_proved else (None, None)
        levels.append(Level(top, run["bound"], after, best))
    return levels


def _seconds(run: Run, most: float) -> float | None:
    """Return when the structures with at most so many parents were settled."""
    times = [
        level.proved_after
        for level in _levels(run)
        if level.most >= most and level.proved_after is not None
    ]
    return min(times, default=None)


def _share(run: Run, most: float) -> float | None:
    """Return how much more one of them may score, as a share of the gain over no arcs."""
    bounds = [level.bound for level in _levels(run) if level.most >= most]
    if not bounds or run["gain"] <= 0:
        return None
    return max(0.0, min(bounds) - run["score"]) / run["gain"]


def _cell(runs: list[Run], most: float) -> str:
    """Say what the runs of one row have come to."""
    times = [seconds for run in runs if (seconds := _seconds(run, most)) is not None]
    shares = [_share(run, most) for run in runs if _seconds(run, most) is None]
    parts = []
    if times:
        parts.append(f"{median(times):.1f}" + (f" ({len(times)} of {len(runs)})" if shares else ""))
    near = [share for share in shares if share is not None and share <= FAR]
    if shares and len(near) == len(shares):
        parts.append(f"≤ {_up(100.0 * max(near))} %")
    return "; ".join(parts) or "-"


def _up(per_cent: float) -> str:
    """Write with two digits or none after the point, rounded up."""
    digits = 2 if per_cent < 10 else 0
    return f"{np.ceil(per_cent * 10**digits) / 10**digits:.{digits}f}"


def _tables(runs: Iterable[Run]) -> Iterator[str]:
    """Yield a table for each limit of parents and of time, and what it comes to."""
    batches = defaultdict(list)
    for run in runs:
        trial = _trial_of(run)
        batches[trial.max_parents, trial.time_limit].append(run)
    for (limit, seconds), batch in sorted(batches.items(), key=lambda one: str(one[0])):
        tops = [most for most in SHOWN if limit is None or most < limit] + [limit or np.inf]
        heads = ["all" if most == np.inf else f"at most {most}" for most in tops]
        words = "any number of parents" if limit is None else f"at most {limit} parents"
        yield f"\n{words}, time limit {seconds:g} s:\n"
        yield "| " + " | ".join(("table", "columns", "rows", "score", *heads)) + " |"
        yield "|---" * (4 + len(heads)) + "|"
        rows = defaultdict(list)
        for run in batch:
            key = (run["variables"], run["trial"]["table"], run["rows"], run["trial"]["score"])
            rows[key].append(run)
        for (columns, name, n_rows, score), same in sorted(rows.items()):
            cells = [_cell(same, most) for most in tops]
            yield "| " + " | ".join([name, str(columns), f"{n_rows:,}", score, *cells]) + " |"
        yield f"\n{len(batch)} runs; proved: {_counts(batch, tops)}"


def _counts(batch: list[Run], tops: list[float]) -> str:
    """Say how many runs were proved up to which rung."""
    highest = Counter(
        max((most for most in tops if _seconds(run, most) is not None), default=0) for run in batch
    )
    words = {0: "nothing", np.inf: "all"}
    return ", ".join(
        f"{words.get(most, f'at most {most}')} {highest[most]}" for most in sorted(highest)[::-1]
    )


def _claims(runs: Iterable[Run]) -> Iterator[str]:
    """Yield what each run says."""
    for run in runs:
        yield f"{_trial_of(run)}"
        yield from (f"    {line}" for line in run["says"])


def _contradictions(runs: Iterable[Run]) -> Iterator[str]:
    """Yield what cannot be true together: of one table, sample and score."""
    alike = defaultdict(list)
    for run in runs:
        alike[run["trial"]["table"], run["rows"], run["trial"]["score"]].append(run)
    for key, same in alike.items():
        slack = 1e-6 + 1e-9 * abs(same[0]["score"])
        best: dict[float, float] = {}
        for run in same:
            most = run["most_parents"]
            best[most] = max(best.get(most, -np.inf), run["score"])
            for level in _levels(run):
                if level.best is not None:
                    best[level.most] = max(best.get(level.most, -np.inf), level.best)
        for run in same:
            for level in _levels(run):
                above = max((s for most, s in best.items() if most <= level.most), default=-np.inf)
                if above > level.bound + slack:
                    yield (
                        f"WRONG {key}: a structure with at most {level.most} parents scores "
                        f"{above!r}, and by {_trial_of(run)} none scores more than {level.bound!r}"
                    )


if __name__ == "__main__":
    sys.exit(main())
