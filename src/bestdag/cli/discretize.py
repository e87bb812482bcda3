"""`bestdag discretize`: numeric columns into intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bestdag.cli.options import (
    COMMON,
    FORCE,
    MAX_VALUES,
    data_options,
    missing_option,
    output_option,
    read_settings,
    strategies_of_read,
    with_options,
)
from bestdag.cli.output import (
    print_json,
    print_table,
    require_new_file,
    require_own_names,
    working,
)
from bestdag.wording import count_of

if TYPE_CHECKING:
    from bestdag.data.dataset import Dataset

__all__ = ["command"]


@click.command("discretize")
@click.argument("data")
@with_options(
    click.option("--target", metavar="COLUMN", help="Class column, which is not binned."),
    output_option("CSV file to write (.csv, .tsv; also .gz)."),
    click.option(
        "--method",
        help="fayyad_irani (needs --target), quantile or uniform.  [default: fayyad_irani with "
        "--target, else quantile]",
    ),
    click.option(
        "--bins",
        type=click.IntRange(2),
        help="Number of bins of quantile and uniform.  [default: 5]",
    ),
    click.option(
        "--cut",
        multiple=True,
        metavar="COLUMN",
        help="Bin only this column; may be repeated.  [default: numeric columns with decimals or "
        "more than --max-values distinct values]",
    ),
    MAX_VALUES,
    click.option(
        "--cut-points",
        metavar="FILE",
        help="Use the cut points in this file, for the columns it lists.",
    ),
    click.option(
        "--save-cut-points", metavar="FILE", help="Write the cut points to this file, as JSON."
    ),
    FORCE,
    missing_option(
        strategies_of_read,
        "stop, drop their rows, treat them as a state, or leave them empty",
    ),
    data_options(but=["missing"]),
    COMMON,
)
def command(
    data: str,
    target: str | None,
    output: str,
    method: str | None,
    bins: int | None,
    cut: tuple[str, ...],
    max_values: int,
    cut_points: str | None,
    save_cut_points: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Bin the numeric columns of DATA and write the table as CSV.

    The cut points are printed. --cut-points uses those of an earlier table, for new rows of it;
    only the columns that the file lists are binned.
    """
    from bestdag.data.discretization import default_method
    from bestdag.data.discretization.cuts import load_cut_points, write_cut_points
    from bestdag.data.discretize import discretize

    if "-" in (output, save_cut_points):
        flag = "-o" if output == "-" else "--save-cut-points"
        raise click.UsageError(f"the cut points go to standard output; give {flag} a file")
    require_own_names(
        {"DATA": data, "--cut-points": cut_points},
        {"-o": output, "--save-cut-points": save_cut_points},
    )
    for path in (output, save_cut_points):
        if path is not None:
            require_new_file(path, force=force)
    known: dict[str, Any] = {}
    if cut_points is not None:
        if target is not None or bins is not None or cut:
            raise click.UsageError(
                "--cut-points already sets the bins; leave out --target, --bins or --cut"
            )
        known = {"cuts": load_cut_points(cut_points), "cut": ()}
    else:
        known = {"cut": cut or None, "target": target, "bins": bins}
        known["max_values"] = max_values
    method = default_method(target) if method is None else method
    with working(f"cutting {data}", quiet=quiet):
        table = discretize(data, method=method, **known, **read_settings(options))
        table.to_csv(output)
        if save_cut_points is not None:
            write_cut_points(table, save_cut_points)
    cuts = {v.name: list(v.cuts) for v in table.variables if v.cuts is not None}
    gaps = [name for name in cuts if _has_gap(table, name)]
    one_interval = [name for name, points in cuts.items() if not points]
    if as_json:
        print_json(
            {
                "rows": table.n_rows,
                "method": None if cut_points is not None else method,
                "target": target,
                "output": output,
                "cuts": cuts,
                "states": {name: list(table.variable(name).states) for name in cuts},
                "one_interval": one_interval,
                "empty_intervals": gaps,
                "not_cut": [name for name in table.names if name not in cuts],
            }
        )
        return
    click.echo(
        f"{output}: {count_of(table.n_rows, 'row')}, "
        f"{len(cuts) - len(one_interval):,} of {count_of(table.n_variables, 'column')} binned"
        + (f"; left as one bin: {' '.join(one_interval)}" if one_interval else "")
    )
    print_table(
        ["column", "states", "cut points"],
        [
            [v.name, str(v.arity), "not binned" if v.cuts is None else _shown(v.cuts)]
            for v in table.variables
        ],
    )
    if gaps:
        click.echo(
            f"no row falls into some interval of {' '.join(gaps)}: the labels alone do not "
            "tell the cut "
            "points; keep them with --save-cut-points and learn with --cut-points"
        )


def _has_gap(table: Dataset, name: str) -> bool:
    """Whether no row is in some interval: then the labels alone do not determine the cut points."""
    codes = set(table.codes(name).tolist())
    return len(codes & set(range(table.variable(name).arity))) < table.variable(name).arity


def _shown(cuts: tuple[float, ...]) -> str:
    return ", ".join(f"{cut:.12g}" for cut in cuts) if cuts else "none: all values are one state"
