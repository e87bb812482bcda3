"""Other structures on the page: those next to the best, and those that other scores choose."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from bestdag.drawing.text import escaped
from bestdag.errors import BestdagError, InvalidParameterError
from bestdag.graph.dag import Dag
from bestdag.graph.plotting import plot_dag
from bestdag.report.markup import drawn, paragraph, section, table
from bestdag.scores import SCORES
from bestdag.search.auto import Auto
from bestdag.search.exact.dp.all_sets import can_share_sets
from bestdag.search.exact.search import Exact
from bestdag.search.problem import Problem
from bestdag.wording import count_of

if TYPE_CHECKING:
    from bestdag.graph.pdag import Pdag
    from bestdag.learned import Result
    from bestdag.scores.base import Score
    from bestdag.scores.scorer import Scorer
    from bestdag.search.result import SearchResult
    from bestdag.search.structures import Structures

__all__ = ["near_best_section", "other_scores_section", "scorer_for"]

_MOST_LISTED = 100
# All other scores together have as long as learning took, but at least this, in seconds.
_LEAST_SECONDS = 1.0
# Not worth beginning for less.
_LEAST_SHARE = 0.01
# Where the own score took no longer for its proof, so do others of its form, over the same counts.
_QUICK = 0.1
# Small graphs are drawn of networks with so many variables, and so many of them.
_MOST_NODES, _MOST_GRAPHS = 40, 12
_MOST_CHARACTERS = 300_000  # of all of them together
# Without a penalty every arc raises the score.
_LEFT_OUT = ("ll",)


def near_best_section(listed: Structures) -> str:
    """List the near-optimal structures, and what is different in each."""
    head = ["rank", "drop in log score"]
    if listed.has_bayes_factors:
        head.append("Bayes factor")
    rows = []
    for number, item in enumerate(listed[:_MOST_LISTED]):
        row = [f"{number + 1:,}", f"{max(0.0, listed[0].score - item.score):.6f}"]
        factor = listed.bayes_factor(number)
        if listed.has_bayes_factors:
            row.append("" if factor is None else f"{factor:.4g}")
        rows.append([listed.difference(number), *row])
    says = [paragraph(text) for text in (listed.summary(), *listed.notes)]
    if len(listed) > _MOST_LISTED:
        says.append(paragraph(f"The first {_MOST_LISTED} of {len(listed):,}:"))
    shown = table(["difference from the best", *head], rows)
    return section("near", "Near-optimal structures", *says, shown)


@dataclass(frozen=True, slots=True, eq=False)
class _Choice:
    score: Score
    result: SearchResult
    cpdag: Pdag


def scorer_for(result: Result, threads: int | None) -> Callable[[Score], Scorer]:
    """Return what makes a scorer of another score for the same table, treated in the same way.

    There is one for each name, made when it is asked for first. Scores that do not suit missing
    values are refused.
    """
    data, treatment = result.dataset, result.treatment
    assert data is not None
    own = None if result.counts is None else result.scorer(threads=threads).without_prior()
    made: dict[str, Scorer] = {}

    def make(score: Score) -> Scorer:
        scorer = made.get(score.name)
        if scorer is None:
            refusal = treatment.refusal(score)
            if refusal is not None:
                raise InvalidParameterError(f"{treatment.name} {refusal}")
            if own is None:
                scorer = treatment.scorer(data, score, None, threads=threads, dag=result.dag)
            else:
                scorer = own.by(score)
            assert scorer is not None
            made[score.name] = scorer
        return scorer

    return make


def other_scores_section(
    result: Result, make_scorer: Callable[[Score], Scorer] | None, threads: int | None
) -> str:
    """Show what other scores choose from the same table; empty where nothing can be said.

    What was learned within a skeleton, or by structural EM, is not compared: the rules, or the
    counts, come from other work than the search.
    """
    if result.dataset is None or make_scorer is None or result.limits.has_skeleton:
        return ""
    if result.dataset.has_missing and not result.treatment.has_mean_scores:
        return ""
    choices = list(_choices(result, make_scorer, threads))
    if not choices:
        return ""
    own, cpdag = _links(result.dag), result.dag.cpdag()
    determined = cpdag.arcs
    rows = []
    for choice in choices:
        links = _links(choice.result.dag)
        # Arcs of all equivalent structures here that are the other way round in all of theirs.
        compelled = set(choice.cpdag.arcs)
        turned = sum((b, a) in compelled for a, b in determined)
        numbers = [len(links), len(links & own), turned, len(links - own), len(own - links)]
        shown = [f"{number:,}" for number in numbers]
        rows.append([f"{choice.score!r:.80}", choice.result.status, *shown])
    head = ["score", "status", "arcs", "shared", "of these reversed", "only there", "only here"]
    says = (
        "The network that each other score selects, with its defaults; all searches together take "
        "no longer than learning took, or one second. Reversed: arcs whose direction is determined "
        "in both networks, and different."
    )
    graphs = _graphs(result, cpdag, choices)
    return section(
        "others",
        "Networks selected by other scores",
        paragraph(says),
        table(head, rows, left=2),
        graphs,
    )


def _choices(
    result: Result, make_scorer: Callable[[Score], Scorer], threads: int | None
) -> Iterator[_Choice]:
    """Learn by each of the other scores, with all of its defaults."""
    assert result.scored_by is not None
    end = time.monotonic() + max(_LEAST_SECONDS, result.seconds)
    pose = partial(
        Problem,
        knowledge=result.knowledge,
        max_parents=result.limits.max_parents,
        workers=threads,
    )
    scores, scorers = {}, {}
    for name in SCORES:
        with suppress(BestdagError):  # it needs more than a table, or does not suit this one
            if name not in (result.scored_by.name, *_LEFT_OUT):
                scores[name] = SCORES[name]()
                scorers[name] = make_scorer(scores[name]).within_support(result.limits.support)
    results: dict[str, SearchResult] = {}
    if result.is_proved and result.engine == "dp" and result.seconds <= _QUICK:
        left = max(end - time.monotonic(), _LEAST_SHARE)
        problems = {name: pose(scorer, time_limit=left) for name, scorer in scorers.items()}
        shared = {name: one for name, one in problems.items() if can_share_sets(one)}
        results = dict(zip(shared, Exact().run_each([*shared.values()]), strict=True))
    search = Auto()
    for place, (name, scorer) in enumerate(scorers.items()):
        chosen = results.get(name)
        if chosen is None:
            share = (end - time.monotonic()) / (len(scorers) - place)
            if share < _LEAST_SHARE:
                return
            try:
                chosen = pose(scorer, time_limit=share).solve(search)
            except BestdagError:  # such as families that it cannot score
                continue
        if chosen.status == "interrupted":
            raise KeyboardInterrupt
        yield _Choice(scores[name], chosen, chosen.dag.cpdag())


def _links(dag: Dag) -> set[frozenset[str]]:
    return {frozenset(arc) for arc in dag.arcs}


def _graphs(result: Result, cpdag: Pdag, choices: list[_Choice]) -> str:
    """Draw each class of structures once, with the scores that choose it."""
    if len(result.dag.nodes) > _MOST_NODES:
        return ""
    assert result.scored_by is not None
    classes = {cpdag: (result.dag, [result.scored_by.name])}
    for choice in choices:
        classes.setdefault(choice.cpdag, (choice.result.dag, []))[1].append(choice.score.name)
    figures: list[str] = []
    for dag, names in list(classes.values())[:_MOST_GRAPHS]:
        says = f"{', '.join(names)}: {count_of(len(dag.arcs), 'arc')}"
        svg, _ = drawn(partial(plot_dag, dag, key=False))
        figure = f"<figure>{svg}<figcaption>{escaped(says)}</figcaption>"
        if sum(map(len, figures)) + len(figure) > _MOST_CHARACTERS:
            break
        figures.append(f"{figure}</figure>")
    n_more = len(classes) - len(figures)
    more = paragraph(f"{count_of(n_more, 'more structure')} not drawn.") if n_more else ""
    return f'<div class="graphs">{"".join(figures)}</div>{more}'
