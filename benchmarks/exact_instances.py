"""From score file to proof, by branch and cut: every instance of the list of shared score files.

    python benchmarks/exact_instances.py [--limit SECONDS] [--verify] [NAME ...]

Prints, per instance: wall and processor seconds from the file to the proof, nodes, cuts made, the
gap after the root and at the end (nats), and the time we want to reach. BESTDAG_DATA names the
folder with `scores/index.toml`.
"""

from __future__ import annotations

import argparse
import os
import time
import tomllib
from pathlib import Path

from bestdag.scores.table import ScoreTable
from bestdag.search.exact.bnc.certificate import verify
from bestdag.search.exact.bnc.engine import BranchAndCut
from bestdag.search.exact.components import decompose

FOLDER = Path(os.environ.get("BESTDAG_DATA", Path(__file__).parents[2] / "shared" / "data"))

# Seconds to reach, on two cores.
REACH = {
    "alarm1000.BIC": 0.5,
    "alarm1000.BDeu.k3": 1.0,
    "insurance1000.BDeu.k3": 0.3,
    "mildew1000.BDeu.k3": 0.3,
    "water1000.BIC.k6": 0.3,
    "hailfinder100.BDeu.k3": 0.3,
    "carpo100.BIC": 0.3,
    "wine.BIC": 0.3,
    "carpo500.BDeu.k3": 5.0,
    "bands.BIC.k5": 1.5,
    "flag.BIC.k8": 1.5,
    "autos.BIC.k7": 1.5,
    "slim_alarm-5000": 3.0,
    "slim_hailfinder-5000": 5.0,
    "soybean.BIC.k6": 10.0,
    "wdbc.BIC.k5": 20.0,
    "gobalarm_10000.BDeu.k3": 60.0,
    "slim_pathfinder-5000": 4.0,
    "slim_diabetes-5000": 30.0,
    "slim_munin1-5000": 120.0,
}

_SUMS = "score", "nodes", "gap"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(REACH))
    parser.add_argument("--limit", type=float, default=120.0)
    parser.add_argument("--verify", action="store_true", help="check each certificate too")
    arguments = parser.parse_args()
    listed = tomllib.loads((FOLDER / "scores" / "index.toml").read_text())["instance"]
    entries = {entry["name"]: entry for entry in listed}
    print(
        f"{'instance':24}{'wall s':>8}{'cpu s':>8}{'reach':>7}{'nodes':>7}{'cuts':>7}"
        f"{'root gap':>10}{'gap':>9}  status, difference from the known optimum"
    )
    for name in arguments.names:
        print(_line(entries[name], arguments.limit, arguments.verify), flush=True)


def _line(entry: dict[str, object], limit: float, check: bool) -> str:
    wall, cpu = time.monotonic(), time.process_time()
    table = ScoreTable.load(FOLDER / "scores" / str(entry["file"]))
    parts = [part.table for part in decompose(table)]
    engines = [BranchAndCut(part, deadline=wall + limit) for part in parts]
    results = [engine.run() for engine in engines]
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    known = float(str(entry.get("optimum", entry.get("best_known"))))
    score, nodes, gap = (sum(getattr(r, name) for r in results) for name in _SUMS)
    cuts, root_gap = (sum(getattr(e, name) for e in engines) for name in ("n_cuts", "root_gap"))
    status = max((r.status for r in results), key=lambda s: s != "optimum proved")
    pairs = zip(parts, results, strict=True)
    verified = ", verified" if check and all(verify(p, r.proofs[0]) for p, r in pairs) else ""
    reach = REACH.get(str(entry["name"]), float("nan"))
    return (
        f"{entry['name']:24}{wall:8.2f}{cpu:8.2f}{reach:7.1f}{nodes:7}{cuts:7}"
        f"{root_gap:10.4f}{gap:9.4f}  {status}, {score - known:+.1e}{verified}"
    )


if __name__ == "__main__":
    main()
