"""`bestdag classify`: how well the classes of a table can be predicted."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from bestdag.cli.choices import (
    SCORE_OPTIONS,
    SUPPORT,
    choose_score,
    choose_structure_prior,
    score_option,
)
from bestdag.cli.learning_table import Cutting, table_options
from bestdag.cli.options import (
    COMMON,
    MAX_VALUES,
    THREADS,
    option,
    refused_option,
    settings_of_read,
    table_settings,
    with_options,
)
from bestdag.cli.output import print_json, print_table, working
from bestdag.parameters import DEFAULT_ESTIMATOR, ESTIMATORS
from bestdag.wording import count_of, either

if TYPE_CHECKING:
    from bestdag.classification.model import Recipe
    from bestdag.classification.uncut import UncutTable
    from bestdag.evaluation.classification import Evaluation
    from bestdag.search.steps import Search

__all__ = ["COMPARED", "command"]

# The eight settings that Carvalho (2009) compares: label, score, settings.
COMPARED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("LL", "ll", {}),
    ("BIC/MDL", "bic", {}),
    ("NML", "fnml", {}),
    ("MIT(0.99)", "mit", {"confidence": 0.99}),
    ("K2", "k2", {}),
    ("BDeu(1)", "bdeu", {"ess": 1}),
    ("BDeu(4)", "bdeu", {"ess": 4}),
    ("BDeu(16)", "bdeu", {"ess": 16}),
)
_CLASSIFIERS = ("tan", "naive_bayes", "augmented", "network")


@click.command("classify")
@click.argument("train")
@with_options(
    click.option("--target", required=True, metavar="COLUMN", help="Class column to predict."),
    click.option("--test", metavar="FILE", help="Table of test rows, instead of cross-validation."),
    click.option(
        "--cv",
        type=click.IntRange(2),
        metavar="K",
        help="Number of cross-validation folds.  [default: 5]",
    ),
    click.option(
        "--holdout",
        type=click.IntRange(1),
        metavar="N",
        help="Test on the last N rows, instead of cross-validation.",
    ),
    click.option("--shuffle", is_flag=True, help="Choose the rows of --holdout at random."),
    option(
        "--classifier",
        type=click.Choice(_CLASSIFIERS, case_sensitive=False),
        default="tan",
        help="Tree-augmented naive Bayes; naive Bayes; the class a parent of all and the rest by "
        "--search; or a free network by --search.",
    ),
    click.option(
        "--search", metavar="NAME", help="Search used by augmented and network.  [default: auto]"
    ),
    SUPPORT,
    click.option(
        "--max-parents",
        type=click.IntRange(0),
        help="Maximum number of parents per node, for augmented and network.",
    ),
    score_option(),
    SCORE_OPTIONS,
    click.option(
        "--compare",
        is_flag=True,
        help="Compare the eight settings of Carvalho (2009) on the same rows.",
    ),
    option(
        "--parameters",
        type=click.Choice([*ESTIMATORS, "score"], case_sensitive=False),
        default=DEFAULT_ESTIMATOR,
        help="How to estimate the parameters; 'score': as the score implies.",
    ),
    click.option(
        "--method",
        type=click.Choice(["fayyad_irani", "quantile", "uniform"], case_sensitive=False),
        help="How numeric columns are binned, from the training rows only.  [default: "
        "fayyad_irani, with --bins quantile]",
    ),
    MAX_VALUES,
    option("--seed", type=click.IntRange(0), default=0, help="Seed of the division into folds."),
    table_options(
        click.option(
            "--missing",
            type=click.Choice(["em", "marginalize", "drop", "error"]),
            help="Rows with missing values: learn from all of them by EM, learn from the complete "
            "ones, drop them, or stop. The first two also predict them, summing over the missing "
            "values.  [default: em; marginalize for scores that EM does not support]",
        ),
        but=["weights"],
    ),
    refused_option("--weights", "classify counts every row once"),
    THREADS,
    COMMON,
)
def command(
    train: str,
    target: str,
    test: str | None,
    cv: int | None,
    holdout: int | None,
    shuffle: bool,
    classifier: str,
    search: str | None,
    max_parents: int | None,
    support: float,
    name: str,
    compare: bool,
    parameters: str,
    method: str | None,
    max_values: int,
    missing: str | None,
    seed: int,
    threads: int | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Learn a classifier from the table TRAIN and estimate its accuracy.

    Accuracy is estimated on --test, on --holdout rows, or by default by 5-fold cross-validation.
    Numeric columns with many distinct values are binned, from the training rows only. Classes and
    states are those of all rows of TRAIN; a note counts test rows with values that their training
    rows lack. Values of --test that TRAIN lacks are treated as missing. The accuracy has a 95 %
    Wilson interval; log loss is the mean of -ln P(true class).
    """
    from bestdag.classification.model import Coding, Recipe
    from bestdag.classification.trial import Trial
    from bestdag.classification.uncut import read_uncut
    from bestdag.data.discretization.cuts import load_cut_points
    from bestdag.graph.knowledge import Knowledge
    from bestdag.incomplete import StructuralEM
    from bestdag.scores import DEFAULT_SCORE, make_score
    from bestdag.search.naive_bayes import augmented

    if sum(way is not None for way in (test, cv, holdout)) > 1:
        raise click.UsageError("give one of --test, --cv and --holdout")
    if shuffle and holdout is None:
        raise click.UsageError("--shuffle belongs to --holdout")
    if classifier in ("tan", "naive_bayes") and (search is not None or max_parents is not None):
        raise click.UsageError("--search and --max-parents belong to augmented and network")
    score_name, chosen = choose_score(name, options)
    if compare and chosen.score != make_score(DEFAULT_SCORE):
        raise click.UsageError(
            "--compare has its own scores; leave out --score and settings of scores"
        )
    if choose_structure_prior(options) is not None:
        raise click.UsageError("classify takes no --structure-prior")
    scores = {score_name: chosen.score}
    if compare:
        scores = {label: make_score(s, **given) for label, s, given in COMPARED}
    if missing is None:
        refused = any(StructuralEM().refusal(score) for score in scores.values())
        missing = "marginalize" if refused else "em"
    cutting = Cutting.of(options, None)
    if method is None:
        method = "fayyad_irani" if cutting.bins is None else "quantile"
    cuts = None if cutting.cut_points is None else load_cut_points(cutting.cut_points)
    reading = settings_of_read(
        table_settings(options), "classify", "bins numeric columns in the training rows, in memory"
    )
    allow_few_rows = reading.pop("allow_few_rows")
    with working(f"reading {train}", quiet=quiet):
        notes: list[str] = []
        tables: list[UncutTable] = []
        for path in [train] if test is None else [train, test]:
            like = tables[0] if tables else None
            table = read_uncut(
                path, target=target, max_values=max_values, like=like, cuts=cuts, **reading
            )
            tables.append(
                _usable_rows(
                    table,
                    path,
                    target,
                    missing,
                    notes,
                    allow_few_rows=allow_few_rows,
                    is_test=like is not None,
                )
            )
    if cuts is not None:
        at = f"the cut points of {cutting.cut_points}"
        notes.append(f"numeric columns binned at {at}: {', '.join(cuts)}")
    attributes = [column for column in tables[0].names if column != target]
    knowledge: Knowledge | None = None
    if classifier == "augmented":
        knowledge = augmented(target, attributes)

    def recipe(score: Any) -> Recipe:
        return Recipe(
            search=_search(classifier, target, search),
            score=score,
            parameters=parameters,
            knowledge=knowledge,
            coding=Coding(method=method, bins=cutting.bins, max_values=max_values),
            max_parents=max_parents,
            support=support,
            missing="em" if missing == "em" else "error",
            seed=seed,
            workers=threads,
        )

    recipes = {label: recipe(score) for label, score in scores.items()}
    trial = Trial(
        tables[0],
        target,
        None if test is None else tables[1],
        n_held_out=holdout,
        shuffle=shuffle,
        n_folds=cv or 5,
        seed=seed,
        workers=threads,
    )
    with working(f"learning to tell {target} apart", quiet=quiet):
        evaluations = dict(trial.run(recipes))
    notes += next(iter(evaluations.values())).notes
    how = f"{cv or 5}-fold cross-validation" if test is None else f"tested on {test}"
    if holdout is not None:
        how = f"tested on {'random' if shuffle else 'the last'} {count_of(holdout, 'row')}"
    about = {
        "target": target,
        "classifier": classifier,
        "parameters": parameters,
        "evaluation": how,
        "cut": list(tables[0].numbers),
        "notes": notes,
        "settings": {"seed": seed, "missing": missing, "method": method, "max_values": max_values},
    }
    if as_json:
        results = {label: _as_json(one) for label, one in evaluations.items()}
        if compare:
            print_json({**about, "compared": results})
        else:
            settings = {**chosen.settings, **about["settings"]}  # type: ignore[dict-item]
            one = {"score_name": score_name, **results[score_name], **about}
            print_json({**one, "settings": settings})
        return
    _print_what(train, tables[0], about)
    if compare:
        _print_compared(evaluations)
    else:
        _print_one(score_name, evaluations[score_name])


