"""`bestdag learn --certificate` and `bestdag verify`: a proof in a file, and its check."""

import json
import shlex

import msgspec
import pytest

import bestdag as bd
from bestdag.examples import example
from bestdag.scores.parent_sets.build import build_score_table

DATA = str(example("asia.csv"))


@pytest.fixture
def proof(cli, tmp_path):
    path = tmp_path / "proof.json"
    shown = cli("learn", DATA, "--score", "bdeu", "--certificate", path)
    assert shown.code == 0
    assert f"{path}: certifies that the best log score of all networks" in shown.out
    assert f"bestdag verify {path} {DATA}" in shown.out
    return path


def tampered(path, **changes):
    certificate = bd.OptimalityCertificate.load(path)
    msgspec.structs.replace(certificate, **changes).save(path)


def test_a_proof_is_written_and_verified(cli, proof):
    shown = cli("verify", proof, DATA)
    assert (shown.code, shown.err) == (0, "")
    first, second = shown.out.splitlines()
    assert first.startswith("verified: the best log score of all networks with at least 5 rows")
    assert second.startswith("checked: 102 listed parent sets, the structure and its score; ")
    assert "2,000 rows, fingerprint" in second
    alone = cli("verify", proof)
    assert alone.code == 0
    last = alone.out.splitlines()[-1]
    assert (
        last == "not checked: that lists and scores are those of the data (give them to check that)"
    )


def test_json(cli, proof):
    shown = json.loads(cli("verify", proof, DATA, "--json").out)
    certificate = bd.learn(DATA, "bdeu").certificate()
    assert shown == {
        "verified": True,
        "certificate": str(proof),
        "claim": certificate.claim(),
        "score": certificate.score,
        "resolution": certificate.resolution,
        "max_parents": None,
        "checked": list(bd.verify(certificate, DATA).checked),
        "not_checked": [],
    }


def test_what_is_not_so_is_not_verified(cli, proof):
    score = bd.OptimalityCertificate.load(proof).score
    tampered(proof, score=score + 1.0)
    shown = cli("verify", proof)
    assert (shown.code, shown.err) == (1, "")
    assert shown.out.startswith("NOT verified: the structure scores")
    told = json.loads(cli("verify", proof, "--json").out)
    assert (told["verified"], told["certificate"]) == (False, str(proof))
    assert told["reason"].startswith("the structure scores")


def test_other_rows_and_other_readings_of_them(cli, proof, tmp_path):
    rows = tmp_path / "other.csv"
    lines = example("asia.csv").read_text().splitlines(keepends=True)
    rows.write_text("".join([lines[0], *lines[:0:-1]]))  # in another order
    assert cli("verify", proof, rows).code == 0
    rows.write_text("".join(lines[:-1]))
    shown = cli("verify", proof, rows)
    assert shown.code == 1
    assert "1,999 rows, and it is about 2,000 rows" in shown.out
    shown = cli("verify", proof, DATA, "--drop", "asia")
    assert shown.code == 1
    assert "variables differ: 'asia'" in shown.out


def test_numbers_are_cut_as_they_were(cli, tmp_path):
    table, proof = tmp_path / "t.csv", tmp_path / "proof.json.gz"
    rows = [f"{k / 8},{'ab'[k % 2]},{'uv'[k // 40 % 2]}" for k in range(120)]
    table.write_text("\n".join(["x,y,z", *rows, ""]))
    cut = ["--discretize", "--target", "z"]
    shown = cli("learn", table, *cut, "--certificate", proof, "--seed", "3", "--threads", "1")
    (line,) = [line for line in shown.out.splitlines() if "check it by: " in line]
    program, *words = shlex.split(line.partition("check it by: ")[2])
    assert [program, *words] == ["bestdag", "verify", str(proof), str(table), *cut]
    assert cli(*words).code == 0
    shown = cli("verify", proof, table, "--bins", "4")
    assert shown.code == 1
    assert "about other data, or they were read in another way" in shown.out
    assert cli("verify", proof, *cut).code == 2


