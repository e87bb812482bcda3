"""What the PC algorithm returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from bestdag.constraint.skeleton import Ended, Level, Skeleton, TestList
from bestdag.errors import GraphError, require_known
from bestdag.graph._names import arc_text, show
from bestdag.graph.dag import Dag
from bestdag.graph.pdag import Pdag
from bestdag.independence.base import Independence
from bestdag.wording import count_of

__all__ = ["Conflict", "ConflictKind", "PCResult", "Step", "hidden_cause"]

ConflictKind = Literal[
    "v-structures", "ambiguous triple", "uncertain region", "no direction", "knowledge"
]


class Step(NamedTuple):
    """An arc, and why it points that way."""

    rule: str
    arc: tuple[str, str]
    because: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Answers that no graph agrees with.

    Attributes
    ----------
    kind : str
        "v-structures": two of them need a link in opposite directions, or together a cycle;
        "ambiguous triple": the separating sets do not agree about a node between two others;
        "uncertain region": removing one link depends on links that were removed as well;
        "no direction": no direction of a link agrees with the rules;
        "knowledge": the answers contradict a statement of the user.
    variables : tuple of str
        Two for a link, three for a triple, all of a region; none for a statement.
    text : str
        What the conflict is.
    resolution : str
        What was done.
    """

    kind: ConflictKind
    variables: tuple[str, ...]
    text: str
    resolution: str

    def is_about(self, one: str, other: str) -> bool:
        """Whether the link between the two is concerned."""
        if self.kind != "uncertain region":
            return {one, other} <= set(self.variables)
        pairs = (f"{show(a)} - {show(b)} given " for a, b in ((one, other), (other, one)))
        return any(pair in self.text for pair in pairs)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            "kind": self.kind,
            "variables": list(self.variables),
            "text": self.text,
            "resolution": self.resolution,
        }

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}; {self.resolution}"


