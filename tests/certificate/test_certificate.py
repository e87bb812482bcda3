"""Certificates: what is proved is confirmed, whatever proved it; what was tampered with is not."""

import gzip
import json
import random
from dataclasses import replace
from functools import cache

import msgspec
import numpy as np
import pandas as pd
import pytest

import bestdag as bd
from bestdag.certificate import file as certificate_file
from bestdag.certificate import verification
from bestdag.certificate.numbers import fingerprint_of
from bestdag.errors import CertificateError, DataError, FormatError, InvalidParameterError
from bestdag.scores import SCORES
from bestdag.search.exact.bnc.certificate import Certificate as TreeCertificate
from bestdag.search.exact.bnc.certificate import Multipliers, Node
from bestdag.search.exact.bnc.relaxation import Cut, OrderCut
from bestdag.search.problem import Problem
from bestdag.search.rung import Rung
from tests.search.exact.brute_force import best_by_enumeration, random_table
from tests.search.near_optimal.every_dag import random_data, ranked
from tests.search.test_order import chain_data

changed = msgspec.structs.replace
ENGINES = ["auto", "dp", "bnc"]


@cache
def five(name):
    """Every structure over five variables."""
    return ranked(random_data(5, 8, n_rows=60), name)


def best_of(every, most=None):
    """The best score of all structures with at most so many parents."""
    return next(
        score
        for score, dag in every
        if most is None or all(len(dag.parents(v)) <= most for v in dag.nodes)
    )


def structure_of(certificate):
    names = certificate.names
    own = {names[v]: [names[p] for p in group] for v, group in enumerate(certificate.parents)}
    return bd.Dag.from_parents(own)


def hard_table():
    """One component that takes many cuts."""
    return random_table(random.Random(76), 8, keep=0.35, scale=1.0)


def hard_certificate():
    """With a tree of three nodes: what is proved at the root is proved in both halves."""
    certificate = bd.learn(hard_table(), search=bd.Exact(engine="bnc")).certificate()
    ((part,),) = (case.parts for case in certificate.cases)
    (root, *_) = part.tree.nodes
    leaf = Node(root.records)
    tree = changed(part.tree, nodes=(Node([], (0, 1), (1, 2)), leaf, leaf))
    certificate = single_part(certificate, tree=tree)
    assert bd.verify(certificate, hard_table()).unchecked == ()
    return certificate


def single_part(certificate, **changes):
    """Change the only part, as a forger would."""
    ((part,),) = (case.parts for case in certificate.cases)
    return changed(certificate, cases=(certificate_file.Case(parts=(changed(part, **changes),)),))


# What is proved ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "n"), [*((name, 4) for name in SCORES), ("bdeu", 5), ("qnml", 5)])
@pytest.mark.parametrize("engine", ENGINES)
def test_the_best_of_all_structures_is_certified(name, engine, n, tmp_path):
    data = random_data(n, 5, n_rows=50)
    result = bd.learn(data, name, search=bd.Exact(engine=engine), support=3)
    certificate = result.certificate()
    certificate.save(tmp_path / "c.json.gz")
    loaded = bd.OptimalityCertificate.load(tmp_path / "c.json.gz")
    assert loaded == certificate
    checked = bd.verify(tmp_path / "c.json.gz", data)
    assert (checked.certificate, checked.unchecked) == (certificate, ())
    assert certificate.score == pytest.approx(best_of(ranked(data, name, support=3)), rel=1e-12)
    assert certificate.resolution <= 1e-6
    scorer = bd.Scorer(data, name, support=3)
    assert scorer.total(structure_of(certificate)) == pytest.approx(certificate.score, rel=1e-12)


