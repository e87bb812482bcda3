"""Work that is sent to others once, however many items they are given.

Work holds the rows, and an executor sends with each item all that it is given. Work that is large
is therefore put into a file without a name, which ends with the process, and with an item travels
where that file is. A worker of this machine reads it for its first item; one elsewhere says that
it cannot, and gets the work itself.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

__all__ = ["Parcel", "Shipment", "is_missed"]

_LARGE = 1 << 16  # bytes: less is sent with each item
_MISSED = b""  # what a worker answers that has no such work


@dataclass(frozen=True, slots=True)
class Parcel:
    """What travels with an item: what to do with it, or where that is to be had."""

    digest: bytes
    path: str | None = None
    packed: bytes | None = None

    def __call__(self, item: Any) -> bytes:
        """Work on an item, or say that the work is not here."""
        work = self._work()
        return _MISSED if work is None else work(item)

    def _work(self) -> Callable[[Any], bytes] | None:
        if (own := _OWN.get(self.digest)) is not None:
            return own
        if getattr(_LAST, "digest", None) != self.digest:
            packed = self._read() if self.packed is None else self.packed
            if packed is None:
                return None
            _LAST.work, _LAST.digest = None, None  # two at once would take twice the memory
            _LAST.work, _LAST.digest = pickle.loads(packed), self.digest
        found: Callable[[Any], bytes] = _LAST.work
        return found

    def _read(self) -> bytes | None:
        if self.path is None:
            return None
        try:
            with open(self.path, "rb") as file:
                packed = file.read()
        except OSError:
            return None
        return packed if _digest(packed) == self.digest else None


# What this process has sent; copies of it have that, too, and so have its threads.
_OWN: dict[bytes, Callable[[Any], bytes]] = {}
# What a thread of a worker has worked on last: tasks that run at once share nothing.
_LAST = threading.local()


class Shipment:
    """Work on its way; its file is gone afterwards.

    Parameters
    ----------
    work : callable
        Takes an item, gives bytes; must be possible to pickle.
    """

    def __init__(self, work: Callable[[Any], bytes]) -> None:
        packed = pickle.dumps(work)
        self._file: Any = None
        self.parcel = Parcel(_digest(packed), packed=packed)
        if len(packed) >= _LARGE:
            self._put_down(packed)
        _OWN[self.parcel.digest] = work

    def _put_down(self, packed: bytes) -> None:
        try:
            if sys.platform == "linux":
                self._file = tempfile.TemporaryFile()  # noqa: SIM115
                path = f"/proc/{os.getpid()}/fd/{self._file.fileno()}"
            else:
                self._file = tempfile.NamedTemporaryFile()  # noqa: SIM115
                path = self._file.name
            self._file.write(packed)
            self._file.flush()
        except OSError:  # no room for it: it is sent with each item
            self.close()
            return
        self.parcel = Parcel(self.parcel.digest, path)

    def whole(self) -> Parcel:
        """Return the parcel for one who cannot read the file."""
        if self._file is None:
            return self.parcel
        self._file.seek(0)
        return replace(self.parcel, packed=self._file.read())

    def close(self) -> None:
        """Let the file go; who has read it keeps what it has."""
        _OWN.pop(self.parcel.digest, None)
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Shipment:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def is_missed(answer: bytes) -> bool:
    """Say whether a worker had no such work."""
    return answer == _MISSED


def _digest(packed: bytes) -> bytes:
    return hashlib.blake2b(packed, digest_size=32).digest()
