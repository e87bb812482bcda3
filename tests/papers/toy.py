"""A study of one number, for the tests of what runs studies."""

from bestdag.papers.charts import Line, line_chart
from bestdag.papers.claims import Claim, is_above, mean_interval
from bestdag.papers.sections import Figure, Table
from bestdag.papers.study import Study, Trial, generator_of


def trials(size, seed):
    for k in range(6 if size == "quick" else 12):
        files = ("networks/asia.bif",) if k == 5 else ()
        yield Trial(f"group {k % 2}", {"k": k, "seed": seed}, files)


def run(trial, folder):
    rng = generator_of("toy", trial.settings["k"], trial.settings["seed"])
    row = {"value": float(rng.normal()), "timing": {}}
    if trial.files:
        row["nodes"] = len(folder.network(trial.files[0]).names)
    return row


def sections(rows):
    values = [row["value"] for row in rows]
    cells = [[str(row["k"]), f"{row['value']:.3f}"] for row in rows]
    line = Line("a & b", list(range(len(rows))), values)
    return [
        Table("Values | all", ["k", "value"], cells, "of < and >"),
        Figure("curve", "The curve", line_chart([line], x="k", y="value")),
    ]


def claims(rows):
    found = mean_interval(row["value"] for row in rows)
    return [Claim("T1", "nowhere", "The mean is positive.", is_above(found), str(found), "> 0")]


TOY = Study("toy", "A toy", "Nobody (2000).", trials, run, sections, claims, ("Nothing is open.",))
