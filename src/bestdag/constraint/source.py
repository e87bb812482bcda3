"""Who answers the questions of the PC algorithm: tests on data, or an oracle."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from bestdag import _core
from bestdag.counts.engine import CountingEngine
from bestdag.data.readers import as_dataset
from bestdag.errors import InvalidParameterError
from bestdag.graph._names import check_nodes
from bestdag.graph.dag import Dag
from bestdag.independence import IndependenceTest
from bestdag.independence.asking import as_test
from bestdag.independence.oracle import Answers, Oracle, native_oracle
from bestdag.machine import thread_count
from bestdag.wording import arg, by_reader, count_of, first_names

__all__ = ["Source", "source_of"]


class Source(NamedTuple):
    """Who answers, about which variables."""

    names: tuple[str, ...]  # as given
    native: _core.IndependenceTest
    test: str
    settings: dict[str, Any]
    notes: tuple[str, ...]
    threads: int
    has_numbers: bool  # statistics and p-values, not only yes and no


def source_of(
    data: Any,
    oracle: Dag | Answers | None,
    test: IndependenceTest | str,
    alpha: float,
    threads: int | None,
) -> Source:
    """Return who answers: one of data and oracle is given."""
    if (data is None) == (oracle is None):
        raise InvalidParameterError(
            f"pc: give either {by_reader('data', 'DATA')} or {arg('oracle')}"
        )
    if oracle is not None:
        return _asked(Oracle(oracle) if isinstance(oracle, Dag) else oracle, threads)
    dataset = as_dataset(data)
    chosen = as_test(test)
    counts = CountingEngine(dataset, threads=threads)
    return Source(
        dataset.names,
        chosen.bind(counts, alpha),
        chosen.name,
        asdict(chosen) if hasattr(chosen, "__dataclass_fields__") else {},  # type: ignore[call-overload]
        _notes_on(counts),
        counts.threads,
        has_numbers=True,
    )


def _asked(oracle: Answers, threads: int | None) -> Source:
    if not callable(getattr(oracle, "is_independent", None)) or not hasattr(oracle, "nodes"):
        raise InvalidParameterError(
            f"pc: oracle must be a Dag or have nodes and is_independent, got {oracle!r:.60}"
        )
    names = check_nodes("pc: oracle", oracle.nodes)
    native = native_oracle(oracle, sorted(names))
    is_graph = isinstance(oracle, Oracle)
    how = "d-separation" if is_graph else type(oracle).__name__
    n_threads = thread_count(threads, who="pc")
    return Source(names, native, how, {}, (), n_threads, has_numbers=False)


def _notes_on(engine: CountingEngine) -> tuple[str, ...]:
    names = engine.dataset.names
    found = engine.count([(name, ()) for name in names])
    constant = [
        name for name, of in zip(names, found, strict=True) if np.count_nonzero(of.table) == 1
    ]
    if not constant:
        return ()
    what = count_of(len(constant), "column")
    is_are = "is" if len(constant) == 1 else "are"
    return (f"{what} {is_are} constant, and linked to nothing: {first_names(constant)}",)