@pytest.mark.filterwarnings("ignore::bestdag.DataWarning")
def test_missing_values_are_treated_as_they_were(cli, tmp_path):
    table, proof = tmp_path / "t.csv", tmp_path / "proof.json"
    rows = [f"{'ab'[k % 2] if k % 9 else ''},{'uv'[k // 2 % 2]}" for k in range(60)]
    table.write_text("\n".join(["x,y", *rows, ""]))
    assert cli("learn", table, "--missing", "drop", "--certificate", proof).code == 0
    assert cli("verify", proof, table).code == 0
    assert cli("verify", proof, table, "--missing", "drop").code == 0
    shown = cli("verify", proof, table, "--missing", "state")
    assert shown.code == 2
    assert "the certificate is about a table with --missing drop" in shown.err


def test_local_scores(cli, tmp_path):
    table, proof = tmp_path / "t.jkl.gz", tmp_path / "proof.json"
    build_score_table(bd.Scorer(bd.read(DATA), "bic"), max_parents=2).save(table)
    search = ["--search", "exact", "--engine", "bnc"]
    shown = cli("learn", "--from-scores", table, *search, "--certificate", proof)
    assert shown.code == 0
    assert "of all networks of the listed parent sets" in shown.out
    assert cli("verify", proof, table).code == 0
    shown = cli("verify", proof, DATA)
    assert shown.code == 2
    assert "not about a table but about a file of local scores" in shown.err


def test_the_rung_that_is_asked_for(cli, tmp_path):
    proof = tmp_path / "proof.json"
    few = ["--max-parents", "2", "--certificate", proof, "--certificate-of"]
    assert cli("learn", DATA, *few, "3").code == 0  # the limit is the top
    assert bd.OptimalityCertificate.load(proof).max_parents == 2
    proof.unlink()
    shown = cli("learn", DATA, *few, "1")
    assert shown.code == 1
    assert "optimum" in shown.out or "best of all networks" in shown.out
    assert "only for: all; learn with --max-parents 1" in shown.err
    assert not proof.exists()


def test_nothing_proved(cli, tmp_path):
    proof = tmp_path / "proof.json"
    shown = cli("learn", DATA, "--search", "tabu", "--certificate", proof)
    assert shown.code == 1
    assert "log score" in shown.out
    assert shown.err.startswith("bestdag: certificate: nothing is proved")
    assert "--max-parents" in shown.err
    assert not proof.exists()


def test_files_are_replaced_when_told(cli, proof, tmp_path):
    before = proof.read_bytes()
    shown = cli("learn", DATA, "--certificate", proof)
    assert shown.code == 2
    assert "exists already; pass --force" in shown.err
    assert proof.read_bytes() == before
    assert cli("learn", DATA, "--certificate", proof, "--force").code == 0
    assert proof.read_bytes() != before  # another score
    link = tmp_path / "link.json"
    link.symlink_to(proof)
    assert "is a symbolic link" in cli("learn", DATA, "--certificate", link).err
    assert cli("learn", DATA, "--certificate", link, "--force").code == 0
    assert link.is_symlink()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--certificate", "c.bif"], "must end in .json or .json.gz"),
        (["--certificate", "-"], "--certificate needs a file"),
        (["--certificate", "nowhere/c.json"], "does not exist"),
        (["--certificate-of", "2"], "--certificate-of is for the file written by --certificate"),
        (["--certificate", "c.json", "-o", "c.json"], "are the same file"),
    ],
)
def test_what_cannot_be_written_is_refused_before_any_work(cli, arguments, message):
    shown = cli("learn", DATA, *arguments)
    assert (shown.code, shown.out) == (2, "")
    assert message in shown.err


def test_files_that_are_no_certificates(cli, proof, tmp_path):
    for path, message in (
        (DATA, "is not a bestdag certificate"),
        (tmp_path / "none.json", "no such file"),
    ):
        shown = cli("verify", path)
        assert (shown.code, shown.out) == (2, "")
        assert message in shown.err
    proof.write_bytes(proof.read_bytes().replace(b"asia", b"asib", 1))
    shown = cli("verify", proof)
    assert shown.code == 2
    assert "is damaged, or was changed by hand" in shown.err
