"""A pytest plugin: whatever a test reads from a path or relation is scanned too, and compared.

With ``-p tests.data.scan_beside_read`` the tests of `read` become tests of `scan`: equal tables,
equal refusals, equal warnings.
"""

import os
import warnings

from bestdag.data import readers
from bestdag.data.sinks.disk import scan
from bestdag.data.sources.frame import is_from

N_COMPARED = 0
_read = readers.read


def _outcome(function, source, settings):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            found = function(source, **settings)
        except Exception as error:
            found = (type(error), str(error), getattr(error, "on_command_line", None))
    return found, [str(one.message) for one in heard]


def read(source, **settings):
    is_path = isinstance(source, str | os.PathLike) and os.fspath(source) != "-"
    if is_path or is_from("duckdb", source):
        global N_COMPARED
        N_COMPARED += 1
        mine, theirs = (_outcome(function, source, settings) for function in (scan, _read))
        assert mine == theirs, (source, settings)
    return _read(source, **settings)


def pytest_configure(config):
    readers.read = read  # not when the module is only looked at


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"scanned beside read: {N_COMPARED}")