@pytest.mark.parametrize("name", ["bic", "bdeu", "qnml", "k2"])
@pytest.mark.parametrize("engine", ["dp", "bnc"])
def test_every_rung_is_certified(name, engine):
    data = random_data(5, 8, n_rows=60)
    every = five(name)
    result = bd.learn(data, name, search="tabu", support=0)
    rungs = [Rung(max_parents=1, score=0.0, bound=0.0, is_proved=True, engine="edmonds")]
    for k in (2, 3):
        solved = Problem(bd.Scorer(data, name), max_parents=k).solve(bd.Exact(engine=engine))
        assert solved.is_proved
        rungs.append(Rung(max_parents=k, is_proved=True, certificates=solved.certificates))
    result = replace(result, ladder=tuple(rungs))
    for k in (1, 2, 3):
        certificate = result.certificate(k)
        assert certificate.max_parents == k
        assert max(map(len, certificate.parents)) <= k
        assert certificate.score == pytest.approx(best_of(every, k), rel=1e-12)
        assert bd.verify(certificate, data).unchecked == ()
    assert result.certificate() == result.certificate(3)
    with pytest.raises(InvalidParameterError, match=r"at most 4 parents .* only for: 1, 2, 3"):
        result.certificate(4)


def test_auto_certifies_its_rungs(monkeypatch):
    from bestdag.search import auto as module

    monkeypatch.setattr(module, "forecast_whole", lambda problem: None)
    data = chain_data(24, 500, 4)
    result = bd.learn(data, "bdeu", time_limit=3.0)
    proved = [rung for rung in result.ladder if rung.is_proved]
    assert proved
    for rung in proved:
        certificate = result.certificate(24 if rung.max_parents is None else rung.max_parents)
        assert certificate.score == pytest.approx(rung.score, rel=1e-12)
        assert bd.verify(certificate, data).certificate is certificate


STATEMENTS = [
    ["v0 -> v2"],
    ["v0 !- v1", "v3 !- v1"],
    ["v0 ~> v3"],
    ["v0 -- v3"],
    ["v1 ~> v0", "v2 -- v3", "v1 !- v2"],
    ["v0 !~> v2", "max_parents v3: 1"],
]


@pytest.mark.parametrize("statements", STATEMENTS)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("most", [None, 1, 2])
def test_statements_are_part_of_what_is_certified(statements, engine, most, tmp_path):
    data, knowledge = random_data(4, 3, n_rows=50), bd.Knowledge.parse(statements)
    every = ranked(data, "bdeu", allows=knowledge.allows)
    search = bd.Exact(engine=engine)
    result = bd.learn(data, "bdeu", search=search, knowledge=knowledge, support=0, max_parents=most)
    certificate = result.certificate()
    certificate.save(tmp_path / "c.json")
    assert bd.verify(tmp_path / "c.json", data).unchecked == ()
    assert certificate.score == pytest.approx(best_of(every, most), rel=1e-12)
    assert knowledge.allows(structure_of(certificate))
    if most == 1:  # the same by the road of the lowest rung
        rung = Rung(max_parents=1, is_proved=True, engine="edmonds")
        low = replace(result, status="time limit", ladder=(rung,)).certificate()
        assert low.score == certificate.score
        assert bd.verify(low, data).unchecked == ()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(6))
def test_files_of_local_scores_are_certified(engine, seed, tmp_path):
    table = random_table(random.Random(seed), 4 + seed % 2, keep=0.5)
    certificate = bd.learn(table, search=bd.Exact(engine=engine)).certificate()
    assert certificate.score == pytest.approx(best_by_enumeration(table), abs=1e-12)
    assert certificate.is_among_listed
    assert certificate.rows is None
    assert bd.verify(certificate, table).unchecked == ()
    other = random_table(random.Random(seed + 100), 4 + seed % 2, keep=0.5)
    with pytest.raises(CertificateError, match="about other data"):
        bd.verify(certificate, other)
    with pytest.raises(DataError, match="not about a table"):
        bd.verify(certificate, {"v0": [1, 2]})


