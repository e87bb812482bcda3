"""`bestdag evaluate`: scores and searches compared on one table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from bestdag.cli.durations import time_limit_option
from bestdag.cli.learning_table import read_table, table_options
from bestdag.cli.network_output import choose_parameters, parameters_option
from bestdag.cli.options import common_options, threads_option
from bestdag.cli.output import print_json, print_table, working
from bestdag.cli.score_options import choose_scores, choose_structure_prior, score_options
from bestdag.cli.search_options import choose_knowledge, knowledge_options, support_option
from bestdag.scores import SCORES
from bestdag.search import SEARCHES
from bestdag.wording import count_of

if TYPE_CHECKING:
    from bestdag.validation.comparison import CrossValidation, MethodResult

__all__ = ["command"]


@click.command("evaluate")
@click.argument("data")
@click.option(
    "--score",
    "names",
    multiple=True,
    default=("qnml", "bic", "bdeu"),
    show_default=True,
    metavar="NAME",
    help=f"One of {', '.join(SCORES)}, or 'all'; may be repeated.",
)
@score_options
@click.option(
    "--search",
    "searches",
    multiple=True,
    default=("auto",),
    show_default=True,
    metavar="NAME",
    help=f"One of {', '.join(SEARCHES)}; may be repeated. auto takes a second per fold.",
)
@parameters_option
@click.option(
    "--cv",
    type=int,
    default=10,
    show_default=True,
    metavar="K",
    help="Number of cross-validation folds.",
)
@click.option(
    "--repeats",
    type=int,
    default=1,
    show_default=True,
    help="Number of times that the cross-validation is repeated.",
)
@click.option("--target", metavar="COLUMN", help="Column by which folds are stratified.")
@click.option("--truth", metavar="NETWORK", help="True network: also report the SHD to it.")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of the division into folds."
)
@support_option
@click.option("--max-parents", type=click.IntRange(0), help="Maximum number of parents per node.")
@time_limit_option("Time limit of each search, e.g. 30s, 5m.")
@knowledge_options
@table_options()
@threads_option
@common_options
def command(
    data: str,
    names: tuple[str, ...],
    searches: tuple[str, ...],
    parameters: str | None,
    cv: int,
    repeats: int,
    target: str | None,
    truth: str | None,
    seed: int,
    max_parents: int | None,
    support: float,
    time_limit: float | None,
    threads: int | None,
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
    from bestdag.validation.cross_validation import Method, validated

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
    with working(f"comparing {count_of(len(methods), 'method')} on {data}", quiet=quiet) as told:
        found = validated(
            table,
            methods,
            k=cv,
            repeats=repeats,
            seed=seed,
            target=target,
            threads=threads,
            progress=told,
            with_whole=True,
            truth=true,
            max_parents=max_parents,
            support=support,
            time_limit=time_limit,
            knowledge=knowledge,
        )
    if as_json:
        made = found.to_dict()
        made["methods"] = [
            {**shown, **_whole_json(one)}
            for shown, one in zip(made["methods"], found.methods, strict=True)
        ]
        print_json({**made, **read.settings()})
        return
    if read.cut:
        click.echo(f"{read.cut_in_words()}; using all rows, not only those of training")
    _print(found, data, has_truth=true is not None)


def _require_same_nodes(true: Any, names: tuple[str, ...]) -> None:
    apart = sorted(set(true.names) ^ set(names))
    if apart:
        where = "DATA" if apart[0] in true.names else "--truth"
        raise click.UsageError(
            f"--truth and DATA need the same variables; {where} lacks {apart[0]!r}"
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


def _print(found: CrossValidation, data: str, *, has_truth: bool) -> None:
    times = "" if found.repeats == 1 else f", {found.repeats} times"
    click.echo(f"{data}: {count_of(found.n_rows, 'row')}; {found.k}-fold cross-validation{times}")
    header = ["method", "arcs", "parameters", "log loss", "interval", "minus best", "interval"]
    header += ["SHD", "SHD of classes"] if has_truth else []
    header += ["time", "structure"]
    apart = {one.one: one for one in found.differences()}
    rows = []
    for one in found.methods:
        shown = _whole_json(one)
        row = [one.label, str(len(shown["arcs"])), f"{shown['parameters']:,}"]
        row += [f"{one.log_loss:.4f}", _ends(one.interval)]
        other = apart.get(one.label)
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
