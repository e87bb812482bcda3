"""`verify`: a certificate checked by itself, and against the data that it is about."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bestdag.certificate.checking import check, nodes_of
from bestdag.certificate.file import OptimalityCertificate, ScoredBy
from bestdag.certificate.numbers import fingerprint_of
from bestdag.data.dataset import Dataset
from bestdag.data.readers import read_rows
from bestdag.errors import BestdagError, CertificateError, DataError, require_positive
from bestdag.graph.knowledge import NodeKnowledge
from bestdag.incomplete import TREATMENTS, Treatment, make_treatment
from bestdag.scores import make_score
from bestdag.scores.base import Score
from bestdag.scores.local_scores import LocalScores
from bestdag.scores.parent_sets.limits import n_parent_sets
from bestdag.scores.parent_sets.listing import ParentSetListing
from bestdag.scores.prior import make_prior
from bestdag.scores.scorer import Scorer
from bestdag.scores.table import ScoreTable
from bestdag.search.exact.statements.statements import Statements
from bestdag.search.ties import tie_width
from bestdag.wording import by_reader, count_of

__all__ = ["Verification", "treatment_of", "verify"]

# Up to so many families are all scored again. More are listed again, as they were for learning,
# where that takes no longer than so many seconds; of listed scores a sample is compared.
MOST_FAMILIES = 5_000_000
_SECONDS_TO_LIST = 60.0
_MOST_LISTED, _SAMPLE, _SEED = 2_000_000, 100_000, 0
_AT_ONCE = 1 << 16
_EPSILON = 2.0**-50  # four roundings of a double

_Reals = npt.NDArray[np.float64]
_Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What was checked of a certificate, all of which holds, and what was not.

    Attributes
    ----------
    certificate : OptimalityCertificate
    checked, unchecked : tuple of str
    """

    certificate: OptimalityCertificate
    checked: tuple[str, ...]
    unchecked: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"verified: {self.certificate.claim()}"]
        lines.append(f"checked: {'; '.join(self.checked)}")
        if self.unchecked:
            lines.append(f"not checked: {'; '.join(self.unchecked)}")
        return "\n".join(lines)


def verify(
    certificate: OptimalityCertificate | str | os.PathLike[str],
    data: Any = None,
    *,
    time_limit: float | None = None,
    threads: int | None = None,
) -> Verification:
    """Check that no structure scores more than a certificate says, in exact arithmetic.

    Parameters
    ----------
    certificate : OptimalityCertificate or path
        What `Result.certificate` makes, or a file of it.
    data : Dataset, path, frame, Scorer or ScoreTable, optional
        What it is about: a table as `learn` takes it (numbers that were cut: the Dataset), a
        `Scorer` for a score of your own, or a file of local scores. Without it the lists of parent
        sets and their scores are taken as they are.
    time_limit : float, optional
        Seconds for what may take long: parts of more than 20 variables that dynamic programming
        proved, which leaves nothing to check, so that branch and cut solves them again; and
        listing parent sets again.
    threads : int, optional
        Threads for scoring; every processor by default.

    Returns
    -------
    Verification
        What was checked, and what was not.

    Raises
    ------
    CertificateError
        A certificate that does not prove what it claims, is about other data, or cannot be
        confirmed in time; the message says which.
    FormatError
        A file that is no certificate, or damaged.

    Notes
    -----
    Without data: every listed set, the structure and its score; for each part of the variables,
    that its own sets cover all listed ones, and what its proof shows, by code that shares nothing
    with the engines: the branching tree in whole numbers, or a recursion over subsets. With data:
    that they are the same rows (in any order), that the listed scores are theirs, and that no
    family that the limits admit is better than what the lists hold: up to five million families are
    all scored, more are listed again with the bounds that pruned them.

    Examples
    --------
    >>> from bestdag import learn
    >>> from bestdag.examples import example
    >>> certificate = learn(example("asia.csv"), "bdeu").certificate()
    >>> print(verify(certificate, example("asia.csv")).checked[-1])
    1,024 families of these data: none better is left out
    """
    if not isinstance(certificate, OptimalityCertificate):
        certificate = OptimalityCertificate.load(certificate)
    deadline = math.inf
    if time_limit is not None:
        deadline = time.monotonic() + require_positive("verify", "time_limit", time_limit)
    checked = list(check(certificate, deadline).words())
    unchecked: list[str] = []
    if data is None:
        what = "the file of local scores" if certificate.is_among_listed else "the data"
        unchecked.append(f"that lists and scores are those of {what} (give them to check that)")
    else:
        _OnData(certificate, deadline, checked, unchecked).run(data, threads)
    return Verification(certificate=certificate, checked=tuple(checked), unchecked=tuple(unchecked))