def test_limits_among_the_sets_of_a_file():
    table = random_table(random.Random(3), 5)
    result = bd.learn(table, max_parents=2, knowledge=["v0 !- v1"])
    certificate = result.certificate()
    assert bd.verify(certificate, table).unchecked == ()
    larger = changed(certificate, max_parents=None, knowledge={})
    with pytest.raises(CertificateError, match="more than any listed set within it"):
        bd.verify(larger, table)


def test_scores_of_ones_own():
    def score(child, parents):
        return -float(len(child) + (len(parents) - 1) ** 2)

    scores = bd.LocalScores.of(["a", "b", "c"], score)
    certificate = bd.learn(scores).certificate()
    assert certificate.score == -4.0  # one parent each, but for one variable
    assert bd.verify(certificate, scores).unchecked == ()
    wrong = bd.LocalScores.of(["a", "b", "c"], lambda child, parents: -float(len(parents)))
    with pytest.raises(CertificateError, match=r"is listed with .* the data give"):
        bd.verify(certificate, wrong)


def test_a_score_that_no_name_makes_needs_a_scorer():
    data = random_data(4, 1)
    prior = bd.ArcDifferencePrior(bd.Dag(data.names, [("v0", "v1")]), kappa=0.5)
    certificate = bd.learn(data, "bdeu", structure_prior=prior).certificate()
    (unchecked,) = bd.verify(certificate, data).unchecked
    assert "cannot be made from the file" in unchecked
    assert bd.verify(certificate, bd.Scorer(data, "bdeu", prior)).unchecked == ()
    with pytest.raises(CertificateError, match="is listed with"):
        bd.verify(certificate, bd.Scorer(data, "bdeu"))


@pytest.mark.filterwarnings("ignore:read. the DataFrame. dropped")
def test_missing_values_are_treated_again_as_when_learning():
    data = random_data(4, 2, n_rows=90)
    frame = data.to_pandas()
    frame.loc[::9, "v1"] = None
    for missing in ("drop", "state", "available"):
        certificate = bd.learn(frame, "bic", missing=missing).certificate()
        assert certificate.rows.missing == missing
        assert bd.verify(certificate, frame).unchecked == ()


def test_a_finished_run_is_solved_again(tmp_path):
    data = random_data(5, 2)
    first = bd.learn(data, "bic", checkpoint=tmp_path / "run")
    again = bd.learn(data, "bic", checkpoint=bd.Checkpoint(tmp_path / "run", resume=True))
    assert again.certificate() == first.certificate()


def test_more_variables_than_the_recursion_takes():
    data = chain_data(22, 300, 1)
    result = bd.learn(data, "bic", search=bd.Exact(engine="dp"), max_parents=2)
    certificate = result.certificate()
    largest = max(len(part.variables) for part in certificate.cases[0].parts)
    checked = bd.verify(certificate, data)
    assert largest <= 20 or "by branch and cut, whose proof was checked" in str(checked)
    assert certificate.score == pytest.approx(result.score, rel=1e-12)


def test_nothing_proved_nothing_certified():
    data = random_data(4, 1)
    with pytest.raises(InvalidParameterError, match="nothing is proved"):
        bd.learn(data, "bic", search="tabu").certificate()


def test_threads_and_the_order_of_columns_change_nothing(tmp_path):
    data = chain_data(9, 150, 2)
    made = [
        bd.learn(one, "bdeu", search=bd.Exact(engine="bnc"), workers=threads).certificate()
        for one in (data, data.select(data.names[::-1]))
        for threads in (1, 3)
    ]
    assert made.count(made[0]) == 4
    for number, one in enumerate(made):
        one.save(tmp_path / f"{number}.json")
    assert len({(tmp_path / f"{number}.json").read_bytes() for number in range(4)}) == 1


# What was tampered with --------------------------------------------------------------------------


