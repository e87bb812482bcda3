"""Bayesian Dirichlet score with pseudo-counts of one's own."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt

from bestdag import _core
from bestdag.counts.family import FamilyCounts
from bestdag.data.schema import Variable
from bestdag.errors import FileError, FormatError, InvalidParameterError, require_prior_count
from bestdag.registry import setting
from bestdag.special import log_rising
from bestdag.wording import count_of

__all__ = ["BD", "PseudoCounts", "dirichlet_terms"]

_Family = tuple[str, frozenset[str]]
_Floats = npt.NDArray[np.float64]
_DEFAULT = 0.5  # Jeffreys' prior

_Tables = Mapping[tuple[str, Collection[str]], npt.ArrayLike]


@dataclass(frozen=True, slots=True, kw_only=True)
class BD:
    r"""Log marginal likelihood under Dirichlet priors with pseudo-counts of one's own.

    .. math::

        \sum_{j=1}^{q} \left[ \ln\frac{\Gamma(a_j)}{\Gamma(a_j + N_j)}
        + \sum_{k=1}^{r} \ln\frac{\Gamma(a_{jk} + N_{jk})}{\Gamma(a_{jk})} \right],
        \qquad a_j = \sum_{k=1}^{r} a_{jk}.

    Parameters
    ----------
    pseudo_count : float, default 0.5
        The same :math:`a_{jk} > 0` for every cell of every family: 1/2 is Jeffreys' prior, 1
        the K2 score.
    tables : mapping, optional
        Instead of one number: for each family, ``(child, parents)``, an array of positive
        numbers of shape (q, r). Its rows are all configurations of the parents taken in name
        order, the last parent running fastest; its columns are the child's states.

    Raises
    ------
    InvalidParameterError
        When both are given, a number is not positive, or, on scoring, a family has no table
        or one of the wrong shape.

    Notes
    -----
    Not score equivalent. Regular with one pseudo-count for all; tables need not be.
    Configurations never observed add zero.

    References
    ----------
    .. [1] Heckerman, Geiger and Chickering (1995). "Learning Bayesian networks: the
       combination of knowledge and statistical data." Machine Learning 20.
    .. [2] Suzuki (2017). "A theoretical analysis of the BDeu scores in Bayesian network
       structure learning." Behaviormetrika 44.

    Examples
    --------
    >>> round(BD().family(FamilyCounts.of([[3, 1]])), 6)
    -3.242592
    >>> BD(tables={("rain", ()): [[9, 1]], ("wet", ("rain",)): [[8, 1], [1, 3]]})
    BD(tables=<2 families>)
    """

    name: ClassVar[str] = "bd"
    is_score_equivalent: ClassVar[bool] = False
    is_hyperparameter_free: ClassVar[bool] = False
    is_regular: ClassVar[bool] = True

    pseudo_count: float | None = setting(None, "Pseudo-count per table cell.  [default: 0.5]")
    tables: _Tables | None = setting(
        None, "Pseudo-counts of every family: a JSON file.", load="tables"
    )

    def __post_init__(self) -> None:
        if self.tables is None:
            count = _DEFAULT if self.pseudo_count is None else self.pseudo_count
            object.__setattr__(
                self, "pseudo_count", require_prior_count("BD", "pseudo_count", count)
            )
            return
        if self.pseudo_count is not None:
            raise InvalidParameterError(
                f"BD: give pseudo_count or tables, not both; got pseudo_count={self.pseudo_count!r}"
            )
        object.__setattr__(self, "tables", PseudoCounts(self.tables))

    def priors(self, counts: FamilyCounts) -> npt.NDArray[np.float64]:
        """Return the prior of each observed configuration, one row each."""
        if self.pseudo_count is not None:
            return np.full(counts.table.shape, float(self.pseudo_count))
        assert isinstance(self.tables, PseudoCounts)
        return self.tables.rows(counts)

    def terms(self, counts: FamilyCounts) -> dict[str, float]:
        """Return what the cells and what the configurations contribute."""
        if self.pseudo_count is not None:
            return dirichlet_terms(counts, self.pseudo_count, self.pseudo_count * counts.arity)
        a_jk = self.priors(counts)
        return dirichlet_terms(counts, a_jk, a_jk.sum(axis=1))

    def family(self, counts: FamilyCounts) -> float:
        """Score one family."""
        return sum(self.terms(counts).values())

    def kernel(self) -> _core.Kernel | None:
        """Return the native kernel, for bulk work; None with tables: they have names."""
        return None if self.pseudo_count is None else _core.bd(self.pseudo_count)

    def kernel_for(self, variables: Sequence[Variable]) -> _core.Kernel | None:
        """Return the native kernel for data with these variables, in name order."""
        if isinstance(self.tables, PseudoCounts):
            return self.tables.kernel(variables)
        return self.kernel()

    def refuse(self, child: Variable, parents: Sequence[Variable], n_bytes: float) -> NoReturn:
        """Say what is wrong with the table of a family."""
        assert isinstance(self.tables, PseudoCounts)
        self.tables.of(child, parents)
        raise AssertionError("a family with a table is never refused")

    def __repr__(self) -> str:
        if self.pseudo_count is not None:
            return f"BD(pseudo_count={self.pseudo_count!r})"
        return f"BD(tables={self.tables!r})"


def dirichlet_terms(
    counts: FamilyCounts, a_jk: float | npt.NDArray[Any], a_j: float | npt.NDArray[Any]
) -> dict[str, float]:
    """Return the two parts of the log marginal likelihood under Dirichlet priors.

    The prior gives `a_jk` to the cells and `a_j` to the rows of the table of counts.
    """
    return {
        "cells": float(np.sum(log_rising(a_jk, counts.table))),
        "configurations": -float(np.sum(log_rising(a_j, counts.row_totals))),
    }


class PseudoCounts(Mapping[tuple[str, Collection[str]], _Floats]):
    """Pseudo-counts: a table of positive numbers for each family, read-only, equal by content.

    Examples
    --------
    >>> tables = PseudoCounts({("wet", ("rain",)): [[8, 1], [1, 3]]})
    >>> tables["wet", frozenset({"rain"})].tolist()
    [[8.0, 1.0], [1.0, 3.0]]
    """

    __slots__ = ("_tables",)

    def __init__(self, tables: Mapping[tuple[str, Collection[str]], npt.ArrayLike]) -> None:
        if not isinstance(tables, Mapping):
            raise InvalidParameterError(
                "BD: tables must be a mapping of (child, parents) to arrays, "
                f"got {type(tables).__name__}"
            )
        self._tables: dict[_Family, _Floats] = {}
        for key, values in tables.items():
            family = _checked_family(key)
            if family in self._tables:
                raise InvalidParameterError(f"BD: the family {_show(family)} has two tables")
            self._tables[family] = _checked_table(family, values)

    @classmethod
    def load(cls, path: str | Path) -> PseudoCounts:
        """Read a JSON file: a list of objects with the keys child, parents and counts.

        One row of counts for each configuration of the parents, in name order, the last parent's
        states changing fastest.

        Raises
        ------
        FileError
            A file that cannot be read.
        FormatError
            A file that is not such a list.
        InvalidParameterError
            Two tables for one family, or a number that is not positive.
        """
        try:
            entries = json.loads(Path(path).read_bytes())
            tables: dict[tuple[str, Collection[str]], npt.ArrayLike] = {
                (one["child"], tuple(one["parents"])): np.array(one["counts"], np.float64)
                for one in entries
            }
        except OSError as error:
            raise FileError(f"{path}: cannot be read: {error.strerror or error}") from None
        except (ValueError, KeyError, TypeError) as error:
            raise FormatError(
                f"{path}: must be a JSON list of objects with child, parents and counts; {error!r}"
            ) from None
        return cls(tables)

    def of(self, child: Variable, parents: Sequence[Variable]) -> _Floats:
        """Return the table of a family, or say that there is none of its shape."""
        family = (child.name, frozenset(parent.name for parent in parents))
        table = self._tables.get(family)
        if table is None:
            raise InvalidParameterError(f"BD: no table is given for the family {_show(family)}")
        shape = _shape(child, parents)
        if table.shape != shape:
            raise InvalidParameterError(
                f"BD: the table of the family {_show(family)} must have the shape {shape}, "
                f"one row per configuration and one column per state, got {table.shape}"
            )
        return table

    def rows(self, counts: FamilyCounts) -> _Floats:
        """Return the pseudo-counts of the observed configurations of a family."""
        table = self.of(counts.child, counts.parents)
        if not counts.parents:
            return table
        codes = tuple(counts.configurations.T.astype(np.intp))
        arities = [parent.arity for parent in counts.parents]
        observed: _Floats = table[np.ravel_multi_index(codes, arities)]
        return observed

    def kernel(self, variables: Sequence[Variable]) -> _core.Kernel:
        """Return the native kernel for these variables, in name order.

        It refuses the families that `of` raises for.
        """
        numbers = {variable.name: i for i, variable in enumerate(variables)}
        children, parents, offsets = [], [], [0]
        tables = []
        for (child, names), table in self._tables.items():
            if child not in numbers or not names <= numbers.keys():
                continue
            group = sorted(numbers[name] for name in names)
            if table.shape != _shape(variables[numbers[child]], [variables[p] for p in group]):
                continue
            children.append(numbers[child])
            parents.extend(group)
            offsets.append(len(parents))
            tables.append(table.ravel())
        starts = np.cumsum([0, *(table.size for table in tables)], dtype=np.int64)[:-1]
        return _core.bd_tables(
            np.array(children, np.int32),
            np.array(offsets, np.int64),
            np.array(parents, np.int32),
            np.ascontiguousarray(starts),
            np.concatenate([np.empty(0), *tables]),
        )

    def __getitem__(self, family: tuple[str, Collection[str]]) -> _Floats:
        return self._tables[family[0], frozenset(family[1])]

    def __iter__(self) -> Iterator[tuple[str, Collection[str]]]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PseudoCounts):
            return NotImplemented
        return self._tables.keys() == other._tables.keys() and all(
            np.array_equal(table, other._tables[family]) for family, table in self._tables.items()
        )

    def __hash__(self) -> int:
        return hash(frozenset((family, t.tobytes()) for family, t in self._tables.items()))

    def __reduce__(self) -> tuple[type[PseudoCounts], tuple[dict[_Family, _Floats]]]:
        return PseudoCounts, (self._tables,)

    def __repr__(self) -> str:
        return f"<{count_of(len(self), 'family', 'families')}>"


def _checked_family(key: object) -> _Family:
    match key:
        case (str(child), Collection() as parents) if not isinstance(parents, str):
            names = frozenset(parents)
            if child not in names and all(isinstance(name, str) for name in names):
                return child, names
    raise InvalidParameterError(
        f"BD: a table belongs to (child, parents), a name and other names, got {key!r}"
    )


def _checked_table(family: _Family, values: npt.ArrayLike) -> _Floats:
    who = f"BD: the table of the family {_show(family)}"
    try:
        table = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameterError(f"{who} must be an array of numbers") from None
    if table.ndim != 2:
        raise InvalidParameterError(
            f"{who} must have one row per configuration and one column per state, "
            f"got the shape {table.shape}"
        )
    wrong = table[~((table > 0) & np.isfinite(table))]
    if wrong.size:
        raise InvalidParameterError(f"{who} must hold finite numbers > 0, got {wrong[0]}")
    table.flags.writeable = False
    return table


def _shape(child: Variable, parents: Sequence[Variable]) -> tuple[int, int]:
    return prod(parent.arity for parent in parents), child.arity


def _show(family: _Family) -> str:
    child, parents = family
    return repr(child) + (f" given {', '.join(map(repr, sorted(parents)))}" if parents else "")
