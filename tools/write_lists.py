"""Writes the lists of scores, searches and estimators into the documentation.

Run: python tools/write_lists.py, or `make lists`, after adding an entry to a list. A page says
where a list goes by a line with ``begin list: NAME`` and one with ``end list``; what is between
them is written anew. A test compares the pages with the lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from bestdag.counts.family import FamilyCounts
from bestdag.independence import TESTS
from bestdag.parameters import ESTIMATORS, estimator_for
from bestdag.scores import SCORES, make_score
from bestdag.search import SEARCHES

__all__ = ["LISTS", "PAGES", "filled"]

PAGES = ("docs/api.md", "docs/guide/counts-and-scores.md", "docs/guide/parameters.md")

_BLOCK = re.compile(
    r"^([^\n]*\bbegin list: ([\w ]*\w)[^\n]*\n).*?^([^\n]*\bend list\b)", re.MULTILINE | re.DOTALL
)


def filled(page: str) -> str:
    """Return the text of a page with every list as it is now."""

    def block(found: re.Match[str]) -> str:
        begin, name, end = found.groups()
        return "\n".join([begin, *LISTS[name](), "", end])

    return _BLOCK.sub(block, page)


def _score_table() -> Iterable[str]:
    header = ("name", "class", "settings", "score equivalent", "hyperparameter-free", "regular")
    yield from _table_head(header)
    for name, score in SCORES.items():
        facts = (score.is_score_equivalent, score.is_hyperparameter_free, score.is_regular)
        yield _row(_code([name]), _code([score.__name__]), _settings(score), *map(_yes, facts))


def _estimator_table() -> Iterable[str]:
    yield from _table_head(("name", "class", "settings", "belongs to", "zeros"))
    owners = {score: estimator_for(make_score(score)).name for score in SCORES}
    for name, estimator in ESTIMATORS.items():
        own = _code(score for score, owner in owners.items() if owner == name)
        has_zeros = estimator().rows(FamilyCounts.of([[5, 0]]))[0, 1] == 0
        cells = (_code([name]), _code([estimator.__name__]), _settings(estimator), own)
        yield _row(*cells, _yes(has_zeros))


def _classes(listed: dict[str, Any]) -> Callable[[], Iterable[str]]:
    def lines() -> Iterable[str]:
        for entry in listed.values():
            yield f".. autoclass:: bestdag.{entry.__name__}"
            yield "   :members:"

    return lines


def _search_classes() -> Iterable[str]:
    """Leave out `run`: searches are given to `learn`."""
    for search in SEARCHES.values():
        yield f".. autoclass:: bestdag.{search.__name__}"
        members = [
            name
            for name, value in vars(search).items()
            if callable(value) and not name.startswith("_") and name != "run"
        ]
        if members:
            yield f"   :members: {', '.join(members)}"


# What a page may ask for.
LISTS: dict[str, Callable[[], Iterable[str]]] = {
    "table of scores": _score_table,
    "table of estimators": _estimator_table,
    "classes of scores": _classes(SCORES),
    "classes of searches": _search_classes,
    "classes of estimators": _classes(ESTIMATORS),
    "classes of tests": _classes(TESTS),
}


def _table_head(names: tuple[str, ...]) -> list[str]:
    return [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]


def _row(*cells: str) -> str:
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)


def _settings(entry: Any) -> str:
    return _code(field.name for field in fields(entry))


def _code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"


def main() -> None:
    """Write every page whose lists are out of date."""
    root = Path(__file__).parents[1]
    for page in PAGES:
        old = (root / page).read_text(encoding="utf-8")
        if filled(old) != old:
            (root / page).write_text(filled(old), encoding="utf-8")
            print(f"{page}: lists written")


if __name__ == "__main__":
    main()
