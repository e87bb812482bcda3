"""The first road a new user walks, on every UCI table: learn, what is proposed, report, next steps.

    python benchmarks/first_road.py --data ../shared/data/uci [--out FILE.md]

For each table, as a person would at a shell without other options: `bestdag learn TABLE --report`;
where that is refused, the command that the refusal proposes, until one is accepted; then every
command under `next:`. Then in Python the same from pandas. The table that is printed says what was
refused, what worked, how large the structure is, how many families it has without support, and
whether the network beats the one without arcs on rows held out. A traceback anywhere ends with
exit code 1.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import bestdag as bd

_MOST_STEPS = 6  # refusals in a row
_SECONDS = 20  # for each search


def run(words, folder):
    """Run a command in a folder; give exit code, what was printed, what was said, seconds."""
    began = time.monotonic()
    command = [sys.executable, "-m", "bestdag", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout, done.stderr, time.monotonic() - began


def proposed(said):
    """Return the words of the command that a refusal proposes, or None."""
    for line in reversed(said.splitlines()):
        start = line.find("bestdag learn")
        if start >= 0:
            return shlex.split(line[start:])[1:]
    return None


def next_commands(printed):
    """Return the words of the commands under `next:`."""
    lines = printed.splitlines()
    if "next:" not in lines:
        return []
    block = lines[lines.index("next:") + 1 :]
    return [shlex.split(line)[1:] for line in block if line.startswith("  bestdag")]


def by_shell(path, folder):
    """Walk the road by the command line; give what there is to say, and the words accepted."""
    limit = ["--time-limit", str(_SECONDS)]
    words = ["learn", str(path), *limit]
    facts = {"table": path.name.partition(".")[0], "refused": 0}
    for _ in range(_MOST_STEPS):
        code, printed, said, seconds = run(words, folder)
        if "Traceback" in said:
            return {**facts, "problem": "traceback: " + shlex.join(words)}, None
        if code == 0:
            break
        facts["refused"] += 1
        other = proposed(said)
        if code != 2 or other is None:
            return {**facts, "problem": (said.splitlines() or ["?"])[-1][:120]}, None
        words = other if "--time-limit" in other else [*other, *limit]
    else:
        return {**facts, "problem": "refused again and again"}, None
    facts["proposed"] = shlex.join(w for w in words[2:] if w not in limit)
    facts["seconds"] = seconds
    facts["next"] = []
    for other in next_commands(printed):
        quick = [*other, "--replicates", "3"] if other[0] == "bootstrap" else other
        code, _, said, _ = run(quick, folder)
        facts["next"].append(code)
        if "Traceback" in said:
            return {**facts, "problem": "traceback: " + shlex.join(other)}, None
    code, printed, said, _ = run([*words, "--json", "--report", "r.html", "--force"], folder)
    if code != 0 or not Path(folder, "r.html").exists():
        return {**facts, "problem": "report: " + said[-100:]}, None
    found = json.loads(printed)
    parents = [child for _, child in found["arcs"]]
    facts["arcs"] = len(found["arcs"])
    facts["parents"] = max((parents.count(v) for v in set(parents)), default=0)
    facts["status"] = found["status"]
    facts["advice"] = [one["kind"] for one in found["advice"]]
    return facts, words


def by_python(path, words):
    """Learn from a pandas frame with what was proposed; parameters, support, held-out gain."""
    import pandas as pd

    def values(option):
        return [words[i + 1] for i, word in enumerate(words) if word == option]

    marks = values("--missing-value")
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    frame = frame.drop(columns=[name for one in values("--drop") for name in one.split(",")])
    missing = (values("--missing") or ["error"])[0]
    reading = {"missing": "drop" if missing == "drop" else "keep", "missing_values": ["", *marks]}
    if any(word.startswith("--max-states") for word in words):
        reading["max_states"] = 10**6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if any(word.startswith("--discretize") for word in words):
            data = bd.discretize(frame, method="quantile", **reading)
        else:
            data = bd.read(frame, **reading)
        how = "em" if missing == "em" and data.has_missing else "error"
        result = bd.learn(data, missing=how, time_limit=_SECONDS)
        network = result.fit()
        order = np.random.default_rng(1).permutation(data.n_rows)
        cut = data.n_rows * 3 // 4
        train, test = data.select(rows=order[:cut]), data.select(rows=order[cut:])
        part = bd.learn(train, missing=how, time_limit=_SECONDS)
        empty = bd.fit_network(bd.Dag(data.names), train, "em" if how == "em" else "fsnml")
        gain = empty.log_loss(test) - part.fit().log_loss(test)
    lacking = 0
    for v in result.dag.nodes:
        parents = result.dag.parents(v)
        if parents:
            codes = np.column_stack([data.codes(name) for name in (v, *parents)])
            lacking += len(np.unique(codes, axis=0)) > data.n_rows / 5
    return {
        "parameters": network.n_parameters,
        "rows": data.n_rows,
        "without support": lacking,
        "gain": gain,
        "python arcs": len(result.dag.arcs),
    }


def main():
    """Walk every table and print what happened."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="../shared/data/uci")
    parser.add_argument("--out")
    given = parser.parse_args()
    head = (
        "| table | rows | refused first | accepted with | arcs | most parents | parameters | "
        "families without support | held-out gain, nats a row | seconds | next steps | pandas |"
    )
    lines = [head, "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    n_bad = 0
    for path in sorted(Path(given.data).resolve().glob("*.csv*")):
        with tempfile.TemporaryDirectory() as folder:
            facts, words = by_shell(path, folder)
            if words is not None:
                try:
                    facts |= by_python(path, words)
                except Exception as error:
                    facts["problem"] = f"python: {type(error).__name__}: {error}"[:140]
        if "problem" in facts:
            n_bad += 1
            lines.append(f"| {facts['table']} | | {facts['refused']} | **{facts['problem']}** |")
        else:
            advice = f" ({', '.join(facts['advice'])})" if facts["advice"] else ""
            worked = f"{facts['next'].count(0)} of {len(facts['next'])}"
            proof = "proved" if facts["status"] == "optimum proved" else facts["status"]
            same = "same" if facts["python arcs"] == facts["arcs"] else facts["python arcs"]
            lines.append(
                f"| {facts['table']} | {facts['rows']:,} | {facts['refused']} | "
                f"`{facts['proposed'] or '-'}` | {facts['arcs']} {proof} | {facts['parents']} | "
                f"{facts['parameters']:,}{advice} | {facts['without support']} | "
                f"{facts['gain']:.2f} | {facts['seconds']:.1f} | {worked} | {same} |"
            )
            n_bad += facts["next"].count(0) < len(facts["next"]) or facts["without support"] > 0
        print(lines[-1], flush=True)
    if given.out:
        Path(given.out).write_text("\n".join(lines) + "\n")
    print(f"{n_bad} with problems")
    sys.exit(1 if n_bad else 0)


if __name__ == "__main__":
    main()
