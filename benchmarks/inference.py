"""Exact inference: all marginals given three findings, beside pyAgrum where that is installed.

    python benchmarks/inference.py [FOLDER of .bif and .bif.gz files] [NAME ...]

For each network: compiled fresh with the first findings, the next findings, and peak memory, each
program in a process of its own with limits on time and memory; then the ratios, and the largest
difference between the two programs' answers to the first findings (pyAgrum reads numbers in 32
bits). Times are CPU times of the process, all threads together, medians of several runs: a busy
machine changes them little. Then a batch: rows of alarm with 5 of 37 cells missing.
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
from bestdag.network.bif import plain_names

NAMES = (
    *("asia", "alarm", "hailfinder", "insurance", "andes", "pathfinder", "pigs", "water"),
    *("mildew", "diabetes", "barley", "link", "munin1"),
)
TIME_LIMIT = 100.0
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
        with tempfile.TemporaryDirectory() as place:
            found = {}
            for program in ("bestdag", "pyagrum"):
                found[program] = in_a_process(program, path, Path(place) / program)
                print(f"{name:12}{program:10}{shown(found[program])}", flush=True)
            if all("fresh" in numbers for numbers in found.values()):
                compare(found["bestdag"], found["pyagrum"], Path(place))
    batch(folder / "alarm.bif")


def in_a_process(program: str, path: Path, answers: Path) -> dict[str, float]:
    """Measure one program on one network, and say what came of it."""
    call = [sys.executable, __file__, "--one", program, str(path), str(answers)]
    try:
        ended = subprocess.run(
            call, capture_output=True, text=True, timeout=TIME_LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return {"refused": f"more than {TIME_LIMIT:.0f} s"}
    if ended.returncode:
        said = (ended.stderr.strip().splitlines() or ["killed"])[-1][:100]
        return {"refused": f"failed: {said}"}
    return json.loads(ended.stdout)


def shown(numbers: dict[str, float]) -> str:
    """Write a line of the table."""
    if "refused" in numbers:
        return f"  {numbers['refused']}"
    return f"{numbers['fresh']:12.3f}{numbers['next']:12.3f}{numbers['peak']:10.0f}"


def compare(ours: dict[str, float], theirs: dict[str, float], place: Path) -> None:
    """Say by how much they differ."""
    ratios = "".join(f"{ours[what] / theirs[what]:12.3f}" for what in ("fresh", "next"))
    apart = np.abs(np.load(place / "bestdag.npy") - np.load(place / "pyagrum.npy")).max()
    print(f"{'':12}{'ratio':10}{ratios}{'':10}  answers differ by at most {apart:.1e}", flush=True)


def one(program: str, path: str, answers: str) -> dict[str, object]:
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
        *times, found = (ours if program == "bestdag" else theirs)(network, findings)
    except NotEnoughMemoryError as error:
        return {"refused": str(error)}
    except ImportError:
        return {"refused": "not installed"}
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    np.save(f"{answers}.npy", np.concatenate(found))
    return {"fresh": 1e3 * times[0], "next": 1e3 * times[1], "peak": peak}


def medians(prepare, make, ask, findings) -> tuple[float, float, list[np.ndarray]]:
    """Time making and asking anew, then asking what was made; the answers to the first findings."""
    first, later, answers = [], [], []
    end = time.perf_counter() + TIME_LIMIT / 4
    for known in findings[:9]:
        made = None  # the one before is given back first
        prepared = prepare()
        start = time.process_time()
        made = make(prepared)
        found = ask(made, known)
        first.append(time.process_time() - start)
        answers = answers or found
        if time.perf_counter() > end:
            break
    for known in findings[9:]:
        start = time.process_time()
        ask(made, known)
        later.append(time.process_time() - start)
        if time.perf_counter() > end + TIME_LIMIT / 4:
            break
    return statistics.median(first), statistics.median(later), answers


def ours(network: Network, findings: list[dict[str, int]]):
    """Ask a new network each time, so that nothing is kept."""
    states = {v.name: v.states for v in network.variables}

    def ask(net: Network, known: dict[str, int]) -> list[np.ndarray]:
        found = net.marginals({name: states[name][code] for name, code in known.items()})
        return [found[name].values for name in network.names]

    return medians(lambda: Network(network.tables), lambda copy: copy, ask, findings)


def theirs(network: Network, findings: list[dict[str, int]]):
    """Ask lazy propagation for all posteriors."""
    import pyagrum as gum

    other, names = as_theirs(network)

    def ask(engine, known: dict[str, int]) -> list[np.ndarray]:
        engine.setEvidence({names[name]: code for name, code in known.items()})
        engine.makeInference()
        return [engine.posterior(name).toarray() for name in names.values()]

    return medians(lambda: other, gum.LazyPropagation, ask, findings)


def as_theirs(network: Network):
    """Hand a network over as a file, and say what its variables are called there."""
    import pyagrum as gum

    with tempfile.TemporaryDirectory() as folder:
        network.save(Path(folder) / "net.bif")
        other = gum.loadBN(str(Path(folder) / "net.bif"))
    return other, dict(zip(network.names, plain_names(network.names), strict=True))


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
            start = time.perf_counter(), time.process_time()
            tree.posteriors(data, threads=threads)
            times.append((time.perf_counter() - start[0], time.process_time() - start[1]))
        wall, cpu = min(times)
        what = f"alarm, 10,000 rows, 5 of 37 missing, {threads} threads"
        print(f"{what}: {wall:.3f} s, CPU {cpu:.3f} s", flush=True)
    their_batch(network, rows, holes)


def their_batch(network: Network, rows, holes) -> None:
    """Answer the same rows, one after the other; a tenth of them."""
    try:
        import pyagrum as gum
    except ImportError:
        return
    other, names = as_theirs(network)
    listed = list(names.values())
    engine = gum.LazyPropagation(other)
    start = time.process_time()
    for row in range(rows.n_rows // 10):
        missing = {listed[i] for i in holes[row]}
        known = {n: int(rows.codes(mine)[row]) for mine, n in names.items() if n not in missing}
        engine.setEvidence(known)
        engine.makeInference()
        for name in missing:
            engine.posterior(name)
    print(f"pyagrum, 1,000 of these rows: CPU {time.process_time() - start:.3f} s", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(*sys.argv[2:])))
    else:
        main()
