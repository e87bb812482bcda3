"""Names that a format can hold, made from any names: a recoverable renaming."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bestdag.network.network import Network

__all__ = ["Rule", "Written", "distinct"]

_SIGNS = (("<=", "le_"), (">=", "ge_"), ("<", "lt_"), (">", "gt_"))


def distinct(
    names: Sequence[str], is_plain: Callable[[str], bool], made_of: Callable[[str], str]
) -> list[str]:
    """Return different plain names for different names; plain ones stay as they are."""
    used = {name for name in names if is_plain(name)}
    counts: dict[str, int] = {}
    made = []
    for name in names:
        if is_plain(name):
            made.append(name)
            continue
        base = plain = made_of(name)
        while plain in used:
            counts[base] = counts.get(base, 1) + 1
            plain = f"{base}_{counts[base]}"
        used.add(plain)
        made.append(plain)
    return made


@dataclass(frozen=True)
class Rule:
    """What a format takes for a name: a pattern, less its own words and what none may hold.

    Examples
    --------
    >>> rule = Rule("[A-Za-z][A-Za-z0-9_]*", frozenset(["node"]))
    >>> rule.names(["smoke", "wet grass", "wet_grass", "<=51.5", "5", "node", ""])
    ['smoke', 'wet_grass_2', 'wet_grass', 'le_51_5', 'x5', 'node_', 'x']
    """

    pattern: str
    reserved: frozenset[str] = frozenset()
    avoided: str | None = None

    def allows(self, name: str) -> bool:
        """Whether a name can be written as it is."""
        if self.avoided is not None and self.avoided in name.lower():
            return False
        return re.fullmatch(self.pattern, name) is not None and name.lower() not in self.reserved

    def names(self, names: Sequence[str]) -> list[str]:
        """Return different names that the format takes; those it takes stay as they are."""
        return distinct(names, self.allows, self._made)

    def _made(self, name: str) -> str:
        for sign, word in _SIGNS:
            name = name.replace(sign, word)
        made = re.sub("[^A-Za-z0-9]+", "_", name).rstrip("_")
        if self.avoided is not None:
            made = re.sub(self.avoided, self.avoided[0], made, flags=re.IGNORECASE)
        if self.allows(made):
            return made
        return f"{made}_" if self.allows(f"{made}_") else f"x{made}"


@dataclass(frozen=True)
class Written:
    """The names and states of a network as they stand in a file, by the names in the network."""

    names: dict[str, str]
    states: dict[str, list[str]]

    @classmethod
    def by(cls, network: Network, names: Rule, states: Rule) -> Written:
        """Choose the names by the rules of a format."""
        return cls(
            dict(zip(network.names, names.names(network.names), strict=True)),
            {v.name: states.names(v.states) for v in network.variables},
        )

    def renamed(self) -> dict[str, str]:
        """Return the variables that have another name in the file, and that name."""
        return {name: own for name, own in self.names.items() if name != own}

    def renamed_states(self, network: Network) -> dict[str, dict[str, str]]:
        """Return the states that have another name in the file, by variable."""
        found: dict[str, dict[str, str]] = {}
        for variable in network.variables:
            pairs = zip(variable.states, self.states[variable.name], strict=True)
            changed = {state: own for state, own in pairs if state != own}
            if changed:
                found[variable.name] = changed
        return found
