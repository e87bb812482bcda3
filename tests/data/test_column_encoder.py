"""The native encoder: the same codes, labels and counts as an encoder written out in Python."""

import _thread
import datetime
import itertools
import math
import threading

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestdag import _core

pa = pytest.importorskip("pyarrow")

NO_LIMIT = 2**32 - 2
texts = st.one_of(
    st.sampled_from(["", "a", "b", "no", "yes", "NA", "12345678", "123456789", "x" * 16, "x" * 17]),
    st.text(max_size=20),
    st.integers(0, 300).map(lambda i: f"a long label with the number {i:06d} in it"),
)
cells = st.lists(st.none() | texts, max_size=60)
marks = st.sets(st.sampled_from(["", "NA", "a", "?"]))
text_types = st.sampled_from([pa.string(), pa.large_string(), pa.string_view()])


class Literal:
    """What is known of a column, value by value."""

    def __init__(self, values, missing_values=(), limit=NO_LIMIT):
        self.labels, self.first_rows, self.counts, self.codes = [], [], [], []
        self.n_missing, self.first_missing, self.n_rows = 0, None, len(values)
        self.is_coded = True
        others = set()
        for row, value in enumerate(values):
            if value is None or value != value or value in missing_values:
                self.n_missing += 1
                self.first_missing = row if self.first_missing is None else self.first_missing
                self.codes.append(0)
                continue
            if value not in self.labels:
                if not self.is_coded:
                    others.add(value)
                    continue
                self.labels.append(value)
                self.first_rows.append(row)
                self.counts.append(0)
                self.is_coded = len(self.labels) <= limit
            code = self.labels.index(value) + 1
            self.counts[code - 1] += 1
            self.codes.append(code)
        self.n_distinct = len(self.labels) + len(others)

    def compare(self, encoder, i):
        column = encoder.column(i)
        assert list(column.labels) == self.labels
        assert column.first_rows.tolist() == self.first_rows
        assert (column.n_missing, column.first_missing) == (self.n_missing, self.first_missing)
        assert column.is_coded == self.is_coded
        assert column.is_exact
        assert column.n_distinct == self.n_distinct
        assert encoder.n_rows(i) == self.n_rows
        if self.is_coded:
            assert column.counts.tolist() == self.counts
            (codes,) = encoder.take([i], [None], 1)
            assert codes.tolist() == self.codes
        else:
            assert column.counts.tolist() == []


def stream(array):
    """Return a stream of the chunks of an array, or of a table."""
    if isinstance(array, pa.Table):
        return array.__arrow_c_stream__()
    chunked = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    return chunked.__arrow_c_stream__()


def encoder(array, missing_values=(), limit=NO_LIMIT):
    made = _core.ColumnEncoder([limit], list(missing_values))
    made.add_streams([stream(array)], [0], 2)
    return made


def chunks(draw_cuts, values, kind):
    cuts = sorted({0, len(values), *(min(cut, len(values)) for cut in draw_cuts)})
    # Slices of one array have offsets that are not zero.
    whole = pa.array(values, kind)
    parts = [whole.slice(a, b - a) for a, b in itertools.pairwise(cuts)]
    return pa.chunked_array(parts, kind)


@given(cells, marks, text_types, st.lists(st.integers(0, 60)), st.integers(1, 8))
def test_texts(values, missing_values, kind, cuts, limit):
    made = encoder(chunks(cuts, values, kind), missing_values, limit)
    Literal(values, missing_values, limit).compare(made, 0)


