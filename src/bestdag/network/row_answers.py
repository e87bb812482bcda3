"""What a network does with rows: draws them, weighs them and predicts cells of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from bestdag.data.dataset import Dataset
from bestdag.inference.sampling import sample_codes
from bestdag.network import prediction
from bestdag.network.content import NetworkContent

if TYPE_CHECKING:
    from bestdag.network.imputation import ImputationMethod

__all__ = ["RowAnswers"]


class RowAnswers(NetworkContent):
    """The methods of a network that make or take rows of data."""

    __slots__ = ()

    def sample(
        self, n: int, *, seed: int = 0, first: int = 0, threads: int | None = None
    ) -> Dataset:
        """Draw rows at random, each variable after its parents (ancestral sampling).

        Parameters
        ----------
        n : int
            Number of rows, at least 1.
        seed : int, default 0
            Random seed; the same seed gives the same rows. The rows of a shorter sample are the
            first rows of a longer one.
        first : int, default 0
            Begin with this row of the sample, counted from 0.
        threads : int, optional
            Threads to use; by default one per processor. The rows are the same.

        Returns
        -------
        Dataset
            Columns in the order of `variables`.

        Raises
        ------
        NotEnoughMemoryError
            If the rows would not fit in memory; with `first`, draw them part by part.

        Notes
        -----
        Each variable has a random stream of its own, from the seed and its name: the rows do not
        depend on the order of the variables or on the number of threads, and stay the same between
        versions (`bestdag.inference.sampling.sample_codes` says how).

        Examples
        --------
        >>> from bestdag.examples import example
        >>> from bestdag.network.network import Network
        >>> network = Network.load(example("asia.bif"))
        >>> network.sample(6, seed=1).codes("smoke").tolist()
        [1, 1, 0, 1, 0, 0]
        >>> network.sample(4, seed=1, first=2).codes("smoke").tolist()  # the same rows
        [0, 1, 0, 0]
        """
        order = self._dag.topological_order()
        place = {name: i for i, name in enumerate(order)}
        tables = [self._tables[name] for name in order]
        parents = [[place[p.name] for p in table.parents] for table in tables]
        values = [t.values if t.sparse is None else t.sparse for t in tables]
        columns = sample_codes(order, values, parents, n, seed=seed, first=first, threads=threads)
        return Dataset._adopt(self.variables, [columns[place[name]] for name in self._tables])

    def log_probability(
        self, data: Any, *, missing: str = "marginalize", threads: int | None = None
    ) -> npt.NDArray[np.float64]:
        """Work out the natural logarithm of the probability of each row.

        Parameters
        ----------
        data : Dataset, or anything `read` takes
            Columns are found by name; each variable of the network needs one, with no value
            that is not among its states.
        missing : {"marginalize", "error"}, default "marginalize"
            Give a row with missing values the probability of the others, exactly (a missing
            cell without known descendants is left out), or refuse it.
        threads : int, optional
            Threads to use; by default one per processor. The numbers are the same.

        Returns
        -------
        float64 array
            One number per row; minus infinity where a probability is zero.

        Raises
        ------
        DataError, UnknownNameError
            A column too few or too many, or a value that is not a state.
        NotEnoughMemoryError
            If missing variables depend on each other so that the sum would not fit in memory.

        Examples
        --------
        >>> from bestdag import ConditionalTable, Network, Variable
        >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
        >>> network = Network([
        ...     ConditionalTable(rain, (), [0.8, 0.2]),
        ...     ConditionalTable(wet, (rain,), [[0.9, 0.1], [0.0, 1.0]]),
        ... ])
        >>> rows = {"rain": ["no", "yes", None], "wet": ["yes", "no", "yes"]}
        >>> np.exp(network.log_probability(rows)).round(6)
        array([0.08, 0.  , 0.28])
        """
        return prediction.log_probability(self, data, missing, threads)

    def log_loss(
        self, data: Any, *, missing: str = "marginalize", threads: int | None = None
    ) -> float:
        r"""Work out the log loss of rows, in nats per row; lower is better.

        .. math:: -\frac{1}{\sum_i w_i} \sum_i w_i \ln P(x_i)

        with :math:`w_i` the weights of the rows, 1 without weights. It is infinite when a row of
        weight above zero has probability zero. Its expectation over rows from a network is least,
        the entropy, for that network itself. Parameters and errors are those of
        `log_probability`.

        Examples
        --------
        >>> from bestdag import ConditionalTable, Network, Variable
        >>> rain = Variable("rain", ("no", "yes"))
        >>> network = Network([ConditionalTable(rain, (), [0.8, 0.2])])
        >>> round(network.log_loss({"rain": ["no", "no", "no", "yes"]}), 6)  # -(3 ln 0.8 + ln 0.2) / 4
        0.569717
        """  # noqa: E501
        return prediction.log_loss(self, data, missing, threads)

    def predict_proba(
        self,
        target: str,
        data: Any,
        *,
        missing: str = "marginalize",
        impossible: Literal["error", "marginal"] = "error",
        threads: int | None = None,
    ) -> npt.NDArray[np.float64]:
        """Work out the distribution of one variable given the other cells of each row.

        Parameters
        ----------
        target : str
            The variable to predict. Its column may be absent and is never looked at.
        data : Dataset, or anything `read` takes
            Columns for other variables, found by name. A variable without a column is not known,
            and summed over. Columns that are not in the network are ignored; one whose name is
            nearly that of a variable without a column is refused, and others are warned of where
            a variable has none.
        missing : {"marginalize", "error"}, default "marginalize"
            Sum over missing values and columns, exactly, or refuse them.
        impossible : {"error", "marginal"}, default "error"
            Rows of probability zero: stop, or predict without evidence. Such a row leaves
            probability zero to every state of the target; it is refused by its number, or gets
            the marginal distribution.
        threads : int, optional
            Threads to use; by default one per processor. The numbers are the same.

        Returns
        -------
        float64 array, shape (rows, states)
            Columns in the order of the target's states; each row sums to 1.

        Raises
        ------
        DataError
            A row of probability zero, unless `impossible` allows it; rows without any variable of
            the network; with ``missing="error"``, missing values or columns.
        UnknownNameError
            A target that is no variable, or a value that is no state.

        Notes
        -----
        Sums are taken in logarithms, so many attributes do not underflow. Only cells that the
        target depends on are looked at: in a complete row its Markov blanket.

        Examples
        --------
        >>> from bestdag import ConditionalTable, Network, Variable
        >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
        >>> network = Network([
        ...     ConditionalTable(rain, (), [0.8, 0.2]),
        ...     ConditionalTable(wet, (rain,), [[0.9, 0.1], [0.0, 1.0]]),
        ... ])
        >>> network.predict_proba("rain", {"wet": ["no", "yes", None]}).round(6)
        array([[1.      , 0.      ],
               [0.285714, 0.714286],
               [0.8     , 0.2     ]])
        >>> network.predict("rain", {"wet": ["no", "yes"]})
        array(['no', 'yes'], dtype=object)
        """
        return prediction.predict_proba(self, target, data, missing, impossible, threads)

    def predict_log_proba(
        self,
        target: str,
        data: Any,
        *,
        missing: str = "marginalize",
        impossible: str = "error",
        threads: int | None = None,
    ) -> npt.NDArray[np.float64]:
        """Work out the natural logarithms of `predict_proba`, with the same parameters.

        They stay finite where a probability is too small for a double; minus infinity is zero.
        """
        return prediction.predict_proba(self, target, data, missing, impossible, threads, log=True)

    def predict(
        self,
        target: str,
        data: Any,
        *,
        missing: str = "marginalize",
        impossible: str = "error",
        threads: int | None = None,
    ) -> npt.NDArray[np.object_]:
        """Return the most probable state of one variable for each row, ties to the first state.

        Parameters and errors are those of `predict_proba`; memory does not grow with the number of
        states.

        Returns
        -------
        array of object
            The states as text.
        """
        return prediction.predict(self, target, data, missing, impossible, threads)

    @overload
    def impute(
        self,
        data: Any,
        method: ImputationMethod = "most_probable",
        *,
        n: None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> Dataset: ...

    @overload
    def impute(
        self,
        data: Any,
        method: ImputationMethod = "draw",
        *,
        n: int,
        seed: int = 0,
        threads: int | None = None,
    ) -> list[Dataset]: ...

    def impute(
        self,
        data: Any,
        method: ImputationMethod = "most_probable",
        *,
        n: int | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> Dataset | list[Dataset]:
        """Fill in the missing values of rows.

        Parameters
        ----------
        data : Dataset, path, frame
            A Dataset, or anything that `read` takes. A variable of the network without a column is
            missing everywhere, and gets one.
        method : {"most_probable", "draw"}
            All missing values of a row together get their most probable states, given what the row
            shows, ties to the first states; or states drawn from their joint distribution.
        n : int, optional
            Several imputations, drawn independently of each other: what is estimated from each
            says how uncertain the missing values leave it. Needs ``method="draw"``.
        seed : int, default 0
            Seed of `method` draw. A row's draws depend on the seed, on the number of the row and
            on what it shows alone.
        threads : int, optional
            Every processor by default. The result is the same.

        Returns
        -------
        Dataset, or a list of n
            Complete, the variables of the network in its order, rows and weights as they were.

        Raises
        ------
        DataError
            When what a row shows has probability zero; it is named.

        Notes
        -----
        The most probable states are one guess: counts of them are more regular than the data were.
        To estimate from, draw, or use `EM`.

        Examples
        --------
        >>> from bestdag.examples import example
        >>> from bestdag.network.network import Network
        >>> network = Network.load(example("asia.bif"))
        >>> seen = {"asia": ["no", "yes"], "either": ["yes", ""], "xray": ["", "yes"]}
        >>> filled = network.impute(seen)
        >>> filled.has_missing, filled.variable("xray").states[filled.codes("xray")[0]]
        (False, 'yes')
        """
        from bestdag.network.imputation import impute

        return impute(self, data, method, n, seed, threads)
