"""How fast networks are read and written in every format, beside BIF and beside pyAgrum.

    python benchmarks/network_files.py NET.bif ...
    python benchmarks/network_files.py --tiny [N]

CPU seconds, best of three, and the size of the file. The ratio is to our BIF. pyAgrum is timed
where it is installed; it keeps 32 bits of a number and writes six digits in most formats.

With --tiny, the worst that a file can do to memory: N variables (60,000) of one state, in the least
text that each format allows. Printed are the size of the file, what reading it adds to the memory
of a process at most, how often the file that is, and bytes for each variable.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bestdag import Network
from bestdag.network.formats import FORMATS

_REPEATS = 3
_PYAGRUM = {".bif": ".bif", ".xmlbif": ".bifxml", ".net": ".net", ".xdsl": ".xdsl", ".uai": ".uai"}


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit("usage: python benchmarks/network_files.py NET.bif ... | --tiny [N]")
    if sys.argv[1] == "--tiny":
        tiny(int(sys.argv[2]) if len(sys.argv) > 2 else 60_000)
        return
    if sys.argv[1] == "--memory":
        memory(sys.argv[2], sys.argv[3])
        return
    try:
        pyagrum = importlib.import_module("pyagrum")
    except ImportError:
        pyagrum = None
    for path in sys.argv[1:]:
        _time_network(Network.load(path), Path(path).name, pyagrum)


def _time_network(network: Network, name: str, pyagrum: Any) -> None:
    n_numbers = sum(table.nbytes // 8 for table in network.tables)
    print(f"{name}: {len(network.names):,} variables, {n_numbers:,} numbers")
    print("  format      write   ratio    read   ratio      size   pyAgrum write    read")
    base: tuple[float, float] | None = None
    model = _in_pyagrum(network, pyagrum)
    for suffix, module in FORMATS.items():
        form = importlib.import_module(module)
        writing, data = _best(lambda form=form: form.render(network))
        reading, back = _best(lambda form=form, data=data: form.parse(data, name))
        assert back == network
        base = base or (writing, reading)
        line = (
            f"  {suffix:8}{writing:9.3f}{writing / base[0]:8.2f}{reading:8.3f}"
            f"{reading / base[1]:8.2f}{len(data) / 1e6:7.1f} MB"
        )
        print(line + _peer(model, suffix, pyagrum))


def _in_pyagrum(network: Network, pyagrum: Any) -> Any:
    if pyagrum is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        network.save(f"{folder}/net.bif")
        try:
            return pyagrum.loadBN(f"{folder}/net.bif")
        except Exception as error:
            print(f"  pyAgrum: {str(error).splitlines()[0]:.60}")
            return None


def _peer(model: Any, suffix: str, pyagrum: Any) -> str:
    if model is None or suffix not in _PYAGRUM:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/net{_PYAGRUM[suffix]}"
        try:
            writing, _ = _best(lambda: pyagrum.saveBN(model, path))
            reading, _ = _best(lambda: pyagrum.loadBN(path))
        except Exception as error:
            return f"   {str(error).splitlines()[0]:.40}"
    return f"{writing:16.3f}{reading:8.3f}"


# For each format: what stands before, for each variable (twice in some formats), and behind.
_TINY = {
    ".uai": ("BAYES {n}\n", "1 ", "{n}\n", "1 {i}\n", "", "1 1\n", ""),
    ".bif": (
        "network n{{}}",
        "variable v{i}{{type discrete[1]{{s}};}}",
        "",
        "probability(v{i}){{table 1;}}",
        "",
    ),
    ".xmlbif": (
        '<BIF VERSION="0.3"><NETWORK><NAME>n</NAME>',
        "<VARIABLE><NAME>v{i}</NAME><OUTCOME>s</OUTCOME></VARIABLE>",
        "",
        "<DEFINITION><FOR>v{i}</FOR><TABLE>1</TABLE></DEFINITION>",
        "</NETWORK></BIF>",
    ),
    ".net": ("net{{}}", 'node v{i}{{states=("s");}}', "", "potential(v{i}){{data=(1);}}", ""),
    ".dsc": (
        'belief network "n"',
        'node v{i}{{type:discrete[1]={{"s"}};}}',
        "",
        "probability(v{i}){{1;}}",
        "",
    ),
    ".xdsl": (
        '<smile version="1.0" id="n"><nodes>',
        '<cpt id="v{i}"><state id="s"/><probabilities>1</probabilities></cpt>',
        "</nodes></smile>",
    ),
    ".json": (
        '{{"format":"bestdag network","version":1,"name":"n","properties":[],"variables":[',
        '{{"name":"v{i}","states":["s"],"parents":[],"table":[[1]]}},',
        '{{"name":"last","states":["s"],"parents":[],"table":[[1]]}}]}}',
    ),
}


def tiny(n: int) -> None:
    """Read files of many variables that say next to nothing of each."""
    print("  format       size        memory    times   bytes for a variable")
    with tempfile.TemporaryDirectory() as folder:
        for suffix, parts in _TINY.items():
            few, path = Path(folder) / f"few{suffix}", Path(folder) / f"net{suffix}"
            for file, count in ((few, 3), (path, n)):
                texts = (
                    "".join(part.format(i=i, n=count) for i in range(count))
                    if place % 2
                    else part.format(n=count)
                    for place, part in enumerate(parts)
                )
                file.write_text("".join(texts))
            call = [sys.executable, __file__, "--memory", str(few), str(path)]
            added = int(subprocess.run(call, check=True, capture_output=True, text=True).stdout)
            size = path.stat().st_size
            print(
                f"  {suffix:8}{size / 1e6:7.1f} MB{added / 1e6:11.0f} MB{added / size:9.1f}"
                f"{added / n:12,.0f}",
                flush=True,
            )


def memory(few: str, path: str) -> None:
    """Print the bytes that reading a file adds at most; a small one first loads the modules."""
    Network.load(few)
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = _status("VmRSS")
    Network.load(path)
    print(_status("VmHWM") - before)


def _status(key: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(key)).split()[1])


def _best(work: Callable[[], Any]) -> tuple[float, Any]:
    times = []
    for _ in range(_REPEATS):
        start = time.process_time()
        made = work()
        times.append(time.process_time() - start)
    return min(times), made


if __name__ == "__main__":
    main()
