"""`bestdag evaluate`: scores and searches compared on one table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from bestdag.cli.choices import (
    KNOWLEDGE_OPTIONS,
    PARAMETERS,
    SCORE_OPTIONS,
    SUPPORT,
    choose_knowledge,
    choose_parameters,
    choose_scores,
    choose_structure_prior,
    scores_option,
)
from bestdag.cli.learning_table import read_table, table_options
from bestdag.cli.options import (
    COMMON,
    MAX_PARENTS,
    THREADS,
    option,
    options_of,
    time_limit_option,
    with_options,
)
from bestdag.cli.output import print_json, print_table, working
from bestdag.search import SEARCHES
from bestdag.validation.cross_validation import Method, cross_validate, validated
from bestdag.wording import count_of

if TYPE_CHECKING:
    from bestdag.validation.comparison import CrossValidation, MethodResult

__all__ = ["command"]

_TAKEN = ("repeats", "seed", "target", "max_parents", "support", "time_limit")


@click.command("evaluate")
@click.argument("data")
@with_options(
    scores_option(),
    SCORE_OPTIONS,
    option(
        "--search",
        "searches",
        multiple=True,
        default=("auto",),
        metavar="NAME",
        help=f"One of {', '.join(SEARCHES)}; may be repeated. auto takes a second per fold.",
    ),
    PARAMETERS,
    options_of(cross_validate, k="--cv"),
    options_of(cross_validate, "repeats"),
    click.option("--target", metavar="COLUMN", help="Column by which folds are stratified."),
    click.option("--truth", metavar="NETWORK", help="True network: also report the SHD to it."),
    options_of(cross_validate, "seed"),
    SUPPORT,
    MAX_PARENTS,
    time_limit_option("Time limit of each search, e.g. 30s, 5m."),
    KNOWLEDGE_OPTIONS,
    table_options(),
    THREADS,
    COMMON,
)
def command(
    data: str,
    names: tuple[str, ...],
    searches: tuple[str, ...],
    parameters: str | None,
    truth: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Compare scores and searches on the table DATA.

    For each method, learned from all rows: arcs, parameters, whether the structure is proved best
    or how much higher the best score may be, and the SHD to --truth (between DAGs, between
    classes). Log loss is the mean of -ln P(row) over held-out rows, by cross-validation with the
    same folds for all methods; intervals, also of the difference to the best method, are for 95 %.
    --discretize bins once, using all rows, into quantiles.
    """
    from bestdag.network.network import Network
    from bestdag.search import search_for_fit, search_name

    if choose_structure_prior(options) is not None:
        raise click.UsageError("evaluate takes no --structure-prior")
    scores = choose_scores(names, options)
    if any(getattr(one.score, "prior", None) is not None for one in scores.values()):
        raise click.UsageError("evaluate takes no --prior; choose scores without a prior network")
    keys = list(dict.fromkeys(search_name(name) for name in searches))
    hows = {key: search_for_fit(key) for key in keys}
    methods = [
        Method(
            one.score,
            how,
            choose_parameters(one.score, parameters),
            score if len(hows) == 1 else f"{score}, {search}",
        )
        for score, one in scores.items()
        for search, how in hows.items()
    ]
    knowledge = choose_knowledge(options)
    true = None if truth is None else Network.load(truth)
    read = read_table(data, {**options, "quiet": quiet})
    table = read.dataset
    if true is not None:
        _require_same_nodes(true, table.names)
    with working(f"comparing {count_of(len(methods), 'method')} on {data}", quiet=quiet):
        results = validated(
            table,
            methods,
            k=options["cv"],
            with_whole=True,
            truth=true,
            workers=options["threads"],
            knowledge=knowledge,
            **{name: options[name] for name in _TAKEN},
        )
    if as_json:
        made = results.to_dict()
        made["methods"] = [
            {**shown, **_whole_json(one)}
            for shown, one in zip(made["methods"], results.methods, strict=True)
        ]
        print_json({**made, **read.settings()})
        return
    if read.cut:
        click.echo(f"{read.cut_in_words()}; using all rows, not only those of training")
    _print(results, data, has_truth=true is not None)


def _require_same_nodes(true: Any, names: tuple[str, ...]) -> None:
    different = sorted(set(true.names) ^ set(names))
    if different:
        where = "DATA" if different[0] in true.names else "--truth"
        raise click.UsageError(
            f"--truth and DATA need the same variables; {where} lacks {different[0]!r}"
        )


def _whole_json(one: MethodResult) -> dict[str, Any]:
    """Say what was learned from all rows."""
    whole = one.whole
    assert whole is not None
    assert whole.dataset is not None
    return {
        "arcs": [list(arc) for arc in whole.dag.arcs],
        "parameters": whole.dag.n_parameters(whole.dataset),
        "score": whole.score,
        "status": whole.status,
        "gap": whole.gap,
        "seconds_all_rows": whole.seconds,
        "shd": None if one.comparison is None else one.comparison.shd_dag,
        "shd_cpdag": None if one.comparison is None else one.comparison.shd_cpdag,
    }


def _print(results: CrossValidation, data: str, *, has_truth: bool) -> None:
    times = "" if results.repeats == 1 else f", {results.repeats} times"
    click.echo(
        f"{data}: {count_of(results.n_rows, 'row')}; {results.k}-fold cross-validation{times}"
    )
    header = ["method", "arcs", "parameters", "log loss", "interval", "minus best", "interval"]
    header += ["SHD", "SHD of classes"] if has_truth else []
    header += ["time", "structure"]
    differences = {one.one: one for one in results.differences()}
    rows = []
    for one in results.methods:
        shown = _whole_json(one)
        row = [one.label, str(len(shown["arcs"])), f"{shown['parameters']:,}"]
        row += [f"{one.log_loss:.4f}", _ends(one.interval)]
        other = differences.get(one.label)
        row += ["", ""] if other is None else [f"{other.mean:.4f}", _ends(other.interval)]
        row += [str(shown["shd"]), str(shown["shd_cpdag"])] if has_truth else []
        gap = shown["gap"]
        proven = "not proved" if gap is None else f"gap {gap:.4g}"
        proven = "proved" if shown["status"] == "optimum proved" else proven
        rows.append([*row, f"{one.seconds + shown['seconds_all_rows']:.2f} s", proven])
    print_table(header, rows)


def _ends(interval: tuple[float, float]) -> str:
    if not all(math.isfinite(end) for end in interval):
        return "-"
    return f"{interval[0]:.4f} to {interval[1]:.4f}"
