"""
Native kernels of bestdag; private, called in bulk by the Python layers.
"""

from collections.abc import Sequence
from typing import Annotated, Any, overload

import numpy
import numpy.typing
from numpy.typing import NDArray


def set_listener(listener: object | None) -> object:
    """
    Let this thread call a function while it waits for native work; returns the one before.
    """

def log_gamma(x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """ln Gamma of each number > 0."""

def log_rising(a: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """ln [Gamma(a + n) / Gamma(a)] of each pair."""

def chi_square_quantile(df: float, confidence: float) -> float:
    """The number a chi-square variable stays below with this probability."""

def regret(n: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], r: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """ln C(r, n) of each pair."""

def szpankowski_regret(n: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], r: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Approximate ln C(r, n) of each pair."""

def log_rising_slopes(a: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], second: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    First and second derivative by a of ln [Gamma(a + n) / Gamma(a)] of each pair.
    """

class GraphChain:
    """
    A Markov chain over connected DAGs; see kernels/graphs/graph_chain.hpp.
    """

    def __init__(self, n: int, max_degree: int | None, max_parents: int | None, max_width: int | None, key: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def run(self, steps: int) -> None:
        """Take steps."""

    def arcs(self) -> object:
        """Parent and child of each arc."""

    @property
    def n_undecided(self) -> int:
        """Graphs left aside because their width was not decided."""

class Table:
    """Columns of codes; keeps the arrays it was made of alive."""

    def __init__(self, n_rows: int, columns: list[object], arities: list[int], weights: object | None) -> None: ...

def instruction_sets() -> list[str]:
    """Names of the instruction sets this processor can run, slowest first."""

def use_instruction_set(name: str) -> None:
    """Use this instruction set from now on (tests and measurements)."""

class TooManyCellsError(Exception):
    pass

def count_families(table: Table, children: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], max_cells: float, threads: int) -> list[tuple[Any, Any]]:
    """Observed configurations and counts of each family."""

class Blocks:
    """
    Columns of codes read block by block (see kernels/counting/block_counts.hpp).
    """

    def __init__(self, n_rows: int, columns: list[object], arities: list[int], weights: object | None) -> None: ...

    def count(self, children: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], block_rows: int, max_cells: float, max_bytes: float, weight_scale: float, threads: int) -> tuple[list[tuple[Any, Any]], int]:
        """
        Observed configurations and counts of each family, and how often all rows were read.
        """

class RowFinder:
    """Finds parent configurations in a sorted list."""

    def __init__(self, configurations: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], arities: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def find(self, codes: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Where each row of codes is in the list, or the length of the list."""

def sum_row_tables(data: Table, values: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], columns: Sequence[Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]], strides: Sequence[Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]], finders: list[object], arities: Sequence[int], has_missing: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], result: str, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """
    Sums over tables looked up at the states of each row; see kernels/factors/row_tables.hpp.
    """

class OutOfTimeError(Exception):
    pass

def distinct_rows(table: Table, threads: int) -> tuple[Any, Any, Any]:
    """
    One row of each kind, the weights of all rows of the kind, and the kind of every row.
    """

class MissingGroups:
    """Groups of missing cells; see kernels/missing/row_groups.hpp."""

    def __init__(self, rows: Table, arities: Sequence[int], members: Sequence[Sequence[int]], whole: bool, with_rows: bool, seconds: float, threads: int) -> None: ...

    @property
    def n_cells(self) -> int: ...

    @property
    def n_kinds(self) -> int: ...

    @property
    def n_cases(self) -> int: ...

    @property
    def largest(self) -> float: ...

    def complete_counts(self) -> object: ...

    def expected_counts(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], seconds: float, threads: int) -> float:
        """
        Fill the expected counts; return the log-likelihood of what the rows show.
        """

    def complete(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], key: Sequence[int], columns: list[object], threads: int) -> object:
        """
        Fill in the missing cells; return the first row that is impossible, or None.
        """

def chi_square_log_tail(df: float, x: float) -> float:
    """ln P(chi-square with df degrees of freedom > x)."""

def link_blocks(adjacency: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> object:
    """
    Rows (one, other, block): the links of a graph and their biconnected components.
    """

class IndependenceTest:
    """Answers questions of conditional independence."""

    @staticmethod
    def oracle(n_nodes: int, arcs: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> IndependenceTest:
        """d-separation in a directed acyclic graph."""

    @staticmethod
    def of_rows(table: object, pearson: bool, adjusts_df: bool, rows_per_df: float, log_alpha: float, n_permutations: int, seed: int) -> IndependenceTest:
        """A test on rows of data."""

    @staticmethod
    def asking(n_variables: int, function: object) -> IndependenceTest:
        """
        What a Python function says: function(one, other, given) is true for independent.
        """

    def ask(self, ones: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], others: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> dict[str, object]:
        """
        Statistic, degrees of freedom, ln p-value and decision of many questions.
        """

class SkeletonSearch:
    """The first phase of the PC algorithm."""

    def __init__(self, test: object, order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], links: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], may_be_parent: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], stable: bool, needs_path: bool, log_bytes: int) -> None: ...

    def has_level(self, size: int) -> bool:
        """Whether a node has enough neighbours for sets of this size."""

    def run_level(self, size: int, seconds: float, threads: int) -> bool:
        """Ask about sets of this size; false when time was up first."""

    def votes(self, adjacency: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], max_size: int, seconds: float, threads: int) -> object:
        """Count the separating sets of unshielded triples; None out of time."""

    def adjacency(self) -> object:
        """Which nodes are joined."""

    def levels(self) -> object:
        """Questions, tests and removed links of each level."""

    def findings(self) -> dict[str, object]:
        """What was found about each pair, as arrays."""

    def log(self) -> dict[str, object]:
        """The tests, as arrays."""

    def n_logged(self) -> int:
        """How many tests these are."""

def plan_elimination(lengths: NDArray[numpy.uint32], axes: NDArray[numpy.uint32], ends: NDArray[numpy.int64], keep: NDArray[numpy.uint32], cheap: float) -> tuple[list[int], float, float]:
    """
    In which order to sum axes out: the order, log2 of the largest product's cells, and the cells of all products.
    """

def sum_product(lengths: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], axes: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], keep: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], work: float) -> None:
    """Multiply factors and sum axes out."""

def log_sum_product(lengths: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], axes: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], logs: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], keep: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], work: float) -> None:
    """
    The same with logarithms in and out; axis 0, where it is kept, is one of rows.
    """

def sum_out(lengths: NDArray[numpy.uint32], axes: NDArray[numpy.uint32], ends: NDArray[numpy.int64], logs: Sequence[NDArray[numpy.float64]], order: NDArray[numpy.uint32], work: float) -> list[tuple[list[int], NDArray[numpy.float64]]]:
    """Sum axes out: what is left over the others, as logarithms."""

class CliqueTree:
    """Which variables meet in the tables of a junction tree."""

    def __init__(self, lengths: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], axes: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def n_cliques(self) -> int: ...

    @property
    def total_cells(self) -> float: ...

    @property
    def total_separator_cells(self) -> float: ...

    def cells(self, clique: int) -> float: ...

    def axes(self, clique: int) -> list[int]: ...

    @property
    def largest(self) -> int: ...

    def holds(self, axes: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> bool:
        """Whether these axes share a clique."""

class JunctionTree:
    """Exact answers by messages between cliques."""

    def __init__(self, structure: CliqueTree, axes: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], are_logs: bool, threads: int) -> None: ...

    @property
    def held_cells(self) -> int:
        """
        Cells that are held: those that can be other than zero, where these are few.
        """

    def marginals(self, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], soft: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], axes: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> float:
        """
        Distributions of axes; returns the logarithm of the probability of the evidence.
        """

    def joint(self, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], soft: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], axes: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> float:
        """Joint distribution of axes that share a clique."""

    def most_probable(self, codes: NDArray[numpy.int32], soft: NDArray[numpy.uint32], weights: NDArray[numpy.float64], n: int) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64]]:
        """
        Codes of the most probable configurations, and logarithms of probabilities.
        """

    def rows(self, codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], axes: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], logs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
        """Answers for many rows of evidence."""

class Kernel:
    """Native twin of a score."""

def ll() -> Kernel:
    """Native twin of scores/ll.py."""

def aic() -> Kernel:
    """Native twin of scores/aic.py."""

def bic() -> Kernel:
    """Native twin of scores/bic.py."""

def hqc() -> Kernel:
    """Native twin of scores/hqc.py."""

def pnal(scale: float, exponent: float) -> Kernel:
    """Native twin of scores/pnal.py."""

def fnml() -> Kernel:
    """Native twin of scores/fnml.py."""

def qnml(is_exact: bool) -> Kernel:
    """Native twin of scores/qnml.py."""

def mit(confidence: float) -> Kernel:
    """Native twin of scores/mit.py."""

def bd(pseudo_count: float) -> Kernel:
    """Native twin of scores/bd.py."""

def bdq(pseudo_count: float) -> Kernel:
    """Native twin of scores/bdq.py."""

def bdeu(ess: float) -> Kernel:
    """Native twin of scores/bdeu.py."""

def min_bdeu(ess: float, epsilon: float) -> Kernel:
    """Native twin of scores/min_bdeu.py."""

def max_bdeu(ess: float, epsilon: float) -> Kernel:
    """Native twin of scores/max_bdeu.py."""

class RefusedFamilyError(Exception):
    pass

def bd_tables(children: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], first_values: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Kernel:
    """
    Native twin of scores/bd.py with given tables (see kernels/scores/bd_tables.hpp).
    """

def bde(ess: float, arities: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], axes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], nodes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], max_bytes: float) -> Kernel:
    """
    Native twin of scores/bde.py with a prior network (see kernels/scores/bde.hpp).
    """

def node_average(penalty: float, has_missing: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Kernel:
    """
    Native twin of scores/node_average.py (see kernels/scores/node_average.hpp).
    """

def within_support(kernel: Kernel, max_cells: float, children: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Kernel:
    """
    The same score, minus infinity where the columns of a family take more than `max_cells` different values and the family is not listed (see kernels/scores/support.hpp).
    """

def max_bdeu_priors(counts: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], epsilons: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    For each row of counts the prior of this sum and epsilon that maximises its probability.
    """

def score_families(table: Table, kernel: Kernel, children: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """Local scores of many families in one call."""

class ChangeScorers:
    """Scores of changes of families, call after call."""

    def __init__(self, table: Table, kernel: Kernel) -> None: ...

    def score(self, children: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], candidate_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], candidates: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int, seconds: float) -> None:
        """
        Local scores of families after adding or dropping each of their candidate parents; what is not done in so many seconds stays as it is.
        """

def score_all_families(table: Table, kernel: Kernel, max_parents: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int, seconds: float) -> bool:
    """
    Local scores of every family with at most max_parents parents; False when out of time.
    """

def score_counts(arities: Sequence[int], total_weight: float, has_real_weights: bool, kernel: Kernel, children: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: list[tuple[Any, Any]], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], growth: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], bounds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    Local scores of families from their observed counts, and bounds on those of larger ones where `bounds` is not empty.
    """

def posterior_numbers(groups: MissingGroups, max_cells: float, n_draws: int) -> float:
    """Numbers that a posterior would keep."""

class Posterior:
    """Distributions of missing cells; see kernels/missing/posterior.hpp."""

    def __init__(self, rows: object, groups: object, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_cells: float, n_draws: int, key: Sequence[int], seconds: float, threads: int) -> None: ...

    @property
    def is_possible(self) -> bool: ...

    @property
    def n_drawn(self) -> int: ...

    def count(self, children: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], seconds: float, threads: int) -> list[tuple[Any, Any]]:
        """Numbers of the cells that are not zero, and their expected counts."""

    def score(self, shown: Table, kernel: Kernel, children: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], bounds: bool, growth: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], seconds: float, threads: int) -> None:
        """Local scores by expected counts, or bounds on all larger families."""

class TooManySetsError(Exception):
    pass

class CandidateListing:
    """
    Candidate parent sets of every child, listed bit by bit (see kernels/scoring/candidate_sets.hpp).
    """

    @overload
    def __init__(self, table: object, kernel: object, required_ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], required: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], allowed_ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], allowed: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], bonuses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_parents: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], base_bonuses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], prune: bool, margin: float) -> None: ...

    @overload
    def __init__(self, required_ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], required: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], allowed_ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], allowed: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], bonuses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_parents: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], base_bonuses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], prune: bool, margin: float, slack: float) -> None:
        """A listing that is fed: by `wanted` and `take` instead of `run`."""

    def wanted(self, most: int) -> tuple[Any, Any, Any, int]:
        """
        The next families, at most so many, by number, and how many parents they have that are not required.
        """

    def take(self, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], bounds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Scores of the first of the families that are wanted, and what none that contains one of them exceeds.
        """

    def stop(self) -> None:
        """List no more."""

    def run(self, seconds: float, max_bytes: float, stops_at_memory: bool, max_parents: int, threads: int) -> None:
        """List for so many seconds at most, sets of at most so many parents."""

    def is_complete_within(self, max_parents: int) -> bool:
        """Whether all sets of at most so many parents are listed."""

    def forecast(self, max_parents: int) -> tuple[float, float]:
        """
        Seconds of one thread and bytes to go on to sets of so many parents; zero where nothing is known.
        """

    @property
    def is_over(self) -> bool: ...

    @property
    def is_full(self) -> bool: ...

    @property
    def n_bytes(self) -> int: ...

    def result(self, most_open: int, finish: bool, max_parents: int, threads: int) -> tuple[tuple[Any, Any, Any, Any], Any, Any, tuple[Any, Any, Any, Any], Any]:
        """
        The sets of at most so many parents, how many families were scored for each child, whether all were; open sets that cover the rest, and for which children they do. `finish` empties the listing.
        """