@given(
    st.lists(cells, min_size=1, max_size=4),
    marks,
    st.sampled_from([pa.int8(), pa.uint8(), pa.int16(), pa.int32(), pa.uint32(), pa.int64()]),
    text_types,
    st.integers(1, 8),
)
def test_dictionaries_that_differ_from_batch_to_batch(batches, missing_values, index, kind, limit):
    arrays = []
    for values in batches:
        entries = sorted({v for v in values if v is not None}, reverse=len(arrays) % 2 == 1)
        places = [None if v is None else entries.index(v) for v in values]
        # A null may be an entry, too.
        dictionary = pa.array([*entries, None], kind)
        places = [len(entries) if p is None and i % 2 else p for i, p in enumerate(places)]
        arrays.append(pa.DictionaryArray.from_arrays(pa.array(places, index), dictionary))
    made = _core.ColumnEncoder([limit], list(missing_values))
    for array in arrays:
        made.add_streams([stream(array)], [0], 1)
    values = [v for part in batches for v in part]
    Literal(values, missing_values, limit).compare(made, 0)
    declared = {
        v: None for a in arrays if len(a) for v in a.dictionary.to_pylist() if v is not None
    }
    assert (made.column(0).declared or []) == list(declared)


numbers = {
    "int8": st.integers(-128, 127),
    "uint16": st.integers(0, 2**16 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "uint64": st.integers(0, 2**64 - 1),
    "float16": st.floats(width=16),
    "float32": st.floats(width=32),
    "float64": st.floats(),
    "bool": st.booleans(),
}


@pytest.mark.parametrize("kind", numbers)
@given(data=st.data())
def test_numbers_of_arrow_and_numpy(kind, data):
    values = data.draw(st.lists(st.none() | numbers[kind], max_size=40))
    cuts = data.draw(st.lists(st.integers(0, 40)))
    limit = data.draw(st.integers(1, 10))
    typed = pa.bool_() if kind == "bool" else pa.from_numpy_dtype(kind)
    if kind == "float16":
        values = [v if v is None else np.float16(v) for v in values]
    expected = Literal(values, (), limit)
    expected.compare(encoder(chunks(cuts, values, typed), (), limit), 0)
    hidden = np.array([v is None for v in values], bool)
    plain = np.array([0 if v is None else v for v in values], kind)
    made = _core.ColumnEncoder([limit, limit], [])
    wide = np.stack([plain, plain], axis=1)
    made.add_arrays([plain, wide[:, 1]], [0, 1], [hidden, hidden[::-1][::-1]], 2)
    expected.compare(made, 0)
    expected.compare(made, 1)


@pytest.mark.parametrize("kind", ["int8", "int64", "uint64", "float16", "float32", "float64"])
@given(data=st.data())
def test_numbers_that_are_kept(kind, data):
    values = data.draw(st.lists(st.none() | numbers[kind], max_size=20))
    if kind == "float16":
        values = [v if v is None else np.float16(v) for v in values]
    made = _core.ColumnEncoder([1], [], [0])
    made.add_streams([stream(pa.array(values, pa.from_numpy_dtype(kind)))], [0], 1)
    (kept,) = made.take([0], [None], 1)
    assert kept.dtype == np.float64
    expected = [math.nan if v is None else float(v) for v in values]
    np.testing.assert_array_equal(kept, expected)
    assert made.n_rows(0) == len(values)


@given(cells.map(lambda cells: [c.rstrip("\0") for c in cells if c is not None]), marks)
def test_fixed_texts_of_numpy(values, missing_values):
    made = _core.ColumnEncoder([NO_LIMIT], list(missing_values))
    array = np.array(values, dtype=np.str_) if values else np.array([], "U1")
    made.add_arrays([array], [0], [None], 1)
    Literal(array.tolist(), missing_values).compare(made, 0)


class Null:
    """A package's own null: what it is compared with does not matter."""

    def __eq__(self, other):
        raise TypeError("no truth value")

    __ne__ = __eq__
    __hash__ = object.__hash__


Null.__name__ = "NAType"
things = st.one_of(
    texts,
    st.integers(-3, 3),
    st.sampled_from([2**70, 2.5, 1e300, datetime.date(2020, 1, 2)]),
    st.just((1, 2)),
)


@given(st.lists(st.one_of(things, st.just(None), st.just(Null()), st.just(math.nan))), marks)
def test_objects(values, missing_values):
    known = [None if isinstance(v, Null) else v for v in values]
    expected = Literal(known, missing_values)
    array = np.empty(len(values), object)
    array[:] = values
    padded = np.empty((len(values), 2), object)
    padded[:, 1] = array
    for items in (values, array, padded[:, 1]):
        made = _core.ColumnEncoder([NO_LIMIT], list(missing_values))
        made.add_objects(items, 0)
        expected.compare(made, 0)
        assert made.column(0).type == "O"


def test_true_is_not_one_among_objects():
    made = _core.ColumnEncoder([9], [])
    made.add_objects([1, True, 0, False, 1.0, True], 0)
    assert made.column(0).labels == [1, True, 0, False]
    assert [type(label) for label in made.column(0).labels] == [int, bool, int, bool]
    assert made.take([0], [None], 1)[0].tolist() == [1, 2, 3, 4, 1, 2]


def test_objects_beyond_the_limit_are_counted():
    made = _core.ColumnEncoder([3], [""])
    made.add_objects([*range(-5000, 5000), "", -1, -2, None], 0)
    column = made.column(0)
    assert (column.is_coded, column.n_distinct, column.is_exact) == (False, 10_000, True)
    assert (column.labels, column.n_missing) == ([-5000, -4999, -4998, -4997], 2)


def test_what_has_no_place_in_a_dict_is_named():
    made = _core.ColumnEncoder([3], [])
    with pytest.raises(TypeError, match=r"^bytearray$"):
        made.add_objects(["a", bytearray(b"x")], 0)


@pytest.mark.parametrize("n", [255, 256, 65_535, 65_536, 70_000])
def test_codes_grow_with_the_number_of_labels(n):
    values = [f"label {i * 7919 % n}" for i in range(n)] + ["label 0", None]
    made = encoder(chunks([300], values, pa.string()))
    column = made.column(0)
    assert list(column.labels) == values[:n]
    assert column.counts.tolist() == [2] + [1] * (n - 1)
    (codes,) = made.take([0], [None], 1)
    assert codes.dtype == (np.uint8 if n <= 255 else np.uint16 if n <= 65_535 else np.uint32)
    assert codes.tolist() == [*range(1, n + 1), 1, 0]


@pytest.mark.parametrize("n", [3, 300, 70_000])
@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32])
def test_maps_of_every_width(n, kind):
    values = [str(i) for i in range(n)]
    made = encoder(pa.array([*values, None]))
    codes_of = (np.arange(n + 1) * 3 % 200).astype(kind)
    (codes,) = made.take([0], [codes_of], 2)
    assert codes.dtype == kind
    assert codes.flags.writeable
    np.testing.assert_array_equal(codes, np.append(codes_of[1:], codes_of[0]))


