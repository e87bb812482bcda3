"""The literal check of a certificate, in exact arithmetic: it trusts no list, part or tree.

Whatever the parts are, they bound the score: restricted to the variables of a part, a choice of
parents that closes no cycle closes none inside, and is worth no more than the best choice of the
part's own sets once these cover all others (each set has, inside the part, a subset among them that
scores no less). So no structure scores more than what the parts prove together.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bestdag.certificate.file import Case, OptimalityCertificate, Part
from bestdag.certificate.numbers import power_below
from bestdag.errors import BestdagError, CertificateError
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge, NodeKnowledge
from bestdag.scores.table import ParentSets, ScoreTable
from bestdag.search.exact.bnc.certificate import Certificate as TreeCertificate
from bestdag.search.exact.bnc.certificate import verify as verify_tree
from bestdag.search.exact.bnc.engine import solve_bnc
from bestdag.search.exact.statements.statements import Limit, Split, Statements
from bestdag.wording import count_of

__all__ = ["MOST_BY_RECURSION", "Summary", "check", "nodes_of", "popcount"]

# The recursion over subsets takes 8 n 2^(n - 1) bytes: 84 MB, and a few seconds.
MOST_BY_RECURSION = 20
# The structure costs less than 2^60 units.
_COST_BITS = 60
# Exponents of units beyond those of doubles mean nothing, and would fill the memory.
_MOST_EXPONENT = 1100


class _Set(NamedTuple):
    score: float
    mask: int
    place: int  # in its list


@dataclass(slots=True)
class Summary:
    """What was checked, counted."""

    n_sets: int = 0
    n_trees: int = 0
    n_nodes: int = 0
    by_recursion: list[int] = field(default_factory=list)  # numbers of variables
    by_branch_and_cut: list[int] = field(default_factory=list)

    def words(self) -> Iterator[str]:
        """Say what was checked."""
        yield f"{count_of(self.n_sets, 'listed parent set')}, the structure and its score"
        if self.n_trees:
            yield (
                f"{count_of(self.n_trees, 'branch-and-cut proof')} with "
                f"{count_of(self.n_nodes, 'node')}, in exact arithmetic"
            )
        for sizes, how in (
            (self.by_recursion, "by a recursion in whole numbers"),
            (self.by_branch_and_cut, "by branch and cut, whose proof was checked"),
        ):
            if sizes:
                parts, largest = count_of(len(sizes), "part"), count_of(max(sizes), "variable")
                yield (
                    f"{parts} of at most {largest}, proved by dynamic programming, which leaves "
                    f"nothing to check: solved again {how}"
                )


def check(certificate: OptimalityCertificate, deadline: float = math.inf) -> Summary:
    """Check that no structure from the lists scores more than claimed, and that this one does.

    Parameters
    ----------
    certificate : OptimalityCertificate
    deadline : float
        A value of `time.monotonic`, for parts that are solved again.

    Raises
    ------
    CertificateError
        With the place and the reason.
    """
    return _Check(certificate, deadline).run()


def nodes_of(certificate: OptimalityCertificate) -> tuple[Knowledge, NodeKnowledge]:
    """Return the statements, and what follows from them for each variable."""
    try:
        knowledge = Knowledge.from_dict(certificate.knowledge)
        return knowledge, knowledge.for_nodes(certificate.names)
    except (BestdagError, TypeError, ValueError, KeyError, AttributeError) as error:
        raise _wrong(f"the statements cannot be read: {error}") from None


def _wrong(reason: str) -> CertificateError:
    return CertificateError(f"certificate: {reason}")


class _Check:
    def __init__(self, certificate: OptimalityCertificate, deadline: float) -> None:
        self.claim = certificate
        self.deadline = deadline
        self.n = len(certificate.names)
        self.lists: list[list[_Set]] = []
        self.summary = Summary()

    def run(self) -> Summary:
        claim = self.claim
        self.check_numbers()
        self.lists = [self.checked_list(v) for v in range(self.n)]
        self.summary.n_sets = sum(map(len, self.lists))
        knowledge, nodes = nodes_of(claim)
        self.check_structure(knowledge)
        proved = self.proved(Statements.of(nodes))
        claimed = Fraction(claim.score) + Fraction(claim.resolution)
        if proved > claimed:
            raise _wrong(
                f"a score of {float(proved)!r} is not ruled out, and {claim.score!r} within "
                f"{claim.resolution!r} is claimed to be the best"
            )
        return self.summary

    # The structure and the lists.

    def check_numbers(self) -> None:
        claim = self.claim
        if not self.n or len(set(claim.names)) != self.n:
            raise _wrong("the names of the variables must be distinct, and there must be some")
        if len(claim.lists) != self.n or len(claim.parents) != self.n:
            raise _wrong(f"{self.n} variables need as many lists and families")
        if not (math.isfinite(claim.score) and 0.0 <= claim.resolution < math.inf):
            raise _wrong("score and resolution must be finite, the resolution at least 0")
        if claim.max_parents is not None and claim.max_parents < 0:
            raise _wrong("the limit of parents is below 0")

    def checked_list(self, v: int) -> list[_Set]:
        listed, most = self.claim.lists[v], self.claim.max_parents
        if not listed.scores or len(listed.scores) != len(listed.parents):
            raise _wrong(f"variable {v} needs parent sets, and a score for each")
        sets = []
        for place, (score, parents) in enumerate(zip(listed.scores, listed.parents, strict=True)):
            if any(not 0 <= p < self.n or p == v for p in parents):
                raise _wrong(f"set {place} of variable {v} has a parent that cannot be one")
            if any(p >= q for p, q in itertools.pairwise(parents)):
                raise _wrong(f"set {place} of variable {v}: parents must be ascending")
            if most is not None and len(parents) > most:
                raise _wrong(f"set {place} of variable {v} has more than {most} parents")
            if not math.isfinite(score):
                raise _wrong(f"set {place} of variable {v} has no finite score")
            sets.append(_Set(score, _mask(parents), place))
        if len({one.mask for one in sets}) != len(sets):
            raise _wrong(f"variable {v} lists a set twice")
        return sets

    def check_structure(self, knowledge: Knowledge) -> None:
        claim, names = self.claim, self.claim.names
        scores = []
        for v, parents in enumerate(claim.parents):
            if any(not 0 <= p < self.n for p in parents):
                raise _wrong(f"the structure has a parent of variable {v} that is not there")
            mask = _mask(set(parents))
            score = next((one.score for one in self.lists[v] if one.mask == mask), None)
            if score is None or len(set(parents)) != len(parents):
                raise _wrong(f"the structure's parents of {names[v]!r} are not listed")
            scores.append(score)
        if not _has_acyclic_choice([[_mask(parents)] for parents in claim.parents]):
            raise _wrong("the structure has a cycle")
        if math.fsum(scores) != claim.score:
            raise _wrong(f"the structure scores {math.fsum(scores)!r}, not {claim.score!r}")
        arcs = [(names[p], names[v]) for v, own in enumerate(claim.parents) for p in own]
        broken = knowledge.violations(Dag(names, arcs))
        if broken:
            raise _wrong(f"the structure violates a constraint: {broken[0]}")

    # The proof.

    def proved(self, statements: Statements) -> Fraction:
        """Return what no structure that obeys the statements exceeds, by all cases."""
        cases = self.claim.cases
        waiting: list[tuple[int, tuple[Limit, ...]]] = [(0, ())]
        seen: set[int] = set()
        highest: Fraction | None = None
        while waiting:
            number, limits = waiting.pop()
            if number in seen or not 0 <= number < len(cases):
                raise _wrong(f"case {number} is missing or met twice")
            seen.add(number)
            case = cases[number]
            split = self.checked_split(number, case, statements)
            if split is not None:
                pairs = zip(case.children, split, strict=True)
                waiting += [(child, (*limits, *more)) for child, more in pairs]
                continue
            lists = [
                [one for one in own if all(_obeys(one.mask, x) for x in limits if x.child == v)]
                for v, own in enumerate(self.lists)
            ]
            if not _has_acyclic_choice([[one.mask for one in own] for own in lists]):
                continue
            bound = self.proved_by_parts(case.parts, lists)
            highest = bound if highest is None else max(highest, bound)
        if highest is None:
            raise _wrong("no case is left that has a structure")
        return highest

    def checked_split(
        self, number: int, case: Case, statements: Statements
    ) -> list[tuple[Limit, ...]] | None:
        """Return the alternatives of a case that is split, None for one that is not."""
        if case.edge is None and not case.path and not case.entered:
            return None
        split = Split(edge=case.edge, path=case.path, entered=case.entered)
        if any(not 0 <= v < self.n for v in (*(case.edge or ()), *case.path, *case.entered)):
            raise _wrong(f"case {number} is split by variables that are not there")
        alternatives = split.alternatives(self.n)
        if not statements.is_valid(split) or len(alternatives) != len(case.children):
            raise _wrong(f"case {number} is split without reason")
        return alternatives

    def proved_by_parts(self, parts: Sequence[Part], lists: Sequence[list[_Set]]) -> Fraction:
        variables = sorted(v for part in parts for v in part.variables)
        if variables != list(range(self.n)):
            raise _wrong("every variable must be in exactly one part")
        total = Fraction()
        for part in parts:
            total += self.bound_of(part, self.covering_table(part, lists))
        return total

    def bound_of(self, part: Part, table: ScoreTable) -> Fraction:
        """Return what no acyclic choice from the table of a part exceeds."""
        n, summary = table.n_variables, self.summary
        if n == 1:
            return Fraction(float(table.child(0).scores[0]))
        if part.tree is not None:
            summary.n_trees += 1
            summary.n_nodes += len(part.tree.nodes)
            return _bound_of_tree(table, part.tree.certificate())
        if n <= MOST_BY_RECURSION:
            summary.by_recursion.append(n)
            structure = [_mask(self.claim.parents[v]) for v in part.variables]
            number = {v: i for i, v in enumerate(part.variables)}
            inside = [_mask([number[p] for p in _members(m) if p in number]) for m in structure]
            return _best_by_recursion(table, inside)
        solved = solve_bnc(table, deadline=None if math.isinf(self.deadline) else self.deadline)
        if solved.status == "interrupted":
            raise KeyboardInterrupt
        if not solved.is_proved:
            raise _wrong(
                f"a part of {n} variables was proved by dynamic programming, which leaves nothing "
                "to check, and it could not be solved again in time"
            )
        summary.by_branch_and_cut.append(n)
        return _bound_of_tree(table, solved.proofs[0])

    def covering_table(self, part: Part, lists: Sequence[list[_Set]]) -> ScoreTable:
        """Return the part's own sets, once they cover all others inside it."""
        inside = _mask(part.variables)
        if list(part.variables) != sorted(set(part.variables)):
            raise _wrong("the variables of a part must be ascending")
        if len(part.sets) != len(part.variables):
            raise _wrong("a part needs a list of sets for each of its variables")
        number = {v: i for i, v in enumerate(part.variables)}
        children = []
        for v, places in zip(part.variables, part.sets, strict=True):
            left = {one.place: one for one in lists[v]}
            if any(place not in left for place in places):
                raise _wrong(f"a part uses a set of variable {v} that is not there")
            own: dict[int, float] = {}
            for place in places:
                mask = left[place].mask & inside
                own[mask] = max(left[place].score, own.get(mask, -math.inf))
            _require_covered(v, lists[v], own, inside)
            sets = [[number[p] for p in _members(mask)] for mask in own]
            children.append(ParentSets.of(list(own.values()), sets))
        return ScoreTable([self.claim.names[v] for v in part.variables], children)


