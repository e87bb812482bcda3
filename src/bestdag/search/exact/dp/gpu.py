"""The NVIDIA GPU of this machine, by way of CuPy: its memory, and the cells of a run on it.

A layer is computed in chunks of tasks that take some hundredths of a second. The next chunk is
started before one is done, and between them it is asked whether to stop.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module, resources
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.errors import BestdagError, MissingPackageError, NotEnoughMemoryError
from bestdag.machine import readable_size
from bestdag.search.exact.dp.plan import Forecast, plan_for
from bestdag.wording import arg

__all__ = ["DeviceError", "Gpu", "GpuCells", "by_size", "chunk_tasks", "find_gpu"]

# Of what is free; the rest is for the driver and what fragments.
_SHARE_OF_MEMORY = 0.95
# What the tasks at work take besides the cells.
WORK_BYTES = 2**30
_NANOSECONDS = 0.12  # per subset
_SECONDS_TO_START = 1.0  # for the kernels, once
_MOST_MIDDLE_BITS = 6

WITHIN = 10  # bits of a block, as in the kernels
_CELLS = 1 << WITHIN
_WARPS, _LANES = 8, 32
_SHARED_BYTES = (WITHIN + _WARPS + 1) * _CELLS * 4
_CELLS_AT_ONCE = 2**27  # about a hundredth of a second
_CHUNKS_AHEAD = 2
_NOWHERE = 0xFFFFFFFF


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
            raise NotEnoughMemoryError(
                f"gpu: dynamic programming over the subsets of {n} variables needs "
                f"{readable_size(needed.n_bytes)}, {readable_size(free)} are free on the "
                f"{self.name}; use {arg('engine', 'dp')} or {arg('engine', 'bnc')}"
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


class GpuCells:
    """An arena of cells in the memory of a GPU; `_core.best_by_engine` calls `fill` and `read`."""

    few_cells = 2**20  # up to here the processor is faster

    def __init__(self, gpu: Gpu, n_cells: int) -> None:
        self._gpu = gpu
        with device_errors():
            self._arena = gpu.cupy.empty(n_cells, np.uint32)

    def fill(self, run: dict[str, Any], watch: Callable[[float], bool]) -> bool:
        """Compute the layers of a run; False when `watch` said to stop."""
        with device_errors():
            return _Fill(self._gpu, self._arena, run).layers(watch)

    def read(self, cells: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint32]:
        """Return single cells."""
        with device_errors():
            cupy = self._gpu.cupy
            found: npt.NDArray[np.uint32] = cupy.asnumpy(
                self._arena[cupy.asarray(cells.astype(np.int64))]
            )
            return found


class _Fill:
    """One run: its tables on the device, and the launches."""

    def __init__(self, gpu: Gpu, arena: Any, run: dict[str, Any]) -> None:
        cupy, module = gpu.cupy, gpu.module
        self._cupy = cupy
        self._prepare = module.get_function("prepare")
        self._advance = module.get_function("advance")
        self._advance.max_dynamic_shared_size_bytes = _SHARED_BYTES
        self._arena = arena
        self._n, self._middle = run["n"], run["middle"]
        self._limit, self._room = np.uint32(run["limit"]), np.uint64(run["room"])
        self._layers = run["layers"]
        self._tops = cupy.asarray(run["tops"])
        n_tops = len(run["tops"])
        self._position = cupy.full(1 << run["n_top"], _NOWHERE, np.uint32)
        self._position[self._tops] = cupy.arange(n_tops, dtype=np.uint32)
        self._last = cupy.empty(n_tops, np.uint32)
        module.get_function("find_last")(
            ((n_tops + 255) // 256,),
            (256,),
            (self._tops, np.uint32(n_tops), self._position, self._last),
        )
        self._sets = cupy.asarray(
            np.stack([run[f"set_{part}"] for part in ("top", "middle", "low", "cost")], axis=1)
        )
        self._first = cupy.asarray(run["first"])
        waits = np.concatenate([[0], np.cumsum(run["set_middle"] != 0)])[run["first"]]
        self._room_first = cupy.asarray(waits.astype(np.int64))
        self._room_sets = int(waits[-1])
        self._chunk = chunk_tasks(self._n, self._middle, self._room_sets)
        self._chunk = min(self._chunk, int(np.diff(self._layers).max()))
        self._base = cupy.empty(self._chunk * self._n * _CELLS, np.uint32)
        self._waiting = cupy.empty((max(1, self._chunk * self._room_sets), 2), np.uint32)
        self._n_waiting = cupy.empty(self._chunk * self._n, np.uint32)
        order, begin = by_size(WITHIN)
        self._by_size, self._size_begin = cupy.asarray(order), cupy.asarray(begin)
        parts, part_begin = by_size(self._middle)
        self._parts = [cupy.asarray(parts[a:b].astype(np.uint32)) for a, b in pairwise(part_begin)]

    def layers(self, watch: Callable[[float], bool]) -> bool:
        """Compute all layers, a chunk of tasks at a time."""
        n_tasks = int(self._layers[-1])
        ahead: deque[Any] = deque()
        for begin, end in pairwise(self._layers.tolist()):
            for first in range(begin, end, self._chunk):
                self._tasks(first, min(end, first + self._chunk))
                event = self._cupy.cuda.Event(disable_timing=True)
                event.record()
                ahead.append((event, first))
                if len(ahead) > _CHUNKS_AHEAD:
                    oldest, done = ahead.popleft()
                    oldest.synchronize()
                    if watch(done / n_tasks):
                        self._cupy.cuda.get_current_stream().synchronize()
                        return False
        self._cupy.cuda.get_current_stream().synchronize()
        return True

    def _tasks(self, begin: int, end: int) -> None:
        """Compute tasks of one layer."""
        count = end - begin
        tops, last = self._tops[begin:end], self._last[begin:end]
        n, middle = np.uint32(self._n), np.uint32(self._middle)
        self._prepare(
            ((count * self._n + _WARPS - 1) // _WARPS,),
            (_WARPS * _LANES,),
            (
                *(tops, last, np.uint32(count), n, middle, self._limit),
                *(self._first, self._sets, self._room_first, np.uint32(self._room_sets)),
                *(self._base, self._waiting, self._n_waiting),
            ),
        )
        for parts in self._parts:
            self._advance(
                (count * len(parts),),
                (_WARPS * _LANES,),
                (
                    *(self._arena, self._room, np.uint64(begin), tops, last, self._position),
                    *(n, middle, self._limit, self._base, self._waiting, self._n_waiting),
                    *(self._room_first, np.uint32(self._room_sets)),
                    *(parts, np.uint32(len(parts)), self._by_size, self._size_begin),
                ),
                shared_mem=_SHARED_BYTES,
            )


def chunk_tasks(n: int, middle: int, n_waiting: int) -> int:
    """Tasks at once: some hundredths of a second, and what fits into the working memory.

    Examples
    --------
    >>> chunk_tasks(36, 6, 5000)
    2048
    """
    each = n * (_CELLS + 1) * 4 + n_waiting * 8
    return max(1, min(_CELLS_AT_ONCE >> (WITHIN + middle), WORK_BYTES // each))


def by_size(bits: int) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint32]]:
    """Return the subsets of some bits by their number of members, and where each number begins.

    Examples
    --------
    >>> order, begin = by_size(2)
    >>> order.tolist(), begin.tolist()
    ([0, 1, 2, 3], [0, 1, 3, 4])
    """
    subsets = np.arange(1 << bits, dtype=np.uint16)
    sizes = np.array([int(s).bit_count() for s in subsets])
    begin = np.searchsorted(np.sort(sizes), np.arange(bits + 2)).astype(np.uint32)
    return subsets[np.argsort(sizes, kind="stable")], begin
