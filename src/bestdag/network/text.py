"""From the bytes of a network file to its text."""

from __future__ import annotations

from bestdag.errors import FormatError

__all__ = ["decoded"]


def decoded(data: bytes, source: str) -> str:
    r"""Decode UTF-8, with or without a byte order mark, or say where it is not.

    Examples
    --------
    >>> decoded(b"\xef\xbb\xbfnetwork", "x.bif")
    'network'
    >>> decoded(b"a\nb\xff", "x.bif")
    Traceback (most recent call last):
    ...
    bestdag.errors.FormatError: x.bif:2:2: expected UTF-8 text, got the byte 0xff
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        begin = data.rfind(b"\n", 0, error.start) + 1
        column = len(data[begin : error.start].decode("utf-8")) + 1
        raise FormatError(
            f"{source}:{line}:{column}: expected UTF-8 text, got the byte 0x{data[error.start]:02x}"
        ) from None
    return text.removeprefix("\ufeff")
