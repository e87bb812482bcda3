"""`load`: one door to every file that bestdag writes."""

from __future__ import annotations

import os
import re
from pathlib import Path

from bestdag.data.dataset import Dataset
from bestdag.data.readers import read
from bestdag.data.sources.files import NETWORKS, is_table
from bestdag.errors import FormatError, unknown_name
from bestdag.files import format_suffix, read_file, shown_path
from bestdag.graph.knowledge import Knowledge
from bestdag.graph.knowledge.kinds import KINDS
from bestdag.network.formats import FORMATS, ONLY_WRITTEN, load_network, looks_like_a_network
from bestdag.network.network import Network
from bestdag.scores.table import ScoreTable
from bestdag.wording import by_reader

__all__ = ["load"]

_SCORES = (".jkl", ".scores")
_KNOWLEDGE = (".toml",)
_CHECKPOINT = b"bestdag checkpoint"
_HEAD = 1 << 12
_FIRST_KEY = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"(\w+)"')


def load(path: str | os.PathLike[str]) -> Network | Dataset | ScoreTable | Knowledge:
    """Open a file of any kind that bestdag writes: network, table, scores or knowledge.

    Parameters
    ----------
    path : path
        A network in any format (what `Network.save` and `Result.save` write), a table (what
        `Dataset.to_csv` writes, and every file that `read` takes by its ending; `read` itself has
        the settings), local scores (``.jkl``, ``.scores``) or knowledge (``.toml``, ``.json``);
        each also with ``.gz``. A name that tells nothing leaves it to what is in the file.

    Returns
    -------
    Network, Dataset, ScoreTable or Knowledge

    Raises
    ------
    FormatError, UnknownNameError
        For anything else, by its name.

    Examples
    --------
    >>> from bestdag.examples import example
    >>> load(example("asia.bif"))
    <Network 'asia': 8 variables, 8 arcs, 18 parameters>
    """
    suffix = format_suffix(path)
    if suffix in _SCORES:
        return ScoreTable.load(path)
    if suffix in _KNOWLEDGE:
        return Knowledge.load(path)
    if suffix == ".json" and _holds_knowledge(path):
        return Knowledge.load(path)
    if suffix in NETWORKS or suffix in ONLY_WRITTEN:
        return load_network(path)
    if os.path.isdir(path) or is_table(Path(path)):
        return read(path)
    beginning = read_file(path)
    if looks_like_a_network(beginning):
        return load_network(path)
    if beginning.startswith(_CHECKPOINT):
        raise FormatError(
            f"load: {shown_path(path)} is the checkpoint of a run; repeat the call that wrote it, "
            f"with {by_reader('Checkpoint(path, resume=True)', '--resume')}"
        )
    known = [*FORMATS, ".csv", ".tsv", ".parquet", *_SCORES, *_KNOWLEDGE]
    raise unknown_name("file format", suffix, known, who=f"load: {shown_path(path)}")


def _holds_knowledge(path: str | os.PathLike[str]) -> bool:
    """Whether the first key of a JSON file is one of knowledge; networks have none of them."""
    match = _FIRST_KEY.match(read_file(path)[:_HEAD])
    return match is not None and match[1].decode() in {kind.field for kind in KINDS}
