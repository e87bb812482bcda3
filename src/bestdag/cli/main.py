"""The command `bestdag`: finds the command asked for and turns errors into one line."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import click

from bestdag.cli.entry import INTERRUPTED, Interrupts
from bestdag.errors import (
    BestdagError,
    ClusterError,
    DataWarning,
    MissingPackageError,
    NotEnoughMemoryError,
    WriteError,
    is_short_of_memory,
    no_memory,
    unknown_name,
)

__all__ = ["COMMANDS", "cli", "run"]

# One line per command; its module, of the same name (a dash is an underscore there), is imported
# when it is called.
COMMANDS = {
    "bootstrap": "Estimate confidence in each arc by bootstrap resampling.",
    "classify": "Learn a classifier and estimate its accuracy.",
    "compare": "Compare learned structures with a true one.",
    "convert": "Convert a network to another file format.",
    "discretize": "Bin numeric columns.",
    "draw": "Draw the structure of a network as SVG or PNG.",
    "evaluate": "Compare scores and searches on a table by cross-validation.",
    "explain": "Find the most probable explanation of the evidence.",
    "fit": "Fit the parameters of a network to a table.",
    "impute": "Fill in the missing values of a table with a network.",
    "info": "Summarize a table or a network.",
    "learn": "Learn the best network structure, with proof where possible.",
    "pc": "Learn a structure by independence tests (PC).",
    "posterior": "Compute the posterior probability of each arc.",
    "predict": "Predict a column of a table with a network.",
    "query": "Compute probabilities in a network, given evidence.",
    "random": "Generate a random network.",
    "sample": "Sample rows from a network.",
    "score": "Score a network on a table.",
    "score-table": "Write the local scores of all parent sets, for exact search.",
    "tan": "Learn the best tree-augmented naive Bayes network.",
    "tree": "Learn the best tree.",
    "verify": "Check a certificate of optimality.",
}

# Other names of searches of `learn`, and where these commands are made.
_ALIASES = {"tan": "learn:tan", "tree": "learn:tree"}

# Commands that print and write all they have at their end.
_AT_THE_END = (
    *("bootstrap", "classify", "evaluate", "fit", "learn", "pc", "posterior", "score", "tan"),
    "tree",
)


class _LazyGroup(click.Group):
    """A group that knows its commands' names and imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        name, _, attribute = _ALIASES.get(cmd_name, cmd_name).partition(":")
        module = importlib.import_module(f"bestdag.cli.{name.replace('-', '_')}")
        command: click.Command = getattr(module, attribute or "command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(str(unknown_name("command", args[0], COMMANDS)), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _print_version(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        import bestdag

        click.echo(f"bestdag {bestdag.__version__}")
        ctx.exit()


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the version and exit.",
)
def cli() -> None:
    """Best-scoring Bayesian networks for tables of discrete data.

    'bestdag COMMAND --help' explains a command. Exit codes: 0 done, 1 failed, 2 wrong input,
    130 interrupted (143 by SIGTERM, 129 by SIGHUP).
    """


def run(arguments: Sequence[str] | None = None, *, interrupts: Interrupts | None = None) -> int:
    """Run the command line and return its exit code.

    Ctrl-C is listened to meanwhile, unless it is already.
    """
    if interrupts is None:
        with Interrupts() as listening:
            return run(arguments, interrupts=listening)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", DataWarning)
        warnings.showwarning = _show_warning
        return _run(arguments, interrupts)


def _run(arguments: Sequence[str] | None, interrupts: Interrupts) -> int:
    words: list[str] = []
    context: click.Context | None = None
    try:
        if sys.stdout is None:
            _complain("standard output is closed")
            return 1
        words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
        with cli.make_context("bestdag", words, obj=tuple(words)) as context:
            cli.invoke(context)
        sys.stdout.flush()
        return 0
    except click.exceptions.Exit as stop:
        return interrupts.exit_code if stop.exit_code == INTERRUPTED else stop.exit_code
    except (KeyboardInterrupt, click.Abort):
        return _interrupted(interrupts, words, context)
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "bestdag"
        _complain(f"{error.format_message()} (see '{where} --help')", who=where)
        return 2
    except BrokenPipeError:
        # The reader of our output left, as `head` does; nothing more can be said to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        return _interrupted(interrupts, words, context) if interrupts.came else _report(error)


def _interrupted(interrupts: Interrupts, words: list[str], context: click.Context | None) -> int:
    interrupts.ignore()
    from bestdag.cli.output import was_shown

    more = ""
    if words[:1] and words[0] in _AT_THE_END and not was_shown(context):
        has_file = any(word.partition("=")[0] == "--checkpoint" for word in words)
        more = "; --resume continues from the checkpoint" if has_file else "; no results are saved"
    _complain(f"interrupted{more}")
    return interrupts.exit_code


def _report(error: Exception) -> int:
    if isinstance(error, BestdagError):
        _complain(error.on_command_line)
        kinds = (ClusterError, MissingPackageError, NotEnoughMemoryError, WriteError)
        is_failure = isinstance(error, kinds)
        return 1 if is_failure else 2
    if isinstance(error, click.ClickException):
        _complain(error.format_message())
        return 2
    if is_short_of_memory(error):
        _complain(str(no_memory("bestdag")).removeprefix("bestdag: "))
        return 1
    if isinstance(error, OSError):
        _complain(f"{error.filename or 'output'}: {error.strerror or error}")
        return 1
    raise error


def _complain(message: str, who: str = "bestdag") -> None:
    line = " ".join(message.split("\n"))
    with suppress(OSError):  # where nobody listens, the exit code must do
        click.echo(f"{who}: {line}", err=True)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    _complain(f"warning: {getattr(message, 'on_command_line', None) or message}")