def hidden_cause(one: str, other: str) -> str:
    """Say which hidden variable would explain a link that needs both directions (Figure 7.11)."""
    first, second = sorted((one, other))
    return f"a hidden common cause of {first} and {second} would explain it"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class PCResult:
    """A structure from tests of independence.

    Attributes
    ----------
    dag : Dag or None
        One member of the class, by Rule 4; None when a limit came before the directions.
    status : str
        "complete", "time limit" or "interrupted".
    levels : tuple of Level
        Questions, tests and removed links for each size of conditions.
    n_votes : int
        Further tests, for Rule 1 by votes.
    conflicts : tuple of Conflict
        Answers that contradict each other or the knowledge, and what was done.
    steps : tuple of Step
        Arcs in the order they were directed, with the rule for each.
    seconds : float
        Wall-clock time of the run.
    test : str
        Name of the test, or what answered in place of one.
    settings : mapping
        Settings of the algorithm and of the test.
    notes : tuple of str
        What a reader should know.
    nodes : tuple of str
        The variables, in the order of the data.
    directed : (list of arcs, list of edges) or None
        The links with their directions; None when a limit came first.
    first_phase : Skeleton
        The links and the tests behind them, by numbers in name order.
    required, forbidden : frozenset of (str, str)
        Pairs, in name order, that the knowledge joins, and pairs that it does not allow.
    """

    dag: Dag | None
    status: Ended
    levels: tuple[Level, ...]
    n_votes: int
    conflicts: tuple[Conflict, ...]
    steps: tuple[Step, ...]
    seconds: float
    test: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    nodes: tuple[str, ...]
    directed: tuple[list[tuple[str, str]], list[tuple[str, str]]] | None  # arcs and edges
    first_phase: Skeleton
    required: frozenset[tuple[str, str]] = frozenset()
    forbidden: frozenset[tuple[str, str]] = frozenset()

    @property
    def pdag(self) -> Pdag:
        """What the tests tell: arcs and undirected edges, a CPDAG when the answers agree."""
        return self.first_phase.graph(self.nodes, self.directed)

    @property
    def n_tests(self) -> int:
        """Questions of the first phase, counted as Algorithm 7.1 asks them."""
        return sum(level.questions for level in self.levels)

    @property
    def tests(self) -> TestList:
        """The tests with their numbers, in the order of the algorithm; Rule 1's come last."""
        return self.first_phase.tests()

    @property
    def skeleton(self) -> Pdag:
        """The links, without directions."""
        return self.pdag.skeleton()

    @property
    def sepsets(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """For each pair that is not linked, in name order, the set that separated it."""
        names, adjacency = self.first_phase.names, self.first_phase.adjacency
        return {
            (names[one], names[other]): tuple(names[i] for i in separating)
            for one, other, separating, _ in self.first_phase.separations()
            if not adjacency[one, other]
        }

    def separation(self, one: str, other: str) -> Independence | None:
        """Return the test that separated two nodes, or the one nearest to it; None without.

        For a pair that is not linked it is the test that removed the link; for a linked pair the
        test with the greatest p-value.

        Raises
        ------
        UnknownNameError
            A name that is not a node.
        """
        return self.first_phase.decisive_test(self._number(one), self._number(other))

    def _number(self, name: str) -> int:
        require_known("node", name, self.first_phase.names, who="explain")
        return self.first_phase.names.index(name)

    def explain(self, one: str, other: str) -> str:
        """Say why two nodes are linked or not, and why an arc points the way it does.

        Examples
        --------
        >>> from bestdag.constraint.pc import pc
        >>> result = pc(oracle=Dag.from_parents({"C": ["A", "B"]}))
        >>> print(result.explain("A", "B"))
        A and B are not linked: I(A, B) holds.
        >>> print(result.explain("A", "C"))
        A and C are linked: none of the 2 tests separates them.
        A -> C by rule 1: v-structure A -> C <- B.
        """
        i, j = self._number(one), self._number(other)
        a, b = sorted((one, other))
        pair = f"{show(a)} and {show(b)}"
        if a == b:
            raise GraphError(f"explain: needs two different nodes, got {show(a)} twice")
        test = self.first_phase.decisive_test(i, j)
        is_linked = bool(self.first_phase.adjacency[i, j])
        lines = [self._link_line(pair, (a, b), test, is_linked, self.first_phase.n_tests(i, j))]
        arcs = [step for step in self.steps if set(step.arc) == {a, b}]
        if is_linked and arcs:
            step = arcs[-1]
            lines.append(f"{arc_text(*step.arc)} by {step.rule}: {step.because}.")
            if step.arc not in self.pdag.arcs:
                lines[-1] = (
                    f"It may point either way; the Dag has {arc_text(*step.arc)} "
                    f"({step.rule}: {step.because})."
                )
        elif is_linked:
            lines.append("It has no direction.")
        lines += [f"Conflict: {c}." for c in self.conflicts if c.is_about(a, b)]
        return "\n".join(lines)

    def _link_line(
        self,
        pair: str,
        ends: tuple[str, str],
        test: Independence | None,
        is_linked: bool,
        n_tests: int,
    ) -> str:
        if not is_linked and ends in self.forbidden:
            said = "no set that was tried separates them"
            if test is not None and test.is_independent:
                said = f"{test.question} holds as well"
            return f"{pair} are not linked: your constraints forbid it; {said}."
        if is_linked and ends in self.required:
            against = ""
            if test is not None and test.is_independent:
                against = f", though {test.question} holds{_numbers(test)}"
            return f"{pair} are linked: your constraints require it{against}."
        if test is None:
            return f"{pair} are linked: they were not tested."
        if not is_linked:
            return f"{pair} are not linked: {test.question} holds{_numbers(test)}."
        if test.is_independent:
            return f"{pair} are linked: {test.question} holds, but the link was put back."
        nearest = f"; nearest is {test.question}{_numbers(test)}" if test.numbers else ""
        return (
            f"{pair} are linked: none of the {count_of(n_tests, 'test')} separates them{nearest}."
        )

    def to_dict(self, *, trace: bool = False) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON; the tests only with `trace`."""
        made: dict[str, Any] = {
            "arcs": [list(arc) for arc in self.pdag.arcs],
            "edges": [list(edge) for edge in self.pdag.edges],
            "tests": self.n_tests,
            "conflicts": [conflict.to_dict() for conflict in self.conflicts],
            "sepsets": [
                {"pair": list(pair), "given": list(separating)}
                for pair, separating in self.sepsets.items()
            ],
            "levels": [level._asdict() for level in self.levels],
            "votes": self.n_votes,
            "dag": None if self.dag is None else [list(arc) for arc in self.dag.arcs],
            "variables": list(self.pdag.nodes),
            "test": self.test,
            "status": self.status,
            "seconds": self.seconds,
            "notes": list(self.notes),
            "settings": dict(self.settings),
        }
        if trace:
            made["trace"] = [test.to_dict() for test in self.tests]
            made["steps"] = [
                {"rule": step.rule, "arc": list(step.arc), "because": step.because}
                for step in self.steps
            ]
        return made

    def summary(self) -> str:
        """Say in one line how it ended and how large the structure is."""
        n_arcs = 0 if self.directed is None else len(self.directed[0])
        n_edges = int(self.first_phase.adjacency.sum()) // 2 - n_arcs
        numbers = f"{count_of(n_arcs, 'arc')}, {count_of(n_edges, 'edge')}"
        tests = count_of(self.n_tests, "question")
        conflicts = count_of(len(self.conflicts), "conflict")
        return f"{self.status}; {numbers}; {tests}; {conflicts}"

    def __repr__(self) -> str:
        return f"<PCResult: {self.summary()}>"

    def __str__(self) -> str:
        levels = ", ".join(f"{level.questions:,}" for level in self.levels)
        lines = [f"PC ({self.test}): {self.summary()}", f"questions by size of condition: {levels}"]
        return "\n".join([*lines, *self.notes, *map(str, self.conflicts), str(self.pdag)])


def _numbers(test: Independence) -> str:
    return f" ({test.numbers})" if test.numbers else ""
