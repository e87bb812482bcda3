"""What the machine offers, and refusals when it is not enough."""

import os

import pytest

from bestdag import machine
from bestdag.errors import InvalidParameterError, NotEnoughMemoryError


def test_memory_is_the_smaller_of_what_machine_and_container_leave(monkeypatch):
    monkeypatch.setattr(machine, "address_space_left", lambda: None)
    for free, room, expected in [(5, 3, 3), (5, None, 5), (None, 7, 7), (None, None, None)]:
        monkeypatch.setattr(machine, "free_memory", lambda free=free: free)
        monkeypatch.setattr(machine, "room_in_control_group", lambda room=room: room)
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


def test_limited_addresses_are_all_there_is(monkeypatch):
    monkeypatch.setattr(machine, "free_memory", lambda: 5000)
    monkeypatch.setattr(machine, "room_in_control_group", lambda: None)
    monkeypatch.setattr(machine, "address_space_left", lambda: 1000)
    assert machine.available_memory() == 1000
    assert machine.memory_left() == 800


@pytest.fixture
def taken(monkeypatch):
    """What the process has, as the test says; much is free."""
    has = [1_000_000]
    monkeypatch.setattr(machine, "resident_memory", lambda: has[0])
    monkeypatch.setattr(machine, "available_memory", lambda: 10**12)
    return has


def test_a_limit_counts_from_what_the_process_has(taken):
    with machine.memory_limit(5000) as limit:
        assert machine.memory_left() == limit.left == 5000
        taken[0] += 2000
        assert machine.memory_left() == 3000
        taken[0] += 9000
        assert machine.memory_left() == 0
        taken[0] -= 20_000  # memory that was given back is no room beyond the limit
        assert machine.memory_left() == 5000
    assert machine.memory_left() == 0.8 * 10**12


def test_a_limit_within_another_does_not_raise_it(taken):
    with machine.memory_limit(5000):
        for inner in (9000, None):
            with machine.memory_limit(inner):
                assert machine.memory_left() == 5000
        with machine.memory_limit("1 kB"):
            assert machine.memory_left() == 1000
        assert machine.memory_left() == 5000


def test_without_a_stated_limit_four_fifths_of_what_was_free_are_the_limit(taken, monkeypatch):
    with machine.memory_limit(None):
        taken[0] += 7 * 10**11
        monkeypatch.setattr(machine, "available_memory", lambda: 3 * 10**11)
        assert machine.memory_left() == 10**11


def test_refusal_names_the_stated_limit(taken):
    message = r"^fit: a table needs 5\.0 KiB, the memory limit of 4\.0 KiB leaves 3\.0 KiB; x$"
    with machine.memory_limit("4 KiB"):
        taken[0] += 1024
        with pytest.raises(NotEnoughMemoryError, match=message):
            machine.require_memory("fit", "a table", 5120, "x")


def test_what_is_done_with_less_is_remembered(taken):
    with machine.memory_limit(5000) as limit:
        assert machine.has_memory("dp", "dynamic programming", 5000)
        assert not limit.shortages
        assert not machine.has_memory("dp", "dynamic programming", 6144)
    assert limit.shortages == {"dp": "dynamic programming needs 6.0 KiB"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2GB", 2e9),
        ("2 gb", 2e9),
        ("1.5MiB", 1.5 * 2**20),
        ("3000", 3000),
        ("30 B", 30),
        ("1k", 1000),
        (7, 7),
    ],
)
def test_sizes(text, expected):
    assert machine.size_in_bytes(text) == expected


def test_few_bytes_are_a_size_without_its_unit():
    with pytest.raises(InvalidParameterError, match=r"with its unit, such as 2GB or 2MB"):
        machine.size_in_bytes("2")


@pytest.mark.parametrize("size", ["", "GB", "2 XB", "-1 GB", "0 GB", "2 iB", 0, -5, float("nan")])
def test_sizes_that_are_none(size):
    with pytest.raises(InvalidParameterError, match=r"memory: memory_limit must be .* > 0"):
        machine.size_in_bytes(size)


def test_threads():
    assert machine.thread_count(None, who="x") >= 1
    assert machine.thread_count(2, who="x") == 2
    assert machine.thread_count(10**9, who="x") == 1024
    with pytest.raises(
        InvalidParameterError, match="x: threads must be a whole number >= 1, got 0"
    ):
        machine.thread_count(0, who="x")