class _OnData:
    """The checks against data; what they come to is added to the lists."""

    def __init__(
        self,
        certificate: OptimalityCertificate,
        deadline: float,
        checked: list[str],
        unchecked: list[str],
    ) -> None:
        self.certificate, self.deadline = certificate, deadline
        self.rounding = 0.0  # of scores that are differences of large terms
        self.checked, self.unchecked = checked, unchecked

    def run(self, data: Any, threads: int | None) -> None:
        """Check rows, scores and pruning, as far as that is possible."""
        scores = data if isinstance(data, LocalScores) else self.scorer_of(data, threads)
        if scores is None:
            return
        names = self.certificate.names
        if set(scores.names) != set(names):
            differ = sorted(set(scores.names) ^ set(names))
            raise _other(f"variables differ: {', '.join(map(repr, differ[:3]))}")
        if isinstance(scores, Scorer):
            self.check_rows(scores.dataset)
            exempt = [(child, frozenset(parents)) for child, parents in self.certificate.exempt]
            n = float(scores.dataset.total_weight)
            self.rounding = _EPSILON * n * math.log(n + 2.0)
            scores = scores.within_support(self.certificate.support).exempting(exempt)
        _, nodes = nodes_of(self.certificate)
        if isinstance(scores, ScoreTable):
            self.check_table(scores, nodes)
        else:
            self.check_scores(scores)
            self.check_pruning(scores, nodes)

    def scorer_of(self, data: Any, threads: int | None) -> LocalScores | None:
        """Read the data and bind the score to them; None where the file does not say which."""
        treatment = treatment_of(self.certificate)
        if not isinstance(data, Dataset):
            data = read_rows(data, missing=treatment.reads_as).dataset
        made = _score_of(self.certificate.scored_by)
        if made is None:
            self.check_rows(data)
            words = None if self.certificate.scored_by is None else self.certificate.scored_by.words
            self.unchecked.append(
                f"the listed scores: {words} cannot be made from the file"
                + by_reader("; give a Scorer of the data", "")
            )
            return None
        score, prior = made
        return _scorer(treatment, data, score, prior, threads)

    def check_rows(self, dataset: Dataset) -> None:
        """Refuse other rows."""
        rows = self.certificate.rows
        if rows is None:
            raise _other("the certificate is about local scores, not about rows")
        fingerprint = fingerprint_of(dataset)
        shown = count_of(dataset.total_weight, "row")
        if float(dataset.total_weight) != rows.n_rows:
            raise _other(f"{shown}, and it is about {count_of(rows.n_rows, 'row')}")
        if rows.fingerprint is None or fingerprint is None:
            self.unchecked.append("whether the rows are the same: some are on other machines")
        elif fingerprint != rows.fingerprint:
            raise _other(f"their fingerprint is {fingerprint}, not {rows.fingerprint}")
        else:
            self.checked.append(f"the data: {shown}, fingerprint {fingerprint}")

    def check_scores(self, scores: LocalScores) -> None:
        """Refuse listed scores that the data do not give: all, or a sample of many."""
        certificate, names = self.certificate, self.certificate.names
        places = [(v, k) for v, own in enumerate(certificate.lists) for k in range(len(own.scores))]
        what = f"all {count_of(len(places), 'listed score')}"
        if len(places) > _MOST_LISTED:
            chosen = np.random.default_rng(_SEED).choice(len(places), _SAMPLE, replace=False)
            places = [places[i] for i in np.sort(chosen).tolist()]
            what = f"{_SAMPLE:,} of {what.removeprefix('all ')}, drawn at random (seed {_SEED})"
        for begin in range(0, len(places), _AT_ONCE):
            some = places[begin : begin + _AT_ONCE]
            families = [
                (names[v], frozenset(names[p] for p in certificate.lists[v].parents[k]))
                for v, k in some
            ]
            for (v, k), score in zip(some, scores.families(families).tolist(), strict=True):
                listed = certificate.lists[v].scores[k]
                if not abs(score - listed) <= tie_width(listed) + self.rounding:
                    raise CertificateError(
                        f"certificate: set {k} of {names[v]!r} is listed with {listed!r}, and the "
                        f"data give {score!r}"
                    )
        self.checked.append(what)

    def check_pruning(self, scores: LocalScores, nodes: NodeKnowledge) -> None:
        """Refuse lists that lack a family which is better than all listed within it."""
        n = len(self.certificate.names)
        most = self.certificate.max_parents
        most = n - 1 if most is None else min(most, n - 1)
        n_families = n * n_parent_sets(n, most)
        if n_families > MOST_FAMILIES:
            if not self.is_listed_again(scores, nodes, most):
                self.unchecked.append(f"that no other of the {n_families:,} families is better")
            return
        place = {name: i for i, name in enumerate(self.certificate.names)}
        theirs = [place[name] for name in scores.names]
        families = scores.all_families(most)
        subsets = _Subsets(n - 1, most)
        # Statements that ask for more arcs may need a set that a subset beats.
        is_strict = Statements.of(nodes).need_more_arcs
        for child in scores.names:
            worst = self.not_covered(
                child, families[child], subsets, theirs, nodes, is_strict=is_strict
            )
            if worst is not None and is_strict:
                self.unchecked.append(
                    "that no other family is needed, which statements about paths decide"
                )
                return
            if worst is not None:
                raise CertificateError(f"certificate: {worst}, more than any listed set within it")
        self.checked.append(f"{n_families:,} families of these data: none better is left out")

    def is_listed_again(self, scores: LocalScores, nodes: NodeKnowledge, most: int) -> bool:
        """Refuse lists that lack a set which listing again finds; False where that takes long.

        What the bounds of the score prune is then left out of both.
        """
        if Statements.of(nodes).need_more_arcs:
            return False
        within = np.minimum(nodes.max_parents, most).astype(np.int32)
        listing = ParentSetListing(scores, replace(nodes, max_parents=within))
        listing.run(min(_SECONDS_TO_LIST, self.deadline - time.monotonic()))
        if not listing.is_over:
            return False
        table = listing.table(finish=True)
        if not table.complete:
            return False
        for name in table.names:
            self.require_covered(name, table.sets(name), is_strict=False)
        n_sets = count_of(table.n_sets, "set")
        self.checked.append(f"{n_sets} listed again from these data: none better is left out")
        return True

    def require_covered(
        self, name: str, sets: Sequence[tuple[float, tuple[str, ...]]], *, is_strict: bool
    ) -> None:
        """Refuse lists that lack a set of a variable which is better than all listed within it."""
        names = self.certificate.names
        own = self.certificate.lists[names.index(name)]
        listed = {
            frozenset(names[p] for p in parents): score
            for parents, score in zip(own.parents, own.scores, strict=True)
        }
        for score, parents in sets:
            group, least = frozenset(parents), score - tie_width(score) - self.rounding
            if listed.get(group, -math.inf) >= least:
                continue
            if is_strict or not any(one <= group and s >= least for one, s in listed.items()):
                raise CertificateError(
                    f"certificate: {name!r} given {', '.join(sorted(group)) or 'nothing'} scores "
                    f"{score!r} on these data, more than any listed set within it"
                )

    def not_covered(
        self,
        child: str,
        scores: _Reals,
        subsets: _Subsets,
        numbers: Sequence[int],
        nodes: NodeKnowledge,
        *,
        is_strict: bool,
    ) -> str | None:
        """Name an admissible family of a child that beats all listed ones inside it."""
        names = self.certificate.names
        v = names.index(child)
        others = [u for u in numbers if u != v]
        place = {u: i for i, u in enumerate(others)}
        best = np.full(len(scores), -math.inf)
        for score, parents in zip(
            self.certificate.lists[v].scores, self.certificate.lists[v].parents, strict=True
        ):
            best[subsets.place(sorted(place[p] for p in parents))] = score
        if not is_strict:
            subsets.spread(best)
        required = [place[u] for u in nodes.required_parents(v).tolist()]
        allowed = [place[u] for u in nodes.allowed_parents(v).tolist() if u in place]
        may = subsets.admissible(required, allowed, int(nodes.max_parents[v]))
        sizes = np.abs(np.where(np.isfinite(scores), scores, 0.0))
        worse = may & (scores > best + tie_width(1.0) * np.maximum(1.0, sizes) + self.rounding)
        if not worse.any():
            return None
        k = int(np.argmax(worse))
        shown = ", ".join(sorted(names[others[u]] for u in subsets.members(k))) or "nothing"
        return f"{child!r} given {shown} scores {float(scores[k])!r} on these data"

    def check_table(self, table: ScoreTable, nodes: NodeKnowledge) -> None:
        """Compare with a file of local scores, set by set."""
        certificate, names = self.certificate, self.certificate.names
        most = math.inf if certificate.max_parents is None else certificate.max_parents
        is_strict = Statements.of(nodes).need_more_arcs
        for v, name in enumerate(names):
            sets = table.sets(name)
            given = {frozenset(parents): score for score, parents in sets}
            own = certificate.lists[v]
            for parents, score in zip(own.parents, own.scores, strict=True):
                if given.get(frozenset(names[p] for p in parents)) != score:
                    raise _other(f"a listed set of {name!r} is not in the file with its score")
            required = {names[u] for u in nodes.required_parents(v).tolist()}
            allowed = {names[u] for u in nodes.allowed_parents(v).tolist()}
            limit = min(most, int(nodes.max_parents[v]))
            admissible = [
                (score, parents)
                for score, parents in sets
                if required <= set(parents) <= allowed and len(parents) <= limit
            ]
            self.require_covered(name, admissible, is_strict=is_strict)
        self.checked.append(f"all {count_of(table.n_sets, 'parent set')} of the file")


