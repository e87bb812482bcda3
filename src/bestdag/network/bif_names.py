r"""Names in a BIF file that the common programs read.

A plain name is a word of ASCII letters, digits and ``_ . -`` that does not begin like a number, is
no number (a state may be a whole one) and no keyword: pyAgrum, which has the strictest grammar,
takes nothing else for a name. Any other name is written as a plain one made from it, ``<=51.5`` as
``le_51.5`` and ``two words`` as ``two_words``, and a property keeps the text as it was::

    variable two_words {
      type discrete [ 2 ] { le_51.5, gt_51.5 };
      property bestdag-name = "two words";
      property bestdag-states = "<=51.5", ">51.5";
    }

Our reader restores it (`kept`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bestdag.network.words import distinct

__all__ = ["plain_name", "plain_names"]

_KEYWORDS = frozenset(
    ("default", "discrete", "network", "probability", "property", "table", "type", "variable")
)
# 1e5 would be a number, 5x is none.
_WORD = re.compile(r"(?:[A-Za-z_]|[0-9]+(?![eE])[A-Za-z_])[A-Za-z0-9_.-]*")
_WHOLE = re.compile(r"-?[0-9]+")
_SIGNS = (("<=", "le_"), (">=", "ge_"), ("<", "lt_"), (">", "gt_"))
_OTHER = re.compile(r"[^A-Za-z0-9_.-]+")


def plain_name(name: str, *, is_state: bool = False) -> str:
    """Return a name itself if it is plain, else a plain one made from it.

    Examples
    --------
    >>> [plain_name(name) for name in ("smoke", "wet grass", "<=51.5", "51.5 to 60", "default")]
    ['smoke', 'wet_grass', 'le_51.5', '_51.5_to_60', 'default_']
    >>> plain_name("5"), plain_name("5", is_state=True)
    ('_5', '5')
    """
    if _is_plain(name, is_state):
        return name
    made = name
    for sign, word in _SIGNS:
        made = made.replace(sign, word)
    made = _OTHER.sub("_", made)
    if _is_plain(made, is_state):
        return made
    return f"{made}_" if made in _KEYWORDS else f"_{made}"


def plain_names(names: Sequence[str], *, is_state: bool = False) -> list[str]:
    """Return different plain names for different names; plain ones stay as they are.

    Examples
    --------
    >>> plain_names(["a b", "a_b", "a/b"])
    ['a_b_2', 'a_b', 'a_b_3']
    """
    return distinct(
        names,
        lambda name: _is_plain(name, is_state),
        lambda name: plain_name(name, is_state=is_state),
    )


def _is_plain(name: str, is_state: bool) -> bool:
    if is_state and _WHOLE.fullmatch(name):
        return True
    return _WORD.fullmatch(name) is not None and name not in _KEYWORDS
