"""`learn` and its result: parameters, statements, and what it says of itself."""

import pathlib
import pickle
from dataclasses import replace

import pytest

from bestdag import (
    BIC,
    FSNML,
    K2,
    MLE,
    QNML,
    BDe,
    BDeu,
    Dag,
    Dirichlet,
    Exact,
    Knowledge,
    MaxBDeu,
    Network,
    Scorer,
    ScoreTable,
    UniformPrior,
    fit_network,
    learn,
    load,
    read,
)
from bestdag.counts.engine import CountingEngine
from bestdag.errors import DataError, InvalidParameterError, UnknownNameError
from bestdag.examples import example
from bestdag.network.formats import FORMATS
from bestdag.scores.parent_sets.build import build_score_table
from bestdag.search.result import Limits

PRIOR = Network.load(example("asia.bif"))


@pytest.fixture(scope="module")
def learned():
    return learn(example("asia.csv"), BDeu(ess=7))


def under(learned, score):
    """The same structure and data, as if learned with another score."""
    return replace(learned, scored_by=score)


def fitted(learned, estimator):
    return fit_network(learned.dag, learned.dataset, estimator).with_name("asia")


@pytest.mark.parametrize(
    ("score", "estimator"),
    [
        (BDeu(ess=7), Dirichlet(ess=7)),
        (K2(), Dirichlet(pseudo_count=1)),
        (BDe(prior=PRIOR, ess=3), Dirichlet(prior=PRIOR, ess=3)),
        (MaxBDeu(ess=2), Dirichlet(prior=MaxBDeu(ess=2))),
        (QNML(), FSNML()),
        (BIC(), FSNML()),
    ],
)
def test_the_parameters_are_those_of_fsnml_or_on_request_of_the_score(learned, score, estimator):
    assert under(learned, score).fit() == fitted(learned, FSNML())
    for name in ("score", "Score"):
        assert under(learned, score).fit(name) == fitted(learned, estimator)


def test_an_explicit_choice_wins(learned):
    assert learned.fit("fsnml") == fitted(learned, FSNML())
    assert learned.fit(MLE()) == fitted(learned, MLE())
    assert learned.fit("dirichlet", ess=2) == fitted(learned, Dirichlet(ess=2))
    assert learned.fit("dirichlet", pseudo_count=2) == fitted(learned, Dirichlet(pseudo_count=2))
    assert under(learned, BIC()).fit("dirichlet") == fitted(learned, Dirichlet(ess=1))


def test_the_name_alone_keeps_the_prior_of_the_score(learned):
    assert learned.fit("dirichlet") == fitted(learned, Dirichlet(ess=7))


def test_settings_are_those_of_the_estimator(learned):
    assert learned.fit("score", ess=2) == fitted(learned, Dirichlet(ess=2))
    with pytest.raises(UnknownNameError, match="fsnml: unknown setting 'ess'"):
        learned.fit(ess=2)


class Own:
    """A score of one's own."""

    name = "own"
    is_score_equivalent = True

    def family(self, counts):
        return 0.0

    def kernel(self):
        return None


class OwnWithPriors(Own):
    def priors(self, counts):
        return K2().priors(counts)


def test_scores_of_ones_own(learned):
    own = under(learned, OwnWithPriors())
    assert own.fit("score") == own.fit("dirichlet") == fitted(learned, Dirichlet(pseudo_count=1))
    assert under(learned, Own()).fit() == fitted(learned, FSNML())
    assert under(learned, Own()).fit("mle") == fitted(learned, MLE())
    with pytest.raises(InvalidParameterError, match="no parameters belong to the score 'own'; ch"):
        under(learned, Own()).fit("score")


def test_refusals(learned):
    with pytest.raises(UnknownNameError, match="unknown estimator 'fnml'"):
        learned.fit("fnml")
    with pytest.raises(UnknownNameError, match="did you mean 'score'"):
        learned.fit("scores")
    with pytest.raises(UnknownNameError, match="fsnml: unknown setting 'ess'"):
        learned.fit("fsnml", ess=1)
    with pytest.raises(InvalidParameterError, match=r"MLE\(\) has its settings already, got ess"):
        learned.fit(MLE(), ess=1)