def test_rows_are_taken_bit_by_bit():
    table = pa.table({"a": ["x", "y", None] * 5, "b": range(15)})
    batches = pa.Table.from_batches(table.to_batches(max_chunksize=4)).__arrow_c_stream__()
    made = _core.ColumnEncoder([9, 20], [])
    rows = []
    while made.add_batches(batches, 0, 1, 2):
        rows.append(made.take([0, 1], [None, None], 2))
    assert [len(a) for a, _ in rows] == [4, 4, 4, 3]
    assert np.concatenate([a for a, _ in rows]).tolist() == [1, 2, 0] * 5
    assert np.concatenate([b for _, b in rows]).tolist() == [*range(1, 16)]
    assert made.column(0).counts.tolist() == [5, 5]
    codes = np.array([0, 1, 2], np.uint8)
    _core.recode(codes, np.array([2, 0, 1], np.uint8))
    assert codes.tolist() == [2, 0, 1]
    with pytest.raises(IndexError):
        _core.recode(codes, np.array([2], np.uint8))


def test_many_labels_are_counted_without_codes():
    values = [f"id {i}" for i in range(300_000)]
    made = encoder(pa.array(["", *values, *values]), [""], 50)
    column = made.column(0)
    assert (column.is_coded, column.n_distinct, column.is_exact) == (False, 300_000, True)
    assert list(column.labels) == values[:51]
    assert column.n_missing == 1
    with pytest.raises(ValueError, match="no codes"):
        made.take([0], [None], 1)
    # Of many columns, each has less room for its hashes.
    narrow = _core.ColumnEncoder([50] * 1000, [])
    narrow.add_streams([stream(pa.array(values))], [7], 1)
    assert not narrow.column(7).is_exact
    assert narrow.column(7).n_distinct == pytest.approx(300_000, rel=0.1)


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_and_sizes_of_batches_change_nothing(threads):
    rng = np.random.default_rng(5)
    n = 50_000
    table = pa.table(
        {f"c{i}": pa.array([f"s{k}" for k in rng.integers(0, 2 + 40 * i, n)]) for i in range(9)}
    )
    limits = [200] * 9
    expected = _core.ColumnEncoder(limits, [])
    expected.add_streams([stream(table)], [0], 1)
    for size in (700, 20_000):
        made = _core.ColumnEncoder(limits, [])
        cut = pa.Table.from_batches(table.to_batches(max_chunksize=size))
        made.add_streams([stream(cut)], [0], threads)
        apart = _core.ColumnEncoder(limits, [])
        apart.add_streams([stream(c) for c in cut.columns], [*range(9)], threads)
        for i in range(9):
            for other in (made, apart):
                a, b = expected.column(i), other.column(i)
                assert a.labels == b.labels
                assert a.first_rows.tolist() == b.first_rows.tolist()
                assert a.counts.tolist() == b.counts.tolist()
                assert (a.n_distinct, a.is_coded) == (b.n_distinct, b.is_coded)
    coded = [i for i in range(9) if expected.column(i).is_coded]
    assert 0 < len(coded) < 9
    for a, b in zip(
        expected.take(coded, [None] * len(coded), 1),
        made.take(coded, [None] * len(coded), threads),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)


