"""The settings of the PC algorithm, and what answers its questions: a test or an oracle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from bestdag import _core
from bestdag.counts.engine import CountingEngine
from bestdag.data.readers import as_dataset
from bestdag.errors import (
    InvalidParameterError,
    bad_setting,
    require_choice,
    require_count,
    require_flag,
)
from bestdag.graph._names import check_nodes
from bestdag.graph.dag import Dag
from bestdag.independence import IndependenceTest
from bestdag.independence.asking import as_test
from bestdag.independence.base import log_alpha
from bestdag.independence.oracle import Answers, Oracle, native_oracle
from bestdag.machine import thread_count
from bestdag.registry import setting
from bestdag.wording import arg, by_reader, count_of, first_names

__all__ = ["PC", "Source", "source_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PC:
    """Settings of the PC algorithm, which `pc` takes by name.

    Parameters
    ----------
    alpha : float, default 0.05
        Level of significance: a link stays when the p-values of its tests are at most this.
    stable : bool, default True
        Remove the links of a level at its end, so that the order of the variables does not matter.
        False is Algorithm 7.1 as printed: a link is gone at once.
    necessary_path : bool, default False
        Ask only about sets whose members lie on a path between the two nodes.
    max_conditioning : int, optional
        Maximum number of variables to condition on.
    v_structures : {"majority", "conservative", "standard"}, default "majority"
        When ``A - C - B`` becomes ``A -> C <- B``. Standard: C is not in the set that separated A
        and B. The others ask about every set of neighbours of A or B: conservative demands that
        no separating set has C, majority that fewer than half of them have.
    choose : {"order", "random"}, default "order"
        Rule 4, for the links that may point either way: from the earlier variable to the later
        one, or at random.
    order : list of str, optional
        The order of the variables for `choose` and, as printed, for the questions; name order
        unless given.
    seed : int, default 0
        For random choices.
    repair : bool, default False
        Put links of uncertain regions back until each removal holds by itself.

    Raises
    ------
    InvalidParameterError
        A setting out of range.

    References
    ----------
    .. [1] Jensen and Nielsen (2007). "Bayesian Networks and Decision Graphs." Algorithm 7.1 and
       Rules 1 to 4.
    .. [2] Ramsey, Spirtes and Zhang (2006). "Adjacency-faithfulness and conservative causal
       inference." UAI: conservative v-structures.
    .. [3] Colombo and Maathuis (2014). "Order-independent constraint-based causal structure
       learning." JMLR 15: stable removal, and the majority rule.
    .. [4] Steck (2001). "Constraint-based structural learning in Bayesian networks using finite
       data sets." Section 3.2: the necessary path condition and uncertain regions.
    """

    name: ClassVar[str] = "pc"

    alpha: float = setting(0.05, "Significance level of the tests.")
    stable: bool = setting(True, "Remove links at the end of a level.")
    necessary_path: bool = setting(
        False, "Condition only on variables that lie on a path between the two."
    )
    max_conditioning: int | None = setting(None, "Maximum number of variables to condition on.")
    v_structures: Literal["majority", "conservative", "standard"] = setting(
        "majority",
        "How v-structures are decided: by the majority of separating sets, by all of them, "
        "or by the first.",
    )
    choose: Literal["order", "random"] = setting(
        "order", "How undetermined links are directed: along the order, or at random."
    )
    order: Sequence[str] | None = setting(None, "Order of the variables.")
    seed: int = setting(0, "Random seed.")
    repair: bool = setting(False, "Restore links in uncertain regions.")

    def __post_init__(self) -> None:
        log_alpha(self.alpha)
        for flag in ("stable", "necessary_path", "repair"):
            require_flag("pc", flag, getattr(self, flag))
        if self.max_conditioning is not None:
            require_count("pc", "max_conditioning", self.max_conditioning)
        rules = ("majority", "conservative", "standard")
        require_choice("pc", "v_structures", self.v_structures, rules)
        require_choice("pc", "choose", self.choose, ("order", "random"))
        require_count("pc", "seed", self.seed)
        if self.order is not None:
            if isinstance(self.order, str):
                raise bad_setting("pc", "order", "a list of names", self.order)
            object.__setattr__(self, "order", check_nodes("pc: order", self.order))


class Source(NamedTuple):
    """What answers questions of independence, and about which variables."""

    names: tuple[str, ...]  # in the order of the data or the oracle
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
    """Return what answers: exactly one of data and oracle."""
    if (data is None) == (oracle is None):
        raise InvalidParameterError(
            f"pc: give either {by_reader('data', 'DATA')} or {arg('oracle')}"
        )
    if oracle is not None:
        return _oracle_source(Oracle(oracle) if isinstance(oracle, Dag) else oracle, threads)
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


def _oracle_source(oracle: Answers, threads: int | None) -> Source:
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
    counts = engine.count([(name, ()) for name in names])
    constant = [
        name for name, of in zip(names, counts, strict=True) if np.count_nonzero(of.table) == 1
    ]
    if not constant:
        return ()
    what = count_of(len(constant), "column")
    is_are = "is" if len(constant) == 1 else "are"
    return (f"{what} {is_are} constant, and linked to nothing: {first_names(constant)}",)
