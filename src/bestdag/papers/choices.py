"""How much verdicts depend on what a paper leaves open: claims judged again by other rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bestdag.papers.claims import Claim
from bestdag.papers.sections import Table

__all__ = ["AS_ABOVE", "verdict_table"]

AS_ABOVE = "as above"


def verdict_table(
    found: Mapping[str, Sequence[Claim]],
    note: str = "",
    *,
    beside: str = AS_ABOVE,
    title: str = "How much the verdicts depend on these choices",
) -> Table:
    """Print the verdicts of each choice, and say in a sentence which of them are others.

    Parameters
    ----------
    found : mapping of str to sequence of Claim
        The same claims, in one order, for each choice.
    note : str
    beside : str
        The choice that the others are compared with.
    title : str
    """
    names = [claim.name for claim in found[beside]]
    cells = [[choice, *(claim.verdict for claim in claims)] for choice, claims in found.items()]
    changed = [
        f"{one.name} with {choice} ({first.verdict}: {one.verdict})"
        for choice, claims in found.items()
        for first, one in zip(found[beside], claims, strict=True)
        if one.verdict != first.verdict
    ]
    sentence = f"Verdicts that change: {'; '.join(changed)}." if changed else "No verdict changes."
    return Table(title, ["with", *names], cells, f"{note} {sentence}".strip())
