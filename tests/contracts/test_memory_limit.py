"""What every consumer of memory promises: a stated limit is not passed.

Each runs in a process of its own, which tells by how much it has grown at most. Beside the limit
it may take what loading modules, threads and the allocator need, which no forecast sees.
"""

import json
import subprocess
import sys

import pytest

ALLOWANCE = 32e6
MB = 1_000_000

# On two processors, if there are more: threads are as many as these, and what each takes for itself
# is no part of a limit.
PRELUDE = """
import os
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
import functools, json, sys, time
import numpy as np
from bestdag import Dataset, Knowledge, Scorer, Variable, learn, read
from bestdag.machine import memory_limit
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.bnc.engine import solve_bnc
from bestdag.search.exact.dp.engine import forecast, solve_dp
import bestdag.search.auto, duckdb, highspy

learn = functools.partial(learn, support=0)  # with support lists are short

def data(n, n_rows=500):
    rng = np.random.default_rng(n)
    columns = []
    for i in range(n):
        noise = rng.integers(0, 3, n_rows)
        near = columns[i - 1] if i % 3 else noise
        columns.append(np.where(rng.random(n_rows) < 0.6, near, noise).astype(np.uint8))
    return Dataset([Variable(f"v{i:03d}", ("0", "1", "2")) for i in range(n)], columns)

def ring(n):  # no parent is in every set that can matter: nothing is known about the order
    names = [f"v{i:02d}" for i in range(n)]
    def sets(i):
        near = -1.0 - i / n
        return [(near, [names[i - 1]]), (near - 0.01, [names[i - 2]]), (-3.0, [])]
    return ScoreTable.from_lists(names, {v: sets(i) for i, v in enumerate(names)})

class InPython:
    name, is_score_equivalent = "in_python", False
    def family(self, counts):
        return float(np.sum(counts.table[:, 0])) - 0.1 * len(counts.table)
    def kernel(self):
        return None

def peak():  # of this program; getrusage also counts the process it was started from
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

def told(result):
    bound = result.bound_words() if hasattr(result, "bound_words") else ()
    return [str(result)[:200], *getattr(result, "notes", ()), *bound]

"""

CONSUMERS = {
    "list of sets": (60, "d = data(60)", "build_score_table(Scorer(d), anytime=True)"),
    "list of sets without pruning": (
        100,
        "d = data(40)",
        "build_score_table(Scorer(d), prune=False, max_parents=4, anytime=True)",
    ),
    "list of sets in Python": (
        60,
        "d = data(18, 50)",
        "build_score_table(Scorer(d, InPython()), anytime=True)",
    ),
    "dynamic programming": (150, "t = ring(24)", "solve_dp(t)"),
    "all parent sets": (150, "d = data(18, 200)", "learn(d, search='exact', time_limit=20)"),
    "branch and cut": (
        80,
        "t = build_score_table(Scorer(data(40), 'bdeu'), max_parents=2)",
        "solve_bnc(t, deadline=time.monotonic() + 2)",
    ),
    "bound": (100, "d = data(80)", "learn(d, search='hill_climb').bounded(3)"),
    "order": (100, "d = data(200)", "learn(d, search='order', time_limit=2.5)"),
    "auto": (100, "d = data(60)", "learn(d, time_limit=2.5)"),
    "scores remembered": (
        60,
        "d = data(300, 20)",
        "learn(d, InPython(), search='annealing', time_limit=2.5)",
    ),
}


def outcome_of(limit, prepare, work):
    """Growth at most, and what came of it, in a new process."""
    lines = [
        prepare,
        "before = peak()",
        "try:",
        f"    with memory_limit({limit * MB}) as limit:",
        f"        found = told({work})",
        "except MemoryError as error:",
        "    found = ['refused: ' + str(error)]",
        "print(json.dumps([peak() - before, found, limit.shortages]))",
    ]
    run = subprocess.run(
        [sys.executable, "-c", PRELUDE + "\n".join(lines)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return json.loads(run.stdout)


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="growth is measured on Linux")


@pytest.mark.parametrize("name", CONSUMERS)
def test_a_stated_limit_is_not_passed(name):
    limit, prepare, work = CONSUMERS[name]
    growth, found, _ = outcome_of(limit, prepare, work)
    assert growth <= limit * MB + ALLOWANCE
    assert not found[0].startswith("refused")  # these can all do with less


def test_lists_end_at_the_limit_and_say_so():
    _, found, shortages = outcome_of(30, "d = data(60)", CONSUMERS["list of sets"][2])
    assert "incomplete" in found[0]
    assert shortages["sets"].startswith("parent sets are listed up to")


def test_a_search_that_does_with_less_says_so_and_keeps_its_bound():
    _, found, _ = outcome_of(30, "d = data(30)", "learn(d, search='exact', max_parents=8)")
    assert any(note.startswith("bound on the best score") for note in found[1:])
    assert any("within the memory limit of 28.6 MiB: " in note for note in found[1:])


def test_dynamic_programming_takes_what_its_forecast_says():
    growth, (text,), _ = outcome_of(150, "t = ring(24)", "solve_dp(t).status")
    expected = 4 * 2**24
    assert text == "optimum proved"
    assert 0.9 * expected <= growth <= 1.1 * expected + ALLOWANCE


def test_what_cannot_do_with_less_is_refused_before_it_takes_memory():
    growth, (text,), _ = outcome_of(100, "t = ring(31)", "solve_dp(t)")
    assert text.startswith(
        "refused: dp: dynamic programming over the subsets of 31 variables needs"
    )
    assert "the memory limit of 95.4 MiB leaves" in text
    assert growth <= ALLOWANCE
