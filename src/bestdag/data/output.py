"""A Dataset as a frame of another package, as a CSV file, in a line of text and in a notebook."""

from __future__ import annotations

import html
import io
import os
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
import numpy.typing as npt

from bestdag.errors import DataError, InvalidParameterError, import_optional
from bestdag.files import format_suffix, writing
from bestdag.tabular import Table, html_of, shown_text
from bestdag.wording import aligned, by_reader, count_of

if TYPE_CHECKING:
    from bestdag.data.dataset import Dataset

__all__ = [
    "first_rows_text",
    "html_table",
    "labels",
    "summary",
    "to_arrow",
    "to_csv",
    "to_pandas",
    "to_polars",
]

_BLOCK = 1 << 16
_SUFFIXES = (".csv", ".tsv", ".txt")


def to_pandas(data: Dataset, weights: str) -> Any:
    """Make a pandas frame of Categorical columns."""
    pandas = import_optional("pandas", who="to_pandas")
    _require_free(data, weights, "to_pandas")
    columns: dict[str, Any] = {}
    for variable in data.variables:
        codes = data.codes(variable.name).astype(np.int32)
        codes[codes == variable.arity] = -1
        dtype = pandas.CategoricalDtype(list(variable.states))
        columns[variable.name] = pandas.Categorical.from_codes(codes, dtype=dtype)
    if data.weights is not None:
        columns[weights] = data.weights.copy()
    return pandas.DataFrame(columns)


def to_polars(data: Dataset, weights: str) -> Any:
    """Make a polars frame of Enum columns."""
    polars = import_optional("polars", who="to_polars")
    _require_free(data, weights, "to_polars")
    columns = []
    for variable in data.variables:
        states = polars.Series([*variable.states, None], dtype=polars.Enum(list(variable.states)))
        codes = polars.Series(data.codes(variable.name).astype(np.uint32))
        columns.append(states.gather(codes).alias(variable.name))
    if data.weights is not None:
        columns.append(polars.Series(weights, data.weights))
    return polars.DataFrame(columns)


def to_arrow(data: Dataset, weights: str) -> Any:
    """Make a pyarrow table of dictionary columns."""
    pyarrow = import_optional("pyarrow", who="to_arrow")
    _require_free(data, weights, "to_arrow")
    arrays, names = [], list(data.names)
    for variable in data.variables:
        codes = data.codes(variable.name).astype(np.int32)
        indices = pyarrow.array(codes, mask=data.missing(variable.name))
        states = pyarrow.array(list(variable.states), pyarrow.string())
        arrays.append(pyarrow.DictionaryArray.from_arrays(indices, states))
    if data.weights is not None:
        arrays.append(pyarrow.array(data.weights))
        names.append(weights)
    return pyarrow.table(arrays, names=names)


def to_csv(data: Dataset, path: str | os.PathLike[str] | TextIO, weights: str) -> None:
    """Write a CSV file, or to a text stream, so that `read` gives the same table back."""
    _require_free(data, weights, "to_csv")
    for variable in data.variables:
        if "" in variable.states and variable.name in data.missing_counts:
            raise DataError(
                f"to_csv: column {variable.name!r} has empty text as a state and missing values; "
                f"a file could not tell them apart"
            )
        for text in (variable.name, *variable.states):
            if "\0" in text or not _is_utf8(text):
                raise DataError(
                    f"to_csv: column {variable.name!r} has text that no CSV file can hold: {text!r}"
                )
    if not isinstance(path, str | os.PathLike):
        _write_stream(data, path, weights)
        return
    suffix = _csv_suffix(path)
    with writing(path) as file:
        stream = io.TextIOWrapper(file, "utf-8", newline="")
        _write(data, stream, "\t" if suffix == ".tsv" else ",", weights)
        stream.detach()  # writes the rest and leaves the file to be closed


def _write_stream(data: Dataset, stream: TextIO, weights: str) -> None:
    if not callable(getattr(stream, "write", None)):
        raise InvalidParameterError(
            f"to_csv: a path or an open text stream is needed, got {stream!r:.60}"
        )
    try:
        _write(data, stream, ",", weights)
    except (TypeError, ValueError) as error:  # open for bytes, for reading only, or closed
        raise InvalidParameterError(
            f"to_csv: a stream open for writing text is needed, got {stream!r:.60}: {error}"
        ) from None


