"""The page: one HTML file with the picture, the tables and the script that joins them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bestdag.drawing.text import escaped
from bestdag.errors import FormatError
from bestdag.files import format_suffix, shown_path, write_file
from bestdag.graph.dag import Dag
from bestdag.graph.plotting import plot_dag
from bestdag.report import sections
from bestdag.report.alternatives import near_best_section, other_scores_section, scorer_for
from bestdag.report.families import family_facts, marginals_of, structure_facts
from bestdag.report.markup import details, drawn, paragraph, table
from bestdag.report.sections import Probabilities, citation, references_of
from bestdag.report.summary import TableRead, certainty, findings, table_in_words, title_of
from bestdag.report.whatif import whatif_facts, why_no_whatif
from bestdag.scores.explanation import arc_losses
from bestdag.search import SEARCHES
from bestdag.wording import count_of

if TYPE_CHECKING:
    from bestdag.learned import Result

__all__ = ["report_page", "require_html", "write_report"]

# Nothing may be fetched, by whatever is in the page.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="bestdag {version}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header><h1>{title}</h1>
{summary}</header>
<main>
<section id="graph" aria-label="The network">
<div class="tools">
<label>Find <input id="find" type="search" autocomplete="off" placeholder="a variable"></label>
<output id="found" for="find"></output>
<button id="closer" type="button" aria-label="Zoom in">+</button>
<button id="farther" type="button" aria-label="Zoom out">&minus;</button>
<button id="whole" type="button">Whole graph</button>
</div>
<div class="views">
<div id="picture">{svg}</div>
<aside aria-label="What if">
{whatif}
<div id="node" aria-live="polite"></div>
<div id="cards"></div>
</aside>
</div>
{legend}
<p class="hint">{hint}</p>
<div id="tip" role="status" hidden></div>
<noscript><p>Without scripts this page has the picture and the tables below only.</p></noscript>
</section>
{sections}
</main>
<script type="application/json" id="facts">{facts}</script>
<script>{script}</script>
</body>
</html>
"""
_WHAT_IF = """<h2>What if</h2>
<p>Click a state to set it as evidence: the probabilities of all other variables follow.</p>
<p><output id="evidence"></output>
<button id="forget" type="button" hidden>Clear evidence</button></p>
<p><output id="known"></output></p>"""
_NO_WHAT_IF = """<h2>What if</h2>
<p>Not on this page: {reason}. {instead}</p>
<p>Choose a variable to see what is known of it.</p>"""
_INSTEAD = (
    "In Python result.fit().query(...), and bestdag query for a saved network, answer such "
    "questions where memory allows, and sampling answers the rest."
)
_NO_ROWS = "local scores were learned from, and without rows no probability can be estimated"
# The table of scores may take as long as learning took, and at least this.
_LEAST_SECONDS = 10.0
_SHORT = "Written at once after Ctrl-C: without other scores and the networks they would select."
_HINT = (
    "Click a variable for its probabilities; drag to move the picture. Keyboard: Tab and the arrow "
    "keys go from one variable to the next, Enter chooses, + and - zoom, 0 shows the whole graph."
)