def test_nothing_and_nulls():
    made = encoder(pa.array([], pa.string()))
    assert (made.n_rows(0), made.column(0).type, list(made.column(0).labels)) == (0, "n", [])
    made = encoder(pa.nulls(3))
    Literal([None] * 3).compare(made, 0)
    made = encoder(pa.chunked_array([pa.nulls(2, pa.string()), pa.array(["a"])]))
    Literal([None, None, "a"]).compare(made, 0)


def test_dates_are_whole_numbers():
    days = pa.array([datetime.date(1970, 1, 3), None, datetime.date(1969, 12, 31)])
    made = encoder(days)
    assert (made.column(0).type, made.column(0).labels.tolist()) == ("tdD", [2, -1])
    made = _core.ColumnEncoder([9], [])
    made.add_arrays([np.array(["1970-01-03", "NaT"], "M8[D]")], [0], [None], 1)
    assert (made.column(0).labels.tolist(), made.column(0).n_missing) == ([2], 1)


def test_types_that_are_not_read_are_named():
    table = pa.table({"a": ["x"], "b": [[1, 2]]})
    assert _core.stream_types(stream(table))[0] == ("a", "u", None)
    made = _core.ColumnEncoder([9, 9], [])
    with pytest.raises(_core.ArrowTypeError, match=r"column 1 has Arrow type '\+l'"):
        made.add_streams([stream(table)], [0], 1)
    made = encoder(pa.array([1, 2]))
    with pytest.raises(_core.ArrowTypeError, match="column 0 has Arrow type 'u' after 'l'"):
        made.add_streams([stream(pa.array(["a"]))], [0], 1)
    with pytest.raises(_core.ArrowTypeError, match="'u'"):
        _core.ColumnEncoder([9], [], [0]).add_streams([stream(pa.array(["a"]))], [0], 1)
    with pytest.raises(IndexError, match="2 columns"):
        _core.ColumnEncoder([9], []).add_streams([stream(table)], [0], 1)


def test_rows_that_are_null_are_refused():
    rows = pa.array([{"a": "x"}, None])
    with pytest.raises(TypeError, match="rows that are null"):
        encoder(rows)


