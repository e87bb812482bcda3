"""Groups of nodes from the top down."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from bestdag.errors import GraphError, InvalidParameterError
from bestdag.graph._names import arc_text
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge.implications import Implications
from bestdag.graph.knowledge.kinds.base import Statement, check_items, check_names, check_once
from bestdag.graph.knowledge.words import Line, in_quotes

__all__ = ["Tiers", "WithinTiers"]


class Tiers(Statement):
    """Groups from the top down: arcs lead within a tier or to a later one.

    A node is in one tier at most; nodes in no tier are free.
    """

    field, type_text = "tiers", "iterable of iterables of str"
    form, says = "tiers: A B | C | D", "tiers from the top down"
    keyword = "tiers"
    is_single = is_long = True

    @classmethod
    def check(cls, value: Any) -> tuple[tuple[str, ...], ...]:
        tiers = []
        for number, tier in enumerate(check_items(cls.field, value, "lists of names"), start=1):
            names = check_names(f"{cls.field}: tier {number:,}", tier)
            if not names:
                raise GraphError(f"Knowledge: {cls.field}: tier {number:,} is empty; leave it out")
            tiers.append(names)
        check_once(cls.field, (name for tier in tiers for name in tier))
        return tuple(tuple(sorted(tier)) for tier in tiers)

    @classmethod
    def read(cls, line: Line) -> list[list[str]]:
        return line.groups_of_names()

    @classmethod
    def each(cls, values: Mapping[str, Any]) -> Iterator[Statement]:
        if values["tiers"]:
            yield cls((values["tiers"], values["within_tiers"]))

    def names(self) -> tuple[str, ...]:
        return tuple(name for tier in self.value[0] for name in tier)

    def text(self, only: Collection[str] | None = None) -> str:
        tiers, within = self.value
        groups = ([name for name in tier if only is None or name in only] for tier in tiers)
        shown = " | ".join(" ".join(map(in_quotes, tier)) for tier in groups if tier)
        return f"tiers: {shown}" + ("" if within or only is None else " (no arcs within a tier)")

    def violations(self, dag: Dag) -> Iterable[str]:
        tiers, within = self.value
        tier_of = {name: number for number, tier in enumerate(tiers, start=1) for name in tier}
        for parent, child in dag.arcs:
            if parent in tier_of and child in tier_of:
                start, end = tier_of[parent], tier_of[child]
                if start > end:
                    yield f"arc {arc_text(parent, child)} leads up, from tier {start} to tier {end}"
                elif start == end and not within:
                    yield f"arc {arc_text(parent, child)} stays within tier {start}"

    def imply(self, known: Implications, at: list[int]) -> None:
        tiers, within = self.value
        n_above = 0
        for tier in tiers:
            start, n_above = n_above, n_above + len(tier)
            children = at[: start if within else n_above]  # to whom no arc leads
            known.allowed[np.ix_(at[start:n_above], children)] = False


class WithinTiers(Statement):
    """Whether arcs may join two nodes of one tier."""

    field, type_text = "within_tiers", "bool, default True"
    form, says = "within_tiers: no", "no arcs within a tier"
    keyword = "within_tiers"
    default = is_single = True

    @classmethod
    def check(cls, value: Any) -> bool:
        if not isinstance(value, bool):
            raise InvalidParameterError(
                f"Knowledge: {cls.field} must be true or false, got {value!r:.60}"
            )
        return value

    @classmethod
    def read(cls, line: Line) -> bool:
        word = line.only_word().lower()
        if word not in ("yes", "no", "true", "false"):
            raise line.error("within_tiers needs yes or no")
        return word in ("yes", "true")

    @classmethod
    def each(cls, values: Mapping[str, Any]) -> Iterator[Statement]:
        if not values["within_tiers"] and not values["tiers"]:
            raise GraphError("Knowledge: within_tiers needs tiers to speak of, got none")
        return iter(())  # it is part of the statement of tiers

    @classmethod
    def settings(cls, values: Mapping[str, Any]) -> Iterable[str]:
        return () if values["within_tiers"] else ("within_tiers: no",)
