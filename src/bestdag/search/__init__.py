"""The searches, each in its own file or folder, and the one list that names them."""

from __future__ import annotations

from typing import Any

from bestdag.registry import make
from bestdag.search.auto import Auto
from bestdag.search.base import Search
from bestdag.search.exact.search import Exact
from bestdag.search.hill_climb import HillClimb
from bestdag.search.order import OrderSearch
from bestdag.search.tabu import Tabu

__all__ = ["ALIASES", "SEARCHES", "make_search"]

SEARCHES: dict[str, Any] = {
    search.name: search for search in (Auto, Exact, HillClimb, Tabu, OrderSearch)
}
ALIASES: dict[str, str] = {}


def make_search(name: str, **settings: Any) -> Search:
    """Make a search from its name and its settings.

    Examples
    --------
    >>> make_search("exact", engine="dp")
    Exact(engine='dp')
    """
    search: Search = make("search", name, SEARCHES, ALIASES, settings)
    return search
