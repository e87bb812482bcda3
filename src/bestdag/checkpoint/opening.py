"""Opening a checkpoint: whether to begin or to go on, and with the same work."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from bestdag.checkpoint.checkpoint import Checkpoint
from bestdag.checkpoint.format import FORMAT, read_state
from bestdag.checkpoint.lock import Lock
from bestdag.errors import (
    FileError,
    FormatError,
    InvalidParameterError,
    require_flag,
    require_not_negative,
)
from bestdag.files import shown_path

__all__ = ["open_checkpoint", "refuse_without_file", "require_same", "require_word"]

_EVERY = 30.0  # seconds


def open_checkpoint(
    who: str,
    path: str | os.PathLike[str] | None,
    about: Mapping[str, str],
    *,
    every: float | None = None,
    resume: bool = False,
    force: bool = False,
) -> Checkpoint:
    """Open the file of a run, to begin or to go on.

    Parameters
    ----------
    who : str
        For messages.
    path : path or None
        None keeps nothing.
    about : mapping of str to str
        What must be the same for a run to go on: each by its name.
    every : float, optional
        Seconds between two writes; 30 unless given.
    resume : bool
        Go on from a file that is there; begin where there is none.
    force : bool
        Begin anew although there is a file.

    Raises
    ------
    FileError
        A file that is there, with neither `resume` nor `force`; or that another process writes.
    FormatError
        A file of another run; the message names what differs.
    """
    require_flag(who, "resume", resume)
    require_flag(who, "force", force)
    if path is None:
        refuse_without_file(who, resume=resume, force=force, every=every)
        return Checkpoint()
    every = _EVERY if every is None else require_not_negative(who, "checkpoint_every", every)
    lock = Lock(path)
    try:
        if not lock.is_held:
            return _of_finished_run(who, path, about, resume=resume)
        require_word(who, path, not lock.is_new, resume=resume, force=force)
        if lock.is_new or force:
            made = Checkpoint(path, about, every, lock=lock)
            made.write()  # what cannot be written is said now
            return made
        saved = _saved(path, about)
        if "answer" in saved:  # others may read it, too
            lock.close()
        return Checkpoint(path, about, every, saved, lock)
    except BaseException:
        lock.close()
        raise


def _saved(path: str | os.PathLike[str], about: Mapping[str, str]) -> dict[str, Any]:
    """Read the file of a run that is the same."""
    saved = read_state(path)
    require_same(path, {"format": FORMAT, **about}, {"format": saved["format"], **saved["about"]})
    return saved


def _of_finished_run(
    who: str, path: str | os.PathLike[str], about: Mapping[str, str], *, resume: bool
) -> Checkpoint:
    """Return the answer that a file has although it is in use; refuse one that is written."""
    found: dict[str, Any] = {}
    with suppress(FileError, FormatError):  # one that is empty yet
        found = read_state(path)
    if resume and "answer" in found:
        return Checkpoint(path, about, saved=_saved(path, about))
    writer = "another process"
    if "writer" in found:
        number, machine = found["writer"]
        place = "" if machine == platform.node() else f" on {machine}"
        writer += f" (number {number}{place})"
    what = f"{who}: {shown_path(path)} is being written by {writer}; wait until it has ended, or"
    raise FileError(f"{what} name another file in checkpoint").with_option(
        f"{what} name another file with --checkpoint"
    )


def refuse_without_file(who: str, *, resume: bool, force: bool, every: float | None) -> None:
    """Refuse settings of a checkpoint where there is none."""
    given = {"resume": resume, "force": force, "checkpoint_every": every is not None}
    for name, is_given in given.items():
        if is_given:
            option = name.replace("_", "-")
            raise InvalidParameterError(
                f"{who}: {name} needs a checkpoint; name its file with checkpoint"
            ).with_option(f"{who}: --{option} needs a checkpoint; name its file with --checkpoint")


def require_word(
    who: str, path: str | os.PathLike[str], is_there: bool, *, resume: bool, force: bool
) -> None:
    """Refuse a file that is there, unless it is said what becomes of it."""
    if resume and force:
        raise InvalidParameterError(
            f"{who}: resume continues and force starts over; choose one"
        ).with_option(f"{who}: --resume continues and --force starts over; choose one")
    if is_there and not (resume or force):
        what = f"{who}: {shown_path(path)} exists already"
        raise FileError(
            f"{what}; pass resume=True to continue, or force=True to start over"
        ).with_option(f"{what}; pass --resume to continue, or --force to start over")


def require_same(
    path: str | os.PathLike[str],
    asked: Mapping[str, object],
    made: object,
    place: str = "file",
) -> None:
    """Refuse what another run left, by the name of the first thing that differs."""
    kept = made if isinstance(made, Mapping) else {}
    for name in {**asked, **kept}:
        was, wanted = kept.get(name, "not set"), asked.get(name, "not set")
        if was != wanted:
            differs = f"{name.replace('_', ' ')} {was!s:.80}, and {wanted!s:.80} is asked for"
            differs = "other data" if name == "data" else differs
            what = f"{shown_path(path)}: was made with {differs}; name another {place}"
            raise FormatError(f"{what}, or start over with force=True").with_option(
                f"{what}, or start over with --force"
            )
