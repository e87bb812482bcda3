"""`bestdag reproduce`: a study of the field, run again."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bestdag.cli.options import COMMON, THREADS, time_limit_option, with_options
from bestdag.cli.output import print_json, print_line, print_table
from bestdag.papers import STUDIES
from bestdag.wording import count_of

if TYPE_CHECKING:
    from bestdag.papers.runner import Forecast, Progress

__all__ = ["command"]

_EPILOG = "\b\nStudies:\n" + "\n".join(f"  {name:<15} {what}" for name, what in STUDIES.items())


@click.command("reproduce", epilog=_EPILOG)
@click.argument("name")
@click.option(
    "--quick/--full",
    "is_quick",
    default=True,
    help="About five minutes on two processors, or the paper's own size.  [default: --quick]",
)
@click.option(
    "--data",
    metavar="DIR",
    help="Folder with uci/ and networks/.  [default: the environment variable BESTDAG_DATA]",
)
@click.option("-o", "--output", metavar="DIR", help="Folder to write.  [default: NAME-quick]")
@click.option("--resume", is_flag=True, help="Continue with the trials that are already there.")
@click.option("--force", is_flag=True, help="Start over in a folder that has trials.")
@click.option(
    "--forecast",
    "is_forecast",
    is_flag=True,
    help="Estimate within minutes how long it takes, and stop.",
)
@time_limit_option(
    "Time limit, e.g. 30s, 5m: drop unfinished trials and write the summary of those done."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed.")
@with_options(THREADS, COMMON)
def command(
    name: str,
    is_quick: bool,
    data: str | None,
    output: str | None,
    resume: bool,
    force: bool,
    is_forecast: bool,
    time_limit: float | None,
    seed: int,
    threads: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Reproduce the published study NAME, and report which of its claims hold.

    Writes rows.jsonl, with a line for each finished trial, and at the end summary.md, summary.html
    and the figures, beside the paper's numbers. Nothing is downloaded: trials whose files are not
    in --data are left out, and the summary names those files.
    """
    from bestdag.papers import load_study
    from bestdag.papers.runner import ROWS, reproduce
    from bestdag.papers.summary import duration

    if output == "":
        raise click.UsageError("an empty folder name was given")
    study = load_study(name)
    size = "quick" if is_quick else "full"
    folder = output or f"{name}-{size}"

    def tell(forecast: Forecast) -> None:
        line = (
            f"{count_of(forecast.n_trials, 'trial')} to go, about {duration(forecast.seconds)} on "
            f"{count_of(forecast.processors, 'processor')}"
        )
        if forecast.n_known < forecast.n_groups:
            line += f", by trials of {forecast.n_known:,} of {forecast.n_groups:,} kinds"
        click.echo(line, err=not is_forecast or as_json)

    try:
        with _showing(name, quiet=quiet) as show:
            summary = reproduce(
                study,
                folder,
                size=size,  # type: ignore[arg-type]
                data=data or os.environ.get("BESTDAG_DATA") or None,
                seed=seed,
                resume=resume,
                force=force,
                threads=threads,
                forecast_only=is_forecast,
                time_limit=time_limit,
                command=f"bestdag reproduce {name} --{size} --data DIR"
                + (f" --seed {seed}" if seed else "")
                + ("" if time_limit is None else f" --time-limit {time_limit:g}"),
                on_forecast=tell,
                on_progress=show,
            )
    except KeyboardInterrupt:
        if (Path(folder) / ROWS).exists():
            kept = f"bestdag: the trials that are done are in {folder}/{ROWS}"
            click.echo(f"{kept}; --resume runs the others", err=True)
        raise
    if as_json:
        print_json({**summary.to_dict(), "folder": folder})
        return
    for file, why in summary.missing.items():
        print_line(f"left out: {file} {why}")
    if not is_forecast:
        rows = [(one.name, one.verdict, one.statistic) for one in summary.claims]
        print_table(("claim", "verdict", "statistic"), rows, left=3)
    late = "" if summary.time_limit is None else " by the time limit, --resume runs the others"
    n_done, n_planned = summary.n_done, summary.n_planned
    print_line(f"{n_done:,} of {n_planned:,} trials{late}; see {folder}/summary.html")


@contextmanager
def _showing(name: str, *, quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Show a bar and the time left on a terminal."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    from bestdag.papers.summary import duration

    with Console(stderr=True).status(f"{name} ...") as status:

        def show(progress: Progress) -> None:
            left = progress.seconds_left
            rest = "" if left is None else f", about {duration(left)} left"
            status.update(f"{name}: {progress.n_done:,} of {progress.n_trials:,} trials{rest}")

        yield show
