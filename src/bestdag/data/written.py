"""Text that is a number written for people, and SQL that makes a number of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from bestdag.data.duck_connection import sql_name, sql_text
from bestdag.data.endings import DELIMITERS
from bestdag.data.labels import number_in

__all__ = ["Written", "rewritten", "written_numbers"]

_SIGN, _MONEY, _END = r"\s*[-+]?\s*", r"[$€£¥]?\s*[-+]?", r"\s*[%$€£¥]?\s*"
_THOUSANDS = re.compile(_SIGN + _MONEY + r"(\d{1,3}(,\d{3})+|\d+)(\.\d+)?" + _END, re.ASCII)
_COMMA = re.compile(_SIGN + _MONEY + r"(\d{1,3}(\.\d{3})+|\d+)(,\d+)?" + _END, re.ASCII)


@dataclass(frozen=True, slots=True)
class Written:
    """How the numbers of a column are written: one of them, and whether commas begin decimals."""

    example: str
    has_decimal_commas: bool

    def sql(self, name: str) -> str:
        """Return SQL for the numbers of a column of text."""
        column = sql_name(name)
        if self.has_decimal_commas:
            digits = f"replace(regexp_replace({column}, '[^0-9,+-]', '', 'g'), ',', '.')"
        else:
            digits = f"regexp_replace({column}, '[^0-9.+-]', '', 'g')"
        return f"TRY_CAST({digits} AS DOUBLE) AS {column}"


def written_numbers(texts: Iterable[str]) -> Written | None:
    """Say how numbers are written, if all texts are numbers and some are no plain ones.

    Examples
    --------
    >>> written_numbers(["$1,234", "$950"])
    Written(example='$1,234', has_decimal_commas=False)
    >>> written_numbers(["1,5", "2", "10,25"])
    Written(example='1,5', has_decimal_commas=True)
    >>> written_numbers(["1.5", "2"]), written_numbers(["12", "1-2"])
    (None, None)
    """
    listed = sorted(texts)
    example = next((text for text in listed if number_in(text) is None), None)
    if example is None:
        return None
    for form, is_comma in ((_THOUSANDS, False), (_COMMA, True)):
        if all(form.fullmatch(text) for text in listed):
            return Written(example, is_comma)
    return None


def rewritten(
    path: str,
    columns: Mapping[str, str],
    separator: str | None = None,
    encoding: str | None = None,
) -> str | None:
    """Return a query that reads a CSV file with some columns replaced by SQL; None for other files.

    Examples
    --------
    >>> print(rewritten("t.csv", {"a": "lower(a) AS a"}))
    SELECT * REPLACE (lower(a) AS a) FROM read_csv('t.csv', delim = ',', all_varchar = true)
    """
    bare = PurePath(path)
    bare = bare.with_suffix("") if bare.suffix.lower() == ".gz" else bare
    usual = DELIMITERS.get(bare.suffix.lower())
    sign = separator or usual
    if usual is None or sign is None or sign == " ":
        return None
    options = f"delim = {sql_text(sign)}, all_varchar = true"
    if encoding is not None:
        options += f", encoding = {sql_text(encoding)}"
    source = f"read_csv({sql_text(path)}, {options})"
    return f"SELECT * REPLACE ({', '.join(columns.values())}) FROM {source}"
