"""Our BIF files in other programs: same states in the same order, same numbers."""

import numpy as np
import pytest

from bestdag import Network, Variable
from bestdag.data.discretization.cuts import cut_variable
from bestdag.network.bif import plain_names
from bestdag.network.table import ConditionalTable
from tests.network.examples import asia

# Labels as they come: intervals, numbers, signs, keywords, blanks, other alphabets.
LABELS = (
    *("<=51.5", "51.5 to 60", ">60", "two words", "Asy/Patch", "5", "5.5", "1e5", "-3", "default"),
    *("a,b", "f(x)", "x;y", "{z}", "a|b", 'say "hi"', "back\\slash", "Größe", "日本", "😀", ""),
    *("yes", "a_b", "a b", "probability ( x )", "// no comment", "/* nor this */"),
)


def hostile_network():
    rng = np.random.default_rng(2)
    odd = Variable("odd labels", LABELS)
    cut = cut_variable("age", (29.5, 51.5))
    table = Variable("table", ("0", "1"))
    return Network(
        [
            ConditionalTable(odd, (), rng.dirichlet(np.ones(odd.arity))),
            ConditionalTable(cut, (odd,), rng.dirichlet(np.ones(3), odd.arity)),
            ConditionalTable(table, (odd, cut), rng.dirichlet(np.ones(2), (odd.arity, 3))),
        ],
        name="a network",
        properties=["free text; with (signs)", "author = somebody"],
        variable_properties={"age": ["probability ( x )"]},
    )


def sparse_network():
    rng = np.random.default_rng(3)
    parents = [Variable(n, tuple(map(str, range(120)))) for n in ("a", "b")]
    child = Variable("c", ("no", "yes"))
    codes = np.unique(rng.integers(120, size=(50, 2)), axis=0)
    rows = rng.dirichlet(np.ones(2), len(codes))
    tables = [ConditionalTable(p, (), rng.dirichlet(np.ones(120))) for p in parents]
    sparse = ConditionalTable.of_rows(child, parents, codes, rows, [0.25, 0.75])
    assert sparse.sparse is not None
    return Network([*tables, sparse])


def saved(network, tmp_path):
    path = tmp_path / "net.bif"
    network.save(path)
    assert Network.load(path) == network
    return str(path)


def written(network):
    """The names and states in the file, by the names in the network."""
    names = dict(zip(network.names, plain_names(network.names), strict=True))
    return {
        v.name: (names[v.name], plain_names(v.states, is_state=True)) for v in network.variables
    }


@pytest.mark.parametrize("make", [asia, hostile_network, sparse_network])
def test_pyagrum(tmp_path, make):
    gum = pytest.importorskip("pyagrum")
    network = make()
    read = gum.loadBN(saved(network, tmp_path))
    names = written(network)
    assert set(read.names()) == {name for name, _ in names.values()}
    for table in network.tables:
        name, states = names[table.child.name]
        assert list(read.variable(name).labels()) == states
        family = [names[v.name][0] for v in (*table.parents, table.child)]
        tensor = read.cpt(name).reorganize(family[::-1])
        assert tensor.toarray() == pytest.approx(table.values, abs=1e-6)  # it keeps 32 bits


@pytest.mark.parametrize("make", [asia, hostile_network])
def test_pgmpy(tmp_path, make):
    readwrite = pytest.importorskip("pgmpy.readwrite")
    network = make()
    model = readwrite.BIFReader(saved(network, tmp_path)).get_model()
    names = written(network)
    for table in network.tables:
        name, states = names[table.child.name]
        cpd = model.get_cpds(name)
        assert cpd.state_names[name] == states
        family = [names[v.name][0] for v in (*table.parents, table.child)]
        axes = [cpd.variables.index(each) for each in family]
        places = [
            [cpd.state_names[each].index(state) for state in names[v.name][1]]
            for each, v in zip(family, (*table.parents, table.child), strict=True)
        ]
        values = np.asarray(cpd.values).transpose(axes)[np.ix_(*places)]
        assert values == pytest.approx(table.values, rel=1e-12)