def test_a_worse_structure_is_not_certified():
    """With any other choice from the lists, and its true score, the proof proves too little."""
    data = random_data(4, 6, n_rows=80)
    certificate = bd.learn(data, "bdeu", search=bd.Exact(engine="bnc"), support=0).certificate()
    number = {name: v for v, name in enumerate(certificate.names)}
    n_refused = 0
    for _, dag in ranked(data, "bdeu"):
        parents = [tuple(sorted(number[p] for p in dag.parents(v))) for v in certificate.names]
        own = [dict(zip(x.parents, x.scores, strict=True)) for x in certificate.lists]
        if not all(p in scores for p, scores in zip(parents, own, strict=True)):
            continue
        total = sum(scores[p] for p, scores in zip(parents, own, strict=True))
        if total >= certificate.score - 1e-9:
            continue
        worse = changed(certificate, parents=tuple(parents), score=total)
        with pytest.raises(CertificateError, match=r"is not ruled out|the structure scores"):
            bd.verify(worse)
        n_refused += 1
    assert n_refused > 5


def test_the_claim_is_what_the_structure_scores():
    certificate = hard_certificate()
    for score in (certificate.score + 1.0, certificate.score - 1.0, float("nan")):
        with pytest.raises(CertificateError, match=r"the structure scores|finite"):
            bd.verify(changed(certificate, score=score))
    with pytest.raises(CertificateError, match="at least 0"):
        bd.verify(changed(certificate, resolution=-1.0))


def test_one_multiplier_is_changed():
    certificate = hard_certificate()
    ((part,),) = (case.parts for case in certificate.cases)
    refused = 0
    for number, node in enumerate(part.tree.nodes):
        for place, record in enumerate(node.records):
            values = (-record.values[0], *record.values[1:])
            records = [*node.records]
            records[place] = Multipliers(record.cuts, values)
            nodes = [*part.tree.nodes]
            nodes[number] = Node(records, node.arc, node.children)
            with pytest.raises(CertificateError, match="multipliers must be"):
                bd.verify(single_part(certificate, tree=changed(part.tree, nodes=tuple(nodes))))
            records[place] = Multipliers(record.cuts, (10 * record.values[0], *record.values[1:]))
            try:
                bd.verify(single_part(certificate, tree=changed(part.tree, nodes=tuple(nodes))))
            except CertificateError:
                refused += 1
    assert refused > 0


def test_a_leaf_is_removed():
    certificate = hard_certificate()
    ((part,),) = (case.parts for case in certificate.cases)
    for nodes in (part.tree.nodes[:-1], part.tree.nodes[:1], ()):
        with pytest.raises(CertificateError, match="is missing or met twice"):
            bd.verify(single_part(certificate, tree=changed(part.tree, nodes=nodes)))
    root = part.tree.nodes[0]
    for arc in ((0, 99), (-1, 2)):
        nodes = (Node(root.records, arc, root.children), *part.tree.nodes[1:])
        with pytest.raises(CertificateError, match="variables that are not there"):
            bd.verify(single_part(certificate, tree=changed(part.tree, nodes=nodes)))
    with pytest.raises(CertificateError, match="out of range"):
        bd.verify(single_part(certificate, tree=changed(part.tree, exponent=10**9)))


def test_a_part_leaves_out_a_set():
    certificate = hard_certificate()
    ((part,),) = (case.parts for case in certificate.cases)
    # The best set of the first variable, whatever the tree would make of the rest.
    sets = (part.sets[0][1:], *part.sets[1:])
    with pytest.raises(CertificateError, match="a part leaves out set 0 of variable 0"):
        bd.verify(single_part(certificate, sets=sets, tree=None))
    with pytest.raises(CertificateError, match="that is not there"):
        bd.verify(single_part(certificate, sets=((99,), *part.sets[1:]), tree=None))
    with pytest.raises(CertificateError, match="in exactly one part"):
        bd.verify(single_part(certificate, variables=part.variables[:-1], sets=part.sets[:-1]))


