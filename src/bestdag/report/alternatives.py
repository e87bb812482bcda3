"""Other structures on the page: those next to the best, and those that other scores choose."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
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
from bestdag.search.problem import Problem
from bestdag.wording import count_of

if TYPE_CHECKING:
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
    found: SearchResult


def scorer_for(result: Result, threads: int | None) -> Callable[[Score], Scorer]:
    """Return what makes a scorer of another score for the same table, treated in the same way.

    It refuses scores that do not suit missing values.
    """
    data, treatment = result.dataset, result.treatment
    assert data is not None

    def make(score: Score) -> Scorer:
        refusal = treatment.refusal(score)
        if refusal is not None:
            raise InvalidParameterError(f"{treatment.name} {refusal}")
        if result.counts is not None:
            return result.scorer(threads=threads).without_prior().by(score)
        scorer = treatment.scorer(data, score, None, threads=threads, dag=result.dag)
        assert scorer is not None
        return scorer

    return make


def other_scores_section(result: Result, threads: int | None) -> str:
    """Show what other scores choose from the same table; empty where nothing can be said.

    What was learned within a skeleton, or by structural EM, is not compared: the rules, or the
    counts, come from other work than the search.
    """
    if result.dataset is None or result.scored_by is None or result.limits.has_skeleton:
        return ""
    if result.dataset.has_missing and not result.treatment.has_mean_scores:
        return ""
    choices = list(_choices(result, threads))
    if not choices:
        return ""
    own = _links(result.dag)
    rows = []
    for choice in choices:
        links = _links(choice.found.dag)
        turned = len(_turned(result.dag, choice.found.dag))
        numbers = [len(links), len(links & own), turned, len(links - own), len(own - links)]
        shown = [f"{number:,}" for number in numbers]
        rows.append([f"{choice.score!r:.80}", choice.found.status, *shown])
    head = ["score", "status", "arcs", "shared", "of these reversed", "only there", "only here"]
    says = (
        "The network that each other score selects, with its defaults; all searches together take "
        "no longer than learning took, or one second. Reversed: arcs whose direction is determined "
        "in both networks, and different."
    )
    graphs = _graphs(result, choices)
    return section(
        "others",
        "Networks selected by other scores",
        paragraph(says),
        table(head, rows, left=2),
        graphs,
    )


def _choices(result: Result, threads: int | None) -> Iterator[_Choice]:
    assert result.dataset is not None
    assert result.scored_by is not None
    end = time.monotonic() + max(_LEAST_SECONDS, result.seconds)
    scorer_of = scorer_for(result, threads)
    names = [n for n in SCORES if n not in (result.scored_by.name, *_LEFT_OUT)]
    for place, name in enumerate(names):
        share = (end - time.monotonic()) / (len(names) - place)
        if share < _LEAST_SHARE:
            return
        try:
            score = SCORES[name]()
            problem = Problem(
                scorer_of(score).within_support(result.limits.support),
                knowledge=result.knowledge,
                max_parents=result.limits.max_parents,
                time_limit=share,
                workers=threads,
            )
            found = problem.solve(Auto())
        except BestdagError:  # it needs more than a table, or does not suit this one
            continue
        if found.status == "interrupted":
            raise KeyboardInterrupt
        yield _Choice(score, found)


def _links(dag: Dag) -> set[frozenset[str]]:
    return {frozenset(arc) for arc in dag.arcs}


def _turned(one: Dag, other: Dag) -> set[tuple[str, str]]:
    """Return the arcs that all structures equivalent to one have, and all of the other turned."""
    compelled = set(other.cpdag().arcs)
    return {(a, b) for a, b in one.cpdag().arcs if (b, a) in compelled}


def _graphs(result: Result, choices: list[_Choice]) -> str:
    """Draw each class of structures once, with the scores that choose it."""
    if len(result.dag.nodes) > _MOST_NODES:
        return ""
    assert result.scored_by is not None
    classes = {result.dag.cpdag(): (result.dag, [result.scored_by.name])}
    for choice in choices:
        dag = choice.found.dag
        classes.setdefault(dag.cpdag(), (dag, []))[1].append(choice.score.name)
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
