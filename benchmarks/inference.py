"""Exact inference: all marginals given three findings, beside pyAgrum where that is installed.

    python benchmarks/inference.py [FOLDER of .bif and .bif.gz files] [NAME ...]

For each network: compiled fresh with the first findings, the next findings, and peak memory, each
program in a process of its own with a limit on time; CPU and wall-clock times are medians of
several runs. Then a batch: 10,000 rows of alarm with 5 of 37 cells missing, on 2 threads.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from bestdag import Network
from bestdag.errors import NotEnoughMemoryError
from bestdag.network.bif_names import plain_names

NAMES = (
    *("asia", "alarm", "hailfinder", "insurance", "andes", "pathfinder", "pigs", "water"),
    *("mildew", "diabetes", "barley", "link", "munin1"),
)
TIME_LIMIT = 120.0
MEMORY_LIMIT = 12 << 30


def main() -> None:
    """Run every network in both programs."""
    given = sys.argv[1:]
    folder = Path(given[0] if given else Path(__file__).parents[2] / "shared/data/networks")
    print(f"{'network':12}{'program':10}{'fresh ms':>12}{'next ms':>12}{'peak MiB':>10}")
    for name in given[1:] or NAMES:
        path = next(iter(sorted(folder.glob(f"{name}.bif*"))), None)
        if path is None:
            continue
        found = {}
        for program in ("bestdag", "pyagrum"):
            found[program] = in_a_process(program, path)
            print(f"{name:12}{program:10}{found[program]}", flush=True)
    batch(folder / "alarm.bif")


def in_a_process(program: str, path: Path) -> str:
    """Measure one program on one network, and say what came of it."""
    call = [sys.executable, __file__, "--one", program, str(path)]
    try:
        ended = subprocess.run(
            call, capture_output=True, text=True, timeout=TIME_LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return f"  more than {TIME_LIMIT:.0f} s"
    if ended.returncode:
        return f"  failed: {(ended.stderr.strip().splitlines() or ['killed'])[-1][:100]}"
    numbers = json.loads(ended.stdout)
    if "refused" in numbers:
        return f"  {numbers['refused']}"
    return f"{numbers['fresh']:12.3f}{numbers['next']:12.3f}{numbers['peak']:10.0f}"


def one(program: str, path: str) -> dict[str, object]:
    """Measure in this process."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    network = Network.load(path)
    rows = network.sample(40, seed=1)
    rng = np.random.default_rng(2)
    findings = []
    for row in range(40):
        chosen = rng.permutation(network.names)[:3].tolist()
        findings.append({n: int(rows.codes(n)[row]) for n in chosen})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        times = (ours if program == "bestdag" else theirs)(network, findings)
    except NotEnoughMemoryError as error:
        return {"refused": str(error)}
    except ImportError:
        return {"refused": "not installed"}
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return {"fresh": 1e3 * times[0], "next": 1e3 * times[1], "peak": peak}


def medians(fresh, ask, findings) -> tuple[float, float]:
    """Time making and asking anew, then asking what was made."""
    first, later = [], []
    end = time.perf_counter() + TIME_LIMIT / 4
    for known in findings[:9]:
        start = time.perf_counter()
        made = fresh()
        ask(made, known)
        first.append(time.perf_counter() - start)
        if time.perf_counter() > end:
            break
    for known in findings[9:]:
        start = time.perf_counter()
        ask(made, known)
        later.append(time.perf_counter() - start)
        if time.perf_counter() > end + TIME_LIMIT / 4:
            break
    return statistics.median(first), statistics.median(later)


def ours(network: Network, findings: list[dict[str, int]]) -> tuple[float, float]:
    """Ask a new network each time, so that nothing is kept."""
    states = {v.name: v.states for v in network.variables}

    def ask(net: Network, known: dict[str, int]) -> None:
        net.marginals({name: states[name][code] for name, code in known.items()})

    copies = iter([Network(network.tables) for _ in range(9)])
    return medians(lambda: next(copies), ask, findings)


def theirs(network: Network, findings: list[dict[str, int]]) -> tuple[float, float]:
    """Ask lazy propagation for all posteriors."""
    import pyagrum as gum

    with tempfile.TemporaryDirectory() as folder:
        network.save(Path(folder) / "net.bif")
        other = gum.loadBN(str(Path(folder) / "net.bif"))
    names = dict(zip(network.names, plain_names(network.names), strict=True))

    def ask(engine, known: dict[str, int]) -> None:
        engine.setEvidence({names[name]: code for name, code in known.items()})
        engine.makeInference()
        for name in names.values():
            engine.posterior(name)

    return medians(lambda: gum.LazyPropagation(other), ask, findings)


def batch(path: Path) -> None:
    """All marginals of the missing variables, in 10,000 rows."""
    if not path.exists():
        return
    network = Network.load(path)
    rows = network.sample(10_000, seed=1)
    rng = np.random.default_rng(3)
    table = {}
    holes = np.argsort(rng.random((rows.n_rows, len(network.names))), axis=1)[:, :5]
    is_missing = np.zeros((rows.n_rows, len(network.names)), dtype=bool)
    np.put_along_axis(is_missing, holes, True, axis=1)
    for i, variable in enumerate(network.variables):
        labels = np.array(variable.states, dtype=object)[rows.codes(variable.name)]
        labels[is_missing[:, i]] = None
        table[variable.name] = labels.tolist()
    from bestdag import read

    data = read(table, missing="keep", states={v.name: v.states for v in network.variables})
    tree = network.compile()
    for threads in (1, 2):
        times = []
        for _ in range(3):
            start = time.perf_counter()
            tree.posteriors(data, threads=threads)
            times.append(time.perf_counter() - start)
        print(f"alarm, 10,000 rows, 5 of 37 missing, {threads} threads: {min(times):.3f} s")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(*sys.argv[2:])))
    else:
        main()