class _Subsets:
    """The sets of at most so many of n things: smaller first, then in colexicographic order."""

    def __init__(self, n: int, most: int) -> None:
        self._n = n
        self.members_of: list[_Numbers] = [np.zeros((1, 0), np.int64)]
        for size in range(1, most + 1):
            before = self.members_of[-1]
            blocks = []
            for last in range(size - 1, n):
                block = before[: math.comb(last, size - 1)]
                blocks.append(np.column_stack([block, np.full(len(block), last)]))
            self.members_of.append(np.concatenate(blocks))
        self.begins = np.cumsum([0, *(len(sets) for sets in self.members_of)]).tolist()
        self._choose = np.array(
            [[math.comb(c, k) for k in range(most + 2)] for c in range(n + 1)], dtype=np.int64
        )

    def place(self, members: Sequence[int]) -> int:
        """Return where a set is; members ascending."""
        rank = sum(math.comb(c, k + 1) for k, c in enumerate(members))
        return int(self.begins[len(members)]) + rank

    def members(self, place: int) -> tuple[int, ...]:
        """Return the set at a place."""
        size = next(k for k in range(len(self.members_of)) if place < self.begins[k + 1])
        return tuple(self.members_of[size][place - self.begins[size]].tolist())

    def spread(self, best: _Reals) -> None:
        """Let every set have the highest value of its subsets."""
        for size in range(1, len(self.members_of)):
            sets = self.members_of[size]
            own = best[self.begins[size] : self.begins[size + 1]]
            for left_out in range(size):
                rest = np.delete(sets, left_out, axis=1)
                ranks = np.full(len(sets), self.begins[size - 1], np.int64)
                for k in range(size - 1):
                    ranks += self._choose[rest[:, k], k + 1]
                np.maximum(own, best[ranks], out=own)

    def admissible(
        self, required: Sequence[int], allowed: Sequence[int], most: int
    ) -> npt.NDArray[np.bool_]:
        """Say which sets have all that is required, nothing else than is allowed, and few."""
        may = np.zeros(self._n, bool)
        may[list(allowed)] = True
        must = np.zeros(self._n, np.int64)
        must[list(required)] = 1
        return np.concatenate(
            [
                may[sets].all(axis=1) & (must[sets].sum(axis=1) == len(required)) & (size <= most)
                for size, sets in enumerate(self.members_of)
            ]
        )


