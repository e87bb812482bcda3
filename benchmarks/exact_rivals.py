"""Time from a table to a proven optimum without a limit on parents, beside *bene*.

    python benchmarks/exact_rivals.py TABLE.csv[.gz] ... [--scores bdeu,bic,qnml] [--limit 900]
        [--threads 2]

Both get the same rows and the states that occur. Prints, per table and score, for each program the
wall seconds and the optimum (bene's to three decimals); of ours also the processor seconds, the
engine and whether the optimum is proved. Ours runs `exact` in this process, with all its work from
the rows in memory on; bene, which has one thread, runs from its files. Its BDeu has the equivalent
sample size 1; its regret (fnml, qnml) is approximate for many states or rows, where the optimum may
differ in its last digits.

BESTDAG_BENE names the folder of its programs, the one that holds data2net.sh; without it only ours
is run. A program that has no answer after `--limit` seconds is said to have none.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from bestdag.data.dataset import Dataset
from bestdag.data.readers import read
from bestdag.learning import learn
from bestdag.scores import make_score

# Scores that both have, by their names there.
BENE = {
    "bdeu": "1",
    "bic": "BIC",
    "aic": "AIC",
    "hqc": "HQC",
    "fnml": "fNML",
    "qnml": "qNML",
    "bdq": "0.5Q",
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="+", metavar="TABLE")
    parser.add_argument("--scores", default="bdeu,bic,qnml")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds for each program")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    for source in options.tables:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = read(source)
        print(f"\n{source}: {data.n_variables} variables, {data.n_rows:,} rows")
        print(f"{'score':10}{'program':9}{'seconds':>9}{'optimum':>18}")
        for name in options.scores.split(","):
            line = _by_us(data, name, options.limit, options.threads)
            print(f"{name:10}{'bestdag':9}{line}", flush=True)
            print(f"{name:10}{'bene':9}{_by_bene(data, name, options.limit)}", flush=True)


def _by_us(data: Dataset, name: str, limit: float, threads: int) -> str:
    score = make_score(name)
    wall, cpu = time.monotonic(), time.process_time()
    found = learn(data, score, search="exact", time_limit=limit, workers=threads)
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    return f"{wall:9.2f}{found.score:18.6f}  {found.status}, {found.engine}, {cpu:.2f} s processor"


def _by_bene(data: Dataset, name: str, limit: float) -> str:
    folder = os.environ.get("BESTDAG_BENE")
    if folder is None or not Path(folder, "data2net.sh").exists():
        return f"{'-':>9}  not installed: BESTDAG_BENE names no folder with data2net.sh"
    if name not in BENE:
        return f"{'-':>9}  has no such score"
    with tempfile.TemporaryDirectory() as work:
        names, rows = Path(work, "table.vd"), Path(work, "table.idt")
        lines = ["\t".join([f"v{i}", *(f"s{k}" for k in range(variable.arity))])
                 for i, variable in enumerate(data.variables)]  # fmt: skip
        names.write_text("".join(f"{line}\n" for line in lines))
        codes = np.column_stack([data.codes(name) for name in data.names])
        np.savetxt(rows, codes, fmt="%d", delimiter="\t")
        command = [str(Path(folder, "data2net.sh")), str(names), str(rows), BENE[name], work]
        started = time.monotonic()
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            return f"{'-':>9}  no answer in {limit:g} s"
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        seconds = time.monotonic() - started
    last = (said.strip().splitlines() or ["nothing said"])[-1]
    try:
        return f"{seconds:9.2f}{float(last):18.3f}"
    except ValueError:
        return f"{'-':>9}  failed ({process.returncode}): {last:.80}"


if __name__ == "__main__":
    main()
