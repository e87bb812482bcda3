"""Engine gpu: what it is asked, in which order; on a GPU, where there is one, the same answers."""

import numpy as np
import pytest

from bestdag import _core
from bestdag.errors import BestdagError, MissingPackageError
from bestdag.search.exact import solver
from bestdag.search.exact.dp import component, plan
from bestdag.search.exact.dp import gpu as device
from bestdag.search.exact.dp.engine import solve_dp
from bestdag.search.exact.dp.plan import Forecast, plan_for
from tests.search.exact.tables import random_table
from tests.search.exact.test_dp import close_table


def gpu_or_reason():
    try:
        return device.find_gpu(), ""
    except BestdagError as error:
        return None, str(error)


GPU, WHY_NOT = gpu_or_reason()
needs_gpu = pytest.mark.skipif(GPU is None, reason=f"no GPU here: {WHY_NOT}")


class PlainCells:
    """What the kernels do, as plain loops over the blocks of an arena."""

    few_cells = 0

    def __init__(self, n_cells):
        self.arena = np.full(n_cells, 0xDEADBEEF, np.uint32)  # whoever reads this is seen
        self.fills = 0

    def read(self, wanted):
        return self.arena[wanted.astype(np.int64)]

    def fill(self, run, watch):
        self.fills += 1
        task_bits = run["within"] + run["middle"]
        position = {int(top): i for i, top in enumerate(run["tops"])}
        order, _ = device.by_size(task_bits) if task_bits <= 16 else (None, None)
        for i, top in enumerate(run["tops"].tolist()):
            if watch(i / len(run["tops"])):
                return False
            own = self.arena[i % run["room"] << task_bits :][: 1 << task_bits]
            best = [self._best(run, v, top) for v in range(run["n"])]
            own[:] = run["limit"]
            for v in range(run["n_top"]):
                before = position.get(top ^ 1 << v)
                if top >> v & 1 and before is not None:
                    values = self.arena[before % run["room"] << task_bits :][: 1 << task_bits]
                    np.minimum(own, values + best[task_bits + v], out=own)
            if top == 0:
                own[0] = 0
            for subset in order.tolist():
                for v in range(task_bits):
                    if subset >> v & 1:
                        rest = subset ^ 1 << v
                        own[subset] = min(int(own[subset]), int(own[rest]) + int(best[v][rest]))
        return True

    def _best(self, run, v, top):
        """Least cost of a candidate set inside each subset of the task."""
        task_bits = run["within"] + run["middle"]
        best = np.full(1 << task_bits, run["limit"], np.uint32)
        for k in range(run["first"][v], run["first"][v + 1]):
            if run["set_top"][k] & ~np.uint32(top) == 0:
                at = run["set_middle"][k] << run["within"] | run["set_low"][k]
                best[at] = min(best[at], run["set_cost"][k])
        for bit in range(task_bits):
            halves = best.reshape(-1, 2, 1 << bit)
            np.minimum(halves[:, 1], halves[:, 0], out=halves[:, 1])
        return best


class FakeGpu:
    """A device of plain loops, with little memory."""

    name = "plain loops"

    def __init__(self, middle=0, pairs=0, tasks=None):
        self._middle, self._pairs, self._tasks = middle, pairs, tasks

    def forecast(self, n, n_sets):
        return Forecast(2**20, 1.0, self._pairs, True)

    def has_room(self, needed):
        return True

    def require_room(self, n, needed):
        pass

    def plan(self, n, n_sets):
        if self._tasks is None:
            return plan_for(n, n_sets, 1, 4, 1e18, most_middle=2)
        size = 2.0 ** (10 + self._middle)
        return _core.SubsetPlan(10, self._middle, self._pairs, self._tasks * size)


@pytest.fixture
def plain_cells(monkeypatch):
    monkeypatch.setattr(plan, "_MAX_VARIABLES_DOUBLE", 0)
    monkeypatch.setattr(component, "GpuCells", lambda gpu, n: PlainCells(n))


# 13 variables, ten of them within blocks: three on top, in layers of 1, 3, 3 and 1 blocks; with one
# ordered pair of 1, 2, 2 and 1.
@pytest.mark.parametrize(
    "gpu", [FakeGpu(), FakeGpu(0, 0, 6), FakeGpu(1, 0, 3), FakeGpu(0, 1, 4)], ids=range(4)
)
def test_an_engine_of_plain_loops_gives_the_answer_of_the_processor(plain_cells, gpu):
    table = random_table(13, 25, 2)
    here, there = solve_dp(table), solve_dp(table, gpu=gpu)
    assert there.engines == ("gpu",)
    assert (there.chosen, there.resolution) == (here.chosen, here.resolution)


