"""`bestdag info`: what is in a table or a network."""

from __future__ import annotations

import math
import shlex
import warnings
from typing import TYPE_CHECKING, Any

import click

from bestdag.cli.learning_table import Cutting, read_for_learning, table_options
from bestdag.cli.options import (
    COMMON,
    missing_option,
    settings_of_read,
    strategies_of_read,
    table_settings,
    with_options,
)
from bestdag.cli.output import print_json, print_table, working
from bestdag.data.schema import MAX_ARITY, Variable
from bestdag.machine import readable_size
from bestdag.wording import count_of

if TYPE_CHECKING:
    from bestdag.data.dataset import Dataset
    from bestdag.data.describe import Refused

__all__ = ["command"]


@click.command("info")
@click.argument("file")
@table_options(
    missing_option(
        strategies_of_read,
        "stop, drop their rows, treat them as a state, or count them",
        default="keep",
    )
)
@with_options(COMMON)
def command(file: str, as_json: bool, quiet: bool, **options: Any) -> None:
    """Summarize FILE: the columns of a table, or the nodes of a network."""
    from bestdag.network.formats import is_network_file

    if is_network_file(file):
        _network_info(file, as_json=as_json)
    else:
        _table_info(file, as_json=as_json, quiet=quiet, options=options)


def _network_info(file: str, *, as_json: bool) -> None:
    from bestdag.network.network import Network

    net = Network.load(file)
    parents = {name: list(net.dag.parents(name)) for name in net.names}
    forecast = net.forecast()
    if as_json:
        print_json(
            {
                "kind": "network",
                "nodes": len(net.names),
                "arcs": len(net.dag.arcs),
                "parameters": net.n_parameters,
                "junction_tree": {
                    "treewidth": forecast.width,
                    "cliques": forecast.n_cliques,
                    "cells": forecast.n_cells,
                    "largest_clique": list(forecast.largest_clique),
                    "largest_clique_cells": forecast.largest_cells,
                    "bytes": forecast.n_bytes,
                },
                "variables": [
                    {
                        "name": t.child.name,
                        "states": list(t.child.states),
                        "parents": parents[t.child.name],
                        "table_cells": t.n_configurations * t.child.arity,
                        "table_bytes": t.nbytes,
                    }
                    for t in net.tables
                ],
            }
        )
        return
    most = max(map(len, parents.values()))
    click.echo(
        f"{file}: a network of {count_of(len(net.names), 'node')}, "
        f"{count_of(len(net.dag.arcs), 'arc')}, "
        f"{count_of(net.n_parameters, 'free parameter')}; at most {count_of(most, 'parent')}"
    )
    click.echo(
        f"exact answers: treewidth at most {forecast.width:,}, "
        f"{count_of(forecast.n_cliques, 'clique')} with {_cells(forecast.n_cells)}, the largest "
        f"with {_cells(forecast.largest_cells)}; {readable_size(forecast.n_bytes)}"
    )
    print_table(
        ["node", "parents", "table", "states", "state names"],
        [
            [
                t.child.name,
                " ".join(parents[t.child.name]),
                _cells(t.n_configurations * t.child.arity),
                str(t.child.arity),
                _shown(t.child.states),
            ]
            for t in net.tables
        ],
        left=2,
    )


def _cells(number: float) -> str:
    return count_of(number, "cell") if number < 1e12 else f"{number:.3g} cells"


def _read(file: str, options: dict[str, Any], *, quiet: bool) -> tuple[Dataset, dict[str, Refused]]:
    """Read a table as commands that learn would, if that was asked for; else whatever is in it."""
    from bestdag.data.describe import read_described
    from bestdag.errors import DataWarning

    cutting, reading = Cutting.of(options, None), table_settings(options)
    with working(f"reading {file}", quiet=quiet), warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        if cutting.is_asked or reading["missing"] != "keep":
            return read_for_learning(file, None, cutting, reading).dataset, {}
        settings = settings_of_read(reading, "info", "shows a table in memory")
        for name in ("missing", "allow_few_rows", "max_states"):
            del settings[name]
        return read_described(file, **settings)


def _table_info(file: str, *, as_json: bool, quiet: bool, options: dict[str, Any]) -> None:
    from bestdag.data.warnings import decimal_columns, mark_counts, total_by_mark

    most = options["max_states"]
    table, refused = _read(file, options, quiet=quiet)
    missing = table.missing_counts
    marked = mark_counts(table, refused)
    decimals = decimal_columns(table.variables, refused)
    if as_json:
        print_json(
            {
                "kind": "table",
                "rows": table.n_rows,
                "total_weight": table.total_weight,
                "variables": [
                    {
                        "name": v.name,
                        **_states(v, refused.get(v.name)),
                        "missing": missing.get(v.name, 0),
                        **({"maybe_missing": marked[v.name]} if v.name in marked else {}),
                    }
                    for v in table.variables
                ],
            }
        )
        return
    weight = "" if table.weights is None else f" (total weight {table.total_weight:,})"
    click.echo(
        f"{file}: {count_of(table.n_rows, 'row')}{weight}, {count_of(table.n_variables, 'column')}"
    )
    print_table(
        ["column", "states", "missing", "state names"],
        [
            [v.name, arity, f"{missing.get(v.name, 0):,}", shown]
            for v in table.variables
            for arity, shown in [_shown_states(v, refused.get(v.name))]
        ],
    )
    for mark, n in total_by_mark(marked).items():
        names = [name for name, counts in marked.items() if mark in counts]
        click.echo(
            f"{count_of(n, 'value')} {mark!r}, treated as states unless --missing-value "
            f"{shlex.quote(mark)} is "
            f"given: {', '.join(names)}"
        )
    keep = " --missing keep" if missing else ""
    if decimals:
        click.echo(
            f"decimals, every distinct number treated as a category: {', '.join(decimals)}; to bin "
            f"them: bestdag discretize "
            f"{shlex.quote(file)} --method quantile{keep} -o FILE"
        )
    if refused:
        click.echo(
            f"no values, or more than {MAX_ARITY:,} distinct ones; bin or --drop them: "
            + ", ".join(refused)
        )
    many = [v.name for v in table.variables if v.arity > most]
    if many:
        click.echo(
            f"too many distinct values (> {most}); drop or bin them, or raise --max-states: "
            + ", ".join(many)
        )


def _states(variable: Variable, refused: Refused | None) -> dict[str, Any]:
    """Return the states for JSON: null where they are too many to be listed."""
    if refused is None:
        return {"states": list(variable.states)}
    if refused.is_empty:
        return {"states": []}
    if refused.span is None:
        return {"states": None}
    ends = [end if math.isfinite(end) else None for end in refused.span]  # JSON has no infinity
    return {"states": None, "range": ends}


def _shown_states(variable: Variable, refused: Refused | None) -> tuple[str, str]:
    """Return how many states there are, and some of them."""
    if refused is None:
        return str(variable.arity), _shown(variable.states)
    if refused.is_empty:
        return "0", ""
    many = f"more than {MAX_ARITY:,}"
    if refused.span is None:
        return many, "texts"
    return many, "numbers from {:.15g} to {:.15g}".format(*refused.span)


def _shown(states: tuple[str, ...]) -> str:
    shown = ", ".join(states[:6])
    return shown + (", ..." if len(states) > 6 else "")
