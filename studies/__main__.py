"""The command `python -m studies NAME`: a study of the field, run again."""

from __future__ import annotations

import json
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click

from bestdag import BestdagError, FileError, FormatError
from studies import STUDIES, load_study
from studies.runner import ROWS, Forecast, Progress, reproduce
from studies.summary import duration

__all__ = ["command"]

_EPILOG = "\b\nStudies:\n" + "\n".join(f"  {name:<15} {what}" for name, what in STUDIES.items())
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}


class _Duration(click.types.FloatParamType):
    """Seconds, or such as 30s, 5m, 2h."""

    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        parts = re.fullmatch(r"(\d+\.?\d*|\.\d+)([smh]?)", str(value).strip())
        seconds = float(parts[1]) * _SECONDS[parts[2]] if parts else 0.0
        if not seconds > 0:
            self.fail(f"{value!r} is not a duration; give seconds, or such as 30s, 5m, 2h")
        return seconds


class _WrongInput(click.ClickException):
    exit_code = 2


@click.command("studies", epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
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
    type=click.Path(exists=True, file_okay=False),
    envvar="BESTDAG_DATA",
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
@click.option(
    "--time-limit",
    type=_Duration(),
    metavar="TIME",
    help="Time limit, e.g. 30s, 5m: drop unfinished trials and write the summary of those done.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed.")
@click.option(
    "--threads", type=click.IntRange(1), help="Number of processes.  [default: one per processor]"
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
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
    if name not in STUDIES:
        raise click.BadParameter(f"{name!r}; known: {', '.join(STUDIES)}", param_hint="NAME")
    size = "quick" if is_quick else "full"
    folder = output or f"{name}-{size}"

    def show_forecast(forecast: Forecast) -> None:
        line = (
            f"{forecast.n_trials:,} trials to go, about {duration(forecast.seconds)} on "
            f"{forecast.processors} processor{'s' * (forecast.processors > 1)}"
        )
        if forecast.n_known < forecast.n_groups:
            line += f", by trials of {forecast.n_known:,} of {forecast.n_groups:,} kinds"
        click.echo(line, err=not is_forecast or as_json)

    try:
        with _showing(name, quiet=quiet) as show:
            summary = reproduce(
                load_study(name),
                folder,
                size=size,  # type: ignore[arg-type]
                data=data,
                seed=seed,
                resume=resume,
                force=force,
                threads=threads,
                forecast_only=is_forecast,
                time_limit=time_limit,
                command=f"python -m studies {name} --{size} --data DIR"
                + (f" --seed {seed}" if seed else "")
                + ("" if time_limit is None else f" --time-limit {time_limit:g}"),
                on_forecast=show_forecast,
                on_progress=show,
            )
    except BestdagError as error:
        is_input = isinstance(error, FileError | FormatError)
        raise (_WrongInput if is_input else click.ClickException)(str(error)) from None
    except KeyboardInterrupt:
        if (Path(folder) / ROWS).exists():
            click.echo(f"finished trials are in {folder}/{ROWS}; continue with --resume", err=True)
        raise
    if as_json:
        click.echo(json.dumps({**summary.to_dict(), "folder": folder}))
        return
    for file, why in summary.missing.items():
        click.echo(f"left out: {file} {why}")
    for one in () if is_forecast else summary.claims:
        click.echo(f"{one.name:<4} {one.verdict:<15} {one.statistic}")
    late = "" if summary.time_limit is None else " by the time limit, --resume runs the others"
    n_done, n_planned = summary.n_done, summary.n_planned
    click.echo(f"{n_done:,} of {n_planned:,} trials{late}; see {folder}/summary.html")


@contextmanager
def _showing(name: str, *, quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Show how far it is and the time left, on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{name} ...") as status:

        def show(progress: Progress) -> None:
            left = progress.seconds_left
            rest = "" if left is None else f", about {duration(left)} left"
            status.update(f"{name}: {progress.n_done:,} of {progress.n_trials:,} trials{rest}")

        yield show


def _interrupt(number: int, _frame: FrameType | None) -> None:
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt(number)


if __name__ == "__main__":
    for signalled in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(signalled) != signal.SIG_IGN:
            signal.signal(signalled, _interrupt)
    try:
        command(prog_name="python -m studies", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort) as stop:
        cause = stop.__cause__ or stop  # click turns KeyboardInterrupt into Abort
        click.echo("interrupted", err=True)
        sys.exit(128 + (cause.args[0] if cause.args else signal.SIGINT))
