"""What a run that is kept is about: whatever decides its answer, each thing by its name."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, is_dataclass
from typing import Any

from bestdag.checkpoint import text_of
from bestdag.data.dataset import Dataset
from bestdag.scores.table import ScoreTable
from bestdag.search.steps import Search

__all__ = ["about_run"]


def about_run(
    command: str, data: Dataset | ScoreTable, search: Search | None, **settings: Any
) -> dict[str, str]:
    """Return what must be the same for a run to go on; threads and limits may differ."""
    import bestdag

    own: dict[str, Any] = {}
    if search is not None:
        made: Any = search
        plain = is_dataclass(search)
        own = {"search": search.name, **(asdict(made) if plain else vars(made))}
    return {
        "version": bestdag.__version__,
        "command": command,
        "data": _digest(data),
        **{name: text_of(value) for name, value in {**own, **settings}.items()},
    }


def _digest(data: Dataset | ScoreTable) -> str:
    if isinstance(data, Dataset):
        return data.fingerprint()
    digest = hashlib.blake2b(repr(data.names).encode("utf-8", "surrogatepass"), digest_size=16)
    for child in range(data.n_variables):
        sets = data.child(child)
        for array in (sets.scores, sets.offsets, sets.members):
            digest.update(array.tobytes())
    return digest.hexdigest()
