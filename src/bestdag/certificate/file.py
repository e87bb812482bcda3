"""What a certificate holds, and its file: JSON with a checksum; nothing in it is run."""

from __future__ import annotations

import hashlib
import os
from dataclasses import asdict, fields
from typing import Any

import msgspec
import numpy as np

from bestdag.errors import FormatError, InvalidParameterError, WriteError
from bestdag.files import read_file, shown_path, write_file
from bestdag.search.exact.bnc.certificate import Certificate as TreeCertificate
from bestdag.search.exact.bnc.certificate import Node
from bestdag.search.exact.bnc.relaxation import Cut, OrderCut
from bestdag.search.result import Limits
from bestdag.wording import count_of

__all__ = [
    "Case",
    "Lists",
    "OptimalityCertificate",
    "Part",
    "Rows",
    "ScoredBy",
    "Tree",
    "require_name",
]

_FORMAT, _VERSION = "bestdag certificate", 1
_SUFFIXES = (".json", ".json.gz")


class Rows(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The data: how many rows (or the sum of their weights), and a fingerprint of them.

    Attributes
    ----------
    n_rows : float
    fingerprint : str or None
        The same for the same rows in any order; None where the rows are on other machines.
    missing : str
        What was done about missing values, as `learn` calls it.
    """

    n_rows: float
    fingerprint: str | None
    missing: str


class ScoredBy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The score and the prior over structures: in words, and as values where these say it all.

    Attributes
    ----------
    words : str
    name : str or None
        Of the score; None where names and settings do not make it.
    settings : dict
    prior : str or None
        "uniform" or "sparse"; None where it is another one.
    """

    words: str
    name: str | None = None
    settings: dict[str, bool | int | float | str | None] = {}
    prior: str | None = None


class Lists(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The parent sets of one variable, best first: each as numbers of variables, ascending."""

    scores: tuple[float, ...]
    parents: tuple[tuple[int, ...], ...]


class ClusterLine(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="clusters"
):
    """A cut from clusters, see `Cut`: members and number of each, equations, whether halved."""

    terms: tuple[tuple[tuple[int, ...], int], ...]
    equations: tuple[int, ...] = ()
    halved: bool = False


class OrderLine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="order"):
    """A cut on a few variables, see `OrderCut`."""

    members: tuple[int, ...]
    gains: tuple[tuple[int, ...], ...]
    most: int


class Tree(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A branching tree as branch and cut leaves it, see `search.exact.bnc.certificate`."""

    parents: tuple[int, ...]
    score: float
    resolution: float
    bound: float
    exponent: int
    cuts: tuple[ClusterLine | OrderLine, ...]
    nodes: tuple[Node, ...]

    @classmethod
    def of(cls, tree: TreeCertificate) -> Tree:
        """Take it as it is; each cut says of which kind it is."""
        kinds = {Cut: ClusterLine, OrderCut: OrderLine}
        cuts = tuple(kinds[type(cut)](**asdict(cut)) for cut in tree.cuts)
        own = {one.name: getattr(tree, one.name) for one in fields(tree) if one.name != "cuts"}
        return cls(**own, cuts=cuts)

    def certificate(self) -> TreeCertificate:
        """Return it in the form that its check takes."""
        kinds = {ClusterLine: Cut, OrderLine: OrderCut}
        cuts = tuple(kinds[type(cut)](**msgspec.structs.asdict(cut)) for cut in self.cuts)
        return TreeCertificate(**{**msgspec.structs.asdict(self), "cuts": cuts})


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Some of the variables, and why no acyclic choice of parents among them is better.

    Attributes
    ----------
    variables : tuple of int
        Numbers of variables, ascending.
    sets : tuple of tuple of int
        For each of them the places in its list of the sets that matter once parents outside this
        part are left out: every other set is no better than one of these inside it.
    tree : Tree or None
        The branching tree with its cuts and multipliers; its numbers are places in `variables`.
        None where the part is to be solved again.
    """

    variables: tuple[int, ...]
    sets: tuple[tuple[int, ...], ...]
    tree: Tree | None = None


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One case of the statements that no single family decides; without such there is one case.

    It has parts, or is split by an edge, a path or a group of variables that some arc must enter;
    or there is no acyclic choice left, and it has neither.
    """

    parts: tuple[Part, ...] = ()
    edge: tuple[int, int] | None = None
    path: tuple[int, ...] = ()
    entered: tuple[int, ...] = ()
    children: tuple[int, ...] = ()


class OptimalityCertificate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """That no structure of a class scores more than this one, with all that a check needs.

    `Result.certificate` makes one; `verify` checks it.

    Attributes
    ----------
    version : str
        Of bestdag.
    names : tuple of str
        The variables; everywhere else they are numbers, places in here.
    max_parents : int or None
        Structures with at most so many parents per variable; None is no such limit.
    support : float
        Rows for each occupied cell that every family needs, at least; 0 is no limit.
    exempt : tuple
        Families without support that statements require: child, and parents.
    knowledge : dict
        The statements that every structure must obey, as `Knowledge.to_dict` has them.
    is_among_listed : bool
        Whether the lists were given, in a file of local scores, so that there is no data.
    score, resolution : float
        No structure of the class scores more than their sum.
    parents : tuple of tuple of int
        The structure: the parents of each variable.
    rows : Rows or None
    scored_by : ScoredBy or None
    lists : tuple of Lists
        For each variable the parent sets that a best structure may need.
    cases : tuple of Case
        The proof; case 0 is the whole.
    """

    version: str
    names: tuple[str, ...]
    max_parents: int | None
    support: float
    exempt: tuple[tuple[str, tuple[str, ...]], ...]
    knowledge: dict[str, Any]
    is_among_listed: bool
    score: float
    resolution: float
    parents: tuple[tuple[int, ...], ...]
    rows: Rows | None
    scored_by: ScoredBy | None
    lists: tuple[Lists, ...]
    cases: tuple[Case, ...]

    def claim(self) -> str:
        """Say what is certified."""
        words = Limits(
            max_parents=self.max_parents,
            support=self.support,
            has_statements=any(field != "skeleton" for field in self.knowledge),
            has_skeleton="skeleton" in self.knowledge,
        ).words()
        if self.is_among_listed:
            words = words.replace("all networks", "all networks of the listed parent sets", 1)
        within = f" (within {self.resolution:.2g})" if self.resolution else ""
        return f"the best log score of {words} is {self.score:.6f}{within}"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file, ``.json`` or ``.json.gz``, complete or not at all."""
        require_name("certificate", path)
        try:
            content = msgspec.json.encode(self, enc_hook=_plain)
        except UnicodeEncodeError as error:
            reason = f"a name is not valid Unicode: {error.object[error.start : error.end]!r}"
            raise WriteError(f"{shown_path(path)}: cannot be written: {reason}") from None
        whole = _File(
            format=_FORMAT,
            format_version=_VERSION,
            checksum=_checksum(content),
            content=msgspec.Raw(content),
        )
        write_file(path, msgspec.json.encode(whole) + b"\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> OptimalityCertificate:
        """Read a file that `save` wrote.

        Raises
        ------
        FormatError
            A file that is something else, of another version, damaged, or cut short.
        """
        shown = shown_path(path)
        data = read_file(path)
        try:
            head = msgspec.json.decode(data, type=_Head)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise FormatError(_not_one(shown, data)) from None
        if head.format != _FORMAT:
            raise FormatError(_not_one(shown, b""))
        if head.format_version != _VERSION:
            raise FormatError(
                f"{shown}: is a certificate in format {head.format_version}, and this version of "
                f"bestdag reads format {_VERSION}"
            )
        try:
            whole = msgspec.json.decode(data, type=_File)
            if whole.checksum != _checksum(whole.content):
                raise FormatError(f"{shown}: {_DAMAGED}")
            return msgspec.json.decode(whole.content, type=cls)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            if isinstance(error, FormatError):
                raise
            raise FormatError(f"{shown}: {_DAMAGED} ({error})") from None

    def __repr__(self) -> str:
        return f"<OptimalityCertificate: {self.claim()}>"

    def __str__(self) -> str:
        n_sets = sum(len(one.scores) for one in self.lists)
        return (
            f"{self.claim()}\n"
            f"{count_of(len(self.names), 'variable')}, {count_of(n_sets, 'parent set')}, "
            f"{count_of(sum(len(case.parts) for case in self.cases), 'part')}"
        )


class _Head(msgspec.Struct):
    format: str
    format_version: int


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    format_version: int
    checksum: str
    content: msgspec.Raw


_DAMAGED = "is damaged, or was changed by hand; write it again"


def require_name(who: str, path: str | os.PathLike[str]) -> None:
    """Refuse a name that does not say JSON."""
    if not os.fspath(path).lower().endswith(_SUFFIXES):
        raise InvalidParameterError(
            f"{who}: the name of the file must end in .json or .json.gz, got {shown_path(path)}"
        )


def _not_one(shown: str, data: bytes) -> str:
    if f'"{_FORMAT}"'.encode() in data[:200]:
        return f"{shown}: {_DAMAGED}"
    return f"{shown}: is not a bestdag certificate; 'bestdag learn --certificate FILE' writes one"


def _checksum(content: bytes | msgspec.Raw) -> str:
    return hashlib.blake2b(bytes(content), digest_size=16).hexdigest()


def _plain(value: Any) -> Any:
    """Make plain numbers of NumPy's."""
    if isinstance(value, np.generic):
        return value.item()
    raise NotImplementedError(f"a {type(value).__name__} cannot be written")
