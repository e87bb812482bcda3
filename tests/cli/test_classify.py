"""`bestdag classify` as its users see it."""

import json

import numpy as np
import pytest

from bestdag import discretize
from bestdag.data.discretization.cuts import write_cut_points


@pytest.fixture
def table(tmp_path):
    """Two attributes: a number above 5 and a letter make the class b, nine times in ten."""
    rng = np.random.default_rng(3)
    lines = ["number,letter,class"]
    for _ in range(200):
        is_b = rng.random() < 0.5
        number = rng.uniform(4 if is_b else 0, 10 if is_b else 6)
        letter = "xy"[int(rng.random() < (0.8 if is_b else 0.2))]
        lines.append(f"{number:.3f},{letter},{'ab'[is_b]}")
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_prints_accuracy_interval_log_loss_and_confusion(cli, table):
    shown = cli("classify", str(table), "--target", "class")
    assert shown.code == 0
    first, cut, result, header, a, b = shown.out.splitlines()
    assert "200 rows, 2 attributes; tan, parameters fsnml, 5-fold cross-validation" in first
    assert cut == "numeric columns binned by fayyad_irani, in the training rows: number"
    assert result.startswith("qnml: accuracy ")
    assert "95 % interval" in result
    assert "log loss" in result
    assert header.split()[-2:] == ["a", "b"]
    assert sum(map(int, a.split()[1:] + b.split()[1:])) == 200


def test_json_has_the_same_facts(cli, table):
    options = ("classify", str(table), "--target", "class", "--json")
    found = json.loads(cli(*options).out)
    assert found["accuracy"] > 0.7
    low, high = found["interval"]
    assert low < found["accuracy"] < high
    assert found["log_loss"] > 0
    assert np.trace(found["confusion"]) / found["rows"] == pytest.approx(found["accuracy"])
    assert found["cut"] == ["number"]
    assert found["score_name"] == "qnml"
    assert found["settings"]["regret"] == "exact"
    assert found == json.loads(cli(*options).out)
    other = json.loads(cli(*options, "--seed", "1").out)
    assert other["log_loss"] != found["log_loss"]


def test_compare_tries_eight_settings_on_the_same_rows(cli, table):
    shown = cli("classify", str(table), "--target", "class", "--compare", "--json")
    compared = json.loads(shown.out)["compared"]
    labels = ["LL", "BIC/MDL", "NML", "MIT(0.99)", "K2", "BDeu(1)", "BDeu(4)", "BDeu(16)"]
    assert list(compared) == labels
    single = cli(
        "classify", str(table), "--target", "class", "--score", "bdeu", "--ess", "4", "--json"
    )
    assert json.loads(single.out)["log_loss"] == compared["BDeu(4)"]["log_loss"]
    readable = cli("classify", str(table), "--target", "class", "--compare").out
    assert all(f"\n{label} " in readable for label in labels)


def test_a_test_file_and_a_holdout_agree(cli, table, tmp_path):
    header, *rows = table.read_text().splitlines()
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("\n".join([header, *rows[:150]]) + "\n")
    test.write_text("\n".join([header, *rows[150:]]) + "\n")
    one = cli("classify", str(train), "--target", "class", "--test", str(test), "--json")
    two = cli("classify", str(table), "--target", "class", "--holdout", "50", "--json")
    one, two = json.loads(one.out), json.loads(two.out)
    assert one["confusion"] == two["confusion"]
    assert one["log_loss"] == two["log_loss"]


@pytest.mark.parametrize("classifier", ["naive_bayes", "augmented", "network"])
def test_other_classifiers(cli, table, classifier):
    arguments = ("classify", str(table), "--target", "class", "--classifier", classifier, "--json")
    found = json.loads(cli(*arguments).out)
    assert found["classifier"] == classifier
    assert found["accuracy"] > 0.7


def test_an_infinite_log_loss_is_null(cli, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,class\nu,a\nu,a\nv,b\nv,b\nv,a\n")
    arguments = ("classify", str(path), "--target", "class", "--holdout", "1")
    shown = cli(*arguments, "--parameters", "mle", "--json")
    assert json.loads(shown.out)["log_loss"] is None
    assert "log loss inf" in cli(*arguments, "--parameters", "mle").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "clas"], "unknown column 'clas'"),
        (["--target", "class", "--cv", "2", "--holdout", "3"], "one of --test, --cv and --holdout"),
        (["--target", "class", "--shuffle"], "--shuffle belongs to --holdout"),
        (["--target", "class", "--search", "exact"], "belong to augmented and network"),
        (["--target", "class", "--compare", "--score", "k2"], "--compare has its own scores"),
        (
            ["--target", "class", "--compare", "--score", "bdeu", "--ess", "4"],
            "--compare has its own scores",
        ),
        (
            ["--target", "class", "--method", "fayyad_irani", "--bins", "4"],
            "--bins does not belong to the method fayyad_irani",
        ),
        (["--target", "class", "--weights", "x"], "classify counts every row once; leave out"),
        (["--target", "class", "--rows-in", "disk"], "leave out --rows-in disk"),
        (["--target", "class", "--method", "quantile", "--bins", "1"], "is not in the range x>=2"),
        (["--target", "class", "--drop", "number", "--drop", "letter"], "at least one attribute"),
        (["--target", "class", "--holdout", "200"], "between 1 and 199 of 200 rows"),
        (["--target", "class", "--cv", "999"], "200 rows cannot be divided into 999 parts"),
        (["--target", "class", "--score", "bdeuu"], "bdeu"),
        ([], "--target"),
    ],
)
def test_wrong_input_is_one_line_and_code_2(cli, table, arguments, message):
    shown = cli("classify", str(table), *arguments)
    assert shown.code == 2
    assert message in shown.err
    assert len(shown.err.splitlines()) == 1
    assert shown.out == ""