def without_set(certificate, v, k):
    """Leave a set out of list and part: what is left is a true statement about fewer sets."""
    own = certificate.lists[v]
    fewer = certificate_file.Lists(
        scores=own.scores[:k] + own.scores[k + 1 :],
        parents=own.parents[:k] + own.parents[k + 1 :],
    )
    parts = tuple(
        changed(
            part,
            tree=None,
            sets=tuple(
                tuple(p - (p > k) for p in places if p != k) if u == v else places
                for u, places in zip(part.variables, part.sets, strict=True)
            ),
        )
        for part in certificate.cases[0].parts
    )
    lists = (*certificate.lists[:v], fewer, *certificate.lists[v + 1 :])
    return changed(certificate, lists=lists, cases=(certificate_file.Case(parts=parts),))


def test_a_set_left_out_of_the_lists_is_missed_by_the_data():
    data = random_data(5, 6, n_rows=80)
    certificate = bd.learn(data, "bdeu", support=0).certificate()
    n_refused = 0
    for v, own in enumerate(certificate.lists):
        for k, parents in enumerate(own.parents):
            if parents == certificate.parents[v]:
                continue
            forged = without_set(certificate, v, k)
            if parents:  # what is left without the empty set may have cycles alone
                assert bd.verify(forged).unchecked
            with pytest.raises(CertificateError, match=r"scores .* more than any listed|no case"):
                bd.verify(forged, data)
            n_refused += 1
    assert n_refused > 5


def with_score(certificate, v, k, score):
    own = certificate.lists[v]
    scores = (*own.scores[:k], score, *own.scores[k + 1 :])
    one = changed(own, scores=scores)
    return changed(certificate, lists=(*certificate.lists[:v], one, *certificate.lists[v + 1 :]))


@pytest.mark.parametrize("engine", ["dp", "bnc"])
def test_a_listed_score_is_raised(engine):
    data = random_data(5, 6, n_rows=80)
    certificate = bd.learn(data, "bdeu", search=bd.Exact(engine=engine), support=0).certificate()
    for v, own in enumerate(certificate.lists):
        for k, parents in enumerate(own.parents):
            if parents == certificate.parents[v]:
                with pytest.raises(CertificateError, match="the structure scores"):
                    bd.verify(with_score(certificate, v, k, own.scores[k] + 1e-6))
                continue
            # By very much: the proof fails, unless arcs the other way rule the set out for good.
            forged = with_score(certificate, v, k, 0.0)
            with pytest.raises(CertificateError):
                bd.verify(forged)
            # By next to nothing: the proof may hold, and the data tell.
            with pytest.raises(CertificateError):
                bd.verify(with_score(certificate, v, k, own.scores[k] + 1e-7), data)


def test_cases_of_statements_are_all_needed():
    data = random_data(4, 3, n_rows=50)
    said = ["v1 ~> v0", "v2 -- v3", "v1 !- v2"]
    certificate = bd.learn(data, "bdeu", knowledge=said, support=0).certificate()
    assert len(certificate.cases) > 1
    with pytest.raises(CertificateError, match="is missing or met twice"):
        bd.verify(changed(certificate, cases=certificate.cases[:-1]))
    with pytest.raises(CertificateError, match="split without reason"):
        bd.verify(changed(certificate, knowledge={}))
    for number, case in enumerate(certificate.cases):
        if case.parts:
            cases = [*certificate.cases]
            cases[number] = certificate_file.Case()
            with pytest.raises(CertificateError, match="in exactly one part"):
                bd.verify(changed(certificate, cases=tuple(cases)))
    other = changed(certificate, knowledge={"ancestors": [["v3", "v0"]]})
    with pytest.raises(CertificateError, match="violates a constraint"):
        bd.verify(other)
    for broken in ({"ancestors": 7}, {"nobody": []}, {"required_arcs": [["v0", "x"]]}):
        with pytest.raises(CertificateError, match="the statements cannot be read"):
            bd.verify(changed(certificate, knowledge=broken))


