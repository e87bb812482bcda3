"""How fast networks are read and written in every format, beside BIF and beside pyAgrum.

python benchmarks/network_files.py NET.bif ...

CPU seconds, best of three, and the size of the file. The ratio is to our BIF. pyAgrum is timed
where it is installed; it keeps 32 bits of a number and writes six digits in most formats.
"""

from __future__ import annotations

import importlib
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
        sys.exit("usage: python benchmarks/network_files.py NET.bif ...")
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


def _best(work: Callable[[], Any]) -> tuple[float, Any]:
    times = []
    for _ in range(_REPEATS):
        start = time.process_time()
        made = work()
        times.append(time.process_time() - start)
    return min(times), made


if __name__ == "__main__":
    main()
