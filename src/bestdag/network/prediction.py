"""What a network says about rows of data: their probability, and predictions from them."""

from __future__ import annotations

from itertools import chain
from math import fsum
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from bestdag.data.dataset import Dataset
from bestdag.data.readers import read_matching
from bestdag.data.schema import Variable
from bestdag.data.settings import check_unknown_columns
from bestdag.errors import DataError, require_choice
from bestdag.inference.rows import log_marginal, log_probabilities, most_probable, posteriors
from bestdag.inference.tables import LogTables, Rows
from bestdag.wording import arg, count_of, either, first_names

if TYPE_CHECKING:
    from bestdag.network.content import NetworkContent

__all__ = [
    "evidence_dataset",
    "evidence_rows",
    "known_cells",
    "known_rows",
    "log_loss",
    "log_probability",
    "log_tables",
    "predict",
    "predict_proba",
]

_Floats = npt.NDArray[np.float64]

_BLOCK_ROWS = 1 << 16


def log_tables(network: NetworkContent) -> LogTables:
    """Take the logarithms of the tables of a network."""
    place = {name: i for i, name in enumerate(network.names)}
    return LogTables(
        [table.values if table.sparse is None else table.sparse for table in network.tables],
        [[place[parent.name] for parent in table.parents] for table in network.tables],
    )


def log_probability(
    network: NetworkContent, data: Any, missing: str, threads: int | None
) -> _Floats:
    """Answer `Network.log_probability`."""
    matched = _matched(network, data, None, missing, "log_probability")
    return log_probabilities(network._logs(), _rows(network, matched), threads=threads)


def log_loss(network: NetworkContent, data: Any, missing: str, threads: int | None) -> float:
    """Answer `Network.log_loss`."""
    matched = _matched(network, data, None, missing, "log_loss")
    logs = log_probabilities(network._logs(), _rows(network, matched), threads=threads)
    if matched.weights is not None:
        counts = matched.weights > 0  # nothing times minus infinity is nothing
        logs = logs[counts] * matched.weights[counts]
    # An exact sum: the order of the rows does not matter.
    blocks = (logs[i : i + _BLOCK_ROWS].tolist() for i in range(0, len(logs), _BLOCK_ROWS))
    return -fsum(chain.from_iterable(blocks)) / matched.total_weight


def predict_proba(
    network: NetworkContent,
    target: str,
    data: Any,
    missing: str,
    impossible: str,
    threads: int | None,
    *,
    log: bool = False,
) -> _Floats:
    """Answer `Network.predict_proba` and `Network.predict_log_proba`."""
    who = "predict_log_proba" if log else "predict_proba"
    rows, place = _evidence(network, target, data, missing, impossible, who)
    tables = network._logs()
    distributions = posteriors(tables, rows, place, log=log, threads=threads)
    wrong = np.isnan(distributions[:, 0])
    if wrong.any():
        _refuse_impossible(target, wrong, 0, impossible, who)
        marginal = log_marginal(tables, place)
        distributions[wrong] = marginal if log else np.exp(marginal)
    return distributions


def predict(
    network: NetworkContent,
    target: str,
    data: Any,
    missing: str,
    impossible: str,
    threads: int | None,
) -> npt.NDArray[np.object_]:
    """Answer `Network.predict`."""
    rows, place = _evidence(network, target, data, missing, impossible, "predict")
    tables = network._logs()
    states = np.array([*network.variable(target).states, None], dtype=np.object_)[:-1]
    labels = np.empty(rows.n_rows, dtype=np.object_)
    for first, codes, wrong in most_probable(tables, rows, place, threads=threads):
        if wrong.any():
            _refuse_impossible(target, wrong, first, impossible, "predict")
            codes[wrong] = log_marginal(tables, place).argmax()
        labels[first : first + len(codes)] = states[codes]
    return labels


def evidence_rows(network: NetworkContent, data: Any, who: str) -> Rows:
    """Give rows the network's variables; a variable without a column is not known."""
    return _rows(network, evidence_dataset(network, data, who))


def evidence_dataset(
    network: NetworkContent, data: Any, who: str, *, strict: bool = False
) -> Dataset:
    """Return the columns that are variables of the network, with its states, in its order.

    With `strict` a column too many is refused.
    """
    if not isinstance(data, Dataset):
        wanted = network.variables
        marks = () if any("" in variable.states for variable in wanted) else ("",)
        data = read_matching(
            data,
            wanted,
            ignore_extra=not strict,
            missing="keep",
            missing_values=marks,
            may_lack=True,
        )
    else:
        _check_extra(
            network, data, [v.name for v in network.variables], who, are_ignored=not strict
        )
    present = [v for v in network.variables if v.name in data.arities]
    if not present:
        raise DataError(f"{who}: the data have no variable of the network")
    chosen = _chosen(network, data, present, who, strict=strict)
    return _with_states(chosen, present, who)


def known_rows(network: NetworkContent, data: Any, who: str) -> Dataset:
    """Give rows the network's variables with its states, read once for several measures."""
    return _matched(network, data, None, "marginalize", who)