def test_a_smaller_class_is_not_passed_off_as_a_larger_one():
    """The best with at most one parent is none of all structures: the data tell."""
    data = random_data(4, 6, n_rows=200)
    certificate = bd.learn(data, "ll", support=0, max_parents=1).certificate()
    assert best_of(ranked(data, "ll")) > certificate.score + 0.1
    with pytest.raises(CertificateError, match="more than any listed set within it"):
        bd.verify(changed(certificate, max_parents=None), data)
    with pytest.raises(CertificateError, match="more than 0 parents"):
        bd.verify(changed(certificate, max_parents=0))


def test_other_data_are_refused():
    data = random_data(4, 1)
    certificate = bd.learn(data, "bic").certificate()
    frame = data.to_pandas()
    assert bd.verify(certificate, frame.sample(frac=1, random_state=1)).unchecked == ()
    turned = frame[list(frame)[::-1]]
    assert bd.verify(certificate, turned).unchecked == ()
    edited = frame.copy()
    edited.loc[3, "v2"] = "1" if frame.loc[3, "v2"] == "0" else "0"
    for other, reason in (
        (edited, "their fingerprint is"),
        (frame.iloc[:-1], "59 rows, and it is about 60 rows"),
        (frame.rename(columns={"v0": "w"}), "variables differ: 'v0', 'w'"),
    ):
        with pytest.raises(CertificateError, match=reason):
            bd.verify(certificate, other)


def test_what_is_too_much_is_said(monkeypatch):
    data = random_data(5, 4)
    certificate = bd.learn(data, "bic").certificate()
    monkeypatch.setattr(verification, "MOST_FAMILIES", 79)
    monkeypatch.setattr(verification, "_MOST_LISTED", 10)
    monkeypatch.setattr(verification, "_SAMPLE", 7)
    checked = bd.verify(certificate, data)
    assert "listed again from these data: none better is left out" in checked.checked[-1]
    assert any("7 of " in one and "(seed 0)" in one for one in checked.checked)
    v, k = next(
        (v, k)
        for v, own in enumerate(certificate.lists)
        for k, parents in enumerate(own.parents)
        if parents and parents != certificate.parents[v]
    )
    with pytest.raises(CertificateError, match="more than any listed set within it"):
        bd.verify(without_set(certificate, v, k), data)
    monkeypatch.setattr(verification, "_SECONDS_TO_LIST", -1.0)
    checked = bd.verify(certificate, data)
    assert checked.unchecked == ("that no other of the 80 families is better",)


# Files -------------------------------------------------------------------------------------------


