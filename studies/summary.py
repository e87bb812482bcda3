"""The summary of a study: claims, tables and figures, as Markdown and as one HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from studies.claims import Claim
from studies.data import CHECKSUMS
from studies.sections import Figure, Section, Table
from studies.study import Row, Study

__all__ = ["Summary", "duration"]

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-size: 14px; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid #ddd; padding: 2px 8px; text-align: left; }
td + td { font-variant-numeric: tabular-nums; }
figure { margin: 0; } img { max-width: 100%; height: auto; }
"""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run of a study found.

    Attributes
    ----------
    study, title, paper, command : str
    n_done, n_planned : int
        Trials.
    seconds : float
        Of processor time that the trials took, on one processor each.
    claims : tuple of Claim
    sections : tuple of Table or Figure
    choices : tuple of str
    missing : mapping of str to str
        Files that could not be used, and why.
    time_limit : float or None
        Seconds, where some trials were not done by then.
    """

    study: str
    title: str
    paper: str
    command: str
    n_done: int
    n_planned: int
    seconds: float
    claims: tuple[Claim, ...]
    sections: tuple[Section, ...]
    choices: tuple[str, ...]
    missing: Mapping[str, str]
    time_limit: float | None = None

    @classmethod
    def of(
        cls,
        study: Study,
        rows: Sequence[Row],
        *,
        command: str,
        n_planned: int,
        seconds: float,
        missing: Mapping[str, str],
        time_limit: float | None = None,
    ) -> Summary:
        """Make tables, figures and claims of rows."""
        return cls(
            study=study.name,
            title=study.title,
            paper=study.paper,
            command=command,
            n_done=len(rows),
            n_planned=n_planned,
            seconds=seconds,
            claims=tuple(study.claims(rows)),
            sections=tuple(study.sections(rows)),
            choices=study.choices,
            missing=dict(missing),
            time_limit=time_limit,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "study": self.study,
            "trials": self.n_done,
            "planned": self.n_planned,
            "seconds": self.seconds,
            "claims": [
                {name: getattr(claim, name) for name in Claim.__slots__} for claim in self.claims
            ],
            "missing": dict(self.missing),
            "time_limit": self.time_limit,
        }

    def markdown(self) -> str:
        """Write it as Markdown."""
        parts = [f"# {self.title}", "", self.paper, "", f"`{self.command}`", "", self._about(), ""]
        if self.missing:
            parts += ["## Files that are needed", "", *(f"- {line}" for line in self._needed()), ""]
        if self.claims:
            parts += ["## Claims", "", self._claims().markdown().split("\n", 2)[2]]
        parts += ["## Results", "", *(section.markdown() for section in self.sections)]
        if self.choices:
            parts += [
                "## What the paper leaves open",
                "",
                *(f"- {one}" for one in self.choices),
                "",
            ]
        return "\n".join(parts)

    def html(self) -> str:
        """Write it as one HTML page that fetches nothing."""
        parts = [f"<h1>{escape(self.title)}</h1>", f"<p>{escape(self.paper)}</p>"]
        parts += [f"<p><code>{escape(self.command)}</code></p>", f"<p>{escape(self._about())}</p>"]
        if self.missing:
            parts += ["<h2>Files that are needed</h2>", _listed(self._needed())]
        if self.claims:
            parts += ["<h2>Claims</h2>", self._claims().html().split("\n", 1)[1]]
        parts += ["<h2>Results</h2>", *(section.html() for section in self.sections)]
        if self.choices:
            parts += ["<h2>What the paper leaves open</h2>", _listed(self.choices)]
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f"<title>{escape(self.title)}</title><style>{_STYLE}</style></head>\n<body>\n"
            + "\n".join(parts)
            + "\n</body></html>\n"
        )

    def write(self, folder: Path) -> None:
        """Write ``summary.md``, ``summary.html`` and the figures, each complete or untouched."""
        for section in self.sections:
            if isinstance(section, Figure):
                _write(folder / f"{section.name}.svg", section.svg)
        _write(folder / "summary.html", self.html())
        _write(folder / "summary.md", self.markdown())

    def _about(self) -> str:
        left = "" if self.n_done == self.n_planned else f" of {self.n_planned:,}"
        done = f"{self.n_done:,}{left} {'trial' if self.n_planned == 1 else 'trials'}."
        if self.time_limit is None:
            return done
        limit = duration(self.time_limit)
        return f"{done} The others were not done when the time limit of {limit} was over."

    def _needed(self) -> list[str]:
        return [
            f"{name} {why}: SHA-256 {CHECKSUMS[name]}; its trials were left out"
            for name, why in self.missing.items()
        ]

    def _claims(self) -> Table:
        rows = [
            (claim.name, claim.where, claim.text, claim.verdict, claim.statistic, claim.reason)
            for claim in self.claims
        ]
        header = ("claim", "where", "what it says", "verdict", "statistic", "reason")
        return Table("Claims", header, rows)


def duration(seconds: float) -> str:
    """Say a time in the unit that suits it.

    Examples
    --------
    >>> duration(12), duration(600), duration(36_000)
    ('12.0 s', '10 min', '10.0 h')
    """
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _write(path: Path, text: str) -> None:
    """Write a file that is complete whenever it is there."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def _listed(lines: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"
