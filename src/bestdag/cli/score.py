"""`bestdag score`: a network's structure scored on a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bestdag.cli.chosen import chosen_scores, score_settings
from bestdag.cli.options import common_options, data_options, read_settings, threads_option
from bestdag.cli.output import print_json, print_table, working

if TYPE_CHECKING:
    from bestdag.data.dataset import Dataset
    from bestdag.network.network import Network
    from bestdag.scores.base import Score

__all__ = ["command"]


@click.command("score")
@click.argument("data")
@click.argument("network")
@click.option(
    "--score",
    "names",
    multiple=True,
    default=("bic", "bdeu"),
    show_default=True,
    metavar="NAME",
    help="A score, or 'all'; may be repeated.",
)
@click.option("--ess", type=float, help="Equivalent sample size of BDeu.  [default: 1]")
@click.option("--families", is_flag=True, help="Show every family's score.")
@click.option("--ignore-extra", is_flag=True, help="Ignore columns the network does not have.")
@data_options
@threads_option
@common_options
def command(
    data: str,
    network: str,
    names: tuple[str, ...],
    ess: float | None,
    families: bool,
    ignore_extra: bool,
    threads: int | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Score the structure of NETWORK (a BIF file) on the table DATA.

    DATA is a CSV, TSV, Parquet or JSON-lines file, or - for CSV from standard input. Its columns
    must be the network's nodes, and states are those of the network. Scores are natural
    logarithms; higher is better.
    """
    from bestdag.data.readers import read_matching
    from bestdag.network.network import Network
    from bestdag.scores.scorer import Scorer

    scores = chosen_scores(names, {"ess": ess})
    net = Network.load(network)
    with working(f"reading {data}", quiet=quiet):
        table = read_matching(
            data, net.variables, ignore_extra=ignore_extra, **read_settings(options)
        )
    results: dict[str, tuple[Score, dict[str, float], float]] = {}
    with working("scoring", quiet=quiet):
        for name, score in scores.items():
            scorer = Scorer(table, score, threads=threads)
            results[name] = (score, scorer.by_child(net.dag), scorer.total(net.dag))
    if as_json:
        print_json(_as_json(table, net, results))
    else:
        _print(data, network, table, net, results, families=families)


def _as_json(
    table: Dataset, net: Network, results: dict[str, tuple[Score, dict[str, float], float]]
) -> dict[str, Any]:
    return {
        "rows": table.total_weight,
        "base": "e",
        "scores": {
            name: {
                "total": total,
                "settings": score_settings(score),
                "families": {
                    child: {"parents": list(net.dag.parents(child)), "score": value}
                    for child, value in by_child.items()
                },
            }
            for name, (score, by_child, total) in results.items()
        },
    }


def _print(
    data: str,
    network: str,
    table: Dataset,
    net: Network,
    results: dict[str, tuple[Score, dict[str, float], float]],
    *,
    families: bool,
) -> None:
    click.echo(
        f"{network} on {data}: {table.n_variables} variables, {len(net.dag.arcs)} arcs, "
        f"{table.total_weight:,} rows; natural logarithms, higher is better"
    )
    if families:
        rows = [
            [
                child,
                " ".join(net.dag.parents(child)),
                *(f"{r[1][child]:.6f}" for r in results.values()),
            ]
            for child in table.names
        ]
        rows.append(["total", "", *(f"{total:.6f}" for _, _, total in results.values())])
        print_table(["variable", "parents", *(repr(r[0]) for r in results.values())], rows, left=2)
    else:
        print_table(
            ["score", "total"], [[repr(s), f"{total:.6f}"] for s, _, total in results.values()]
        )
