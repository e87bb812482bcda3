"""The twenty UCI tables of Silander et al. (2010, 2018), discretised as their sizes tell.

The papers print rows, columns and mean numbers of states, and all of these follow from one rule:
number columns are cut into three intervals of equal width, empty ones counted, but columns of at
most six different values keep them; row numbers stay; a missing cell is no state. What it is
instead they do not say.
"""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path

import numpy as np

from bestdag.data.dataset import Dataset
from bestdag.data.discretize import discretize
from bestdag.data.schema import Variable
from bestdag.errors import DataWarning
from bestdag.papers.data_folder import DataFolder

__all__ = ["OTHER_TABLES", "TABLES", "UNWHOLE", "load_table", "table_file"]

_BINS, _MAX_VALUES = 3, 6
# By number of rows, as in the second paper: name, rows, columns, mean number of states printed.
TABLES: dict[str, tuple[int, int, float]] = {
    "post-operative": (90, 9, 2.9),
    "iris": (150, 5, 3.0),
    "wine": (178, 14, 3.0),
    "glass": (214, 11, 3.3),
    "thyroid": (215, 6, 3.0),
    "heart-statlog": (270, 14, 2.9),
    "breast-cancer": (286, 10, 4.3),
    "heart-hungarian": (294, 14, 2.6),
    "heart-cleveland": (303, 14, 3.1),
    "ecoli": (336, 8, 3.4),
    "liver": (345, 7, 2.9),
    "balance-scale": (625, 5, 4.6),
    "breast-cancer-wisconsin": (699, 11, 2.9),
    "diabetes": (768, 9, 2.9),
    "tic-tac-toe": (958, 10, 2.9),
    "yeast": (1484, 9, 3.7),
    "abalone": (4177, 9, 3.0),
    "page-blocks": (5473, 11, 3.2),
    "adult": (32561, 15, 7.9),
    "shuttle": (58000, 10, 3.0),
}
# The others of Carvalho (2009), cut by the same rule; their sizes here, no number printed.
OTHER_TABLES: dict[str, tuple[int, int, float]] = {
    "lymphography": (148, 19, 0.0),
    "hepatitis": (155, 20, 0.0),
    "vote": (435, 17, 0.0),
    "soybean-large": (683, 36, 0.0),
    "vehicle": (846, 19, 0.0),
    "chess": (3196, 37, 0.0),
    "satimage": (6435, 37, 0.0),
    "letter": (20000, 17, 0.0),
}
# Those with missing cells.
UNWHOLE = (
    "post-operative",
    "breast-cancer",
    "heart-hungarian",
    "heart-cleveland",
    "breast-cancer-wisconsin",
    "adult",
)
_COMPRESSED = ("adult", "letter", "satimage", "shuttle")
# Number columns of two or three different values, not all whole.
_FEW_VALUES = ("lip", "chg", "erl", "pox")


def table_file(name: str) -> str:
    """Return where a table is in the data folder."""
    return f"uci/{name}.csv{'.gz' if name in _COMPRESSED else ''}"


def load_table(folder: DataFolder, name: str, missing: str = "filled") -> Dataset:
    """Read a table as the papers seem to have used it.

    Parameters
    ----------
    folder : DataFolder
    name : str
    missing : {"filled", "state"}, default "filled"
        Missing cells get the most frequent state of their column, or are a state.
    """
    return _load(folder.path(table_file(name)), missing)


@cache
def _load(path: Path, missing: str) -> Dataset:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        read = discretize(
            path,
            method="uniform",
            bins=_BINS,
            max_values=_MAX_VALUES,
            missing="keep" if missing == "filled" else "state",
        )
    variables, columns = [], []
    for variable in read.variables:
        codes = read.codes(variable.name).astype(np.int64)
        absent = read.missing(variable.name)
        counts = np.bincount(codes[~absent], minlength=variable.arity)
        codes[absent] = int(counts.argmax())
        counts = np.bincount(codes, minlength=variable.arity)
        if variable.cuts is not None and variable.name not in _FEW_VALUES:
            counts += 1  # an interval counts, seen or not
        seen = np.flatnonzero(counts)
        variables.append(Variable(variable.name, tuple(variable.states[k] for k in seen)))
        columns.append(np.searchsorted(seen, codes))
    return Dataset(variables, columns)
