"""What a run that is kept is about: whatever decides its answer, each thing by its name."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from typing import Any

from bestdag.checkpoint import text_of
from bestdag.data.dataset import Dataset
from bestdag.errors import InvalidParameterError
from bestdag.scores.local_scores import LocalScores, describe
from bestdag.search.steps import Search

__all__ = ["about_run"]


def about_run(
    command: str, data: Dataset | LocalScores, search: Search | None, **settings: Any
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
        **{name: _text(name, value) for name, value in {**own, **settings}.items()},
    }


def _text(name: str, value: object) -> str:
    """Return the text of a setting; scores and priors of a user's own must describe themselves."""
    if name in ("score", "structure_prior") and value is not None:
        return _described(getattr(value, "name", name.replace("_", " ")), value, describe(value))
    return text_of(value)


def _digest(data: Dataset | LocalScores) -> str:
    """Return a text that differs for other data or other scores, or refuse what has none."""
    if isinstance(data, Dataset):
        return data.fingerprint()
    return _described(data.name, data, data.description())


def _described(name: str, value: object, text: str | None) -> str:
    if text is None:
        raise InvalidParameterError(
            f"checkpoint: nothing says what decides the values of {name}, {value!r:.60}, so that a "
            "resumed run might mix it with another; make its class a dataclass, give it a method "
            "description(), or leave out checkpoint"
        )
    return text