def known_cells(network: NetworkContent, target: str, data: Any, who: str) -> Dataset:
    """Give rows all the network's variables; the target and what has no column is missing."""
    network.variable(target)
    known = _matched(network, data, target, "marginalize", who)
    columns = [
        known.codes(v.name)
        if v.name in known.arities and v.name != target
        else np.full(known.n_rows, v.arity, np.uint16)  # missing
        for v in network.variables
    ]
    return Dataset(network.variables, columns, known.weights)


def _evidence(
    network: NetworkContent, target: str, data: Any, missing: str, impossible: str, who: str
) -> tuple[Rows, int]:
    network.variable(target)
    require_choice(who, "impossible", impossible, ["error", "marginal"])
    matched = _matched(network, data, target, missing, who)
    return _rows(network, matched), network.names.index(target)


def _refuse_impossible(
    target: str, wrong: npt.NDArray[np.bool_], first: int, impossible: str, who: str
) -> None:
    if impossible == "error":
        row = first + int(np.argmax(wrong))
        raise DataError(
            f"{who}: row {row:,} (counted from 0) cannot occur: every state of {target!r} has "
            f"probability zero given its other values; estimate the tables without zeros, or pass "
            f"{arg('impossible', 'marginal')}"
        )


def _matched(
    network: NetworkContent, data: Any, target: str | None, missing: str, who: str
) -> Dataset:
    """Give the data the network's variables, in their order and with their states."""
    require_choice(who, "missing", missing, ["marginalize", "error"])
    # In a network of one variable any row says the same about it.
    wanted = [v for v in network.variables if v.name != target] or list(network.variables)
    if not isinstance(data, Dataset):
        # An empty value is missing unless the network says that it is a state.
        marks = () if any("" in variable.states for variable in wanted) else ("",)
        data = read_matching(
            data,
            wanted,
            ignore_extra=target is not None,
            missing="keep",
            missing_values=marks,
            may_lack=target is not None and missing != "error",
            beside=() if target is None else (target,),
        )
    else:
        _check_extra(network, data, [v.name for v in wanted], who, are_ignored=target is not None)
    names = data.arities
    present = [v for v in wanted if v.name in names] if target is not None else wanted
    if target is not None and not present:
        raise DataError(f"{who}: the data have no variable of the network beside {target!r}")
    if len(present) < len(wanted) and missing == "error":
        _refuse_lacking([v.name for v in wanted if v.name not in names], who)
    chosen = _chosen(network, data, present, who, strict=target is None)
    chosen = _with_states(chosen, present, who)
    if missing == "error" and chosen.has_missing:
        counts = chosen.missing_counts
        cells = count_of(sum(counts.values()), "missing value")
        raise DataError(
            f"{who}: {_variables(list(counts))} {either(len(counts), 'has', 'have')} "
            f'{cells}; pass missing="marginalize" to sum over them'
        )
    return chosen


def _check_extra(
    network: NetworkContent,
    data: Dataset,
    wanted: list[str],
    who: str,
    *,
    are_ignored: bool = True,
) -> None:
    """Refuse columns of a Dataset that look like misspelt variables, or say what is ignored."""
    extra = [name for name in data.names if name not in network.arities]
    lacking = [name for name in wanted if name not in data.arities]
    check_unknown_columns(who, extra, lacking, are_ignored=are_ignored)


def _chosen(
    network: NetworkContent, data: Dataset, wanted: list[Variable], who: str, *, strict: bool
) -> Dataset:
    names = [variable.name for variable in wanted]
    lacking = [name for name in names if name not in data.arities]
    if lacking:
        _refuse_lacking(lacking, who)
    extra = [name for name in data.names if name not in network.arities]
    if extra and strict:
        raise DataError(
            f"{who}: the network has no {_variables(extra)}; leave columns out with data.drop()"
        )
    return data.select(names)


def _refuse_lacking(names: list[str], who: str) -> NoReturn:
    raise DataError(f"{who}: the data lack {_variables(names)} of the network")


def _with_states(data: Dataset, wanted: list[Variable], who: str) -> Dataset:
    """Recode what has other states; numeric columns that are not cut yet are cut."""
    other = {}
    for own, in_data in zip(wanted, data.variables, strict=True):
        if in_data.states != own.states:
            other[own.name] = own
        elif own.cuts is not None and in_data.cuts is not None and own.cuts != in_data.cuts:
            raise DataError(
                f"{who}: variable {own.name!r} has other cut points in the data than in the "
                "network; bin the numbers as the network does"
            )
    if any(variable.cuts is not None for variable in other.values()):
        return read_matching(data, wanted, missing="keep", missing_values=())
    return data.with_states({n: v.states for n, v in other.items()}) if other else data


def _rows(network: NetworkContent, data: Dataset) -> Rows:
    columns = tuple(data.codes(n) if n in data.arities else None for n in network.names)
    missing_counts = data.missing_counts
    has_missing = tuple(n in missing_counts or n not in data.arities for n in network.names)
    return Rows(data.n_rows, columns, has_missing)


def _variables(names: list[str]) -> str:
    return f"{either(len(names), 'variable', 'variables')} {first_names(names)}"
