"""`bestdag score`: a network's structure scored on a table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from bestdag.cli.choices import (
    SCORE_OPTIONS,
    ChosenScore,
    choose_scores,
    choose_structure_prior,
    scores_option,
)
from bestdag.cli.network_data import (
    network_table_options,
    read_for_network,
    say_cut,
    table_and_network,
)
from bestdag.cli.options import (
    COMMON,
    IGNORE_EXTRA,
    THREADS,
    option,
    say_collapsed,
    table_settings,
    with_options,
)
from bestdag.cli.output import print_json, print_table, says_formats, working
from bestdag.wording import count_of

if TYPE_CHECKING:
    from bestdag.data.dataset import Dataset
    from bestdag.graph.dag import Dag
    from bestdag.scores.prior import StructurePrior

__all__ = ["command"]


@click.command("score")
@click.argument("data")
@click.argument("network")
@with_options(
    scores_option(),
    SCORE_OPTIONS,
    click.option("--families", is_flag=True, help="Also print the score of each family."),
    IGNORE_EXTRA,
    network_table_options(
        option(
            "--missing",
            type=click.Choice(["error", "drop", "em"]),
            default="error",
            help="Missing values: stop, drop their rows, or score the observed values after EM.",
        )
    ),
    THREADS,
    COMMON,
)
@says_formats
def command(
    data: str,
    network: str,
    names: tuple[str, ...],
    families: bool,
    ignore_extra: bool,
    threads: int | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Score the structure of NETWORK (a FORMATS file) on the table DATA.

    DATA is CSV, TSV, Parquet, JSON lines or Excel, or - for CSV from standard input. Its columns
    must be the network's nodes, and states are those of the network; numeric columns are
    binned at the network's cut points. Scores are natural logarithms; higher is better.

    With --missing em, LL, AIC, BIC, HQC and qNML are the log-likelihood of the observed values
    after EM minus the penalty; Bayesian scores are the approximation of Cheeseman and Stutz.
    Family scores then use expected counts, and do not add up to the score.
    """
    from bestdag.network.network import Network

    data, network = table_and_network(data, network)
    chosen = choose_scores(names, options)
    prior = choose_structure_prior(options)
    net = Network.load(network)
    reading = table_settings(options)
    keeps = reading["missing"] == "em"
    reading["missing"] = "keep" if keeps else reading["missing"]
    with working(f"reading {data}", quiet=quiet):
        rows = read_for_network(data, net.variables, ignore_extra=ignore_extra, **reading)
    table = rows.dataset
    say_collapsed(data, rows, quiet=quiet)
    results = {}
    with working("scoring", quiet=quiet):
        for name, one in chosen.items():
            if keeps and _is_refused(one, every="all" in names):
                continue
            results[name] = _scored(one, table, net.dag, prior, threads, keeps=keeps)
    if as_json:
        print_json(_as_json(table, net.dag, results, list(rows.cut)))
        return
    click.echo(
        f"{network} on {data}: {count_of(table.n_variables, 'variable')}, "
        f"{count_of(len(net.dag.arcs), 'arc')}, {count_of(table.total_weight, 'row')}; "
        "natural logarithms, higher is better"
    )
    say_cut(rows.cut, network)
    if prior is not None:
        shown = prior if isinstance(prior, str) else f"kappa^differences, kappa = {prior.kappa:g}"
        click.echo(f"with the structure prior {shown}")
    _print_families(table, net.dag, results) if families else _print_totals(results)


def _is_refused(one: ChosenScore, *, every: bool) -> bool:
    """Whether EM has no such score; one that was asked for by name is refused in words."""
    from bestdag.incomplete.em import StructuralEM

    reason = StructuralEM().refusal(one.score)
    if reason is not None and not every:
        raise click.UsageError(f"--missing em {reason}")
    return reason is not None


def _scored(
    one: ChosenScore,
    table: Dataset,
    dag: Dag,
    prior: StructurePrior | str | None,
    threads: int | None,
    *,
    keeps: bool,
) -> _Scored:
    if keeps:
        from bestdag.incomplete.scoring import observed_score

        observed = observed_score(dag, table, one.score, prior, threads=threads)
        return _Scored(one, observed.expected, observed.score)
    from bestdag.scores.scorer import Scorer

    scorer = Scorer(table, one.score, prior, threads=threads)
    return _Scored(one, scorer.by_child(dag), scorer.total(dag))


@dataclass(frozen=True, slots=True)
class _Scored:
    chosen: ChosenScore
    by_child: dict[str, float]
    total: float

    @property
    def label(self) -> str:
        settings = ", ".join(f"{name}={value}" for name, value in self.chosen.settings.items())
        return f"{self.chosen.score.name}({settings})"


def _as_json(
    table: Dataset, dag: Dag, results: dict[str, _Scored], cut: list[str]
) -> dict[str, Any]:
    return {
        "rows": table.total_weight,
        "base": "e",
        "cut": cut,
        "scores": {
            name: {
                "total": _number(result.total),
                "settings": result.chosen.settings,
                "families": {
                    child: {"parents": list(dag.parents(child)), "score": _number(value)}
                    for child, value in result.by_child.items()
                },
            }
            for name, result in results.items()
        },
    }


def _number(value: float) -> float | None:
    # JSON has no minus infinity, the score of data that a prior network calls impossible.
    return value if math.isfinite(value) else None


def _print_totals(results: dict[str, _Scored]) -> None:
    print_table(["score", "total"], [[r.label, f"{r.total:.6f}"] for r in results.values()])


def _print_families(table: Dataset, dag: Dag, results: dict[str, _Scored]) -> None:
    rows = [
        [
            child,
            " ".join(dag.parents(child)),
            *(f"{result.by_child[child]:.6f}" for result in results.values()),
        ]
        for child in table.names
    ]
    rows.append(["total", "", *(f"{result.total:.6f}" for result in results.values())])
    print_table(["variable", "parents", *(r.label for r in results.values())], rows, left=2)
