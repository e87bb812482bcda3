"""The searches, each in its own file or folder, and the one list that names them.

steps, driver, problem    what a search yields; what runs it, with its clock, progress and
                          checkpoint; what it gets: scores, knowledge, limits
result, structures        what comes out: `SearchResult`, and the structures next to the best
auto                      the schedule of the others, its constants in one table
exact                     one engine per folder (dp, bnc), and the cases that statements make
climbing, order           what several searches share: moves and families; orders and their moves
bound, feasible, ties     bounds after any search; structures that knowledge allows; what is equal
"""

from __future__ import annotations

from typing import Any

from bestdag.errors import UnknownNameError
from bestdag.registry import canonical, listed, make
from bestdag.search.steps import Search as Search

# The list: one line for each search, in the order that help and docs show.
# isort: off
from bestdag.search.auto import Auto as Auto
from bestdag.search.exact.search import Exact as Exact
from bestdag.search.hill_climb import HillClimb as HillClimb
from bestdag.search.tabu import Tabu as Tabu
from bestdag.search.annealing import Annealing as Annealing
from bestdag.search.k2 import K2Search as K2Search
from bestdag.search.order.search import OrderSearch as OrderSearch
from bestdag.search.ges import GES as GES
from bestdag.search.trees import ChowLiu as ChowLiu
from bestdag.search.trees import TAN as TAN
from bestdag.search.naive_bayes import NaiveBayes as NaiveBayes
from bestdag.wording import arg, by_reader
# isort: on

# Seconds for one of many fits, as in cross-validation.
_BUDGET_OF_A_FIT = 1.0

SEARCHES: dict[str, Any] = listed(globals(), __name__)
# What other programs call them.
ALIASES: dict[str, str] = {
    "hc": "hill_climb",
    "hill_climbing": "hill_climb",
    "ts": "tabu",
    "tabu_search": "tabu",
    "sa": "annealing",
    "simulated_annealing": "annealing",
    "nb": "naive_bayes",
}


def search_name(name: str) -> str:
    """Return the name of the search that is meant; else itself.

    Examples
    --------
    >>> search_name("HC"), search_name("Hill-Climb"), search_name("exct")
    ('hill_climb', 'hill_climb', 'exct')
    """
    key = canonical(name, [*SEARCHES, *ALIASES])
    return ALIASES.get(key, key)


# Of arcs along the links that tests leave.
_IN_SKELETON = by_reader("knowledge=pc_skeleton(data)", "--skeleton pc")


def make_search(name: str, **settings: Any) -> Search:
    """Make a search from its name and its settings.

    Examples
    --------
    >>> make_search("exact", engine="dp")
    Exact(engine='dp', nodes_at_once=1)
    """
    key = canonical(name, ["mmhc", "pc"])  # what others call a search
    if key == "mmhc":
        raise UnknownNameError(
            "mmhc is tests that leave few parents, then climbing: learn with "
            f"{arg('search', 'hill_climb')} and {_IN_SKELETON} is similar"
        )
    if key == "pc":
        use = by_reader("pc(data)", "bestdag pc")
        raise UnknownNameError(
            f"pc is tests of independence, without a score: use {use}; learn with "
            f"{_IN_SKELETON} is for the best network along its links"
        )
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
        is_auto = search_name(search) == Auto.name
        return make_search(search, **({"budget": _BUDGET_OF_A_FIT} if is_auto else {}))
    return search