def test_near_ties_are_decided_there_too(plain_cells):
    table = close_table(1)
    here, there = solve_dp(table), solve_dp(table, gpu=FakeGpu())
    assert (there.chosen, there.proofs[0].components[0].is_fine) == (here.chosen, True)


def test_ctrl_c_and_time_limits_are_answered_between_chunks(plain_cells):
    table = random_table(13, 25, 2)

    def press(share):
        if share > 0.3:
            raise KeyboardInterrupt

    result = solve_dp(table, gpu=FakeGpu(), progress=press)
    assert (result.status, result.is_proved) == ("interrupted", False)
    late = solve_dp(table, gpu=FakeGpu(), deadline=0.0)
    assert (late.status, late.is_proved) == ("time limit", False)


def test_without_cupy_it_is_said_what_to_install(monkeypatch):
    device.find_gpu.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "cupy", None)
    with pytest.raises(MissingPackageError, match=r"needs CuPy; .*bestdag\[gpu\]"):
        solver.Solver("gpu", 1, None).solve(random_table(5, 8, 0))
    device.find_gpu.cache_clear()


def test_errors_of_the_device_are_one_line():
    class CUDARuntimeError(RuntimeError):
        __module__ = "cupy_backends.cuda.api.runtime"

    lost = r"^gpu: the GPU does not answer \(cudaErrorNoDevice: no device\); the engines .* none$"
    with pytest.raises(device.DeviceError, match=lost), device.device_errors():
        raise CUDARuntimeError("cudaErrorNoDevice: no device\nmore")
    short = r"^gpu: the GPU has too little free memory \(Out of memory"
    with pytest.raises(MemoryError, match=short), device.device_errors():
        raise MemoryError("Out of memory allocating 8 bytes")
    with pytest.raises(KeyError), device.device_errors():
        raise KeyError("ours")


@pytest.fixture
def auto_sees_a_gpu(plain_cells, monkeypatch):
    """So that small tables are worth it, and `bnc` gives up at once."""
    monkeypatch.setattr(solver, "_SURELY_DP", 0)
    monkeypatch.setattr(solver, "_PERHAPS_DP", 0)
    monkeypatch.setattr(solver, "_WORTH_A_GPU", 0.0)
    monkeypatch.setattr(solver, "find_spec", lambda _: True)
    monkeypatch.setattr(solver, "forecast", lambda *_, **__: Forecast(1, 60.0))
    monkeypatch.setattr(solver, "find_gpu", FakeGpu)
    given_up = solve_dp(random_table(13, 25, 2), deadline=0.0)
    monkeypatch.setattr(solver._Component, "_bnc", lambda *_, **__: _steps_to(given_up))


def _steps_to(solution):
    yield from ()
    return solution


def test_auto_takes_the_gpu_where_it_pays_and_notes_it(auto_sees_a_gpu):
    found = solver.Solver("auto", 1, None).solve(random_table(13, 25, 2))
    assert (found.engines, found.is_proved) == (("gpu",), True)
    assert found.notes == ("exact: dynamic programming ran on the GPU, plain loops",)


def test_auto_goes_on_without_a_gpu_that_fails(auto_sees_a_gpu, monkeypatch):
    class Broken(FakeGpu):
        def require_room(self, n, needed):
            raise device.DeviceError("gpu: the GPU does not answer (gone)")

    monkeypatch.setattr(solver, "find_gpu", Broken)
    found = solver.Solver("auto", 1, None).solve(random_table(13, 25, 2))
    assert (found.engines, found.is_proved) == (("dp",), True)
    assert found.notes == (
        "exact: the GPU was tried and left (gpu: the GPU does not answer (gone))",
    )


@needs_gpu
@pytest.mark.parametrize("n", [12, 17, 22])
@pytest.mark.parametrize("n_sets", [10, 400])
def test_the_gpu_gives_the_answer_of_the_processor(monkeypatch, n, n_sets):
    monkeypatch.setattr(plan, "_MAX_VARIABLES_DOUBLE", 0)
    monkeypatch.setattr(device.GpuCells, "few_cells", 0)
    table = random_table(n, n_sets, n)
    here, there = solve_dp(table), solve_dp(table, gpu=GPU)
    assert (there.chosen, there.resolution) == (here.chosen, here.resolution)


@needs_gpu
def test_the_gpu_decides_near_ties(monkeypatch):
    monkeypatch.setattr(plan, "_MAX_VARIABLES_DOUBLE", 0)
    monkeypatch.setattr(device.GpuCells, "few_cells", 0)
    table = close_table(1)
    assert solve_dp(table, gpu=GPU).chosen == solve_dp(table).chosen
