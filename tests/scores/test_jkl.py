"""Files of local scores: what is written is read, and what is wrong is refused with its place."""

import gzip
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestdag.errors import FileError, FormatError
from bestdag.scores.table import ScoreTable
from tests.shared_data import shared_file

GOOD = "3\na 2\n-1.5 2 b c\n-3 0\nb 1\n-2 0\nc 2\n-4.25 0\n-0.5 1 a\n"


def load(tmp_path, text, name="t.jkl"):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return ScoreTable.load(path)


def test_reads_children_best_first(tmp_path):
    table = load(tmp_path, GOOD)
    assert table.names == ("a", "b", "c")
    assert table.sets("a") == [(-1.5, ("b", "c")), (-3.0, ())]
    assert table.sets("c") == [(-0.5, ("a",)), (-4.25, ())]
    assert table.child(0).members.tolist() == [1, 2]
    assert table.child(0).offsets.tolist() == [0, 2, 2]


def test_ties_go_to_fewer_parents_then_to_the_first_members(tmp_path):
    text = "4\na 5\n-1 2 d b\n-1 1 d\n-1 2 c b\n-1 1 c\n-1 0\nb 1\n0 0\nc 1\n0 0\nd 1\n0 0\n"
    members = [parents for _, parents in load(tmp_path, text).sets("a")]
    assert members == [(), ("c",), ("d",), ("b", "c"), ("b", "d")]


# Children called 1, 2, 0: a parent "2" is the child of that name, not the third one.
def test_numbers_are_names(tmp_path):
    table = load(tmp_path, "3\n1 1\n-1 1 2\n2 1\n-1 0\n0 1\n-2 2 2 1\n")
    assert table.names == ("1", "2", "0")
    assert table.child(0).parents(0) == (1,)
    assert table.child(2).parents(0) == (0, 1)


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("\n", "\r\n"),
        GOOD.replace(" ", "\t "),
        "\ufeff" + GOOD,
        "# a comment\nMETA score = bdeu\n" + GOOD,
        "\n \n" + GOOD.replace("\n", "\n\n") + "  \n",
        GOOD.replace("-1.5", "-15e-1").replace("-3 ", "-3.000 "),
        GOOD.replace("-1.5 2", "-1.5 02"),
    ],
)
def test_harmless_variations(tmp_path, text):
    assert load(tmp_path, text) == load(tmp_path, GOOD)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: the file is empty"),
        ("\n\n", "line 3, column 1: the file is empty"),
        ("# only this\n", "line 2, column 1: the file is empty"),
        ("x\n", "line 1, column 1: the number of variables was needed, got 'x'"),
        ("-1\n", "line 1, column 1: the number of variables was needed, got '-1'"),
        ("0\n", "line 1, column 1: at least one variable is needed"),
        ("1 2\na 1\n0 0\n", "line 1, column 3: the first line is the number of variables, got '2'"),
        ("99999999999\na 1\n0 0\n", "at most 2147483647 variables are possible"),
        ("99999999999999999999999\n", "line 1, column 1: the number of variables was needed"),
        ("2000000000\na 1\n0 0\n", "line 4, column 1: the file ends after 1 of 2000000000 variab"),
        ("1\na\n", "line 2, column 2: the line ends where a variable's name and its number of"),
        (
            "1\na x\n",
            "line 2, column 3: a variable's name and its number of parent sets was needed",
        ),
        ("1\na 0\n", "line 2, column 3: variable 'a' has no parent set"),
        ("1\na 1 1\n", "line 2, column 5: a line here is a variable's name and its number"),
        ("1\na 9\n0 0\n", "line 4, column 1: the file ends after 1 of 9 parent sets of 'a'"),
        ("1\na 18446744073709551615\n0 0\n", "the file ends after 1 of 18446744073709551615"),
        ("2\na 1\n0 0\na 1\n0 0\n", "line 4, column 1: variable 'a' comes twice"),
        ("1\na 1\nx 0\n", "line 3, column 1: a score must be a finite number, got 'x'"),
        ("1\na 1\nnan 0\n", "line 3, column 1: a score must be a finite number, got 'nan'"),
        ("1\na 1\n-inf 0\n", "line 3, column 1: a score must be a finite number, got '-inf'"),
        ("1\na 1\n1e999 0\n", "line 3, column 1: a score must be a finite number, got '1e999'"),
        ("1\na 1\n0x10 0\n", "line 3, column 1: a score must be a finite number, got '0x10'"),
        ("1\na 1\n-1,5 0\n", "line 3, column 1: a score must be a finite number, got '-1,5'"),
        ("1\na 1\n+-1 0\n", "line 3, column 1: a score must be a finite number"),
        ("1\na 1\n0\n", "line 3, column 2: the line ends where a score and a number of parents"),
        ("1\na 1\n0 1.0\n", "line 3, column 3: a score and a number of parents was needed"),
        ("2\na 1\n0 2 b\nb 1\n0 0\n", "line 3, column 6: 2 parents announced, 1 listed"),
        ("2\na 1\n0 0 b\nb 1\n0 0\n", "line 3, column 5: 0 parents announced, got 'b' too"),
        ("1\na 1\n0 99999999999 b\n", "99999999999 parents announced, 1 listed"),
        ("2\na 1\n0 1 z\nb 1\n0 0\n", "line 3, column 5: unknown parent 'z'"),
        ("2\na 1\n0 1 a\nb 1\n0 0\n", "line 3, column 5: variable 'a' cannot be its own parent"),
        ("2\na 1\n0 2 b b\nb 1\n0 0\n", "line 3, column 7: parent 'b' is listed twice"),
        (
            "3\na 3\n0 2 b c\n\n1 0\n2 2 c b\nb 1\n0 0\nc 1\n0 0\n",
            "line 6, column 1: variable 'a' has this parent set twice",
        ),
        (GOOD + "d 1\n", "line 10, column 1: the 3 variables announced in the first line are comp"),
        (GOOD[:-1], "line 9, column 9: the last line has no end: the file may be cut short"),
        ("1\n" + "é" * 30 + " x\n", "got 'x'"),
        ("1\na " + "é" * 30 + "\n", "got '" + "é" * 20 + "...'"),
        ("1\na \x01\n", r"got '\?'"),
    ],
)
def test_malformed_files_are_refused_with_line_and_column(tmp_path, text, message):
    with pytest.raises(FormatError, match=rf"t\.jkl: .*{message}"):
        load(tmp_path, text)