def test_knowledge_may_be_statements():
    data = {"a": ["x", "y"] * 16, "b": ["x", "y"] * 16}
    known = Knowledge.parse(["b -> a"])
    expected = learn(data, knowledge=known).dag
    assert expected.arcs == (("b", "a"),)
    for statements in (["b -> a"], ("b -> a",), "b -> a"):
        assert learn(data, knowledge=statements).dag == expected


@pytest.mark.parametrize("wrong", [{"required_arcs": [("a", "b")]}, [("a", "b")], 5])
def test_knowledge_of_another_kind_is_refused(wrong):
    with pytest.raises(
        InvalidParameterError, match=r"must be a Knowledge, got .* Knowledge\.parse"
    ):
        learn({"a": ["x", "y"], "b": ["x", "y"]}, knowledge=wrong)


@pytest.mark.parametrize(
    ("search", "message"),
    [
        (None, r"^search: must be a search or its name, got None$"),
        (5, r"^search: must be a search or its name, got 5$"),
        (Exact, r"^search: must be a search, got the class Exact; give an instance, Exact\(\)$"),
    ],
)
def test_what_is_not_a_search_is_refused(search, message):
    with pytest.raises(InvalidParameterError, match=message):
        learn(example("asia.csv"), search=search)


def test_a_table_of_local_scores_is_learned_from_as_data_are(learned):
    table = build_score_table(Scorer(learned.dataset, BDeu(ess=7)))
    result = learn(table)
    assert result.status == "optimum proved"
    assert result.dag.is_equivalent(learned.dag)
    assert result.score == pytest.approx(learned.score, abs=1e-9)
    assert (result.dataset, result.scored_by) == (None, None)
    with pytest.raises(DataError, match=r"needs rows of data, .* use fit_network\(result\.dag"):
        result.fit()
    assert learn(table, knowledge="dysp !- either").dag.parents("dysp") == ("bronc", "lung")


@pytest.mark.parametrize("given", [{"score": "bic"}, {"structure_prior": UniformPrior()}])
def test_a_table_of_local_scores_has_its_scores_already(given):
    table = build_score_table(Scorer(read({"a": ["x", "y"], "b": ["x", "y"]}), BIC()))
    with pytest.raises(InvalidParameterError, match=f"leave out {next(iter(given))}"):
        learn(table, **given)


def test_repr_is_one_line_and_str_the_answer(learned):
    score = f"{learned.score:.6f}"
    arcs = len(learned.dag.arcs)
    found = f"{learned.headline()}; {arcs} arcs, log score {score}"
    assert repr(learned) == f"<Result: BDeu(ess=7) on 2,000 rows; {found}>"
    lines = str(learned).splitlines()
    assert lines[:2] == ["BDeu(ess=7) on 2,000 rows", learned.headline()]
    assert str(learned.dag) in str(learned)


def test_the_best_tree_is_called_that():
    tree = learn(example("asia.csv"), "bic", search="tree")
    assert (tree.status, tree.among, tree.is_proved) == ("local optimum", "trees", False)
    assert tree.headline().startswith("best of all trees (tree search, ")
    assert "best of all trees" not in tree.remarks()


KNOWN = ["smoke -> lung", "skeleton: smoke lung | smoke bronc | bronc dysp"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"support": 0}, Limits()),
        ({}, Limits(support=5)),
        ({"max_parents": 7}, Limits(support=5)),  # all others
        ({"max_parents": 1}, Limits(support=5, max_parents=1)),
        ({"knowledge": ["smoke -> lung"]}, Limits(support=5, has_statements=True)),
        (
            {"max_parents": 2, "knowledge": KNOWN, "support": 8},
            Limits(support=8, max_parents=2, has_statements=True, has_skeleton=True),
        ),
    ],
)
def test_a_proof_names_what_left_structures_out(given, expected):
    found = learn(example("asia.csv"), "bdeu", search="exact", **given)
    assert (found.status, found.limits) == ("optimum proved", expected)
    assert found.headline().startswith(f"best of {expected.words()} (proved; exact")
    assert found.summary().startswith(found.headline())


