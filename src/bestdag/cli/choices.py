"""What a command lets the user choose: scores, searches, constraints, estimators, checkpoints.

For each there is the group of options and the function that makes what was chosen; it takes its
options out of those of the command.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bestdag.cli.options import (
    DURATION,
    FORCE,
    Option,
    made_of_text,
    option,
    parse_choice,
    settings_options,
    shown_settings,
    taken_settings,
)
from bestdag.cli.output import FORMAT_NAMES
from bestdag.incomplete import StructuralEM, Treatment, make_treatment
from bestdag.parameters import DEFAULT_ESTIMATOR, ESTIMATORS, OF_SCORE, choose_estimator
from bestdag.registry import canonical, settings_of
from bestdag.scores import ALIASES, DEFAULT_PRIOR, DEFAULT_SCORE, SCORES, make_score
from bestdag.scores.support import DEFAULT_SUPPORT
from bestdag.search import SEARCHES, make_search, search_name
from bestdag.wording import as_option, either

if TYPE_CHECKING:
    from bestdag.checkpoint import Checkpoint
    from bestdag.data.dataset import Dataset
    from bestdag.graph.knowledge import Knowledge
    from bestdag.parameters.base import Estimator
    from bestdag.scores.base import Score
    from bestdag.scores.prior import ArcDifferencePrior
    from bestdag.search.near_optimal.request import NearOptimal
    from bestdag.search.steps import Search

__all__ = [
    "CHECKPOINT_OPTIONS",
    "EM_OPTIONS",
    "KNOWLEDGE_OPTIONS",
    "NEAR_OPTIMAL_OPTIONS",
    "PARAMETERS",
    "SCORE_OPTIONS",
    "SEARCH_OPTIONS",
    "SUPPORT",
    "ChosenScore",
    "choose_checkpoint",
    "choose_knowledge",
    "choose_near_optimal",
    "choose_parameters",
    "choose_score",
    "choose_scores",
    "choose_search",
    "choose_structure_prior",
    "choose_treatment",
    "default_prior",
    "network_output",
    "score_option",
    "scores_option",
    "search_option",
    "shown_prior",
    "within_skeleton",
]

# ------------------------------------------------------------------------------------- scores

SCORE_OPTIONS = (
    *settings_options(SCORES),
    click.option(
        "--structure-prior",
        metavar="NAME",
        help="sparse (about one parent per variable), uniform, or a network file (kappa to the "
        "power of the number of arcs that differ).  [default: sparse if no --score is given]",
    ),
    click.option(
        "--kappa",
        type=float,
        help="Prior weight of each arc that differs from the network of --structure-prior.",
    ),
)
SUPPORT = option(
    "--support",
    type=click.FloatRange(0),
    default=DEFAULT_SUPPORT,
    metavar="ROWS",
    help="Minimum number of rows per occupied cell of a family's table; 0 for no limit.",
)


@dataclass(frozen=True, slots=True)
class ChosenScore:
    """A score and its settings as they are shown: files by their names."""

    score: Score
    settings: dict[str, Any]


def score_option(default: str = DEFAULT_SCORE) -> Option:
    """Choose one score, this one unless another is given."""
    named = f"One of {', '.join(SCORES)}."
    return option("--score", "name", default=default, metavar="NAME", help=named)


def scores_option() -> Option:
    """Choose several scores."""
    return option(
        "--score",
        "names",
        multiple=True,
        default=("qnml", "bic", "bdeu"),
        metavar="NAME",
        help=f"One of {', '.join(SCORES)}, or 'all'; may be repeated.",
    )


def choose_scores(names: tuple[str, ...], options: dict[str, Any]) -> dict[str, ChosenScore]:
    """Make the scores asked for.

    A setting must belong to one of the scores. 'all' means every score.
    """
    wanted = [canonical(name, [*SCORES, *ALIASES, "all"]) for name in names]
    if "all" in wanted:
        wanted = [name for name in wanted if name != "all"] + list(SCORES)
    keys = [ALIASES.get(name, name) for name in wanted]
    settings = taken_settings(SCORES, options, keys, either(len(keys), "score", "scores"))
    chosen: dict[str, ChosenScore] = {}
    for key in keys:
        score = make_score(key, **(made_of_text(SCORES[key], settings) if key in SCORES else {}))
        chosen[key] = ChosenScore(score, shown_settings(score, settings))
    return chosen


def choose_score(name: str, options: dict[str, Any]) -> tuple[str, ChosenScore]:
    """Make the one score asked for."""
    chosen = choose_scores((name,), options)
    if len(chosen) != 1:
        raise click.UsageError(
            "--score: give one score; bestdag score and bestdag evaluate compare several"
        )
    return next(iter(chosen.items()))


def choose_structure_prior(options: dict[str, Any]) -> ArcDifferencePrior | str | None:
    """Return the structure prior asked for, or its name.

    Where no score is named, the default of `learn` is its own.
    """
    from bestdag.network.network import Network
    from bestdag.scores.prior import SPARSE, UNIFORM, ArcDifferencePrior

    text, kappa = options.pop("structure_prior"), options.pop("kappa")
    name = None if text is None else canonical(text, [SPARSE, UNIFORM])
    if name in (SPARSE, UNIFORM):
        if kappa is not None:
            raise click.UsageError("--kappa goes with a network file as --structure-prior")
        return name
    if (text is None) != (kappa is None):
        raise click.UsageError(
            "--structure-prior is sparse, uniform, or a network file together with --kappa"
        )
    return None if text is None else ArcDifferencePrior(Network.load(text), kappa=kappa)


def shown_prior(prior: ArcDifferencePrior | str | None) -> dict[str, Any]:
    """Return the setting that says which prior there was."""
    if prior is None:
        return {}
    if isinstance(prior, str):
        return {"structure_prior": prior}
    return {"structure_prior": "network", "kappa": prior.kappa}


def default_prior() -> str | None:
    """Return the prior that goes with a score that was not named; None where one was."""
    source = click.get_current_context().get_parameter_source("name")
    return DEFAULT_PRIOR if source is ParameterSource.DEFAULT else None


# ------------------------------------------------------------------ searches and constraints

SEARCH_OPTIONS = settings_options(SEARCHES)
KNOWLEDGE_OPTIONS = (
    click.option(
        "--knowledge",
        "file",
        metavar="FILE",
        help="File of constraints on the structure (TOML or JSON).",
    ),
    click.option(
        "--know",
        "statements",
        multiple=True,
        metavar="STATEMENT",
        help="A constraint such as 'A -> B', 'A !> B' or 'tiers: A B | C'; may be repeated.",
    ),
)


def search_option(default: str, more: str = "") -> Option:
    """Choose one search, this one unless another is given."""
    named = f"One of {', '.join(SEARCHES)}.{more}"
    return option("--search", default=default, metavar="NAME", help=named)


def choose_search(name: str, options: dict[str, Any]) -> Search:
    """Make the search asked for."""
    key = search_name(name)
    settings = taken_settings(SEARCHES, options, [key], "search")
    if key in SEARCHES:
        settings = made_of_text(SEARCHES[key], settings)
    return make_search(key, **settings)


def choose_knowledge(options: dict[str, Any]) -> Knowledge:
    """Read what the user knows."""
    from bestdag.graph.knowledge import Knowledge

    file, statements = options.pop("file"), options.pop("statements")
    known = Knowledge() if file is None else Knowledge.load(file)
    return known | Knowledge.parse(statements)


# ---------------------------------------------------------------------------- structural EM

EM_OPTIONS = settings_options({StructuralEM.name: StructuralEM}, prefix="em_")


def choose_treatment(options: dict[str, Any]) -> Treatment:
    """Make the missing-data strategy that was asked for."""
    treatment = make_treatment(options["missing"])
    settings = {one.name: options[f"em_{one.name}"] for one in settings_of(StructuralEM)}
    settings = {name: value for name, value in settings.items() if value is not None}
    if not settings:
        return treatment
    if not isinstance(treatment, StructuralEM):
        option = as_option(f"em_{next(iter(settings))}")
        raise click.UsageError(f"{option} is for --missing em; leave it out")
    return replace(treatment, **settings)


# -------------------------------------------------------------- estimators and what is written

PARAMETERS = click.option(
    "--parameters",
    metavar="NAME",
    help=f"How to estimate the parameters: {', '.join(ESTIMATORS)}, with settings as in "
    f"dirichlet,ess=10; or 'score': as the score implies.  [default: {DEFAULT_ESTIMATOR}]",
)


def choose_parameters(score: Score, text: str | None) -> Estimator:
    """Make the estimator that was asked for, or fsNML; "score" is the one that belongs to it."""
    if text is None or canonical(text, [OF_SCORE]) == OF_SCORE:
        return choose_estimator(score, text, {})
    name, settings = parse_choice(text, ESTIMATORS, "parameters")
    return choose_estimator(score, name, settings)


def network_output(what: str = "with fitted parameters") -> tuple[Option, ...]:
    """Return -o for a network, which need not be written, and --force."""
    text = f"Network file to write, {what} ({FORMAT_NAMES}; also .gz)."
    return (click.option("-o", "--output", metavar="FILE", help=text), FORCE)


# ------------------------------------------------------------------------------- checkpoints

# --force is there already.
CHECKPOINT_OPTIONS = (
    click.option(
        "--checkpoint",
        metavar="FILE",
        help="Save the run to this file while it works, and its result at the end.",
    ),
    click.option(
        "--checkpoint-every",
        type=DURATION,
        metavar="TIME",
        help="How often --checkpoint is written.  [default: 30s]",
    ),
    click.option(
        "--resume",
        is_flag=True,
        help="Continue from the file of --checkpoint, if there is one; --time-limit covers all "
        "parts.",
    ),
)


def choose_checkpoint(options: dict[str, Any], *, others: bool) -> Checkpoint | None:
    """Return the file of the run; takes its options out, but for --force.

    `others` says that there are other files to which --force belongs: then beside --resume it is
    about these.
    """
    from bestdag.checkpoint import Checkpoint

    path, every = options.pop("checkpoint"), options.pop("checkpoint_every")
    resume, force = options.pop("resume"), options["force"]
    if path is None:
        for option, is_given in (("--resume", resume), ("--checkpoint-every", every is not None)):
            if is_given:
                raise click.UsageError(f"{option} needs --checkpoint FILE")
        return None
    more = {} if every is None else {"every": every}
    return Checkpoint(path, resume=resume, force=force and not (resume and others), **more)


# ------------------------------------------------------------------------ what `learn` is given

# Of a time limit, what the tests of a skeleton may take.
_SHARE_OF_TESTS = 0.5

NEAR_OPTIMAL_OPTIONS = (
    click.option(
        "--k-best",
        type=click.IntRange(1),
        metavar="K",
        help="List the K best structures, proved by exact search.",
    ),
    click.option(
        "--per-class/--no-per-class",
        default=None,
        help="List one structure per equivalence class.  [default: only with --collect-within]",
    ),
    click.option("--all-optimal", is_flag=True, help="List all structures that tie with the best."),
    click.option(
        "--collect-within",
        type=float,
        metavar="NATS",
        help="List all equivalence classes whose log score is within NATS of the best; --k-best "
        "limits their number.",
    ),
)


def choose_near_optimal(options: dict[str, Any], search: Search) -> NearOptimal | None:
    """Return which structures are listed beside the best."""
    from bestdag.search.near_optimal.request import NearOptimal

    k, per_class = options.pop("k_best"), options.pop("per_class")
    ties, within = options.pop("all_optimal"), options.pop("collect_within")
    asked = {"--k-best": k is not None, "--collect-within": within is not None}
    named = [option for option, is_there in {**asked, "--all-optimal": ties}.items() if is_there]
    if not named:
        if per_class is not None:
            raise click.UsageError("--per-class is for --k-best, --collect-within or --all-optimal")
        return None
    if search.name not in ("auto", "exact"):
        raise click.UsageError(
            f"{named[0]} needs exact search, got {search.name!r}; pass --search exact"
        )
    return NearOptimal(k=k, per_class=per_class, within=within, ties=ties)


def within_skeleton(
    knowledge: Knowledge, data: Dataset | None, options: dict[str, Any]
) -> tuple[Knowledge, float]:
    """Return what is known once arcs are confined to the skeleton asked for, and its seconds.

    Its tests take at most half of the time limit.
    """
    name, alpha = options.pop("skeleton"), options.pop("alpha")
    if name is None:
        if alpha is not None:
            raise click.UsageError("--alpha is for --skeleton pc; leave it out")
        return knowledge, 0.0
    from bestdag.errors import require_choice

    require_choice("learn", "skeleton", name, ["pc"])
    if data is None:
        raise click.UsageError(
            "--skeleton pc needs rows of data for its tests, got local scores; leave it out"
        )
    from bestdag.constraint.pc import pc_skeleton

    begun = time.monotonic()
    limit = options["time_limit"]
    known = pc_skeleton(
        data,
        alpha=0.05 if alpha is None else alpha,
        knowledge=knowledge,
        time_limit=None if limit is None else _SHARE_OF_TESTS * limit,
        threads=options["threads"],
    )
    return known, time.monotonic() - begun