def test_text_that_is_not_utf8(tmp_path):
    with pytest.raises(FormatError, match=r"t\.jkl: line 2: text is not UTF-8"):
        load(tmp_path, b"1\n\xff\xfe 1\n0 0\n")


@pytest.mark.parametrize("compressed", [False, True])
def test_a_file_cut_anywhere_is_refused(tmp_path, compressed):
    whole = GOOD.encode()
    if compressed:
        whole = gzip.compress(whole, mtime=0)
    for size in range(len(whole)):
        with pytest.raises(FormatError, match="cut"):
            load(tmp_path, whole[:size], "cut.jkl" + ".gz" * compressed)


def test_damaged_gzip_is_refused(tmp_path):
    whole = bytearray(gzip.compress(GOOD.encode() * 20, mtime=0))
    whole[len(whole) // 2] ^= 0xFF
    with pytest.raises(FormatError):
        load(tmp_path, bytes(whole), "t.jkl.gz")


def test_absent_file(tmp_path):
    with pytest.raises(FileError, match="cannot be read: no such file"):
        ScoreTable.load(tmp_path / "none.jkl")


finite = st.floats(allow_nan=False, allow_infinity=False)
word = st.text(
    st.characters(blacklist_categories=("Cs",), blacklist_characters="\x1c\x1d\x1e\x1f\x85"),
    min_size=1,
    max_size=12,
).filter(lambda text: len(text.split()) == 1 and text == text.strip())


@st.composite
def tables(draw):
    names = draw(st.lists(word, min_size=1, max_size=5, unique=True))
    sets = {}
    for child in names:
        others = [name for name in names if name != child]
        subsets = st.frozensets(st.sampled_from(others)) if others else st.just(frozenset())
        chosen = draw(st.lists(subsets, min_size=1, max_size=6, unique=True))
        sets[child] = [(draw(finite), parents) for parents in chosen]
    return ScoreTable.from_lists(names, sets)


@given(tables(), st.sampled_from([".jkl", ".scores", ".jkl.gz"]))
def test_what_is_written_is_read(tmp_path_factory, table, suffix):
    path = tmp_path_factory.mktemp("jkl") / ("t" + suffix)
    table.save(path)
    again = ScoreTable.load(path)
    assert again == table
    for i in range(table.n_variables):  # minus zero, too, to the last bit
        assert again.child(i).scores.tobytes() == table.child(i).scores.tobytes()


@given(st.lists(finite, min_size=1, max_size=20))
def test_scores_are_written_as_short_as_python_would(tmp_path_factory, scores):
    path = tmp_path_factory.mktemp("jkl") / "t.jkl"
    names = [f"v{i}" for i in range(len(scores))]
    ScoreTable.from_lists(names, {n: [(s, [])] for n, s in zip(names, scores, strict=True)}).save(
        path
    )
    written = [line.split()[0] for line in path.read_text().splitlines()[2::2]]
    for text, score in zip(written, scores, strict=True):
        assert float(text) == score
        assert len(text) <= len(repr(score))


@pytest.mark.parametrize("name", ["two words", "", "tab\tbed", "nbsp\u00a0here", "\ud800"])
def test_a_name_the_format_cannot_hold_is_refused(tmp_path, name):
    table = ScoreTable.from_lists([name], {name: [(0.0, [])]})
    with pytest.raises(FormatError, match="is one word, got"):
        table.save(tmp_path / "t.jkl")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "file",
    ["letter.BIC.k5", "zoo.BDeu.k6", "gob_asia_10000.k3", "slim_munin1-5000", "alarm1000.BDeu.k3"],
)
def test_published_instances(tmp_path, file):
    path = shared_file(f"scores/{file}.jkl.gz")
    index = tomllib.loads(shared_file("scores/index.toml").read_text())
    entry = next(e for e in index["instance"] if e["file"] == path.name)
    table = ScoreTable.load(path)
    assert table.n_variables == entry["vars"]
    assert table.n_sets == entry["listed_parent_sets"]
    table.save(tmp_path / "again.jkl.gz")
    assert ScoreTable.load(tmp_path / "again.jkl.gz") == table
