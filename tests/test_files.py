"""Whole files: complete or untouched, compressed by suffix, one-line errors."""

import gzip
import os
import stat
import subprocess
import sys

import pytest

from bestdag import machine
from bestdag.errors import FileError, FormatError, NotEnoughMemoryError, WriteError
from bestdag.files import read_file, temporary, through_link, write_file, writing
from tests.signals import GUARD


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("name", ["x.bif", "x.bif.gz", "x"])
@pytest.mark.parametrize("data", [b"", b"text\r\n\x00\xff", bytes(3_000_000)])
def test_what_is_written_is_read(tmp_path, name, data):
    write_file(tmp_path / name, data)
    assert read_file(tmp_path / name) == data
    assert names(tmp_path) == [name]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "x.bif"
    write_file(path, b"old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, step, fail)
            with pytest.raises(FileError, match=r"x\.bif: cannot be written: no space left"):
                write_file(path, b"new")
        assert path.read_bytes() == b"old"
        assert names(tmp_path) == ["x.bif"]


def test_an_interrupt_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "x.bif"
    write_file(path, b"old")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["x.bif"]


def test_what_a_killed_run_left_is_removed_and_nothing_else(tmp_path):
    abandoned = tmp_path / ".x.bif.0123456789ab.tmp"
    others = [".y.bif.0123456789ab.tmp", ".x.bif.mine.tmp", "x.bif.0123456789ab.tmp", ".x.bif.tmp"]
    for name in (abandoned.name, *others):
        (tmp_path / name).write_bytes(b"half")
    write_file(tmp_path / "x.bif", b"new")
    assert names(tmp_path) == sorted([*others, "x.bif"])


def test_what_another_run_is_writing_is_left_alone(tmp_path):
    path = tmp_path / "x.bif"
    with writing(path) as first:
        first.write(b"first")
        write_file(path, b"second")
        assert len(names(tmp_path)) == 2
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first"
    assert names(tmp_path) == ["x.bif"]


def test_interrupts_while_a_file_is_removed_do_not_keep_it(tmp_path, monkeypatch):
    path = tmp_path / "x"
    whole, left = os.unlink, [KeyboardInterrupt, KeyboardInterrupt]

    def unlink(path):
        if left:
            raise left.pop()
        whole(path)

    monkeypatch.setattr(os, "unlink", unlink)
    with pytest.raises(KeyboardInterrupt), temporary(str(path)):
        path.write_bytes(b"1")
    assert names(tmp_path) == []


def test_what_is_still_there_at_the_end_of_the_process_is_removed(tmp_path):
    # An interrupt may come before the first line of any clause that would remove it.
    code = """
import sys
from bestdag import files
context = files.temporary(sys.argv[1])
context.__enter__()
open(sys.argv[1], "w").close()
"""
    command = [sys.executable, "-c", code, str(tmp_path / "x")]
    assert subprocess.run(command, check=False, timeout=GUARD).returncode == 0
    assert names(tmp_path) == []


def test_permissions_are_those_of_any_new_file_or_of_the_old_one(tmp_path):
    write_file(tmp_path / "new", b"1")
    (tmp_path / "plain").write_bytes(b"1")  # what the system gives to new files
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode
    (tmp_path / "new").chmod(0o640)
    write_file(tmp_path / "new", b"2")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_is_written_through_only_where_it_is_named(tmp_path, is_there):
    link, real = tmp_path / "link", tmp_path / "real"
    if is_there:
        real.write_bytes(b"old")
    link.symlink_to("real")
    with pytest.raises(WriteError) as caught:
        write_file(link, b"new")
    assert str(caught.value) == (
        f"{link}: is a symbolic link to {real}; to replace that file, give its own name"
    )
    assert names(tmp_path) == (["link", "real"] if is_there else ["link"])
    assert not is_there or real.read_bytes() == b"old"
    with through_link(link):
        write_file(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    with pytest.raises(WriteError):
        write_file(link, b"again")


def test_folders_on_the_way_may_be_links(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "short").symlink_to("folder")
    write_file(tmp_path / "short" / "x", b"1")
    assert names(tmp_path / "folder") == ["x"]


def test_a_link_that_comes_meanwhile_is_replaced_itself(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    with writing(tmp_path / "x") as file:
        file.write(b"new")
        (tmp_path / "x").symlink_to("real")
    assert (tmp_path / "real").read_bytes() == b"old"
    assert (tmp_path / "x").read_bytes() == b"new"
    assert not (tmp_path / "x").is_symlink()


def test_devices_are_written_to_directly():
    write_file(os.devnull, b"anything")
    assert not os.path.isfile(os.devnull)


def test_long_names_work(tmp_path):
    name = "n" * 250 + ".bif"
    write_file(tmp_path / name, b"1")
    assert names(tmp_path) == [name]


def test_files_that_cannot_be_used(tmp_path):
    with pytest.raises(FileError, match=r"gone: cannot be read: no such file or directory$"):
        read_file(tmp_path / "gone")
    with pytest.raises(FileError, match=r"cannot be read: is a directory$"):
        read_file(tmp_path)
    with pytest.raises(FileError, match=r"cannot be written: is a directory$"):
        write_file(tmp_path, b"")
    with pytest.raises(FileError, match=r"cannot be written: no such file or directory$"):
        write_file(tmp_path / "gone" / "x", b"")
    with pytest.raises(FileError, match=r"^'a\\x00b': cannot be read: embedded null byte$"):
        read_file("a\0b")
    assert names(tmp_path) == []


def test_every_truncation_of_a_compressed_file_is_an_error(tmp_path):
    path = tmp_path / "x.gz"
    packed = gzip.compress(b"network n { }" * 9, mtime=0)
    for size in range(1, len(packed)):
        path.write_bytes(packed[:size])
        with pytest.raises(FormatError, match=r"x\.gz: damaged gzip file: ") as caught:
            read_file(path)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "data", [b"network n { }", gzip.compress(b"abc" * 99, mtime=0)[:-8] + bytes(8)]
)
def test_damaged_compressed_files_are_errors(tmp_path, data):
    path = tmp_path / "x.gz"
    path.write_bytes(data)
    with pytest.raises(FormatError, match=r"x\.gz: damaged gzip file: "):
        read_file(path)


def test_a_file_that_expands_beyond_memory_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(bytes(100 << 20), compresslevel=1))
    monkeypatch.setattr(machine, "available_memory", lambda: 200 << 20)
    with pytest.raises(NotEnoughMemoryError, match=r"reading it needs 256\.0 MiB, 200\.0 MiB are"):
        read_file(path)
