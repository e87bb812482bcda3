"""A sample too large for memory: Parquet files whose rows together are one sample."""

from __future__ import annotations

import os
import re
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from bestdag.errors import InvalidParameterError, WriteError, import_optional, require_count
from bestdag.files import shown_path, writing
from bestdag.progress import current_reporter
from bestdag.wording import arg

if TYPE_CHECKING:
    from bestdag.network.network import Network

__all__ = ["write_sample_parts"]

# Rows that are drawn and written at a time: a row group of the file.
_GROUP_ROWS = 1 << 18
_PART = re.compile(r"part-\d{5,}\.parquet")


def write_sample_parts(
    network: Network,
    n: int,
    folder: str | os.PathLike[str],
    *,
    part_rows: int,
    seed: int = 0,
    force: bool = False,
    threads: int | None = None,
) -> list[Path]:
    """Draw rows at random and write them as Parquet files, so many rows to each.

    Parameters
    ----------
    network : Network
    n : int
        Number of rows, at least 1.
    folder : path
        Where ``part-00000.parquet`` and so on go; it is made if it is not there.
    part_rows : int
        Rows of each file but the last, at least 1.
    seed : int, default 0
        The rows of all files, in their order, are those of ``network.sample(n, seed=seed)``.
    force : bool, default False
        Write into a folder that is not empty; parts of an earlier sample are removed.
    threads : int, optional
        As for `Network.sample`.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    InvalidParameterError
        If the folder is not empty.
    WriteError
        If it cannot be written to. The files there are complete, also after Ctrl-C.
    MissingPackageError
        Without pyarrow, which the extra ``bestdag[arrow]`` brings.
    """
    n = require_count("sample", "n", n, minimum=1)
    part_rows = require_count("sample", "part_rows", part_rows, minimum=1)
    parquet = import_optional("pyarrow.parquet", who="sample", extra="arrow")
    place = Path(folder)
    _prepare(place, force)
    reporter = current_reporter()
    paths = []
    for number, start in enumerate(range(0, n, part_rows)):
        path = place / f"part-{number:05}.parquet"
        end = min(n, start + part_rows)
        with writing(path) as file, ExitStack() as closing:
            writer = None
            for first in range(start, end, _GROUP_ROWS):
                if reporter is not None:
                    reporter.report("drawing rows", f"{first:,} of {n:,}", share=first / n)
                rows = min(_GROUP_ROWS, end - first)
                table = network.sample(rows, seed=seed, first=first, threads=threads).to_arrow()
                if writer is None:
                    writer = closing.enter_context(parquet.ParquetWriter(file, table.schema))
                writer.write_table(table)
        paths.append(path)
    return paths


def _prepare(place: Path, force: bool) -> None:
    try:
        place.mkdir(parents=True, exist_ok=True)
        names = sorted(entry.name for entry in os.scandir(place))
        if names and not force:
            raise InvalidParameterError(
                f"sample: the folder {shown_path(place)} is not empty; pass {arg('force', True)} "
                "to write there"
            )
        for name in names:
            if _PART.fullmatch(name):
                (place / name).unlink()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise WriteError(f"sample: {shown_path(place)}: cannot be written: {reason}") from None
