"""UAI: the order of the competitions, pyAgrum's, and what is refused."""

import pytest

from bestdag.errors import DataWarning, FormatError, NotEnoughMemoryError
from bestdag.machine import memory_limit
from bestdag.network import uai
from tests.network.examples import small_network

FILE = """BAYES
3
2 3 2
3
1 0
1 1
3 0 1 2

2
 0.8 0.2
3
 0.5 0.25 0.25

12
 0.9 0.1  0.8 0.2  0.7 0.3
 0 1  0.25 0.75  1e-1 9e-1
"""


def parse(text):
    return uai.parse(text.encode(), "x.uai")


def test_the_last_parent_runs_fastest():
    network = parse(FILE)
    assert network.names == ("0", "1", "2")
    assert network.variables[1].states == ("0", "1", "2")
    table = network.table("2")
    assert table.row(**{"0": "0", "1": "2"}).tolist() == [0.7, 0.3]
    assert table.row(**{"0": "1", "1": "0"}).tolist() == [0.0, 1.0]
    assert parse(FILE.replace("\n", " ")) == network
    assert parse(uai.render(network).decode()) == network


def test_files_of_pyagrum_have_the_first_parent_fastest():
    text = FILE.replace("\n1 0\n1 1\n3 0 1 2\n", "\n1 0   # rain\n1 1   # wind\n3 0 1 2   # wet\n")
    with pytest.warns(DataWarning, match="looks like one by pyAgrum"):
        network = parse(text)
    assert network.names == ("rain", "wind", "wet")
    assert network.table("wet").row(rain="1", wind="0").tolist() == [0.8, 0.2]
    assert network.table("wet").row(rain="0", wind="1").tolist() == [0.7, 0.3]


def test_numbers_come_first_and_names_behind():
    assert uai.render(small_network()).decode() == (
        "BAYES\t\n2\n2 3\n2\n1 0\n2 0 1\n\n2\n 0.8 0.2\n\n6\n 1.0 0.0 0.0\n 0.0 0.25 0.75\n\n"
        '# bestdag-name = "small one"\n# bestdag-property = "author = me"\n'
        '# bestdag-variable 0\n# bestdag-name = "rain"\n# bestdag-states = "no", "yes"\n'
        '# bestdag-property = "position = \\u00287, 9\\u0029"\n'
        '# bestdag-variable 1\n# bestdag-name = "wet grass"\n'
        '# bestdag-states = "dry", "damp", "soaking wet"\n# bestdag-end\n'
    )


def test_numbers_alone_are_what_is_left_without_the_mark():
    text = uai.render(small_network()).decode().replace("BAYES\t", "BAYES")
    network = parse(text.partition("#")[0])
    assert network.names == ("0", "1")
    assert network.table("1").values.tolist() == small_network().tables[1].values.tolist()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("BAYES", "MARKOV", "1:1: expected 'BAYES', got 'MARKOV'; the functions of a Markov"),
        ("BAYES\n3", "BAYES\n0", "2:1: at least one variable is needed"),
        (
            "BAYES\n3",
            "BAYES\n999999999999",
            "10:2: expected a number of states of at most 65,535, got",
        ),
        ("2 3 2", "2 3 65536", "3:5: expected a number of states of at most 65,535, got '65536'"),
        ("2 3 2", "2 -3 2", "3:3: expected a number of states of at most 65,535, got '-3'"),
        ("2 3 2", "2 0 2", "3:3: a variable has at least one state, got 0"),
        ("2\n3\n1 0", "2\n2\n1 0", "4:1: 3 tables are needed, one per variable, got 2"),
        ("1 0\n", "0\n", "5:1: a table has 1 to 3 variables, got 0"),
        ("1 0\n", "1 3\n", "5:3: expected the number of a variable of at most 2, got '3'"),
        ("3 0 1 2", "3 0 2 1", "7:7: variable '1' has two tables"),
        ("3 0 1 2", "3 0 0 2", "14:1: the table of variable 2 has 8 numbers, got 12"),
        ("\n12\n", "\n11\n", "14:1: the table of variable 2 has 12 numbers, got 11"),
        ("1e-1 9e-1", "1e-1", "17:1: expected 1 more number, got the end of the file"),
        ("1e-1 9e-1", "1e-1 x", "16:23: expected a number, got 'x'"),
        ("1e-1 9e-1", "1e-1 9e-1 1", "16:28: expected the end of the file"),
        ("0.8 0.2\n3", "0.8 0.3\n3", "5:3: values of '0' must sum to 1, got 1.1"),
    ],
)
def test_mistakes(old, new, message):
    assert old in FILE
    with pytest.raises(FormatError, match=r"^x\.uai:" + message):
        parse(FILE.replace(old, new, 1))


def test_a_wrong_number_behind_the_tables():
    text = uai.render(small_network()).decode().replace("bestdag-variable 1", "bestdag-variable 7")
    with pytest.raises(FormatError, match=r"21:1: expected the number of a variable, got '7'"):
        parse(text)


def test_a_file_of_more_variables_than_memory_holds_is_refused_before_they_are_made():
    n = 20_000
    head = f"BAYES {n} {'1 ' * n} {n} {' '.join(f'1 {i}' for i in range(n))} {'1 1 ' * n}"
    with memory_limit("5 MB"), pytest.raises(NotEnoughMemoryError, match="20,000 variables"):
        uai.parse(head.encode())
