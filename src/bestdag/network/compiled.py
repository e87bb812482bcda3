"""A network together with its junction tree: a second question costs only what changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestdag.errors import DataError, require_choice
from bestdag.inference.distribution import Distribution, Marginals
from bestdag.machine import require_memory, thread_count
from bestdag.network import prediction, questions
from bestdag.network.answers import Answers
from bestdag.network.questions import positions_of

if TYPE_CHECKING:
    from bestdag.inference.tables import Rows
    from bestdag.network.network import Network
    from bestdag.network.questions import Evidence, Likelihood

__all__ = ["CompiledNetwork"]

_Floats = npt.NDArray[np.float64]
# Cells of codes that are handed over together.
_BLOCK_CELLS = 1 << 24


class CompiledNetwork:
    """The junction tree of a network, made by `Network.compile`.

    Messages between cliques stay valid until evidence on their side changes, so that the next
    question is cheaper than the first. The answers do not depend on earlier questions. Threads
    may share one; they are answered one after the other.

    Examples
    --------
    >>> from bestdag import Network
    >>> from bestdag.examples import example
    >>> tree = Network.load(example("asia.bif")).compile()
    >>> round(tree.query("lung", given={"smoke": "yes"})["yes"], 6)
    0.1
    """

    def __init__(self, network: Network) -> None:
        self._network = network
        self._answers: Answers = network._answers()
        self._tree = self._answers.tree("compile")

    @property
    def network(self) -> Network:
        """The network that it answers for."""
        return self._network

    @property
    def n_cliques(self) -> int:
        """Number of cliques."""
        return int(self._answers.structure.n_cliques)

    @property
    def n_cells(self) -> int:
        """Number of cells of all cliques."""
        return int(self._answers.structure.total_cells)

    @property
    def n_held_cells(self) -> int:
        """Number of cells in memory: without cells that are always zero, where many are."""
        return self._tree.n_held_cells

    @property
    def cliques(self) -> list[tuple[str, ...]]:
        """The variables of each clique, children of the tree before their parents."""
        structure = self._answers.structure
        names = self._answers.tables.names
        return [
            tuple(sorted(names[axis] for axis in structure.axes(i)))
            for i in range(structure.n_cliques)
        ]

    @property
    def width(self) -> int:
        """Width of the tree: variables of the clique that has most, minus one."""
        return max(map(len, self.cliques), default=1) - 1

    def query(
        self,
        targets: str | Iterable[str],
        given: Evidence | None = None,
        *,
        likelihood: Likelihood | None = None,
    ) -> Distribution:
        """Work out the joint distribution of some variables; see `Network.query`."""
        return questions.query(self._answers, targets, given, likelihood, whole=True)

    def marginals(
        self, given: Evidence | None = None, *, likelihood: Likelihood | None = None
    ) -> Marginals:
        """Work out the distribution of every variable; see `Network.marginals`."""
        return questions.distributions(self._answers, given, likelihood)

    def posteriors(
        self,
        data: Any,
        variables: str | Iterable[str] | None = None,
        *,
        impossible: str = "error",
        threads: int | None = None,
    ) -> dict[str, _Floats]:
        """Work out the distributions of variables given the other values, for many rows at once.

        Parameters
        ----------
        data : Dataset, or anything `read` takes
            Columns are found by name; a missing value is not known, nor is a variable without a
            column. Columns that are not in the network are as in `Network.predict_proba`.
        variables : str or list of str, optional
            Which distributions; by default those of all variables that have a missing value or
            no column.
        impossible : {"error", "marginal"}, default "error"
            What to do about a row of probability zero: refuse it by its number, or answer with
            the distributions that the variables have when nothing is known.
        threads : int, optional
            Threads to use; by default one per processor. The numbers are the same.

        Returns
        -------
        dict of name to float64 array, shape (rows, states)
            Where the cell is known, all probability is on its state.

        Raises
        ------
        DataError
            A row of probability zero, by its number, unless `impossible` allows it.
        UnknownNameError
            A variable that is not there, or a value that is no state.
        NotEnoughMemoryError
            If the answer would not fit in memory.

        Examples
        --------
        >>> from bestdag import Network
        >>> from bestdag.examples import example
        >>> tree = Network.load(example("asia.bif")).compile()
        >>> rows = {"xray": ["yes", "no"], "dysp": ["yes", "no"]}
        >>> tree.posteriors(rows, "lung")["lung"].round(4)
        array([[3.787e-01, 6.213e-01],
               [9.996e-01, 4.000e-04]])
        """
        require_choice("posteriors", "impossible", impossible, ["error", "marginal"])
        rows = prediction.evidence_rows(self._network, data, "posteriors")
        if variables is None:
            places = [i for i, some in enumerate(rows.has_missing) if some]
        else:
            places = positions_of(self._answers.by_name, variables, "variables", "posteriors")
        logs, distributions = self._rows(rows, places, threads, "posteriors")
        wrong = np.isneginf(logs)
        if wrong.any():
            if impossible == "error":
                raise DataError(
                    f"posteriors: row {int(wrong.argmax()):,} (counted from 0) has probability "
                    'zero; estimate the tables without zeros, or pass impossible="marginal"'
                )
            plain = self.marginals()
            for place, values in zip(places, distributions, strict=True):
                values[wrong] = plain[self._answers.variables[place].name].values
        names = [self._answers.variables[place].name for place in places]
        return dict(zip(names, distributions, strict=True))

    def log_probability(self, data: Any, *, threads: int | None = None) -> _Floats:
        """Work out the natural logarithm of the probability of each row's known values.

        Parameters
        ----------
        data : Dataset, or anything `read` takes
            As for `posteriors`.
        threads : int, optional
            Threads to use; by default one per processor. The numbers are the same.

        Returns
        -------
        float64 array
            One number per row; minus infinity where the probability is zero.

        Examples
        --------
        >>> from bestdag import Network
        >>> from bestdag.examples import example
        >>> tree = Network.load(example("asia.bif")).compile()
        >>> np.exp(tree.log_probability({"xray": ["yes", "no"]})).round(6)
        array([0.11029, 0.88971])
        """
        rows = prediction.evidence_rows(self._network, data, "log_probability")
        return self._rows(rows, [], threads, "log_probability")[0]

    def _rows(
        self, rows: Rows, places: list[int], threads: int | None, who: str
    ) -> tuple[_Floats, list[_Floats]]:
        arities = self._answers.tables.arities
        n_threads = thread_count(threads, who=who)
        n_out = 1 + sum(arities[place] for place in places)
        n_state = self.n_held_cells + 2 * self._answers.structure.total_separator_cells
        what = f"the answer for {rows.n_rows:,} rows"
        n_bytes = 8.0 * (n_out * rows.n_rows + n_threads * n_state)
        require_memory(who, what, n_bytes, "use fewer rows at a time, or fewer threads")
        logs = np.empty(rows.n_rows)
        distributions = [np.empty((rows.n_rows, arities[place])) for place in places]
        n_together = max(1, _BLOCK_CELLS // len(arities))
        for first in range(0, rows.n_rows, n_together):
            part = rows.part(first, first + n_together)
            here = slice(first, first + part.n_rows)
            codes = np.empty((part.n_rows, len(arities)), dtype=np.int32)
            for variable, column in enumerate(part.columns):
                codes[:, variable] = arities[variable] if column is None else column
            logs[here], values = self._tree.rows(codes, places, n_threads)
            for whole, some in zip(distributions, values, strict=True):
                whole[here] = some
        return logs, distributions

    def __reduce__(self) -> tuple[Any, ...]:
        return CompiledNetwork, (self._network,)

    def __repr__(self) -> str:
        return (
            f"<CompiledNetwork {self._network.name!r}: {self.n_cliques:,} cliques, "
            f"{self.n_held_cells:,} of {self.n_cells:,} cells>"
        )
