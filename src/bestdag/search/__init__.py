"""The searches, each in its own file or folder, and the one list that names them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from bestdag.errors import unknown_name
from bestdag.search.base import Search
from bestdag.search.exact.search import Exact

__all__ = ["SEARCHES", "make_search"]

SEARCHES: dict[str, Any] = {search.name: search for search in (Exact,)}


def make_search(name: str, **settings: Any) -> Search:
    """Make a search from its name and its settings.

    Examples
    --------
    >>> make_search("exact", engine="dp")
    Exact(engine='dp')
    """
    if name not in SEARCHES:
        raise unknown_name("search", name, SEARCHES)
    known = [field.name for field in fields(SEARCHES[name])]
    for setting in settings:
        if setting not in known:
            raise unknown_name("setting", setting, known, who=name)
    search: Search = SEARCHES[name](**settings)
    return search