def treatment_of(certificate: OptimalityCertificate) -> Treatment:
    """Return how missing values were treated; refuses a certificate that is about no rows."""
    rows = certificate.rows
    if rows is None:
        raise DataError(
            "verify: the certificate is not about a table but about a file of local scores, or "
            f"scores of your own; give {by_reader('the ScoreTable or the scores', 'that file')}"
        )
    if rows.missing not in TREATMENTS:
        raise CertificateError(f"certificate: unknown strategy {rows.missing!r}")
    return make_treatment(rows.missing)


def _score_of(scored_by: ScoredBy | None) -> tuple[Score, str] | None:
    """Make the score that a certificate names; None where it names none."""
    if scored_by is None or scored_by.name is None or scored_by.prior is None:
        return None
    try:
        return make_score(scored_by.name, **scored_by.settings), scored_by.prior
    except (BestdagError, TypeError) as error:
        raise CertificateError(f"certificate: the score cannot be made: {error}") from None


def _scorer(
    treatment: Treatment, data: Dataset, score: Score, prior: str, threads: int | None
) -> Scorer:
    try:
        made = make_prior(prior, len(data.names))
    except BestdagError as error:
        raise CertificateError(f"certificate: the prior cannot be made: {error}") from None
    settled = treatment.settle(data, score)
    scorer = treatment.scorer(settled, score, made, threads=threads)
    if scorer is None:
        raise CertificateError(
            f"certificate: with missing values by {treatment.name!r} nothing is proved"
        )
    return scorer


def _other(difference: str) -> CertificateError:
    return CertificateError(
        f"certificate: it is about other data, or they were read in another way ({difference})"
    )
