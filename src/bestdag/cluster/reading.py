"""Reading onto a cluster: who sees the files, which states there are, then the codes, in parts."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestdag.cluster.parquet import (
    Coding,
    FileFacts,
    Values,
    divided,
    is_parquet,
    load_part,
    look,
    values_of,
)
from bestdag.cluster.part import Part, PartFacts
from bestdag.cluster.rows import ClusterRows, seen_anywhere
from bestdag.cluster.session import Machine, machines, same_everywhere
from bestdag.cluster.waiting import awaited
from bestdag.data.choice import Choice, choose
from bestdag.data.dataset import Dataset
from bestdag.data.encode import ReadOptions, coded_column, refuse_many
from bestdag.data.holes import holes_text
from bestdag.data.raw import RawColumn
from bestdag.data.readers import read
from bestdag.data.schema import MISSING_STATE, Variable
from bestdag.data.settle import warn
from bestdag.errors import DataError, InvalidParameterError, NotEnoughMemoryError
from bestdag.machine import readable_size
from bestdag.wording import count_of

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["is_read_there", "read_on", "spread"]

# A worker has so many parts, so that those of a lost one go to several others; smaller ones than
# this are not worth it. Row numbers are 32 bits wide inside the kernels.
_PARTS_EACH, _LEAST_ROWS, _MOST_ROWS = 4, 1 << 16, 1 << 30
# Of a worker's memory, for its rows.
_SHARE = 0.7


def read_on(client: Client, source: Any, **settings: Any) -> ClusterRows:
    """Read a table onto the workers of a cluster.

    Parameters
    ----------
    client : distributed.Client
    source : path, list of paths, or anything `read` takes
        Parquet files, or a pattern of names, that all workers see are read by the workers.
        Anything else is read here and sent to them.
    **settings
        Those of `read`.

    Raises
    ------
    ClusterError
        Before anything is read, when a worker does not see the files, sees others, or has another
        version of bestdag.
    """
    if not is_parquet(source):
        return spread(client, source if isinstance(source, Dataset) else read(source, **settings))
    given = [source] if isinstance(source, str | os.PathLike) else list(source)
    sources = [os.path.abspath(os.fspath(one)) for one in given]
    name = repr(os.fspath(given[0])) + ("" if len(given) == 1 else f" and {len(given) - 1} more")
    choice = choose(given[0], **settings)
    if choice.weights is not None and not isinstance(choice.weights, str):
        raise InvalidParameterError(
            "read: weights of rows on a cluster must be a column, got an array; give its name"
        )
    crew = machines(client)
    files: list[FileFacts] = same_everywhere(client, name, look, sources)
    _require_alike(files, name)
    return _Reading(client, crew, files, choice, name).run()


def is_read_there(source: Any) -> bool:
    """Whether the workers read a source themselves."""
    return is_parquet(source)


def spread(client: Client, dataset: Dataset) -> ClusterRows:
    """Send the rows of a data set to the workers of a cluster, in parts, unless they are there."""
    if isinstance(dataset, ClusterRows):
        return dataset
    crew = machines(client)
    variables = sorted(dataset.variables, key=lambda v: v.name)
    n_parts = _n_parts(dataset.n_rows, len(crew))
    edges = np.linspace(0, dataset.n_rows, n_parts + 1).astype(np.int64).tolist()
    weights = dataset.weights
    parts = []
    for first, last in pairwise(edges):
        own = None if weights is None else weights[first:last].astype(np.float64)
        columns = [dataset.codes(v.name)[first:last] for v in variables]
        if own is not None:
            columns, own = [column[own > 0] for column in columns], own[own > 0]
        parts.append(Part([np.ascontiguousarray(column) for column in columns], own))
    _require_room(crew, sum(map(_n_bytes, parts)), "the table")
    token = uuid.uuid4().hex[:12]
    futures = [
        # As a task, not scattered: then the scheduler can do it again for a lost worker.
        client.submit(
            _given, part, key=f"rows-{token}-{i}", workers=[place], allow_other_workers=True
        )
        for i, (part, place) in enumerate(zip(parts, _placed(crew, n_parts), strict=True))
    ]
    arities = np.array([v.arity for v in variables], np.int64)
    return ClusterRows(
        client,
        dataset.variables,
        futures,
        [part.facts(arities) for part in parts],
        name="the table",
        n_workers=len(crew),
        missing=dataset.missing_counts,
    )


class _Reading:
    """Parquet files on their way to the workers."""

    def __init__(
        self,
        client: Client,
        crew: Sequence[Machine],
        files: Sequence[FileFacts],
        choice: Choice,
        name: str,
    ) -> None:
        self._client = client
        self._crew = crew
        self._name = name
        self._options = choice.options
        self._columns = choice.variables(files[0].columns)
        self._weight = choice.weights if isinstance(choice.weights, str) else None
        n_rows = sum(file.n_rows for file in files)
        if not n_rows:
            raise DataError(f"read: {choice.options.source} has no rows")
        self._n_rows = n_rows
        self._pieces = divided(files, _n_parts(n_rows, len(crew)))
        self._places = _placed(crew, len(self._pieces))
        self._token = uuid.uuid4().hex[:12]

    def run(self) -> ClusterRows:
        variables, codings, fixed = self._agreed()
        n_bytes = self._n_rows * sum(coding.codes.itemsize for coding in codings)
        n_bytes += 0 if self._weight is None else 16 * self._n_rows
        _require_room(machines(self._client), n_bytes, self._name)  # what they have left by now
        order = sorted(range(len(variables)), key=lambda i: variables[i].name)
        parts = self._loaded([codings[i] for i in order])
        arities = np.array([variables[i].arity for i in order], np.int64)
        facts = awaited(
            self._client, lambda: _asked_facts(self._client, parts, arities), self._name
        )
        by_name = {variables[i].name: variables[i] for i in order}
        holes = self._holes(list(by_name), facts)
        if self._options.missing == "drop":
            self._say_dropped(facts)
            by_name, parts = self._without_unseen(by_name, fixed, parts, facts)
        settled = self._settled(by_name, holes)
        if self._options.missing == "state":
            holes = {}
        return ClusterRows(
            self._client,
            [settled[name] for name in self._columns],
            parts,
            facts,
            name=self._name,
            n_workers=len(self._crew),
            missing=holes,
        )

    def _agreed(self) -> tuple[list[Variable], list[Coding], set[str]]:
        """Ask all parts for their values, and decide what the states are."""

        def ask() -> list[Future]:
            return [
                self._client.submit(
                    values_of, pieces, self._columns, self._options, key=f"values-{self._token}-{i}"
                )
                for i, pieces in enumerate(self._pieces)
            ]

        found: list[list[Values]] = awaited(self._client, ask, self._name)
        columns = [
            _joined(name, [part[i] for part in found]) for i, name in enumerate(self._columns)
        ]
        _refuse_wide(columns, self._options)
        variables, codings = [], []
        for texts, column in columns:
            variable, codes = coded_column(column, self._options)
            absent = np.array([variable.arity], codes.dtype)
            variables.append(variable)
            codings.append(Coding(column.name, texts, np.concatenate([codes[:-1], absent])))
        fixed = {column.name for _, column in columns if column.has_fixed_states}
        fixed |= {v.name for v in variables if v.cuts is not None} | set(self._options.states)
        return variables, codings, fixed

    def _loaded(self, codings: list[Coding]) -> list[Future]:
        drops = self._options.missing == "drop"
        return [
            self._client.submit(
                load_part,
                pieces,
                codings,
                self._weight,
                drops,
                self._options,
                key=f"rows-{self._token}-{i}",
                workers=[place],
                allow_other_workers=True,
            )
            for i, (pieces, place) in enumerate(zip(self._pieces, self._places, strict=True))
        ]

    def _holes(self, names: list[str], facts: Sequence[PartFacts]) -> dict[str, int]:
        counts = np.sum([one.n_missing for one in facts], axis=0).tolist()
        by_name = {name: n for name, n in zip(names, counts, strict=True) if n}
        return {name: by_name[name] for name in self._columns if name in by_name}

    def _settled(
        self, variables: dict[str, Variable], holes: dict[str, int]
    ) -> dict[str, Variable]:
        """Refuse missing values, or make a state of them, as asked."""
        who = f"read: {self._options.source}"
        if not holes or self._options.missing == "keep":
            return variables
        if self._options.missing == "error":
            what = holes_text(holes)
            raise DataError(
                f'{who}: {what}; set missing to "drop", "state" or "keep", or drop the columns'
            ).with_option(
                f"{who}: {what}; pass --missing drop or --missing state, or leave the columns out "
                "with --drop"
            )
        made = dict(variables)
        for name in holes:
            known = variables[name]
            if MISSING_STATE in known.states:
                what = (
                    f"{who}: column {name!r} already has a state called 'missing' beside its "
                    "missing values"
                )
                raise DataError(f"{what}; add 'missing' to missing_values").with_option(
                    f"{what}; pass --missing-value missing"
                )
            # The code of a missing value is the arity, so it is that of the new last state.
            made[name] = Variable(name, (*known.states, MISSING_STATE), known.cuts)
        return made

    def _say_dropped(self, facts: Sequence[PartFacts]) -> None:
        n_dropped = sum(one.n_dropped for one in facts)
        n_left = sum(one.n_rows for one in facts)
        who = f"read: {self._options.source}"
        if not n_left:
            raise DataError(f"{who}: every row has a missing value, so none would be left")
        if not self._options.allow_few_rows and n_left * 3 < self._n_rows:
            what = (
                f"{who}: {n_left:,} of {self._n_rows:,} rows have no missing values, less than a "
                "third"
            )
            raise DataError(
                f'{what}; set missing to "state", or pass allow_few_rows=True to continue'
            ).with_option(f"{what}; use --missing state, or pass --allow-few-rows to continue")
        if n_dropped:
            warn(f"{who}: dropped {n_dropped:,} of {self._n_rows:,} rows with missing values")

    def _without_unseen(
        self,
        variables: dict[str, Variable],
        fixed: set[str],
        parts: list[Future],
        facts: list[PartFacts],
    ) -> tuple[dict[str, Variable], list[Future]]:
        """Leave out states that were found, not declared, and only in rows that were dropped."""
        tables: list[npt.NDArray[Any]] = []
        made: dict[str, Variable] = {}
        changes = False
        for (name, known), seen in zip(variables.items(), seen_anywhere(facts), strict=True):
            kept = np.ones(known.arity, np.bool_) if name in fixed else seen[:-1]
            changes = changes or not kept.all()
            states = tuple(s for s, is_kept in zip(known.states, kept, strict=True) if is_kept)
            made[name] = known if kept.all() else Variable(name, states)
            codes = np.concatenate([np.cumsum(kept) - 1, [kept.sum()]])
            tables.append(codes.astype(np.uint8 if known.arity <= 255 else np.uint16))
        if not changes:
            return variables, parts
        return made, [
            self._client.submit(
                _recoded,
                part,
                tables,
                key=f"recoded-{self._token}-{i}",
                workers=[place],
                allow_other_workers=True,
            )
            for i, (part, place) in enumerate(zip(parts, self._places, strict=True))
        ]


def _joined(name: str, found: Sequence[Values]) -> tuple[list[str], RawColumn]:
    """Put the values of all parts together; codes number them, and one more that is missing."""
    by_text: dict[str, Any] = {}
    for values in found:
        by_text.update(values.by_text)
    texts = sorted(by_text)
    declared = next((values.declared for values in found if values.declared is not None), None)
    codes = np.arange(len(texts) + 1, dtype=np.uint32)
    return texts, RawColumn(name, [by_text[text] for text in texts], codes, declared=declared)


def _refuse_wide(columns: Sequence[tuple[list[str], RawColumn]], options: ReadOptions) -> None:
    counts = {c.name: len(set(texts) - options.missing_values) for texts, c in columns}
    limits = {c.name: options.limit(c.name, c.declared) for _, c in columns}
    refuse_many(counts, limits, options)


def _require_alike(files: Sequence[FileFacts], name: str) -> None:
    if not files:
        raise DataError(f"read: there is no file {name}")
    for file in files:
        if set(file.columns) != set(files[0].columns):
            raise DataError(
                f"read: files must have the same columns, {files[0].path!r} and {file.path!r} "
                "differ"
            )


def _require_room(crew: Sequence[Machine], n_bytes: float, name: str) -> None:
    """Refuse rows that the workers cannot hold."""
    if any(machine.memory is None for machine in crew):
        return
    room = _SHARE * min(machine.memory or 0.0 for machine in crew) * len(crew)
    if n_bytes > room:
        have = f"{count_of(len(crew), 'worker')} {'has' if len(crew) == 1 else 'have'} room for"
        raise NotEnoughMemoryError(
            f"cluster: the codes of {name} take {readable_size(n_bytes)}, and {have} "
            f"{readable_size(room)}; start more of them, or give them more memory"
        )


def _n_parts(n_rows: int, n_workers: int) -> int:
    each = max(1, min(_PARTS_EACH, n_rows // (n_workers * _LEAST_ROWS)))
    return max(min(n_rows, n_workers * each), -(-n_rows // _MOST_ROWS))


def _placed(crew: Sequence[Machine], n_parts: int) -> list[str]:
    """Give neighbouring parts to the same worker."""
    return [crew[i * len(crew) // n_parts].address for i in range(n_parts)]


def _asked_facts(
    client: Client, parts: Sequence[Future], arities: npt.NDArray[np.int64]
) -> list[Future]:
    found: list[Future] = client.map(_facts, parts, [arities] * len(parts), pure=False)
    return found


# Run by workers


def _given(part: Part) -> Part:
    return part


def _facts(part: Part, arities: npt.NDArray[np.int64]) -> PartFacts:
    return part.facts(arities)


def _recoded(part: Part, tables: Sequence[npt.NDArray[Any]]) -> Part:
    return part.recoded(tables)


def _n_bytes(part: Part) -> int:
    return part.__sizeof__()