def _require_covered(v: int, lists: list[_Set], own: dict[int, float], inside: int) -> None:
    """Refuse a set that is better than all of the part's own sets within it."""
    for one in lists:
        mask = one.mask & inside
        if own.get(mask, -math.inf) >= one.score or own.get(0, -math.inf) >= one.score:
            continue
        if not any(other & mask == other and s >= one.score for other, s in own.items()):
            raise _wrong(f"a part leaves out set {one.place} of variable {v}, which scores more")


def _bound_of_tree(table: ScoreTable, tree: TreeCertificate) -> Fraction:
    n = table.n_variables
    if abs(tree.exponent) > _MOST_EXPONENT:
        raise _wrong(f"multipliers in units of 2^{tree.exponent} are out of range")
    for node in tree.nodes:
        if node.arc is not None and not all(0 <= v < n for v in node.arc):
            raise _wrong("a node is split by an arc between variables that are not there")
    if not all(map(math.isfinite, (tree.score, tree.resolution, tree.bound))):
        raise _wrong("score, resolution and bound of a part must be finite")
    verify_tree(table, tree)
    return max(Fraction(tree.score) + Fraction(tree.resolution), Fraction(tree.bound))


def _best_by_recursion(table: ScoreTable, structure: Sequence[int]) -> Fraction:
    """Return what no acyclic choice exceeds, by adding one variable after another.

    Costs below the best scores are rounded down to whole units, so that what comes out is never
    too low; beyond the cost of the structure, by its parents as masks, they do not matter
    (Silander and Myllymäki 2006).
    """
    n = table.n_variables
    exact = [list(map(Fraction, table.child(v).scores.tolist())) for v in range(n)]
    masks = [[_mask(parents) for _, parents in table.child(v)] for v in range(n)]
    best = sum((scores[0] for scores in exact), Fraction())
    cost = Fraction()
    for scores, own, mine in zip(exact, masks, structure, strict=True):
        # Another case of the statements may lack its sets: then the worst there is.
        fitting = (s for s, mask in zip(scores, own, strict=True) if mask & mine == mask)
        cost += scores[0] - next(fitting, scores[-1])
    if not cost:
        return best
    unit = Fraction(2) ** (power_below(cost) + 2 - _COST_BITS)
    limit = int(cost // unit) + 1
    inside = []
    for v in range(n):
        costs = np.full(1 << (n - 1), limit, np.int64)
        for score, mask in zip(exact[v], masks[v], strict=True):
            place = mask & ((1 << v) - 1) | mask >> (v + 1) << v
            costs[place] = min(int(costs[place]), (exact[v][0] - score) // unit)
        for bit in range(n - 1):  # the cheapest of all subsets
            pairs = costs.reshape(-1, 2, 1 << bit)
            np.minimum(pairs[:, 1], pairs[:, 0], out=pairs[:, 1])
        inside.append(costs)
    return best - _least_cost(inside, limit) * unit


def _least_cost(inside: Sequence[npt.NDArray[np.int64]], limit: int) -> int:
    """Return the least cost of an order: each variable's is that within those before it.

    Costs above the limit are cut off there, so that no sum of two is too large.
    """
    n = len(inside)
    least = np.full(1 << n, limit, np.int64)
    least[0] = 0
    subsets = np.arange(1 << n)
    counts = popcount(subsets)
    for size in range(1, n + 1):
        layer = subsets[counts == size]
        for v in range(n):
            mine = layer[layer >> v & 1 == 1]
            rest = mine ^ (1 << v)
            others = (rest & ((1 << v) - 1)) | (rest >> (v + 1) << v)
            least[mine] = np.minimum(least[mine], least[rest] + inside[v][others])
    return int(least[-1])


def popcount(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Count the bits of each number."""
    counts, left = np.zeros(len(numbers), np.int64), numbers.copy()
    while left.any():
        counts += left & 1
        left >>= 1
    return counts


def _obeys(mask: int, limit: Limit) -> bool:
    """Whether a set includes all, none or some of a limit's members."""
    inside = mask & _mask(limit.members)
    if limit.kind == "none":
        return not inside
    return inside == _mask(limit.members) if limit.kind == "all" else bool(inside)


def _has_acyclic_choice(masks: Sequence[Sequence[int]]) -> bool:
    placed, before = 0, -1
    while placed != before:
        before = placed
        for v, own in enumerate(masks):
            if any(mask & ~placed == 0 for mask in own):
                placed |= 1 << v
    return placed == (1 << len(masks)) - 1


def _mask(members: Sequence[int] | set[int]) -> int:
    return sum(1 << m for m in members)


def _members(mask: int) -> list[int]:
    return [v for v in range(mask.bit_length()) if mask >> v & 1]