def test_what_training_rows_lack_is_noted(cli, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,class\nu,a\nv,b\nu,a\nv,b\nw,c\n")
    arguments = ("classify", path, "--target", "class", "--holdout", "1")
    notes = [
        "1 of 1 predicted rows has a class that none of their training rows has: 'c' (1)",
        "1 cell of 1 predicted rows has a value that none of their training rows has, in 'x' (1)",
    ]
    assert cli(*arguments).out.splitlines()[1:3] == notes
    assert json.loads(cli(*arguments, "--json").out)["notes"] == notes
    assert json.loads(cli(*arguments, "--compare", "--json").out)["notes"] == notes


def test_rows_without_a_class_are_left_out_with_a_note(cli, table):
    table.write_text(table.read_text().replace(",a\n", ",\n", 4))
    arguments = ("classify", table, "--target", "class", "--missing")
    found = json.loads(cli(*arguments, "marginalize", "--json").out)
    assert found["rows"] == 196
    note = f"{table}: 4 rows of 200 have no class in 'class' and are left out"
    assert found["notes"] == [note]
    assert note in cli(*arguments, "marginalize").out.splitlines()
    dropped = json.loads(cli(*arguments, "drop", "--json").out)
    assert dropped["notes"] == [f"{table}: 4 rows of 200 have missing values and are left out"]


def test_a_column_without_values_is_named(cli, table):
    lines = table.read_text().splitlines()
    table.write_text("\n".join([f"{lines[0]},void", *(f"{line}," for line in lines[1:])]) + "\n")
    for missing in ("error", "drop", "marginalize"):
        shown = cli("classify", table, "--target", "class", "--missing", missing)
        assert shown.code == 2
        assert "column 'void' has no values" in shown.err
    assert cli("classify", table, "--target", "class", "--drop", "void").code == 0


def test_missing_cells_are_learned_from_unless_a_choice_is_made(cli, table):
    text = table.read_text().replace(",x,", ",,", 3)
    table.write_text(text)
    arguments = ("classify", str(table), "--target", "class")
    found = json.loads(cli(*arguments, "--json").out)
    assert (found["rows"], found["settings"]["missing"]) == (200, "em")
    has = f"{table}: 3 rows of 200 have missing values; "
    over = "summed over them in prediction"
    assert found["notes"] == [f"{has}learned from all rows, by EM, and {over}"]
    # fNML takes no fractional counts, which EM has.
    found = json.loads(cli(*arguments, "--score", "fnml", "--json").out)
    assert found["notes"] == [f"{has}learned from the others, and {over}"]
    shown = cli(*arguments, "--missing", "error")
    assert shown.code == 2
    assert "3 rows of 200 have missing values; leave out --missing error to learn" in shown.err
    dropped = json.loads(cli(*arguments, "--missing", "drop", "--json").out)
    assert dropped["rows"] == 197
    summed = json.loads(cli(*arguments, "--missing", "marginalize", "--json").out)
    assert summed["rows"] == 200


def test_bins_are_quantiles_and_known_cut_points_are_taken(cli, table, tmp_path):
    given = ("classify", str(table), "--target", "class")
    whole = json.loads(cli(*given, "--discretize", "--json").out)
    assert whole == json.loads(cli(*given, "--json").out)  # numbers are cut anyway
    assert json.loads(cli(*given, "--bins", "3", "--json").out) == json.loads(
        cli(*given, "--method", "quantile", "--bins", "3", "--json").out
    )
    cuts = tmp_path / "cuts.json"
    write_cut_points(discretize(table, cuts={"number": [5.0]}, cut=()), cuts)
    known = json.loads(cli(*given, "--cut-points", cuts, "--json").out)
    assert known["cut"] == []  # none in the training rows
    assert known["notes"] == [f"numeric columns binned at the cut points of {cuts}: number"]
    ready = tmp_path / "ready.csv"
    discretize(table, cuts={"number": [5.0]}, cut=()).to_csv(ready)
    expected = json.loads(cli("classify", ready, "--target", "class", "--json").out)
    assert known["confusion"] == expected["confusion"]
    tested = cli(*given, "--cut-points", cuts, "--test", table, "--json")
    assert json.loads(tested.out)["rows"] == 200


@pytest.mark.parametrize(
    ("columns", "message"), [(["class"], "cannot be binned"), (["numbr"], "did you mean 'number'")]
)
def test_cut_points_of_other_columns_are_refused(cli, table, tmp_path, columns, message):
    other = {name: [0.5, 1.5, 2.5] for name in columns}
    write_cut_points(discretize(other, method="uniform", bins=2), tmp_path / "cuts.json")
    given = ("classify", str(table), "--target", "class", "--cut-points", tmp_path / "cuts.json")
    shown = cli(*given)
    assert (shown.code, shown.err.count("\n")) == (2, 1)
    assert message in shown.err