def _search(classifier: str, target: str, name: str | None) -> Search:
    from bestdag.search import make_search, search_for_fit

    if classifier in ("tan", "naive_bayes"):
        return make_search(classifier, target=target)
    return search_for_fit(name or "auto")


def _as_json(one: Evaluation) -> dict[str, Any]:
    return {
        "accuracy": one.accuracy,
        "interval": list(one.interval),
        "log_loss": one.log_loss if math.isfinite(one.log_loss) else None,
        "rows": one.n_rows,
        "classes": list(one.classes),
        "confusion": one.confusion.tolist(),
    }


def _print_what(train: str, table: UncutTable, about: dict[str, Any]) -> None:
    click.echo(
        f"{train}: {count_of(table.dataset.n_rows, 'row')}, "
        f"{count_of(len(table.names) - 1, 'attribute')}; {about['classifier']}, "
        f"parameters {about['parameters']}, {about['evaluation']}"
    )
    if about["cut"]:
        click.echo(
            f"numeric columns binned by {about['settings']['method']}, in the training rows: "
            + " ".join(about["cut"])
        )
    for note in about["notes"]:
        click.echo(note)


def _print_one(score_name: str, one: Evaluation) -> None:
    low, high = one.interval
    click.echo(
        f"{score_name}: accuracy {one.accuracy:.2%} (95 % interval {low:.2%} to {high:.2%}, "
        f"{one.n_right:,} of {one.n_rows:,} rows), log loss {one.log_loss:.4f}"
    )
    print_table(
        ["true \\ predicted", *one.classes],
        [
            [label, *map(str, row)]
            for label, row in zip(one.classes, one.confusion.tolist(), strict=True)
        ],
    )


