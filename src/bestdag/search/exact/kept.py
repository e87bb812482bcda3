"""Lists of parent sets and solved components as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from bestdag.scores.table import ScoreTable
from bestdag.search.exact.bnc.certificate import Certificate
from bestdag.search.exact.bnc.kept import certificate_from, certificate_state
from bestdag.search.exact.dp.proof import DpCertificate, SubsetProof
from bestdag.search.exact.solution import Solution

__all__ = ["solution_from", "solution_state", "table_from", "table_state"]


def table_state(table: ScoreTable) -> dict[str, Any]:
    """Return the lists of a table in four arrays."""
    children = [table.child(i) for i in range(table.n_variables)]
    sizes = [len(sets.members) for sets in children]
    starts = np.cumsum([0, *sizes])
    return {
        "complete": table.complete,
        "places": np.cumsum([0, *(len(sets.scores) for sets in children)]),
        "scores": np.concatenate([sets.scores for sets in children]),
        "offsets": np.concatenate(
            [sets.offsets[:-1] + at for sets, at in zip(children, starts, strict=False)]
            + [starts[-1:]]
        ).astype(np.int64),
        "members": np.concatenate([sets.members for sets in children]).astype(np.int32),
    }


def table_from(names: tuple[str, ...], state: Mapping[str, Any]) -> ScoreTable:
    """Make the table of its state."""
    arrays = (state[name] for name in ("places", "scores", "offsets", "members"))
    return ScoreTable.from_arrays(names, *arrays, complete=state["complete"])


def solution_state(found: Solution) -> dict[str, Any]:
    """Return a solved component with its proofs."""
    plain = {f.name: getattr(found, f.name) for f in fields(found) if f.name != "proofs"}
    proofs = [
        {"bnc": certificate_state(proof)}
        if isinstance(proof, Certificate)
        else {"dp": [asdict(part) for part in proof.components]}
        for proof in found.proofs
    ]
    return {**plain, "proofs": proofs}


def solution_from(state: Mapping[str, Any]) -> Solution:
    """Make the solution of its state; its proofs are not checked here."""
    own = {name: tuple(state[name]) for name in ("chosen", "engines", "notes")}
    proofs = tuple(
        certificate_from(proof["bnc"])
        if "bnc" in proof
        else DpCertificate(
            tuple(
                SubsetProof(**{**part, "variables": tuple(part["variables"])})
                for part in proof["dp"]
            )
        )
        for proof in state["proofs"]
    )
    return Solution(**{**state, **own, "proofs": proofs})
