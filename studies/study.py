"""What a study is: trials, and what is made of their rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from studies.claims import Claim
from studies.data import DataFolder
from studies.sections import Section

__all__ = ["Row", "Size", "Study", "Trial", "generator_of"]

Size = Literal["quick", "full"]
# Settings of a trial and what came out, by name.
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Trial:
    """One cell of an experiment: equal trials give equal rows.

    Attributes
    ----------
    group : str
        Trials of one group take about the same time.
    settings : mapping
        Texts and numbers, the seed of what is drawn among them.
    files : tuple of str
        What it reads of the data folder.
    expected : float, default 1
        About how long it takes beside other trials of the study: what forecasts go by as long as
        no trial of its group has been run. No row depends on it.
    """

    group: str
    settings: Mapping[str, str | int | float]
    files: tuple[str, ...] = ()
    expected: float = 1.0

    @property
    def key(self) -> str:
        """The settings as one text, the same for equal trials."""
        return json.dumps(self.settings, sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Study:
    """An experiment that can be run again.

    Attributes
    ----------
    name, title, paper : str
        `paper` is how it is cited.
    trials : callable
        The trials of a size, for a seed.
    run : callable
        The numbers of one trial; it prints and writes nothing. What must not be compared, times,
        is in the entry ``"timing"``.
    sections : callable
        Tables and figures of rows, with the paper's numbers beside.
    claims : callable
        What the paper says, and whether it holds in these rows.
    choices : tuple of str
        What the paper leaves open, and what was chosen.
    """

    name: str
    title: str
    paper: str
    trials: Callable[[Size, int], Iterable[Trial]]
    run: Callable[[Trial, DataFolder], Mapping[str, Any]]
    sections: Callable[[Sequence[Row]], Sequence[Section]]
    claims: Callable[[Sequence[Row]], Sequence[Claim]]
    choices: tuple[str, ...] = ()


def generator_of(*parts: str | int | float) -> np.random.Generator:
    """Return a stream of random numbers that belongs to these texts and numbers alone.

    Examples
    --------
    >>> first = generator_of("asia", 1).integers(100, size=3).tolist()
    >>> first == generator_of("asia", 1).integers(100, size=3).tolist()
    True
    """
    text = json.dumps(parts, separators=(",", ":"))
    return np.random.default_rng(list(hashlib.sha256(text.encode()).digest()))