def _print_compared(evaluations: dict[str, Evaluation]) -> None:
    print_table(
        ["score", "accuracy %", "95 % interval", "log loss"],
        [
            [
                label,
                f"{100 * one.accuracy:.2f}",
                f"{100 * one.interval[0]:.2f} to {100 * one.interval[1]:.2f}",
                f"{one.log_loss:.4f}",
            ]
            for label, one in evaluations.items()
        ],
    )


def _usable_rows(
    table: UncutTable,
    path: str,
    target: str,
    missing: str,
    notes: list[str],
    *,
    allow_few_rows: bool = False,
    is_test: bool = False,
) -> UncutTable:
    """Refuse rows with missing values, or leave some out and note how many.

    With "em" and "marginalize" those without a class are left out, as there is nothing to compare
    with, and the others are noted; rows that are only to be predicted have `is_test`.
    """
    is_missing = table.is_missing()
    if not is_missing.any():
        return table
    is_kept = missing in ("em", "marginalize")
    if not is_kept:
        _refuse_empty_columns(table, path)
    n_missing, n_rows = int(is_missing.sum()), len(is_missing)
    if missing == "error":
        raise click.UsageError(
            f"{path}: {count_of(n_missing, 'row')} of {n_rows:,} "
            f"{either(n_missing, 'has', 'have')} missing values; leave out --missing error to "
            "learn from what they show, or pass --missing drop"
        )
    what = "missing values"
    if is_kept:
        n_holed = int((is_missing & ~table.is_missing_in(target)).sum())
        if n_holed:
            learned = (
                "learned from all rows, by EM" if missing == "em" else "learned from the others"
            )
            how = "" if is_test else f"{learned}, and "
            notes.append(
                f"{path}: {count_of(n_holed, 'row')} of {n_rows:,} "
                f"{either(n_holed, 'has', 'have')} missing values; {how}summed over them in "
                "prediction"
            )
        what = f"no class in {target!r}"
        is_missing = table.is_missing_in(target)
        n_missing = int(is_missing.sum())
    if n_missing == n_rows:
        raise click.UsageError(f"{path}: every row has {what}, so none would be left")
    if missing == "drop" and not allow_few_rows and 3 * (n_rows - n_missing) < n_rows:
        raise click.UsageError(
            f"{path}: {n_rows - n_missing:,} of {n_rows:,} rows have no missing values, "
            "less than a "
            "third; leave columns out with --drop, use --missing em, or pass "
            "--allow-few-rows to continue"
        )
    if n_missing:
        has, is_ = either(n_missing, "has", "have"), either(n_missing, "is", "are")
        notes.append(
            f"{path}: {count_of(n_missing, 'row')} of {n_rows:,} {has} {what} and {is_} left out"
        )
    return table.rows(~is_missing)


def _refuse_empty_columns(table: UncutTable, path: str) -> None:
    for name in table.names:
        is_missing = table.is_missing_in(name)
        if is_missing.all():
            raise click.UsageError(
                f"{path}: column {name!r} has no values, all {len(is_missing):,} cells are "
                "missing; leave it out with --drop"
            )
