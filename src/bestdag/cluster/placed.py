"""Parts on the workers that hold them."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["PlacedParts"]

# How long nobody is asked again who holds which part.
_SECONDS_KNOWN = 1.0


class PlacedParts:
    """The parts of a table, and who holds them."""

    def __init__(self, client: Client, parts: list[Future]) -> None:
        self.client = client
        self.parts = parts
        self._groups: list[tuple[str | None, list[Future]]] = []
        self._known_until = -math.inf

    def by_worker(self) -> list[tuple[str | None, list[Future]]]:
        """Return each worker with the parts it holds, and those that nobody has yet alone."""
        now = time.monotonic()
        if now > self._known_until:
            who_has = self.client.who_has(self.parts)
            held: dict[str, list[Future]] = {}
            lost: list[tuple[str | None, list[Future]]] = []
            for part in self.parts:
                holders = sorted(who_has.get(part.key, ()))
                if holders:
                    held.setdefault(holders[0], []).append(part)
                else:
                    lost.append((None, [part]))
            self._groups = [*sorted(held.items()), *lost]
            self._known_until = now if lost else now + _SECONDS_KNOWN
        return self._groups
