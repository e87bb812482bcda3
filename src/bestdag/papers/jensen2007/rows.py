"""What the book prints, and what is run."""

from __future__ import annotations

from typing import Any

__all__ = ["EPSILONS", "PARTS", "PRIORS", "ROWS_OF_SPREAD", "SIZES", "TABLE_7_3"]

ROWS_OF_SPREAD = 7  # of the data sets of Figure 7.21
PARTS = 20  # equal parts of all data sets there

# Mutual information in bits.
TABLE_7_3 = {
    ("Cold", "Angina"): 0.0,
    ("Fever?", "Angina"): 0.015076,
    ("SoreThroat?", "Angina"): 0.018016,
    ("SeeSpots?", "Angina"): 0.0180588,
    ("Cold", "Fever?"): 0.014392,
    ("Cold", "SoreThroat?"): 0.0210122,
    ("Cold", "SeeSpots?"): 0.0,
    ("SoreThroat?", "Fever?"): 0.0015214,
    ("Fever?", "SeeSpots?"): 0.0017066,
    ("SeeSpots?", "SoreThroat?"): 0.0070697,
}
SIZES = (10, 100, 1000, 10000)
EPSILONS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)
PRIORS: dict[str, tuple[str, dict[str, Any]]] = {
    "Dir(1, ..., 1)": ("bd", {"pseudo_count": 1.0}),
    "BDeu(1)": ("bdeu", {"ess": 1.0}),
    "BDeu(2)": ("bdeu", {"ess": 2.0}),
    "BDeu(4)": ("bdeu", {"ess": 4.0}),
    "BDeu(8)": ("bdeu", {"ess": 8.0}),
}