def test_a_column_is_filled_by_one_source_at_a_time():
    made = _core.ColumnEncoder([9, 9], [])
    with pytest.raises(ValueError, match="different"):
        made.add_streams([stream(pa.array(["a"])), stream(pa.array(["b"]))], [1, 1], 2)
    with pytest.raises(ValueError, match="different"):
        made.add_arrays([np.arange(2), np.arange(2)], [1, 1], [None, None], 2)
    with pytest.raises(IndexError):
        made.add_arrays([np.arange(2)], [2], [None], 1)
    with pytest.raises(ValueError, match="as long"):
        made.add_arrays([np.arange(2)], [1], [np.array([True])], 1)


def test_polars_enums_declare_their_states():
    polars = pytest.importorskip("polars")
    series = polars.Series(["b", "a", None, "b"], dtype=polars.Enum(["c", "b", "a"]))
    made = _core.ColumnEncoder([9], [])
    made.add_streams([series.__arrow_c_stream__()], [0], 1)
    Literal(series.to_list()).compare(made, 0)
    assert made.column(0).declared == ["c", "b", "a"]


def test_the_failure_of_a_stream_is_told():
    def batches():
        yield pa.record_batch({"a": ["x"]})
        raise RuntimeError("the disk is gone")

    schema = pa.schema({"a": pa.string()})
    reader = pa.RecordBatchReader.from_batches(schema, batches())
    made = _core.ColumnEncoder([9], [])
    with pytest.raises(RuntimeError, match="the disk is gone"):
        made.add_streams([reader.__arrow_c_stream__()], [0], 2)


def test_broken_text_and_nul_come_through():
    broken = pa.Array.from_buffers(
        pa.string(),
        2,
        [None, pa.array([0, 2, 5], pa.int32()).buffers()[1], pa.py_buffer(b"\xff\xfea\0b")],
    )
    labels = encoder(broken).column(0).labels
    assert labels == ["\udcff\udcfe", "a\0b"]


def test_offsets_that_lead_nowhere_are_refused():
    bad = pa.Array.from_buffers(
        pa.string(),
        2,
        [None, pa.array([0, 5, 3], pa.int32()).buffers()[1], pa.py_buffer(b"abcdefgh")],
    )
    with pytest.raises(IndexError, match="offsets"):
        encoder(bad)
    places = pa.array([0, 9], pa.int8())
    dictionary = pa.DictionaryArray.from_arrays(places, pa.array(["a"]), safe=False)
    with pytest.raises(IndexError, match="no such entry"):
        encoder(dictionary)


def test_marks_may_hold_half_a_character():
    made = _core.ColumnEncoder([9, 9], ["\udcff", "NA"])
    made.add_streams([stream(pa.array(["a", "NA"]))], [0], 1)
    made.add_objects(["a", "\udcff"], 1)
    assert [made.column(i).n_missing for i in range(2)] == [1, 1]


def test_an_endless_stream_can_be_interrupted():
    rows = duckdb.sql("SELECT (i % 7)::VARCHAR FROM range(1000000000000) numbers(i)")
    made = _core.ColumnEncoder([9], [])
    later = threading.Timer(0.2, _thread.interrupt_main)
    later.start()
    with pytest.raises(KeyboardInterrupt):
        made.add_streams([rows.__arrow_c_stream__()], [0], 2)
    later.join()


def test_duckdb_polars_and_pandas_give_the_same():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    values = {"a": ["x", "y", None, "a longer text than twelve"] * 5, "b": [3, 1, 2, 2] * 5}
    table = pa.table(values)
    streams = [
        duckdb.arrow(table).__arrow_c_stream__(),
        polars.DataFrame(values).__arrow_c_stream__(),
        pandas.DataFrame(values).__arrow_c_stream__(),
        stream(table),
    ]
    for one in streams:
        made = _core.ColumnEncoder([9, 9], [])
        made.add_streams([one], [0], 2)
        for i, column in enumerate(values.values()):
            Literal(column).compare(made, i)
