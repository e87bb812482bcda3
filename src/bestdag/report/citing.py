"""How to cite: the program, and the papers that the docstrings of its parts name."""

from __future__ import annotations

import inspect
import re

__all__ = ["citation", "references_of"]


def citation(version: str) -> str:
    """Return the line that CITATION.cff asks for."""
    return f"The bestdag developers. bestdag, version {version}. MIT license."


def references_of(*parts: object) -> list[str]:
    """List the references in the docstrings of classes, each once.

    Examples
    --------
    >>> from bestdag.scores import BDeu
    >>> [text[:41] for text in references_of(BDeu)][0]
    'Heckerman, Geiger and Chickering (1995). '
    """
    found: dict[str, None] = {}
    for part in parts:
        _, _, below = (inspect.getdoc(part) or "").partition("\nReferences\n")
        section = re.split(r"\n\w[\w ]*\n-{3,}\n", below)[0]
        for text in re.split(r"^\.\. \[\w+\]", section, flags=re.MULTILINE)[1:]:
            found[" ".join(text.split())] = None
    return list(found)