def report_page(
    result: Result,
    *,
    command: str | None = None,
    threads: int | None = None,
    probabilities: Probabilities | None = None,
    read: TableRead | None = None,
) -> str:
    """Write the page about what was learned.

    Parameters
    ----------
    result : Result
    command : str, optional
        The command line that gave it, for those who repeat it.
    threads : int, optional
        Threads for counting; the page does not depend on it, but for what other scores choose in
        a time limit.
    probabilities : ArcProbabilities, optional
        How sure each arc is: the widths of arcs, and a column of the table of arcs.
    read : TableRead, optional
        What the table was; by default what `learn` was given.
    """
    import bestdag

    dag, data, score = result.dag, result.dataset, result.scored_by
    losses, compelled = None, result.compelled()
    nodes = structure_facts(dag)
    facts: dict[str, Any] = {"nodes": nodes}
    parts = []
    make_scorer = None
    reason, instead = _NO_ROWS, ""
    read = read or TableRead.of(result)
    unit = "nats per row" if result.treatment.has_mean_scores else "nats"
    if data is not None and score is not None:
        scorer = result.scorer(threads=threads)
        losses = arc_losses(scorer, dag)
        network = result.fit(threads=threads)
        marginals, where = marginals_of(network, data)
        for node, more in zip(nodes, family_facts(scorer, network, marginals), strict=True):
            node.update(more)
        facts["where"] = where
        reason, instead = why_no_whatif(network), escaped(_INSTEAD)
        if not reason:
            facts["model"] = whatif_facts(network)
        facts["score"] = f"{score!r:.80}"
        parts.append(sections.arcs_section(dag, losses, probabilities, unit, compelled=compelled))
        parts.append(sections.data_section(data))
        make_scorer = scorer_for(result, threads)
        seconds = 0.0 if result.was_interrupted else max(_LEAST_SECONDS, result.seconds)
        parts.append(sections.scores_section(data, dag, score, make_scorer, seconds))
        if result.treatment.has_expected_counts:
            parts.append(sections.completed_section(result.score, scorer.total(dag)))
    else:
        parts.append(sections.arcs_section(dag, None, probabilities, compelled=compelled))
    if result.structures is not None:
        parts.append(near_best_section(result.structures))
    if not result.was_interrupted:
        parts.append(other_scores_section(result, make_scorer, threads))
    parts.append(sections.trace_section(result.trace, result.search))
    version = bestdag.__version__
    used = [type(score)] if score is not None else []
    references = references_of(*used, SEARCHES.get(result.search))
    parts.append(sections.repeat_section(_settings(result), command, citation(version), references))
    sure = _by_arc(dag, probabilities)
    svg, key = drawn(
        lambda: plot_dag(dag, losses, probabilities=sure, compelled=compelled, key=False)
    )
    return _PAGE.format(
        policy=_POLICY,
        version=escaped(version),
        title=escaped(title_of(dag, read)),
        summary=_summary(result, read, findings(dag, losses, compelled)),
        style=_beside("page.css"),
        svg=svg,
        legend=key,
        whatif=_NO_WHAT_IF.format(reason=escaped(reason), instead=instead) if reason else _WHAT_IF,
        hint=escaped(_HINT),
        sections="\n".join(parts),
        facts=_json(facts),
        script=_beside("whatif.js") + _beside("page.js"),
    )


def write_report(
    result: Result,
    path: str | os.PathLike[str],
    *,
    command: str | None = None,
    threads: int | None = None,
    probabilities: Probabilities | None = None,
    read: TableRead | None = None,
) -> None:
    """Write the page to a file, complete or not at all."""
    require_html(path)
    page = report_page(
        result, command=command, threads=threads, probabilities=probabilities, read=read
    )
    write_file(path, page.encode())


def require_html(path: str | os.PathLike[str], who: str = "report") -> None:
    """Refuse a name that ends as another kind of file does."""
    if format_suffix(path) not in (".html", ".htm", ""):
        raise FormatError(
            f"{who}: writes HTML, got {shown_path(path)}; name it .html, which a browser prints as "
            f"PDF"
        )


def _by_arc(dag: Dag, probabilities: Probabilities | None) -> dict[tuple[str, str], float] | None:
    if probabilities is None:
        return None
    return {arc: probabilities.edge(*arc) for arc in dag.arcs}


def _summary(result: Result, read: TableRead, sentences: list[str]) -> str:
    lead = [one.text for one in result.advice]
    if result.dataset is not None:
        lead.append(" ".join(table_in_words(result.dataset, read, result.treatment)))
    lead += [" ".join(sentences), certainty(result)]
    score = f"log score {result.score:.6f} (natural logarithm)"
    if result.scored_by is not None and result.n_rows is not None:
        score += f", {result.scored_by!r:.80}"
        if result.structure_prior is not None:
            score += f" with {result.structure_prior!r:.80}"
        score += f" of {count_of(result.n_rows, 'row')}"
    if result.treatment.has_expected_counts:
        score += "; of what the rows show, missing values summed out"
    lines = [result.headline(), score]
    notes = result.remarks()
    lines += result.claims()
    if result.was_interrupted:
        lead.append(_SHORT)
    rungs = result.ladder_rows()
    ladder = [table(rungs[0], rungs[1:], left=4)] if rungs else []
    folded = details("Score and search", *map(paragraph, (*lines, *notes)), *ladder)
    return "\n".join([*map(paragraph, lead), folded])


def _settings(result: Result) -> dict[str, Any]:
    settings: dict[str, Any] = {"score": result.scored_by, **result.asked}
    if result.structure_prior is not None:
        settings["structure_prior"] = result.structure_prior
    used = {f"{result.search}: {name}": value for name, value in result.settings.items()}
    outcome = {"status": result.status, "score reached": result.score, "bound": result.bound}
    return {**settings, **used, **outcome}


def _json(facts: dict[str, Any]) -> str:
    """Write JSON that no HTML parser takes for a mark."""
    text = json.dumps(facts, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _beside(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
