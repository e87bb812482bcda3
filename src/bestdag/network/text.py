"""From the bytes of a network file to its text, and to the line and column of an error."""

from __future__ import annotations

from bestdag.errors import FormatError

__all__ = ["decoded", "format_error"]


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
        message = f"expected UTF-8 text, got the byte 0x{data[error.start]:02x}"
        raise format_error(source, line, column, message) from None
    return text.removeprefix("\ufeff")


def format_error(source: str, line: int, column: int, message: str) -> FormatError:
    """Return the error for a place in a file; a name quoted in it may not break its line."""
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in message)
    return FormatError(f"{source}:{line}:{column}: {shown}")