def _csv_suffix(path: str | os.PathLike[str]) -> str:
    shown = repr(os.fsdecode(path))
    if not os.fspath(path):
        raise InvalidParameterError("to_csv: a file name is needed, got an empty one")
    suffix = format_suffix(path)
    is_device = os.path.exists(path) and not os.path.isfile(path)
    if suffix not in _SUFFIXES and not is_device:
        raise InvalidParameterError(
            f"{by_reader('to_csv: the name', '-o: the name of a table')} must end in "
            f"{', '.join(_SUFFIXES)}, each also with .gz, got {shown}"
        )
    return suffix


def _write(data: Dataset, stream: TextIO, delimiter: str, weights: str) -> None:
    names = [*data.names, weights] if data.weights is not None else list(data.names)
    stream.write(delimiter.join(_quoted(name) for name in names) + "\n")
    # Each state is quoted once; rows are then only joined.
    labels = [
        np.array([*map(_quoted, v.states), '""' if len(names) == 1 else ""], dtype=object)
        for v in data.variables
    ]
    for start in range(0, data.n_rows, _BLOCK):
        rows = slice(start, start + _BLOCK)
        cells: list[Any] = [
            label[data.codes(name)[rows]] for name, label in zip(data.names, labels, strict=True)
        ]
        if data.weights is not None:
            cells.append([repr(weight) for weight in data.weights[rows].tolist()])
        stream.writelines(delimiter.join(row) + "\n" for row in zip(*cells, strict=True))


def _quoted(text: str) -> str:
    # Separators of other dialects too: the reader asks about a lone name that contains one.
    if text == "" or text != text.strip() or any(sign in text for sign in ',;|\t"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _require_free(data: Dataset, weights: str, who: str) -> None:
    if data.weights is not None and weights in data.arities:
        other = by_reader(", or pass weights= another name for them", "")
        raise DataError(
            f"{who}: a variable is called {weights!r}, the name of the column that the weights "
            f"get; rename it{other}"
        )


_SHOWN_VARIABLES = 8
_FIRST_ROWS = 8
_FIRST_COLUMNS = 19


def summary(data: Dataset) -> str:
    """Rows, columns, the first variables with their arities, weights and missing values."""
    shown = ", ".join(f"{_line(v.name)}[{v.arity}]" for v in data.variables[:_SHOWN_VARIABLES])
    more = ", ..." if data.n_variables > _SHOWN_VARIABLES else ""
    text = f"{count_of(data.n_rows, 'row')}, {count_of(data.n_variables, 'variable')}: "
    text += shown + more
    if data.weights is not None:
        text += f"; total weight {data.total_weight:,}"
    if data.has_missing:
        cells = count_of(sum(data.missing_counts.values()), "missing value")
        text += f"; {cells} in {count_of(len(data.missing_counts), 'column')}"
    return text


def html_table(data: Dataset) -> str:
    """Return the summary and the first rows as HTML, with all text escaped."""
    return f"<div><p>{html.escape(summary(data))}</p>{html_of(_first_rows(data))}</div>"


def first_rows_text(data: Dataset) -> str:
    """Return the summary and the first rows as text."""
    table = _first_rows(data)
    shown = [list(map(shown_text, table.names)), *([cell or "" for cell in r] for r in table.rows)]
    return "\n".join([repr(data), *aligned(shown)])


def _first_rows(data: Dataset) -> Table:
    n_rows = min(data.n_rows, _FIRST_ROWS)
    names = data.names[:_FIRST_COLUMNS]
    columns = [labels(data, name, n_rows) for name in names]
    more = [] if len(names) == data.n_variables else ["..."]
    rows = [[*row, *more] for row in zip(*columns, strict=True)]
    return Table(names=(*names, *more), rows=rows, n_rows=n_rows)


def labels(data: Dataset, name: str, n_rows: int | None = None) -> npt.NDArray[np.object_]:
    """Return the states of the first cells of a column, or of all; None where one is missing."""
    states = np.array([*data.variable(name).states, None], dtype=object)
    texts: npt.NDArray[np.object_] = states[np.asarray(data.codes(name)[:n_rows])]
    return texts


def _line(name: str) -> str:
    # A name with line breaks or other control characters must not break the line it stands in.
    return name if name.isprintable() else repr(name)
