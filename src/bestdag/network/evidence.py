"""Findings in the evidence files of the UAI competitions: numbers of variables and of states."""

from __future__ import annotations

import os
from collections.abc import Mapping

from bestdag.errors import unknown_name
from bestdag.files import read_file, shown_path, write_file
from bestdag.network.network import Network
from bestdag.network.text import decoded
from bestdag.network.uai_parser import Words

__all__ = ["read_evidence", "write_evidence"]


def read_evidence(path: str | os.PathLike[str], network: Network) -> dict[str, str]:
    """Read the findings in a UAI evidence file, for a network whose variables it numbers.

    Parameters
    ----------
    path : path-like
        ``2  0 1  5 0`` says that two variables are known: number 0 has its state number 1, and
        number 5 its state 0. The older form, with a ``1`` (one sample) before, is read too.
    network : Network
        The one that the numbers are about; they count its variables from 0, in order.

    Returns
    -------
    dict of name to state

    Raises
    ------
    FormatError
        ``path:line:column: expected ..., got ...``.
    """
    source = shown_path(path)
    words = Words(decoded(read_file(path), source), source)
    count, place = words.count("the number of evidence variables")
    if words.n_left != 2 * count and count <= 1 and words.n_left % 2 == 1:
        if count == 0:
            words.fail(place, "no samples of evidence")
        count, place = words.count("the number of evidence variables")
    if words.n_left != 2 * count:
        words.fail(
            place,
            f"{count:,} values of evidence are two numbers each, {2 * count:,} in all, "
            f"got {words.n_left:,}",
        )
    found: dict[str, str] = {}
    variables = network.variables
    for _ in range(count):
        number, place = words.count("the number of a variable", len(variables) - 1)
        variable = variables[number]
        if variable.name in found:
            words.fail(place, f"variable {number} has two states as evidence")
        code, _ = words.count(f"the number of a state of variable {number}", variable.arity - 1)
        found[variable.name] = variable.states[code]
    return found


def write_evidence(
    path: str | os.PathLike[str], network: Network, evidence: Mapping[str, str]
) -> None:
    """Write findings as a UAI evidence file, complete or not at all.

    Parameters
    ----------
    path : path-like
        By custom the name of the network's file with ``.evid`` behind.
    network : Network
        Whose variables are numbered.
    evidence : mapping of name to state
        What is known.
    """
    numbers = {name: number for number, name in enumerate(network.names)}
    words = [str(len(evidence))]
    for name, state in evidence.items():
        if name not in numbers:
            raise unknown_name("variable", name, numbers, who="write_evidence")
        words.append(f"{numbers[name]} {network.variables[numbers[name]].code(state)}")
    write_file(path, (" ".join(words) + "\n").encode("ascii"))
