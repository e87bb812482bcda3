"""More than 2^31 rows, or cases: counts are those the rows were made of, scores those by hand."""

from math import lgamma, log

import numpy as np
import pytest

from bestdag import BIC, BDeu, Dataset, Scorer, Variable, learn
from bestdag.counts.engine import CountingEngine
from bestdag.data.sinks.disk import build_folder, opened

# In turn the rows (a, b, c); behind 2^31 others, that wrapped numbers would not find.
HEAD = [(0, 0, 0), (1, 1, 0), (0, 0, 1), (1, 1, 1), (0, 1, 0)]
TAIL = [(1, 0, 1), (1, 0, 2), (0, 0, 2)]
N_HEAD, N_TAIL = 2**31 + 3, 3_000
N_ROWS = N_HEAD + N_TAIL
VARIABLES = [Variable("a", "01"), Variable("b", "01"), Variable("c", "012")]
BLOCK = 5 * 3 * (1 << 20)
FAMILIES = [("a", []), ("a", ["b"]), ("b", ["a", "c"]), ("c", ["a", "b"])]


def times(i, n_rows, n_kinds):
    """How often the i-th of some rows in turn is there."""
    return (n_rows - i + n_kinds - 1) // n_kinds


KNOWN = {row: times(i, N_HEAD, len(HEAD)) for i, row in enumerate(HEAD)} | {
    row: times(i, N_TAIL, len(TAIL)) for i, row in enumerate(TAIL)
}


def known_counts(child, parents):
    """The counts of a family, by what the rows were made of."""
    places = {"a": 0, "b": 1, "c": 2}
    found = {}
    for row, n in KNOWN.items():
        given = tuple(row[places[p]] for p in parents)
        cells = found.setdefault(given, [0] * (3 if child == "c" else 2))
        cells[row[places[child]]] += n
    return found


def bic_by_hand(counts, arity, q):
    rows = [(sum(cells), cells) for cells in counts.values()]
    fit = sum(n * log(n / total) for total, cells in rows for n in cells if n)
    return fit - log(N_ROWS) / 2 * q * (arity - 1)


def bdeu_by_hand(counts, arity, q):
    each = 1 / q
    return sum(
        lgamma(each)
        - lgamma(each + sum(cells))
        + sum(lgamma(each / arity + n) - lgamma(each / arity) for n in cells)
        for cells in counts.values()
    )


def assert_known(rows):
    """Counts, scores and a climb are those of the known counts, here and by hand."""
    assert sum(KNOWN.values()) == rows.total_weight == N_ROWS
    expected = [dict(sorted(known_counts(*family).items())) for family in FAMILIES]
    found = CountingEngine(rows).count(FAMILIES)
    for counts, known in zip(found, expected, strict=True):
        assert counts.configurations.tolist() == [list(given) for given in known]
        assert counts.table.tolist() == list(known.values())
    for score, by_hand in ((BIC(), bic_by_hand), (BDeu(ess=1), bdeu_by_hand)):
        values = Scorer(rows, score).families(FAMILIES)
        for value, counts, known in zip(values, found, expected, strict=True):
            worked_out = by_hand(known, counts.arity, counts.n_configurations)
            assert value == pytest.approx(worked_out, rel=1e-12)
    few = Dataset(VARIABLES, np.array(list(KNOWN), np.uint8).T, list(KNOWN.values()))
    for score in ("bic", "bdeu"):
        here, there = (learn(data, score, search="hill_climb") for data in (few, rows))
        assert (there.dag, there.score, there.status) == (here.dag, here.score, "local optimum")
        assert there.rows_in == rows.rows_in
        assert there.dag.arcs


def test_weights_of_few_rows_may_add_up_to_any_number():
    rows = sorted(KNOWN, reverse=True)
    weights = np.array([KNOWN[row] for row in rows])
    assert_known(Dataset(VARIABLES, np.array(rows, np.uint8).T, weights))


@pytest.mark.slow
def test_more_rows_than_31_bits_number_are_counted_on_disk(tmp_path):
    with build_folder(str(tmp_path), "rows") as folder:
        folder.begin(N_ROWS, [np.uint8] * 3, False)
        for kinds, n in ((HEAD, N_HEAD), (TAIL, N_TAIL)):
            columns = np.resize(np.array(kinds, np.uint8), (min(n, BLOCK), 3)).T.copy()
            for first in range(0, n, BLOCK):
                folder.append([column[: n - first] for column in columns], None)
        about = {"stamp": None, "warnings": [], "notes": [], "n_source": None, "missing": {}}
        folder.finish(VARIABLES, N_ROWS, about)
    rows = opened(str(tmp_path / "rows"), None, keeps=True)
    try:
        assert (rows.rows_in, rows.n_rows) == ("disk", N_ROWS)
        assert_known(rows)
        assert opened(str(rows.folder), N_ROWS, keeps=True).count_provider(1).block_rows < 2**31
        end = rows.select(rows=slice(N_HEAD, None))
        assert CountingEngine(end).count([("c", [])])[0].table.tolist() == [[0, 1000, 2000]]
    finally:
        rows.remove_cache()
    assert not list(tmp_path.iterdir())
