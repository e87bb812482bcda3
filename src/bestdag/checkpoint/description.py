"""What a run is about: whatever decides its answer, each thing by its name, as text."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from bestdag.data.dataset import Dataset
from bestdag.errors import FormatError, InvalidParameterError
from bestdag.files import shown_path
from bestdag.graph.dag import Dag
from bestdag.scores.local_scores import LocalScores
from bestdag.scores.local_scores import describe as scores_text
from bestdag.wording import arg

__all__ = ["describe", "require_same", "text_of"]

# Of these nothing may be left out of the text, whatever their repr says.
_SAY_ALL = ("score", "structure_prior")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def describe(
    who: str, data: Dataset | LocalScores, search: Any | None, **settings: Any
) -> dict[str, str]:
    """Return what must be the same for a run to go on; threads and limits may differ.

    Raises
    ------
    InvalidParameterError
        A score, a search or a prior of the user's own that does not say what it is, so that it
        could not be told from another one.
    """
    import bestdag

    own: dict[str, Any] = {}
    if search is not None:
        own = {"search": search.name, **_settings_of(search)}
    content = data.fingerprint() if isinstance(data, Dataset) else data.description()
    described = {
        "version": bestdag.__version__,
        "command": who,
        "data": _required(who, getattr(data, "name", "data"), data, content),
    }
    for name, value in {**own, **settings}.items():
        text: str | None = text_of(value)
        if _ADDRESS.search(str(text)) or (name in _SAY_ALL and scores_text(value) is None):
            text = None
        described[name] = _required(who, name, value, text)
    return described


def _required(who: str, name: str, value: object, text: str | None) -> str:
    if text is None:
        raise InvalidParameterError(
            f"{who}: a checkpoint must be able to tell the {name.replace('_', ' ')} from another "
            f"one, and {value!r:.60} does not say its settings; make its class a dataclass, or "
            "give it a method description()"
        )
    return text


def text_of(value: object) -> str:
    """Return a text that is the same for equal settings, in every process.

    Examples
    --------
    >>> text_of({"b", "a"}), text_of(0.5), text_of(None)
    ("{'a', 'b'}", '0.5', 'none')
    """
    if value is None:
        return "none"
    return value if isinstance(value, str) else _text(value)


def _text(value: Any) -> str:
    if callable(getattr(value, "description", None)):
        return str(value.description())
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(map(_text, value))) + "}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(sorted(f"{_text(k)}: {_text(value[k])}" for k in value)) + "}"
    if isinstance(value, tuple | list):
        return "(" + ", ".join(map(_text, value)) + ")"
    if isinstance(value, np.ndarray):  # whose repr leaves numbers out
        return f"array{value.shape} {_hash(np.ascontiguousarray(value).tobytes())}"
    if isinstance(value, Dag):  # as that of large graphs does
        return f"Dag {_hash(repr((sorted(value.nodes), sorted(value.arcs))).encode())}"
    if hasattr(value, "names") and hasattr(value, "table"):  # a network with its tables
        tables = {name: value.table(name) for name in value.names}
        return _text({n: (tuple(p.name for p in t.parents), t.values) for n, t in tables.items()})
    if hasattr(value, "to_dict"):
        return _text(value.to_dict())
    if is_dataclass(value):
        return f"{type(value).__name__}({_text(_settings_of(value))})"
    return repr(value)


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def _settings_of(value: Any) -> dict[str, Any]:
    names = [f.name for f in fields(value)] if is_dataclass(value) else list(vars(value))
    return {name: getattr(value, name) for name in names}


def require_same(
    path: str | os.PathLike[str],
    expected: Mapping[str, object],
    made: Mapping[str, object],
    place: str = "file",
) -> None:
    """Refuse the file of another run, by the name of the first thing that differs."""
    for name in {**expected, **made}:
        was, wanted = made.get(name, "not set"), expected.get(name, "not set")
        if was != wanted:
            differs = f"{name.replace('_', ' ')} {was!s:.80}, and {wanted!s:.80} is asked for"
            differs = "other data" if name == "data" else differs
            what = f"{shown_path(path)}: was made with {differs}; name another {place}"
            raise FormatError(f"{what}, or start over with {arg('force', True)}")