def total_cap(table: Table, kernel: Kernel) -> float:
    """
    No network scores more (see kernels/scoring/likelihood_caps.hpp); infinite where nothing is known.
    """

def optimistic_sets(first_sets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], most: int, threads: int) -> tuple[Any, Any, Any, Any]:
    """
    At most so many sets for each child, with bounds that are no lower (see kernels/scoring/open_sets.hpp).
    """

class JklError(ValueError):
    pass

def parse_jkl(text: bytes, threads: int) -> tuple[list[str], tuple[Any, Any, Any, Any]]:
    """Names and flat arrays of a file of local scores."""

def format_jkl(names: Sequence[str], first_sets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> bytes:
    """The text of a file of local scores."""

class Climb:
    """A structure under single-arc changes, and what each gains."""

    def __init__(self, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], candidates: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], required: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], max_parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], edges: Sequence[tuple[int, int]], ancestors: Sequence[tuple[int, int]], non_ancestors: Sequence[tuple[int, int]]) -> None: ...

    def reset(self, parents: Sequence[Sequence[int]]) -> None:
        """Take another structure; rows of families that stay are kept."""

    def unscored(self) -> list[int]:
        """The families whose row is yet to be set."""

    def parents(self) -> list[list[int]]:
        """The parents of every node."""

    def parents_of(self, child: int) -> list[int]: ...

    def children_of(self, node: int) -> list[int]: ...

    def scores(self) -> list[float]:
        """The score of every family."""

    def total(self) -> float:
        """The exact sum of the scores, rounded once."""

    def score(self, child: int) -> float: ...

    def set_row(self, child: int, score: float, changed: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Scores of a family as it is and after each of its changes."""

    def row(self, child: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The scores of the family's changes, as they were set."""

    def can(self, kind: int, parent: int, child: int) -> bool:
        """Whether the move is there and is legal."""

    def gain(self, kind: int, parent: int, child: int) -> float:
        """What the move gains."""

    def best(self, tie: float, tenure: int = 0, aspiration: float = 0.0) -> tuple[int, int, int, float] | None:
        """The legal move with the highest gain, and its gain."""

    def best_addition(self, child: int, tie: float, place: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[int, int, int, float] | None:
        """The legal new parent from before the child that gains most."""

    def propose(self, temperature: float, n_tries: int, only_add: bool, seed: int, stream: int, counter: int) -> tuple[tuple[int, int, int, float] | None, int]:
        """
        The first random move that is accepted, and the counter after the draws.
        """

    def recent(self, tenure: int) -> list[tuple[int, int]]:
        """Places that the last moves changed, and how many moves ago."""

    def set_recent(self, ages: Sequence[tuple[int, int]]) -> None:
        """Put back what `recent` gave, after a reset."""

    def apply(self, kind: int, parent: int, child: int) -> None:
        """Make a legal move."""

class ClassWalk:
    """An equivalence class, and what the moves to other classes gain."""

    def __init__(self, start: Sequence[Sequence[int]], max_parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], allowed: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, required: Sequence[tuple[int, int]], edges: Sequence[tuple[int, int]], ancestors: Sequence[tuple[int, int]], non_ancestors: Sequence[tuple[int, int]]) -> None: ...

    def member(self) -> list[list[int]]:
        """The parents of every node in a member of the class."""

    @property
    def n_taken(self) -> int:
        """How many moves were taken."""

    def begin(self, kind: int) -> None:
        """Look for insertions (0), removals (1) or turns (2) from now on."""

    def wanted(self, n_scores: int) -> tuple[Any, Any, Any, Any, Any] | None:
        """
        The changes of families whose scores moves wait for; None when there are no more.
        """

    def set_scores(self, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """The scores that were wanted."""

    def best(self, unit: float, seconds: float) -> tuple[int, int, list[int], float] | None:
        """
        The best move that gains more than a unit; None when there is none, or time is up.
        """

    def best_member(self) -> list[list[int]]:
        """
        The parents of every node in a member of the class that the best move leads to.
        """

    def moves(self, unit: float) -> list[tuple[int, int, list[int], float]]:
        """All moves that gain more than a unit, the best first."""

    def take(self) -> None:
        """Take the best move."""

def maximum_spanning_tree(weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], root: int, parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Parents in the maximum spanning tree of a symmetric matrix, -1 for roots.
    """

def maximum_branching(weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], root_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], spanning: bool, parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> bool:
    """
    Parents in the maximum branching (see kernels/search/branching.hpp); False when there is none.
    """

def score_pairs(table: Table, kernel: Kernel, given: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], seconds: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> bool:
    """
    Scores of every column given each other (see kernels/scoring/pair_scores.hpp); whether all.
    """

class OrderSearch:
    """
    Search over orders of the variables; see kernels/search/order_chains.hpp.
    """

    def __init__(self, begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int, n_chains: int) -> None: ...

    @property
    def is_feasible(self) -> bool: ...

    @property
    def best_cost(self) -> float: ...

    def best(self, out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """The best choice found: per child the number of its set."""

    def places(self) -> list[tuple[list[int], float, list[int], float, int]]:
        """Where each chain is, for `restore`."""

    def restore(self, places: Sequence[tuple[Sequence[int], float, Sequence[int], float, int]]) -> None:
        """Go on from there."""

    def descend_from(self, order: Sequence[int], seconds: float) -> bool:
        """Local search from an order; True when the best improved."""

    def scatter(self, threads: int, seconds: float) -> bool:
        """Send every chain but the first to a random order."""

    def improve(self, rounds: int, threads: int, seconds: float) -> bool:
        """Iterated local search; True when the best improved."""

class OrderCrew:
    """
    Search over orders with parent sets that grow and shrink; see kernels/search/order_crew.hpp.
    """

    def __init__(self, source: object, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], candidates: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], required: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], bonuses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], bases: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_parents: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], before: Sequence[tuple[int, int]], tie: float, n_rows: float, seed: int, n_lanes: int, max_bytes: float) -> None: ...

    def begin(self, parents: Sequence[Sequence[int]]) -> bool:
        """Go on from this structure; False when no order has it."""

    def add_sets(self, child: int, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Let parent sets of a child be tried too, best first."""

    def improve(self, nanoseconds: float, threads: int, seconds: float) -> bool:
        """
        Work about so long, at most these seconds; True when the structure is better.
        """

    def place(self) -> tuple[tuple[tuple[list[int], list[list[int]], float], list[tuple[int, tuple[list[int], list[list[int]], float], tuple[list[int], list[list[int]], float]]], int, bool, list[int], int, float, int], Annotated[NDArray[numpy.uint64], dict(shape=(None,))]]:
        """
        Where it is, for `restore`: a tuple of plain values, and the rows it has.
        """

    def restore(self, where: tuple[tuple[Sequence[int], Sequence[Sequence[int]], float], Sequence[tuple[int, tuple[Sequence[int], Sequence[Sequence[int]], float], tuple[Sequence[int], Sequence[Sequence[int]], float]]], int, bool, Sequence[int], int, float, int], known: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, seconds: float) -> bool:
        """
        Go on from a place, with the same sets added; False when time was up before.
        """

    @property
    def total(self) -> float: ...

    def parents(self) -> list[list[int]]:
        """The parents of every node."""

    @property
    def n_attempts(self) -> int: ...

    @property
    def n_bytes(self) -> int: ...

    @property
    def nanoseconds(self) -> float: ...

def parent_masks(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Write each set of variable numbers below 64 as a bit mask."""

def best_by_subsets(first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], fine: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, limit: float, bytes_per_cell: int, plan: SubsetPlan, threads: int, seconds: float, progress: object | None, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[float, float | None, bool, bool, float] | None:
    """
    Least cost of an acyclic choice, inf when none is below the limit, its fine cost or None, whether Ctrl-C came after the first answer, whether all was looked at, and the subsets visited; None when out of time; see kernels/exact/subset_dp.hpp.
    """

class SubsetPlan:
    """How best_by_subsets goes about it."""

    def __init__(self, within: int, middle: int, pairs: int, cells: float) -> None: ...

    @property
    def within(self) -> int: ...

    @property
    def middle(self) -> int: ...

    @property
    def pairs(self) -> int: ...

    @property
    def cells(self) -> float: ...

    @property
    def n_bytes(self) -> float: ...

    @property
    def visited(self) -> float: ...

def plan_subsets(n: int, n_sets: int, threads: int, bytes_per_cell: int, room: float, most_middle: int) -> SubsetPlan:
    """
    The fastest way to solve within so many bytes; the smallest when none fits.
    """

def best_by_engine(first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], fine: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, limit: float, plan: SubsetPlan, engine: object, threads: int, seconds: float, progress: object | None, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[float, float | None, bool, bool, float] | None:
    """
    As best_by_subsets in 4 bytes, with cells that `engine` keeps: engine.fill(run, watch) computes them and returns False when watch(share) said to stop, engine.read(cells) returns some; runs of up to engine.few_cells stay here.
    """

def forecast_every_set(table: Table, kernel: Kernel, leave_out: bool, threads: int) -> tuple[float, float] | None:
    """
    Bytes and steps that all sets and the program over them take; None where the score or the table does not allow it.
    """

class EverySet:
    """The values of all sets: see kernels/scoring/every_set.hpp."""

    def __init__(self, table: Table, kernel: Kernel) -> None: ...

    def compute(self, leave_out: bool, threads: int, seconds: float, progress: object | None) -> bool:
        """Work out the values; False when out of time."""

def compute_every_set(all: Sequence[EverySet], leave_out: bool, threads: int, seconds: float, progress: object | None) -> bool:
    """
    Work out the values by several scores of one table, each set counted once for all; False when out of time.
    """

def has_set_form(table: Table, kernel: Kernel) -> bool:
    """Whether the values of all sets make every local score."""

class EverySetProgram:
    def __init__(self, sets: EverySet, required: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], allowed: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_parents: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], base_bonuses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], bonuses: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    def score(self, column: int, parents: int) -> float:
        """Local score of a column given a mask of columns."""

    def all_scores(self, column: int, threads: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Local scores of a column for all sets of the others."""

    def best_scores(self, threads: int, seconds: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> bool:
        """
        Best score of each column over all its parent sets; False when out of time.
        """

    def solve(self, best: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], unit: float, limit: float, threads: int, seconds: float, progress: object | None, parents: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')]) -> float | None:
        """
        Least cost of a network in units, inf when none is below the limit, None when out of time; see kernels/exact/every_set_dp.hpp.
        """

class BranchAndCutKernels:
    """
    Order search, cuts and pricing of one table; see kernels/exact/cut_pool.hpp.
    """

    def __init__(self, begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int) -> None: ...

    def stop(self) -> None:
        """Make running and later searches return at once."""

    @property
    def is_feasible(self) -> bool: ...

    @property
    def n_cuts(self) -> int: ...

    def best(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The best choice found: per child the number of its set."""

    def place(self) -> tuple[list[int], float, list[int], float, int]:
        """Where the local search is, for `restore`."""

    def restore(self, place: tuple[Sequence[int], float, Sequence[int], float, int]) -> None:
        """
        Let the local search go on from there; cuts are added again one by one.
        """

    def descend_from(self, order: Sequence[int]) -> bool:
        """Local search from an order; True when the best improved."""

    def improve(self, rounds: int) -> bool:
        """Iterated local search; True when the best improved."""

    def add_cluster(self, members: Sequence[int], k: int) -> int:
        """Number of the new cut."""

    def add_halved(self, terms: Sequence[tuple[Sequence[int], int]], equations: Sequence[int]) -> int:
        """Number of the new cut."""

    def add_order_cut(self, members: Sequence[int], gains: Sequence[int], most: int) -> int:
        """Number of the new cut."""

    def coefficients(self, cuts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu')]) -> None:
        """Coefficient of each set (column) in each cut (row)."""

    def reduce(self, costs: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], multipliers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], allowed: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """
        Reduced costs of the allowed sets for these multipliers; 2^60 for the others.
        """

    def ascend(self, reduced: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], enough: int) -> tuple[int, list[tuple[list[int], int]]]:
        """
        Bound, and clusters with multipliers that prove it from these reduced costs; see kernels/exact/dual_ascent.hpp.
        """

    def separate(self, support: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], k: int, starts: Sequence[Sequence[int]], min_violation: float, most: int) -> list[tuple[list[int], float]]:
        """Violated cluster cuts (members, violation), most violated first."""

    def separate_halves(self, support: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], terms: Sequence[tuple[Sequence[int], int]], min_violation: float, most: int) -> list[tuple[list[int], list[int], float]]:
        """Violated halved cuts (positions in terms, equations, violation)."""

    def separate_order_cuts(self, support: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_members: int, min_violation: float, most: int) -> list[tuple[list[int], list[int], int, float]]:
        """Violated cuts on few variables (members, gains, most, violation)."""

def search_frontier(first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], masks: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], costs: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], least: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], clusters: Sequence[tuple[int, int, int]], cutoff: int, width: int, seconds: float) -> tuple[list[int], int, int, bool, int, int] | None:
    """
    Sets of a best choice below the cutoff, its cost, the bound, whether nothing was left out, subsets expanded, bytes; None when out of time; see kernels/exact/frontier_search.hpp.
    """

class NearBest:
    """The cheapest acyclic choices of one set per variable, each once."""

    def __init__(self, first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], window: float, wanted: int, takes_all: bool, per_class: bool, has_whole_classes: bool, max_component: int, max_bytes: float) -> None: ...

    def add_cut(self, terms: Sequence[tuple[Sequence[int], int]], equations: Sequence[int], is_halved: bool) -> int:
        """Take in a valid cut; returns its number."""

    def add_order_cut(self, members: Sequence[int], gains: Sequence[int], most: int) -> int:
        """Take in a valid order cut; returns its number."""

    def add_part(self, ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], cuts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], multipliers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Look in this part of all choices; parts have none in common."""

    def run(self, count: int, seconds: float, threads: int) -> bool:
        """Look for so many more; False when time ran out."""

    def chosen(self, start: int) -> object:
        """What was found from this number on: a set for each variable, per row."""

    @property
    def n_found(self) -> int: ...

    @property
    def rest(self) -> float:
        """Nothing that was not found costs less."""

    @property
    def is_over(self) -> bool: ...

    @property
    def is_full(self) -> bool: ...

    @property
    def n_nodes(self) -> int: ...

def subset_marginal_bytes(n: int) -> float:
    """Memory for the marginals of a component of n variables."""

class ParentWeights:
    def __init__(self, begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sets: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], logs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class OrderSums:
    def __init__(self, weights: ParentWeights) -> None: ...

    def compute(self, top_bits: int, threads: int, seconds: float, progress: object | None) -> bool:
        """Sum over all orders; False when out of time."""

    def log_total(self) -> float:
        """Logarithm of the sum over all orders."""

    def probabilities(self, threads: int, seconds: float, sets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], arcs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> bool:
        """Probabilities of parent sets and arcs; False when out of time."""

    def draw(self, seed: int, threads: int, seconds: float, dags: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], log_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> bool:
        """Draw structures; False when out of time."""

def order_sums_bytes(n: int, top_bits: int, threads: int) -> float: ...

def dag_sums_bytes(n: int) -> float: ...

def ancestor_bytes(n: int, threads: int) -> float: ...

def sum_over_dags(weights: ParentWeights, threads: int, seconds: float, sets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], arcs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[float, float] | None:
    """
    Probabilities under the uniform prior over DAGs; the total twice, None out of time.
    """

def ancestor_probabilities(weights: ParentWeights, threads: int, seconds: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> bool:
    """Probabilities of paths, modular in the order; False when out of time."""

def log_linear_extensions(parents: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], n: int, threads: int, seconds: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> bool:
    """
    Logarithms of the numbers of orders that structures follow; False when out of time.
    """

class Chains:
    def __init__(self, weights: ParentWeights, over_partitions: bool, seed: int, n_chains: int, first: int = 0) -> None: ...

    def settle(self, n_steps: int, first: int, last: int, threads: int, seconds: float) -> bool:
        """
        The first steps, or some of them, hot and cooling down; False when out of time.
        """

    def run(self, n_between: int, threads: int, seconds: float, structures: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], n_drawn: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> bool:
        """Draw structures from each chain; False when out of time."""

    def places(self) -> list[tuple[list[list[int]], bool, float, int, int, int]]:
        """Where each chain is, for `restore`."""

    def restore(self, places: Sequence[tuple[Sequence[Sequence[int]], bool, float, int, int, int]]) -> None:
        """Go on from there."""

    def counts(self) -> tuple[int, int]:
        """Steps of all chains, and those that led elsewhere."""

def entropy_cuts(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], classes: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int) -> list[int]:
    """
    Rows of a sorted column before which it is cut; see kernels/data/entropy_cuts.hpp.
    """

def sample_network(keys: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)], thresholds: Sequence[Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)]], parents: Sequence[Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]], strides: Sequence[Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]], finders: list[object], columns: Sequence[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')] | Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu')]], first: int, threads: int) -> None:
    """
    Draw rows of a network from row `first` on, parents first, into the columns; see kernels/data/sampling.hpp.
    """

