"""The searches, each in its own file or folder, and the one list that names them."""

from __future__ import annotations

from typing import Any

from bestdag.registry import canonical, make
from bestdag.search.annealing import Annealing
from bestdag.search.auto import Auto
from bestdag.search.base import Search
from bestdag.search.exact.search import Exact
from bestdag.search.ges.search import GES
from bestdag.search.hill_climb import HillClimb
from bestdag.search.k2 import K2Search
from bestdag.search.naive_bayes import NaiveBayes
from bestdag.search.order import OrderSearch
from bestdag.search.tabu import Tabu
from bestdag.search.tan import TAN
from bestdag.search.tree import Tree

__all__ = ["ALIASES", "SEARCHES", "make_search", "search_for_fit"]

# Seconds for one of many fits, as in cross-validation.
_BUDGET_OF_A_FIT = 1.0

# One line each, in the order that help and docs show.
_LISTED: tuple[Any, ...] = (
    Auto,
    Exact,
    HillClimb,
    Tabu,
    Annealing,
    K2Search,
    OrderSearch,
    GES,
    Tree,
    TAN,
    NaiveBayes,
)
SEARCHES: dict[str, Any] = {search.name: search for search in _LISTED}
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


def search_for_fit(search: Search | str) -> Search:
    """Make the search for one of many fits: by its name, `auto` has a budget of a second.

    Examples
    --------
    >>> search_for_fit("auto").budget
    1.0
    """
    if isinstance(search, str):
        is_auto = canonical(search, SEARCHES) == Auto.name
        return make_search(search, **({"budget": _BUDGET_OF_A_FIT} if is_auto else {}))
    return search
