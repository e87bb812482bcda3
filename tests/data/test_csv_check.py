"""The native check of CSV files: plain ones have text, and as many cells in every row."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestdag import _core


def is_plain(text, separator=",", n_columns=2, sizes=(1 << 20,)):
    content = text.encode() if isinstance(text, str) else text
    check = _core.CsvCheck(separator, n_columns)
    start = 0
    goes_on = True
    for k in range(len(content) + 1):
        piece = content[start : start + sizes[k % len(sizes)]]
        goes_on = check.add(piece) and goes_on
        start += len(piece)
        if start == len(content):
            break
    found = check.is_plain()
    assert goes_on or not found
    return found


def rows_of(text, separator):
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    return [row for row in reader if row]


signs = st.sampled_from([*'ab,;"\n\r \0é😀', "abcdefgh", "\r\n", '","', '"\n'])
pieces = st.lists(st.integers(1, 20), min_size=1)


@given(st.lists(signs).map("".join), st.sampled_from(",;"), st.integers(1, 3), pieces)
def test_plain_files_have_even_rows(text, separator, n_columns, sizes):
    assert not is_plain(text, separator, n_columns, sizes) or is_even(text, separator, n_columns)


def is_even(text, separator, n_columns):
    """Whether all rows are of one length, for the csv module."""
    return "\0" not in text and {len(row) for row in rows_of(text, separator)} <= {n_columns}


# Without "\\r", which csv.writer leaves without quotes.
cells = st.text(st.sampled_from('abc ,;"\né😀'), max_size=12)


@given(st.lists(st.lists(cells, min_size=2, max_size=2)), st.sampled_from(["\n", "\r\n"]), pieces)
def test_what_the_csv_module_writes_is_plain(rows, line_end, sizes):
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator=line_end).writerows(rows)
    assert is_plain(file.getvalue(), sizes=sizes)
    assert is_plain("\n\n" + file.getvalue() + line_end, sizes=sizes)
    if rows:
        assert not is_plain(file.getvalue() + "a,b," + line_end, sizes=sizes)
        assert not is_plain(file.getvalue() + "a", sizes=sizes)


@given(st.binary(max_size=30), st.integers(1, 40), pieces)
def test_text_is_what_python_decodes(content, n_before, sizes):
    content = b"a" * n_before + content.translate(None, b'"\n\r\0')
    try:
        content.decode()
        is_text = True
    except UnicodeDecodeError:
        is_text = False
    n_columns = content.count(b",") + 1
    assert is_plain(content, n_columns=n_columns, sizes=sizes) == is_text


@pytest.mark.parametrize("first", range(256))
def test_every_beginning_of_a_character(first):
    for second in (0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0):
        for tail in (b"", b"\x80", b"\x80\x80", b"\xbf" * 3):
            content = bytes([first, second]) + tail
            if set(content) & set(b'"\n\r\0,'):
                continue
            try:
                content.decode()
                is_text = True
            except UnicodeDecodeError:
                is_text = False
            assert is_plain(content, n_columns=1) == is_text


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("", True),
        ("a,b", True),
        ("a,b\n\n\r\n1,2", True),
        ("a,b\n1,2,", False),
        ("a,b\n1\n", False),
        ("a,b\n ,\n", True),
        ('"a","b"\n"1,2","x""y"\n', True),
        ('a"b,c\n', False),
        ('"a"b,c\n', False),
        ('a, "b"\n', False),
        ('"a,b\n', False),
        ("a,\0\n", False),
    ],
)
def test_what_is_plain(text, answer):
    assert is_plain(text) == answer
    assert is_plain(text, sizes=(1,)) == answer


@pytest.mark.parametrize("separator", ['"', "\n", "\0", "é", ",,"])
def test_separators_are_single_signs(separator):
    with pytest.raises((ValueError, TypeError)):
        _core.CsvCheck(separator, 2)
