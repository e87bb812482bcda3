"""Arcs along the links of a skeleton only, of one that tests leave or of one that is given."""

from __future__ import annotations

from bestdag.constraint.pc import pc_skeleton
from bestdag.data.dataset import Dataset
from bestdag.errors import InvalidParameterError, require_choice
from bestdag.graph.knowledge import Knowledge
from bestdag.graph.pdag import Pdag
from bestdag.progress import Reporter
from bestdag.wording import arg, count_of

__all__ = ["confined"]

# Of a time limit, what the tests of a skeleton may take.
_SHARE_OF_TESTS = 0.5


def confined(
    known: Knowledge | None,
    skeleton: str | Pdag | None,
    alpha: float | None,
    dataset: Dataset | None,
    time_limit: float | None,
    threads: int | None,
    progress: Reporter | None,
) -> tuple[Knowledge, str]:
    """Return what is known once arcs are confined to a skeleton, and a note that says so."""
    if alpha is not None and skeleton != "pc":
        raise InvalidParameterError(
            f"learn: {arg('alpha')} is for {arg('skeleton', 'pc')}; leave it out"
        )
    known = Knowledge() if known is None else known
    if isinstance(skeleton, Pdag):
        links = skeleton.skeleton().edges
        note = f"arcs run along the {count_of(len(links), 'link')} of a given skeleton"
        return known | Knowledge(skeleton=links), note
    require_choice("learn", "skeleton", skeleton, ["pc"])
    if dataset is None:
        raise InvalidParameterError(
            f"learn: {arg('skeleton', skeleton)} needs rows of data for its tests, got local "
            "scores; leave it out"
        )
    if dataset.has_missing:
        raise InvalidParameterError(
            f"learn: the tests of {arg('skeleton', 'pc')} need complete rows; leave it out, or "
            f"pass {arg('missing', 'drop')} or {arg('missing', 'state')}"
        )
    level = 0.05 if alpha is None else alpha
    found, ended = pc_skeleton(
        dataset,
        knowledge=known,
        alpha=level,
        time_limit=None if time_limit is None else _SHARE_OF_TESTS * time_limit,
        threads=threads,
        progress=progress,
    )
    if ended == "interrupted":
        raise KeyboardInterrupt
    links = found.edges
    note = (
        f"arcs run along the {count_of(len(links), 'link')} that tests leave (pc, alpha {level:g})"
    )
    if ended == "time limit":
        note += "; there was no time for all tests, so that there are more than need be"
    return known | Knowledge(skeleton=links), note
