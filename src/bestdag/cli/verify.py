"""`bestdag verify`: a certificate checked in exact arithmetic, and against its data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bestdag.cli.learning_table import read_table, table_options
from bestdag.cli.options import COMMON, THREADS, time_limit_option, with_options
from bestdag.cli.output import output_width, print_json, print_line, working, wrapped
from bestdag.incomplete import TREATMENTS

if TYPE_CHECKING:
    from bestdag.certificate import OptimalityCertificate, Verification

__all__ = ["command"]


@click.command("verify")
@click.argument("certificate")
@click.argument("data", required=False)
@with_options(
    click.option(
        "--target",
        metavar="COLUMN",
        help="With --discretize, the class whose values the bins separate, as for learn.",
    ),
    time_limit_option("Time limit, e.g. 30s, 5m, for what has to be solved or listed again."),
    table_options(
        click.option(
            "--missing",
            type=click.Choice(list(TREATMENTS)),
            help="Missing values; the certificate says what was done about them.",
        )
    ),
    THREADS,
    COMMON,
)
def command(
    certificate: str,
    data: str | None,
    target: str | None,
    time_limit: float | None,
    threads: int | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Check the file CERTIFICATE, written by 'bestdag learn --certificate', in exact arithmetic.

    With DATA, the table that was learned from, read with the same options, or the file of local
    scores, also check that rows, scores and pruning are those of it. What was not checked is said.
    Exit code 0: no network of the class scores more. Exit code 1: that is not so, or could not be
    confirmed.
    """
    from bestdag.certificate import OptimalityCertificate, verify
    from bestdag.errors import CertificateError

    loaded = OptimalityCertificate.load(certificate)
    if data is None and (target is not None or options["discretize"]):
        raise click.UsageError("options about the table need DATA")
    given: Any = None
    if data is not None:
        given = _given(loaded, data, {**options, "quiet": quiet}, target)
    try:
        with working(f"verifying {certificate}", quiet=quiet):
            verification = verify(loaded, given, time_limit=time_limit, threads=threads)
    except CertificateError as error:
        reason = error.on_command_line.removeprefix("certificate: ")
        if as_json:
            print_json({"verified": False, "certificate": certificate, "reason": reason})
        else:
            print_line(f"NOT verified: {reason}")
        raise click.exceptions.Exit(1) from None
    if as_json:
        print_json(_for_json(certificate, verification))
        return
    for line in str(verification).splitlines():
        for part in wrapped(line, output_width()):
            print_line(part)


def _given(
    certificate: OptimalityCertificate, data: str, options: dict[str, Any], target: str | None
) -> Any:
    """Read the file of local scores, or the table as it was read for learning."""
    if data.lower().removesuffix(".gz").endswith((".jkl", ".scores")):
        from bestdag.scores.table import ScoreTable

        return ScoreTable.load(data)
    from bestdag.certificate.verification import treatment_of

    treatment = treatment_of(certificate)
    if options["missing"] not in (None, treatment.name):
        raise click.UsageError(f"the certificate is about a table with --missing {treatment.name}")
    options["missing"] = treatment.reads_as
    return read_table(data, options, target=target).dataset


def _for_json(path: str, verification: Verification) -> dict[str, Any]:
    certificate = verification.certificate
    return {
        "verified": True,
        "certificate": path,
        "claim": certificate.claim(),
        "score": certificate.score,
        "resolution": certificate.resolution,
        "max_parents": certificate.max_parents,
        "checked": list(verification.checked),
        "not_checked": list(verification.unchecked),
    }
