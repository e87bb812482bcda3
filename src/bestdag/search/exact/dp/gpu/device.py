"""The NVIDIA GPU of this machine, by way of CuPy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module, resources
from typing import Any

from bestdag import _core
from bestdag.errors import BestdagError, MissingPackageError, NotEnoughMemoryError
from bestdag.machine import readable_size
from bestdag.search.exact.dp.plan import Forecast, plan_for

__all__ = ["DeviceError", "Gpu", "find_gpu"]

# Of what is free; the rest is for the driver and what fragments.
_SHARE_OF_MEMORY = 0.95
# What the tasks at work take besides the cells.
WORK_BYTES = 2**30
_NANOSECONDS = 0.12  # per subset
_SECONDS_TO_START = 1.0  # for the kernels, once
_MOST_MIDDLE_BITS = 6


class DeviceError(BestdagError, RuntimeError):
    """A GPU that is not there, or that stopped answering."""


@dataclass(frozen=True, slots=True, eq=False)
class Gpu:
    """A GPU that answers: CuPy, the kernels, and how much memory is free."""

    cupy: Any
    name: str
    module: Any

    @property
    def free_bytes(self) -> int:
        """Memory that can be taken now."""
        with device_errors():
            self.cupy.get_default_memory_pool().free_all_blocks()
            return int(self.cupy.cuda.runtime.memGetInfo()[0])

    def plan(self, n: int, n_sets: int) -> _core.SubsetPlan:
        """Return the fastest way within the memory that is free, or the smallest one."""
        room = _SHARE_OF_MEMORY * self.free_bytes - WORK_BYTES
        return plan_for(n, n_sets, 1, 4, room, most_middle=_MOST_MIDDLE_BITS)

    def forecast(self, n: int, n_sets: int) -> Forecast:
        """Say what a problem takes here."""
        plan = self.plan(n, n_sets)
        seconds = _SECONDS_TO_START + 1e-9 * _NANOSECONDS * plan.visited
        return Forecast(int(plan.n_bytes) + WORK_BYTES, seconds, plan.pairs, plan.within > 0)

    def has_room(self, needed: Forecast) -> bool:
        """Whether a forecast fits."""
        return needed.n_bytes <= _SHARE_OF_MEMORY * self.free_bytes

    def require_room(self, n: int, needed: Forecast) -> None:
        """Refuse what does not fit."""
        free = self.free_bytes
        if needed.n_bytes > _SHARE_OF_MEMORY * free:
            what = (
                f"gpu: dynamic programming over the subsets of {n} variables needs "
                f"{readable_size(needed.n_bytes)}, {readable_size(free)} are free on the "
                f"{self.name}"
            )
            raise NotEnoughMemoryError(f"{what}; use engine='dp' or engine='bnc'").with_option(
                f"{what}; use --engine dp or --engine bnc"
            )


@cache
def find_gpu() -> Gpu:
    """Return the GPU that CuPy uses by default.

    Raises
    ------
    MissingPackageError
        CuPy is not installed.
    DeviceError
        There is no driver or no device, or the kernels do not compile.
    """
    try:
        cupy = import_module("cupy")
    except ImportError as error:
        raise MissingPackageError(
            "gpu: this engine needs CuPy; install it with: pip install 'bestdag[gpu]'"
        ) from error
    with device_errors():
        n_devices = cupy.cuda.runtime.getDeviceCount()
        if n_devices == 0:
            raise DeviceError(f"gpu: CuPy finds no NVIDIA GPU on this machine; {_ELSE}")
        name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.runtime.getDevice())["name"]
        text = (resources.files(__package__) / "subset_cells.cu").read_text(encoding="utf-8")
        module = cupy.RawModule(code=text, options=("-std=c++17",))
        for kernel in ("find_last", "prepare", "advance"):
            module.get_function(kernel)
    return Gpu(cupy, name.decode(), module)


@contextmanager
def device_errors() -> Iterator[None]:
    """Turn what CUDA and CuPy raise into one line."""
    try:
        yield
    except (BestdagError, KeyboardInterrupt):
        raise
    except MemoryError as error:
        raise NotEnoughMemoryError(
            f"gpu: the GPU has too little free memory ({_first_line(error)}); {_ELSE}"
        ) from error
    except Exception as error:
        if not type(error).__module__.startswith("cupy"):
            raise
        raise DeviceError(
            f"gpu: the GPU does not answer ({_first_line(error)}); {_ELSE}"
        ) from error


_ELSE = "the engines 'dp' and 'bnc' need none"


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
