"""The inside of a probability block of BIF or DSC: its rows of numbers.

Rows are most of a file, so a plain one is read in bulk; a row with anything unusual in it
(comments, blanks for commas, quotes, mistakes) is read token by token, with the same meaning.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bestdag.data.schema import Variable
from bestdag.errors import unknown_name
from bestdag.machine import require_memory
from bestdag.network.building import Declared, table_of_all_rows
from bestdag.network.scanner import BLANKS, NUMBER, Scanner, Token
from bestdag.network.table import ConditionalTable, configuration_text, wrong_row
from bestdag.wording import count_of

__all__ = ["Block"]

# Only such text goes to float(), which also takes 1_000, nan and digits of other scripts.
_PLAIN = re.compile(r"[-+0-9.eE, \t\r\n]*")


class Block:
    """The rows of one table, collected entry by entry.

    Parameters
    ----------
    scanner : Scanner
        Stands behind the opening brace.
    child : Variable
        Whose table it is.
    parents : sequence of Declared
        Its parents.
    """

    def __init__(self, scanner: Scanner, child: Variable, parents: Sequence[Declared]) -> None:
        self._scanner = scanner
        self._child = child
        self._parents = tuple(parent.variable for parent in parents)
        self._declared = parents
        # Row number -> where it stands, its values. A hostile file may announce more
        # configurations than fit anywhere, so room is made only for rows that are there.
        self._rows: dict[int, tuple[int, list[float]]] = {}
        self._default: tuple[int, list[float]] | None = None
        self._n_rows = math.prod(parent.arity for parent in self._parents)
        self._has_colons = ":" in scanner.syntax.punctuation

    def read_entry(self) -> None:
        """Read ``(STATE, ...) NUMBER, ...;``, in DSC with a colon between."""
        position = self._scanner.peek().position
        row = self._configuration(position)
        if self._has_colons:
            self._scanner.expect(":")
        if row in self._rows:
            place = configuration_text(self._parents, row) or " here"
            self._scanner.fail(position, f"values of {self._child.name!r}{place} are given twice")
        self._rows[row] = (position, self._numbers(self._child.arity, position))

    def read_whole(self, item: str, position: int) -> None:
        """Read ``default NUMBER, ...;`` or ``table NUMBER, ...;``."""
        if item == "default":
            if self._default is not None:
                self._scanner.fail(position, f"{self._child.name!r} has two default rows")
            self._default = (position, self._numbers(self._child.arity, position))
            return
        if self._rows:
            self._scanner.fail(position, f"values of {self._child.name!r} are given twice")
        # All variables as listed, the last one fastest: the states of the child are the slowest.
        values = self._numbers(self._n_rows * self._child.arity, position)
        for row in range(self._n_rows):
            self._rows[row] = (position, values[row :: self._n_rows])

    def read_rows(self, position: int) -> None:
        """Read ``NUMBER, ...;``: all rows in order, the last parent running fastest."""
        if self._rows:
            self._scanner.fail(position, f"values of {self._child.name!r} are given twice")
        arity = self._child.arity
        values = self._numbers(self._n_rows * arity, position)
        for row in range(self._n_rows):
            self._rows[row] = (position, values[row * arity : (row + 1) * arity])

    def table(self, position: int) -> ConditionalTable:
        """Put the rows together, or name a configuration that has none."""
        if len(self._rows) < self._n_rows and self._default is None:
            place = configuration_text(self._parents, self._first_absent())
            self._scanner.fail(position, f"variable {self._child.name!r} has no values{place}")
        who = f"{self._scanner.source}: table of {self._child.name!r}"
        n_cells = (len(self._rows) + 1) * self._child.arity
        require_memory(who, f"{n_cells:,} numbers", 32 * n_cells, "use a smaller network")
        numbers = sorted(self._rows)
        rows = np.array([self._rows[number][1] for number in numbers], dtype=np.float64)
        rows = rows.reshape(-1, self._child.arity)
        self._check(rows, numbers)
        shape = [parent.arity for parent in self._parents]
        if len(numbers) == self._n_rows:
            return table_of_all_rows(self._child, self._parents, rows)
        assert self._default is not None
        if not self._parents:  # its one row is the default
            return ConditionalTable(self._child, (), self._default[1])
        codes = np.empty((len(numbers), len(shape)), dtype=np.int64)
        for axis in reversed(range(len(shape))):
            codes[:, axis] = [number % shape[axis] for number in numbers]
            numbers = [number // shape[axis] for number in numbers]
        return ConditionalTable.of_rows(self._child, self._parents, codes, rows, self._default[1])

    def _check(self, rows: npt.NDArray[np.float64], numbers: list[int]) -> None:
        """Refuse a row that is no distribution, with where it stands."""
        wrong = wrong_row(rows)
        if wrong is not None:
            number = numbers[wrong[0]]
            place = configuration_text(self._parents, number)
            message = f"values of {self._child.name!r}{place} {wrong[1]}"
            self._scanner.fail(self._rows[number][0], message)
        if self._default is not None and len(numbers) < self._n_rows:
            wrong = wrong_row(np.array([self._default[1]], dtype=np.float64))
            if wrong is not None:
                place = configuration_text(self._parents, self._first_absent())
                message = f"values of {self._child.name!r}{place} {wrong[1]}"
                self._scanner.fail(self._default[0], message)

    def _first_absent(self) -> int:
        return next(number for number in range(self._n_rows) if number not in self._rows)

    def _configuration(self, position: int) -> int:
        text = self._scanner.text
        end = text.find(")", position)
        pieces = text[position + 1 : end].split(",") if end >= 0 else []
        if len(pieces) != len(self._parents):
            return self._configuration_by_token()
        row = 0
        for piece, parent in zip(pieces, self._declared, strict=True):
            code = parent.states.bare_codes.get(piece.strip(BLANKS))
            if code is None:
                return self._configuration_by_token()
            row = row * parent.variable.arity + code
        self._scanner.jump(end + 1)
        return row

    def _configuration_by_token(self) -> int:
        scanner = self._scanner
        opening = scanner.expect("(")
        states: list[Token] = scanner.take_names(")", "a state")
        if len(states) != len(self._parents):
            scanner.fail(
                opening.position,
                f"{self._child.name!r} has {count_of(len(self._parents), 'parent')}, "
                f"got {count_of(len(states), 'state')}",
            )
        row = 0
        for state, parent in zip(states, self._declared, strict=True):
            code = parent.states.codes.get(state.text)
            if code is None:
                kind = f"state of {parent.variable.name!r}"
                known = parent.states.written
                scanner.fail(state.position, str(unknown_name(kind, state.text, known)))
            row = row * parent.variable.arity + code
        return row

    def _numbers(self, count: int, position: int) -> list[float]:
        """Read so many numbers and the semicolon behind them."""
        scanner = self._scanner
        start = scanner.position
        end = scanner.text.find(";", start)
        chunk = scanner.text[start:end] if end >= 0 else "?"
        pieces = chunk.split(",") if "," in chunk else chunk.split()
        try:
            values = list(map(float, pieces)) if _PLAIN.fullmatch(chunk) else []
        except ValueError:  # a mistake, or commas and blanks mixed
            values = []
        if values:
            scanner.jump(end + 1)
        else:
            values = self._numbers_by_token()
        if len(values) != count:
            scanner.fail(
                position,
                f"values of {self._child.name!r}: {count_of(count, 'number')} needed here, "
                f"got {len(values):,}",
            )
        return values

    def _numbers_by_token(self) -> list[float]:
        scanner = self._scanner
        values: list[float] = []
        while True:
            token = scanner.peek()
            if token.kind != "word" or not NUMBER.fullmatch(token.text):
                scanner.unexpected("a number")
            values.append(float(scanner.take().text))
            if scanner.accept(";"):
                return values
            if not scanner.accept(",") and scanner.peek().kind != "word":
                scanner.unexpected("',' or ';'")
