"""What the machine offers, and refusals when it is not enough."""

import os

import pytest

from bestdag import machine
from bestdag.errors import InvalidParameterError, NotEnoughMemoryError


def test_memory_is_the_smaller_of_what_machine_and_container_leave(monkeypatch):
    for free, room, expected in [(5, 3, 3), (5, None, 5), (None, 7, 7), (None, None, None)]:
        monkeypatch.setattr(machine, "_free_memory", lambda free=free: free)
        monkeypatch.setattr(machine, "_room_in_control_group", lambda room=room: room)
        assert machine.available_memory() == expected


@pytest.mark.skipif(not os.path.exists("/proc/meminfo"), reason="Linux tells")
def test_memory_of_this_machine_is_believable():
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 0 < machine.available_memory() <= total


def test_forecast_beyond_what_is_free(monkeypatch):
    monkeypatch.setattr(machine, "available_memory", lambda: 3 << 30)
    machine.require_memory("sample", "5 rows", int(0.8 * (3 << 30)), "lower n")
    with pytest.raises(
        NotEnoughMemoryError,
        match=r"^sample: 5 rows needs 4\.0 GiB, 3\.0 GiB are available; lower n$",
    ):
        machine.require_memory("sample", "5 rows", 4 << 30, "lower n")
    monkeypatch.setattr(machine, "available_memory", lambda: None)  # nobody says: go ahead
    machine.require_memory("sample", "5 rows", 4 << 60, "lower n")


def test_threads():
    assert machine.thread_count(None, who="x") >= 1
    assert machine.thread_count(2, who="x") == 2
    assert machine.thread_count(10**9, who="x") == 1024
    with pytest.raises(
        InvalidParameterError, match="x: threads must be a whole number >= 1, got 0"
    ):
        machine.thread_count(0, who="x")
