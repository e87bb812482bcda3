"""Studies of the field, run again with bestdag: a folder each, and the one list that names them."""

from __future__ import annotations

import importlib

from studies.study import Study

__all__ = ["STUDIES", "load_study"]

# One line for each study; its module, of the same name, is imported when it is asked for.
STUDIES = {
    "carvalho2009": "eight scores for TAN classifiers on twelve UCI tables",
    "everything": "ours: thirteen scores on all tables and networks, which when",
    "jensen2007": "examples and exercises of a textbook chapter",
    "scanagatta2014": "Min-BDeu and Max-BDeu: accuracy, structure, saturation",
    "silander2010": "fNML against BDeu: ranks of true structures, and predictions",
    "silander2018": "qNML: structures, predictions and sizes",
}


def load_study(name: str) -> Study:
    """Return a study by its name."""
    study: Study = importlib.import_module(f"studies.{name}").STUDY
    return study