def test_every_flipped_byte_is_seen(tmp_path):
    certificate = bd.learn(random_data(4, 1), "bic").certificate()
    path = tmp_path / "c.json"
    certificate.save(path)
    content = path.read_bytes()
    assert bd.OptimalityCertificate.load(path) == certificate
    for place in range(0, len(content) - 1, 3):  # the last one ends the line
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(FormatError, match=r"damaged|is not a bestdag certificate|in format"):
            bd.verify(path)


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_files_that_are_cut_short_or_something_else(suffix, tmp_path):
    certificate = bd.learn(random_data(4, 1), "bic").certificate()
    path = tmp_path / f"c{suffix}"
    certificate.save(path)
    content = path.read_bytes()
    pack = gzip.compress if suffix.endswith(".gz") else bytes
    others = [
        content[:100],
        content[: len(content) // 2],
        pack(b""),
        pack(b"{}"),
        pack(b"[1, 2"),
        pack(b"\xff\xfe"),
        pack(b"[" * 100_000),
        pack(b'{"format": "network", "format_version": 1}'),
        pack(json.dumps({"format": "bestdag certificate", "format_version": 1}).encode()),
        pack(json.dumps({"format": "bestdag certificate", "format_version": 2}).encode()),
    ]
    for other in others:
        path.write_bytes(other)
        with pytest.raises(FormatError):
            bd.verify(path)
    with pytest.raises(bd.FileError):
        bd.verify(tmp_path / "none.json")
    with pytest.raises(InvalidParameterError, match=r"must end in \.json"):
        certificate.save(tmp_path / "c.txt")


def test_values_of_another_type_are_refused_whatever_the_checksum(tmp_path):
    certificate = bd.learn(random_data(4, 1), "bic").certificate()
    path = tmp_path / "c.json"
    certificate.save(path)
    content = json.loads(path.read_bytes())["content"]
    for key, value in (
        ("score", "high"),
        ("lists", []),
        ("lists", [{"scores": [None], "parents": [[0]]}]),
        ("cases", [{"parts": [{"variables": ["v0"], "sets": []}]}]),
        ("names", None),
        ("more", 1),
    ):
        inner = msgspec.json.encode({**content, key: value})
        whole = {
            "format": "bestdag certificate",
            "format_version": 1,
            "checksum": certificate_file._checksum(inner),
            "content": msgspec.Raw(inner),
        }
        path.write_bytes(msgspec.json.encode(whole))
        with pytest.raises((FormatError, CertificateError)):
            bd.verify(path)


def test_numbers_come_back_as_they_were(tmp_path):
    """Scores with all their digits, and multipliers beyond 2^53."""
    certificate = hard_certificate()
    path = tmp_path / "c.json"
    certificate.save(path)
    ((part,),) = (case.parts for case in bd.OptimalityCertificate.load(path).cases)
    values = [v for node in part.tree.nodes for r in node.records for v in r.values]
    ((made,),) = (case.parts for case in certificate.cases)
    assert values == [v for node in made.tree.nodes for r in node.records for v in r.values]
    big = Multipliers((0,), (2**61 + 1,))
    tree = changed(part.tree, nodes=(Node([big]),))
    changed_part = single_part(certificate, tree=tree)
    changed_part.save(path)
    assert bd.OptimalityCertificate.load(path) == changed_part


def test_cuts_of_both_kinds_come_back_as_they_were():
    tree = TreeCertificate(
        parents=(1, 0),
        score=-1.0,
        resolution=0.0,
        bound=-1.0,
        exponent=-3,
        cuts=(Cut((((0, 1), 1), ((1, 2), 1)), (1,), True), OrderCut((0, 1), ((0, 1), (0, 2)), 2)),
        nodes=(Node([Multipliers((0, 1), (1, 5))]),),
    )
    line = msgspec.json.encode(certificate_file.Tree.of(tree))
    assert msgspec.json.decode(line, type=certificate_file.Tree).certificate() == tree


# Fingerprints ------------------------------------------------------------------------------------


def test_a_fingerprint_is_of_the_rows_whatever_their_order_and_weights():
    frame = pd.DataFrame({"a": ["x", "y", "x", "x"], "b": ["1", "2", "1", None]})
    data = bd.read(frame, missing="keep")
    same = [
        bd.read(frame.iloc[::-1], missing="keep"),
        bd.read(frame[["b", "a"]], missing="keep"),
        bd.read(frame.iloc[[0, 1, 3]].assign(n=[2, 1, 1]), missing="keep", weights="n"),
    ]
    assert {fingerprint_of(one) for one in same} == {fingerprint_of(data)}
    swapped = frame.copy()
    swapped["b"] = ["2", "1", "1", None]
    others = [swapped, frame.iloc[:3], frame.rename(columns={"a": "c"}), frame.fillna("2")]
    marks = {fingerprint_of(bd.read(one, missing="keep")) for one in others}
    assert len(marks) == len(others)
    assert fingerprint_of(data) not in marks
    halves = bd.Dataset(data.variables, [data.codes(n) for n in data.names], np.full(4, 0.5))
    assert fingerprint_of(halves) != fingerprint_of(data)