def test_arcs_that_statements_fix_are_not_reversible():
    free = learn(example("asia.csv"), "bdeu")
    told = learn(example("asia.csv"), "bdeu", knowledge=["smoke -> lung"])
    arcs = {("smoke", "lung"), ("smoke", "bronc")}
    assert told.dag.cpdag() == free.dag.cpdag()
    assert not arcs & free.compelled()
    assert arcs & told.compelled() == {("smoke", "lung")}


def test_a_result_keeps_its_network_and_knows_its_class():
    result = learn(example("asia.csv"), "bdeu")
    assert result.network == result.fit()
    assert result.network is result.network
    assert result.cpdag == result.dag.cpdag()
    assert pickle.loads(pickle.dumps(result)).network == result.network
    networkx = pytest.importorskip("networkx")
    assert networkx.is_directed_acyclic_graph(result.to_networkx())
    assert set(result.to_networkx().edges) == set(result.dag.arcs)


@pytest.mark.parametrize("suffix", [*FORMATS, ".bif.gz"])
def test_what_a_result_saves_opens_again(tmp_path, suffix):
    result = learn(example("asia.csv"), "bdeu")
    result.save(tmp_path / f"net{suffix}")
    opened = load(tmp_path / f"net{suffix}")
    assert opened == result.network
    assert opened.name == "asia"


def test_a_name_without_a_format_is_refused_before_anything_is_fitted(tmp_path):
    result = learn(example("asia.csv"), "bdeu")
    with pytest.raises(UnknownNameError, match=r"unknown network format '\.pkl'"):
        result.save(tmp_path / "result.pkl")
    table = ScoreTable.from_lists(["a", "b"], {"a": [(-1.0, "")], "b": [(-1.0, ""), (-0.5, "a")]})
    with pytest.raises(DataError, match="learned from a table of local"):
        learn(table).save(tmp_path / "net.bif")


@pytest.mark.parametrize(
    ("table", "name"),
    [
        (example("asia.csv"), "asia"),
        (pathlib.Path(example("asia.csv")), "asia"),
        (read(example("asia.csv")), "network"),
        (read(example("asia.csv")).to_pandas(), "network"),
    ],
    ids=["text", "path", "dataset", "frame"],
)
def test_a_fitted_network_is_called_as_its_table(table, name):
    dag = Dag(read(example("asia.csv")).names)
    assert fit_network(dag, table).name == name
    assert fit_network(Network.load(example("asia.bif")), read(example("asia.csv"))).name == "asia"


@pytest.mark.parametrize("score", ["qnml", "bic"])
def test_one_engine_counts_for_learning_and_all_that_follows(score, monkeypatch, tmp_path):
    engines, made = [], CountingEngine.__init__

    def counted(self, *args, **settings):
        engines.append(self)
        made(self, *args, **settings)

    monkeypatch.setattr(CountingEngine, "__init__", counted)
    result = learn(str(example("asia.csv")), score)
    result.fit("mle")
    result.arc_losses(threads=1)
    assert result.scorer().total(result.dag) == pytest.approx(
        Scorer(result.dataset, score).total(result.dag)
    )
    engines.remove(engines[-1])  # of the line above
    result.report(tmp_path / "report.html", threads=1)
    assert len(engines) == 1


def test_a_result_after_pickling_counts_again(tmp_path):
    result = learn(str(example("asia.csv")), "bic")
    again = pickle.loads(pickle.dumps(result))
    assert again.network == result.network
    assert again.arc_losses() == result.arc_losses()