class ArrowTypeError(TypeError):
    pass

class EncodedColumn:
    """What is known of a column that was encoded."""

    @property
    def labels(self) -> Any:
        """In order of first appearance: a list, or an array of numbers."""

    @property
    def counts(self) -> numpy.typing.NDArray[numpy.int64]:
        """Rows with each label."""

    @property
    def first_rows(self) -> numpy.typing.NDArray[numpy.int64]:
        """The first row with each label."""

    @property
    def n_missing(self) -> int: ...

    @property
    def first_missing(self) -> int | None:
        """The first such row, or None."""

    @property
    def is_coded(self) -> bool:
        """False with more labels than the limit: those seen first are listed."""

    @property
    def n_distinct(self) -> int:
        """Labels, those without codes too."""

    @property
    def is_exact(self) -> bool:
        """Whether their number is no estimate."""

    @property
    def type(self) -> str:
        """The format of Arrow; O for Python objects."""

    @property
    def declared(self) -> Any:
        """Values of dictionaries, seen or not; None without dictionaries."""

class ColumnEncoder:
    """Codes and labels of columns; see kernels/data/column_encoder.hpp."""

    def __init__(self, limits: Sequence[int], missing_values: Sequence[str], numbers: Sequence[int] = []) -> None: ...

    def add_streams(self, streams: Sequence[object], first_columns: Sequence[int], threads: int) -> None:
        """Encode whole Arrow streams, each into columns from one on."""

    def add_batches(self, stream: object, first_column: int, n_batches: int, threads: int) -> bool:
        """Encode at most so many batches; whether there may be more."""

    def add_arrays(self, arrays: Sequence[object], columns: Sequence[int], masks: Sequence[object], threads: int) -> None:
        """Encode arrays of numbers, dates or fixed texts; masks hide values."""

    def add_objects(self, items: object, column: int) -> None:
        """Encode a list or an array of objects."""

    def n_rows(self, column: int) -> int: ...

    def column(self, column: int) -> EncodedColumn: ...

    def take(self, columns: Sequence[int], maps: Sequence[numpy.typing.NDArray[Any] | None], threads: int) -> list[numpy.typing.NDArray[Any]]:
        """
        Move out the codes since the last time, each replaced by its entry in a map.
        """

def stream_types(stream: object) -> list[tuple[str, str, str | None]]:
    """
    Name, Arrow format, and that of dictionary values, of the columns of a stream.
    """

def recode(codes: numpy.typing.NDArray[Any], map: numpy.typing.NDArray[Any]) -> None:
    """Replace codes by entries of a map, in place."""

class CsvCheck:
    """Whether a CSV file is plain; see kernels/data/csv_check.hpp."""

    def __init__(self, separator: str, n_columns: int) -> None: ...

    def add(self, piece: bytes) -> bool: ...

    def is_plain(self) -> bool: ...
