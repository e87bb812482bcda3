"""Our files in other programs and theirs in ours: same states in the same order, same numbers."""

import importlib
import shutil
import subprocess

import numpy as np
import pytest

from bestdag import Network
from bestdag.errors import DataWarning, FormatError
from bestdag.examples import example
from bestdag.network.formats import FORMATS
from tests.network.examples import asia
from tests.rivals.test_bif_readers import hostile_network
from tests.signals import GUARD

SUFFIX_OF = {".bifxml": ".xmlbif", ".xml": ".xmlbif"}
ours = pytest.mark.parametrize("make", [asia, hostile_network])


def saved(network, tmp_path, suffix):
    """Write a network; return the path, and the names and states in the file."""
    path = tmp_path / f"net{suffix}"
    network.save(path)
    assert Network.load(path) == network
    form = importlib.import_module(FORMATS[SUFFIX_OF.get(suffix, suffix)])
    return str(path), form.written(network)


def assert_same_numbers(read, network, **tolerance):
    """Compare tables by name, whatever the order of variables and parents."""
    assert set(read.names) == set(network.names)
    for table in network.tables:
        other = read.table(table.child.name)
        assert other.child.states == table.child.states
        parents = [read.table(parent.name).child for parent in table.parents]
        values = other.reordered(other.child, parents).values
        assert values == pytest.approx(table.values, **tolerance)


# pyAgrum: it keeps 32 bits. In XDSL and UAI files the first parent runs fastest for it.


@pytest.mark.parametrize("suffix", [".bifxml", ".net"])
@ours
def test_pyagrum_reads_ours(tmp_path, make, suffix):
    gum = pytest.importorskip("pyagrum")
    network = make()
    path, written = saved(network, tmp_path, suffix)
    read = gum.loadBN(path)
    for table in network.tables:
        name = written.names[table.child.name]
        assert list(read.variable(name).labels()) == written.states[table.child.name]
        family = [written.names[v.name] for v in (*table.parents, table.child)]
        tensor = read.cpt(name).reorganize(family[::-1])
        assert tensor.toarray() == pytest.approx(table.values, abs=1e-6)


@pytest.mark.parametrize("suffix", [".bif", ".bifxml", ".net"])
def test_we_read_those_of_pyagrum(tmp_path, suffix):
    gum = pytest.importorskip("pyagrum")
    path = str(tmp_path / f"net{suffix}")
    gum.saveBN(gum.loadBN(str(example("asia.bif"))), path)
    assert_same_numbers(Network.load(path), asia(), abs=1e-6)


def test_we_read_the_xdsl_of_pyagrum_as_it_means_it(tmp_path):
    gum = pytest.importorskip("pyagrum")
    path = str(tmp_path / "net.xdsl")
    gum.saveBN(gum.loadBN(str(example("asia.bif"))), path)
    with pytest.warns(DataWarning, match="by pyAgrum"):
        assert_same_numbers(Network.load(path), asia(), abs=1e-6)


def test_we_read_the_uai_of_pyagrum_as_it_means_it(tmp_path):
    gum = pytest.importorskip("pyagrum")
    path = str(tmp_path / "net.uai")
    gum.saveBN(gum.loadBN(str(example("asia.bif"))), path)
    with pytest.warns(DataWarning, match="by pyAgrum"):
        read = Network.load(path)
    for table in asia().tables:
        other = read.table(table.child.name)
        parents = [read.table(p.name).child for p in table.parents]
        values = other.reordered(other.child, parents).values
        assert values == pytest.approx(table.values, abs=1e-6)


# pgmpy: its UAI has the states of the child slowest, which no other program has.

PGMPY = {".xml": "XMLBIF", ".net": "NET", ".xdsl": "XDSL"}


@pytest.mark.parametrize("suffix", PGMPY)
@ours
def test_pgmpy_reads_ours(tmp_path, make, suffix):
    readwrite = pytest.importorskip("pgmpy.readwrite")
    network = make()
    path, written = saved(network, tmp_path, suffix)
    model = getattr(readwrite, f"{PGMPY[suffix]}Reader")(path).get_model()
    for table in network.tables:
        name = written.names[table.child.name]
        cpd = model.get_cpds(name)
        assert cpd.state_names[name] == written.states[table.child.name]
        family = [written.names[v.name] for v in (*table.parents, table.child)]
        axes = [cpd.variables.index(each) for each in family]
        assert np.asarray(cpd.values).transpose(axes) == pytest.approx(table.values, rel=1e-12)


@pytest.mark.parametrize("suffix", PGMPY)
def test_we_read_those_of_pgmpy(tmp_path, suffix):
    readwrite = pytest.importorskip("pgmpy.readwrite")
    model = readwrite.BIFReader(str(example("asia.bif"))).get_model()
    path = tmp_path / f"net{suffix}"
    getattr(readwrite, f"{PGMPY[suffix]}Writer")(model).write(str(path))
    assert_same_numbers(Network.load(path), asia(), abs=1e-8)


def test_the_uai_of_pgmpy_is_refused(tmp_path):
    readwrite = pytest.importorskip("pgmpy.readwrite")
    model = readwrite.BIFReader(str(example("asia.bif"))).get_model()
    path = tmp_path / "net.uai"
    path.write_text(str(readwrite.UAIWriter(model)))
    with pytest.raises(FormatError, match="must sum to 1"):
        Network.load(path)


# bnlearn


def in_r(code):
    """Run R code with bnlearn, if it is there, and return what it prints."""
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("R is not installed")
    code = f'if (!requireNamespace("bnlearn", quietly = TRUE)) quit(status = 99); {code}'
    done = subprocess.run([program, "-e", code], capture_output=True, text=True, timeout=GUARD)
    if done.returncode == 99:
        pytest.skip("bnlearn is not installed")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("suffix", [".bif", ".dsc", ".net"])
@ours
def test_bnlearn_reads_ours(tmp_path, make, suffix):
    network = make()
    path, written = saved(network, tmp_path, suffix)
    out = in_r(
        f"fit <- bnlearn::read{suffix}({path!r}); "
        "for (n in names(fit)) { p <- fit[[n]]$prob; cat('node', n, fit[[n]]$parents, '\\n'); "
        "levels <- if (length(dim(p)) > 1) dimnames(p)[[1]] else names(p); "
        "cat('states', levels, '\\n'); cat('values', format(as.vector(p), digits = 15), '\\n') }"
    )
    lines = iter(out.splitlines())
    for table in network.tables:
        _, name, *parents = next(lines).split()
        assert name == written.names[table.child.name]
        assert sorted(parents) == sorted(written.names[p.name] for p in table.parents)
        assert next(lines).split()[1:] == written.states[table.child.name]
        values = np.array(next(lines).split()[1:], dtype=float)
        by_name = {written.names[p.name]: p for p in table.parents}
        listed = [by_name[parent] for parent in parents]  # in R the first index runs fastest
        turned = values.reshape([*[p.arity for p in listed][::-1], table.child.arity])
        axes = [listed[::-1].index(p) for p in table.parents]
        values = turned.transpose([*axes, len(axes)])
        assert values == pytest.approx(table.values, abs=1e-6)


@pytest.mark.parametrize("suffix", [".bif", ".dsc", ".net"])
def test_we_read_those_of_bnlearn(tmp_path, suffix):
    path = str(tmp_path / f"net{suffix}")
    source = str(example("asia.bif"))
    in_r(f"bnlearn::write{suffix}({path!r}, bnlearn::read.bif({source!r}))")
    assert_same_numbers(Network.load(path), asia(), abs=1e-9)
