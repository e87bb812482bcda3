"""The PC algorithm: links by tests of independence, then directions by rules."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from bestdag.constraint.orientation import Orientation, OutOfTime, by_first_set, by_votes
from bestdag.constraint.result import Conflict, PCResult, hidden_cause
from bestdag.constraint.settings import PC, Source, source_of
from bestdag.constraint.skeleton import find_skeleton, seconds_until
from bestdag.constraint.uncertain import resolve_uncertain_regions
from bestdag.data.readers import as_dataset
from bestdag.errors import (
    DataWarning,
    GraphError,
    InvalidParameterError,
    caller_level,
    require_positive,
)
from bestdag.graph._names import show
from bestdag.graph.dag import Dag
from bestdag.graph.knowledge import Knowledge, NodeKnowledge
from bestdag.graph.knowledge.knowledge import known_as, require_knowledge
from bestdag.independence import IndependenceTest
from bestdag.independence.oracle import Answers
from bestdag.machine import require_memory
from bestdag.progress import current_reporter, listening, warn_of_interrupt
from bestdag.registry import make
from bestdag.wording import arg, by_reader, first_names

__all__ = ["pc", "pc_skeleton"]

# Memory for every pair of variables, in bytes.
_BYTES_PER_PAIR = 110


def pc(
    data: Any = None,
    *,
    oracle: Dag | Answers | None = None,
    test: IndependenceTest | str = "g2",
    knowledge: Knowledge | Sequence[str] | None = None,
    keep_tests: bool = True,
    time_limit: float | None = None,
    threads: int | None = None,
    **settings: Any,
) -> PCResult:
    r"""Learn a structure by tests of independence: the PC algorithm.

    Parameters
    ----------
    data : Dataset, path or frame
        A Dataset, or anything that `read` takes. Without data an `oracle` answers.
    oracle : Dag, or an object with ``nodes`` and ``is_independent(one, other, given)``
        Answers instead of data: a Dag by d-separation, `StatedIndependences` from a list.
    test : IndependenceTest or str, default "g2"
        "g2", "x2", "permutation", or one of these with settings.
    knowledge : Knowledge or list of str, optional
        Arcs and tiers that hold even against the tests; `conflicts` tells where they disagree.
    keep_tests : bool, default True
        Keep the numbers of every test, as long as they take no more than a quarter of the memory
        that is left and 1 GiB; `notes` say where there were more.
    time_limit : float, optional
        Seconds, from when the data are read. What was removed until then is removed for a reason;
        a run that is cut short has no directions.
    threads : int, optional
        One per processor unless given.
    **settings
        Settings of `PC`: alpha, stable, necessary_path, max_conditioning, v_structures, choose,
        order, seed, repair.

    Returns
    -------
    PCResult

    Raises
    ------
    InvalidParameterError
        Both `data` and `oracle`, or neither; a setting out of range.
    UnknownNameError
        A test or a setting that does not exist.
    GraphError
        Knowledge that no graph satisfies, or an `order` that does not list every variable.
    NotEnoughMemoryError
        More pairs of variables than fit in memory.

    Notes
    -----
    With n variables of at most k neighbours there are at most
    :math:`n (n - 1) \sum_{i=0}^{k} \binom{n - 1}{i}` questions [1]_: sparse graphs take few.

    Constant columns, and pairs without degrees of freedom, have nothing that speaks against
    independence: they are not linked. With fewer rows than configurations, tests lose their power
    and links are lost; ``G2Test(rows_per_df=5)`` keeps such links instead. The result does not
    depend on the order of columns or rows, nor on the number of threads; as printed
    (``stable=False``) it depends on `order`.

    References
    ----------
    .. [1] Spirtes, Glymour and Scheines (2000). "Causation, Prediction, and Search." Section 5.4.2.
    .. [2] Jensen and Nielsen (2007). "Bayesian Networks and Decision Graphs." Section 7.1.
    .. [3] Colombo and Maathuis (2014). "Order-independent constraint-based causal structure
       learning." JMLR 15.
    .. [4] Meek (1995). "Causal inference and causal explanation with background knowledge." UAI.
    .. [5] Steck (2001). "Constraint-based structural learning in Bayesian networks using finite
       data sets." Section 3.2, the necessary path condition and uncertain regions.

    Examples
    --------
    >>> from bestdag.examples import example
    >>> result = pc(example("asia.csv"), alpha=0.01)
    >>> result.pdag.adjacent("smoke")
    ('bronc', 'lung')
    """
    chosen: PC = make("algorithm", "pc", {"pc": PC}, {}, settings)
    source = source_of(data, oracle, test, chosen.alpha, threads)
    with listening(current_reporter()):
        result = _Run(
            source, chosen, knowledge, keep_tests=keep_tests, time_limit=time_limit
        ).result()
    if result.status == "interrupted":
        warn_of_interrupt("pc", result, "links that were not tested are still in it")
    return result


def pc_skeleton(
    data: Any,
    *,
    alpha: float = 0.05,
    test: IndependenceTest | str = "g2",
    knowledge: Knowledge | Sequence[str] | None = None,
    time_limit: float | None = None,
    threads: int | None = None,
    **settings: Any,
) -> Knowledge:
    """Return the statement that arcs run along the links that the tests of PC leave.

    A search within it, ``learn(data, knowledge=pc_skeleton(data))``, is a hybrid one, as in
    max-min hill climbing [1]_: tests say which pairs are adjacent, a score says how. What is
    proved is proved within the skeleton.

    Parameters
    ----------
    data : Dataset, path or frame
        Complete rows.
    alpha : float, default 0.05
        Significance level of the tests.
    test, threads
        As for `pc`.
    knowledge : Knowledge or list of str, optional
        What links must obey; it is part of what is returned.
    time_limit : float, optional
        Seconds for the tests. Links that are not tested until then stay, which is warned of.
    **settings
        Further settings of `PC`.

    Raises
    ------
    InvalidParameterError
        Rows with missing values.
    KeyboardInterrupt
        After Ctrl-C: part of the tests is no skeleton.

    References
    ----------
    .. [1] Tsamardinos, Brown and Aliferis (2006). "The max-min hill-climbing Bayesian network
       structure learning algorithm." Machine Learning 65.

    Examples
    --------
    >>> from bestdag.examples import example
    >>> known = pc_skeleton(example("asia.csv"), alpha=0.01)
    >>> len(known.skeleton), ("bronc", "smoke") in known.skeleton
    (5, True)
    """
    chosen: PC = make("algorithm", "pc", {"pc": PC}, {}, {"alpha": alpha, **settings})
    dataset = as_dataset(data, missing="keep")
    if dataset.has_missing:
        raise InvalidParameterError(
            f"pc_skeleton: {by_reader('the tests', 'the tests of --skeleton pc')} need complete "
            f"rows; leave it out, or pass {arg('missing', 'drop')} or {arg('missing', 'state')}"
        )
    source = source_of(dataset, None, test, chosen.alpha, threads)
    known = known_as(knowledge) or Knowledge()
    with listening(current_reporter()):
        skeleton = _Run(source, chosen, known, keep_tests=False, time_limit=time_limit).skeleton
        if skeleton.ended == "interrupted":
            raise KeyboardInterrupt
        if chosen.repair:
            resolve_uncertain_regions(skeleton, repair=True)
    if skeleton.ended == "time limit":
        warnings.warn(
            DataWarning(
                "pc_skeleton: there was no time for all tests, so that there are more links than "
                "need be"
            ),
            stacklevel=caller_level(),
        )
    return known | Knowledge(skeleton=skeleton.links())


class _Run:
    """One run: the first phase, then the second."""

    def __init__(
        self,
        source: Source,
        settings: PC,
        knowledge: Knowledge | Sequence[str] | None,
        *,
        keep_tests: bool,
        time_limit: float | None,
    ) -> None:
        self.started = time.monotonic()
        if time_limit is not None:
            require_positive("pc", "time_limit", time_limit)
        self.deadline = None if time_limit is None else self.started + time_limit
        self.source = source
        self.settings = settings
        self.names = tuple(sorted(source.names))
        self.knowledge = require_knowledge("pc", known_as(knowledge))
        self.nodes: NodeKnowledge = self.knowledge.for_nodes(self.names)
        self.conflicts: list[Conflict] = []
        self.notes = list(source.notes)
        self.rank = self._rank()
        self.reporter = current_reporter()
        if self.reporter is not None:
            self.reporter.until(self.deadline)
        n_pairs = len(self.names) * (len(self.names) - 1) / 2
        require_memory(
            "pc",
            f"{n_pairs:,.0f} pairs of variables",
            _BYTES_PER_PAIR * n_pairs,
            "use fewer columns",
        )
        self.skeleton = find_skeleton(
            source.native,
            self.names,
            settings,
            self.nodes,
            has_numbers=source.has_numbers,
            keep_tests=keep_tests,
            deadline=self.deadline,
            threads=source.threads,
            reporter=self.reporter,
        )
        self.keep_tests = keep_tests

    def _rank(self) -> list[int]:
        """Return the place of each variable in the order of choices."""
        if self.settings.order is None:
            return list(range(len(self.names)))
        order = self.settings.order
        if sorted(order) != list(self.names):
            differ = first_names(sorted(set(order) ^ set(self.names)))
            raise GraphError(
                f"pc: {arg('order')} must name every variable once; they differ in {differ}"
            )
        place = {name: i for i, name in enumerate(order)}
        return [place[name] for name in self.names]

    def result(self) -> PCResult:
        """Direct the links and put everything together."""
        skeleton = self.skeleton
        status = skeleton.ended
        directed, member = None, None
        if status == "complete":
            self.conflicts += resolve_uncertain_regions(skeleton, repair=self.settings.repair)
            self._check_links()
            try:
                directed = self._directed()
                member = self._member(directed)
            except OutOfTime:
                status, directed = "time limit", None
            except KeyboardInterrupt:
                status, directed = "interrupted", None
        if directed is None:
            self.notes.append("the links have no directions: a limit came before them")
        if directed is not None and member is not None:
            self.conflicts += member.conflicts
        dag = None if member is None else Dag(self.source.names, member.arcs())
        if dag is not None:
            self._check_statements(dag)
        self._note_kept_tests()
        pairs = self._known_pairs()
        return PCResult(
            dag=dag,
            status=status,
            levels=tuple(level for level in skeleton.levels if level.questions or level.size == 0),
            n_votes=skeleton.n_votes,
            conflicts=tuple(self.conflicts),
            steps=() if member is None else tuple(member.steps),
            seconds=time.monotonic() - self.started,
            test=self.source.test,
            settings={**asdict(self.settings), **self.source.settings},
            notes=tuple(self.notes),
            nodes=self.source.names,
            directed=None if directed is None else (directed.arcs(), directed.edges()),
            first_phase=skeleton,
            required=pairs[0],
            forbidden=pairs[1],
        )

    def _directed(self) -> Orientation:
        """Direct what follows from the tests and the knowledge."""
        skeleton, settings = self.skeleton, self.settings
        directed = Orientation(self.names, skeleton.adjacency, self.deadline)
        directed.direct_known(self.nodes.allowed, self.nodes.required)
        votes = None
        if settings.v_structures != "standard":
            if self.reporter is not None:
                self.reporter.report("asking about v-structures")
            seconds = seconds_until(self.deadline)
            votes = skeleton.votes(settings.max_conditioning, seconds, self.source.threads)
            if votes is None:
                raise OutOfTime
        v_structures = (
            by_first_set(skeleton, directed)
            if votes is None
            else by_votes(skeleton, directed, settings, self.nodes, votes)
        )
        directed.introduce(list(v_structures))
        directed.close()
        return directed

    def _member(self, directed: Orientation) -> Orientation:
        """Rule 4: direct the rest, and report what no direction could save."""
        member = directed.copy()
        rng = np.random.default_rng(self.settings.seed)
        member.choose_all(self.rank, rng if self.settings.choose == "random" else None)
        new = member.v_structures() - directed.v_structures() - member.ambiguous
        for one, middle, other in sorted(new):
            a, c, b = (show(self.names[i]) for i in (one, middle, other))
            member.conflicts.append(
                Conflict(
                    "no direction",
                    tuple(self.names[i] for i in (one, middle, other)),
                    f"the links cannot be directed without the v-structure {a} -> {c} <- {b}, "
                    f"which no test supports; {hidden_cause(a, c)}, or of {c} and {b}",
                    "the Dag has it",
                )
            )
        return member

    def _known_pairs(self) -> tuple[frozenset[tuple[str, str]], frozenset[tuple[str, str]]]:
        """Return the pairs that the knowledge joins, and the pairs that it does not allow."""
        if self.knowledge.is_empty:
            return frozenset(), frozenset()
        nodes, names = self.nodes, self.names
        joined = np.argwhere(np.triu(nodes.required | nodes.required.T)).tolist()
        joined += [sorted(pair) for pair in nodes.required_edges]
        separated = np.argwhere(np.triu(~(nodes.allowed | nodes.allowed.T), 1)).tolist()
        return (
            frozenset((names[i], names[j]) for i, j in joined),
            frozenset((names[i], names[j]) for i, j in separated),
        )

    def _check_links(self) -> None:
        """Report links that the knowledge demands or forbids against the tests."""
        demanded, forbidden = self._known_pairs()
        number = {name: i for i, name in enumerate(self.names)}
        for one, other in sorted(demanded):
            test = self.skeleton.decisive_test(number[one], number[other])
            if test is not None and test.is_independent:
                numbers = f" ({test.numbers})" if test.numbers else ""
                text = f"{show(one)} and {show(other)} must be linked, though {test.question} holds"
                self.conflicts.append(
                    Conflict("knowledge", (one, other), text + numbers, "the link stays")
                )
        for one, other in sorted(forbidden):
            test = self.skeleton.decisive_test(number[one], number[other])
            if test is not None and not test.is_independent:
                text = (
                    f"{show(one)} and {show(other)} must not be linked, though no set of "
                    "neighbours separates them"
                )
                self.conflicts.append(Conflict("knowledge", (one, other), text, "there is no link"))

    def _check_statements(self, dag: Dag) -> None:
        """Report statements that the Dag breaks: those about paths and numbers of parents."""
        for broken in self.knowledge.violations(dag):
            self.conflicts.append(
                Conflict("knowledge", (), f"the Dag breaks {broken}", "it stays as the tests say")
            )

    def _note_kept_tests(self) -> None:
        if not self.keep_tests:
            return
        made = sum(level.tests for level in self.skeleton.levels) + self.skeleton.n_votes
        n_listed = self.skeleton.n_logged
        if n_listed < made:
            self.notes.append(
                f"the first {n_listed:,} of {made:,} tests are listed; memory is short"
            )
